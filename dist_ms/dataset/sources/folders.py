"""What sources check of the folders and files they read."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from dist_ms.common.checks import check_string

__all__ = ["check_file", "check_folder", "check_usage", "file_bytes", "matching"]


def check_folder(value: Any, name: str, owner: str) -> Path:
    """The path of a folder that exists.

    Raises:
        TypeError: if it is no path.
        ValueError: if there is no such folder.
    """
    return _readable(value, name, owner, "folder", Path.is_dir)


def check_file(value: Any, name: str, owner: str) -> Path:
    """The path of a file that exists.

    Raises:
        TypeError: if it is no path.
        ValueError: if there is no such file.
    """
    return _readable(value, name, owner, "file", Path.is_file)


def _readable(value: Any, name: str, owner: str, kind: str, is_kind: Callable[[Path], bool]) -> Path:
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"For '{owner}', '{name}' must be the path of a {kind}, but got {type(value).__name__}.")
    path = Path(value)
    if not is_kind(path) or not os.access(path, os.R_OK):
        raise ValueError(f"For '{owner}', '{name}' must be a {kind} that can be read, but got {str(value)!r}.")
    return path


def check_usage(value: Any, owner: str, choices: tuple[str, ...], default: str = "all") -> str:
    """Which part of a data set is read.

    Raises:
        TypeError: if it is no str.
        ValueError: if there is no such part.
    """
    part = default if value is None else value
    if not isinstance(part, str):
        raise TypeError(f"For '{owner}', 'usage' must be one of {', '.join(choices)}, but got {part!r}.")
    return check_string(part, "usage", owner, list(choices))


def matching(folder: Path, pattern: str, owner: str) -> list[Path]:
    """The files of a folder that match, in the order of their names.

    Raises:
        RuntimeError: if there is none.
    """
    found = sorted(path for path in folder.glob(pattern) if path.is_file())
    if not found:
        raise RuntimeError(
            f"For '{owner}', the folder {str(folder)!r} must hold files {pattern!r}, but there are none: give the "
            "folder that holds the data set's own files, unpacked."
        )
    return found


def file_bytes(path: Path | str, owner: str) -> np.ndarray:
    """A file as uint8.

    Raises:
        RuntimeError: if it cannot be read.
    """
    try:
        with open(path, "rb") as file:
            return np.frombuffer(bytearray(file.read()), np.uint8)
    except OSError as error:
        raise RuntimeError(f"For '{owner}', the file {str(path)!r} must be readable, but {error}.") from error
