"""IndexedSource: rows that have numbers, read in any order."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from typing import Any

import numpy as np

from dist_ms.common.checks import check_positive_int, complaint
from dist_ms.dataset.cache import check_cache
from dist_ms.dataset.dataset import Dataset, Key, Row
from dist_ms.dataset.samplers import BuiltinSampler, as_sampler, sampler_of
from dist_ms.dataset.sharding import Sampling
from dist_ms.dataset.shuffles import Shuffle


class IndexedSource(Dataset):
    """Base of the sources whose rows can be read by number.

    A source finds its files in `__init__`, tells how many rows they have in `count` and reads one in `read`; the
    order, shards and limits are chosen here. Where ranks train one model together (`parallel_mode="data_parallel"`) and
    no shard is named, each reads its own: `num_shards=1, shard_id=0` makes every rank read all rows.

    Args:
        columns: names of the columns.
        num_samples: read at most so many rows.
        num_parallel_workers: how many workers read rows; the configured number by default.
        shuffle: draw a new order every epoch (True by default).
        sampler: chooses the rows, instead of `shuffle`, `num_shards` and `num_samples`.
        num_shards, shard_id: read every num_shards-th row, the part of one rank.
        cache: a DatasetCache.
    """

    runs_python = True  # or reads files
    shards_of_job = True

    def __init__(
        self,
        columns: list[str],
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        super().__init__(columns)
        if num_parallel_workers is not None:
            check_positive_int(num_parallel_workers, "num_parallel_workers", type(self).__name__)
        self.cache = check_cache(cache, type(self).__name__)
        self.workers = num_parallel_workers
        self.sampling = Sampling(
            shuffle,
            num_shards,
            shard_id,
            num_samples,
            sampler if sampler is None else as_sampler(sampler),
            of_job=self.shards_of_job,
        )

    def count(self) -> int:
        """How many rows there are, before any is chosen."""
        raise NotImplementedError(f"For '{type(self).__name__}', count() is not defined.")

    def read(self, number: int) -> Row:
        """Row `number`; called by several threads at once."""
        raise NotImplementedError(f"For '{type(self).__name__}', read(number) is not defined.")

    def read_many(self, numbers: np.ndarray) -> Row | None:
        """Several rows at once, each column stacked; None where reading one by one is as quick."""
        return None

    def labels(self, column: str) -> np.ndarray:
        """The labels of all rows; a source that knows them does not read the rows.

        Raises:
            RuntimeError: if there is no such column.
        """
        if column not in self.columns:
            raise RuntimeError(f"For 'PKSampler', 'class_column' must be among {self.columns}, but got {column!r}.")
        place = self.columns.index(column)
        return np.array([self.read(n)[place] for n in range(self.count())])

    def get_dataset_size(self) -> int:
        """The number of rows this rank reads."""
        return self.sampling.size(self, self.count())

    def use_sampler(self, new_sampler: Any) -> None:
        """Read the rows that another sampler chooses.

        Args:
            new_sampler: a sampler, or an iterable of row numbers.

        Raises:
            TypeError: if it is neither.

        Examples:
            >>> import dist_ms.dataset as ds
            >>> data = ds.NumpySlicesDataset([5, 6, 7], shuffle=False)
            >>> data.use_sampler(ds.SequentialSampler(1))
            >>> [int(x) for (x,) in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
            [6, 7]
        """
        sampler = as_sampler(new_sampler)
        replaced = self.sampling.sampler
        if replaced is not None and replaced.child is not None and sampler.child is None:
            sampler.add_child(replaced.child)
        self.choose_by(sampler)

    def add_sampler(self, new_sampler: Any) -> None:
        """Read the rows that a sampler chooses among those which have been chosen so far.

        Args:
            new_sampler: a sampler without a child, or an iterable of places.

        Raises:
            TypeError: if it is neither.
            RuntimeError: if it has a child already, or either of the two shuffles within stretches.

        Examples:
            >>> import dist_ms.dataset as ds
            >>> data = ds.NumpySlicesDataset([5, 6, 7, 8], sampler=ds.SubsetSampler([3, 1, 0]))
            >>> data.add_sampler(ds.SequentialSampler(1))
            >>> [int(x) for (x,) in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
            [6, 5]
        """
        sampler, below = as_sampler(new_sampler), sampler_of(self.sampling)
        for name, either in (("new_sampler", sampler), ("sampler", below)):
            found = getattr(either, "shuffle", Shuffle.GLOBAL)
            if found is not Shuffle.GLOBAL:
                raise RuntimeError(complaint(f"{name}.shuffle", "add_sampler", "Shuffle.GLOBAL", found))
        sampler.add_child(below)
        self.choose_by(sampler)

    def choose_by(self, sampler: BuiltinSampler) -> None:
        """Read the rows that this sampler chooses, whatever chose them before."""
        self.sampling = Sampling(None, None, None, None, sampler)
        args, options = self._made_of
        chosen = ("num_samples", "shuffle", "num_shards", "shard_id")
        self._made_of = args, {k: v for k, v in options.items() if k not in chosen} | {"sampler": sampler}

    def source_rows(self) -> int | None:
        """Rows that all ranks together use up for one each; None where shards are no parts of one order."""
        return self.sampling.shards if self.sampling.in_turn else None

    def keys(self, epoch: int) -> Iterator[Key]:
        """The keys of an epoch's rows: the epoch, the place in the order of all ranks, and the number."""
        return self.keys_from(epoch, 0)

    def keys_from(self, epoch: int, rows: int) -> Iterator[Key]:
        """The keys that follow the first rows of all ranks."""
        places, numbers = self.sampling.places(self, self.count(), epoch, rows)
        return zip(repeat(epoch), places.tolist(), numbers.tolist())

    def load(self, key: Key) -> Row:
        """The row that a key names."""
        number = key[2]
        return (
            self.read(number) if self.cache is None else self.cache.row(number, self.count(), lambda: self.read(number))
        )

    def load_many(self, keys: list[Key]) -> Row | None:
        """The rows that keys name, where the source reads several at once."""
        if self.cache is not None:
            return None
        return self.read_many(np.array([key[2] for key in keys], np.int64))
