"""ShardWriter: writes rows to MindRecord files, without index files."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_type
from dist_ms.mindrecord.core.shardheader import ShardHeader
from dist_ms.mindrecord.exceptions import MRMOpenError, MRMSetHeaderError
from dist_ms.mindrecord.status import SUCCESS, MSRStatus
from dist_ms.mindrecord.writer import FileWriter

__all__ = ["ShardWriter"]


class ShardWriter:
    """Writes rows to files that are named one by one; `ShardIndexGenerator` writes their index.

    Examples:
        >>> import tempfile
        >>> from dist_ms.mindrecord import FileReader
        >>> from dist_ms.mindrecord.core.shardindexgenerator import ShardIndexGenerator
        >>> from dist_ms.mindrecord.core.shardheader import ShardHeader
        >>> from dist_ms.mindrecord.core.shardwriter import ShardWriter
        >>> header, writer, folder = ShardHeader(), ShardWriter(), tempfile.TemporaryDirectory()
        >>> _ = header.add_schema(header.build_schema({"label": {"type": "int32"}}))
        >>> _ = writer.open([folder.name + "/a.mindrecord"], False), writer.set_shard_header(header)
        >>> _ = writer.write_raw_data([{"label": 3}]), writer.commit()
        >>> index = ShardIndexGenerator(folder.name + "/a.mindrecord")
        >>> _ = index.build(), index.write_to_db()
        >>> FileReader(folder.name + "/a.mindrecord").len()
        1
        >>> folder.cleanup()
    """

    def __init__(self) -> None:
        self._writer: FileWriter | None = None
        self._header: ShardHeader | None = None

    @property
    def is_open(self) -> bool:
        """Whether files were opened."""
        return self._writer is not None

    def _opened(self) -> FileWriter:
        if self._writer is None:
            raise MRMOpenError("'open' must be called first.")
        return self._writer

    @staticmethod
    def convert_np_types(val: Any) -> Any:
        """Return a number of NumPy as Python's, and anything else as it is.

        Args:
            val: the value.
        """
        return val.item() if isinstance(val, (np.int32, np.int64, np.float32, np.float64)) else val

    def open(self, paths: list[str], override: bool) -> MSRStatus:
        """Name the files to write.

        Args:
            paths: the files, among which rows are dealt out.
            override: whether files that are there are replaced.

        Raises:
            ParamValueError: if one is no file's name.
            MRMOpenError: if there is none.
        """
        if not isinstance(paths, list) or not paths:
            raise MRMOpenError(f"'paths' must be a list of files, but got {paths!r}.")
        self._writer = FileWriter.of_paths(paths, override)
        return SUCCESS

    def open_for_append(self, path: str) -> MSRStatus:
        """Go on writing to files that were completed before.

        Args:
            path: one of them.

        Raises:
            MRMOpenForAppendError: if it is no MindRecord file.
        """
        self._writer = FileWriter.open_for_append(path)
        self._header = ShardHeader.of(*self._writer.described())
        return SUCCESS

    def set_header_size(self, header_size: int) -> MSRStatus:
        """Set the size of the head, as `FileWriter.set_header_size`.

        Args:
            header_size: how many bytes.
        """
        self._opened().set_header_size(header_size)
        return SUCCESS

    def set_page_size(self, page_size: int) -> MSRStatus:
        """Set the size of a page, as `FileWriter.set_page_size`.

        Args:
            page_size: how many bytes.
        """
        self._opened().set_page_size(page_size)
        return SUCCESS

    def set_shard_header(self, shard_header: ShardHeader) -> MSRStatus:
        """Say which fields the rows have, and which of them the index.

        Args:
            shard_header: a header with a schema.

        Raises:
            MRMSetHeaderError: if it is something else.
        """
        if not isinstance(shard_header, ShardHeader):
            raise MRMSetHeaderError(f"It must be a ShardHeader, but got {type(shard_header).__name__}.")
        writer = self._opened()
        writer.add_schema(shard_header.schema, shard_header.described.description)
        if shard_header.index_fields:
            writer.add_index(list(shard_header.index_fields))
        self._header = shard_header
        return SUCCESS

    def get_shard_header(self) -> ShardHeader | None:
        """Return the header, None if there is none yet."""
        return self._header

    def write_raw_data(self, data: list[dict], validate: bool = True, parallel_writer: bool = False) -> MSRStatus:
        """Write rows.

        Args:
            data: the rows.
            validate: leave rows out that do not fit the schema, with a warning; else one such row is an error.
            parallel_writer: as for `FileWriter.write_raw_data`.

        Raises:
            RuntimeError: if no row fits, or one does not fit and `validate` is False.
        """
        check_type(validate, "validate", "ShardWriter.write_raw_data", bool)
        rows = [{name: self.convert_np_types(value) for name, value in row.items()} for row in data]
        if not validate and self._header is not None:
            for place, row in enumerate(rows):
                fault = self._header.described.fault(row)
                if fault is not None:
                    raise RuntimeError(f"For 'ShardWriter.write_raw_data', row {place} must fit the schema: {fault}.")
        self._opened().write_raw_data(rows, parallel_writer)
        return SUCCESS

    def commit(self) -> MSRStatus:
        """Complete the files.

        Raises:
            MRMCommitError: if the head is too small for the list of pages.
        """
        self._opened().commit(index=False)
        return SUCCESS
