"""norm, LpNorm, L2Loss and their kin: lengths of vectors and matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_float, check_int, check_type
from dist_ms.common.error_classes import plain, raises, reads, scalars, truths
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import boolean, floating, integer, integers, many_axes, not_of, one_axis, scalar, tensor
from dist_ms.ops.creating.casting import cast_array
from dist_ms.ops.elementwise.arithmetic import add, mul, square, sub
from dist_ms.ops.elementwise.division import div_no_nan, true_divide
from dist_ms.ops.elementwise.powers import as_float
from dist_ms.ops.kernels import axis_reduction as kernels
from dist_ms.ops.linear_algebra.decompositions import singular_values
from dist_ms.ops.primitive import Primitive, quiet
from dist_ms.ops.reducing.reduction import ReduceSum, Reduction
from dist_ms.ops.shaping.reshaping import reshape

__all__ = [
    "L2Loss",
    "LpNorm",
    "Renorm",
    "SquareSumAll",
    "dist",
    "matrix_norm",
    "norm",
    "renorm",
    "vector_norm",
]


_KERNELS = {1: "absolute_sum", 2: "length"}


class VectorNorm(Reduction):
    """The p-norm over dimensions: (sum |x|^p)^(1/p); its gradient at 0 is 0.

    Args:
        p: any number, or plus or minus infinity; 0 counts the elements that are not 0.
        keep_dims: keep the reduced dimensions with length 1.
    """

    keeps = (0,)
    keeps_output = True

    def __init__(self, p: float = 2, keep_dims: bool = False) -> None:
        super().__init__(keep_dims)
        self.p = p

    @quiet
    def forward(self, x: np.ndarray, axis: Any = ()) -> np.ndarray:
        axes = self.axes(x, axis)
        x = as_float(self.name, x)
        op = _KERNELS.get(self.p) if x.dtype.kind != "c" else None
        found = kernels.reduce_axes(x, axes, op, self.keep_dims) if op else None
        if found is not None:
            return found
        size = np.abs(x.astype(np.float32) if x.dtype.itemsize == 2 else x)
        keep = self.keep_dims
        if self.p == 0:
            out = (size != 0).sum(axes, keepdims=keep)
        elif math.isinf(self.p):
            out = size.max(axes, keepdims=keep, initial=0) if self.p > 0 else size.min(axes, keepdims=keep)
        elif self.p == 2:
            out = np.sqrt(np.square(size).sum(axes, keepdims=keep))
        else:
            out = (size**self.p).sum(axes, keepdims=keep) ** (1 / self.p)
        return np.asarray(out).astype(size.real.dtype if x.dtype.kind == "c" else x.dtype, copy=False)

    def gradient(self, inputs: tuple, output: Tensor, dout: Tensor) -> tuple:
        x, axis = inputs
        y, dy = self.kept(output, x, axis), self.kept(dout, x, axis)
        if self.p == 0:
            return mul(x, 0), None
        if self.p == 2:
            return mul(x, div_no_nan(dy, y)), None
        size = ops.abs(x)
        if math.isinf(self.p):
            chosen = ops.cast(ops.equal(size, y), dout.dtype)
            axes = many_axes(axis, "axis", self.name, x.ndim)
            share = true_divide(dy, ReduceSum(True)(chosen, axes) if axes else chosen)
            return mul(mul(chosen, share), ops.sign(x)), None
        if self.p == 1:
            return mul(ops.sign(x), dy), None
        zero = ops.equal(size, 0)
        slope = ops.pow(ops.where(zero, ops.ones_like(size), size), self.p - 1)
        slope = ops.where(zero, ops.zeros_like(size), mul(slope, ops.sign(x)))
        return mul(slope, div_no_nan(dy, ops.pow(ops.where(ops.equal(y, 0), ops.ones_like(y), y), self.p - 1))), None


@reads("shape")
@scalars("ord")
def vector_norm(x: Tensor, ord: float = 2, axis: Any = None, keepdims: bool = False, *, dtype: Any = None) -> Tensor:
    """Return the p-norm (sum |x|^p)^(1/p) over dimensions.

    Args:
        x: a Tensor; integers give float32.
        ord: p: any number, or plus or minus infinity; 0 counts the elements that are not 0.
        axis: the dimension or dimensions, None for all.
        keepdims: keep the reduced dimensions with length 1.
        dtype: cast to this type before.

    Returns:
        Tensor.

    Raises:
        TypeError: if `axis` holds anything but ints.
        ValueError: if `ord` is no number, or a dimension is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.vector_norm(ms.Tensor([3.0, -4.0])), ms.ops.vector_norm(ms.Tensor([3.0, -4.0]), 1))
        5.0 7.0
    """
    if not isinstance(ord, (int, float)):
        wrong = ValueError if isinstance(ord, (str, Tensor)) else TypeError
        raise wrong(f"For 'vector_norm', 'ord' must be a number, but got {ord!r}.")
    x = tensor(x, "x", "vector_norm") if dtype is None else ops.cast(x, dtype)
    return VectorNorm(ord, boolean(keepdims, "keepdims", "vector_norm"))(x, () if axis is None else axis)


@reads("shape")
@plain("axis")
@truths("keepdims")
def matrix_norm(
    A: Tensor, ord: Any = "fro", axis: Any = (-2, -1), keepdims: bool = False, *, dtype: Any = None
) -> Tensor:
    """Return a norm of matrices.

    Args:
        A: a Tensor with at least two dimensions.
        ord: "fro" for the root of the sum of squares; "nuc" for the sum of the singular
            values; 2 (-2) for the largest (smallest) of them; 1 (-1) for the largest (smallest)
            column sum; inf (-inf) for the largest (smallest) row sum.
        axis: the matrices' rows and columns.
        keepdims: keep the two dimensions with length 1.
        dtype: cast to this type before.

    Returns:
        Tensor.

    Raises:
        ValueError: if `ord` is unknown, or `axis` is not two dimensions.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.matrix_norm(ms.Tensor([[3.0, 0.0], [0.0, 4.0]])))
        5.0
    """
    x = tensor(A, "A", "matrix_norm") if dtype is None else ops.cast(A, dtype)
    keepdims = boolean(keepdims, "keepdims", "matrix_norm")
    axes = many_axes(axis, "axis", "matrix_norm", x.ndim)
    if len(axes) != 2 or not isinstance(axis, (tuple, list)) or not axis:
        raise ValueError(f"For 'matrix_norm', 'axis' must be two dimensions, but got {axis}.")
    if ord == "fro":
        return vector_norm(x, 2, axes, keepdims)
    if ord not in ("nuc", 1, -1, 2, -2, math.inf, -math.inf):
        raise ValueError(f"For 'matrix_norm', 'ord' must be 'fro', 'nuc', inf, -inf, 1, -1, 2 or -2, but got {ord!r}.")
    x = cast_array(x, as_float("matrix_norm", x.array()).dtype)
    moved = ops.movedim(x, axes, (-2, -1))
    if ord in ("nuc", 2, -2):
        values = singular_values(moved)
        out = ops.sum(values, -1) if ord == "nuc" else (ops.amax if ord == 2 else ops.amin)(values, -1)
    else:
        sums = ops.sum(ops.abs(moved), -1 if math.isinf(ord) else -2)
        out = (ops.amax if ord > 0 else ops.amin)(sums, -1)
    if keepdims:
        out = reshape(out, tuple([1 if i in axes else n for i, n in enumerate(x.shape)]))
    return out


@reads("shape")
@plain("dim")
def norm(A: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Return a norm of vectors or matrices.

    Args:
        A: a Tensor; integers give float32.
        ord: the norm, as for `vector_norm` and `matrix_norm`; None for the root of the sum of squares.
        dim: one dimension for vectors, two for matrices. None: of everything, as a matrix if
            `ord` is given and `A` has two dimensions, else as one vector.
        keepdim: keep the reduced dimensions with length 1.
        dtype: cast to this type before.

    Returns:
        Tensor.

    Raises:
        ValueError: if `ord` does not fit the number of dimensions.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.norm(ms.Tensor([[3.0, 4.0], [6.0, 8.0]]), dim=1))
        [ 5. 10.]
    """
    x = tensor(A, "A", "norm") if dtype is None else ops.cast(A, dtype)
    axes = None if dim is None else integers(dim, "dim", "norm")
    ord = scalar(ord)
    matrices = (axes is None and x.ndim == 2) or (axes is not None and len(axes) == 2)
    if isinstance(ord, str) and not matrices:
        raise TypeError(f"For 'norm', 'ord' must be a number for vectors, but got {ord!r}.")
    if ord is None:
        return vector_norm(x, 2, axes, bool(keepdim))
    if matrices:
        return matrix_norm(x, ord, axes or (0, 1), keepdim)
    if axes is None and x.ndim > 2:
        raise ValueError(
            f"For 'norm', 'A' must have 1 or 2 dimensions when 'ord' is given without 'dim', but got {x.ndim}."
        )
    return vector_norm(x, ord, axes, keepdim)


class LpNorm(Primitive):
    """The p-norm over dimensions, at least `epsilon`.

    Args:
        axis: the dimension or dimensions.
        p: the order, a non-negative int.
        keep_dims: keep the reduced dimensions with length 1.
        epsilon: accepted; the gradient at 0 is 0 without it.

    Call:
        input (Tensor): floats.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.LpNorm(0, 2)(ms.Tensor([3.0, 4.0])))
        5.0
    """

    def __init__(self, axis: Any, p: int = 2, keep_dims: bool = False, epsilon: float = 1e-12) -> None:
        self.axis, self.p = integers(axis, "axis", self.name), integer(p, "p", self.name)
        self.keep_dims, self.epsilon = keep_dims, epsilon
        if p < 0:
            raise ValueError(f"For '{self.name}', 'p' must not be negative, but got {p}.")

    def __call__(self, input: Tensor) -> Tensor:
        floating(tensor(input, "input", self.name).array(), "input", self.name, complex_too=False)
        return VectorNorm(self.p, self.keep_dims)(input, self.axis)


class L2Loss(Primitive):
    """Half the sum of the squares.

    Call:
        input_x (Tensor): floats.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.L2Loss()(ms.Tensor([3.0, 4.0])))
        12.5
    """

    @quiet
    def forward(self, input_x: np.ndarray) -> np.ndarray:
        x = floating(input_x, "input_x", self.name, complex_too=False)
        wide = x.astype(np.float32) if x.dtype.itemsize == 2 else x
        return np.asarray(np.square(wide).sum() / 2).astype(x.dtype)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return mul(inputs[0], dout)


class SquareSumAll(Primitive):
    """The sums of the squares of two tensors.

    Call:
        x (Tensor): floats.
        y (Tensor): floats.

    Examples:
        >>> import dist_ms as ms
        >>> a, b = ms.ops.SquareSumAll()(ms.Tensor([1.0, 2.0]), ms.Tensor([3.0]))
        >>> print(a, b)
        5.0 9.0
    """

    def __call__(self, x: Tensor, y: Tensor) -> tuple:
        return ReduceSum()(square(x)), ReduceSum()(square(y))


def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """Return the p-norm of the difference of two tensors.

    Args:
        input: a Tensor.
        other: a Tensor that broadcasts with it.
        p: the order.

    Returns:
        Tensor without dimensions.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.dist(ms.Tensor([1.0, 1.0]), ms.Tensor([4.0, 5.0])))
        5.0
    """
    if check_int(p, "p", "dist") < 0:
        raise ValueError(f"For 'dist', 'p' must not be negative, but got {p}.")
    gap = sub(tensor(input, "input", "dist"), tensor(other, "other", "dist"))
    return vector_norm(not_of(gap, "FD", "input", "dist"), p)


@raises(axis=(TypeError, RuntimeError))
@plain("axis")
def renorm(input: Tensor, p: int, axis: int, maxnorm: float) -> Tensor:
    """Scale down each slice along a dimension whose p-norm is larger than `maxnorm`.

    Args:
        input: a Tensor of floats.
        p: the order.
        axis: the dimension.
        maxnorm: the largest norm.

    Returns:
        Tensor of the shape of `input`.

    Raises:
        ValueError: if `p` is not positive.
        RuntimeError: if `axis` is out of range, or `maxnorm` negative.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.renorm(ms.Tensor([[3.0, 4.0], [0.3, 0.4]]), 2, 0, 1.0).asnumpy().round(4))
        [[0.6 0.8]
         [0.3 0.4]]
    """
    not_of(input, "?ibhlBHIL", "input", "renorm")
    check_float(maxnorm, "maxnorm", "renorm")
    if maxnorm < 0:
        raise RuntimeError(f"For 'renorm', 'maxnorm' must not be negative, but got {maxnorm}.")
    p = scalar(p)
    if isinstance(p, (str, Tensor)):
        raise ValueError(f"For 'renorm', 'p' must be an int, but got {p!r}.")
    if check_int(p, "p", "renorm") <= 0:
        raise ValueError(f"For 'renorm', 'p' must be positive, but got {p}.")
    check_type(axis, "axis", "renorm", int)
    if not tensor(input, "input", "renorm").ndim:
        raise RuntimeError("For 'renorm', 'input' must have at least 1 dimension, but got a scalar.")
    axis = one_axis(axis, "axis", "renorm", input.ndim)
    size = vector_norm(input, p, tuple([i for i in range(input.ndim) if i != axis]), True)
    scale = true_divide(maxnorm, add(size, 1e-7))
    return mul(input, ops.where(ops.greater(size, maxnorm), scale, ops.ones_like(size)))


class Renorm(Primitive):
    """`renorm` as a primitive: `Renorm(p, dim, maxnorm)(x)`."""

    def __init__(self, p: int, dim: int, maxnorm: float) -> None:
        self.p, self.dim, self.maxnorm = p, dim, maxnorm

    def __call__(self, x: Tensor) -> Tensor:
        return renorm(x, self.p, self.dim, self.maxnorm)
