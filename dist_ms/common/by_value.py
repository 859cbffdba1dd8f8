"""Pickles that carry functions and classes of the user's script whole, for another process."""

from __future__ import annotations

import collections
import io
import types
from collections.abc import Callable
from typing import Any, ClassVar

import cloudpickle


def _code(code: types.CodeType) -> tuple:
    made, parts, *_ = cloudpickle.Pickler.dispatch_table[types.CodeType](code)
    return _code_of_file, (code.co_filename, made, *parts)


def _code_of_file(file: str, made: Callable[..., types.CodeType], *parts: Any) -> types.CodeType:
    return made(*parts).replace(co_filename=file)


class _WithFiles(cloudpickle.Pickler):
    """Code keeps the name of its file, so that tracebacks of the other process show its lines."""

    dispatch_table: ClassVar = collections.ChainMap({types.CodeType: _code}, cloudpickle.Pickler.dispatch_table)


def dumped_by_value(value: Any) -> bytes:
    """A value pickled by cloudpickle; `pickle.loads` makes it again.

    Args:
        value: anything; functions and classes that the other process cannot import go by value.

    Raises:
        Exception: of many kinds, if something in it cannot be pickled.
    """
    text = io.BytesIO()
    _WithFiles(text, protocol=5).dump(value)
    return text.getvalue()
