"""Checkpoints in several safetensors files, which an index names: `model.safetensors.index.json`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from dist_ms.train.checkpoint import safetensors_format

INDEX = ".safetensors.index.json"
_LONGEST_INDEX = 1 << 28


def read_entries(path: str) -> Iterator[tuple[str, np.ndarray | str]]:
    """Yield the names and arrays of all files that an index names, file by file.

    Args:
        path: the index: JSON with `weight_map`, from each tensor's name to the file beside it that holds it.

    Raises:
        ValueError: if the index is none, or a file lacks what the index says.
    """
    files: dict[str, set[str]] = {}
    for name, file in _weight_map(path).items():
        files.setdefault(file, set()).add(name)
    for file, names in sorted(files.items()):
        shard = os.path.join(os.path.dirname(path), file)
        if not os.path.isfile(shard):
            raise ValueError(f"its file {file} is missing")
        for name, value in safetensors_format.read_entries(shard):
            if name in names:
                names.discard(name)
                yield name, value
        if names:
            raise ValueError(f"its file {file} lacks {sorted(names)[:5]}")


def _weight_map(path: str) -> dict[str, str]:
    if os.path.getsize(path) > _LONGEST_INDEX:
        raise ValueError(f"an index has at most {_LONGEST_INDEX} bytes")
    try:
        with open(path, encoding="utf-8") as opened:
            index: Any = json.load(opened)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"it is no JSON: {error}") from None
    found = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(found, dict) or not found:
        raise ValueError("it has no 'weight_map', from each tensor's name to its file")
    for name, file in found.items():
        if not isinstance(file, str) or os.path.basename(file) != file or not file.endswith(".safetensors"):
            raise ValueError(f"'{name[:80]}' must be in a .safetensors file beside it, but is in {str(file)[:80]!r}")
    return found
