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


def made_column(value: Any, name: str, owner: str) -> np.ndarray | dict:
    """What a user's function gave for a column, as an array, or a dict.

    Args:
        value: what it gave.
        name: the column.
        owner: the stage that called it.

    Raises:
        RuntimeError: for None, and whatever else no array of numbers or text is made of.
    """
    try:
        column = to_column(value)
    except ValueError as error:  # lists of several lengths
        found = f"{type(value).__name__} {str(value)[:80]}"
        raise RuntimeError(_not_made(name, owner, f"{found}, of which NumPy makes no array ({error}).")) from error
    if isinstance(column, dict) or column.dtype.kind not in "OmMc":
        return column
    if value is None:
        raise RuntimeError(_not_made(name, owner, "None: is a return missing?"))
    found = f"{column.dtype}" if isinstance(value, (np.ndarray, np.generic)) else f"{type(value).__name__}"
    raise RuntimeError(_not_made(name, owner, f"{found}, {str(value)[:80]}: make an array of it, or a dict of arrays."))


def _not_made(name: str, owner: str, found: str) -> str:
    return f"For '{owner}', column {name!r} must be an array, a number, a text or a dict of them, but got {found}"


def stack(values: list, name: str, of_dicts: bool = False) -> np.ndarray | dict:
    """The entries of several rows in one with a new first axis; of dicts, each key's.

    Args:
        values: what the rows hold.
        name: the column, and the keys that lead to these values.
        of_dicts: whether they are values of dicts.

    Raises:
        RuntimeError: if shapes, types or keys differ, or a dict holds what no array can.
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
    kinds = {c.dtype for c in columns}
    if len(kinds) > 1 and any(kind.kind not in "SU" for kind in kinds):
        raise RuntimeError(
            f"Cannot batch tensors with different types in column {name!r}: the first element has type "
            f"{columns[0].dtype}, another {next(c.dtype for c in columns if c.dtype != columns[0].dtype)}. Give them "
            "one type with TypeCast."
        )
    stacked = np.stack(columns)
    if of_dicts and stacked.dtype.kind == "O":
        raise RuntimeError(
            f"For 'batch', {name} must hold numbers or text, but got {values[0]!r}: put its values together with "
            "per_batch_map."
        )
    return stacked


def together(values: list) -> np.ndarray | list:
    """The entries of several rows in one array where they are alike; else as they are.

    Args:
        values: what the rows hold.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset.columns import together
        >>> together([np.zeros(2), np.ones(2)]).shape, len(together([np.zeros(2), np.ones(3)]))
        ((2, 2), 2)
    """
    columns = [to_column(value) for value in values]
    if any(isinstance(column, dict) for column in columns) or len({(c.shape, c.dtype) for c in columns}) > 1:
        return columns
    return np.stack(columns)


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
