"""Checks of the arguments operations share: arrays, dtypes, axes, shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms._ext.tape import holds_floats
from dist_ms.common.checks import check_key
from dist_ms.common.dtype import Number, from_numpy
from dist_ms.common.error_classes import is_flag, is_number, is_plain, of_no_tensor, of_type, of_value
from dist_ms.common.tensor import Tensor

_ALL_AXES = [tuple(range(ndim)) for ndim in range(8)]
_KINDS = (("b", "bool"), ("iu", "integer"), ("fV", "float"), ("c", "complex"))
_INT = frozenset((int,))


def no_tensor(value: Any, name: str, owner: str) -> Exception:
    """The error to raise where a Tensor is missing: a TypeError but where MindSpore raises another."""
    text = f"For '{owner}', '{name}' must be a Tensor, but got {type(value).__name__}."
    return of_no_tensor(name, owner, value)(text)


def not_array(value: Any, name: str, owner: str) -> Any:
    """Return `value` unless it is a NumPy array, where a Tensor or Python's own values are taken.

    Raises:
        TypeError: if it is one.
    """
    if isinstance(value, np.ndarray):
        raise no_tensor(value, name, owner)
    return value


def array(value: Any, name: str, owner: str) -> np.ndarray:
    """Return `value` if it is an array, that is: if the caller gave a Tensor.

    Raises:
        TypeError: otherwise.
    """
    if isinstance(value, np.ndarray):
        return value
    raise no_tensor(value, name, owner)


def tensor(value: Any, name: str, owner: str) -> Tensor:
    """Return `value` if it is a Tensor.

    Raises:
        TypeError: otherwise.
    """
    if isinstance(value, Tensor):
        return value
    raise no_tensor(value, name, owner)


def floating(value: Any, name: str, owner: str, complex_too: bool = True) -> np.ndarray:
    """Return an array of floats (or complex numbers).

    Raises:
        TypeError: if it is no array, or holds integers or bools.
    """
    if isinstance(value, np.ndarray) and holds_floats(value):
        return value
    if complex_too and array(value, name, owner).dtype.kind == "c":
        return value
    array(value, name, owner)
    wanted = "float or complex" if complex_too else "float"
    raise TypeError(
        f"For '{owner}', the dtype of '{name}' must be {wanted}, but got {from_numpy(value.dtype)}; cast it first."
    )


def floating_tensor(value: Any, name: str, owner: str) -> Tensor:
    """Return a Tensor of real floats; its array is not asked for, so one that is made later still waits.

    Raises:
        TypeError: if it is no Tensor, or holds anything else.
    """
    if isinstance(value, Tensor) and holds_floats(value):
        return value
    tensor(value, name, owner)
    raise TypeError(
        f"For '{owner}', the dtype of '{name}' must be float, but got {from_numpy(value._element)}; cast it first."
    )


def real(value: Any, name: str, owner: str) -> np.ndarray:
    """Return an array of anything but complex numbers.

    Raises:
        TypeError: if it is no array, or holds complex numbers.
    """
    if array(value, name, owner).dtype.kind == "c":
        raise TypeError(f"For '{owner}', the dtype of '{name}' must be real, but got {from_numpy(value.dtype)}.")
    return value


def not_of(value: Any, letters: str, name: str, owner: str) -> Any:
    """Return `value` unless it is an array or Tensor of a dtype that an operation does not take, by NumPy's letters.

    Raises:
        TypeError: if it is.
    """
    found = value._element if isinstance(value, Tensor) else getattr(value, "dtype", None)
    if isinstance(found, np.dtype) and found.char in letters:
        raise TypeError(f"For '{owner}', the dtype of '{name}' must not be {from_numpy(found)}; cast it first.")
    return value


def countable(value: Any, name: str, owner: str) -> np.ndarray:
    """Return an array of integers or real floats: what has an order, without bools.

    Raises:
        TypeError: if it is no array, or holds bools or complex numbers.
    """
    if real(value, name, owner).dtype.kind == "b":
        raise TypeError(f"For '{owner}', the dtype of '{name}' must be a number type, but got Bool; cast it first.")
    return value


def index_array(value: Any, name: str, owner: str) -> np.ndarray:
    """Return an array of int32 or int64.

    Raises:
        TypeError: if it is no array, or holds anything else.
    """
    if array(value, name, owner).dtype.char in "ilq":
        return value
    raise TypeError(f"For '{owner}', the dtype of '{name}' must be Int32 or Int64, but got {from_numpy(value.dtype)}.")


def integral(value: Any, name: str, owner: str, bool_too: bool = False) -> np.ndarray:
    """Return an array of integers (or bools).

    Raises:
        TypeError: if it is no array, or holds anything else.
    """
    if array(value, name, owner).dtype.kind in ("biu" if bool_too else "iu"):
        return value
    raise TypeError(
        f"For '{owner}', the dtype of '{name}' must be an integer{' or bool' if bool_too else ''} type, "
        f"but got {from_numpy(value.dtype)}."
    )


def one_dtype(name: str, kinds: str = "", **values: Any) -> None:
    """Require Tensors of one dtype, of one of NumPy's kinds if `kinds` names any ("V" is bfloat16).

    Raises:
        TypeError: if one is no Tensor, has another kind, or the dtypes differ.
    """
    first: Any = None
    for argument, value in values.items():
        found = array(value.array() if isinstance(value, Tensor) else value, argument, name).dtype
        if kinds and found.kind not in kinds:
            words = [word for letters, word in _KINDS if set(letters) & set(kinds)]
            raise TypeError(
                f"For '{name}', the dtype of '{argument}' must be {' or '.join(words)}, "
                f"but got {from_numpy(found)}; cast it first."
            )
        if first is not None and found != first:
            raise TypeError(
                f"For '{name}', '{argument}' must have the dtype of '{next(iter(values))}', {from_numpy(first)}, "
                f"but got {from_numpy(found)}; cast one of them."
            )
        first = found


def has_dimensions(value: Any, least: int, name: str, owner: str) -> Any:
    """Return an array or Tensor if it has the dimensions that are read before its shape is looked at.

    Raises:
        IndexError: if it has fewer.
    """
    if value.ndim < least:
        raise IndexError(
            f"For '{owner}', '{name}' must have at least {least} dimension{'s' * (least > 1)}, but got the shape "
            f"{tuple(value.shape)}."
        )
    return value


def same_rank(one: Any, other: Any, owner: str) -> None:
    """Require two Tensors of equally many dimensions; what is none has its own error later.

    Raises:
        ValueError: if one has more.
    """
    if isinstance(one, Tensor) and isinstance(other, Tensor) and one.ndim != other.ndim:
        raise ValueError(
            f"For '{owner}', the tensors must have equally many dimensions, but got {one.shape} and {other.shape}."
        )


def is_float(d: np.dtype) -> bool:
    """Whether a NumPy dtype is a real floating-point type, bfloat16 included."""
    return d.kind in "fV"


def integer(value: Any, name: str, owner: str) -> int:
    """Return `value` as an int.

    Raises:
        TypeError: if it is no integer (bools are none).
    """
    if type(value) is int:
        return value
    if isinstance(value, np.integer) or (isinstance(value, int) and not isinstance(value, bool)):
        return int(value)
    if is_number(value, name, owner):
        return int(value)
    if isinstance(value, (Tensor, np.ndarray)) and not is_plain(name, owner):
        plain = value.asnumpy() if isinstance(value, Tensor) else value
        if plain.size == 1 and plain.dtype.kind in "iu":
            return int(plain.reshape(()))
    raise of_type(name, owner, value)(f"For '{owner}', '{name}' must be an int, but got {type(value).__name__}.")


def integers(value: Any, name: str, owner: str) -> tuple[int, ...]:
    """Return a tuple of ints of a tuple, a list, a one-dimensional integer Tensor or a single int.

    Raises:
        TypeError: if there is anything but integers.
    """
    if type(value) is tuple and _INT.issuperset(map(type, value)):
        return value
    if isinstance(value, (Tensor, np.ndarray)) and not is_plain(name, owner):
        value = value.tolist()
    if isinstance(value, (tuple, list)):
        return tuple([integer(v, name, owner) for v in value])
    if isinstance(value, (int, np.integer)) and (not isinstance(value, bool) or is_number(value, name, owner)):
        return (int(value),)
    raise of_type(name, owner, value)(
        f"For '{owner}', '{name}' must be an int, or a tuple or list of ints, but got {type(value).__name__}."
    )


def one_axis(axis: Any, name: str, owner: str, ndim: int) -> int:
    """Return an axis counted from the front.

    Raises:
        TypeError: if it is no int.
        ValueError: if there is no such axis.
    """
    axis = axis if type(axis) is int else integer(axis, name, owner)
    if -ndim <= axis < ndim:
        return axis if axis >= 0 else axis + ndim
    if ndim == 0 and axis in (0, -1):
        return 0
    raise of_value(name, owner)(f"For '{owner}', '{name}' must be in the range [{-ndim}, {ndim}), but got {axis}.")


def many_axes(axes: Any, name: str, owner: str, ndim: int) -> tuple[int, ...]:
    """Return several axes counted from the front; all of them for None and ().

    Raises:
        TypeError: if one is no int.
        ValueError: if there is no such axis, or one comes twice.
    """
    if axes is None or axes == ():
        return _ALL_AXES[ndim] if ndim < 8 else tuple(range(ndim))
    if type(axes) is int:
        return (one_axis(axes, name, owner, ndim),) if ndim else _no_axis(axes, name, owner)
    axes = integers(axes, name, owner)
    if not axes:
        return tuple(range(ndim))
    if ndim == 0:
        for a in axes:
            one_axis(a, name, owner, 0)
        return ()
    found = tuple([one_axis(a, name, owner, ndim) for a in axes])
    if len(set(found)) != len(found):
        kind = of_value(f"{name} twice", owner)
        raise kind(f"For '{owner}', '{name}' must name each dimension once, but got {axes}.")
    return found


def _no_axis(axis: int, name: str, owner: str) -> tuple[int, ...]:
    """The axes of a scalar: none, whether called 0 or -1."""
    one_axis(axis, name, owner, 0)
    return ()


def boolean(value: Any, name: str, owner: str) -> bool:
    """Return `value` if it is a bool.

    Raises:
        TypeError: otherwise.
    """
    if isinstance(value, (bool, np.bool_)) or is_flag(name, owner):
        return bool(value)
    raise of_type(name, owner, value)(f"For '{owner}', '{name}' must be a bool, but got {type(value).__name__}.")


def data_type(value: Any, name: str, owner: str) -> Number:
    """Return `value` if it is a dtype such as dist_ms.float32.

    Raises:
        TypeError: otherwise.
    """
    if isinstance(value, Number):
        return value
    raise TypeError(f"For '{owner}', '{name}' must be a dtype such as dist_ms.float32, but got {value!r}.")


def number(value: Any, name: str, owner: str, bool_too: bool = False) -> float:
    """Return `value` if it is a real Python or NumPy number, or with `bool_too` a bool.

    Raises:
        TypeError: otherwise.
    """
    if isinstance(value, (int, float, np.integer, np.floating)) and (
        bool_too or not isinstance(value, bool) or is_number(value, name, owner)
    ):
        return value
    raise of_type(name, owner, value)(f"For '{owner}', '{name}' must be a number, but got {type(value).__name__}.")


def scalar(value: Any) -> Any:
    """Return the Python number in a one-element Tensor or array, anything else as it is."""
    if isinstance(value, (Tensor, np.ndarray)) and value.size == 1:
        return (value.asnumpy() if isinstance(value, Tensor) else value).reshape(()).item()
    return value


def one_of(value: Any, name: str, owner: str, allowed: tuple) -> Any:
    """Return `value` if it is one of the allowed ones.

    Raises:
        TypeError: for something else than a str where all allowed ones are strings, but for some owners.
        ValueError: otherwise.
    """
    if isinstance(value, (str, int, float, Number, type(None))) and value in allowed:
        return value
    text = f"For '{owner}', '{name}' must be one of {list(allowed)}, but got {value!r}."
    words = not isinstance(value, str) and all(isinstance(a, (str, type(None))) for a in allowed)
    kind = of_type(name, owner, value) if words else of_value(name, owner)
    if kind is KeyError:
        check_key(value, name, owner)
    raise kind(text)
