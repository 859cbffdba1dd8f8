"""What `mindspore.ops.functional` has for numbers, tuples, lists and dicts, and other small things of private paths.

In MindSpore a compiler needs an operation for each of these; here they are Python's own.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes

from dist_ms import ops
from dist_ms.common import dtype as mstype
from dist_ms.common.random.seed import operation_seeds
from dist_ms.common.tensor import Tensor
from dist_ms.common.tensor.sparse_tensor import RowTensor
from dist_ms.common.type_classes import TensorType
from dist_ms.nn import Cell

__all__ = [
    *("array_to_scalar", "bool_and", "bool_eq", "bool_not", "bool_or", "broadcast_gradient_args", "dict_getitem"),
    *(
        "dict_setitem",
        "in_dict",
        "is_",
        "is_not",
        "isconstant",
        "list_equal",
        "list_getitem",
        "list_len",
        "list_setitem",
    ),
    *("make_dict", "make_list", "make_range", "make_slice", "make_tuple", "mixed_precision_cast", "not_in_dict"),
    *(
        "reduced_shape",
        "scalar_add",
        "scalar_div",
        "scalar_eq",
        "scalar_floordiv",
        "scalar_ge",
        "scalar_gt",
        "scalar_le",
    ),
    *("scalar_log", "scalar_lt", "scalar_max", "scalar_min", "scalar_mod", "scalar_mul", "scalar_ne", "scalar_pow"),
    *(
        "scalar_sub",
        "scalar_uadd",
        "scalar_usub",
        "shape_mul",
        "stop_gradient_",
        "string_concat",
        "string_eq",
        "switch",
    ),
    *("tuple_div", "tuple_equal", "tuple_getitem", "tuple_len", "tuple_reversed", "tuple_setitem"),
]

BFLOAT16 = ml_dtypes.bfloat16
CELLS_COMPILED: dict = {}  # no network is compiled, so it stays empty; scripts clear it


def _of_one(function: Callable) -> Callable:
    """A function of a number, by MindSpore's name for it."""
    return lambda x: function(x)


def _of_two(function: Callable) -> Callable:
    """A function of two numbers, by MindSpore's names for them."""
    return lambda x, y: function(x, y)


scalar_add, scalar_sub, scalar_mul = map(_of_two, (operator.add, operator.sub, operator.mul))
scalar_div, scalar_floordiv, scalar_mod = map(_of_two, (operator.truediv, operator.floordiv, operator.mod))
scalar_eq, scalar_ne, scalar_lt = map(_of_two, (operator.eq, operator.ne, operator.lt))
scalar_le, scalar_gt, scalar_ge = map(_of_two, (operator.le, operator.gt, operator.ge))
scalar_pow, scalar_max, scalar_min = map(_of_two, (operator.pow, max, min))
scalar_uadd, scalar_usub, scalar_log = map(_of_one, (operator.pos, operator.neg, math.log))
bool_not, bool_eq, string_eq, string_concat = operator.not_, operator.eq, operator.eq, operator.add
is_, is_not, tuple_equal, list_equal = operator.is_, operator.is_not, operator.eq, operator.eq
tuple_len = list_len = len
tuple_getitem = list_getitem = dict_getitem = operator.getitem
make_slice = slice
_cast, reshape_ = ops.cast, ops.reshape


def make_range(*limits: int) -> tuple:
    """The numbers of a range as a tuple.

    Examples:
        >>> from dist_ms.compat.inner.plain_values import make_range
        >>> make_range(1, 7, 2)
        (1, 3, 5)
    """
    return tuple(range(*limits))


def make_tuple(*elements: Any) -> tuple:
    """A tuple of the arguments."""
    return elements


def make_list(*elements: Any) -> list:
    """A list of the arguments."""
    return list(elements)


def make_dict(keys: Sequence, values: Sequence) -> dict:
    """A dict of keys and their values."""
    return dict(zip(keys, values, strict=True))


def tuple_setitem(elements: tuple, index: int, value: Any) -> tuple:
    """A tuple with one element replaced.

    Examples:
        >>> from dist_ms.compat.inner.plain_values import tuple_setitem
        >>> tuple_setitem((4, 5), 1, 9)
        (4, 9)
    """
    return tuple(list_setitem(list(elements), index, value))


def list_setitem(elements: list, index: int, value: Any) -> list:
    """A list with one element replaced; the one given stays as it is."""
    changed = list(elements)
    changed[index] = value
    return changed


def dict_setitem(entries: dict, key: Any, value: Any) -> dict:
    """A dict with one value replaced or added; the one given stays as it is."""
    return {**entries, key: value}


def in_dict(key: Any, entries: dict) -> bool:
    """Whether a dict has a key."""
    return key in entries


def not_in_dict(key: Any, entries: dict) -> bool:
    """Whether a dict does not have a key."""
    return key not in entries


def tuple_reversed(elements: tuple) -> tuple:
    """A tuple in reverse order."""
    return elements[::-1]


def tuple_div(x: tuple, y: tuple) -> tuple:
    """The whole quotients of two tuples' elements.

    Raises:
        ValueError: if the lengths differ.
    """
    return tuple(a // b for a, b in zip(x, y, strict=True))


def bool_and(x: bool, y: bool) -> bool:
    """Whether both are true."""
    return x and y


def bool_or(x: bool, y: bool) -> bool:
    """Whether one is true."""
    return x or y


def shape_mul(input_data: Sequence[int]) -> int:
    """The number of elements of a shape."""
    return math.prod(input_data)


def reduced_shape(shape: Sequence[int], axis: Sequence[int]) -> tuple:
    """A shape with 1 in place of the reduced axes; no axes are all.

    Examples:
        >>> from dist_ms.compat.inner.plain_values import reduced_shape
        >>> reduced_shape((2, 3), (1,)), reduced_shape((2, 3), ())
        ((2, 1), (1, 1))
    """
    reduced = {a % len(shape) for a in axis} or {*range(len(shape))}
    return tuple(1 if i in reduced else n for i, n in enumerate(shape))


def broadcast_gradient_args(x_shape: Sequence[int], y_shape: Sequence[int]) -> tuple[tuple, tuple]:
    """Along which axes of the broadcast shape the gradient of each operand is added up.

    Examples:
        >>> from dist_ms.compat.inner.plain_values import broadcast_gradient_args
        >>> broadcast_gradient_args((2, 3), (3,))
        ((), (0,))
    """
    rank = max(len(x_shape), len(y_shape))
    x, y = ((1,) * (rank - len(s)) + tuple(s) for s in (x_shape, y_shape))
    missing = [(i < rank - len(x_shape), i < rank - len(y_shape)) for i in range(rank)]
    one = [(a == 1 and b != 1, b == 1 and a != 1) for a, b in zip(x, y)]
    return tuple(tuple(i for i in range(rank) if missing[i][k] or one[i][k]) for k in (0, 1))  # type: ignore[return-value]


def mixed_precision_cast(dst_dtype: Any, x: Any) -> Any:
    """Tensors of a float type in another float type, also those in a tuple or list; anything else as it is.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.compat.inner.plain_values import mixed_precision_cast
        >>> [str(v.dtype) for v in mixed_precision_cast(ms.float16, (ms.Tensor([1.5]), ms.Tensor([1])))]
        ['Float16', 'Int64']
    """
    if isinstance(x, (tuple, list)):
        return type(x)(mixed_precision_cast(dst_dtype, v) for v in x)
    return ops.cast(x, dst_dtype) if isinstance(x, Tensor) and x.dtype.is_floating_point else x


def array_to_scalar(x: Tensor) -> Any:
    """The one number of a tensor."""
    return x.item()


def isconstant(x: Any) -> bool:
    """Whether a value is known; as nothing is compiled, it always is."""
    return True


def switch(condition: Any, if_true: Any, if_false: Any) -> Any:
    """One of two values, by a condition."""
    return if_true if condition else if_false


def stop_gradient_(input: Tensor) -> Tensor:
    """Cut a tensor itself off from its gradient, and return it.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.compat.inner.plain_values import stop_gradient_
        >>> print(ms.grad(lambda x: stop_gradient_(x * 2) * x)(ms.Tensor(3.0)))
        6.0
    """
    input._node = None
    return input


def typeof(x: Any) -> Any:
    """The type of a value: of a tensor with its elements', of anything else that of its Python type.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.compat.inner.plain_values import typeof
        >>> typeof(ms.Tensor([1.0])), typeof(1)
        (mindspore.tensor[float32], mindspore.int64)
    """
    return TensorType(x.dtype) if isinstance(x, Tensor) else mstype.get_py_obj_dtype(x)


def is_tensor_bool_cond(x: Tensor) -> bool:
    """A tensor of one element as a condition.

    Raises:
        ValueError: if it has several.
    """
    if x.shape not in ((), (1,)):
        raise ValueError(f"For 'is_tensor_bool_cond', 'x' must be of the shape () or (1,), but got {x.shape}.")
    return bool(x)


def make_row_tensor(indices: Tensor, values: Tensor, dense_shape: tuple) -> RowTensor:
    """A tensor of which some rows are kept, and the others are zeros."""
    return RowTensor(indices, values, dense_shape)


def row_tensor_get_values(x: RowTensor) -> Tensor:
    """The rows that are kept."""
    return x.values


def row_tensor_get_indices(x: RowTensor) -> Tensor:
    """The places of the rows that are kept."""
    return x.indices


def row_tensor_get_dense_shape(x: RowTensor) -> tuple:
    """The shape with all rows."""
    return x.dense_shape


def add_flags(fn: Any = None, **flags: Any) -> Any:
    """Give a function or Cell flags that MindSpore's compiler reads, and return it.

    Args:
        fn: the function; without it a decorator is returned.
        flags: names and values.

    Examples:
        >>> from dist_ms.compat.inner.plain_values import add_flags
        >>> add_flags(lambda x: x, has_effect=True)._func_graph_flags
        {'has_effect': True}
    """
    if fn is None:
        return functools.partial(add_flags, **flags)
    if isinstance(fn, Cell):
        fn.add_flags(**flags)
    else:
        fn._func_graph_flags = {**getattr(fn, "_func_graph_flags", {}), **flags}
    return fn


def core(fn: Any = None, **flags: Any) -> Any:
    """Mark a function as one of MindSpore's core functions, which its compiler reads, and return it."""
    return add_flags(fn, core=True, **flags)


def _get_graph_seed(op_seed: int | None, kernel_name: str) -> tuple[int, int]:
    """The seeds of a random operation: the global one, and the operation's own, which moves on from call to call."""
    return operation_seeds(kernel_name, op_seed)


def disable_multi_thread() -> None:
    """Have operations run in the thread that calls them: here they always do."""


def _set_cur_net(net: Any) -> None:
    """Tell callbacks the network in training: here they find it in what they are called with.

    Raises:
        TypeError: if it is neither a Cell nor None.
    """
    if net is not None and not isinstance(net, Cell):
        raise TypeError(f"For '_set_cur_net', 'net' must be a Cell or None, but got {type(net).__name__}.")
