"""dot, tensor_dot, cross, kron, lerp and other products made of simpler ones."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_type
from dist_ms.common.error_classes import bools, plain
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import integer, integers, not_of, one_axis, one_dtype, tensor
from dist_ms.ops.elementwise.arithmetic import add, mul, sub
from dist_ms.ops.elementwise.division import true_divide
from dist_ms.ops.elementwise.fused import divide_add, interpolation, multiply_add
from dist_ms.ops.formula_gradient import formula_gradient
from dist_ms.ops.kernels import kronecker
from dist_ms.ops.layout import contiguous
from dist_ms.ops.linear_algebra.matmul import matmul
from dist_ms.ops.primitive import Primitive
from dist_ms.ops.shaping.reshaping import reshape
from dist_ms.ops.shaping.transposing import movedim, transpose

__all__ = [
    "Addcdiv",
    "Addcmul",
    "Cross",
    "Lerp",
    "addcdiv",
    "addcmul",
    "batch_dot",
    "cross",
    "dot",
    "kron",
    "ldexp",
    "lerp",
    "matrix_power",
    "tensor_dot",
]


def dot(input: Tensor, other: Tensor) -> Tensor:
    """Sum the products over the last dimension of one tensor and the last but one of another.

    Args:
        input: a Tensor with at least two dimensions.
        other: a Tensor with at least two dimensions.

    Returns:
        Tensor of shape input.shape[:-1] + other.shape[:-2] + other.shape[-1:].

    Raises:
        ValueError: if an input has fewer than two dimensions, or the lengths differ.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.dot(ms.Tensor([[1.0, 2.0]]), ms.Tensor([[3.0], [4.0]])))
        [[11.]]
    """
    if tensor(input, "input", "dot").ndim < 2 or tensor(other, "other", "dot").ndim < 2:
        raise ValueError(
            f"For 'dot', 'input' and 'other' must have at least 2 dimensions, but got {input.ndim} and {other.ndim}."
        )
    if input.shape[-1] != other.shape[-2]:
        raise ValueError(
            f"For 'dot', the last dimension of 'input' must equal the last but one of 'other', "
            f"but got the shapes {input.shape} and {other.shape}."
        )
    return tensor_dot(input, other, ((-1,), (-2,)))


def _dims(axes: Any) -> list[tuple]:
    """The two tuples of dimensions that `tensor_dot` takes instead of an int.

    Raises:
        TypeError: if they are none.
        ValueError: if there are not two, equally long ones, or a Tensor is in one.
    """
    pair = [(p,) if isinstance(p, int) else p for p in check_type(axes, "axes", "tensor_dot", (tuple, list))]
    if len({len(p) for p in pair if hasattr(p, "__len__")}) > 1 or len(pair) != 2:
        raise ValueError(f"For 'tensor_dot', 'axes' must be an int or two equally long tuples, but got {axes}.")
    if any(isinstance(n, Tensor) for p in pair if isinstance(p, (tuple, list)) for n in p):
        raise ValueError(f"For 'tensor_dot', 'axes' must hold ints, but got {axes}.")
    return [integers(p, "axes", "tensor_dot") for p in pair]


@bools("axes")
def tensor_dot(x1: Tensor, x2: Tensor, axes: Any) -> Tensor:
    """Sum the products over dimensions of two tensors.

    Args:
        x1: a Tensor.
        x2: a Tensor.
        axes: how many dimensions, the last of `x1` and the first of `x2`; or two tuples of dimensions.

    Returns:
        Tensor of the dimensions left, those of `x1` first.

    Raises:
        ValueError: if the lengths of the dimensions differ.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.ops.ones((2, 3), ms.float32)
        >>> print(ms.ops.tensor_dot(x, x, ((1,), (1,))))
        [[3. 3.]
         [3. 3.]]
    """
    a_ndim, b_ndim = tensor(x1, "x1", "tensor_dot").ndim, tensor(x2, "x2", "tensor_dot").ndim
    if isinstance(axes, int):
        if not 0 <= axes <= min(a_ndim, b_ndim):
            raise ValueError(f"For 'tensor_dot', 'axes' must not exceed the dimensions of the inputs, but got {axes}.")
        first, second = tuple(range(a_ndim - axes, a_ndim)), tuple(range(axes))
    else:
        pair = _dims(axes)
        first = tuple([one_axis(a, "axes", "tensor_dot", a_ndim) for a in pair[0]])
        second = tuple([one_axis(a, "axes", "tensor_dot", b_ndim) for a in pair[1]])
    if [x1.shape[a] for a in first] != [x2.shape[b] for b in second]:
        raise ValueError(
            f"For 'tensor_dot', the dimensions 'axes' names must have equal lengths, "
            f"but got {axes} for the shapes {x1.shape} and {x2.shape}."
        )
    free1 = tuple([i for i in range(a_ndim) if i not in first])
    free2 = tuple([i for i in range(b_ndim) if i not in second])
    inner = math.prod([x1.shape[a] for a in first])
    left = reshape(transpose(x1, free1 + first), (math.prod([x1.shape[i] for i in free1]), inner))
    right = reshape(transpose(x2, second + free2), (inner, math.prod([x2.shape[i] for i in free2])))
    return reshape(matmul(left, right), tuple([x1.shape[i] for i in free1] + [x2.shape[i] for i in free2]))


def batch_dot(x1: Tensor, x2: Tensor, axes: Any = None) -> Tensor:
    """Sum the products over one dimension of two tensors, for each element of a batch.

    Args:
        x1: a Tensor (batch, ...).
        x2: a Tensor (batch, ...).
        axes: the dimension of both, or a pair of dimensions; by default the last of `x1` and the
            last but one of `x2` (its last if it has two).

    Returns:
        Tensor (batch, dimensions left of x1, dimensions left of x2); (batch, 1) if none are left.

    Raises:
        ValueError: if a dimension is the batch, or the lengths differ.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.ops.ones((2, 3, 4), ms.float32)
        >>> ms.ops.batch_dot(x, x, (2, 2)).shape
        (2, 3, 3)
    """
    n1, n2 = tensor(x1, "x1", "batch_dot").ndim, tensor(x2, "x2", "batch_dot").ndim
    if n1 < 2 or n2 < 2 or x1.shape[0] != x2.shape[0]:
        raise ValueError(
            f"For 'batch_dot', the inputs must have one batch size and at least 2 dimensions, "
            f"but got the shapes {x1.shape} and {x2.shape}."
        )
    if axes is None:
        axes = (n1 - 1, n2 - 1 if n2 == 2 else n2 - 2)
    if not isinstance(axes, (int, tuple, list)):
        raise ValueError(f"For 'batch_dot', 'axes' must be an int or two of them, but got {type(axes).__name__}.")
    if not isinstance(axes, int) and len(axes) != 2:
        raise ValueError(f"For 'batch_dot', 'axes' must be an int or two of them, but got {axes}.")
    pair = (axes, axes) if isinstance(axes, int) else integers(axes, "axes", "batch_dot")
    a, b = one_axis(pair[0], "axes", "batch_dot", n1), one_axis(pair[1], "axes", "batch_dot", n2)
    if not a or not b or x1.shape[a] != x2.shape[b]:
        raise ValueError(
            f"For 'batch_dot', 'axes' must be dimensions of equal length after the batch, "
            f"but got {axes} for the shapes {x1.shape} and {x2.shape}."
        )
    k, batch = x1.shape[a], x1.shape[0]
    free1 = x1.shape[1:a] + x1.shape[a + 1 :]
    free2 = x2.shape[1:b] + x2.shape[b + 1 :]
    left = reshape(movedim(x1, a, -1), (batch, math.prod(free1), k))
    right = reshape(movedim(x2, b, 1), (batch, k, math.prod(free2)))
    return reshape(matmul(left, right), (batch, *free1, *free2) if free1 or free2 else (batch, 1))


def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """Return the vector products along a dimension of length 3.

    Args:
        input: a Tensor.
        other: a Tensor that broadcasts with it.
        dim: the dimension; by default the first of length 3.

    Returns:
        Tensor of the broadcast shape.

    Raises:
        ValueError: if the dimension is out of range or not of length 3.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.cross(ms.Tensor([1.0, 0.0, 0.0]), ms.Tensor([0.0, 1.0, 0.0])))
        [0. 0. 1.]
    """
    if tensor(input, "input", "cross")._element.kind != tensor(other, "other", "cross")._element.kind:
        raise TypeError(
            f"For 'cross', the dtypes must be of one kind, but got {input.dtype} and {other.dtype}; cast one."
        )
    for name, value in (("input", input), ("other", other)):
        if not tensor(value, name, "cross").ndim:
            raise ValueError(f"For 'cross', '{name}' must have at least 1 dimension, but got a scalar.")
    shape = np.broadcast_shapes(tensor(input, "input", "cross").shape, tensor(other, "other", "cross").shape)
    dim = None if dim is None else integer(dim, "dim", "cross")
    if dim is None or dim == -65530:  # MindSpore's mark for "not given"
        if 3 not in shape:
            raise ValueError(f"For 'cross', a dimension must have length 3, but got the shape {shape}.")
        axis = shape.index(3)
    else:
        one_axis(dim, "dim", "cross", input.ndim)
        axis = one_axis(dim, "dim", "cross", len(shape))
    if shape[axis] != 3:
        raise ValueError(f"For 'cross', the dimension must have length 3, but got {shape[axis]}.")
    x, y = (ops.unstack(ops.broadcast_to(t, shape), axis) for t in (input, ops.cast(other, input.dtype)))
    return ops.stack([sub(mul(x[i], y[j]), mul(x[j], y[i])) for i, j in ((1, 2), (2, 0), (0, 1))], axis)


def kron(input: Tensor, other: Tensor) -> Tensor:
    """Return the Kronecker product: blocks of `other`, multiplied by each element of `input`.

    Args:
        input: a Tensor.
        other: a Tensor.

    Returns:
        Tensor whose lengths are the products of the inputs' (dimensions are added in front).

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.kron(ms.Tensor([1, 10]), ms.Tensor([1, 2])))
        [ 1  2 10 20]
    """
    return _kron(tensor(input, "input", "kron"), tensor(other, "other", "kron"))


# The length of a row from which on it is a loop of its own.
_LONG = 16


class _Kron(Primitive):
    """The Kronecker product of two tensors."""

    def forward(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        wide, tall, shape = _kron_shapes(x.shape, y.shape)
        if x.ndim == y.ndim == 2 and x.dtype == y.dtype and x.dtype.char in "fd" and y.shape[1] >= _LONG:
            out = np.empty((len(x), len(y), x.shape[1], y.shape[1]), x.dtype)
            kronecker.product(contiguous(x), contiguous(y), out)
            return out.reshape(shape)
        return mul.forward(x.reshape(wide), y.reshape(tall)).reshape(shape)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        def formula(x: Tensor, y: Tensor) -> Tensor:
            wide, tall, shape = _kron_shapes(x.shape, y.shape)
            return reshape(mul(reshape(x, wide), reshape(y, tall)), shape)

        return tuple(formula_gradient(formula, inputs, dout))


_kron = _Kron()


@lru_cache(maxsize=256)
def _kron_shapes(a: tuple, b: tuple) -> tuple[tuple, tuple, tuple]:
    """Shapes of two factors that broadcast to (m, n) for each dimension of both, and that of their product."""
    ndim = max(len(a), len(b))
    a, b = (1,) * (ndim - len(a)) + a, (1,) * (ndim - len(b)) + b
    wide, tall = tuple([n for m in a for n in (m, 1)]), tuple([n for m in b for n in (1, m)])
    return wide, tall, tuple([m * n for m, n in zip(a, b)])


def lerp(input: Tensor, end: Tensor, weight: Any) -> Tensor:
    """Return input + weight * (end - input).

    Args:
        input: a Tensor of floats.
        end: a Tensor of floats that broadcasts with it.
        weight: a number, or a Tensor that broadcasts.

    Returns:
        Tensor of the broadcast shape.

    Raises:
        TypeError: if `input` or `end` is no Tensor, or `weight` neither a Tensor nor a float.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.lerp(ms.Tensor([1.0]), ms.Tensor([3.0]), 0.25))
        [1.5]
    """
    one_dtype("lerp", "fV", input=input, end=end)
    if not isinstance(weight, (Tensor, float)):
        raise TypeError(f"For 'lerp', 'weight' must be a Tensor or a float, but got {type(weight).__name__}.")
    input, end = tensor(input, "input", "lerp"), tensor(end, "end", "lerp")
    if isinstance(weight, Tensor) and weight._element != input._element:
        weight = ops.cast(not_of(weight, "?bBhHiIlLqQFD", "weight", "lerp"), input.dtype)
    return interpolation(input, end, weight)


def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, value: Any = 1) -> Tensor:
    """Return input + value * tensor1 * tensor2.

    Args:
        input: a Tensor.
        tensor1: a Tensor that broadcasts.
        tensor2: a Tensor that broadcasts.
        value: a number or a Tensor.

    Returns:
        Tensor of the broadcast shape.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.addcmul(ms.Tensor([1.0]), ms.Tensor([2.0]), ms.Tensor([3.0]), 0.5))
        [4.]
    """
    not_of(value, "?FD", "value", "addcmul")
    if isinstance(value, bool):
        raise TypeError("For 'addcmul', 'value' must be a number or a Tensor, but got a bool.")
    one_dtype("addcmul", "iufVc", input=input, tensor1=tensor1, tensor2=tensor2)
    input, tensor1 = tensor(input, "input", "addcmul"), tensor(tensor1, "tensor1", "addcmul")
    tensor2 = tensor(tensor2, "tensor2", "addcmul")
    if type(value) is int or (type(value) is float and input._element.kind in "fV"):
        return multiply_add(input, tensor1, tensor2 if value == 1 else mul(tensor2, value))
    return add(input, mul(mul(tensor1, tensor2), value))


def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, value: Any = 1) -> Tensor:
    """Return input + value * tensor1 / tensor2.

    Args:
        input: a Tensor.
        tensor1: a Tensor that broadcasts.
        tensor2: a Tensor that broadcasts.
        value: a number or a Tensor.

    Returns:
        Tensor of the broadcast shape.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.addcdiv(ms.Tensor([1.0]), ms.Tensor([3.0]), ms.Tensor([2.0]), 2))
        [4.]
    """
    if isinstance(value, bool):
        raise TypeError("For 'addcdiv', 'value' must be a number or a Tensor, but got a bool.")
    one_dtype("addcdiv", "fVc", input=input, tensor1=tensor1, tensor2=tensor2)
    operands = [tensor(x, n, "addcdiv") for n, x in (("input", input), ("tensor1", tensor1), ("tensor2", tensor2))]
    plain = type(value) is int and value == 1 and input._element.kind in "fV"
    return divide_add(*operands) if plain else add(operands[0], mul(true_divide(*operands[1:]), value))


def ldexp(x: Tensor, other: Any) -> Tensor:
    """Return x * 2**other.

    Args:
        x: a Tensor, or a number.
        other: a Tensor of exponents, or a number where `x` is a Tensor.

    Returns:
        Tensor of the broadcast shape.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.ldexp(ms.Tensor([1.5]), ms.Tensor([2])))
        [6.]
    """
    if isinstance(x, (bool, int, float)) and isinstance(other, Tensor):
        return mul(x, ops.pow(2.0, not_of(other, "FD", "other", "ldexp")))
    not_of(x, "FD", "x", "ldexp")
    not_of(other, "FD", "other", "ldexp")
    return mul(tensor(x, "x", "ldexp"), ops.pow(2.0, other) if isinstance(other, Tensor) else 2.0**other)


@plain("n")
def matrix_power(input: Tensor, n: int) -> Tensor:
    """Multiply square matrices by themselves, `n` factors in all; negative ones of the inverse.

    Args:
        input: a Tensor (..., m, m).
        n: number of factors; 0 gives the identity.

    Returns:
        Tensor of the shape of `input`.

    Raises:
        TypeError: if `n` is no int.
        ValueError: if the matrices are not square.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.matrix_power(ms.Tensor([[1.0, 1.0], [0.0, 1.0]]), 3))
        [[1. 3.]
         [0. 1.]]
    """
    not_of(input, "?eEFD", "input", "matrix_power")
    shape = tensor(input, "input", "matrix_power").shape
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise ValueError(f"For 'matrix_power', 'input' must hold square matrices, but got the shape {shape}.")
    n = integer(n, "n", "matrix_power")
    base = ops.inverse(input) if n < 0 else input
    out, n = None, abs(n)
    if n == 0:
        return ops.broadcast_to(ops.eye(shape[-1], shape[-1], input.dtype), shape) + ops.zeros_like(input)
    while n:
        if n & 1:
            out = base if out is None else matmul(out, base)
        n >>= 1
        if n:
            base = matmul(base, base)
    return out


class _Named(Primitive):
    """A function of this file as a primitive."""

    function: Any

    def __call__(self, *args: Any) -> Tensor:
        return type(self).function(*args)


class Addcmul(_Named):
    """`addcmul` as a primitive: `Addcmul()(input_data, x1, x2, value)`."""

    function = staticmethod(addcmul)


class Addcdiv(_Named):
    """`addcdiv` as a primitive: `Addcdiv()(input_data, x1, x2, value)`."""

    function = staticmethod(addcdiv)


class Lerp(_Named):
    """`lerp` as a primitive: `Lerp()(start, end, weight)`."""

    function = staticmethod(lerp)


class Cross(Primitive):
    """`cross` as a primitive: `Cross(dim)(input, other)`."""

    def __init__(self, dim: int = -65530) -> None:
        self.dim = dim

    def __call__(self, input: Tensor, other: Tensor) -> Tensor:
        return cross(input, other, self.dim)
