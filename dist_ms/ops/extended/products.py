"""Products of vectors and matrices whose arguments differ from those in `ops`."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms._ext import small
from dist_ms._ext.tape import wanted
from dist_ms.common.dtype import bfloat16
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import tensor
from dist_ms.ops.elementwise.arithmetic import mul
from dist_ms.ops.layout import converted
from dist_ms.ops.primitive import Primitive

__all__ = ["baddbmm", "bmm", "cdist", "dot", "mv", "vdot"]


_BF16 = bfloat16.np
_F32 = np.dtype(np.float32)
# Elements up to which a vector is short: a BLAS adds more of them up on several threads.
_SHORT = 8192
_FLOATS = (_F32, np.dtype(np.float64), _BF16)


class _VectorProduct(Primitive):
    """The product of two vectors of one length and type."""

    def forward(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        if x.dtype == _BF16:
            out = small.dot(x, y)
            return np.asarray(np.dot(converted(x, _F32), converted(y, _F32))).astype(_BF16) if out is None else out
        return np.asarray(np.dot(x, y))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, y = inputs
        return mul(dout, y) if wanted(x) else None, mul(dout, x) if wanted(y) else None


_vector_product = _VectorProduct()


def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Beta input + alpha batch1 @ batch2, for batches of matrices.

    Examples:
        >>> import dist_ms as ms
        >>> one = ms.ops.ones((1, 2, 2))
        >>> print(ms.mint.baddbmm(one, one, one, alpha=2))
        [[[5. 5.]
          [5. 5.]]]
    """
    return ops.baddbmm(input, batch1, batch2, beta, alpha)


def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """The products of two batches of matrices.

    Examples:
        >>> import dist_ms as ms
        >>> ms.mint.bmm(ms.ops.ones((2, 3, 4)), ms.ops.ones((2, 4, 5))).shape
        (2, 3, 5)
    """
    return ops.bmm(input, mat2)


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Tensor:
    """The p-norm distances between the rows of two tensors (..., rows, columns).

    Args:
        x1, x2: floats.
        p: the norm, 0 or more.
        compute_mode: how MindSpore may compute it; the distances are the same here.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.cdist(ms.Tensor([[0.0, 0.0]]), ms.Tensor([[3.0, 4.0]])))
        [[5.]]
    """
    return ops.cdist(x1, x2, p)


def dot(input: Tensor, other: Tensor) -> Tensor:
    """The product of two vectors.

    Raises:
        ValueError: if they are no vectors.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.dot(ms.Tensor([1.0, 2.0]), ms.Tensor([3.0, 4.0])))
        11.0
    """
    for value, name in ((input, "input"), (other, "other")):
        if tensor(value, name, "dot").ndim != 1:
            raise ValueError(f"For 'dot', '{name}' must have 1 dimension, but got shape {value.shape}.")
    if (
        input._element in _FLOATS
        and input._element == other._element
        and input.shape == other.shape
        and input.size <= _SHORT
    ):
        return _vector_product(input, other)
    return ops.inner(input, other)


def vdot(input: Tensor, other: Tensor) -> Tensor:
    """The product of two vectors, the first one conjugated.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.vdot(ms.Tensor([1.0, 2.0]), ms.Tensor([3.0, 4.0])))
        11.0
    """
    return dot(ops.conj(input) if ops.is_complex(input) else input, other)


def mv(input: Tensor, vec: Tensor) -> Tensor:
    """The product of a matrix and a vector.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.mv(ms.Tensor([[1.0, 2.0]]), ms.Tensor([3.0, 4.0])))
        [11.]
    """
    return ops.mv(input, vec)
