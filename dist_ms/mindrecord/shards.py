"""The rows of one or several MindRecord files, read by number."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from dist_ms.mindrecord.encryption import plain_file
from dist_ms.mindrecord.header import LENGTH_BYTES, Header, read_header
from dist_ms.mindrecord.index import row_places
from dist_ms.mindrecord.msgpack import unpacked
from dist_ms.mindrecord.schema import Schema


class Shards:
    """Files that were written together, or a list of files with one schema.

    Args:
        file_name: one file of those written together, or a list of files.

    Attributes:
        schema: their fields.
        paths: the files.
        counts: how many rows each has.

    Raises:
        RuntimeError: if a file is missing or damaged, or they have different schemas.
    """

    def __init__(self, file_name: str | Sequence[str]) -> None:
        self._open_lock = threading.Lock()
        self._files: list[int] | None = None
        paths = [file_name] if isinstance(file_name, str) else list(file_name)
        for path in paths:
            if not os.path.isfile(path):
                raise RuntimeError(f"The MindRecord file {path} does not exist.")
        self._plain = [plain_file(path, self) for path in paths]
        headers = [read_header(path) for path in self._plain]
        if isinstance(file_name, str) and len(headers[0].names) > 1:
            folder = os.path.dirname(file_name)
            paths = [os.path.join(folder, name) for name in headers[0].names]
            missing = [path for path in paths if not os.path.isfile(path)]
            if missing:
                raise RuntimeError(f"{file_name} was written together with {missing[0]}, which does not exist.")
            self._plain = [plain_file(path, self) for path in paths]
            headers = [read_header(path) for path in self._plain]
        for path, header in zip(paths, headers):
            if header.schema.fields != headers[0].schema.fields:
                raise RuntimeError(f"{path} has other fields than {paths[0]}: files read together must have the same.")
        self.paths, self.headers = paths, headers
        places = [row_places(path, header) for path, header in zip(paths, headers)]
        self.counts = [len(p) for p in places]
        self._starts = np.cumsum([0, *self.counts])
        self._places = np.concatenate(places) if places else np.empty((0, 4), np.int64)

    @property
    def schema(self) -> Schema:
        """The fields of the files."""
        return self.headers[0].schema

    @property
    def header(self) -> Header:
        """The head of the first file."""
        return self.headers[0]

    def __len__(self) -> int:
        return len(self._places)

    def __getstate__(self) -> dict:
        return {k: v for k, v in self.__dict__.items() if k not in ("_files", "_open_lock")}

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)
        self._files, self._open_lock = None, threading.Lock()

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Close the files; a later read opens them again."""
        files, self._files = getattr(self, "_files", None), None
        for file in files or ():
            os.close(file)

    def _stretch(self, row: int, begin: int, end: int) -> bytes:
        """A row's bytes in its file, without their length."""
        if self._files is None:
            with self._open_lock:
                if self._files is None:
                    self._files = [os.open(path, os.O_RDONLY) for path in self._plain]
        shard = int(np.searchsorted(self._starts, row, "right")) - 1 if len(self._files) > 1 else 0
        data = os.pread(self._files[shard], end - begin, begin)
        if len(data) != end - begin or int.from_bytes(data[:LENGTH_BYTES], "little") != len(data) - LENGTH_BYTES:
            raise self._damaged(row, "its length is another than the index says")
        return data[LENGTH_BYTES:]

    def _damaged(self, row: int, reason: Any) -> RuntimeError:
        shard = int(np.searchsorted(self._starts, row, "right")) - 1
        return RuntimeError(
            f"{self.paths[shard]}: row {row - int(self._starts[shard])} is damaged ({reason}): write the file again."
        )

    def values(self, row: int, names: Sequence[str]) -> dict[str, Any]:
        """Some fields of a row: Python's numbers and text, bytes, and arrays that are not to be written to.

        Raises:
            RuntimeError: if the row is damaged.
        """
        schema, found = self.schema, {}
        raw_begin, raw_end, blob_begin, blob_end = self._places[row].tolist()
        raw = [n for n in names if n not in schema.blob_fields]
        blob = [n for n in names if n in schema.blob_fields]
        try:
            if raw:
                fields = unpacked(self._stretch(row, raw_begin, raw_end))
                found = {name: fields[name] for name in raw}
            if blob:
                parts = schema.parts(self._stretch(row, blob_begin, blob_end), blob)
                for name, stored in parts.items():
                    found[name] = schema.array(name, stored) if "shape" in schema.fields[name] else bytes(stored)
        except (ValueError, KeyError, TypeError) as error:
            raise self._damaged(row, error) from None
        return found
