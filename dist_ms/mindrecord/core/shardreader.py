"""ShardReader: reads the rows of MindRecord files, bytes and arrays as they are stored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dist_ms.mindrecord.core.shardheader import ShardHeader
from dist_ms.mindrecord.exceptions import MRMOpenError
from dist_ms.mindrecord.reader import FileReader
from dist_ms.mindrecord.shards import Shards
from dist_ms.mindrecord.status import SUCCESS, MSRStatus

__all__ = ["ShardReader"]


class ShardReader:
    """Reads files row by row, after `open` and `launch`."""

    def __init__(self) -> None:
        self._reader: FileReader | None = None
        self._shards: Shards | None = None
        self._rows: Iterator[dict] = iter(())

    def _opened(self) -> Shards:
        if self._shards is None:
            raise MRMOpenError("'open' must be called first.")
        return self._shards

    def open(
        self,
        file_name: str | list[str],
        num_consumer: int = 4,
        columns: list[str] | None = None,
        operator: Any = None,
    ) -> MSRStatus:
        """Open files.

        Args:
            file_name, num_consumer, columns, operator: as for `FileReader`.

        Raises:
            ParamValueError: if an argument is wrong.
            RuntimeError: if a file is missing or damaged.
        """
        self._reader = FileReader(file_name, num_consumer, columns or None, operator or None)
        self._shards = Shards(file_name)
        return SUCCESS

    def launch(self) -> MSRStatus:
        """Begin with the first row."""
        self._opened()
        assert self._reader is not None
        self._rows = self._reader.get_next()
        return SUCCESS

    def get_next(self) -> list[tuple[dict, dict]]:
        """Return the next row in a list, [] behind the last: the bytes of blob fields as ints, and the other values."""
        row = next(self._rows, None)
        if row is None:
            return []
        schema = self._opened().schema
        blob = {name: list(schema.stored(row[name])) for name in schema.blob_fields if name in row}
        return [(blob, {name: row[name] for name in schema.raw_fields if name in row})]

    def get_blob_fields(self) -> list[str]:
        """Return the fields of bytes and arrays."""
        return list(self._opened().schema.blob_fields)

    def get_header(self) -> ShardHeader:
        """Return the head of the files."""
        shards = self._opened()
        return ShardHeader.of(shards.schema, shards.header.index_fields)

    def len(self) -> int:
        """Return how many rows there are."""
        return len(self._opened())

    def close(self) -> None:
        """Close the files."""
        if self._reader is not None and self._shards is not None:
            self._reader.close()
            self._shards.close()
