"""Gradients of products, factorisations, distances and sparse sums as operations."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from dist_ms import ops
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.backward.backward import REQUIRED, Backward

__all__ = [
    "CdistGrad",
    "CholeskyGrad",
    "EinsumGrad",
    "IgammaGradA",
    "LstsqV2Grad",
    "LuUnpackGrad",
    "PdistGrad",
    "RandomGammaGrad",
    "SparseFillEmptyRowsGrad",
    "SparseSegmentMeanGrad",
    "SparseSegmentSqrtNGrad",
    "SparseSegmentSumGrad",
    "SparseSliceGrad",
]


class EinsumGrad(Backward):
    """The gradients of Einsum with respect to its operands.

    Args:
        equation: as in `Einsum`.

    Call:
        x (tuple): the operands.
        dout (Tensor): the gradient of its output.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.ops.backward import EinsumGrad
        >>> x, y = ms.Tensor([1.0, 2.0]), ms.Tensor([3.0, 4.0])
        >>> print(EinsumGrad("i,i->")((x, y), ms.Tensor(1.0))[0])
        [3. 4.]
    """

    options: ClassVar[dict[str, Any]] = {"equation": REQUIRED}

    def compute(self, x: Any, dout: Tensor) -> tuple[Tensor, ...]:
        return tuple(self.through(lambda *operands: ops.einsum(self.equation, *operands), list(x), dout))


class CholeskyGrad(Backward):
    """The gradient of Cholesky, from its output `x`."""

    def compute(self, x: Tensor, grad: Tensor) -> Tensor:
        return self.through(ops.cholesky, [ops.matmul(x, ops.swapaxes(x, -1, -2))], grad)[0]


class LuUnpackGrad(Backward):
    """The gradients of LuUnpack with respect to the packed matrix: the parts of L and of U."""

    options: ClassVar[dict[str, Any]] = {"L_grad_flag": REQUIRED, "U_grad_flag": REQUIRED}

    def compute(self, L_grad: Tensor, U_grad: Tensor, LU_data: Tensor) -> tuple[Tensor, Tensor]:
        zeros = ops.zeros_like(LU_data)
        rank = min(LU_data.shape[-2:])
        lower = self.through(lambda v: ops.tril(v, -1)[..., :, :rank], [zeros], L_grad)[0]
        upper = self.through(lambda v: ops.triu(v)[..., :rank, :], [zeros], U_grad)[0]
        return lower if self.L_grad_flag else zeros, upper if self.U_grad_flag else zeros


class LstsqV2Grad(Backward):
    """The gradients of the solution of least squares with respect to A and B."""

    def compute(self, gX: Tensor, A: Tensor, B: Tensor) -> tuple[Tensor, ...]:
        def solution(a: Tensor, b: Tensor) -> Tensor:
            turned = ops.swapaxes(a, -1, -2)
            if a.shape[-2] >= a.shape[-1]:
                return ops.matmul(ops.inverse(ops.matmul(turned, a)), ops.matmul(turned, b))
            return ops.matmul(turned, ops.matmul(ops.inverse(ops.matmul(a, turned)), b))

        return tuple(self.through(solution, [A, B], gX))


class PdistGrad(Backward):
    """The gradient of `pdist`; its output `y` is not read."""

    options: ClassVar[dict[str, Any]] = {"p": 2.0}

    def compute(self, y_grad: Tensor, x: Tensor, y: Tensor) -> Tensor:
        return self.through(lambda v: ops.pdist(v, self.p), [x], y_grad)[0]


class CdistGrad(Backward):
    """The gradient of Cdist with respect to its first input; its output is not read."""

    options: ClassVar[dict[str, Any]] = {"p": 2.0}

    def compute(self, grad: Tensor, input_x: Tensor, input_y: Tensor, cdist: Tensor) -> Tensor:
        return self.through(lambda v: ops.cdist(v, input_y, self.p), [input_x], grad)[0]


class IgammaGradA(Backward):
    """The derivative of Igamma with respect to `a`."""

    def compute(self, a: Tensor, x: Tensor) -> Tensor:
        return self.through(ops.igamma, [a, x], ops.ones_like(ops.igamma(a, x)))[0]


class RandomGammaGrad(Backward):
    """How a sample of the gamma distribution moves with its shape `alpha`."""

    def compute(self, alpha: Tensor, sample: Tensor) -> Tensor:
        by_shape, density = self.through(ops.igamma, [alpha, sample], ops.ones_like(ops.igamma(alpha, sample)))
        return -by_shape / density


class _SegmentGrad(Backward):
    """The gradient of sums of rows, over the number of rows or its root."""

    power = 0.0

    def compute(self, x: Tensor, indices: Tensor, segment_ids: Tensor, output_dim0: Any) -> Tensor:
        rows = int(output_dim0.asnumpy()) if isinstance(output_dim0, Tensor) else output_dim0
        segments = segment_ids.asnumpy()
        shares = np.bincount(segments, minlength=x.shape[0])[segments] ** -self.power
        weights = Tensor(shares.reshape(-1, *(1 for _ in x.shape[1:])), x.dtype)
        grads = ops.gather(x, segment_ids, 0) * weights
        zeros = ops.zeros((rows, *x.shape[1:]), x.dtype)
        return self.through(lambda v: ops.gather(v, indices, 0), [zeros], grads)[0]


class SparseSegmentSumGrad(_SegmentGrad):
    """The gradient of sums of rows: row `indices[i]` gets what is at segment `segment_ids[i]`."""


class SparseSegmentMeanGrad(_SegmentGrad):
    """The gradient of means of rows."""

    power = 1.0


class SparseSegmentSqrtNGrad(_SegmentGrad):
    """The gradient of sums of rows over the root of their number."""

    power = 0.5


class SparseFillEmptyRowsGrad(Backward):
    """The gradients of filling empty rows: of the values that were there, and of the one that was filled in."""

    def compute(self, reverse_index_map: Tensor, grad_values: Tensor) -> tuple[Tensor, Tensor]:
        old = np.zeros(grad_values.shape[0], bool)
        old[reverse_index_map.asnumpy()] = True
        filled = grad_values * Tensor((~old).astype(np.float64), grad_values.dtype)
        return ops.gather(grad_values, reverse_index_map, 0), filled.sum()


class SparseSliceGrad(Backward):
    """The gradient of a slice of a sparse tensor: what was not in the slice gets zeros."""

    def compute(self, backprop_val_grad: Tensor, indices: Tensor, start: Tensor, new_indices: Tensor) -> Tensor:
        places = {tuple(row): i for i, row in enumerate((new_indices.asnumpy() + start.asnumpy()).tolist())}
        found = np.array([places.get(tuple(row), -1) for row in indices.asnumpy().tolist()], np.int64)
        taken = Tensor((found >= 0).astype(np.float64), backprop_val_grad.dtype)
        return ops.gather(backprop_val_grad, wrap(np.maximum(found, 0)), 0) * taken
