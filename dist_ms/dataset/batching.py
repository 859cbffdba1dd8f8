"""Batches: rows stacked along a new first axis."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool
from dist_ms.dataset.columns import gathered, stack
from dist_ms.dataset.dataset import Dataset, Row, column_list
from dist_ms.dataset.sources.numpy_slices import NumpySlicesDataset


class BatchInfo:
    """Where a batch stands: given to `per_batch_map` and to a callable batch size.

    Args:
        batch_num: the number of the batch in its epoch, from 0.
        epoch_num: the number of the epoch, from 0.
    """

    def __init__(self, batch_num: int, epoch_num: int) -> None:
        self._batch, self._epoch = batch_num, epoch_num

    def get_batch_num(self) -> int:
        """The number of the batch in its epoch."""
        return self._batch

    def get_epoch_num(self) -> int:
        """The number of the epoch."""
        return self._epoch


class BatchDataset(Dataset):
    """Stacks `batch_size` rows at a time."""

    def __init__(
        self,
        source: Dataset,
        batch_size: Any,
        drop_remainder: bool = False,
        per_batch_map: Callable | None = None,
        input_columns: Any = None,
        output_columns: Any = None,
        **unknown: Any,
    ) -> None:
        known = {"python_multiprocessing", "max_rowsize"}
        if set(unknown) - known:
            raise TypeError(
                f"For 'batch', the keywords must be among per_batch_map, input_columns, output_columns, "
                f"{', '.join(sorted(known))}, but got {sorted(set(unknown) - known)}."
            )
        if not callable(batch_size):
            if isinstance(batch_size, bool) or not isinstance(batch_size, (int, np.integer)):
                raise TypeError("batch_size should either be an int or a callable.")
            if batch_size < 1:
                raise ValueError(
                    f"Input batch_size is not within the required interval of [1, 2147483647]: it is {batch_size}."
                )
        check_bool(drop_remainder, "drop_remainder", "batch")
        names = source.columns if input_columns is None else column_list(input_columns, "input_columns")
        for name in names:
            if name not in source.columns:
                raise ValueError(f"For 'batch', 'input_columns' must be among {source.columns}, but got {name!r}.")
        outputs = names if output_columns is None else column_list(output_columns, "output_columns")
        rest = [c for c in source.columns if c not in names]
        columns = source.columns if outputs == names else [*outputs, *rest]
        super().__init__(columns, source)
        self.batch_size, self.drop_remainder = batch_size, drop_remainder
        self.per_batch_map, self.names, self.outputs = per_batch_map, names, outputs
        self.runs_python = per_batch_map is not None or callable(batch_size)

    def get_batch_size(self) -> int:
        """Rows per batch."""
        return self.batch_size if not callable(self.batch_size) else -1

    def get_dataset_size(self) -> int:
        """The number of batches in an epoch."""
        if callable(self.batch_size):
            return sum(1 for _ in self.rows(0))
        rows = self.inputs[0].get_dataset_size()
        return rows // self.batch_size if self.drop_remainder else -(-rows // self.batch_size)

    def rows(self, epoch: int) -> Iterator[Row]:
        """The batches of one epoch."""
        source = self.inputs[0]
        if isinstance(source, NumpySlicesDataset) and not self.runs_python:
            yield from self._slices(source, epoch)
            return
        pending: list[Row] = []
        number = 0
        for row in source.rows(epoch):
            pending.append(row)
            if len(pending) == self._want(number, epoch):
                yield self._stack(pending, number, epoch)
                pending, number = [], number + 1
        if pending and not self.drop_remainder:
            yield self._stack(pending, number, epoch)

    def _want(self, number: int, epoch: int) -> int:
        return self.batch_size(BatchInfo(number, epoch)) if callable(self.batch_size) else self.batch_size

    def _slices(self, source: NumpySlicesDataset, epoch: int) -> Iterator[Row]:
        """Take whole batches out of the source's arrays at once."""
        order = source.row_numbers(epoch)
        for start in range(0, len(order), self.batch_size):
            part = order[start : start + self.batch_size]
            if len(part) == self.batch_size or not self.drop_remainder:
                yield tuple(a[part] for a in source.arrays)

    def _stack(self, rows: list[Row], number: int, epoch: int) -> Row:
        columns = dict(zip(self.inputs[0].columns, (list(c) for c in zip(*rows))))
        if self.per_batch_map is not None:
            results = self.per_batch_map(*(columns.pop(n) for n in self.names), BatchInfo(number, epoch))
            results = results if isinstance(results, tuple) else (results,)
            columns = {**{n: _results(r, n) for n, r in zip(self.outputs, results)}, **columns}
        return tuple(_stacked(columns[name], name) for name in self.columns)


def _stacked(values: Any, name: str) -> np.ndarray | dict:
    if isinstance(values, (np.ndarray, dict)):
        return values
    return stack(values, name)


def _results(values: Any, name: str) -> Any:
    """What `per_batch_map` returned for a column; of dicts, lists that stay as they are."""
    return gathered(values, name) if isinstance(values, list) and values and isinstance(values[0], dict) else values
