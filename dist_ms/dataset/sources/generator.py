"""GeneratorDataset: rows of a Python object."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dist_ms.common.checks import complaint
from dist_ms.dataset.columns import to_column
from dist_ms.dataset.dataset import Dataset, Row, column_list
from dist_ms.dataset.sharding import Sampling

__all__ = ["GeneratorDataset"]


def _sampler(value: Any) -> Any:
    """Check what `use_sampler` is given."""
    if not hasattr(value, "order") and not hasattr(value, "__iter__"):
        raise TypeError(complaint("new_sampler", "use_sampler", "a sampler", type(value).__name__))
    return value


class GeneratorDataset(Dataset):
    """Rows from a Python object: one with `__getitem__` and `__len__`, an iterable, or a function returning one.

    Args:
        source: the object; an item is one value per column (a single value for one column).
        column_names: names of the columns.
        column_types: dtypes to convert the columns to.
        schema: not available (MindSpore's file formats).
        num_samples: read at most so many rows.
        num_parallel_workers, python_multiprocessing, max_rowsize: accepted; rows are read in one
            thread, ahead of the training.
        shuffle: draw a new order every epoch (True by default where items have numbers).
        sampler: an iterable of row numbers.
        num_shards, shard_id: read the part of one rank.

    Raises:
        TypeError: if `source` gives no rows.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> data = ds.GeneratorDataset([(1, 2), (3, 4)], ["a", "b"], shuffle=False)
        >>> [[int(v) for v in row] for row in data.create_tuple_iterator(output_numpy=True)]
        [[1, 2], [3, 4]]
    """

    runs_python = True

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
        for name, value in (("schema", schema), ("batch_sampler", batch_sampler), ("collate_fn", collate_fn)):
            if value is not None:
                raise ValueError(
                    f"For 'GeneratorDataset', '{name}' must be None, but got {value!r}: use batch() with per_batch_map."
                )
        self.numbered = hasattr(source, "__getitem__") and hasattr(source, "__len__")
        if not (self.numbered or callable(source) or hasattr(source, "__iter__") or hasattr(source, "__next__")):
            raise TypeError(
                "For 'GeneratorDataset', 'source' must be a function that returns rows, an iterable, or an object with "
                f"__getitem__ and __len__, but got {type(source).__name__}."
            )
        if column_names is None:
            raise ValueError("For 'GeneratorDataset', 'column_names' must be given.")
        if not self.numbered and (shuffle or sampler is not None):
            raise ValueError(
                "For 'GeneratorDataset', 'shuffle' and 'sampler' need a source with __getitem__ and __len__."
            )
        super().__init__(column_list(column_names, "column_names"))
        self.source = source
        self.types = None if column_types is None else [_numpy_type(t) for t in column_types]
        self.sampling = Sampling(shuffle, num_shards, shard_id, num_samples, sampler)
        self._size: int | None = None

    def get_dataset_size(self) -> int:
        """The number of rows this rank reads; a source that does not tell is iterated once to count."""
        if self.numbered:
            return self.sampling.size(len(self.source))
        if self._size is None:
            if hasattr(self.source, "__next__"):
                # Counting would use it up.
                self.source = list(self.source)
            self._size = sum(1 for _ in self.rows(0))
        return self._size

    def use_sampler(self, new_sampler: Any) -> None:
        """Read the rows that another sampler chooses.

        Raises:
            TypeError: if it is no sampler and no iterable.
            ValueError: if the source has no `__getitem__` and `__len__`.
        """
        if not self.numbered:
            raise ValueError("For 'GeneratorDataset', 'use_sampler' needs a source with __getitem__ and __len__.")
        self.sampling = Sampling(None, None, None, None, _sampler(new_sampler))

    def _items(self) -> Iterator:
        return iter(self.source() if callable(self.source) else self.source)

    def rows(self, epoch: int) -> Iterator[Row]:
        """The rows of one epoch."""
        if self.numbered:
            for i in self.sampling.order(len(self.source), epoch, shuffle_by_default=True):
                yield self._row(self.source[int(i)])
            return
        s = self.sampling
        given = 0
        for i, item in enumerate(self._items()):
            if s.num_samples is not None and given >= s.num_samples:
                return
            if s.num_shards is None or i % s.num_shards == s.shard_id:
                given += 1
                yield self._row(item)

    def _row(self, item: Any) -> Row:
        values = (
            item
            if isinstance(item, (tuple, list))
            and not (len(self.columns) == 1 and isinstance(item, list) and len(item) != 1)
            else (item,)
        )
        if len(values) != len(self.columns):
            raise RuntimeError(
                f"For 'GeneratorDataset', the source must give {len(self.columns)} values per row, one "
                f"for each of {self.columns}, but got {len(values)}."
            )
        row = tuple(to_column(v) for v in values)
        if self.types is not None:
            row = tuple(a if isinstance(a, dict) else a.astype(t, copy=False) for a, t in zip(row, self.types))
        return row


def _numpy_type(dtype: Any) -> np.dtype:
    from dist_ms.common.dtype import to_numpy

    return to_numpy(dtype)
