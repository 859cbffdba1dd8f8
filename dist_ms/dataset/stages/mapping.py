"""Functions applied to columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dist_ms.common.checks import check_bool, check_positive_int, complaint
from dist_ms.dataset import config, draws
from dist_ms.dataset.cache import check_cache
from dist_ms.dataset.columns import to_column
from dist_ms.dataset.dataset import Dataset, Key, Row, column_list, columns_among
from dist_ms.dataset.stages.callbacks import Calls, WaitedDSCallback, check_callbacks
from dist_ms.dataset.stages.same_rows import SameRows

_OPTIONS = ("python_multiprocessing", "cache", "callbacks", "max_rowsize", "offload")


class MapDataset(SameRows):
    """Applies functions to some columns of every row."""

    runs_python = True

    def __init__(
        self,
        source: Dataset,
        operations: Any,
        input_columns: Any = None,
        output_columns: Any = None,
        num_parallel_workers: int | None = None,
        **options: Any,
    ) -> None:
        unknown = sorted(set(options) - set(_OPTIONS))
        if unknown:
            raise TypeError(f"For 'map', the keywords must be among {sorted(_OPTIONS)}, but got {unknown}.")
        if options.get("offload"):
            raise ValueError(complaint("offload", "map", "False: no other device is there to run operations", True))
        self.operations = list(operations) if isinstance(operations, (list, tuple)) else [operations]
        for operation in self.operations:
            if not callable(operation):
                raise TypeError(f"For 'map', 'operations' must be functions, but got {type(operation).__name__}.")
        self.names = (
            source.columns[:1]
            if input_columns is None
            else columns_among(input_columns, "input_columns", "map", source, RuntimeError)
        )
        self.outputs = self.names if output_columns is None else column_list(output_columns, "output_columns")
        rest = [c for c in source.columns if c not in self.names]
        super().__init__(source.columns if self.outputs == self.names else [*self.outputs, *rest], source)
        if num_parallel_workers is not None:
            self.workers = check_positive_int(num_parallel_workers, "num_parallel_workers", "map")
        self.wants_processes = check_bool(options.get("python_multiprocessing", False), "python_multiprocessing", "map")
        self.cache = check_cache(options.get("cache"), "map")
        self._source = next(d for d in self.stages() if not d.inputs)
        self.callbacks = check_callbacks(options.get("callbacks"))
        self.holds_back = any(isinstance(c, WaitedDSCallback) for c in self.callbacks)
        self._inputs_at = [source.columns.index(n) for n in self.names]
        made = dict(zip(self.outputs, range(len(self.outputs))))
        # Where each column of a row comes from: a result, or a column before.
        self._taken = [(True, made[c]) if c in made else (False, source.columns.index(c)) for c in self.columns]

    def __getstate__(self) -> dict:
        return self.__dict__ | {"callbacks": []}  # they belong to the keys, which workers get

    def keys(self, epoch: int) -> Iterator[Key]:
        """The keys of the rows; callbacks run as they are taken up."""
        return self._watched(self.inputs[0].keys(epoch), epoch)

    def keys_from(self, epoch: int, rows: int) -> Iterator[Key] | None:
        """The keys that follow the source's first rows."""
        keys = self.inputs[0].keys_from(epoch, rows)
        return None if keys is None else self._watched(keys, epoch)

    def _watched(self, keys: Iterator[Key], epoch: int) -> Iterator[Key]:
        return Calls(self.callbacks, epoch, self.get_dataset_size()).around(keys) if self.callbacks else keys

    def load(self, key: Key) -> Row:
        """The mapped row."""
        if self.cache is None:
            row = self.inputs[0].load(key)
            with draws.row_stream(key, self.depth):
                return self.apply(row)
        if not isinstance(key[2], int):
            raise RuntimeError("For 'map', 'cache' must be left out behind stages that batch, filter or join rows.")
        return self.cache.row(key[2], self._source.count(), lambda: self.apply(self.inputs[0].load(key)))

    def apply(self, row: Row) -> Row:
        """What the functions make of a row."""
        values: Any = tuple(row[i] for i in self._inputs_at)
        for operation in self.operations:
            values = operation(*values)
            values = values if isinstance(values, tuple) else (values,)
            for hook in config.debug_hooks():
                getattr(hook, "compute", hook)(*values)
        if len(values) != len(self.outputs):
            raise RuntimeError(
                f"For 'map', the operations must return {len(self.outputs)} values, one for each of "
                f"{self.outputs}, but got {len(values)}: name them with 'output_columns'."
            )
        return tuple(to_column(values[i]) if made else row[i] for made, i in self._taken)
