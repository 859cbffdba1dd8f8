"""Products of vectors and matrices whose arguments differ from those in `ops`."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms._ext import small
from dist_ms._ext.tape import wanted
from dist_ms.common.checks import check_dimensions
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
        return np.asarray(x.dot(y))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, y = inputs
        return mul(dout, y) if wanted(x) else None, mul(dout, x) if wanted(y) else None


_vector_product = _VectorProduct()


def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """`ops.baddbmm`: beta input + alpha batch1 @ batch2, with both numbers by name alone."""
    return ops.baddbmm(input, batch1, batch2, beta, alpha)


def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """`ops.bmm`, with its first argument named `input`."""
    return ops.bmm(input, mat2)


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Tensor:
    """`ops.cdist`; how MindSpore may compute it, `compute_mode`, does not change the distances here."""
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
    if type(input) is Tensor and type(other) is Tensor:
        shape = input.shape
        if shape == other.shape and len(shape) == 1 and shape[0] <= _SHORT:
            element = input._element
            if element is other._element and element in _FLOATS:
                return _vector_product(input, other)
    for value, name in ((input, "input"), (other, "other")):
        check_dimensions(tensor(value, name, "dot"), name, "dot", 1)
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
    """`ops.mv`, with its first argument named `input`."""
    return ops.mv(input, vec)
