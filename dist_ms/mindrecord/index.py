"""The index file next to each MindRecord file: where each row is, and the values of the index fields, in SQLite."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from urllib.parse import quote

import numpy as np

from dist_ms.mindrecord.encryption import plain_bytes
from dist_ms.mindrecord.header import LENGTH_BYTES, Header, read_header
from dist_ms.mindrecord.msgpack import unpacked

_RAW = ("PAGE_ID_RAW", "PAGE_OFFSET_RAW", "PAGE_OFFSET_RAW_END")
_BLOB = ("PAGE_ID_BLOB", "PAGE_OFFSET_BLOB", "PAGE_OFFSET_BLOB_END")
_SQL_TYPES = {"string": "TEXT", "int32": "INTEGER", "int64": "INTEGER", "float32": "NUMERIC", "float64": "NUMERIC"}
SUFFIX = ".db"


def write_index(path: str) -> None:
    """Make the index file of a MindRecord file.

    Raises:
        RuntimeError: if the file is damaged.
    """
    header = read_header(path)
    fields = header.index_fields
    if os.path.exists(path + SUFFIX):
        os.remove(path + SUFFIX)
    columns = [f"{name} INT NOT NULL" for name in ("ROW_ID", *_RAW, "ROW_GROUP_ID", *_BLOB)]
    for k, name in enumerate(fields):
        columns += [f"INC_{k} INT", f"{name}_0 {_SQL_TYPES[header.schema.fields[name]['type']]}"]
    keys = ["ROW_ID", *(f"INC_{k}" for k in range(len(fields)))]
    connection = sqlite3.connect(path + SUFFIX)
    try:
        with connection:
            connection.execute(f"CREATE TABLE INDEXES({', '.join(columns)}, PRIMARY KEY({', '.join(keys)}))")
            connection.execute("CREATE TABLE SHARD_NAME(NAME TEXT NOT NULL)")
            connection.execute("INSERT INTO SHARD_NAME VALUES(?)", (os.path.basename(path),))
            marks = ", ".join("?" * len(columns))
            connection.executemany(f"INSERT INTO INDEXES VALUES({marks})", _entries(path, header))
    finally:
        connection.close()


def _entries(path: str, header: Header) -> Iterator[tuple]:
    """A file's rows as the index has them."""
    blobs = {page.group: page for page in header.pages if page.is_blob}
    with open(path, "rb") as file:
        for raw in header.pages:
            if raw.is_blob:
                continue
            file.seek(header.place(raw.number))
            content = file.read(raw.used)
            for group, start in raw.groups:
                blob, at = blobs[group], 0
                for row in range(*blob.rows):
                    end = start + LENGTH_BYTES + int.from_bytes(content[start : start + LENGTH_BYTES], "little")
                    file.seek(header.place(blob.number) + at)
                    blob_end = at + LENGTH_BYTES + int.from_bytes(file.read(LENGTH_BYTES), "little")
                    if end > raw.used or blob_end > blob.used:
                        raise RuntimeError(f"{path}: row {row} does not fit into its page: the file is damaged.")
                    values: list = []
                    if header.index_fields:
                        fields = unpacked(content[start + LENGTH_BYTES : end])
                        for name in header.index_fields:
                            values += (0, fields[name])
                    yield (row, raw.number, start, end, group, blob.number, at, blob_end, *values)
                    start, at = end, blob_end


def open_index(path: str) -> sqlite3.Connection:
    """The index of a MindRecord file, to be read.

    Raises:
        RuntimeError: if there is none, or it belongs to another file.
    """
    index = path + SUFFIX
    if not os.path.isfile(index):
        raise RuntimeError(f"{path} has no index file {index}: keep both together, or write them again.")
    content, connection = plain_bytes(index), None
    try:
        if content is None:
            connection = sqlite3.connect(
                f"file:{quote(os.path.abspath(index))}?mode=ro", uri=True, check_same_thread=False
            )
        else:
            connection = sqlite3.connect(":memory:", check_same_thread=False)
            connection.deserialize(content)
        (name,) = connection.execute("SELECT NAME FROM SHARD_NAME").fetchone()
    except (sqlite3.Error, TypeError) as error:
        if connection is not None:
            connection.close()
        raise RuntimeError(f"{index} is no index of a MindRecord file, or damaged ({error}): write it again.") from None
    if name != os.path.basename(path):
        connection.close()
        raise RuntimeError(f"{index} belongs to a file named {name!r}: a MindRecord file must keep its name.")
    return connection


def row_places(path: str, header: Header) -> np.ndarray:
    """Where a file's rows are: for each the raw and the blob bytes' begin and end in the file.

    Raises:
        RuntimeError: if the index does not fit the file.
    """
    connection = open_index(path)
    try:
        columns = ", ".join((*_RAW, *_BLOB))
        found = connection.execute(f"SELECT {columns} FROM INDEXES ORDER BY ROW_ID").fetchall()
    except sqlite3.Error as error:
        raise RuntimeError(f"{path}{SUFFIX} is damaged ({error}): write the file again.") from None
    finally:
        connection.close()
    if len(found) != header.rows:
        raise RuntimeError(
            f"{path} has {header.rows} rows, but {path}{SUFFIX} knows {len(found)}: write the file again."
        )
    table = np.array(found, np.int64).reshape(-1, 6)
    raw, blob = (header.header_bytes + header.page_bytes * table[:, k] for k in (0, 3))
    places = np.stack([raw + table[:, 1], raw + table[:, 2], blob + table[:, 4], blob + table[:, 5]], 1)
    if len(places) and places.max() > (size := os.path.getsize(path)):
        row = int((places.max(1) > size).argmax())
        raise RuntimeError(f"{path}: row {row} ends after the file's {size} bytes: the file is cut short.")
    return places
