"""Batches of rows of different shapes: padded, and gathered by their lengths."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_positive_int, complaint
from dist_ms.dataset.columns import stack
from dist_ms.dataset.dataset import Dataset, Key, Row, columns_among
from dist_ms.dataset.execution.threads import in_threads
from dist_ms.dataset.stages.batching import BatchDataset
from dist_ms.dataset.user_functions import call


def padded(values: list[np.ndarray], name: str, shape: Any, fill: Any, rest: int | None = None) -> np.ndarray:
    """Arrays stacked after each was filled up to one shape.

    Args:
        values: the rows' entries.
        name: their column.
        shape: wanted for each; None or (), or None in it, for the largest there is.
        fill: what padding is.
        rest: where `shape` has None: up to this instead; without `shape` it says nothing.

    Entries that are larger than `shape` are cut off there.

    Raises:
        RuntimeError: if an entry has another number of dimensions than `shape`.
    """
    rank = len(shape) if shape else values[0].ndim
    if any(v.ndim != rank for v in values):
        found = sorted({v.ndim for v in values})
        raise RuntimeError(f"For 'padded_batch', rows of column {name!r} must have {rank} dimensions, but got {found}.")
    wanted = list(shape) if shape else [None] * rank
    sizes = [
        (max(v.shape[axis] for v in values) if rest is None or not shape else rest) if size is None else int(size)
        for axis, size in enumerate(wanted)
    ]
    is_text = values[0].dtype.kind in "SU"
    if fill is not None and is_text != isinstance(fill, (str, bytes)):
        kind = f"a {'text' if is_text else 'number'} as the fill of column {name!r}"
        raise RuntimeError(complaint("pad_info", "padded_batch", kind, repr(fill)))
    if is_text:
        result = np.full(
            (len(values), *sizes), "" if fill is None else fill, np.result_type(*(v.dtype for v in values))
        )
    else:
        result = np.full((len(values), *sizes), np.asarray(0 if fill is None else fill).astype(values[0].dtype))
    for i, value in enumerate(values):
        kept: Any = tuple(slice(min(n, size)) for n, size in zip(value.shape, sizes))
        result[(i, *kept)] = np.asarray(value)[kept]
    return result


def check_pad_info(pad_info: Any, source: Dataset, owner: str) -> dict[str, tuple[Any, Any]]:
    """The shape and fill of each column that is padded; of all, where `pad_info` is None or names none.

    Raises:
        TypeError: if `pad_info` is no dict of such pairs.
        ValueError: if a size is not positive.
        RuntimeError: if it names a column that is not there.
    """
    if pad_info is None or pad_info == {}:
        return dict.fromkeys(source.columns, (None, None))
    if not isinstance(pad_info, dict):
        raise TypeError(complaint("pad_info", owner, "a dict of columns", type(pad_info).__name__))
    columns_among(list(pad_info), "pad_info", owner, source)
    found = {}
    for name, value in pad_info.items():
        if value is None:
            value = (None, None)
        if not isinstance(value, tuple) or len(value) != 2 or not isinstance(value[0], (list, tuple, type(None))):
            raise TypeError(complaint("pad_info", owner, f"(shape, fill) for {name!r}", repr(value)))
        for size in value[0] or ():
            is_int = isinstance(size, (int, np.integer)) and not isinstance(size, bool)
            if size is not None and not (is_int and size > 0):
                kind = ValueError if is_int else TypeError
                raise kind(complaint("pad_info", owner, f"positive sizes or None for {name!r}", repr(value[0])))
        found[name] = value
    return found


class PaddedBatchDataset(BatchDataset):
    """Stacks rows after filling them up to one shape."""

    def __init__(
        self,
        source: Dataset,
        batch_size: Any,
        drop_remainder: bool = False,
        num_parallel_workers: int | None = None,
        pad_info: Any = None,
    ) -> None:
        super().__init__(source, batch_size, drop_remainder, num_parallel_workers)
        self.pad_info = check_pad_info(pad_info, source, "padded_batch")
        self.runs_python = True

    def load(self, key: Key) -> Row:
        """A batch."""
        rows = [self.inputs[0].load(k) for k in key[2][2]]
        return stacked_columns(self.columns, rows, self.pad_info, None)


def stacked_columns(columns: list[str], rows: list[Row], pad_info: dict, rest: int | None) -> Row:
    """Each column of several rows, stacked, and padded where `pad_info` names it."""
    found: list[np.ndarray | dict] = []
    for name, values in zip(columns, zip(*rows)):
        if isinstance(values[0], dict):
            found.append(stack(list(values), name))
            continue
        if name in pad_info:
            shape, fill = pad_info[name]
            found.append(padded(list(values), name, shape, fill, rest))
            continue
        if len({v.shape for v in values}) > 1:
            raise RuntimeError(
                f"For 'batch', rows of column {name!r} must have one shape, but got {values[0].shape} and others: "
                "name it in 'pad_info'."
            )
        found.append(np.stack(values))
    return tuple(found)


class BucketBatchByLengthDataset(Dataset):
    """Gathers rows of like length, and pads each batch; rows are made as the keys are asked for."""

    runs_python = True
    makes_batches = True

    def __init__(
        self,
        source: Dataset,
        column_names: list[str],
        bucket_boundaries: list[int],
        bucket_batch_sizes: list[int],
        element_length_function: Callable | None = None,
        pad_info: dict | None = None,
        pad_to_bucket_boundary: bool = False,
        drop_remainder: bool = False,
    ) -> None:
        owner = "bucket_batch_by_length"
        names = columns_among(column_names, "column_names", owner, source)
        for name, values in (("bucket_boundaries", bucket_boundaries), ("bucket_batch_sizes", bucket_batch_sizes)):
            if not isinstance(values, list) or not values:
                kind = ValueError if values == [] else TypeError
                raise kind(complaint(name, owner, "a list of positive ints", repr(values)))
            for value in values:
                check_positive_int(value, name, owner)
        if sorted(set(bucket_boundaries)) != bucket_boundaries:
            raise ValueError(complaint("bucket_boundaries", owner, "increasing", bucket_boundaries))
        if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
            wanted = f"one more than the {len(bucket_boundaries)} boundaries"
            raise ValueError(complaint("bucket_batch_sizes", owner, wanted, bucket_batch_sizes))
        if element_length_function is None and len(names) != 1:
            raise ValueError(complaint("column_names", owner, "one column without 'element_length_function'", names))
        if element_length_function is not None and not callable(element_length_function):
            found = type(element_length_function).__name__
            raise TypeError(complaint("element_length_function", owner, "a function", found))
        super().__init__(source.columns, source)
        self.places = [source.columns.index(n) for n in names]
        self.boundaries, self.sizes = bucket_boundaries, bucket_batch_sizes
        self.length, self.pad_info = element_length_function, check_pad_info(pad_info, source, owner)
        self.to_boundary = check_bool(pad_to_bucket_boundary, "pad_to_bucket_boundary", owner)
        self.drop_remainder = check_bool(drop_remainder, "drop_remainder", owner)

    def get_dataset_size(self) -> int:
        """The number of batches in an epoch; all rows are made to count them."""
        return sum(1 for _ in self.keys(0))

    def keys(self, epoch: int) -> Iterator[Key]:
        """The keys of batches, each with its bucket and rows."""
        source, workers = self.inputs[0], self.number_of_workers()
        waiting: list[list[Row]] = [[] for _ in self.sizes]
        rows = in_threads(source.keys(epoch), source.load, workers, 4 * workers)
        next(rows)
        for place, row in enumerate(rows):
            bucket = int(np.searchsorted(self.boundaries, self._length(row), side="right"))
            waiting[bucket].append(row)
            if len(waiting[bucket]) == self.sizes[bucket]:
                yield epoch, place, (bucket, waiting[bucket])
                waiting[bucket] = []
        if not self.drop_remainder:
            for bucket, rows in enumerate(waiting):
                if rows:
                    yield epoch, -1 - bucket, (bucket, rows)

    def _length(self, row: Row) -> int:
        if self.length is None:
            first = row[self.places[0]]
            if isinstance(first, dict) or not first.ndim:
                wanted = "arrays of one dimension or more without 'element_length_function'"
                found = "a dict" if isinstance(first, dict) else "a single value"
                raise RuntimeError(complaint("column_names", "bucket_batch_by_length", wanted, found))
            return first.shape[0]
        owner = "bucket_batch_by_length"
        length = np.asarray(call(owner, self.length, *(row[i] for i in self.places)))
        if length.size != 1 or length.dtype.kind not in "iub" or length.item() < 0:
            wanted = "a function that returns an int, not negative"
            raise RuntimeError(complaint("element_length_function", owner, wanted, f"one that returned {length}"))
        return int(length.item())

    def load(self, key: Key) -> Row:
        """A batch."""
        bucket, rows = key[2]
        if not self.to_boundary:
            return stacked_columns(self.columns, rows, self.pad_info, None)
        if bucket == len(self.boundaries) and any(None in (shape or ()) for shape, _ in self.pad_info.values()):
            raise RuntimeError(
                "For 'bucket_batch_by_length', 'pad_to_bucket_boundary' must be False where rows are as long as the "
                f"last boundary, {self.boundaries[-1]}, but got one of {self._length(rows[0])}: add a larger boundary."
            )
        rest = None if bucket == len(self.boundaries) else self.boundaries[bucket] - 1
        return stacked_columns(self.columns, rows, self.pad_info, rest)
