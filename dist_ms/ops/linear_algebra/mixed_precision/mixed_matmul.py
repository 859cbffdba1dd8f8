"""MatMul of float32 matrices rounded to 16 bits inside the kernel, in both directions."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms._ext.tape import wanted
from dist_ms.autograd.tape import apply, as_given
from dist_ms.common.dtype import Number
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.capabilities import capabilities
from dist_ms.ops.linear_algebra.matmul import BatchMatMul, MatMul
from dist_ms.ops.linear_algebra.matrix_product import laid_out, multiply_rounded
from dist_ms.ops.linear_algebra.mixed_precision.mixed_products import FLOAT32, MixedProduct, gradient_place
from dist_ms.ops.linear_algebra.product_plan import rounds_itself
from dist_ms.ops.primitive import Primitive


def mixed_matmul(primitive: Primitive, low: Number, a: Tensor, b: Tensor) -> Tensor | None:
    """Run the mixed form of a product of matrices in a 16-bit type; None if it has none for these operands."""
    if type(primitive) not in (MatMul, BatchMatMul) or primitive.transpose_a or primitive.transpose_b:
        return None
    if any(t._element != FLOAT32 and t._element != low.np for t in (a, b)):
        return None
    left, right = a.shape, b.shape
    if len(left) < 2 or left[:-2] != right[:-2] or left[-1] != right[-2] or (len(left) > 2) != primitive.batched:
        return None
    many = len(left) > 2
    if 0 in left or not rounds_itself(left[-2], min(left[-1], right[-1]), capabilities(), many, low.np):
        return None
    with as_given():
        return apply(MixedMatMul(primitive, low), a, b)


class MixedMatMul(MixedProduct):
    """Products of float32 or 16-bit matrices; the result is of 16 bits."""

    def rounded(self, x: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return x, weight

    def forward(self, a: Any, b: Any) -> np.ndarray:
        return self._product(a, b, self.low_type)

    def array_gradient(self, inputs: tuple, a: np.ndarray, b: np.ndarray, dout: np.ndarray) -> tuple:
        da = db = None
        if wanted(inputs[0]):
            da = wrap(self._product(dout, b.swapaxes(-1, -2), inputs[0].dtype.np, inputs[0]))
        if wanted(inputs[1]):
            db = wrap(self._product(a.swapaxes(-1, -2), dout, inputs[1].dtype.np, inputs[1]))
        return da, db

    def _product(self, a: np.ndarray, b: np.ndarray, dtype: np.dtype, like: Any = None) -> np.ndarray:
        """The product in this type, lying as its operands do; of two matrices where the gradient of `like` goes."""
        if a.ndim > 2:
            out = laid_out(a, b, a.shape[:-2], dtype)
        else:
            shape = (a.shape[0], b.shape[1])
            out = np.empty(shape, dtype) if like is None else gradient_place(like, shape, dtype)
        if out.strides[-1] == out.itemsize:
            multiply_rounded(a, b, out, low=self.low_type)
        else:
            multiply_rounded(b.swapaxes(-1, -2), a.swapaxes(-1, -2), out.swapaxes(-1, -2), low=self.low_type)
        return out
