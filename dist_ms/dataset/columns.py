"""What a row holds for a column: an array, or a dict of values that Python functions made."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.tensor import Tensor, wrap

_ARRAYS = (np.ndarray, np.generic, str, bytes, bool, int, float)


class OtherShapeError(ValueError):
    """The memory that a row's entry shall be written to has another shape."""


def to_column(value: Any) -> np.ndarray | dict:
    """A row's entry as an array; Python ints become int64, floats float64. A dict stays one."""
    if isinstance(value, (dict, np.ndarray)):
        return value
    return value.asnumpy() if isinstance(value, Tensor) else np.asarray(value)


def stack(values: list, name: str, of_dicts: bool = False) -> np.ndarray | dict:
    """The entries of several rows in one with a new first axis; of dicts, each key's.

    Args:
        values: what the rows hold.
        name: the column, and the keys that lead to these values.
        of_dicts: whether they are values of dicts.

    Raises:
        RuntimeError: if shapes or keys differ, or a dict holds what no array can.
    """
    columns = [to_column(v) for v in values]
    if any(isinstance(c, dict) for c in columns):
        return {key: stack([c[key] for c in columns], f"{name}[{key!r}]", True) for key in _keys(columns, name)}
    other = next((c.shape for c in columns if c.shape != columns[0].shape), None)
    if other is not None:
        raise RuntimeError(
            f"Cannot batch tensors with different shapes in column {name!r}: the first element has "
            f"shape {columns[0].shape}, another {other}. Pad them with map or per_batch_map."
        )
    stacked = np.stack(columns)
    if of_dicts and stacked.dtype.kind == "O":
        raise RuntimeError(
            f"For 'batch', {name} must hold numbers or text, but got {values[0]!r}: put its values together with "
            "per_batch_map."
        )
    return stacked


def gathered(dicts: list[dict], name: str) -> dict:
    """The values of several dicts by key, in lists.

    Raises:
        RuntimeError: if their keys differ.
    """
    return {key: [d[key] for d in dicts] for key in _keys(dicts, name)}


def _keys(columns: list, name: str) -> list:
    """The keys that all dicts of a column have."""
    first = next(c for c in columns if isinstance(c, dict))
    for column in columns:
        if not isinstance(column, dict) or column.keys() != first.keys():
            found = sorted(map(str, column)) if isinstance(column, dict) else type(column).__name__
            raise RuntimeError(
                f"For 'batch', all rows of {name} must be dicts with the keys {sorted(map(str, first))}, "
                f"but got {found}."
            )
    return list(first)


def given(value: Any, as_numpy: bool, copy: bool) -> Any:
    """What an iterator gives of a row's entry: a Tensor or array, of a dict or list that of each of its values."""
    if isinstance(value, dict):
        return {key: given(v, as_numpy, copy) for key, v in value.items()}
    if isinstance(value, (list, tuple)):
        items = [given(v, as_numpy, copy) for v in value]
        return tuple(items) if isinstance(value, tuple) else items
    if not isinstance(value, _ARRAYS):
        return value
    array = np.array(value) if copy else np.asarray(value)
    if not array.flags.writeable:
        array = array.copy()  # what the consumer does with it shall not reach rows that are kept
    return array if as_numpy or array.dtype.kind in "SUO" else wrap(array)
