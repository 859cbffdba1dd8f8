"""`mindspore._checkparam`: the argument checks that layers and scripts import from MindSpore.

Each returns the value, or raises in the form of all errors here. `rel` is one of the
relations below.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from dist_ms.common import checks
from dist_ms.common.checks import (
    check_bool,
    check_non_negative_float,
    check_non_negative_int,
    check_positive_float,
    check_positive_int,
    complaint,
)

EQ, NE, LT, LE, GT, GE = range(1, 7)
INC_NEITHER, INC_LEFT, INC_RIGHT, INC_BOTH = range(7, 11)
IN, NOT_IN = 11, 12

_COMPARISONS: dict[int, tuple[str, Callable[[Any, Any], bool]]] = {
    EQ: ("==", lambda a, b: a == b),
    NE: ("!=", lambda a, b: a != b),
    LT: ("<", lambda a, b: a < b),
    LE: ("<=", lambda a, b: a <= b),
    GT: (">", lambda a, b: a > b),
    GE: (">=", lambda a, b: a >= b),
    IN: ("in", lambda a, b: a in b),
    NOT_IN: ("not in", lambda a, b: a not in b),
}
_BOUNDS = {INC_NEITHER: "()", INC_LEFT: "[)", INC_RIGHT: "(]", INC_BOTH: "[]"}

__all__ = [
    "EQ",
    "GE",
    "GT",
    "IN",
    "INC_BOTH",
    "INC_LEFT",
    "INC_NEITHER",
    "INC_RIGHT",
    "LE",
    "LT",
    "NE",
    "NOT_IN",
    "check",
    "check_bool",
    "check_equal_int",
    "check_float",
    "check_float_range",
    "check_int",
    "check_int_range",
    "check_is_float",
    "check_is_int",
    "check_isinstance",
    "check_non_negative_float",
    "check_non_negative_int",
    "check_number",
    "check_number_range",
    "check_positive_float",
    "check_positive_int",
    "check_string",
    "check_subclass",
    "check_type_name",
    "check_value_type",
]


def check(
    arg_name: str,
    arg_value: Any,
    value_name: str,
    value: Any,
    rel: int = EQ,
    prim_name: str | None = None,
    excp_cls: type[Exception] = ValueError,
) -> Any:
    """Require that an argument stands in a relation to another value.

    Args:
        arg_name, arg_value: the argument.
        value_name, value: what it is compared with.
        rel: the relation.
        prim_name: whose argument it is.
        excp_cls: the class of the error.

    Examples:
        >>> from dist_ms.compat import checkparam
        >>> checkparam.check("axis", 3, "the rank", 4, checkparam.LT, "Net")
        3
    """
    sign, holds = _COMPARISONS[rel]
    if not holds(arg_value, value):
        raise excp_cls(complaint(arg_name, prim_name, f"{sign} {value_name}, which is {value}", arg_value))
    return arg_value


def check_number(arg_name: str, arg_value: Any, value: Any, rel: int, prim_name: str | None = None) -> Any:
    """Require a number in a relation to another one."""
    return check(arg_name, checks.check_number(arg_value, arg_name, prim_name), "the limit", value, rel, prim_name)


def check_int(arg_value: Any, value: int, rel: int, arg_name: str = "input", prim_name: str | None = None) -> int:
    """Require an int in a relation to another one."""
    return check(arg_name, checks.check_int(arg_value, arg_name, prim_name), "the limit", value, rel, prim_name)


def check_equal_int(arg_value: Any, value: int, arg_name: str = "input", prim_name: str | None = None) -> int:
    """Require an int equal to another one."""
    return check_int(arg_value, value, EQ, arg_name, prim_name)


def check_float(arg_value: Any, value: float, rel: int, arg_name: str = "input", prim_name: str | None = None) -> float:
    """Require a float in a relation to another one."""
    return check(arg_name, checks.check_float(arg_value, arg_name, prim_name), "the limit", value, rel, prim_name)


def check_is_int(arg_value: Any, arg_name: str = "input", prim_name: str | None = None) -> int:
    """Require an int."""
    return checks.check_int(arg_value, arg_name, prim_name)


def check_is_float(arg_value: Any, arg_name: str = "input", prim_name: str | None = None) -> float:
    """Require a float."""
    return checks.check_float(arg_value, arg_name, prim_name)


def check_int_range(
    arg_value: Any, lower_limit: int, upper_limit: int, rel: int, arg_name: str = "input", prim_name: str | None = None
) -> int:
    """Require an int within limits; `rel` says which of them belong to the range."""
    return checks.check_int_range(arg_value, arg_name, prim_name, lower_limit, upper_limit, _BOUNDS[rel])


def check_float_range(
    arg_value: Any,
    lower_limit: float,
    upper_limit: float,
    rel: int,
    arg_name: str = "input",
    prim_name: str | None = None,
) -> float:
    """Require a float within limits; `rel` says which of them belong to the range."""
    return checks.check_float_range(arg_value, arg_name, prim_name, lower_limit, upper_limit, _BOUNDS[rel])


def check_number_range(
    arg_value: Any,
    lower_limit: float,
    upper_limit: float,
    rel: int,
    value_type: type,
    arg_name: str = "input",
    prim_name: str | None = None,
) -> Any:
    """Require a number of a type within limits; `rel` says which of them belong to the range."""
    checks.check_type(arg_value, arg_name, prim_name, value_type)
    return checks.check_number_range(arg_value, arg_name, prim_name, lower_limit, upper_limit, _BOUNDS[rel])


def check_string(
    arg_value: Any, valid_values: Iterable[str], arg_name: str = "input", prim_name: str | None = None
) -> str:
    """Require one of some strings."""
    if not isinstance(arg_value, str) or arg_value not in valid_values:
        raise ValueError(complaint(arg_name, prim_name, f"one of {list(valid_values)}", repr(arg_value)))
    return arg_value


def check_value_type(arg_name: str, arg_value: Any, valid_types: Any, prim_name: str | None = None) -> Any:
    """Require an instance of one of some types; a bool is an int only if bool is listed."""
    kinds = tuple(valid_types) if isinstance(valid_types, (list, tuple)) else (valid_types,)
    return checks.check_type(arg_value, arg_name, prim_name, kinds)


def check_isinstance(arg_name: str, arg_value: Any, classes: Any) -> Any:
    """Require an instance of one of some classes, as Python sees it; the error is a ValueError."""
    if not isinstance(arg_value, classes):
        raise ValueError(complaint(arg_name, None, f"an instance of {classes}", type(arg_value).__name__))
    return arg_value


def check_subclass(
    arg_name: str, type_: Any, template_types: Any, prim_name: str | None = None, addition_error_info: str = ""
) -> None:
    """Require a subclass, or a data type, of some."""
    wanted = tuple(template_types) if isinstance(template_types, Iterable) else (template_types,)
    kinds = tuple(t for t in wanted if isinstance(t, type))
    if (
        type_ not in wanted
        and not isinstance(type_, kinds)
        and not (isinstance(type_, type) and issubclass(type_, kinds))
    ):
        raise TypeError(complaint(arg_name, prim_name, f"a subclass of {wanted}", type_, addition_error_info))


def check_type_name(arg_name: str, arg_type: Any, valid_types: Iterable, prim_name: str | None = None) -> Any:
    """Require one of some data types."""
    wanted = tuple(valid_types) if isinstance(valid_types, Iterable) else (valid_types,)
    if arg_type not in wanted:
        raise TypeError(complaint(arg_name, prim_name, f"one of {[str(t) for t in wanted]}", arg_type))
    return arg_type


def _check_input_3d(input_shape: tuple, func_name: str) -> None:
    """Refuse shapes that have not three dimensions.

    Raises:
        ValueError: if so.
    """
    _check_rank(input_shape, 3, func_name)


def _check_input_4d(input_shape: tuple, func_name: str) -> None:
    """Refuse shapes that have not four dimensions.

    Raises:
        ValueError: if so.
    """
    _check_rank(input_shape, 4, func_name)


def _check_rank(shape: tuple, rank: int, owner: str) -> None:
    if len(shape) != rank:
        raise ValueError(complaint("input", owner, f"a tensor of {rank} dimensions", f"the shape {tuple(shape)}"))
