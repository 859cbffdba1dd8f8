"""Checks of arguments, for every floor: each returns the value it was given, or raises.

The order is always (value, argument name, owner, limits ...); `owner` is the class or
function the argument belongs to. A wrong type is a TypeError, a wrong value a
ValueError, and the text has one form:

    For 'Conv2d', 'stride' must be a positive int, but got -1.

| function | accepts |
|---|---|
| check_type(v, name, owner, types) | instances of `types`; a bool is no int |
| check_bool | True, False |
| check_int, check_positive_int, check_non_negative_int | ints, NumPy's too, but no bools |
| check_int_range(v, name, owner, low, high) | ints; `bounds` "[)", "(]", "()" leave ends out |
| check_number, check_positive_number, check_non_negative_number | ints and floats |
| check_number_range(v, name, owner, low, high) | ints and floats |
| check_float, check_positive_float, check_non_negative_float | floats only |
| check_float_range(v, name, owner, low, high) | floats only |
| check_string(v, name, owner, choices) | one of `choices`, or any string without them |
| check_choice(v, name, owner, choices) | one of `choices`, of any types |
| check_key | anything that can be looked up in a dict |
| check_callable | anything that can be called |
| check_shape | an int or a tuple / list of them; returns a tuple |
| check_dimensions(v, name, owner, *counts) | arrays and Tensors with one of these numbers of dimensions |
| check_elements(v, name, owner, types) | a tuple or list of them, or another of `containers` |
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from dist_ms.common.error_classes import is_flag, is_number, of_choice, of_type, of_value

_INTS: tuple[Any, ...] = (int, np.integer)
_FLOATS: tuple[Any, ...] = (float, np.floating)


def complaint(name: str, owner: str | None, wanted: str, found: Any, remedy: str = "") -> str:
    """The text of an argument error.

    Args:
        name: the argument's name.
        owner: the class or function it belongs to, or None.
        wanted: what it must be, after "must be".
        found: what it is.
        remedy: a sentence on what to do, if that is not plain.

    Examples:
        >>> from dist_ms.common.checks import complaint
        >>> complaint("stride", "Conv2d", "a positive int", -1)
        "For 'Conv2d', 'stride' must be a positive int, but got -1."
    """
    head = f"For '{owner}', " if owner else "The argument "
    tail = f" {remedy}" if remedy else ""
    return f"{head}'{name}' must be {wanted}, but got {found}.{tail}"


def _typed(value: Any) -> str:
    """A value with its type, as errors show it."""
    return (
        f"{type(value).__name__} {value!r}"
        if isinstance(value, (str, bool, int, float, complex))
        else type(value).__name__
    )


def _type_names(types: Sequence[type]) -> str:
    names = [t.__name__ if t is not type(None) else "None" for t in types]
    article = "an" if names[0][0] in "aeiouAEIOU" else "a"
    if len(names) == 1:
        return f"{article} {names[0]}"
    return f"{article} {', '.join(names[:-1])} or {names[-1]}"


def check_type(value: Any, name: str, owner: str | None, types: type | Sequence[type]) -> Any:
    """Require an instance of one of `types`; a bool passes only where bool is listed.

    Raises:
        TypeError: for another type.

    Examples:
        >>> from dist_ms.common.checks import check_type
        >>> check_type(0.5, "p", "Dropout", (float, int))
        0.5
    """
    types = (types,) if isinstance(types, type) else tuple(types)
    if (isinstance(value, bool) and bool not in types and object not in types) or not isinstance(value, types):
        raise of_type(name, owner, value)(complaint(name, owner, _type_names(types), _typed(value)))
    return value


def check_bool(value: Any, name: str, owner: str | None = None) -> bool:
    """Require True or False.

    Raises:
        TypeError: for anything else, 0 and 1 included.
    """
    if not isinstance(value, bool):
        if is_flag(name, owner):
            return bool(value)
        raise of_type(name, owner, value)(complaint(name, owner, "a bool", _typed(value)))
    return value


def _is_int(value: Any) -> bool:
    return isinstance(value, _INTS) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, _INTS + _FLOATS) and not isinstance(value, bool)


def check_int(value: Any, name: str, owner: str | None = None) -> int:
    """Require an int.

    Raises:
        TypeError: for another type, a bool included.
    """
    if not _is_int(value) and not is_number(value, name, owner):
        raise of_type(name, owner, value)(complaint(name, owner, "an int", _typed(value)))
    return value


def check_positive_int(value: Any, name: str, owner: str | None = None) -> int:
    """Require an int above 0.

    Raises:
        TypeError: for another type.
        ValueError: for 0 and below.

    Examples:
        >>> from dist_ms.common.checks import check_positive_int
        >>> check_positive_int(-1, "stride", "Conv2d")
        Traceback (most recent call last):
        ...
        ValueError: For 'Conv2d', 'stride' must be a positive int, but got -1.
    """
    if not _is_int(value):
        raise of_type(name, owner, value)(complaint(name, owner, "a positive int", _typed(value)))
    if value <= 0:
        raise of_value(name, owner)(complaint(name, owner, "a positive int", value))
    return value


def check_non_negative_int(value: Any, name: str, owner: str | None = None) -> int:
    """Require an int of 0 or more.

    Raises:
        TypeError: for another type.
        ValueError: below 0.
    """
    if not _is_int(value):
        raise of_type(name, owner, value)(complaint(name, owner, "an int of 0 or more", _typed(value)))
    if value < 0:
        raise of_value(name, owner)(complaint(name, owner, "an int of 0 or more", value))
    return value


def _check_bounds(value: Any, name: str, owner: str | None, low: Any, high: Any, bounds: str, kind: str) -> Any:
    above = value >= low if bounds[0] == "[" else value > low
    below = value <= high if bounds[1] == "]" else value < high
    if not (above and below):
        wanted = f"{kind} in {bounds[0]}{low}, {high}{bounds[1]}"
        raise of_value(name, owner)(complaint(name, owner, wanted, value))
    return value


def check_int_range(value: Any, name: str, owner: str | None, low: int, high: int, bounds: str = "[]") -> int:
    """Require an int between two limits.

    Args:
        bounds: "[]" with both limits, "[)" without the upper, "(]" without the lower, "()"
            without both.

    Raises:
        TypeError: for another type.
        ValueError: outside the limits.

    Examples:
        >>> from dist_ms.common.checks import check_int_range
        >>> check_int_range(4, "axis", "Concat", -2, 2, "[)")
        Traceback (most recent call last):
        ...
        ValueError: For 'Concat', 'axis' must be an int in [-2, 2), but got 4.
    """
    return _check_bounds(check_int(value, name, owner), name, owner, low, high, bounds, "an int")


def check_number(value: Any, name: str, owner: str | None = None) -> float:
    """Require an int or a float.

    Raises:
        TypeError: for another type, a bool included.
    """
    if not _is_number(value) and not is_number(value, name, owner):
        raise of_type(name, owner, value)(complaint(name, owner, "an int or float", _typed(value)))
    return value


def check_positive_number(value: Any, name: str, owner: str | None = None) -> float:
    """Require an int or float above 0.

    Raises:
        TypeError: for another type.
        ValueError: for 0, below, and NaN.
    """
    if not check_number(value, name, owner) > 0:
        raise of_value(name, owner)(complaint(name, owner, "a number above 0", value))
    return value


def check_non_negative_number(value: Any, name: str, owner: str | None = None) -> float:
    """Require an int or float of 0 or more.

    Raises:
        TypeError: for another type.
        ValueError: below 0 and NaN.
    """
    if not check_number(value, name, owner) >= 0:
        raise of_value(name, owner)(complaint(name, owner, "a number of 0 or more", value))
    return value


def check_number_range(value: Any, name: str, owner: str | None, low: float, high: float, bounds: str = "[]") -> float:
    """Require an int or float between two limits; `bounds` as in `check_int_range`.

    Raises:
        TypeError: for another type.
        ValueError: outside the limits.
    """
    return _check_bounds(check_number(value, name, owner), name, owner, low, high, bounds, "a number")


def check_float(value: Any, name: str, owner: str | None = None) -> float:
    """Require a float; an int is refused, as MindSpore does for betas and epsilons.

    Raises:
        TypeError: for another type.
    """
    if not isinstance(value, _FLOATS):
        raise of_type(name, owner, value)(complaint(name, owner, "a float", _typed(value)))
    return value


def check_positive_float(value: Any, name: str, owner: str | None = None) -> float:
    """Require a float above 0.

    Raises:
        TypeError: for another type.
        ValueError: for 0, below, and NaN.
    """
    if not check_float(value, name, owner) > 0:
        raise of_value(name, owner)(complaint(name, owner, "a positive float", value))
    return value


def check_non_negative_float(value: Any, name: str, owner: str | None = None) -> float:
    """Require a float of 0 or more.

    Raises:
        TypeError: for another type.
        ValueError: below 0 and NaN.
    """
    if not check_float(value, name, owner) >= 0:
        raise of_value(name, owner)(complaint(name, owner, "a float of 0 or more", value))
    return value


def check_float_range(value: Any, name: str, owner: str | None, low: float, high: float, bounds: str = "[]") -> float:
    """Require a float between two limits; `bounds` as in `check_int_range`.

    Raises:
        TypeError: for another type.
        ValueError: outside the limits.
    """
    return _check_bounds(check_float(value, name, owner), name, owner, low, high, bounds, "a float")


def check_string(value: Any, name: str, owner: str | None = None, choices: Sequence[str] | None = None) -> str:
    """Require a string, and one of `choices` when they are given.

    Raises:
        TypeError: for something that is no string, without `choices` and where MindSpore raises it.
        ValueError: for anything that is not among the choices.

    Examples:
        >>> from dist_ms.common.checks import check_string
        >>> check_string("sam", "pad_mode", "Conv2d", ["same", "valid", "pad"])
        Traceback (most recent call last):
        ...
        ValueError: For 'Conv2d', 'pad_mode' must be one of 'same', 'valid', 'pad', but got 'sam'.
    """
    if choices is None:
        if not isinstance(value, str):
            raise of_type(name, owner, value)(complaint(name, owner, "a str", _typed(value)))
    elif not isinstance(value, str) or value not in choices:
        wanted = "one of " + ", ".join(repr(c) for c in choices)
        raise of_choice(name, owner, value)(complaint(name, owner, wanted, repr(value)))
    return value


def check_choice(value: Any, name: str, owner: str | None, choices: Collection[Any]) -> Any:
    """Require one of several values.

    Raises:
        ValueError: for anything else.

    Examples:
        >>> from dist_ms.common.checks import check_choice
        >>> check_choice(3, "p", "MultiMarginLoss", (1, 2))
        Traceback (most recent call last):
        ...
        ValueError: For 'MultiMarginLoss', 'p' must be one of 1, 2, but got 3.
    """
    if value not in choices:
        raise of_value(name, owner)(complaint(name, owner, "one of " + ", ".join(map(repr, choices)), repr(value)))
    return value


def check_key(value: Any, name: str, owner: str | None = None) -> Any:
    """Require something that can be looked up in a dict.

    Raises:
        TypeError: for a list, a dict and others that cannot.
    """
    if type(value).__hash__ is None:
        raise TypeError(complaint(name, owner, "hashable", _typed(value)))
    return value


def check_callable(value: Any, name: str, owner: str | None = None) -> Any:
    """Require something that can be called.

    Raises:
        TypeError: otherwise.
    """
    if not callable(value):
        raise of_type(name, owner, value)(complaint(name, owner, "callable", _typed(value)))
    return value


def check_shape(value: Any, name: str, owner: str | None = None) -> tuple[int, ...]:
    """Require a shape, an int or a tuple or list of ints of 0 or more, and return it as a tuple.

    Raises:
        TypeError: for another type.
        ValueError: for a negative length.

    Examples:
        >>> from dist_ms.common.checks import check_shape
        >>> check_shape([2, 3], "shape", "ones")
        (2, 3)
    """
    lengths = (value,) if _is_int(value) else value
    if not isinstance(lengths, (tuple, list)) or not all(_is_int(n) for n in lengths):
        raise of_type(name, owner, value)(complaint(name, owner, "an int or a tuple or list of ints", repr(value)))
    if any(n < 0 for n in lengths):
        raise of_value(name, owner)(complaint(name, owner, "a shape without negative lengths", value))
    return tuple(int(n) for n in lengths)


def check_dimensions(value: Any, name: str, owner: str | None, *counts: int) -> Any:
    """Require an array or Tensor with one of these numbers of dimensions.

    Raises:
        ValueError: for another number.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.common.checks import check_dimensions
        >>> check_dimensions(np.zeros((2, 3)), "image", "CentralCrop", 3, 4)
        Traceback (most recent call last):
        ...
        ValueError: For 'CentralCrop', 'image' must have 3 or 4 dimensions, but got shape (2, 3).
    """
    if value.ndim not in counts:
        wanted = " or ".join(map(str, counts)) + (" dimension" if counts == (1,) else " dimensions")
        raise of_value(name, owner)(f"For '{owner}', '{name}' must have {wanted}, but got shape {value.shape}.")
    return value


def check_elements(
    value: Any,
    name: str,
    owner: str | None,
    types: type | tuple[type, ...],
    containers: type | tuple[type, ...] = (tuple, list),
) -> Any:
    """Require a tuple or list, or another of `containers`, whose elements are instances of `types`.

    NumPy's ints are ints; a bool passes only where bool is listed.

    Raises:
        TypeError: for another container or element.

    Examples:
        >>> from dist_ms.common.checks import check_elements
        >>> check_elements(["x", 1], "columns", "project", str, list)
        Traceback (most recent call last):
        ...
        TypeError: For 'project', 'columns' must be a list of str, but got ['x', 1].
    """
    kinds = types if isinstance(types, tuple) else (types,)
    wanted = (*kinds, np.integer) if int in kinds else kinds
    elements: Any = value
    fits = isinstance(value, containers) and all(isinstance(v, wanted) for v in elements)
    if not fits or (bool not in kinds and any(isinstance(v, bool) for v in elements)):
        holders = _type_names(containers if isinstance(containers, tuple) else (containers,))
        text = f"{holders} of {' or '.join(kind.__name__ for kind in kinds)}"
        found = repr(value)[:200] if isinstance(value, containers) else _typed(value)
        raise of_type(name, owner, value)(complaint(name, owner, text, found))
    return value
