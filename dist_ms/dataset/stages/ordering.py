"""Which rows follow which: shuffle, repeat, take, skip."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from itertools import islice

from dist_ms.common.checks import check_non_negative_int, complaint
from dist_ms.dataset import config
from dist_ms.dataset.dataset import Dataset, Key
from dist_ms.dataset.orders import WideMersenneTwister


class ShuffleDataset(Dataset):
    """Draws rows at random from a buffer, anew every epoch, the same way on every rank."""

    def __init__(self, source: Dataset, buffer_size: int) -> None:
        if isinstance(buffer_size, bool) or not isinstance(buffer_size, int):
            raise TypeError(complaint("buffer_size", "shuffle", "an int", type(buffer_size).__name__))
        if buffer_size < 2:
            raise ValueError(
                f"Input buffer_size is not within the required interval of [2, 2147483647]: it is {buffer_size}."
            )
        super().__init__(source.columns, source)
        self.buffer_size = buffer_size
        self._begun: tuple[int, int, WideMersenneTwister] | None = None  # a seed, an epoch, and the words from there on

    def keys(self, epoch: int) -> Iterator[Key]:
        """The shuffled keys of one epoch."""
        draw = self._draw(epoch)
        buffer: list[Key] = []
        for key in self.inputs[0].keys(epoch):
            if len(buffer) < self.buffer_size:
                buffer.append(key)
                continue
            i = next(draw) % len(buffer)
            buffer[i], buffer[-1], chosen = buffer[-1], key, buffer[i]
            yield chosen
        while buffer:
            i = next(draw) % len(buffer)
            buffer[i], buffer[-1] = buffer[-1], buffer[i]
            yield buffer.pop()

    def _draw(self, epoch: int) -> WideMersenneTwister:
        """The random words of an epoch, of which there is one for each row; epochs draw from one sequence."""
        seed = config.shuffle_seed()
        if self._begun is None or self._begun[0] != seed or self._begun[1] > epoch:
            self._begun = seed, 0, WideMersenneTwister(seed)
        _, begun, words = self._begun
        words = copy(words)
        if epoch > begun:
            words.skip((epoch - begun) * self.inputs[0].get_dataset_size())
        self._begun = seed, epoch, words
        return copy(words)

    def is_shuffled(self) -> bool:
        """True."""
        return True


class RepeatDataset(Dataset):
    """Gives the rows several times in an epoch."""

    def __init__(self, source: Dataset, count: int | None) -> None:
        count = -1 if count is None else count
        if isinstance(count, bool) or not isinstance(count, int):
            raise TypeError(complaint("count", "repeat", "an int", type(count).__name__))
        if count != -1 and count < 1:
            raise ValueError(f"count should be either -1 or positive integer, range[1, INT32_MAX]. It is {count}.")
        super().__init__(source.columns, source)
        self.count = count

    def get_dataset_size(self) -> int:
        """Rows in an epoch (of the source, when it repeats for ever)."""
        return self.inputs[0].get_dataset_size() * max(self.count, 1)

    def get_repeat_count(self) -> int:
        """How often the rows of the stage before are repeated, or were if this stage repeats nothing."""
        return self.inputs[0].get_repeat_count() if self.count == 1 else self.count

    def keys(self, epoch: int) -> Iterator[Key]:
        """The keys of one epoch, each repetition shuffled anew."""
        turn = 0
        while self.count == -1 or turn < self.count:
            yield from self.inputs[0].keys(epoch * max(self.count, 1) + turn)
            turn += 1


class TakeDataset(Dataset):
    """Gives the first rows."""

    def __init__(self, source: Dataset, count: int) -> None:
        if isinstance(count, bool) or not isinstance(count, int):
            raise TypeError(complaint("count", "take", "an int", type(count).__name__))
        if count != -1 and count < 1:
            raise ValueError(
                f"count should be either -1 or within the required interval of (0, 2147483647], got {count}."
            )
        super().__init__(source.columns, source)
        self.count = count

    def get_dataset_size(self) -> int:
        """Rows in an epoch."""
        size = self.inputs[0].get_dataset_size()
        return size if self.count == -1 else min(size, self.count)

    def keys(self, epoch: int) -> Iterator[Key]:
        """The first keys of one epoch."""
        return islice(self.inputs[0].keys(epoch), None if self.count == -1 else self.count)


class SkipDataset(Dataset):
    """Leaves out the first rows."""

    def __init__(self, source: Dataset, count: int) -> None:
        check_non_negative_int(count, "count", "skip")
        super().__init__(source.columns, source)
        self.count = count

    def get_dataset_size(self) -> int:
        """Rows in an epoch."""
        return max(self.inputs[0].get_dataset_size() - self.count, 0)

    def keys(self, epoch: int) -> Iterator[Key]:
        """The remaining keys of one epoch."""
        return islice(self.inputs[0].keys(epoch), self.count, None)
