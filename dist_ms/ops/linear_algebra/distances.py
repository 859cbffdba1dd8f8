"""cdist, pdist: distances between rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms._ext.tape import wanted
from dist_ms.common.checks import check_float
from dist_ms.common.error_classes import plain
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import floating, number, one_axis, one_dtype, tensor
from dist_ms.ops.elementwise.arithmetic import sub
from dist_ms.ops.elementwise.division import div_no_nan
from dist_ms.ops.formula_gradient import formula_gradient
from dist_ms.ops.kernels import pairwise
from dist_ms.ops.layout import contiguous, converted
from dist_ms.ops.picking.indexing import GetItem
from dist_ms.ops.primitive import Primitive
from dist_ms.ops.reducing.norms import VectorNorm
from dist_ms.ops.shaping.reshaping import expand_dims

__all__ = ["Cdist", "Pdist", "cdist", "cosine_similarity", "pdist"]


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0) -> Tensor:
    """Return the p-norm distances from each row of one matrix to each of another.

    Args:
        x1: a Tensor of floats (..., m, k).
        x2: a Tensor of floats (..., n, k).
        p: the order, not negative; infinity is allowed.

    Returns:
        Tensor (..., m, n).

    Raises:
        TypeError: if an input holds no floats.
        ValueError: if `p` is negative, or the lengths differ.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.cdist(ms.Tensor([[0.0, 0.0]]), ms.Tensor([[3.0, 4.0], [0.0, 1.0]])))
        [[5. 1.]]
    """
    check_float(p, "p", "cdist")
    one_dtype("cdist", "fV", x1=x1, x2=x2)
    for name, x in (("x1", x1), ("x2", x2)):
        floating(tensor(x, name, "cdist").array(), name, "cdist", complex_too=False)
    if number(p, "p", "cdist") < 0:
        raise ValueError(f"For 'cdist', 'p' must not be negative, but got {p}.")
    if x1.ndim < 2 or x1.ndim != x2.ndim or x1.shape[-1] != x2.shape[-1]:
        raise ValueError(
            f"For 'cdist', 'x1' and 'x2' must be matrices, equally many, with rows of one length, "
            f"but got the shapes {x1.shape} and {x2.shape}."
        )
    if p in (1, 2) and x1.shape[:-2] == x2.shape[:-2] and x1.dtype == x2.dtype:
        return _RowDistances(p)(x1, x2)
    return VectorNorm(p)(sub(expand_dims(x1, -2), expand_dims(x2, -3)), -1)


@plain("dim")
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-08) -> Tensor:
    """Return the cosines of the angles between vectors along one dimension.

    sum(x1 x2) / (max(|x1|, eps) max(|x2|, eps))

    Args:
        x1: a Tensor of floats.
        x2: a Tensor that broadcasts with it.
        dim: the dimension.
        eps: smallest length to divide by.

    Returns:
        Tensor without that dimension.

    Raises:
        TypeError: if an input is no Tensor.
        ValueError: if `dim` is out of range, or the shapes do not broadcast.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.cosine_similarity(ms.Tensor([[3.0, 4.0]]), ms.Tensor([[4.0, 3.0]])))
        [0.96]
    """
    for name, value in (("x1", x1), ("x2", x2)):
        if isinstance(value, (bool, int, float)):  # which MindSpore multiplies, and whose dimensions it reads
            raise AttributeError(f"For 'cosine_similarity', '{name}' must be a Tensor, but got {value}.")
        one_dtype("cosine_similarity", "fV", **{name: tensor(value, name, "cosine_similarity")})
    if eps is None or isinstance(eps, bool):
        raise ValueError(f"For 'cosine_similarity', 'eps' must be a number, but got {eps}.")
    shapes = tensor(x1, "x1", "cosine_similarity").shape, tensor(x2, "x2", "cosine_similarity").shape
    shape = np.broadcast_shapes(*shapes)
    axis = one_axis(dim, "dim", "cosine_similarity", len(shape))
    x1, x2 = ops.broadcast_to(x1, shape), ops.broadcast_to(x2, shape)
    product = ops.ReduceSum()(ops.mul(x1, x2), axis)
    first, second = (ops.maximum(VectorNorm(2)(x, axis), eps) for x in (x1, x2))
    return ops.true_divide(product, ops.mul(first, second))


def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """Return the p-norm distances of all pairs of rows, the first row's first.

    Args:
        input: a Tensor of floats (..., n, k).
        p: the order, not negative; infinity is allowed.

    Returns:
        Tensor (..., n (n - 1) / 2).

    Raises:
        TypeError: if `input` holds no floats.
        ValueError: if `p` is negative, or there are fewer than two dimensions.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.pdist(ms.Tensor([[0.0], [1.0], [3.0]])))
        [1. 3. 2.]
    """
    if tensor(input, "input", "pdist").ndim != 2:
        raise ValueError(f"For 'pdist', 'input' must have 2 dimensions, but got {input.ndim}.")
    check_float(p, "p", "pdist")
    floating(tensor(input, "input", "pdist").array(), "input", "pdist", complex_too=False)
    if number(p, "p", "pdist") < 0 or input.ndim < 2:
        raise ValueError(
            f"For 'pdist', 'p' must not be negative and 'input' have rows, but got {p} and the shape {input.shape}."
        )
    first, second = np.triu_indices(input.shape[-2], 1)
    return VectorNorm(p)(sub(GetItem((..., first, slice(None)))(input), GetItem((..., second, slice(None)))(input)), -1)


class _RowDistances(Primitive):
    """The distances of order 1 or 2 between the rows of matrices with the same leading dimensions and type.

    Args:
        p: the order.
    """

    keeps_output = True

    def __init__(self, p: float) -> None:
        self.p = p

    def forward(self, x1: np.ndarray, x2: np.ndarray) -> np.ndarray:
        out = np.empty((*x1.shape[:-1], x2.shape[-2]), _wide(x1))
        columns = contiguous(np.swapaxes(x2, -1, -2))  # turned before it is widened: fewer bytes
        pairwise.distances(_batched(x1), _batched(columns), _batched(out), int(self.p))
        return converted(out, x1.dtype)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x1, x2 = inputs
        weights = div_no_nan(dout, output) if self.p == 2 else dout
        slopes = _WeightedSlopes(self.p)
        dx1 = slopes(x1, x2, weights) if wanted(x1) else None
        return dx1, slopes(x2, x1, ops.swapaxes(weights, -1, -2)) if wanted(x2) else None


class _WeightedSlopes(Primitive):
    """The sums over j of weights[i, j] f(x[i] - y[j]): f is the identity for order 2, the sign for order 1."""

    def __init__(self, p: float) -> None:
        self.p = p

    def formula(self, x: Tensor, y: Tensor, weights: Tensor) -> Tensor:
        """The same in plain operations."""
        d = sub(expand_dims(x, -2), expand_dims(y, -3))
        return ops.ReduceSum()(ops.mul(expand_dims(weights, -1), d if self.p == 2 else ops.sign(d)), -2)

    def forward(self, x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
        out = np.empty(x.shape, _wide(x))
        pairwise.weighted_slopes(_batched(x), _batched(y), _batched(weights), _batched(out), int(self.p))
        return converted(out, x.dtype)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return tuple(formula_gradient(self.formula, inputs, dout))


def _wide(x: np.ndarray) -> np.dtype:
    """The type in which an array is worked on."""
    return np.dtype(np.float32) if x.dtype.itemsize == 2 else x.dtype


def _batched(x: np.ndarray) -> np.ndarray:
    """A contiguous array of matrices, with one leading dimension."""
    return contiguous(x, _wide(x)).reshape(math.prod(x.shape[:-2]), *x.shape[-2:])


class Cdist(Primitive):
    """`cdist` as a primitive: `Cdist(p)(x1, x2)`."""

    def __init__(self, p: float = 2.0) -> None:
        self.p = p

    def __call__(self, *args: Any) -> Tensor:
        return ops.cdist(*args, self.p)


class Pdist(Primitive):
    """`pdist` as a primitive: `Pdist(p)(x)`."""

    def __init__(self, p: float = 2.0) -> None:
        self.p = p

    def __call__(self, x: Tensor) -> Tensor:
        return ops.pdist(x, self.p)
