"""jit and the decorators around MindSpore's graph compiler.

dist_ms runs every function as Python, operation by operation, so a `jit` function gives
the results of the plain one and its side effects in program order. The decorators check
their arguments as MindSpore does and mark what they decorate.
"""

from __future__ import annotations

import functools
import inspect
import sys
import threading
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

from dist_ms.common.jit_globals import globals_first
from dist_ms.common.settings.context import GRAPH_MODE, get_context

_CAPTURE_MODES = ("ast", "bytecode", "trace")
_JIT_LEVELS = ("O0", "O1")
_BACKENDS = ("", "ms_backend", "GE")
_OPTIONS = {
    "disable_format_transform": bool,
    "exec_order": ("bfs", "dfs"),
    "infer_boost": ("on", "off"),
    "auto_offload": ("weight", "activation", "all"),
    "ge_options": dict,
}


_GRADIENTS = "dist_ms.autograd.differentiate"  # the module that runs functions whose gradients are wanted


class _Running(threading.local):
    """Whether a `jit` function is running, per thread."""

    jit = False


_running = _Running()


def compiled() -> bool:
    """Whether MindSpore would run what is running now as a compiled graph: in `jit` functions and in GRAPH_MODE.

    Inside the package only.
    """
    return _running.jit or get_context("mode") == GRAPH_MODE


def within_graph() -> bool:
    """Whether what runs now would be part of a compiled graph.

    That is in `jit` functions and, in GRAPH_MODE, in Cells and in functions whose gradients are being found. Inside
    the package only. In GRAPH_MODE it looks at the frames of the stack: for what is seldom asked.
    """
    if _running.jit:
        return True
    if get_context("mode") != GRAPH_MODE:
        return False
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_name != "construct" and frame.f_globals.get("__name__") != _GRADIENTS:
        frame = frame.f_back
    return frame is not None


def jit(
    function: Callable | None = None,
    *,
    capture_mode: str = "ast",
    jit_level: str = "O0",
    dynamic: int = 0,
    fullgraph: bool = False,
    backend: str = "",
    **options: Any,
) -> Callable:
    """Mark a function, method or Cell as one to run compiled; it runs as it is.

    Args:
        function: what to run; without it a decorator is returned.
        capture_mode: "ast", "bytecode" or "trace".
        jit_level: "O0" or "O1".
        dynamic: 0 or 1.
        fullgraph: a bool.
        backend: "", "ms_backend" or "GE".
        options: backend options: `disable_format_transform`, `exec_order`, `infer_boost`,
            `auto_offload`, `ge_options`; others are not looked at.

    All of them choose how MindSpore compiles, which results do not depend on. Only in the mode "ast" may a
    function read a global that it assigns further on: it reads the global then, which keeps its value.

    Returns:
        A function that calls `function`, with its name and signature.

    Raises:
        TypeError: for a value of the wrong type.
        ValueError: for a value that is none of the above.
        RuntimeError: for an unknown backend.

    Examples:
        >>> import dist_ms as ms
        >>> @ms.jit
        ... def double(x):
        ...     return x * 2
        >>> print(double(ms.Tensor([1.0, 2.0])))
        [2. 4.]
        >>> print(ms.jit(lambda x: x + 1, jit_level="O1")(ms.Tensor(1.0)))
        2.0
    """
    for key, value, allowed in (
        ("capture_mode", capture_mode, _CAPTURE_MODES),
        ("jit_level", jit_level, _JIT_LEVELS),
    ):
        if not isinstance(value, str) or value not in allowed:
            raise ValueError(f"For 'jit', the '{key}' must be str and must be in '{list(allowed)}', but got '{value}'.")
    if isinstance(dynamic, bool) or not isinstance(dynamic, int):
        raise TypeError(f"For 'jit', the 'dynamic' must be 'int', but got '{type(dynamic).__name__}'.")
    if dynamic not in (0, 1):
        raise ValueError(f"For 'jit', the 'dynamic' must be in range of [0, 1], but got {dynamic} with type 'int'.")
    if not isinstance(fullgraph, bool):
        raise TypeError(f"For 'jit', the 'fullgraph' must be a bool, but got {type(fullgraph).__name__}.")
    if not isinstance(backend, str):
        raise TypeError(f"For 'jit', the 'backend' must be a str, but got {type(backend).__name__}.")
    if backend not in _BACKENDS:
        raise RuntimeError(
            f"Invalid backend name: {backend}. For 'jit', the 'backend' must be one of {list(_BACKENDS)}."
        )
    _check_options(options)
    from_source = capture_mode == "ast"
    return functools.partial(_decorate, from_source) if function is None else _decorate(from_source, function)


def _check_options(options: dict) -> None:
    for key, value in options.items():
        allowed = _OPTIONS.get(key)
        if isinstance(allowed, type) and not isinstance(value, allowed):
            raise TypeError(
                f"For 'jit(options)', the type of '{key}' must be {allowed.__name__}, but got {type(value).__name__}."
            )
        if isinstance(allowed, tuple) and value not in allowed:
            raise ValueError(
                f"For 'jit(options)', the value of '{key}' must be one of {list(allowed)}, but got '{value}'."
            )


def _decorate(from_source: bool, function: Callable) -> Callable:
    if isinstance(function, type):
        return function
    if not callable(function):
        raise TypeError(
            f"For 'jit', the 'function' must be a function, a method or a Cell, but got {type(function).__name__}."
        )

    run = None

    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal run
        if run is None:  # only now are all of the module's variables there
            run = globals_first(function) if from_source and inspect.isfunction(function) else function
        before, _running.jit = _running.jit, True
        try:
            return run(*args, **kwargs)
        finally:
            _running.jit = before

    if inspect.isroutine(function):
        functools.update_wrapper(call, function)
    vars(call)["__ms_jit__"] = True
    return call


def jit_class(cls: type) -> type:
    """Mark a class whose objects `jit` functions and Cells use.

    Raises:
        TypeError: for something else than a class, and for a Cell.

    Examples:
        >>> import dist_ms as ms
        >>> @ms.jit_class
        ... class Scale:
        ...     def __init__(self, factor):
        ...         self.factor = factor
        ...     def run(self, x):
        ...         return x * self.factor
        >>> print(Scale(3).run(ms.Tensor(2.0)))
        6.0
    """
    if not isinstance(cls, type):
        raise TypeError(f"Decorator jit_class can only be used for class type, but got {cls}.")
    if hasattr(cls, "construct") and hasattr(cls, "cells_and_names"):
        raise TypeError(f"For 'jit_class', 'cls' must not be a Cell, but got {cls}: mark its methods with 'jit'.")
    cls.__ms_class__ = True  # type: ignore[attr-defined]
    return cls


class JitConfig:
    """Compiler settings for `Cell.set_jit_config`; they are checked and kept in `jit_config_dict`.

    Args:
        jit_level: "", "O0", "O1" or "O2".
        exc_mode: "auto", "sink" or "no_sink".
        jit_syntax_level: "", "STRICT" or "LAX".
        debug_level: "RELEASE" or "DEBUG".
        infer_boost: "on" or "off".
        kwargs: further settings, kept as they are.

    Raises:
        ValueError: for another value.

    Examples:
        >>> import dist_ms as ms
        >>> ms.JitConfig(jit_level="O1").jit_config_dict["jit_level"]
        'O1'
    """

    def __init__(
        self,
        jit_level: str = "",
        exc_mode: str = "auto",
        jit_syntax_level: str = "",
        debug_level: str = "RELEASE",
        infer_boost: str = "off",
        **kwargs: Any,
    ) -> None:
        _check_setting("jit_level", jit_level, ("O0", "O1", "O2"), empty=True)
        _check_setting("exc_mode", exc_mode, ("auto", "sink", "no_sink"))
        _check_setting("jit_syntax_level", jit_syntax_level, ("STRICT", "LAX"), empty=True)
        _check_setting("debug_level", debug_level, ("RELEASE", "DEBUG"))
        _check_setting("infer_boost", infer_boost, ("on", "off"))
        self.jit_config_dict = {
            **kwargs,
            "jit_level": jit_level,
            "exc_mode": exc_mode,
            "jit_syntax_level": jit_syntax_level,
            "debug_level": debug_level,
            "infer_boost": infer_boost,
        }
        if jit_level:
            self.jit_config_dict["backend"] = "GE" if jit_level == "O2" else "ms_backend"


def _check_setting(key: str, value: Any, allowed: Sequence[str], empty: bool = False) -> None:
    if not (value in allowed or (empty and value == "")):
        raise ValueError(f"For 'JitConfig', '{key}' must be one of {list(allowed)}, but got {value!r}.")


def lazy_inline(
    fn: Callable | None = None, attrs: Sequence[str] | str | None = None, policy: str | None = None
) -> Callable:
    """Decorate a Cell's `__init__`: MindSpore then compiles it once. Here the cell runs as it is.

    Args:
        fn: the `__init__` function.
        attrs: names of its parameters that tell cells of this class apart.
        policy: None or "front".

    Raises:
        ValueError: for another function than `__init__` or another policy.
        TypeError: if `attrs` is neither a string nor a list of strings.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms import nn
        >>> class Block(nn.Cell):
        ...     @ms.lazy_inline
        ...     def __init__(self):
        ...         super().__init__()
        ...     def construct(self, x):
        ...         return x + 1
        >>> print(Block()(ms.Tensor(1.0)))
        2.0
    """
    if policy not in (None, "front"):
        raise ValueError(f"For 'lazy_inline', 'policy' must be None or 'front', but got {policy!r}.")
    names = [attrs] if isinstance(attrs, str) else attrs
    if names is not None and not (isinstance(names, (list, tuple)) and all(isinstance(n, str) for n in names)):
        raise TypeError(f"For 'lazy_inline', 'attrs' must be a string or a list of strings, but got {attrs!r}.")

    def decorate(init: Callable) -> Callable:
        if getattr(init, "__name__", "") != "__init__":
            raise ValueError(
                "The lazy_inline should decorate the __init__ function, not the function: "
                f"{getattr(init, '__name__', init)}."
            )
        return init

    return decorate if fn is None else decorate(fn)


def no_inline(fn: Callable | None = None) -> Callable:
    """Decorate a function that MindSpore compiles once instead of at each call. It runs as it is.

    Raises:
        TypeError: if `fn` is not callable.

    Examples:
        >>> import dist_ms as ms
        >>> @ms.no_inline
        ... def f(x):
        ...     return x * 3 + 2
        >>> print(f(ms.Tensor(10)))
        32
    """

    def decorate(function: Callable) -> Callable:
        if not callable(function):
            raise TypeError(f"For 'no_inline', 'fn' must be a function, but got {type(function).__name__}.")
        return function

    return decorate if fn is None else decorate(fn)


def constexpr(
    fn: Callable | None = None,
    get_instance: bool = True,
    name: str | None = None,
    reuse_result: bool = True,
    check: bool = True,
) -> Any:
    """Make an operation of a function of plain values, which a compiler would call in advance.

    Args:
        fn: the function.
        get_instance: return the operation; False: its class.
        name: the operation's name; by default the function's.
        reuse_result, check: how a compiler treats its calls; here each call runs the function.

    Examples:
        >>> import dist_ms as ms
        >>> @ms.constexpr
        ... def total(n):
        ...     return sum(range(n))
        >>> total(5)
        10
    """

    def decorate(function: Callable) -> Any:
        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        op = type(
            name or function.__name__,
            (),
            {"__call__": __call__, "__doc__": function.__doc__, "__module__": function.__module__},
        )
        return op() if get_instance else op

    return decorate if fn is None else decorate(fn)


def set_recursion_limit(recursion_limit: int = 1000) -> None:
    """Set how deep calls may nest in functions that run compiled; here that is Python's own limit.

    Python's limit is raised where needed and never lowered.

    Raises:
        TypeError: if it is no int.
        ValueError: if it is not positive.

    Examples:
        >>> import dist_ms as ms
        >>> ms.set_recursion_limit(2000)
    """
    if isinstance(recursion_limit, bool) or not isinstance(recursion_limit, int):
        raise TypeError(
            f"For 'set_recursion_limit', the input value must be int, but got '{type(recursion_limit).__name__}'."
        )
    if recursion_limit <= 0:
        raise ValueError(f"For 'set_recursion_limit', the input value must be > 0, but got '{recursion_limit}'.")
    sys.setrecursionlimit(max(recursion_limit, sys.getrecursionlimit()))
