"""GeneratorDataset: rows of a Python object."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import count, islice
from types import GeneratorType
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_callable, complaint
from dist_ms.common.dtype import string, to_numpy
from dist_ms.dataset import draws
from dist_ms.dataset.columns import made_column, stack
from dist_ms.dataset.dataset import Key, Row, column_list
from dist_ms.dataset.execution.threads import several_load
from dist_ms.dataset.sources.indexed import IndexedSource
from dist_ms.dataset.user_functions import call, failed

__all__ = ["GeneratorDataset"]


class GeneratorDataset(IndexedSource):
    """Rows from a Python object: one with `__getitem__` and `__len__`, an iterable, or a function returning one.

    Args:
        source: the object; an item is one value per column (a single value for one column).
        column_names: names of the columns.
        column_types: dtypes to convert the columns to.
        schema: a Schema, or the name of its file, that names the columns and their types instead.
        num_samples: read at most so many rows.
        num_parallel_workers: how many workers read items that have numbers. One reads them in order and one at a time,
            whatever later stages have, but in processes, each of which has the source for itself.
        shuffle: draw a new order every epoch (True by default where items have numbers).
        sampler: an iterable of row numbers.
        num_shards, shard_id: read the part of one rank. Without them every rank reads what `source` gives, as the
            program may have cut it itself.
        python_multiprocessing: with several workers, read in processes of their own instead of threads.
        max_rowsize: accepted; memory that processes share grows as rows need it.
        batch_sampler: gives lists of row numbers, each of which becomes a batch.
        collate_fn: makes a batch of the list of its items; without it, columns are stacked.

    Raises:
        TypeError: if `source` gives no rows.
        ValueError: if arguments exclude each other.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> data = ds.GeneratorDataset([(1, 2), (3, 4)], ["a", "b"], shuffle=False)
        >>> [[int(v) for v in row] for row in data.create_tuple_iterator(output_numpy=True)]
        [[1, 2], [3, 4]]
    """

    shards_of_job = False

    def __init__(
        self,
        source: Any,
        column_names: Any = None,
        column_types: Any = None,
        schema: Any = None,
        num_samples: int | None = None,
        num_parallel_workers: int = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        python_multiprocessing: bool = True,
        max_rowsize: Any = None,
        batch_sampler: Any = None,
        collate_fn: Any = None,
    ) -> None:
        self.numbered = hasattr(source, "__getitem__") and hasattr(source, "__len__")
        if not (self.numbered or callable(source) or hasattr(source, "__iter__") or hasattr(source, "__next__")):
            raise TypeError(
                "For 'GeneratorDataset', 'source' must be a function that returns rows, an iterable, or an object with "
                f"__getitem__ and __len__, but got {type(source).__name__}."
            )
        if schema is not None and column_names is None:
            column_names, column_types = _of_schema(schema)
        if column_names is None:
            raise ValueError("For 'GeneratorDataset', 'column_names' must be given.")
        if not self.numbered and (shuffle or sampler is not None or batch_sampler is not None):
            raise ValueError(
                "For 'GeneratorDataset', 'shuffle' and 'sampler' need a source with __getitem__ and __len__."
            )
        _check_batches(batch_sampler, collate_fn, (num_samples, shuffle, num_shards, shard_id, sampler))
        super().__init__(
            column_list(column_names, "column_names"),
            num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id,
        )  # fmt: skip
        self.source = source
        self.types = None if column_types is None else [_numpy_type(t) for t in column_types]
        if self.types is not None and len(self.types) != len(self.columns):
            wanted = f"one type for each of {self.columns}"
            raise ValueError(complaint("column_types", "GeneratorDataset", wanted, list(column_types)))
        self.batches, self.collate = batch_sampler, collate_fn
        check_bool(python_multiprocessing, "python_multiprocessing", "GeneratorDataset")
        self.wants_processes = python_multiprocessing and num_parallel_workers > 1 and self.numbered
        self._size: int | None = None

    def count(self) -> int:
        """How many items the source has."""
        return len(self.source)

    def get_dataset_size(self) -> int:
        """The number of rows this rank reads; a source that does not tell is iterated once to count."""
        if self.batches is not None:
            return len(self.batches) if hasattr(self.batches, "__len__") else sum(1 for _ in self.batches)
        if self.numbered:
            return super().get_dataset_size()
        if self._size is None:
            if hasattr(self.source, "__next__"):
                # Counting would use it up.
                self.source = list(self.source)
            self._size = sum(1 for _ in self.keys(0))
        return self._size

    def choose_by(self, sampler: Any) -> None:
        """Read the rows that this sampler chooses.

        Raises:
            ValueError: if the source has no `__getitem__` and `__len__`.
        """
        if not self.numbered:
            raise ValueError("For 'GeneratorDataset', a sampler needs a source with __getitem__ and __len__.")
        super().choose_by(sampler)

    def source_rows(self) -> int | None:
        """Rows that all ranks together use up for one each."""
        return super().source_rows() if self.numbered and self.batches is None else None

    def keys_from(self, epoch: int, rows: int) -> Iterator[Key]:
        """The keys that follow the first rows; of items without numbers, with the item itself."""
        if self.batches is not None:
            chosen = ((epoch, i, [int(n) for n in numbers]) for i, numbers in enumerate(self.batches))
            return islice(chosen, rows, None)
        if self.numbered:
            keys = super().keys_from(epoch, rows)
            return map(self._read_in_turn, keys) if self.workers == 1 else keys
        items = self._items()
        shards, shard = self.sampling.shard()
        dealt = islice(zip(count(), items), shard, None, shards)
        return ((epoch, i, item) for i, item in islice(dealt, self.sampling.num_samples))

    def load(self, key: Key) -> Row:
        """The row, or batch, of a key."""
        draws.follow_row(key, 0)
        if self.batches is not None:
            return self._collated([self._item(n) for n in key[2]])
        return self.row(self._item(key[2]) if self.numbered else key[2])

    def _read_in_turn(self, key: Key) -> Key:
        """Read the item with its key where several threads load rows: one worker means one at a time, and in order."""
        if not several_load.get():
            return key
        draws.follow_row(key, 0)
        epoch, place, number = key
        return epoch, place, _ReadItem(number, self._item)

    def _item(self, number: int) -> Any:
        if isinstance(number, _ReadItem):
            return number.item()
        return call("GeneratorDataset", self.source.__getitem__, number)

    def _items(self) -> Iterator:
        """What a source without numbers gives.

        Raises:
            RuntimeError: for whatever it raised, with that as its cause.
        """
        try:
            yield from self.source() if callable(self.source) else self.source
        except RuntimeError:
            raise
        except Exception as error:
            raise failed("GeneratorDataset", self.source, error) from error

    def load_many(self, keys: list[Key]) -> None:
        """Items are read one by one."""

    def row(self, item: Any) -> Row:
        """What an item holds for each column."""
        one = len(self.columns) == 1
        if isinstance(item, GeneratorType):
            item = tuple(item)
        several = isinstance(item, (tuple, list)) and not (one and isinstance(item, list) and len(item) != 1)
        values = item if several else (item,)
        if len(values) != len(self.columns):
            raise RuntimeError(
                f"For 'GeneratorDataset', the source must give {len(self.columns)} values per row, one "
                f"for each of {self.columns}, but got {len(values)}."
            )
        row = tuple(made_column(v, n, "GeneratorDataset") for v, n in zip(values, self.columns))
        if self.types is not None:
            row = tuple(map(_of_type, row, self.types))
        return row

    def _collated(self, items: list) -> Row:
        if self.collate is not None:
            return self.row(call("GeneratorDataset", self.collate, items))
        return tuple(stack(list(c), n) for c, n in zip(zip(*map(self.row, items)), self.columns))


class _ReadItem(int):
    """The number of an item that has been read already, or could not be."""

    def __new__(cls, number: int, read: Callable[[int], Any]) -> _ReadItem:
        self = super().__new__(cls, number)
        self._item = self._error = None
        try:
            self._item = read(number)
        except Exception as error:
            self._error = error
        return self

    def item(self) -> Any:
        """The item.

        Raises:
            Exception: what reading it raised.
        """
        if self._error is not None:
            raise self._error
        return self._item


def _numpy_type(dtype: Any) -> np.dtype:
    return np.dtype("U") if dtype is string else to_numpy(dtype)


def _of_type(value: np.ndarray | dict, dtype: np.dtype) -> np.ndarray | dict:
    if isinstance(value, dict) or (dtype.kind == "U" and value.dtype.kind == "S"):
        return value
    return value.astype(dtype, copy=False)


def _of_schema(schema: Any) -> tuple[list[str], list[np.dtype]]:
    """The names and types of a schema's columns."""
    if isinstance(schema, str):
        from dist_ms.dataset.sources.records.schema import Schema

        schema = Schema(schema)
    if not hasattr(schema, "columns"):
        raise TypeError(complaint("schema", "GeneratorDataset", "a Schema or its file", type(schema).__name__))
    return [c["name"] for c in schema.columns], [np.dtype(c["type"]) for c in schema.columns]


def _check_batches(sampler: Iterable | None, collate: Callable | None, others: tuple) -> None:
    """Check the arguments that make batches at the source."""
    if sampler is not None and not hasattr(sampler, "__iter__") and not hasattr(sampler, "__getitem__"):
        found = type(sampler).__name__
        raise TypeError(complaint("batch_sampler", "GeneratorDataset", "an iterable of lists of row numbers", found))
    if sampler is not None and any(value is not None for value in others):
        raise ValueError(
            "For 'GeneratorDataset', 'batch_sampler' chooses the rows: leave out num_samples, shuffle, num_shards, "
            "shard_id and sampler."
        )
    if collate is not None:
        check_callable(collate, "collate_fn", "GeneratorDataset")
    if collate is not None and sampler is None:
        raise ValueError("For 'GeneratorDataset', 'collate_fn' needs 'batch_sampler', whose batches it makes.")
