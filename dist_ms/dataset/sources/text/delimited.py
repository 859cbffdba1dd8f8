"""CSVDataset: rows of delimited text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dist_ms._ext.delimited import floats, integers, row_starts, split
from dist_ms.common.checks import check_string, check_type, complaint
from dist_ms.dataset.dataset import Row
from dist_ms.dataset.shuffles import Shuffle
from dist_ms.dataset.sources.text.files import OffsetSource, find_files

__all__ = ["CSVDataset"]

_FAULTS = {
    1: "has a quote within a field that does not begin with one",
    2: "has text after the quote that ends a field",
    3: "has a quote that is never closed",
    4: "has fewer fields than there are columns ({})",
    5: "has more fields than there are columns ({})",
}
_TYPES = {bool: int, int: int, float: float, str: str}


class DelimitedSource(OffsetSource):
    """Base of the sources of delimited text.

    Args:
        columns: names of the columns.
        files: the files, in order.
        types: int, float or str for each column.
        delimiter: what is between fields.
        has_head: whether a file's first line names the columns.
        rest: the further arguments of FileSource.
    """

    def __init__(
        self, columns: Sequence[str], files: list[str], types: list[type], delimiter: str, has_head: bool, *rest: Any
    ) -> None:
        self.types, self.delimiter, self.has_head = types, delimiter, has_head
        super().__init__(columns, files, *rest)

    def scan(self, data: np.ndarray, file: int) -> tuple[np.ndarray, np.ndarray]:
        """Where the rows begin and end."""
        starts = row_starts(data)
        first = 1 if self.has_head else 0
        return starts[first:-1], starts[first + 1 :]

    def parse(self, file: int, data: np.ndarray, begins: np.ndarray, ends: np.ndarray) -> Row:
        """The rows' columns: int32, float32 or text."""
        width = len(self.columns)
        spans, fault, row = split(data, begins, ends, ord(self.delimiter), width)
        if fault:
            raise self.wrong(file, data, int(begins[row]), _FAULTS[fault].format(width))
        columns = []
        for k, kind in enumerate(self.types):
            if kind is str:
                columns.append(self.texts(file, data, spans[:, k]))
                continue
            numbers, wrong = (integers if kind is int else floats)(data, spans[:, k])
            if wrong >= 0:
                begin, end = spans[wrong, k].tolist()
                text = bytes(data[begin : end if end >= 0 else ~end]).decode(errors="replace")
                wanted = "int32" if kind is int else "float32"
                reason = f"has {text!r} in column {self.columns[k]!r}, which is no {wanted}"
                raise self.wrong(file, data, int(begins[wrong]), reason)
            columns.append(numbers)
        return tuple(columns)


class CSVDataset(DelimitedSource):
    """The rows of CSV files.

    A field may stand between quotes; a quote within is then written twice.

    Args:
        dataset_files: a file, a pattern or a list of them; the files are read in the order of their names.
        field_delim: the character between fields.
        column_defaults: a value for each column, whose type the column has: int (int32), float (float32) or str; all
            text by default. Fields that are empty are no numbers.
        column_names: the columns, where the files' first lines do not name them.
        num_samples: read at most so many rows.
        num_parallel_workers: how many workers read; without shuffling, so many files (8 by default) give a row each in
            turn.
        shuffle: True or Shuffle.GLOBAL: all rows; Shuffle.FILES: the files; False: nothing.
        num_shards, shard_id: read the part of one rank.
        cache: a DatasetCache.

    Raises:
        ValueError: if there is no such file, or `field_delim` is wrong.
        RuntimeError: if the files name other columns, or a row is wrong.

    Examples:
        >>> import tempfile
        >>> import dist_ms.dataset as ds
        >>> file = tempfile.NamedTemporaryFile("w", suffix=".csv")
        >>> print("x,name", "0.5,a", '1.5,"b,c"', sep=chr(10), file=file, flush=True)
        >>> data = ds.CSVDataset(file.name, column_defaults=[0.0, ""], shuffle=False)
        >>> [(float(x), str(name)) for x, name in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
        [(0.5, 'a'), (1.5, 'b,c')]
    """

    def __init__(
        self,
        dataset_files: str | list[str],
        field_delim: str | None = ",",
        column_defaults: list | None = None,
        column_names: list[str] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        files = find_files(dataset_files, "CSVDataset")
        delimiter = "," if field_delim is None else check_string(field_delim, "field_delim", "CSVDataset")
        if len(delimiter) != 1 or delimiter in '"\r\n' or not delimiter.isascii():
            raise ValueError(complaint("field_delim", "CSVDataset", "one ASCII character, no quote", repr(delimiter)))
        defaults = check_type(column_defaults or [], "column_defaults", "CSVDataset", list)
        for value in defaults:
            if type(value) not in _TYPES:
                raise TypeError(complaint("column_defaults", "CSVDataset", "a list of int, float and str", repr(value)))
        names = list(column_names or ())
        for name in names:
            check_string(name, "column_names", "CSVDataset")
        if not names:
            heads = [_head(path, delimiter) for path in files]
            names = heads[0]
            for path, head in zip(files, heads):
                if head != names:
                    raise RuntimeError(
                        f"For 'CSVDataset', {path} has the columns {head}, but {files[0]} {names}: give 'column_names'"
                        ", or read the files one by one."
                    )
        types = [_TYPES[type(value)] for value in defaults[: len(names)]]
        types += [str] * (len(names) - len(types))
        sampling = (num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)
        super().__init__(names, files, types, delimiter, not column_names, *sampling)


def _head(path: str, delimiter: str) -> list[str]:
    """The names in a file's first line."""
    with open(path, encoding="utf-8", errors="replace", newline="\n") as file:
        return file.readline().rstrip("\r\n").split(delimiter)
