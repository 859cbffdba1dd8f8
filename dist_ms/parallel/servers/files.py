"""Checkpoints of what servers hold: every server writes its part, any number of servers reads them.

A folder has, per part of a tensor, a NumPy file, and per server `server<k>.json` which says what
the files are; that comes last, so a folder without all of them is not complete.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dist_ms.parallel.servers.partition import RowPartition

_STEP = 1 << 20  # rows that are read at once


def write_part(
    folder: str, server: int, servers: int, parts: Iterable[tuple[dict[str, Any], np.ndarray]], numbers: Mapping
) -> None:
    """Write what one server holds.

    Args:
        folder: made where missing.
        server, servers: this server's number, and how many there are.
        parts: what each array is (`name`, `state`, `kind`, and `how` or `start`), and the array.
        numbers: per tensor the small states, such as counts of steps.
    """
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    index = path / f"server{server}.json"
    index.unlink(missing_ok=True)
    found = []
    for number, (what, array) in enumerate(parts):
        file = f"server{server}_{number}.npy"
        np.save(path / file, array, allow_pickle=False)
        found.append({**what, "file": file})
    text = json.dumps({"servers": servers, "parts": found, "numbers": numbers})
    aside = index.with_suffix(".part")
    aside.write_text(text)
    os.replace(aside, index)


def _inside(folder: Path, name: Any) -> str:
    """Return the path of a file that lies in the folder itself; nothing that an index says leads elsewhere."""
    plain = isinstance(name, str) and name not in ("", ".", "..") and not {"/", "\0"} & set(name)
    if not plain or (folder / name).resolve().parent != folder.resolve():
        raise ValueError(
            f"For 'load_servers', a checkpoint's files must lie in its folder {str(folder)!r}, but its index names "
            f"{name!r}."
        )
    return str(folder / name)


class Parts:
    """A checkpoint's parts.

    Args:
        folder: as written by `write_part` on all servers.

    Raises:
        FileNotFoundError: if a server's part is missing.
        ValueError: if a part is said to lie outside of the folder.
    """

    def __init__(self, folder: str) -> None:
        path = Path(folder)
        first = path / "server0.json"
        if not first.is_file():
            raise FileNotFoundError(
                f"For 'load_servers', 'folder' must hold a servers' checkpoint, but got {folder!r}."
            )
        self.servers = json.loads(first.read_text())["servers"]
        self._parts: list[tuple[int, dict[str, Any]]] = []
        self.numbers: dict[str, dict[str, list]] = {}
        for server in range(self.servers):
            index = path / f"server{server}.json"
            if not index.is_file():
                raise FileNotFoundError(
                    f"For 'load_servers', the checkpoint in {folder!r} must have the parts of {self.servers} servers, "
                    f"but that of server {server} is missing."
                )
            content = json.loads(index.read_text())
            self.numbers |= content["numbers"]
            self._parts += [(server, {**part, "file": _inside(path, part["file"])}) for part in content["parts"]]

    def has(self, name: str, state: str) -> bool:
        """Whether there is a tensor, or a state of it."""
        return any(part["name"] == name and part["state"] == state for _, part in self._parts)

    def _of(self, name: str, state: str, kind: str, shape: tuple) -> list[tuple[int, dict[str, Any], np.ndarray]]:
        found = [(k, part) for k, part in self._parts if part["name"] == name and part["state"] == state]
        if not found or found[0][1]["kind"] != kind or tuple(found[0][1]["shape"]) != tuple(shape):
            was = f"{found[0][1]['kind']} of shape {tuple(found[0][1]['shape'])}" if found else "not there"
            raise ValueError(
                f"For 'load_servers', the checkpoint must have {state or 'the values'} of '{name}' as {kind} of shape "
                f"{tuple(shape)}, but they are {was}."
            )
        return [(k, part, np.load(part["file"], mmap_mode="r", allow_pickle=False)) for k, part in found]

    def read_rows(self, name: str, state: str, shape: tuple, wanted: slice, out: np.ndarray) -> None:
        """Read rows of a table.

        Args:
            name, state: the tensor, and which state of it ("": its values).
            shape: the whole table's.
            wanted: which rows.
            out: one row per row wanted.
        """
        sources = self._of(name, state, "rows", shape)
        rows = range(*wanted.indices(shape[0]))
        for begin in range(0, len(rows), _STEP):
            part = rows[begin : begin + _STEP]
            ids = np.arange(part.start, part.stop, part.step)
            places = RowPartition(shape[0], self.servers, sources[0][1]["how"]).split(ids)
            for server, _, array in sources:
                at, local = places[server]
                out[begin : begin + len(ids)][at] = array[local]

    def read_flat(self, name: str, state: str, shape: tuple, start: int, out: np.ndarray) -> None:
        """Read a range of a dense tensor's elements, from `start` as many as `out` has."""
        stop = start + out.size
        for _, part, array in self._of(name, state, "dense", shape):
            low, high = max(start, part["start"]), min(stop, part["start"] + array.size)
            if low < high:
                out[low - start : high - start] = array[low - part["start"] : high - part["start"]]
