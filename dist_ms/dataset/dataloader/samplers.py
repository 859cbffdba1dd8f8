"""Which items a DataLoader reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_non_negative_int, check_positive_int
from dist_ms.communication import current
from dist_ms.dataset import config


class Sampler:
    """Base class of samplers: define `__iter__`, which gives numbers of items.

    Args:
        data_source: what is sampled.

    Examples:
        >>> from dist_ms.dataset.dataloader import DataLoader, Sampler
        >>> class Backwards(Sampler):
        ...     def __iter__(self):
        ...         return iter([2, 1, 0])
        >>> [int(x) for x in DataLoader([5, 6, 7], batch_size=None, sampler=Backwards())]
        [7, 6, 5]
    """

    def __init__(self, data_source: Any = None) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator:
        raise NotImplementedError(f"For '{type(self).__name__}', '__iter__' is not defined.")


class SequentialSampler(Sampler):
    """All items in their order.

    Examples:
        >>> from dist_ms.dataset.dataloader import SequentialSampler
        >>> list(SequentialSampler([5, 6]))
        [0, 1]
    """

    def __init__(self, data_source: Any) -> None:
        super().__init__(data_source)

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler):
    """Items in random order.

    Args:
        data_source: what is sampled.
        replacement: whether an item may come twice.
        num_samples: how many; as many as there are by default.
        generator: a `numpy.random.Generator`; one of the dataset's seed by default, other in each epoch.

    Examples:
        >>> from dist_ms.dataset.dataloader import RandomSampler
        >>> sorted(RandomSampler([5, 6, 7]))
        [0, 1, 2]
    """

    def __init__(
        self, data_source: Any, replacement: bool = False, num_samples: int | None = None, generator: Any = None
    ) -> None:
        super().__init__(data_source)
        self.replacement = check_bool(replacement, "replacement", "RandomSampler")
        if num_samples is not None:
            check_positive_int(num_samples, "num_samples", "RandomSampler")
        self._count, self.generator, self._epoch = num_samples, generator, 0

    @property
    def num_samples(self) -> int:
        """How many items an epoch has."""
        return len(self.data_source) if self._count is None else self._count

    def __iter__(self) -> Iterator[int]:
        draw = self.generator or np.random.default_rng([config.get_seed(), self._epoch])
        self._epoch += 1
        rows, left = len(self.data_source), self.num_samples
        if self.replacement:
            yield from draw.integers(rows, size=left).tolist()
            return
        while left > 0 and rows:
            part = draw.permutation(rows)[:left]
            yield from part.tolist()
            left -= len(part)

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler):
    """Numbers of another sampler in lists.

    Args:
        sampler: gives numbers.
        batch_size: how many in a list.
        drop_last: leave out a last, shorter list.

    Examples:
        >>> from dist_ms.dataset.dataloader import BatchSampler
        >>> list(BatchSampler(range(5), 2, False))
        [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Iterable, batch_size: int, drop_last: bool) -> None:
        super().__init__()
        self.sampler = sampler
        self.batch_size = check_positive_int(batch_size, "batch_size", "BatchSampler")
        self.drop_last = check_bool(drop_last, "drop_last", "BatchSampler")

    def __iter__(self) -> Iterator[list]:
        numbers = iter(self.sampler)
        while batch := list(islice(numbers, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        rows = len(self.sampler)  # type: ignore[arg-type]
        return rows // self.batch_size if self.drop_last else -(-rows // self.batch_size)


class DistributedSampler(Sampler):
    """One rank's part of the items.

    Args:
        dataset: what is sampled.
        num_replicas: how many parts; the ranks of the job by default.
        rank: which part; this rank's by default.
        shuffle: draw an order for each epoch, the same on all ranks.
        seed: of that order.
        drop_last: leave out items instead of repeating the first ones to make parts of one length.

    Examples:
        >>> from dist_ms.dataset.dataloader import DistributedSampler
        >>> list(DistributedSampler(range(5), 2, 1, shuffle=False))
        [1, 3, 0]
    """

    def __init__(
        self,
        dataset: Any,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool | None = True,
        seed: int | None = 0,
        drop_last: bool | None = False,
    ) -> None:
        super().__init__(dataset)
        owner, world = "DistributedSampler", current()
        if num_replicas is None:
            num_replicas = 1 if world is None else world.comm.size
        if rank is None:
            rank = 0 if world is None else world.comm.rank
        self.num_replicas = check_positive_int(num_replicas, "num_replicas", owner)
        self.rank = check_non_negative_int(rank, "rank", owner)
        if rank >= num_replicas:
            raise ValueError(f"For '{owner}', 'rank' must be below {num_replicas}, but got {rank}.")
        self.shuffle, self.drop_last = check_bool(shuffle, "shuffle", owner), check_bool(drop_last, "drop_last", owner)
        self.seed, self.epoch = check_non_negative_int(seed, "seed", owner), 0

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch's order comes next.

        Args:
            epoch: its number, from 0.
        """
        self.epoch = check_non_negative_int(epoch, "epoch", "DistributedSampler")

    def __len__(self) -> int:
        rows = len(self.data_source)
        return rows // self.num_replicas if self.drop_last else -(-rows // self.num_replicas)

    def __iter__(self) -> Iterator[int]:
        rows = len(self.data_source)
        order = np.arange(rows)
        if self.shuffle:
            order = np.random.default_rng([self.seed, self.epoch]).permutation(rows)
        whole = np.resize(order, len(self) * self.num_replicas)
        return iter(whole[self.rank :: self.num_replicas].tolist())
