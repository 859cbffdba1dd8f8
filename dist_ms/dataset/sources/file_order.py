"""The order of rows that stand in files: of all rows, of the files, or within each file."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from dist_ms.common.checks import check_positive_int
from dist_ms.dataset import config
from dist_ms.dataset.sharding import Sampling
from dist_ms.dataset.shuffles import Shuffle

LANES = 8  # files that are read side by side


def check_shuffle(shuffle: Any, owner: str) -> Shuffle | None:
    """A mode of shuffling, None for none.

    Raises:
        TypeError: if it is no bool and no Shuffle.
    """
    if shuffle is None or shuffle is True:
        return Shuffle.GLOBAL
    if shuffle is False or shuffle is Shuffle.FALSE:
        return None
    if not isinstance(shuffle, Shuffle):
        raise TypeError(f"For '{owner}', 'shuffle' must be a bool or a Shuffle, but got {shuffle!r}.")
    return shuffle


class FileSampling(Sampling):
    """Which rows of a source of several files are read.

    Rows are dealt to the shards in turn, or, where an order says that the shards are named, in stretches of the files,
    as MindSpore does.

    Args:
        shuffle: a mode, or None for none.
        num_shards, shard_id, num_samples, sampler, of_job: as in Sampling.
        lanes: how many files are read side by side, a row of each in turn; 0 for one file after the other.
        stretches: deal stretches to shards that the user names, unless all rows are shuffled.
    """

    def __init__(
        self,
        shuffle: Shuffle | None,
        num_shards: Any,
        shard_id: Any,
        num_samples: Any,
        sampler: Any = None,
        of_job: bool = False,
        lanes: int | None = None,
        stretches: bool = False,
    ) -> None:
        given = None if sampler is not None and shuffle is Shuffle.GLOBAL else shuffle is not None
        super().__init__(given, num_shards, shard_id, num_samples, sampler, of_job)
        self.mode, self.stretches = shuffle, stretches
        self.lanes = LANES if lanes is None else lanes and check_positive_int(lanes, "num_parallel_workers", "Dataset")

    @staticmethod
    def _files(source: Any) -> list[np.ndarray]:
        """The rows of each file that has some."""
        starts = np.cumsum([0, *source.file_rows()])
        return [np.arange(a, b) for a, b in pairwise(starts.tolist()) if a < b]

    def _blocks(self, source: Any, epoch: int) -> list[np.ndarray]:
        """The same, files and rows in the order of an epoch."""
        blocks = self._files(source)
        draw = np.random.RandomState([config.shuffle_seed() % 2**32, epoch])
        if self.mode is Shuffle.FILES:
            return [blocks[k] for k in draw.permutation(len(blocks))]
        return [draw.permutation(block) for block in blocks] if self.mode is Shuffle.INFILE else blocks

    def order(self, source: Any, rows: int, epoch: int) -> np.ndarray:
        """The row numbers of an epoch."""
        if self.mode not in (None, Shuffle.FILES, Shuffle.INFILE):
            return super().order(source, rows, epoch)
        numbers = self._side_by_side(self._blocks(source, epoch))
        return np.concatenate([numbers, np.arange(len(numbers), rows)])

    def _side_by_side(self, blocks: list[np.ndarray]) -> np.ndarray:
        """The rows of several files, a row of each in turn."""
        if not blocks:
            return np.empty(0, np.int64)
        if not self.lanes:
            return np.concatenate(blocks)
        lanes = [np.concatenate(blocks[k :: self.lanes]) for k in range(min(self.lanes, len(blocks)))]
        lane = np.repeat(np.arange(len(lanes)), [len(rows) for rows in lanes])
        within = np.concatenate([np.arange(len(rows)) for rows in lanes])
        return np.concatenate(lanes)[np.lexsort((lane, within))]

    @property
    def in_turn(self) -> bool:
        """Whether the shards get the rows in turn, not stretches of them."""
        named = self.num_shards not in (None, 1) and not self._whole_readers
        return not (self.stretches and named and self.mode in (None, Shuffle.FILES, Shuffle.INFILE))

    def places(
        self, source: Any, rows: int, epoch: int, start: int = 0, offset: int = -1
    ) -> tuple[np.ndarray, np.ndarray]:
        """Where the rows to read stand in the order of all shards, and their numbers."""
        if offset >= 0 or self.in_turn:
            return super().places(source, rows, epoch, start, offset)
        shards, shard = self.num_shards, self.shard_id
        blocks = self._blocks(source, epoch)
        each = -(-rows // shards)
        begin = -(-rows // shards) * shard % max(rows, 1)
        chosen: list[np.ndarray] = []
        position = 0
        for block in [*blocks, *blocks]:  # the last stretches go on at the first row
            low, high = max(begin, position), min(begin + each, position + len(block))
            if low < high:
                chosen.append(block[low - position : high - position])
            position += len(block)
        numbers = self._side_by_side(chosen)[start // shards : self.num_samples]
        return start // shards * shards + shard + shards * np.arange(len(numbers)), numbers
