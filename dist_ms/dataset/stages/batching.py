"""Batches: rows stacked along a new first axis."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_positive_int, complaint
from dist_ms.dataset import draws
from dist_ms.dataset.columns import gathered, made_column, stack
from dist_ms.dataset.dataset import Dataset, Key, Row, column_list, columns_after, columns_among
from dist_ms.dataset.execution.bad_rows import good_rows
from dist_ms.dataset.stages.waiting import SyncWaitDataset
from dist_ms.dataset.user_functions import call

_OPTIONS = ("per_batch_map", "input_columns", "output_columns", "python_multiprocessing", "max_rowsize")


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

    makes_batches = True

    def __init__(
        self,
        source: Dataset,
        batch_size: Any,
        drop_remainder: bool = False,
        num_parallel_workers: int | None = None,
        per_batch_map: Callable | None = None,
        input_columns: Any = None,
        output_columns: Any = None,
        python_multiprocessing: bool = False,
        max_rowsize: Any = None,
        **unknown: Any,
    ) -> None:
        if unknown:
            raise TypeError(
                f"For 'batch', the keywords must be among {', '.join(_OPTIONS)}, but got {sorted(unknown)}."
            )
        if not callable(batch_size):
            if isinstance(batch_size, bool) or not isinstance(batch_size, (int, np.integer)):
                raise TypeError("batch_size should either be an int or a callable.")
            if batch_size < 1:
                raise ValueError(
                    f"Input batch_size is not within the required interval of [1, 2147483647]: it is {batch_size}."
                )
        check_bool(drop_remainder, "drop_remainder", "batch")
        names = (
            source.columns if input_columns is None else columns_among(input_columns, "input_columns", "batch", source)
        )
        outputs = names if output_columns is None else column_list(output_columns, "output_columns")
        twice = sorted(set(outputs) & (set(source.columns) - set(names)))
        if twice:
            raise RuntimeError(
                complaint("output_columns", "batch", "no columns that stay beside 'input_columns'", twice)
            )
        super().__init__(columns_after(source.columns, names, outputs), source)
        if num_parallel_workers is not None:
            self.workers = check_positive_int(num_parallel_workers, "num_parallel_workers", "batch")
        self.batch_size, self.drop_remainder = batch_size, drop_remainder
        self.per_batch_map, self.names, self.outputs = per_batch_map, names, outputs
        self.runs_python = per_batch_map is not None or callable(batch_size)
        self.wants_processes = check_bool(python_multiprocessing, "python_multiprocessing", "batch")
        for stage in source.stages():
            if isinstance(stage, SyncWaitDataset) and not callable(batch_size):
                stage.batch_size = batch_size

    def get_batch_size(self) -> int:
        """Rows per batch."""
        return self.batch_size if not callable(self.batch_size) else -1

    def get_dataset_size(self) -> int:
        """The number of batches in an epoch."""
        if callable(self.batch_size):
            return sum(1 for _ in self.keys(0))
        rows = self.inputs[0].get_dataset_size()
        return rows // self.batch_size if self.drop_remainder else -(-rows // self.batch_size)

    def source_rows(self) -> int | None:
        """Rows of the source for each batch."""
        each = self.inputs[0].source_rows()
        return None if each is None or callable(self.batch_size) else each * self.batch_size

    def keys(self, epoch: int) -> Iterator[Key]:
        """The keys of batches: the first row's epoch and place, the number in the epoch, and the rows' keys."""
        return self._grouped(self.inputs[0].keys(epoch), epoch, 0)

    def keys_from(self, epoch: int, rows: int) -> Iterator[Key] | None:
        """The keys of the batches that follow the source's first rows."""
        keys = self.inputs[0].keys_from(epoch, rows)
        each = self.source_rows()
        return None if keys is None or each is None else self._grouped(keys, epoch, -(-rows // each))

    def _grouped(self, keys: Iterator[Key], epoch: int, number: int) -> Iterator[Key]:
        while True:
            size = self.batch_size
            if callable(size):
                size = call("batch", size, BatchInfo(number, epoch))
                if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
                    raise RuntimeError(complaint("batch_size", "batch", "a function that returns a positive int", size))
            group = list(islice(keys, size))
            if not group or (len(group) < size and self.drop_remainder):
                return
            yield group[0][0], group[0][1], (number, epoch, group)
            number += 1

    def load(self, key: Key) -> Row:
        """A batch."""
        number, epoch, group = key[2]
        source = self.inputs[0]
        if self.per_batch_map is None:
            many = source.load_many(group)
            if many is not None:
                return tuple(_stacked(column, name) for column, name in zip(many, self.columns))
        columns = dict(zip(source.columns, map(list, zip(*good_rows(source, group)))))
        if self.per_batch_map is not None:
            with draws.row_stream(key, self.depth):
                given = [columns.pop(n) for n in self.names]
                results = call("batch", self.per_batch_map, *given, BatchInfo(number, epoch))
            results = results if isinstance(results, tuple) else (results,)
            if len(results) != len(self.outputs):
                raise RuntimeError(
                    f"For 'batch', 'per_batch_map' must return {len(self.outputs)} columns, one for each of "
                    f"{self.outputs}, but got {len(results)}: name them with 'output_columns'."
                )
            for name, result in zip(self.outputs, results):
                _check_made(result, name, len(group))
            columns = {**{n: _results(r, n) for n, r in zip(self.outputs, results)}, **columns}
        return tuple(_stacked(columns[name], name) for name in self.columns)


def _check_made(values: Any, name: str, rows: int) -> None:
    """Require an array, or a row for each that `per_batch_map` was given.

    Raises:
        RuntimeError: for anything else.
    """
    if isinstance(values, (np.ndarray, dict)):
        return
    wanted = f"For 'batch', 'per_batch_map' must return an array, or a list of {rows} rows, for column {name!r}, but "
    if not isinstance(values, (list, tuple, str)):
        raise RuntimeError(f"{wanted}got {'None: is a return missing?' if values is None else f'{values!r}.'}")
    if len(values) != rows:
        raise RuntimeError(f"{wanted}got {len(values)}.")


def _stacked(values: Any, name: str) -> np.ndarray | dict:
    if isinstance(values, (np.ndarray, dict)):
        return values
    return stack([made_column(value, name, "batch") for value in values], name)


def _results(values: Any, name: str) -> Any:
    """What `per_batch_map` returned for a column; of dicts, lists that stay as they are."""
    return gathered(values, name) if isinstance(values, list) and values and isinstance(values[0], dict) else values
