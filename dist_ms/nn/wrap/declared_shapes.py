"""enable_dynamic: a function whose arguments have declared types and shapes, some of unknown lengths."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from dist_ms.common.checks import complaint
from dist_ms.common.tensor import Tensor

__all__ = ["enable_dynamic"]


def enable_dynamic(**kwargs: Any) -> Callable[[Callable], Callable]:
    """Declare that arguments of a function have shapes of unknown lengths, for which MindSpore compiles it once.

    Nothing is compiled here: the declaration is checked, and the function takes every shape.

    Args:
        kwargs: by an argument's name a Tensor made of a shape with None in it and a dtype; or a tuple or list of them.

    Returns:
        Function, a decorator.

    Raises:
        ValueError: if nothing is declared, or an argument that the function does not have.
        TypeError: if a value is no Tensor, or all its lengths are known.

    Examples:
        >>> import dist_ms as ms
        >>> @ms.enable_dynamic(x=ms.Tensor(shape=[None], dtype=ms.float32))
        ... def double(x):
        ...     return x * 2
        >>> print(double(ms.Tensor([1.0, 2.0])))
        [2. 4.]
    """
    if not kwargs:
        raise ValueError("For 'enable_dynamic', an argument must be declared, but got none.")
    for name, value in kwargs.items():
        for one in value if isinstance(value, (tuple, list)) else (value,):
            if not isinstance(one, Tensor):
                raise TypeError(complaint(name, "enable_dynamic", "a Tensor, or a tuple or list of them", one))
            if all(length >= 0 for length in one.shape):
                raise TypeError(complaint(name, "enable_dynamic", "of a shape with None in it", one.shape))

    def decorate(fn: Callable) -> Callable:
        names = list(inspect.signature(fn).parameters)

        @functools.wraps(fn)
        def checked(*args: Any, **keywords: Any) -> Any:
            for name in kwargs:
                if name not in names:
                    raise ValueError(complaint(name, "enable_dynamic", f"one of the arguments {names}", name))
            return fn(*args, **keywords)

        return checked

    return decorate
