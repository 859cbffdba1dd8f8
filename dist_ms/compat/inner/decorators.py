"""`deprecated` of `mindspore.common._decorator`, and shapes that are not known, of `_utils`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from dist_ms.common.jit import constexpr
from dist_ms.common.once import warn_once


def deprecated(version: str, substitute: str, use_substitute_name: bool = False, module_prefix: str = "") -> Callable:
    """Mark a function as one that will go: its first call says so in the log.

    Args:
        version: since when.
        substitute: what to use instead.
        use_substitute_name: keep the substitute's name on the function, as `__name__`.
        module_prefix: what comes before the function's name in the message.

    Examples:
        >>> from dist_ms.compat.inner.decorators import deprecated
        >>> deprecated("2.0", "other")(lambda: 1)()
        1
    """

    def decorate(function: Callable) -> Callable:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            name = module_prefix + function.__qualname__
            text = "'%s' is deprecated from version %s on; use '%s'."
            warn_once(f"deprecated {name}", text, name, version, substitute)
            return function(*args, **kwargs)

        if use_substitute_name:
            wrapped.__name__ = substitute
        return wrapped

    return decorate


def is_shape_unknown(shape: Any) -> bool:
    """Whether a length of a shape, or their number, is not known.

    Examples:
        >>> from dist_ms.compat.inner.decorators import is_shape_unknown
        >>> is_shape_unknown((1, -1)), is_shape_unknown((1, 2))
        (True, False)
    """
    return any(n in (-1, -2) for n in shape)


def is_dim_unknown(shape: Any) -> bool:
    """Whether the number of lengths is not known."""
    return -2 in tuple(shape)


def _function_forbid_reuse(fn: Callable) -> Callable:
    """A function as it is: MindSpore's compiler would compile each of its calls anew."""
    return fn


def _primexpr(fn: Any = None, get_instance: bool = True, name: str | None = None, reuse_result: bool = True) -> Any:
    """Make an operation of a function of plain values, as `constexpr` does."""
    return constexpr(fn, get_instance, name, reuse_result)
