"""The head of a MindRecord file: its schema, and which pages the file has.

    length of the text (8 bytes, little-endian) | JSON | zeros up to `header_size` | pages of `page_size`

A page holds rows' blobs or rows' numbers and text, each with its length (8 bytes, little-endian) before it. The rows of
one blob page are a group; a group's numbers and text stand together in one raw page, from an offset on.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field

from dist_ms.mindrecord.schema import Schema

LENGTH_BYTES = 8
HEADER_BYTES, PAGE_BYTES = 1 << 24, 1 << 25
MIN_HEADER_BYTES, MAX_HEADER_BYTES = 1 << 14, 1 << 27
MIN_PAGE_BYTES, MAX_PAGE_BYTES = 1 << 15, 1 << 28
_BLOB, _RAW = "BLOB_DATA", "RAW_DATA"
_VERSION = "3.0"


@dataclass
class Page:
    """One page of a file.

    Args:
        number: its place in the file.
        is_blob: whether it holds blobs.
        group: of blobs, the group of rows; of the others, how many such pages are before it.
        used: how many of its bytes hold rows.
        rows: of blobs, the first row and the one after the last.
        groups: of the others, the groups it holds and where each begins.
    """

    number: int
    is_blob: bool
    group: int
    used: int = 0
    rows: tuple[int, int] = (0, 0)
    groups: list[tuple[int, int]] = field(default_factory=list)

    def as_json(self, shard: int) -> dict:
        """The header's entry."""
        groups = [(0, 0)] if self.is_blob else self.groups
        return {
            "end_row_id": self.rows[1],
            "page_id": self.number,
            "page_size": self.used,
            "page_type": _BLOB if self.is_blob else _RAW,
            "page_type_id": self.group,
            "row_group_ids": [{"id": group, "offset": offset} for group, offset in groups],
            "shard_id": shard,
            "start_row_id": self.rows[0],
        }

    @classmethod
    def from_json(cls, entry: dict) -> Page:
        """The page of a header's entry."""
        is_blob = entry["page_type"] == _BLOB
        groups = [] if is_blob else [(g["id"], g["offset"]) for g in entry["row_group_ids"]]
        rows = (entry["start_row_id"], entry["end_row_id"])
        return cls(entry["page_id"], is_blob, entry["page_type_id"], entry["page_size"], rows, groups)


@dataclass
class Header:
    """What the head of a file says."""

    schema: Schema
    index_fields: list[str]
    names: list[str]
    shard: int = 0
    pages: list[Page] = field(default_factory=list)
    header_bytes: int = HEADER_BYTES
    page_bytes: int = PAGE_BYTES
    saved_bytes: int = 0

    def packed(self) -> bytes:
        """The head as it is stored, without the zeros after it."""
        fields = [{"index_field": name, "schema_id": 0} for name in self.index_fields]
        content = {
            "compression_size": self.saved_bytes,
            "header_size": self.header_bytes,
            "index_fields": fields or None,
            "page": [page.as_json(self.shard) for page in self.pages],
            "page_size": self.page_bytes,
            "schema": [self.schema.meta],
            "shard_addresses": self.names,
            "shard_id": self.shard,
            "statistics": None,
            "version": _VERSION,
        }
        text = json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode()
        return len(text).to_bytes(LENGTH_BYTES, "little") + text

    def place(self, page: int) -> int:
        """Where a page begins in the file."""
        return self.header_bytes + self.page_bytes * page

    @property
    def rows(self) -> int:
        """How many rows the file has."""
        return max((page.rows[1] for page in self.pages if page.is_blob), default=0)


def read_header(path: str) -> Header:
    """The head of a file.

    Raises:
        RuntimeError: if the file is none of MindRecord, or its head is damaged.
    """
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(LENGTH_BYTES), "little")
        text = file.read(length) if LENGTH_BYTES + length <= min(size, MAX_HEADER_BYTES) else b""
    try:
        content = json.loads(text)
        (schema,) = content["schema"]
        header = Header(
            Schema(schema["schema"], schema.get("desc", "")),
            [entry["index_field"] for entry in content["index_fields"] or ()],
            content["shard_addresses"],
            content["shard_id"],
            [Page.from_json(entry) for entry in content["page"] or ()],
            content["header_size"],
            content["page_size"],
            content.get("compression_size", 0),
        )
        version = content["version"]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RuntimeError(
            f"{path} is no MindRecord file, or its head is damaged ({type(error).__name__}: {error}): write it again "
            "with FileWriter."
        ) from None
    if version != _VERSION:
        raise RuntimeError(f"{path} is of version {version!r} of MindRecord, but version {_VERSION!r} can be read.")
    return header
