"""The order of rows of MindRecord files, which MindSpore shuffles by another generator than those of other sources."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms._ext.sequences import MinimalStandard
from dist_ms.dataset import config
from dist_ms.dataset.orders import reshuffled
from dist_ms.dataset.shuffles import Shuffle
from dist_ms.dataset.sources.file_order import FileSampling


class RecordSampling(FileSampling):
    """Which rows of MindRecord files are read; files and the rows of each file are shuffled as all rows are."""

    def shuffled(self, epoch: int, count: int) -> np.ndarray:
        """The numbers below `count` in the order of an epoch: MindSpore counts its seeds up before the first."""
        return reshuffled(config.shuffle_seed() + 1, epoch, count, engine=MinimalStandard)

    def _blocks(self, source: Any, epoch: int) -> list[np.ndarray]:
        blocks = self._files(source)
        if self.mode is Shuffle.FILES:
            return [blocks[k] for k in self.shuffled(epoch, len(blocks))]
        if self.mode is Shuffle.INFILE:
            return [block[self.shuffled(epoch, len(block))] for block in blocks]
        return blocks
