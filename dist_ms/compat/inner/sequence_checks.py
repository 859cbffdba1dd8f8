"""More of `mindspore._checkparam`: checks of sequences, shapes, axes and types."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from dist_ms.common.checks import complaint
from dist_ms.common.type_classes import TensorType

_PATH = r"^[0-9a-zA-Z@\_\-\.\:\/\\\\]+$"
_WORD = r"^\w+[0-9a-zA-Z\_\.]*$"


def _is_number(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _limited(kind: type, wanted: str, fits: Callable[[Any], bool]) -> Callable:
    """A check that a number is of a kind and in a range."""

    def check(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> Any:
        if not _is_number(arg_value, kind) or not fits(arg_value):
            raise ValueError(complaint(arg_name or "input", prim_name, f"{wanted} {kind.__name__}", repr(arg_value)))
        return arg_value

    return check


def _limited_sequence(kind: type, wanted: str, fits: Callable[[Any], bool]) -> Callable:
    """A check of each number of a sequence."""
    one = _limited(kind, wanted, fits)

    def check(sequence: Iterable, arg_name: str | None = None, prim_name: str | None = None) -> Any:
        for i, value in enumerate(sequence):
            one(value, f"{arg_name or 'input'}[{i}]", prim_name)
        return sequence

    return check


check_negative_int = _limited(int, "a negative", lambda n: n < 0)
check_non_positive_int = _limited(int, "a non-positive", lambda n: n <= 0)
check_negative_float = _limited(float, "a negative", lambda n: n < 0)
check_non_positive_float = _limited(float, "a non-positive", lambda n: n <= 0)
check_positive_int_sequence = _limited_sequence(int, "a positive", lambda n: n > 0)
check_non_negative_int_sequence = _limited_sequence(int, "a non-negative", lambda n: n >= 0)
check_positive_float_sequence = _limited_sequence(float, "a positive", lambda n: n > 0)


def check_is_number(arg_value: Any, arg_type: type, arg_name: str | None = None, prim_name: str | None = None) -> Any:
    """Return a number of a kind.

    Raises:
        TypeError: if it is none.
    """
    if not _is_number(arg_value, arg_type):
        raise TypeError(complaint(arg_name or "input", prim_name, f"of type {arg_type.__name__}", repr(arg_value)))
    return arg_value


def _expanded(count: int) -> Callable:
    def expand(m: Any) -> tuple:
        if isinstance(m, int) and not isinstance(m, bool):
            return (m,) * count
        if isinstance(m, (tuple, list)) and len(m) == count and all(_is_number(v, int) for v in m):
            return tuple(m)
        raise TypeError(complaint("m", None, f"an int or {count} of them", repr(m)))

    expand.__doc__ = f"{count} ints, made of one or given as such."
    return expand


once, twice, triple = _expanded(1), _expanded(2), _expanded(3)


def check_file_name_by_regular(target: str, reg: str | None = None, prim_name: str | None = None) -> bool:
    """Whether a file's name has ordinary characters only: True, or an error.

    Raises:
        ValueError: if it has others.
    """
    return _matched(target, reg or _PATH, prim_name, re.ASCII)


def check_str_by_regular(
    target: str, reg: str | None = None, flag: int = re.ASCII, prim_name: str | None = None
) -> bool:
    """Whether a text is a word: True, or an error.

    Raises:
        ValueError: if it is none.
    """
    return _matched(target, reg or _WORD, prim_name, flag)


def check_str_and_none_by_regular(
    target: str | None, reg: str | None = None, flag: int = re.ASCII, prim_name: str | None = None
) -> bool:
    """Whether a text is a word or empty, or None: True, or an error.

    Raises:
        ValueError: if it is something else.
    """
    return not target or _matched(target, reg or _WORD, prim_name, flag)


def _matched(target: str, pattern: str, owner: str | None, flags: int) -> bool:
    if re.match(pattern, target, flags) is None:
        raise ValueError(complaint("target", owner, f"a text that matches {pattern!r}", repr(target)))
    return True


def check_element_type_of_iterable(
    arg_name: str, arg_value: Iterable, valid_types: Iterable[type], prim_name: str | None = None
) -> Any:
    """Return a sequence whose elements are of some types.

    Raises:
        TypeError: if one is not.
    """
    for value in arg_value:
        _of(value, arg_name, tuple(valid_types), prim_name)
    return arg_value


def check_element_type_of_dict(
    arg_name: str,
    arg_value: dict,
    key_types: Iterable[type],
    value_types: Iterable[type],
    prim_name: str | None = None,
) -> dict:
    """Return a dict whose keys and values are of some types.

    Raises:
        TypeError: if one is not.
    """
    for key, value in arg_value.items():
        _of(key, arg_name, tuple(key_types), prim_name)
        _of(value, arg_name, tuple(value_types), prim_name)
    return arg_value


def _of(value: Any, name: str, types: tuple, owner: str | None) -> None:
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        wanted = f"of elements of type {' or '.join(t.__name__ for t in types)}"
        raise TypeError(complaint(name, owner, wanted, repr(value)))


def check_size_and_element_type_of_tuple(
    arg_name: str, arg_value: tuple, expect_size: int, expect_element_type: type, prim_name: str | None = None
) -> tuple:
    """Return a tuple of a length, whose elements are of a type.

    Raises:
        TypeError: if it is no tuple, or an element has another type.
        ValueError: if its length is another.
    """
    if not isinstance(arg_value, tuple):
        raise TypeError(complaint(arg_name, prim_name, "a tuple", type(arg_value).__name__))
    if len(arg_value) != expect_size:
        raise ValueError(complaint(arg_name, prim_name, f"of {expect_size} elements", arg_value))
    return check_element_type_of_iterable(arg_name, arg_value, (expect_element_type,), prim_name)


def check_tensor_dtype_valid(arg_name: str, arg_type: Any, valid_dtypes: Iterable, prim_name: str | None) -> Any:
    """Return the type of a tensor's elements, if it is among some.

    Raises:
        TypeError: if it is not.
    """
    found = arg_type.element_type() if isinstance(arg_type, TensorType) else arg_type
    if found not in tuple(valid_dtypes):
        raise TypeError(complaint(arg_name, prim_name, f"of a type among {[str(t) for t in valid_dtypes]}", found))
    return found


def check_types_same_and_valid(args: dict, valid_values: Iterable, prim_name: str | None) -> None:
    """Refuse arguments of different types, or of a type that is not among some.

    Raises:
        TypeError: if so.
    """
    first = None
    for name, kind in args.items():
        found = check_tensor_dtype_valid(name, kind, valid_values, prim_name)
        if first is not None and found != first[1]:
            raise TypeError(complaint(name, prim_name, f"of the type {first[1]} of '{first[0]}'", found))
        first = first or (name, found)


check_tensors_dtypes_same_and_valid = check_types_same_and_valid


def check_axis_in_range(axis: int, ndim: int) -> int:
    """Return an axis counted from the front.

    Raises:
        TypeError: if it is no int.
        ValueError: if there is no such axis.

    Examples:
        >>> from dist_ms.compat.inner.sequence_checks import check_axis_in_range
        >>> check_axis_in_range(-1, 2)
        1
    """
    check_is_number(axis, int, "axis")
    if not -ndim <= axis < ndim:
        raise ValueError(complaint("axis", None, f"in [{-ndim}, {ndim})", axis))
    return axis % ndim


def check_axis_valid(axes: Any, ndim: int) -> tuple[int, ...]:
    """Return axes counted from the front; None is all of them.

    Raises:
        ValueError: if one does not exist or comes twice.
    """
    if axes is None:
        return tuple(range(ndim))
    found = tuple(check_axis_in_range(a, ndim) for a in (axes if isinstance(axes, (tuple, list)) else (axes,)))
    if len({*found}) != len(found):
        raise ValueError(complaint("axis", None, "of axes that differ", axes))
    return found


check_and_canonicalize_axes = check_axis_valid


def check_swapaxes_axis(axes: Any, ndim: int) -> Any:
    """Return the axes to swap, one or several, counted from the front.

    Raises:
        ValueError: if one does not exist.
    """
    if isinstance(axes, (tuple, list)):
        return tuple(check_axis_in_range(a, ndim) for a in axes)
    return check_axis_in_range(axes, ndim)


def check_transpose_axis(axes: tuple, ndim: int) -> tuple[int, ...]:
    """Return the order of axes that a call of `transpose` was given; nothing turns all of them round.

    Raises:
        ValueError: if it is no order of all axes.
    """
    given = axes[0] if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes
    if len(given) == 0 or given == (None,):
        return tuple(range(ndim))[::-1]
    if len(given) != ndim:
        raise ValueError(complaint("axes", None, f"{ndim} axes", axes))
    return check_axis_valid(tuple(given), ndim)


def check_reshape_shp(shp: tuple) -> tuple:
    """Return the shape that a call of `reshape` was given, as one tuple or as numbers."""
    return tuple(shp[0]) if len(shp) == 1 and isinstance(shp[0], (tuple, list)) else tuple(shp)


def check_flatten_order(order: str) -> None:
    """Refuse other orders than "C" and "F".

    Raises:
        ValueError: if so.
    """
    if order not in ("C", "F"):
        raise ValueError(complaint("order", "flatten", "'C' or 'F'", repr(order)))


def expanded_shape(ndim: int, axis_size: int, axis: int) -> tuple[int, ...]:
    """A shape of ones but for one axis."""
    return tuple(axis_size if i == axis else 1 for i in range(ndim))


def infer_out_shape(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that several broadcast to.

    Raises:
        ValueError: if they do not.
    """
    return np.broadcast_shapes(*shapes)


def prepare_shape_for_squeeze(shape: tuple[int, ...], axes: Any) -> tuple[int, ...]:
    """A shape without some axes.

    Raises:
        ValueError: if one of them is longer than 1.
    """
    gone = check_axis_valid(axes, len(shape))
    if any(shape[a] != 1 for a in gone):
        raise ValueError(complaint("axes", "squeeze", f"axes of the length 1 in the shape {shape}", axes))
    return tuple(n for i, n in enumerate(shape) if i not in gone)


def tuple_slice(tup: tuple, start: int, end: int) -> tuple:
    """A part of a tuple."""
    return tup[start:end]


max_, min_ = max, min


def is_stub_tensor(tensor: Any) -> bool:
    """Whether a tensor waits for its value in MindSpore's way: none does here."""
    return False


def check_input_data(*data: Any, data_class: Any) -> None:
    """Refuse inputs, nested or not, that are not of some classes.

    Raises:
        TypeError: if one is not.
        ValueError: if there is nothing in a container.
    """
    for item in data:
        if isinstance(item, (tuple, list)):
            if not item:
                raise ValueError(complaint("data", None, "not empty", item))
            check_input_data(*item, data_class=data_class)
        elif isinstance(item, dict):
            check_input_data(*item.values(), data_class=data_class)
        elif not isinstance(item, data_class):
            raise TypeError(complaint("data", None, f"of {data_class}", type(item).__name__))


def check_output_data(data: Any) -> None:
    """Refuse a network's output that is nothing.

    Raises:
        RuntimeError: if it is None.
    """
    if data is None:
        raise RuntimeError("The network's output must be a value, but got None.")


def check_input_dataset(*dataset: Any, dataset_type: Any) -> bool:
    """Whether there are inputs and all are of a class."""
    return bool(dataset) and all(isinstance(d, dataset_type) for d in dataset)


def args_type_check(*type_args: Any, **type_kwargs: Any) -> Callable:
    """A decorator that checks the types of a function's arguments.

    Args:
        type_args: types of the arguments in order.
        type_kwargs: types of the arguments by name.

    Raises:
        TypeError: in a call, if an argument has another type; None is taken for any.

    Examples:
        >>> from dist_ms.compat.inner.sequence_checks import args_type_check
        >>> args_type_check(x=int)(lambda x: x + 1)(2)
        3
    """

    def decorate(function: Callable) -> Callable:
        signature = inspect.signature(function)
        types = signature.bind_partial(*type_args, **type_kwargs).arguments

        @functools.wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            for name, value in signature.bind(*args, **kwargs).arguments.items():
                if value is not None and name in types and not isinstance(value, types[name]):
                    wanted = getattr(types[name], "__name__", types[name])
                    raise TypeError(complaint(name, function.__name__, f"of type {wanted}", type(value).__name__))
            return function(*args, **kwargs)

        return checked

    return decorate
