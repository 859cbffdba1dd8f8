"""One MindRecord file that is being written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dist_ms.mindrecord.exceptions import MRMCommitError
from dist_ms.mindrecord.header import LENGTH_BYTES, Header, Page
from dist_ms.mindrecord.msgpack import packed

_NO_BLOB = bytes(4)
_NO_FIELDS = {"id": 0}


class ShardFile:
    """A file that takes rows.

    Args:
        path: where it is.
        header: what its head is to say.
        new: make the file, instead of going on with one.

    Raises:
        RuntimeError: if the file cannot be made.
    """

    def __init__(self, path: str, header: Header, new: bool) -> None:
        self.path, self.header = path, header
        try:
            self._file = open(path, "xb" if new else "r+b")
        except OSError as error:
            raise RuntimeError(f"For 'FileWriter', {path} cannot be opened: {error.strerror}.") from None
        blobs = [page for page in header.pages if page.is_blob]
        raws = [page for page in header.pages if not page.is_blob]
        self._blob, self._raw = (blobs[-1] if blobs else None), (raws[-1] if raws else None)

    def write(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Add rows.

        Raises:
            RuntimeError: if a row is greater than a page.
        """
        if self._file.closed:  # rows after a commit
            self._file = open(self.path, "r+b")
        schema, limit = self.header.schema, self.header.page_bytes
        blobs: list[bytes] = []
        raws: list[bytes] = []
        blob_used = raw_used = 0
        for number, row in enumerate(rows):
            blob = _with_length(schema.blob(row) if schema.blob_fields else _NO_BLOB)
            raw = _with_length(packed(schema.raw(row) if schema.raw_fields else _NO_FIELDS))
            if max(len(blob), len(raw)) > limit:
                raise RuntimeError(
                    f"For 'write_raw_data', row {number} has {max(len(blob), len(raw))} bytes, but a page {limit}: set "
                    "a greater one with set_page_size."
                )
            room = self._blob is not None and self._raw is not None
            if (
                not room
                or self._blob.used + blob_used + len(blob) > limit
                or self._raw.used + raw_used + len(raw) > limit
            ):
                self._put(blobs, raws)
                self._new_group(len(raw))
                blob_used = raw_used = 0
            blobs.append(blob)
            raws.append(raw)
            blob_used += len(blob)
            raw_used += len(raw)
        self._put(blobs, raws)

    def _put(self, blobs: list[bytes], raws: list[bytes]) -> None:
        """Write what was gathered to the last pages."""
        if not blobs:
            return
        for page, parts in ((self._blob, blobs), (self._raw, raws)):
            content = b"".join(parts)
            self._file.seek(self.header.place(page.number) + page.used)
            self._file.write(content)
            page.used += len(content)
        self._blob.rows = (self._blob.rows[0], self._blob.rows[1] + len(blobs))
        blobs.clear()
        raws.clear()

    def _new_group(self, raw_bytes: int) -> None:
        """Begin a page of blobs, and where the last is full one of numbers and text."""
        pages = self.header.pages
        group, row = (self._blob.group + 1, self._blob.rows[1]) if self._blob else (0, 0)
        self._blob = Page(len(pages), True, group, rows=(row, row))
        pages.append(self._blob)
        if self._raw is None or self._raw.used + raw_bytes > self.header.page_bytes:
            self._raw = Page(len(pages), False, sum(not page.is_blob for page in pages))
            pages.append(self._raw)
        self._raw.groups.append((group, self._raw.used))

    def commit(self) -> None:
        """Write the head.

        Raises:
            MRMCommitError: if it does not fit.
        """
        head = self.header.packed()
        if len(head) > self.header.header_bytes:
            raise MRMCommitError(
                f"The head of {self.path} has {len(head)} bytes, but {self.header.header_bytes} were set aside: use "
                "set_header_size, or greater pages with set_page_size."
            )
        if self._file.closed:
            return
        self._file.seek(0)
        self._file.write(head)
        self._file.close()

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()


def _with_length(data: bytes) -> bytes:
    return len(data).to_bytes(LENGTH_BYTES, "little") + data
