"""Tensor's methods that change the type, copy, make new tensors, and tell facts."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_type, complaint
from dist_ms.common.dtype import Number
from dist_ms.common.error_classes import plain
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import boolean, data_type, integer, scalar, tensor
from dist_ms.ops.creating.casting import cast_array


def astype(self: Tensor, dtype: Any, copy: builtins.bool = True) -> Tensor:
    """Return the values in another element type; memory is shared if it is the same.

    Args:
        dtype: a dist_ms dtype, its name, or a Python or NumPy type.
        copy: accepted, as in MindSpore.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([1.7]).astype("int32"))
        [1]
    """
    if dtype is None:
        raise TypeError(complaint("dtype", "Tensor.astype", "a dtype such as dist_ms.float32", None))
    return cast_array(self, np.dtype(np.float64) if dtype is builtins.float else mstype.to_numpy(dtype))


def to(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """`to(dtype)`, `to(device, dtype)` or `to(other)`: the values in another element type.

    Each form takes `non_blocking`, which changes nothing on a CPU, and `copy`, which asks for memory of its own.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: for another device.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([1.7]).to(ms.float16).dtype)
        Float16
    """

    def to_device(
        device: str | None = None, dtype: Any = None, non_blocking: bool = False, copy: bool = False
    ) -> Tensor:
        if device is not None and check_type(device, "device", "Tensor.to", str).upper() != "CPU":
            raise ValueError(f"For 'Tensor.to', 'device' must be 'CPU', but got {device!r}: dist_ms runs on CPUs.")
        return to_dtype(self.dtype if dtype is None else dtype, non_blocking, copy)

    def to_dtype(dtype: Any, non_blocking: bool = False, copy: bool = False) -> Tensor:
        boolean(non_blocking, "non_blocking", "Tensor.to")
        out = self if data_type(dtype, "dtype", "Tensor.to") == self.dtype else ops.cast(self, dtype)
        return clone(out) if boolean(copy, "copy", "Tensor.to") and out is self else out

    def to_other(other: Tensor, non_blocking: bool = False, copy: bool = False) -> Tensor:
        return to_dtype(tensor(other, "other", "Tensor.to").dtype, non_blocking, copy)

    first = args[0] if args else None
    if isinstance(first, Number):
        return to_dtype(*args, **kwargs)
    return (to_other if isinstance(first, Tensor) or "other" in kwargs else to_device)(*args, **kwargs)


def type(self: Tensor, dtype: Any = None) -> Any:
    """Return the name of the element type, or the values in another one.

    Examples:
        >>> import dist_ms as ms
        >>> ms.Tensor([1.0]).type()
        'Float32'
    """
    return str(self.dtype) if dtype is None else astype(self, dtype)


def _caster(name: str, dtype: Number) -> Any:
    def method(self: Tensor) -> Tensor:
        return cast_array(self, dtype.np)

    method.__name__, method.__qualname__ = name, f"Tensor.{name}"
    method.__doc__ = f"Return the values as {dtype}."
    return method


for _name, _dtype in {
    "bool": mstype.bool_,
    "byte": mstype.uint8,
    "short": mstype.int16,
    "int": mstype.int32,
    "long": mstype.int64,
    "half": mstype.float16,
    "bfloat16": mstype.bfloat16,
    "float": mstype.float32,
    "double": mstype.float64,
}.items():
    setattr(Tensor, _name, _caster(_name, _dtype))


def item(self: Tensor) -> Any:
    """Return the only element as a Python number.

    Raises:
        ValueError: if there are more, or none.

    Examples:
        >>> import dist_ms as ms
        >>> ms.Tensor([1.5]).item()
        1.5
    """
    array = self.array()
    if array.size != 1:
        raise ValueError(f"For 'Tensor.item', the tensor must have one element, but got the shape {array.shape}.")
    return array.reshape(()).item()


def tolist(self: Tensor) -> Any:
    """Return the elements as nested lists of Python numbers, or as one number.

    Examples:
        >>> import dist_ms as ms
        >>> ms.Tensor([[1, 2]]).tolist()
        [[1, 2]]
    """
    return self.array().tolist()


def clone(self: Tensor) -> Tensor:
    """Return a copy with memory of its own; gradients pass.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([1, 2]).clone())
        [1 2]
    """
    from dist_ms.ops.flow.debugging import copied

    return copied(self)


def copy(self: Tensor) -> Tensor:
    """Return a copy with memory of its own; gradients pass.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([1, 2]).copy())
        [1 2]
    """
    from dist_ms.ops.flow.debugging import copied

    return copied(self)


def contiguous(self: Tensor) -> Tensor:
    """Return the tensor with its elements row by row in memory: itself if they are so already.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.zeros((2, 3)).T.contiguous().is_contiguous()
        True
    """
    from dist_ms.ops.flow.debugging import row_major

    return self if self.array().flags.c_contiguous else row_major(self)


def is_contiguous(self: Tensor) -> builtins.bool:
    """Tell whether the elements lie row by row in memory.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.zeros((2, 3)).T.is_contiguous()
        False
    """
    return self.array().flags.c_contiguous


def stride(self: Tensor, dim: builtins.int | None = None) -> Any:
    """Return how many elements to step for each dimension, or for one.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.zeros((2, 3)).stride()
        [3, 1]
    """
    array = self.array()
    steps = [s // array.itemsize for s in array.strides]
    if not array.size:
        steps = [math.prod(array.shape[k + 1 :]) for k in range(array.ndim)]
    return steps if dim is None else steps[dim]


def storage_offset(self: Tensor) -> builtins.int:
    """Return how many elements of its memory lie before the tensor's first one.

    Examples:
        >>> import dist_ms as ms
        >>> ms.Tensor([1, 2, 3])[1:].storage_offset()
        1
    """
    array = self.array()
    base = array
    while isinstance(base.base, np.ndarray):
        base = base.base
    return (array.__array_interface__["data"][0] - base.__array_interface__["data"][0]) // self.itemsize


def data_ptr(self: Tensor) -> builtins.int:
    """Return the address of the first element.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([1, 2])
        >>> x.data_ptr() == x.reshape(2, 1).data_ptr()
        True
    """
    return self.array().__array_interface__["data"][0]


def is_signed(self: Tensor) -> builtins.bool:
    """Tell whether the dtype has negative numbers.

    Examples:
        >>> import dist_ms as ms
        >>> ms.Tensor([1], ms.uint8).is_signed()
        False
    """
    return self.array().dtype.kind not in "bu"


def dim(self: Tensor) -> builtins.int:
    """Return the number of dimensions.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.zeros((2, 3)).dim()
        2
    """
    return len(self.shape)


def get_bytes(self: Tensor) -> bytes:
    r"""Return the elements' bytes, row by row.

    Examples:
        >>> import dist_ms as ms
        >>> ms.Tensor([65, 66], ms.uint8).get_bytes()
        b'AB'
    """
    return self.array().tobytes()


@plain("size")
def new_zeros(self: Tensor, size: Any, dtype: Any = None) -> Tensor:
    """Make a tensor of zeros with the dtype of this one.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([1]).new_zeros((2,)))
        [0 0]
    """
    return ops.zeros(_size(size, "new_zeros"), _like(self, dtype, "new_zeros"))


def _size(size: Any, name: str) -> Any:
    """A shape that is not given as a Tensor of several numbers.

    Raises:
        TypeError: if it is.
    """
    if isinstance(size, Tensor) and size.ndim:
        raise TypeError(complaint("size", f"Tensor.{name}", "an int or a tuple or list of ints", "a Tensor"))
    return size


def _like(x: Tensor, dtype: Any, name: str) -> Number:
    """The dtype that is given, or the tensor's."""
    return x.dtype if dtype is None else data_type(dtype, "dtype", f"Tensor.{name}")


@plain("size")
def new_ones(self: Tensor, size: Any, dtype: Any = None) -> Tensor:
    """Make a tensor of ones with the dtype of this one.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([1]).new_ones((2,)))
        [1 1]
    """
    return ops.ones(_size(size, "new_ones"), _like(self, dtype, "new_ones"))


def new_full(self: Tensor, size: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """Make a tensor of one number with the dtype of this one.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([1]).new_full((2,), 7))
        [7 7]
    """
    if isinstance(fill_value, Tensor) and fill_value.ndim:
        raise TypeError(complaint("fill_value", "Tensor.new_full", "a number", f"a Tensor of {fill_value.shape}"))
    return ops.full(_size(size, "new_full"), fill_value, dtype=_like(self, dtype, "new_full"))


def new_empty(self: Tensor, size: Any, *, dtype: Any = None, device: str | None = None) -> Tensor:
    """Make a tensor of any values (zeros, here) with the dtype of this one.

    Examples:
        >>> import dist_ms as ms
        >>> ms.Tensor([1]).new_empty((2,)).shape
        (2,)
    """
    return ops.zeros(_size(size, "new_empty"), _like(self, dtype, "new_empty"))


def fill(self: Tensor, value: Any) -> Tensor:
    """Make a tensor of one number like this one; None stands for 0.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([1.0, 2.0]).fill(3))
        [3. 3.]
    """
    return ops.full_like(self, 0 if value is None else value)


@plain("index", owner="Tensor.itemset")
def itemset(self: Tensor, *args: Any) -> Tensor:
    """Return a copy with one element replaced: `itemset(value)` or `itemset(index, value)`.

    Raises:
        TypeError: if the index is no int or tuple, or the value no number.
        ValueError: if there are more arguments, or the value is a tensor of several elements.
        IndexError: if there is no such element, or no index where there are several.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([1.0, 2.0]).itemset(0, 5.0))
        [5. 2.]
    """
    array, owner = self.array().copy(), "Tensor.itemset"
    if not 0 < len(args) < 3:
        raise ValueError(
            f"For '{owner}', there must be a value, or an index and a value, but got {len(args)} arguments."
        )
    if len(args) == 1 and array.size != 1:
        raise IndexError(f"For '{owner}', an index must be given with a tensor of the shape {array.shape}.")
    index, value = args if len(args) == 2 else (0, args[0])
    if isinstance(value, Tensor) and value.ndim:
        raise ValueError(f"For '{owner}', 'value' must be a number, but got a Tensor of the shape {value.shape}.")
    value = scalar(value)
    if not isinstance(value, (int, float, complex, np.number)):
        raise TypeError(f"For '{owner}', 'value' must be a number, but got {builtins.type(value).__name__}.")
    if isinstance(index, tuple):
        index = tuple([integer(i, "index", owner) for i in index])
        if len(index) != array.ndim:
            raise IndexError(f"For '{owner}', 'index' must have {array.ndim} numbers, but got {index}.")
        array[index] = value
    else:
        array.flat[integer(index, "index", owner)] = value
    return wrap(array)


for _method in (
    astype,
    to,
    type,
    item,
    tolist,
    clone,
    copy,
    contiguous,
    is_contiguous,
    stride,
    storage_offset,
    data_ptr,
    is_signed,
    dim,
    get_bytes,
    new_zeros,
    new_ones,
    new_full,
    new_empty,
    fill,
    itemset,
):
    setattr(Tensor, _method.__name__, _method)
Tensor.ndimension = dim
