"""Where the bytes of a checkpoint come from: an object that knows how many can still come."""

from __future__ import annotations

from typing import BinaryIO, Protocol


class Source(Protocol):
    """Something to read a checkpoint's plain bytes from, once, from front to back."""

    @property
    def remaining(self) -> int:
        """At most this many bytes are left."""

    def read(self, count: int) -> bytes:
        """Read `count` bytes, or fewer at the end."""


class FileSection:
    """The first `size` bytes of a file."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        file.seek(0)
        self._file = file
        self.remaining = size

    def read(self, count: int) -> bytes:
        """Read `count` bytes, or fewer at the end."""
        data = self._file.read(min(count, self.remaining))
        self.remaining -= len(data)
        return data


def read_exactly(source: Source, count: int, what: str) -> bytes:
    """Read `count` bytes.

    Raises:
        ValueError: if the source has fewer; nothing is allocated in that case.
    """
    if count > source.remaining:
        raise ValueError(
            f"{what} should have {count} bytes, but only {source.remaining} are left: the file is truncated or damaged"
        )
    data = source.read(count)
    if len(data) != count:
        raise ValueError(
            f"{what} should have {count} bytes, but only {len(data)} are left: the file is truncated or damaged"
        )
    return data
