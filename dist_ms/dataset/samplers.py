"""Samplers: which rows of a source are read, and in which order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_positive_int
from dist_ms.dataset import config
from dist_ms.dataset.sharding import Sampling

__all__ = ["DistributedSampler", "RandomSampler", "SequentialSampler", "SubsetRandomSampler", "SubsetSampler"]


class SequentialSampler:
    """Rows in order, from `start_index`, at most `num_samples`."""

    def __init__(self, start_index: int | None = None, num_samples: int | None = None) -> None:
        self.start, self.count = start_index or 0, num_samples

    def order(self, rows: int, epoch: int) -> np.ndarray:
        """The row numbers of an epoch."""
        stop = rows if self.count is None else min(rows, self.start + self.count)
        return np.arange(self.start, stop)


class RandomSampler:
    """Rows at random, with or without replacement."""

    def __init__(self, replacement: bool = False, num_samples: int | None = None) -> None:
        check_bool(replacement, "replacement", "RandomSampler")
        if num_samples is not None:
            check_positive_int(num_samples, "num_samples", "RandomSampler")
        self.replacement, self.count = replacement, num_samples

    def order(self, rows: int, epoch: int) -> np.ndarray:
        """The row numbers of an epoch."""
        draw = np.random.RandomState([config.shuffle_seed() % 2**32, epoch])
        count = rows if self.count is None else self.count
        return draw.randint(rows, size=count) if self.replacement else draw.permutation(rows)[:count]


class SubsetSampler:
    """Rows with the given numbers, in their order."""

    def __init__(self, indices: Iterable[int], num_samples: int | None = None) -> None:
        self.indices = np.array(list(indices), np.int64)
        self.count = num_samples

    def order(self, rows: int, epoch: int) -> np.ndarray:
        """The row numbers of an epoch.

        Raises:
            RuntimeError: if one is no row.
        """
        if len(self.indices) and (self.indices.min() < 0 or self.indices.max() >= rows):
            raise RuntimeError(
                f"For 'SubsetSampler', 'indices' must be in [0, {rows - 1}], but got "
                f"{self.indices.min()} to {self.indices.max()}."
            )
        return self.indices[: self.count]


class SubsetRandomSampler(SubsetSampler):
    """Rows with the given numbers, in random order."""

    def order(self, rows: int, epoch: int) -> np.ndarray:
        """The row numbers of an epoch."""
        draw = np.random.RandomState([config.shuffle_seed() % 2**32, epoch])
        chosen = super().order(rows, epoch)
        return chosen[draw.permutation(len(chosen))]


class DistributedSampler:
    """One rank's part of the rows."""

    def __init__(
        self, num_shards: int, shard_id: int, shuffle: bool = True, num_samples: Any = None, offset: int = -1
    ) -> None:
        if offset != -1:
            raise ValueError(
                f"For 'DistributedSampler', 'offset' must be -1, but got {offset}: shards are cut from "
                "the first row on."
            )
        self._sampling = Sampling(shuffle, num_shards, shard_id, num_samples)

    def order(self, rows: int, epoch: int) -> np.ndarray:
        """The row numbers of an epoch."""
        return self._sampling.order(rows, epoch, shuffle_by_default=True)
