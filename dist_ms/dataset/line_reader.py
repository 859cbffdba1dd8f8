"""LineReader: a text file's lines by number."""

from __future__ import annotations

import mmap
import os

import numpy as np

from dist_ms.common.checks import check_string, complaint

__all__ = ["LineReader"]


class LineReader:
    r"""Lines of a text file by number, without reading the others again.

    Args:
        filename: the file; it is looked through once.

    Raises:
        TypeError: if it is no str.
        RuntimeError: if there is no such file.

    Examples:
        >>> import pathlib, tempfile
        >>> from dist_ms.dataset import LineReader
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "lines.txt"
        >>> _ = path.write_text("first\nsecond")
        >>> reader = LineReader(str(path))
        >>> reader.len(), reader.readline(2)
        (2, 'second')
        >>> reader.close()
    """

    def __init__(self, filename: str) -> None:
        check_string(filename, "filename", "LineReader")
        if not os.path.isfile(filename):
            raise RuntimeError(complaint("filename", "LineReader", "a file that exists", repr(filename)))
        self._file = open(filename, "rb")
        size = os.fstat(self._file.fileno()).st_size
        self._starts = np.zeros(0, np.int64)
        if size:
            with mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                whole = np.frombuffer(data, np.uint8)
                ends = np.flatnonzero(whole == ord("\n")) + 1
                del whole
            starts = np.concatenate([[0], ends])
            self._starts = starts[starts < size]

    def len(self) -> int:
        """How many lines there are."""
        return len(self._starts)

    def readline(self, line: int) -> str:
        """A line without its end.

        Args:
            line: its number, from 1.

        Raises:
            TypeError: if it is no int.
            ValueError: if there is no such line.
        """
        if isinstance(line, bool) or not isinstance(line, int):
            raise TypeError(complaint("line", "readline", "an int", type(line).__name__))
        if not 1 <= line <= len(self._starts):
            raise ValueError(complaint("line", "readline", f"from 1 to {len(self._starts)}", line))
        self._file.seek(int(self._starts[line - 1]))
        return self._file.readline().decode().rstrip("\r\n")

    def close(self) -> None:
        """Close the file."""
        self._file.close()
