"""CsvToMR: CSV files into MindRecord files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from dist_ms.mindrecord.converters.rows import HEADER_BYTES, PAGE_BYTES, check_partitions, library, write
from dist_ms.mindrecord.names import check_filename
from dist_ms.mindrecord.writer import FileWriter

__all__ = ["CsvToMR"]

_FIELDS = {"int64": "int64", "float64": "float64", "bool": "int32"}


class CsvToMR:
    """A CSV file into MindRecord files: its columns become int64, float64, int32 (of bools) or string.

    Args:
        source: the CSV file; its first line names the columns.
        destination: the file to write.
        columns_list: the columns to take; all by default.
        partition_number: how many files.

    Raises:
        ValueError: if an argument is wrong.
        RuntimeError: if a column is not there.

    Examples:
        >>> from dist_ms.mindrecord import CsvToMR
        >>> CsvToMR("clicks.csv", "clicks.mindrecord").transform()  # doctest: +SKIP
    """

    def __init__(
        self, source: str, destination: str, columns_list: list[str] | None = None, partition_number: int = 1
    ) -> None:
        self._pandas = library("pandas", "CsvToMR")
        for name, value in (("source", source), ("destination", destination)):
            if not isinstance(value, str):
                raise ValueError(f"For 'CsvToMR', '{name}' must be a str, but got {value!r}.")
            check_filename(value, name)
        if columns_list and not (isinstance(columns_list, list) and all(isinstance(c, str) for c in columns_list)):
            raise ValueError(f"For 'CsvToMR', 'columns_list' must be a list of str, but got {columns_list!r}.")
        self.source, self.destination, self.columns_list = source, destination, columns_list
        self.partition_number = check_partitions(partition_number, "CsvToMR")
        self.writer = FileWriter(destination, partition_number)

    def run(self) -> int:
        """Write the files; `transform` does the same."""
        if not os.path.isfile(self.source):
            raise OSError(f"For 'CsvToMR', the file {self.source} does not exist.")
        table = self._pandas.read_csv(self.source)
        names = self.columns_list or list(table.columns)
        for name in names:
            if name not in table.columns:
                found = list(table.columns)
                raise RuntimeError(f"For 'CsvToMR', 'columns_list' must be among {found}, but got {name!r}.")
            if str(name).isdigit():
                raise ValueError(f"For 'CsvToMR', the first line of {self.source} must name columns, but got {name!r}.")
        schema = {name: {"type": _FIELDS.get(str(table[name].dtype), "string")} for name in names}
        self.writer.set_header_size(HEADER_BYTES)
        self.writer.set_page_size(PAGE_BYTES)
        write(self.writer, schema, "csv_schema", list(names), _rows(table, schema))
        return 0

    def transform(self) -> None:
        """Write the rows; those without text in a column of text are left out, with a warning.

        Raises:
            OSError: if the file is missing.
            ValueError: if a column is named by a number.
        """
        self.run()


def _rows(table: Any, schema: dict) -> Iterator[dict]:
    columns = [
        [int(value) for value in table[name]] if field["type"] == "int32" else table[name].tolist()
        for name, field in schema.items()
    ]
    for values in zip(*columns):
        yield dict(zip(schema, values))
