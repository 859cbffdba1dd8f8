"""Samplers: which rows of a source are read, and in which order."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_int_range, check_positive_int, complaint
from dist_ms.dataset import config
from dist_ms.dataset.sharding import Sampling

__all__ = [
    "DistributedSampler",
    "RandomSampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "SubsetSampler",
    "WeightedRandomSampler",
]


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


class WeightedRandomSampler:
    """Rows at random, each as likely as its weight says.

    Args:
        weights: one for each row, not negative and not all 0.
        num_samples: how many rows an epoch has; None for as many as weights.
        replacement: whether a row may come twice.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a weight is negative, or too few are positive.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> data = ds.NumpySlicesDataset([0, 1, 2], sampler=ds.WeightedRandomSampler([0.0, 1.0, 0.0], 2))
        >>> [int(x) for (x,) in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
        [1, 1]
    """

    def __init__(self, weights: Iterable[float], num_samples: int | None = None, replacement: bool = True) -> None:
        weights = list(weights) if not isinstance(weights, str) else [weights]
        for weight in weights:
            if isinstance(weight, (bool, str)) or not np.isscalar(weight):
                raise TypeError(complaint("weights", "WeightedRandomSampler", "a list of numbers", repr(weight)))
        if num_samples is not None:
            check_positive_int(num_samples, "num_samples", "WeightedRandomSampler")
        self.replacement = check_bool(replacement, "replacement", "WeightedRandomSampler")
        self.weights = np.array(weights, np.float64)
        self.count = len(weights) if num_samples is None else num_samples
        enough = 1 if replacement else self.count
        if not (self.weights >= 0).all() or (self.weights > 0).sum() < enough:
            wanted = f"not negative, and {enough} of them positive"
            raise ValueError(complaint("weights", "WeightedRandomSampler", wanted, weights))

    def order(self, rows: int, epoch: int) -> np.ndarray:
        """The row numbers of an epoch.

        Raises:
            RuntimeError: if there are more weights than rows.
        """
        if len(self.weights) > rows:
            raise RuntimeError(
                f"For 'WeightedRandomSampler', there must be at most {rows} weights, one for each row, but got "
                f"{len(self.weights)}."
            )
        draw = np.random.RandomState([config.shuffle_seed() % 2**32, epoch])
        shares = self.weights / self.weights.sum()
        return draw.choice(len(shares), self.count, self.replacement, shares)


class SubsetRandomSampler(SubsetSampler):
    """Rows with the given numbers, in random order."""

    def order(self, rows: int, epoch: int) -> np.ndarray:
        """The row numbers of an epoch."""
        draw = np.random.RandomState([config.shuffle_seed() % 2**32, epoch])
        chosen = super().order(rows, epoch)
        return chosen[draw.permutation(len(chosen))]


class DistributedSampler:
    """One rank's part of the rows.

    Args:
        num_shards, shard_id: read rows shard_id, shard_id + num_shards, ... of the order.
        shuffle: draw a new order every epoch, the same on all ranks.
        num_samples: read at most so many.
        offset: -1: the last shards start again at the first rows so that all have the same length. From 0 to
            `num_shards`: every row is read once, by the rank `offset` places further on, and the last
            shards may be one row shorter; unlike MindSpore's, a shard may then be empty. `Model.eval` of several
            ranks and `Model.train` with `uneven="exact"` read so anyway.

    Raises:
        TypeError: if a number is no int.
        ValueError: if one is out of range.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> for shard in range(2):
        ...     data = ds.NumpySlicesDataset([0, 1, 2], sampler=ds.DistributedSampler(2, shard, False, offset=0))
        ...     print([int(x[0]) for x in data.create_tuple_iterator(num_epochs=1, output_numpy=True)])
        [0, 2]
        [1]
    """

    def __init__(
        self, num_shards: int, shard_id: int, shuffle: bool = True, num_samples: Any = None, offset: int = -1
    ) -> None:
        self.sampling = Sampling(shuffle, num_shards, shard_id, num_samples)
        self._offset = check_int_range(offset, "offset", "DistributedSampler", -1, num_shards)

    @property
    def is_shuffled_shard(self) -> bool:
        """Whether the rows are one of several shards of a shuffled order."""
        return self.sampling.is_shuffled_shard

    def without_padding(self) -> AbstractContextManager[None]:
        """Meanwhile read every row once, whatever the `offset`."""
        return self.sampling.without_padding()

    def order(self, rows: int, epoch: int) -> np.ndarray:
        """The row numbers of an epoch."""
        return self.sampling.order(rows, epoch, shuffle_by_default=True, offset=self._offset)
