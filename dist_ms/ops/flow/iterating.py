"""How a compiler goes through containers, as plain functions: first and rest, zipped, reduced; and expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dist_ms.common.checks import check_callable, check_elements, check_shape, check_string, check_type, complaint
from dist_ms.common.tensor import Tensor
from dist_ms.ops.primitive import Primitive

__all__ = [
    "PyExecute",
    "array_reduce",
    "is_dynamic_sequence_element_unknown",
    "iter_converter",
    "ms_hasnext",
    "ms_next",
    "zip_operation",
]

_CONTAINERS = (tuple, list, dict, str, Tensor)


def iter_converter(x: Any) -> Any:
    """What is gone through in a container: the keys of a dict as a tuple, any other as it is.

    Args:
        x: a tuple, list, dict, str or Tensor.

    Raises:
        TypeError: for anything else, and for a Tensor without dimensions.

    Examples:
        >>> from dist_ms import ops
        >>> ops.iter_converter({"a": 1, "b": 2})
        ('a', 'b')
    """
    if not isinstance(x, _CONTAINERS):
        raise TypeError(f"'{type(x).__name__}' object is not iterable")
    if isinstance(x, Tensor) and x.ndim == 0:
        raise TypeError("iteration over a 0-d tensor")
    return tuple(x) if isinstance(x, dict) else x


def ms_hasnext(x: Any) -> bool:
    """Whether a container has an element.

    Args:
        x: a tuple, list, dict, str or Tensor.

    Examples:
        >>> from dist_ms import ops
        >>> ops.ms_hasnext((1,)), ops.ms_hasnext("")
        (True, False)
    """
    iter_converter(x)
    return (x.shape[0] if isinstance(x, Tensor) else len(x)) > 0


def ms_next(x: Any) -> tuple[Any, Any]:
    """The first element of a container, of a dict its key, and a container of the rest.

    Args:
        x: a tuple, list, dict, str or Tensor.

    Raises:
        ValueError: if it is empty.

    Examples:
        >>> from dist_ms import ops
        >>> ops.ms_next((1, 2, 3)), ops.ms_next({"a": 1, "b": 2})
        ((1, (2, 3)), ('a', {'b': 2}))
    """
    if not ms_hasnext(x):
        raise ValueError(complaint("x", "ms_next", "a container with elements", "an empty one"))
    if isinstance(x, dict):
        first, *others = x
        return first, {key: x[key] for key in others}
    return x[0], x[1:]


def zip_operation(*containers: Any) -> tuple:
    """Tuples of the elements at one place of several containers, as many as the shortest has.

    Args:
        containers: at least one tuple, list, dict, str or Tensor.

    Raises:
        RuntimeError: without a container.
        TypeError: if one is something else.

    Examples:
        >>> from dist_ms import ops
        >>> ops.zip_operation((1, 2), [3, 4, 5])
        ((1, 3), (2, 4))
    """
    if not containers:
        raise RuntimeError(complaint("containers", "zip_operation", "at least one", "none"))
    return tuple(zip(*(iter_converter(x) for x in containers)))


def array_reduce(fn: Callable, x: Tensor, shape: Sequence[int]) -> Tensor:
    """Reduce a tensor to a shape by a function of two tensors.

    MindSpore's compiler has the name from Myia, whose meaning this is: an axis of length 1 in `shape` is reduced,
    leading axes that `shape` has not are reduced and dropped, and every other length stays.

    Args:
        fn: takes two tensors of one shape and returns such a tensor; associative.
        x: the tensor.
        shape: its axes, counted from the last, are those of `x` or 1.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if `x` cannot be reduced to `shape`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.array_reduce(ms.ops.maximum, ms.Tensor([[1.0, 5.0], [3.0, 2.0]]), (1, 2)))
        [[3. 5.]]
    """
    check_callable(fn, "fn", "array_reduce")
    check_type(x, "x", "array_reduce", Tensor)
    wanted = check_shape(shape, "shape", "array_reduce")
    extra = x.ndim - len(wanted)
    if extra < 0 or any(w not in (1, n) for w, n in zip(wanted, x.shape[extra:])) or 0 in x.shape:
        raise ValueError(complaint("shape", "array_reduce", f"lengths of {x.shape} or 1", wanted))
    for axis in range(x.ndim):
        if axis >= extra and wanted[axis - extra] == x.shape[axis]:
            continue
        before = (slice(None),) * axis
        total = x[(*before, slice(0, 1))]
        for place in range(1, x.shape[axis]):
            total = fn(total, x[(*before, slice(place, place + 1))])
        x = total
    return x.reshape(wanted)


def is_dynamic_sequence_element_unknown(x: Sequence) -> bool:
    """Whether nothing is known of the elements of a sequence of varying length: it has none.

    Args:
        x: from `mutable(..., dynamic_len=True)`.

    Raises:
        TypeError: for a sequence of fixed length, as in MindSpore.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.is_dynamic_sequence_element_unknown(ms.mutable([], dynamic_len=True))
        True
    """
    check_type(x, "x", "is_dynamic_sequence_element_unknown", (tuple, list))
    if not getattr(x, "__ms_dynamic_len__", False):
        raise TypeError(complaint("x", "is_dynamic_sequence_element_unknown", "a sequence of varying length", x))
    return not x


class PyExecute(Primitive):
    """Evaluates a Python expression whose names are given values.

    Inputs:
        - **script** (str): the expression. It is evaluated as Python code: do not give it what you do not trust.
        - **names** (tuple[str]): its names.
        - **values** (tuple): their values.

    Returns:
        What the expression gives.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if there are not as many values as names.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.PyExecute()("a + b", ("a", "b"), (ms.Tensor(1), 2)))
        3
    """

    def __call__(self, script: str, names: Sequence[str], values: Sequence) -> Any:
        check_string(script, "script", self.name)
        check_elements(names, "names", self.name, str)
        if len(names) != len(values):
            raise ValueError(complaint("values", self.name, f"{len(names)} of them, as many as names", len(values)))
        return eval(script, dict(zip(names, values)))
