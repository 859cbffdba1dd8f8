"""Functions applied to columns, in several threads, rows in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

from dist_ms.common.checks import check_positive_int
from dist_ms.dataset import config
from dist_ms.dataset.columns import to_column
from dist_ms.dataset.dataset import Dataset, Row, column_list


class MapDataset(Dataset):
    """Applies functions to some columns of every row."""

    runs_python = True

    def __init__(
        self,
        source: Dataset,
        operations: Any,
        input_columns: Any = None,
        output_columns: Any = None,
        num_parallel_workers: int | None = None,
        **unknown: Any,
    ) -> None:
        known = {"python_multiprocessing", "cache", "callbacks", "max_rowsize", "offload"}
        if set(unknown) - known:
            raise TypeError(
                f"For 'map', the keywords must be among {sorted(known)}, but got {sorted(set(unknown) - known)}."
            )
        for name in ("cache", "callbacks", "offload"):
            if unknown.get(name):
                raise ValueError(
                    f"For 'map', '{name}' must be left out, but got {unknown[name]!r}: dist_ms runs map "
                    "in threads of this process."
                )
        self.operations = list(operations) if isinstance(operations, (list, tuple)) else [operations]
        for operation in self.operations:
            if not callable(operation):
                raise TypeError(f"For 'map', 'operations' must be functions, but got {type(operation).__name__}.")
        self.names = source.columns[:1] if input_columns is None else column_list(input_columns, "input_columns")
        for name in self.names:
            if name not in source.columns:
                raise RuntimeError(f"For 'map', 'input_columns' must be among {source.columns}, but got {name!r}.")
        self.outputs = self.names if output_columns is None else column_list(output_columns, "output_columns")
        if num_parallel_workers is not None:
            check_positive_int(num_parallel_workers, "num_parallel_workers", "map")
        self.workers = num_parallel_workers or config.get_num_parallel_workers()
        rest = [c for c in source.columns if c not in self.names]
        columns = source.columns if self.outputs == self.names else [*self.outputs, *rest]
        super().__init__(columns, source)

    def rows(self, epoch: int) -> Iterator[Row]:
        """The mapped rows of one epoch."""
        if self.workers == 1:
            for row in self.inputs[0].rows(epoch):
                yield self._apply(row)
            return
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(self.workers) as pool:
            waiting: deque = deque()
            for row in self.inputs[0].rows(epoch):
                waiting.append(pool.submit(self._apply, row))
                if len(waiting) >= 2 * self.workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def _apply(self, row: Row) -> Row:
        columns = dict(zip(self.inputs[0].columns, row))
        values: Any = tuple(columns.pop(n) for n in self.names)
        for operation in self.operations:
            values = operation(*values)
            values = values if isinstance(values, tuple) else (values,)
        if len(values) != len(self.outputs):
            raise RuntimeError(
                f"For 'map', the operations must return {len(self.outputs)} values, one for each of "
                f"{self.outputs}, but got {len(values)}: name them with 'output_columns'."
            )
        columns = {**dict(zip(self.outputs, (to_column(v) for v in values))), **columns}
        return tuple(columns[name] for name in self.columns)
