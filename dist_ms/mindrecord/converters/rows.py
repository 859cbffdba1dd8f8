"""What all converters do: rows into a file, some at a time."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from itertools import islice
from typing import Any

from dist_ms.mindrecord.writer import FileWriter

_ROWS, HEADER_BYTES, PAGE_BYTES = 256, 1 << 24, 1 << 26


def check_partitions(number: Any, owner: str) -> int:
    """Check a number of files.

    Raises:
        ValueError: if it is no int.
    """
    if isinstance(number, bool) or not isinstance(number, int):
        raise ValueError(f"For '{owner}', 'partition_number' must be an int, but got {number!r}.")
    return number


_EXTRAS = {"cv2": "vision", "pandas": "records"}


def library(name: str, owner: str) -> Any:
    """A library that a converter needs.

    Raises:
        ImportError: if it is not there.
    """
    try:
        return import_module(name)
    except ImportError:
        raise ImportError(f"'{owner}' needs the package {name!r}: pip install dist_ms[{_EXTRAS[name]}]") from None


def write(
    writer: FileWriter, schema: dict, name: str, index: list[str] | None, rows: Iterable[dict], in_turn: bool = False
) -> None:
    """Write rows and complete the files.

    Args:
        writer: writes them.
        schema: their fields.
        name: the schema's description.
        index: the index fields; None for all.
        rows: the rows.
        in_turn: give each file some hundred rows in turn.
    """
    writer.add_schema(schema, name)
    if index:
        writer.add_index(index)
    left = iter(rows)
    while some := list(islice(left, _ROWS)):
        writer.write_raw_data(some, in_turn)
    writer.commit()
