"""Sources of several text files: which files, in which order their rows come, and where rows begin."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from dist_ms._ext.delimited import strings
from dist_ms.common.checks import check_positive_int, check_string, check_type, complaint
from dist_ms.dataset.dataset import Row
from dist_ms.dataset.sources.file_order import FileSampling, check_shuffle
from dist_ms.dataset.sources.indexed import IndexedSource


def find_files(patterns: str | Sequence[str], owner: str) -> list[str]:
    """The files that paths and patterns name, in order.

    Raises:
        TypeError: if they are no text.
        ValueError: if a pattern matches no file.
    """
    check_type(patterns, "dataset_files", owner, (str, list))
    if not patterns:
        raise ValueError(complaint("dataset_files", owner, "one or more files", repr(patterns)))
    found: list[str] = []
    missing = []
    for pattern in [patterns] if isinstance(patterns, str) else patterns:
        check_string(pattern, "dataset_files", owner)
        matches = [pattern] if os.path.isfile(pattern) else [p for p in glob.glob(pattern) if os.path.isfile(p)]
        if not matches:
            missing.append(pattern)
        found += matches
    if missing:
        raise ValueError(f"For '{owner}', these patterns in 'dataset_files' match no file: {missing}.")
    return sorted(found)


def check_folder(folder: Any, owner: str) -> str:
    """Check the folder of a set.

    Raises:
        ValueError: if it is none.
    """
    check_type(folder, "dataset_dir", owner, str)
    if not os.path.isdir(folder):
        raise ValueError(f"For '{owner}', the folder {folder} does not exist.")
    return folder


def files_of(folder: str, names: Sequence[str], owner: str) -> list[str]:
    """Files of a folder.

    Raises:
        RuntimeError: if one is missing.
    """
    paths = [os.path.join(folder, name) for name in names]
    for path in paths:
        if not os.path.isfile(path):
            raise RuntimeError(f"For '{owner}', {path} does not exist: unpack the set into its folder.")
    return paths


def check_usage(usage: Any, choices: Sequence[str], owner: str, default: str = "all") -> str:
    """Check which part of a set is read."""
    return default if usage is None else check_string(usage, "usage", owner, choices)


class FileSource(IndexedSource):
    """Base of the sources whose rows stand in files one after the other.

    Without shuffling, `num_parallel_workers` files (8 by default) give a row each in turn, and shards that are named
    are stretches of the rows, as MindSpore has it.

    Args:
        columns: names of the columns.
        files: the files, in order.
        num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache: as in IndexedSource; `shuffle` may be a
            Shuffle.
    """

    def __init__(
        self,
        columns: Sequence[str],
        files: list[str],
        num_samples: int | None,
        num_parallel_workers: int | None,
        shuffle: Any,
        num_shards: int | None,
        shard_id: int | None,
        cache: Any,
    ) -> None:
        super().__init__(list(columns), None, num_parallel_workers, None, None, None, None, cache)
        owner = type(self).__name__
        if num_samples is not None and num_samples != 0:
            check_positive_int(num_samples, "num_samples", owner)
        self.files = files
        self._counts: list[int] | None = None
        self.sampling = FileSampling(
            check_shuffle(shuffle, owner),
            num_shards,
            shard_id,
            num_samples or None,
            None,
            self.shards_of_job,
            num_parallel_workers,
            stretches=True,
        )

    def rows_of(self, file: int) -> int:
        """How many rows a file has."""
        raise NotImplementedError

    def file_rows(self) -> list[int]:
        """How many rows each file has."""
        if self._counts is None:
            self._counts = [self.rows_of(k) for k in range(len(self.files))]
        return self._counts

    def count(self) -> int:
        """How many rows the files have."""
        return sum(self.file_rows())

    def place(self, number: int) -> tuple[int, int]:
        """The file of a row, and its number there."""
        for file, rows in enumerate(self.file_rows()):
            if number < rows:
                return file, number
            number -= rows
        raise IndexError(number)


class OffsetSource(FileSource):
    """Base of the sources that find rows by where they begin in a file, which is mapped into memory."""

    _mapped: dict[int, tuple] | None = None

    def __getstate__(self) -> dict:
        return super().__getstate__() | {"_mapped": None}

    def scan(self, data: np.ndarray, file: int) -> tuple[np.ndarray, np.ndarray]:
        """Where the rows of a file begin and end."""
        raise NotImplementedError

    def parse(self, file: int, data: np.ndarray, begins: np.ndarray, ends: np.ndarray) -> Row:
        """The columns of some rows of a file."""
        raise NotImplementedError

    def mapped(self, file: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A file's bytes, and where its rows begin and end."""
        if self._mapped is None:
            self._mapped = {}
        if file not in self._mapped:
            path = self.files[file]
            data = np.memmap(path, np.uint8, "r") if os.path.getsize(path) else np.empty(0, np.uint8)
            data = data.view(np.ndarray)
            self._mapped[file] = (data, *self.scan(data, file))
        return self._mapped[file]

    def rows_of(self, file: int) -> int:
        """How many rows a file has."""
        return len(self.mapped(file)[1])

    def read(self, number: int) -> Row:
        """Row `number`."""
        return tuple(column.reshape(column.shape[1:]) for column in self.read_many(np.array([number])))

    def read_many(self, numbers: np.ndarray) -> Row:
        """Several rows at once."""
        if len(self.files) == 1:
            return self._rows(0, numbers)
        starts = np.cumsum([0, *self.file_rows()])
        files = np.searchsorted(starts, numbers, "right") - 1
        order = np.argsort(files, kind="stable")
        parts = [self._rows(k, numbers[files == k] - starts[k]) for k in np.unique(files)]
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        return tuple(np.concatenate(columns)[back] for columns in zip(*parts))

    def _rows(self, file: int, numbers: np.ndarray) -> Row:
        data, begins, ends = self.mapped(file)
        return self.parse(file, data, begins[numbers], ends[numbers])

    def texts(self, file: int, data: np.ndarray, spans: np.ndarray) -> np.ndarray:
        """The text between places of a file.

        Raises:
            RuntimeError: if it is no UTF-8.
        """
        found, wrong = strings(data, spans)
        if wrong >= 0:
            raise self.wrong(file, data, int(spans[wrong, 0]), "is no UTF-8 text")
        return found

    def wrong(self, file: int, data: np.ndarray, place: int, reason: str) -> RuntimeError:
        """The error of a row that begins at a place of a file."""
        line = 1 + int((data[:place] == 10).sum())
        return RuntimeError(f"For '{type(self).__name__}', {self.files[file]}, line {line} {reason}: correct the file.")


class ParsedSource(FileSource):
    """Base of the sources that read a whole file into rows of Python values when it is first needed."""

    _parsed: dict[int, list] | None = None

    def __getstate__(self) -> dict:
        return super().__getstate__() | {"_parsed": None}

    def parse(self, path: str) -> list[tuple]:
        """The rows of a file."""
        raise NotImplementedError

    def parsed(self, file: int) -> list[tuple]:
        """The rows of a file, read once.

        Raises:
            RuntimeError: if the file is wrong.
        """
        if self._parsed is None:
            self._parsed = {}
        if file not in self._parsed:
            path = self.files[file]
            try:
                self._parsed[file] = self.parse(path)
            except (ValueError, KeyError, IndexError, TypeError) as error:
                raise RuntimeError(
                    f"For '{type(self).__name__}', {path} is not as the set's files are "
                    f"({type(error).__name__}: {error}): unpack it again."
                ) from None
        return self._parsed[file]

    def rows_of(self, file: int) -> int:
        """How many rows a file has."""
        return len(self.parsed(file))

    def read(self, number: int) -> Row:
        """Row `number`."""
        file, row = self.place(number)
        return tuple(np.asarray(value) for value in self.parsed(file)[row])


def line_spans(data: np.ndarray, keep_empty: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Where the lines of a file begin and end, without their ends."""
    (ends,) = np.nonzero(data == 10)
    if len(data) and data[-1] != 10:
        ends = np.append(ends, len(data))
    begins = np.concatenate([[0], ends[:-1] + 1]) if len(ends) else ends
    if keep_empty:
        return begins, ends
    some = begins < ends
    return begins[some], ends[some]
