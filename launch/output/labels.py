"""Lines that begin with their rank; ranks that say the same thing at the same time say it once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

_HOLD = 0.1  # seconds in which ranks may say the same


@dataclass
class _Line:
    target: int
    text: bytes
    ranks: set[int]
    since: float


def ranges(numbers: Iterable[int]) -> str:
    """Return numbers as a short list.

    Examples:
        >>> from dist_ms.launch.output.labels import ranges
        >>> ranges({0, 1, 2, 3, 7, 9, 10})
        '0-3,7,9-10'
    """
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


class Labels:
    r"""Puts the ranks before lines, and equal lines together; a rank's lines keep their order, per stream.

    Args:
        ranks: how many there are.
        write: takes where a line goes, and the line.

    Examples:
        >>> from dist_ms.launch.output.labels import Labels
        >>> labels = Labels(2, lambda target, line: print(target, line))
        >>> labels.add(0, 1, b"begin\n"); labels.add(0, 1, b"mine\n"); labels.add(1, 1, b"begin\n")
        1 b'[0-1] begin\n'
        >>> labels.flush(at_once=True)
        1 b'[0] mine\n'
    """

    def __init__(self, ranks: int, write: Callable[[int, bytes], object]) -> None:
        self._ranks, self._write = ranks, write
        self._lines: list[_Line] = []

    def add(self, rank: int, target: int, text: bytes) -> None:
        """Take a rank's line.

        Args:
            rank: whose.
            target: where it goes.
            text: the line with its end.
        """
        if not text.endswith(b"\n"):
            text += b"\n"
        first = max(
            (i + 1 for i, line in enumerate(self._lines) if line.target == target and rank in line.ranks), default=0
        )
        for line in self._lines[first:]:
            if line.target == target and line.text == text:
                line.ranks.add(rank)
                break
        else:
            self._lines.append(_Line(target, text, {rank}, time.monotonic()))
        self.flush()

    def flush(self, at_once: bool = False) -> None:
        """Write the lines that all ranks have said, or that have waited for others."""
        now = time.monotonic()
        while self._lines:
            line = self._lines[0]
            if not at_once and len(line.ranks) < self._ranks and now - line.since < _HOLD:
                return
            del self._lines[0]
            self._write(line.target, f"[{ranges(line.ranks)}] ".encode() + line.text)
