"""IndexedSource: rows that have numbers, read in any order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dist_ms.common.checks import check_positive_int, complaint
from dist_ms.dataset.dataset import Dataset, Row
from dist_ms.dataset.sharding import Sampling


class IndexedSource(Dataset):
    """Base of the sources whose rows can be read by number.

    A source finds its files in `__init__`, tells how many rows they have in `count` and reads one in `read`; the
    order, shards and limits are chosen here.

    Args:
        columns: names of the columns.
        num_samples: read at most so many rows.
        num_parallel_workers: how many workers read rows; the configured number by default.
        shuffle: draw a new order every epoch (True by default).
        sampler: chooses the rows, instead of `shuffle`, `num_shards` and `num_samples`.
        num_shards, shard_id: read every num_shards-th row, the part of one rank.
        cache: a DatasetCache.
    """

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
        if cache is not None:
            raise ValueError(complaint("cache", type(self).__name__, "None", cache))
        self.sampling = Sampling(shuffle, num_shards, shard_id, num_samples, sampler)

    def count(self) -> int:
        """How many rows there are, before any is chosen."""
        raise NotImplementedError(f"For '{type(self).__name__}', count() is not defined.")

    def read(self, number: int) -> Row:
        """Row `number`; called by several threads at once."""
        raise NotImplementedError(f"For '{type(self).__name__}', read(number) is not defined.")

    def read_many(self, numbers: np.ndarray) -> Row | None:
        """Several rows at once, each column stacked; None where reading one by one is as quick."""
        return None

    def get_dataset_size(self) -> int:
        """The number of rows this rank reads."""
        return self.sampling.size(self.count())

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
        if not hasattr(new_sampler, "order") and not hasattr(new_sampler, "__iter__"):
            raise TypeError(complaint("new_sampler", "use_sampler", "a sampler", type(new_sampler).__name__))
        self.sampling = Sampling(None, None, None, None, new_sampler)

    def row_numbers(self, epoch: int) -> np.ndarray:
        """The rows of an epoch, in order."""
        return self.sampling.order(self.count(), epoch, shuffle_by_default=True)

    def rows(self, epoch: int) -> Iterator[Row]:
        """The rows of one epoch."""
        for number in self.row_numbers(epoch):
            yield self.read(int(number))
