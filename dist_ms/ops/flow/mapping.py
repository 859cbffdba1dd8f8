"""MultitypeFuncGraph, HyperMap, Map: functions chosen by type, applied to nested values."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from dist_ms.autograd.custom import call_with_bprop
from dist_ms.common.checks import check_callable
from dist_ms.common.dtype import Number, Type, from_numpy
from dist_ms.common.tensor import Tensor
from dist_ms.ops.primitive import Primitive

__all__ = [
    "HyperMap",
    "Map",
    "Morph",
    "MultitypeFuncGraph",
    "Partial",
    "constexpr",
    "partial",
    "prim_arg_register",
    "prim_attr_register",
]

# Words for types, from the special to the general: the first that fits wins among equals.
_WORDS: dict[str, Callable[[Any], bool]] = {
    "Tensor": lambda v: isinstance(v, Tensor),
    "Bool": lambda v: isinstance(v, bool),
    "Int": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "Float": lambda v: isinstance(v, float),
    "Number": lambda v: isinstance(v, (bool, int, float, complex)),
    "String": lambda v: isinstance(v, str),
    "Tuple": lambda v: isinstance(v, tuple),
    "List": lambda v: isinstance(v, list),
    "Dict": lambda v: isinstance(v, dict),
    "None": lambda v: v is None,
    "NoneType": lambda v: v is None,
    "Function": callable,
    "Func": callable,
    "TypeType": lambda v: isinstance(v, Type),
}


class MultitypeFuncGraph:
    """A function with several bodies, chosen by the types of the arguments.

    Args:
        name: the function's name in errors.
        read_value: accepted; arguments are passed as they are.

    Examples:
        >>> import dist_ms as ms
        >>> scale = ms.ops.MultitypeFuncGraph("scale")
        >>> @scale.register("Number", "Tensor")
        ... def scale_tensor(factor, x):
        ...     return x * factor
        >>> print(scale(2, ms.Tensor([1.0, 2.0])))
        [2. 4.]
    """

    def __init__(self, name: str, read_value: bool = False) -> None:
        self.name = name
        self.read_value = read_value
        self.entries: list[tuple[tuple, Callable]] = []

    def register(self, *type_names: Any) -> Callable:
        """Return a decorator that adds a body for arguments of these types.

        Args:
            type_names: words such as "Tensor", "Number", "Tuple", or dist_ms dtypes for tensors of them.

        Raises:
            TypeError: if a name stands for no type.

        Examples:
            >>> import dist_ms as ms
            >>> double = ms.ops.MultitypeFuncGraph("double")
            >>> _ = double.register("Tensor")(lambda x: x * 2)
            >>> print(double(ms.Tensor([3])))
            [6]
        """
        tests = tuple([_test(t) for t in type_names])

        def add(function: Callable) -> Callable:
            self.entries.append((tests, function))
            return function

        return add

    def __call__(self, *args: Any) -> Any:
        for tests, function in self.entries:
            if len(tests) == len(args) and all(test(a) for test, a in zip(tests, args)):
                return function(*args)
        if len(self.entries) == 1:  # as in MindSpore: a single body takes any argument
            return self.entries[0][1](*args)
        raise ValueError(
            f"For '{self.name}', no registered function takes the argument types "
            f"({', '.join(type(a).__name__ for a in args)})."
        )


def _test(name: Any) -> Callable[[Any], bool]:
    """The test that belongs to a type's name."""
    if isinstance(name, str) and name in _WORDS:
        return _WORDS[name]
    if isinstance(name, Number):
        return lambda v: isinstance(v, Tensor) and from_numpy(v.array().dtype) == name
    if isinstance(name, type):
        return lambda v: isinstance(v, name)
    if isinstance(name, str):  # a class known only by name, such as RowTensor
        return lambda v: name in {c.__name__ for c in type(v).__mro__}
    raise TypeError(f"For 'register', a type's name must be a str, a dtype or a class, but got {name!r}.")


class HyperMap:
    """Applies a function to the elements of nested sequences, at any depth.

    Args:
        ops: the function; None if it is the first argument of each call.
        reverse: accepted; the order plays no part here.

    Raises:
        TypeError: if `ops` is neither callable nor None.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.HyperMap()(lambda x: x + 1, (1, (2, 3))))
        (2, (3, 4))
    """

    deep = True

    def __init__(self, ops: Callable | None = None, reverse: bool = False) -> None:
        if ops is not None and not callable(ops):
            raise TypeError(
                f"For '{type(self).__name__}', 'ops' must be a MultitypeFuncGraph or None, "
                f"but got {type(ops).__name__}."
            )
        self.ops, self.reverse = ops, reverse

    def __call__(self, *args: Any) -> Any:
        function, values = (self.ops, args) if self.ops is not None else (args[0], args[1:])
        return self._apply(function, values, True)

    def _apply(self, function: Callable, values: tuple, top: bool) -> Any:
        if not (top or self.deep) or not all(isinstance(v, (tuple, list)) for v in values):
            return function(*values)
        if len({len(v) for v in values}) > 1:
            raise ValueError(
                f"For '{type(self).__name__}', the sequences must have one length, but got {[len(v) for v in values]}."
            )
        return tuple([self._apply(function, row, False) for row in zip(*values)])


class Map(HyperMap):
    """Applies a function to the elements of sequences, one level deep.

    Args:
        ops: the function; None if it is the first argument of each call.
        reverse: accepted; the order plays no part here.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.Map()(lambda x, y: x + y, (1, 2), (3, 4)))
        (4, 6)
    """

    deep = False


class Morph(Primitive):
    """A function as an operation, with a gradient of its own or that of what it does.

    Args:
        fn: the function.
        infer_shape, infer_dtype: functions, which MindSpore's compiler calls; not called here.
        bprop_fn: the function's gradient: takes its arguments, its result and the result's gradient, and returns the
            gradients of the arguments. None: gradients flow through what `fn` does.

    Raises:
        TypeError: if an argument is no function.

    Examples:
        >>> import dist_ms as ms
        >>> twice = ms.ops.Morph(lambda x: 2 * x, lambda *s: s[0], lambda *d: d[0])
        >>> print(ms.grad(twice)(ms.Tensor([1.0])))
        [2.]
    """

    def __init__(
        self, fn: Callable, infer_shape: Callable, infer_dtype: Callable, bprop_fn: Callable | None = None
    ) -> None:
        for name, value in (("fn", fn), ("infer_shape", infer_shape), ("infer_dtype", infer_dtype)):
            check_callable(value, name, self.name)
        if bprop_fn is not None:
            check_callable(bprop_fn, "bprop_fn", self.name)
        self.fn, self.infer_shape, self.infer_dtype, self.bprop = fn, infer_shape, infer_dtype, bprop_fn

    def construct(self, *args: Any) -> Any:
        """What `fn` returns, outside any gradient."""
        return self.fn(*args)

    def __call__(self, *args: Any) -> Any:
        return self.fn(*args) if self.bprop is None else call_with_bprop(self, self.construct, args, {})


def partial(func: Callable, *args: Any, **kwargs: Any) -> Callable:
    """Fix the first arguments of a function.

    Args:
        func: the function.
        args: its first arguments.
        kwargs: keyword arguments.

    Returns:
        the function of the rest.

    Raises:
        TypeError: if `func` is not callable.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.partial(max, 3)(5)
        5
    """
    return functools.partial(func, *args, **kwargs)


class Partial(Primitive):
    """`partial` as a primitive: `Partial()(func, *args, **kwargs)`."""

    def __call__(self, func: Callable, *args: Any, **kwargs: Any) -> Callable:
        return partial(func, *args, **kwargs)


def constexpr(
    fn: Callable | None = None,
    get_instance: bool = True,
    name: str | None = None,
    reuse_result: bool = True,
    check: bool = True,
) -> Callable:
    """Mark a function of Python values, which a compiler may compute beforehand. Here it just runs.

    Args:
        fn: the function; None when used with arguments.
        get_instance, name, reuse_result, check: accepted; there is no compiler to tell.

    Returns:
        the function.

    Examples:
        >>> import dist_ms as ms
        >>> @ms.ops.constexpr
        ... def half(n):
        ...     return n // 2
        >>> half(5)
        2
    """
    return fn if fn is not None else lambda f: f


def prim_attr_register(fn: Callable) -> Callable:
    """Decorate a primitive's `__init__`: its arguments become attributes of the same names.

    Args:
        fn: the `__init__`.

    Returns:
        the decorated `__init__`.

    Examples:
        >>> import dist_ms as ms
        >>> class Scale(ms.ops.Primitive):
        ...     @ms.ops.prim_attr_register
        ...     def __init__(self, factor=1):
        ...         pass
        >>> Scale(3).factor
        3
    """
    signature = inspect.signature(fn)

    @functools.wraps(fn)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        for key, value in list(bound.arguments.items())[1:]:
            setattr(self, key, value)
        fn(self, *args, **kwargs)

    return init


def prim_arg_register(fn: Callable) -> Callable:
    """Decorate a primitive's `__init__`: its arguments become attributes of the same names, as `prim_attr_register`.

    Args:
        fn: the `__init__`.

    Returns:
        the decorated `__init__`.

    Examples:
        >>> import dist_ms as ms
        >>> class Scale(ms.ops.PrimitiveWithCheck):
        ...     @ms.ops.prim_arg_register
        ...     def __init__(self, factor=1):
        ...         pass
        >>> Scale(3).factor
        3
    """
    return prim_attr_register(fn)
