"""Which rows a rank reads: shuffling, sharding and limits over row numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_positive_int
from dist_ms.dataset import config


class Sampling:
    """The order of a source's rows on one rank.

    Args:
        shuffle: draw a new order every epoch, the same on all ranks.
        num_shards, shard_id: read rows shard_id, shard_id + num_shards, ... of that order; the last
            shards start again at the first rows so that all have the same length, as in MindSpore.
        num_samples: read at most so many.

    Raises:
        ValueError: if only one of the shard arguments is given, or they do not fit.
    """

    def __init__(self, shuffle: Any, num_shards: Any, shard_id: Any, num_samples: Any, sampler: Any = None) -> None:
        if shuffle is not None:
            check_bool(shuffle, "shuffle", "Dataset")
        if (num_shards is None) != (shard_id is None):
            raise ValueError("num_shards and shard_id need to be passed in together.")
        if num_shards is not None:
            check_positive_int(num_shards, "num_shards", "Dataset")
            if isinstance(shard_id, bool) or not isinstance(shard_id, (int, np.integer)):
                raise TypeError(f"For 'Dataset', 'shard_id' must be an int, but got {type(shard_id).__name__}.")
            if not 0 <= shard_id < num_shards:
                raise ValueError(
                    f"shard_id should be less than num_shards. It must be in [0, {num_shards - 1}], but got {shard_id}."
                )
        if num_samples is not None:
            check_positive_int(num_samples, "num_samples", "Dataset")
        if sampler is not None and (shuffle is not None or num_shards is not None or num_samples is not None):
            raise ValueError(
                "Conflicting arguments during sampler assignments. With 'sampler', leave out "
                f"num_samples: {num_samples}, num_shards: {num_shards}, shard_id: {shard_id}, shuffle: "
                f"{shuffle}."
            )
        self.shuffle = shuffle
        self.num_shards, self.shard_id, self.num_samples = num_shards, shard_id, num_samples
        self.sampler = sampler
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

    @property
    def is_shuffled_shard(self) -> bool:
        """Whether the rows are one of several shards of a shuffled order, the same on all ranks only with one seed."""
        if self.sampler is not None:
            return getattr(self.sampler, "is_shuffled_shard", False)
        return self.num_shards is not None and self.num_shards > 1 and self.shuffle is not False

    def size(self, rows: int) -> int:
        """How many of `rows` rows are read."""
        if self.sampler is not None:
            return len(self.order(rows, 0, True))
        if self.num_shards is None:
            count = rows
        elif self._whole_readers:
            count = len(range(self.shard_id, rows, self.num_shards))
        else:
            count = -(-rows // self.num_shards)
        return count if self.num_samples is None else min(count, self.num_samples)

    def order(self, rows: int, epoch: int, shuffle_by_default: bool, offset: int = -1) -> np.ndarray:
        """The row numbers to read in an epoch; with an `offset` of 0 or more none is read twice."""
        if self.sampler is not None:
            return np.array(
                list(self.sampler.order(rows, epoch)) if hasattr(self.sampler, "order") else list(self.sampler),
                np.int64,
            )
        order = np.arange(rows)
        if self.shuffle if self.shuffle is not None else shuffle_by_default:
            np.random.RandomState([config.shuffle_seed() % 2**32, epoch]).shuffle(order)
        if self.num_shards is not None and rows:
            if offset >= 0 or self._whole_readers:
                order = order[(self.shard_id - max(offset, 0)) % self.num_shards :: self.num_shards]
            else:
                length = -(-rows // self.num_shards)
                order = np.resize(order, length * self.num_shards)[self.shard_id :: self.num_shards]
        return order if self.num_samples is None else order[: self.num_samples]
