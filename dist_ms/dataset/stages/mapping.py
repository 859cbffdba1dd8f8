"""Functions applied to columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_positive_int, complaint
from dist_ms.dataset import config, draws
from dist_ms.dataset.cache import check_cache
from dist_ms.dataset.columns import OtherShapeError, made_column, together
from dist_ms.dataset.dataset import Dataset, Key, Row, column_list, columns_after, columns_among
from dist_ms.dataset.debug import called
from dist_ms.dataset.execution.bad_rows import named_row
from dist_ms.dataset.stages.callbacks import Calls, WaitedDSCallback, check_callbacks
from dist_ms.dataset.stages.same_rows import SameRows
from dist_ms.dataset.user_functions import call

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
            else columns_among(input_columns, "input_columns", "map", source)
        )
        self.outputs = self.names if output_columns is None else column_list(output_columns, "output_columns")
        super().__init__(columns_after(source.columns, self.names, self.outputs), source)
        if num_parallel_workers is not None:
            self.workers = check_positive_int(num_parallel_workers, "num_parallel_workers", "map")
        self.wants_processes = check_bool(options.get("python_multiprocessing", False), "python_multiprocessing", "map")
        self.cache = check_cache(options.get("cache"), "map")
        self._source = next(d for d in self.stages() if not d.inputs)
        self.callbacks = check_callbacks(options.get("callbacks"))
        self.holds_back = any(isinstance(c, WaitedDSCallback) for c in self.callbacks)
        self._images = images_in_one_pass(self.operations) if len(self.names) == len(self.outputs) == 1 else None
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
            draws.follow_row(key, self.depth)
            with draws.row_stream(key, self.depth):
                return self._mapped(row)
        if not isinstance(key[2], int):
            raise RuntimeError("For 'map', 'cache' must be left out behind stages that batch, filter or join rows.")
        return self.cache.row(key[2], self._source.count(), lambda: self._mapped(self.inputs[0].load(key)))

    def load_many(self, keys: list[Key]) -> Row | None:
        """Several mapped rows, where the input has them at once or the images are written where they stay."""
        if self.cache is not None or config.get_error_samples_mode() is not config.ErrorSamplesMode.RETURN:
            return None
        many = self.inputs[0].load_many(keys)
        if many is None and self._images is None:
            return None
        if many is not None and self._takes_batch(many):
            epochs, places = np.array([key[:2] for key in keys], np.int64).T.copy()
            streams = draws.row_seeds(epochs, places, self.depth) if self._images.is_random else None
            made = [self._images.apply_many(many[self._inputs_at[0]], streams)]
        else:
            rows = [self.inputs[0].load(key) for key in keys] if many is None else list(zip(*many))
            made = self._made(keys, rows)
            if many is None:
                many = self._kept(rows)
        return tuple(made[i] if is_made else many[i] for is_made, i in self._taken)

    def _takes_batch(self, many: Row) -> bool:
        images = many[self._inputs_at[0]]
        is_array = self._images is not None and isinstance(images, np.ndarray) and images.dtype == np.uint8
        return is_array and images.ndim == 4 and self._images.fits(images.shape[1:])

    def _kept(self, rows: list[Row]) -> Row:
        """The columns that are not mapped; () for the others."""
        kept = {i for is_made, i in self._taken if not is_made}
        return tuple(together(list(c)) if i in kept else () for i, c in enumerate(zip(*rows)))

    def _made(self, keys: list[Key], rows: list[Row]) -> list:
        """The functions' results for rows; images are written where they stay."""
        results: list[tuple] = []
        slots = None
        for place, (key, row) in enumerate(zip(keys, rows)):
            try:
                draws.follow_row(key, self.depth)
                with draws.row_stream(key, self.depth):
                    results.append(self._results(row, None if slots is None else slots[place]))
            except OtherShapeError:
                slots = None
                with draws.row_stream(key, self.depth):
                    results.append(self._results(row, None))
            except Exception as error:
                error.add_note(f"While making {named_row(self, key)}.")
                raise
            if place == 0 and self._images is not None and len(rows) > 1:
                first = results[0][0]
                if isinstance(first, np.ndarray) and first.dtype.kind == "f" and first.ndim == 3:
                    slots = np.empty((len(rows), *first.shape), first.dtype)
                    slots[0] = first
        if slots is not None:
            return [slots]
        columns = zip(zip(*results), self.outputs)
        return [together([made_column(value, n, "map") for value in c]) for c, n in columns]

    def _mapped(self, row: Row) -> Row:
        """What the functions make of a row."""
        values = self._results(row, None)
        return tuple(made_column(values[i], self.outputs[i], "map") if made else row[i] for made, i in self._taken)

    def _results(self, row: Row, out: np.ndarray | None) -> tuple:
        """The functions' results, one for each output."""
        if self._images is not None and not config.debug_hooks():
            return (call("map", self._images.apply, row[self._inputs_at[0]], out),)
        values: Any = tuple(row[i] for i in self._inputs_at)
        hooks = config.debug_hooks()
        for i, operation in enumerate(self.operations):
            if hooks and i == 0:
                called(hooks, values, operation, True)
            values = call("map", operation, *values)
            values = values if isinstance(values, tuple) else (values,)
            if hooks:
                called(hooks, values, operation, False)
        if len(values) != len(self.outputs):
            raise RuntimeError(
                f"For 'map', the operations must return {len(self.outputs)} values, one for each of "
                f"{self.outputs}, but got {len(values)}: name them with 'output_columns'."
            )
        return values


def images_in_one_pass(operations: list) -> Any:
    """How transforms of images run in one pass over memory; None if there is none among the operations."""
    waiting, found = list(operations), False
    while waiting:
        operation = waiting.pop()
        waiting += getattr(operation, "transforms", ()) if type(operation).__name__ == "Compose" else ()
        found |= type(operation).__module__.startswith("dist_ms.dataset.vision.")
    if not found:
        return None
    from dist_ms.dataset.vision.fusing import fuse

    plan = fuse(operations)
    return plan if plan.fused or plan.reads_files else None
