"""Which rows a rank reads: shuffling, sharding and limits over row numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_int, check_non_negative_int, check_positive_int
from dist_ms.common.settings.parallel_context import ParallelMode, get_auto_parallel_context
from dist_ms.communication import current
from dist_ms.dataset import config
from dist_ms.dataset.orders import reshuffled

_TOGETHER = (ParallelMode.DATA_PARALLEL, ParallelMode.HYBRID_PARALLEL)


class Sampling:
    """The order of a source's rows on one rank.

    Args:
        shuffle: draw a new order every epoch, the same on all ranks.
        num_shards, shard_id: read rows shard_id, shard_id + num_shards, ... of that order; the last
            shards start again at the first rows so that all have the same length, as in MindSpore.
        num_samples: read at most so many; 0 for all.
        sampler: chooses the rows instead.
        of_job: where no shard is named, read the shard of this rank if several train together.

    Raises:
        ValueError: if only one of the shard arguments is given, or they do not fit.
    """

    def __init__(
        self, shuffle: Any, num_shards: Any, shard_id: Any, num_samples: Any, sampler: Any = None, of_job: bool = False
    ) -> None:
        if shuffle is not None:
            check_bool(shuffle, "shuffle", "Dataset")
        if (num_shards is None) != (shard_id is None):
            raise ValueError("num_shards and shard_id need to be passed in together.")
        if num_shards is not None:
            check_positive_int(num_shards, "num_shards", "Dataset")
            check_int(shard_id, "shard_id", "Dataset")
            if not 0 <= shard_id < num_shards:
                raise ValueError(
                    f"shard_id should be less than num_shards. It must be in [0, {num_shards - 1}], but got {shard_id}."
                )
        if num_samples is not None:
            num_samples = check_non_negative_int(num_samples, "num_samples", "Dataset") or None
        if sampler is not None and (shuffle is not None or num_shards is not None or num_samples is not None):
            raise ValueError(
                "Conflicting arguments during sampler assignments. With 'sampler', leave out "
                f"num_samples: {num_samples}, num_shards: {num_shards}, shard_id: {shard_id}, shuffle: "
                f"{shuffle}."
            )
        self.shuffle = shuffle
        self.num_shards, self.shard_id, self.num_samples = num_shards, shard_id, num_samples
        self.sampler, self.of_job = sampler, of_job
        self._whole_readers = 0

    @contextmanager
    def without_padding(self) -> Iterator[None]:
        """Meanwhile read every row once: the last shards may be one row shorter, or empty."""
        inner = getattr(self.sampler, "without_padding", nullcontext)
        self._whole_readers += 1
        try:
            with inner():
                yield
        finally:
            self._whole_readers -= 1

    def shard(self) -> tuple[int, int]:
        """How many shards there are, and which one is read."""
        if self.num_shards is not None:
            return self.num_shards, self.shard_id
        if self.sampler is not None:
            return getattr(getattr(self.sampler, "sampling", None), "shard", lambda: (1, 0))()
        return shard_of_job() if self.of_job else (1, 0)

    def deal_anew(self, before: int, shards: int, shard: int) -> None:
        """Read another shard of another number of them, where rows are dealt by numbers that were given.

        Args:
            before: how many there were.
            shards: how many there are now.
            shard: the one to read.

        Raises:
            ValueError: if they are dealt otherwise.
        """
        inner = getattr(self.sampler, "sampling", None)
        if inner is not None:
            inner.deal_anew(before, shards, shard)
        if self.num_shards in (None, 1):
            return
        if self.num_shards != before:
            raise ValueError(
                f"The rows must be dealt to all {before} ranks to be dealt anew, but 'num_shards' is {self.num_shards}."
            )
        self.num_shards, self.shard_id = shards, shard

    @property
    def shards(self) -> int:
        """How many shards there are."""
        return self.shard()[0]

    @property
    def in_turn(self) -> bool:
        """Whether the shards get the rows of one order in turn, so that any number of shards can go on with it."""
        return True

    @property
    def is_shuffled(self) -> bool:
        """Whether each epoch has an order of its own."""
        if self.sampler is not None:
            return getattr(self.sampler, "is_shuffled", True)
        return self.shuffle is not False

    @property
    def is_shuffled_shard(self) -> bool:
        """Whether the rows are one of several shards of a shuffled order, the same on all ranks only with one seed."""
        if self.sampler is not None:
            return getattr(self.sampler, "is_shuffled_shard", False)
        return self.shards > 1 and self.is_shuffled

    def size(self, source: Any, rows: int) -> int:
        """How many of the `rows` rows of a source are read."""
        if self.sampler is not None:
            return len(self.places(source, rows, 0)[1])
        shards, shard = self.shard()
        count = len(range(shard, rows, shards)) if self._whole_readers else -(-rows // shards)
        return count if self.num_samples is None else min(count, self.num_samples)

    def order(self, source: Any, rows: int, epoch: int) -> np.ndarray:
        """The row numbers of an epoch, for all shards."""
        return np.arange(rows) if self.shuffle is False else self.shuffled(epoch, rows)

    def shuffled(self, epoch: int, count: int) -> np.ndarray:
        """The numbers below `count` in the order of an epoch."""
        return reshuffled(config.shuffle_seed(), epoch, count)

    def places(
        self, source: Any, rows: int, epoch: int, start: int = 0, offset: int = -1
    ) -> tuple[np.ndarray, np.ndarray]:
        """Where the rows to read stand in the order of all shards, and their numbers.

        Args:
            source: the dataset that is read, for samplers that look at rows.
            rows: how many there are.
            epoch: its number.
            start: how many rows of the order all shards together have read already.
            offset: from 0 on: no row is read twice to make the shards of one length, and the shards are
                counted from this one.
        """
        if self.sampler is not None:
            return self.sampler.places(source, rows, epoch, start)
        order = self.order(source, rows, epoch)
        shards, shard = self.shard()
        left = max(rows - start, 0)
        if offset >= 0 or self._whole_readers:
            places = np.arange(start + (shard - max(offset, 0)) % shards, rows, shards)
        else:
            places = start + shard + shards * np.arange(-(-left // shards))
        if self.num_samples is not None:
            places = places[: max(self.num_samples - start // shards, 0)]
        return places, order[places % max(rows, 1)]


def shard_of_job() -> tuple[int, int]:
    """The ranks that train together on different rows, and which of them this one is; (1, 0) of one alone."""
    world = current()
    together = get_auto_parallel_context("parallel_mode") in _TOGETHER and not get_auto_parallel_context("full_batch")
    return (world.comm.size, world.comm.rank) if world is not None and together else (1, 0)
