"""kernel: functions in MindSpore's Hybrid DSL, run as the Python they are."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

import numpy as np

from dist_ms.common.checks import check_type

__all__ = ["kernel"]


def _array(shape: Any, dtype: Any, scope: str = "local") -> np.ndarray:
    return np.zeros(shape, dtype)


@contextmanager
def _block(array: np.ndarray) -> Iterator[None]:
    yield


def _grid(extents: Any) -> Iterator[tuple[int, ...]]:
    return itertools.product(*map(range, extents))


# What the language offers besides Python: arrays, loops (of which a compiler may make what it likes), functions.
_WORDS: dict[str, Any] = {
    "output_tensor": _array,
    "allocate": _array,
    "block_realize": _block,
    "grid": _grid,
    **dict.fromkeys(("serial", "vectorize", "parallel", "reduce"), range),
    **{name: getattr(np, name) for name in ("log", "exp", "sqrt", "tanh", "power", "floor")},
    **{name: getattr(np, name) for name in ("int8", "int16", "int32", "int64", "float16", "float32", "float64")},
}


def kernel(fn: Callable | None = None, reg_info: Any = None, compile_attrs: dict | None = None) -> Any:
    """Make a function of MindSpore's Hybrid DSL one that runs on NumPy arrays, and that `Custom` takes.

    Args:
        fn: the function; it may use `output_tensor`, `allocate`, `block_realize`, `grid`, `serial`, `vectorize`,
            `parallel`, `reduce`, `log`, `exp`, `sqrt`, `tanh`, `power`, `floor` and names of types.
        reg_info: what `CustomRegOp.get_op_info` gives; kept as `reg_info`.
        compile_attrs: options of MindSpore's compiler; kept as `compile_attrs`.

    Returns:
        The function, or a decorator.

    Raises:
        TypeError: if `fn` is no function or `compile_attrs` no dict.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.ops import kernel
        >>> @kernel
        ... def double(a):
        ...     b = output_tensor(a.shape, a.dtype)
        ...     for i, j in grid(a.shape):
        ...         b[i, j] = a[i, j] * 2
        ...     return b
        >>> double(np.ones((1, 2)))
        array([[2., 2.]])
    """
    check_type(reg_info, "reg_info", "kernel", (str, dict, tuple, type(None)))
    if compile_attrs is not None and not isinstance(compile_attrs, dict):
        raise TypeError(f"For 'kernel', 'compile_attrs' must be a dict, but got {type(compile_attrs).__name__}.")

    def decorate(function: Callable) -> Callable:
        if not isinstance(function, FunctionType):
            raise AttributeError(f"For 'kernel', 'fn' must be a function, but got {type(function).__name__}.")
        names = {**_WORDS, **function.__globals__}
        made = FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
        made.__doc__, made.__kwdefaults__ = function.__doc__, function.__kwdefaults__
        made.reg_info, made.compile_attrs, made.is_hybrid = reg_info, compile_attrs or {}, True
        return made

    return decorate if fn is None else decorate(fn)
