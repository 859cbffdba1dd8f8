"""Gradients of functions of each element as operations: SqrtGrad, AbsGrad, MaximumGrad and their kin."""

from __future__ import annotations

from typing import Any, ClassVar

from dist_ms import ops
from dist_ms.common.tensor import Tensor
from dist_ms.ops.backward.backward import REQUIRED, Backward

__all__ = [
    "ACosGrad",
    "AbsGrad",
    "AcoshGrad",
    "AsinGrad",
    "AsinhGrad",
    "AtanGrad",
    "InvGrad",
    "MaximumGrad",
    "MaximumGradGrad",
    "MinimumGrad",
    "MinimumGradGrad",
    "MvlgammaGrad",
    "ReciprocalGrad",
    "RsqrtGrad",
    "SqrtGrad",
]


class AbsGrad(Backward):
    """The gradient of Abs.

    Call:
        x (Tensor): its input.
        dout (Tensor): the gradient of its output.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.ops.backward import AbsGrad
        >>> print(AbsGrad()(ms.Tensor([-1.0, 1.0]), ms.Tensor([2.0, 2.0])))
        [-2.  2.]
    """

    def compute(self, x: Tensor, dout: Tensor) -> Tensor:
        return dout * ops.sign(x)


class ACosGrad(Backward):
    """The gradient of ACos."""

    def compute(self, x: Tensor, dout: Tensor) -> Tensor:
        return self.through(ops.ACos(), [x], dout)[0]


class AsinGrad(Backward):
    """The gradient of Asin."""

    def compute(self, x: Tensor, dout: Tensor) -> Tensor:
        return self.through(ops.Asin(), [x], dout)[0]


class AtanGrad(Backward):
    """The gradient of Atan."""

    def compute(self, x: Tensor, dout: Tensor) -> Tensor:
        return self.through(ops.Atan(), [x], dout)[0]


class AcoshGrad(Backward):
    """The gradient of Acosh, from its output."""

    def compute(self, out: Tensor, dout: Tensor) -> Tensor:
        return dout / ops.sinh(out)


class AsinhGrad(Backward):
    """The gradient of Asinh, from its output."""

    def compute(self, out: Tensor, dout: Tensor) -> Tensor:
        return dout / ops.cosh(out)


class SqrtGrad(Backward):
    """The gradient of Sqrt: its output comes first and the gradient of that second, whatever MindSpore calls them."""

    def compute(self, dy: Tensor, y: Tensor) -> Tensor:
        return y / (2 * dy)


class RsqrtGrad(Backward):
    """The gradient of Rsqrt, from its output, which comes first."""

    def compute(self, y_backprop: Tensor, x: Tensor) -> Tensor:
        return x * (y_backprop * y_backprop * y_backprop) * -0.5


class ReciprocalGrad(Backward):
    """The gradient of Reciprocal, from its output."""

    def compute(self, y: Tensor, dy: Tensor) -> Tensor:
        return -(dy * y * y)


class InvGrad(Backward):
    """The gradient of Inv, from its output."""

    def compute(self, x: Tensor, grad: Tensor) -> Tensor:
        return -(grad * x * x)


class _ExtremeGrad(Backward):
    """The gradients of the greater or smaller of two tensors: that which was taken gets them, equal ones half each."""

    options: ClassVar[dict[str, Any]] = {"grad_x": True, "grad_y": True}

    def _shares(self, first: Tensor, x: Tensor, y: Tensor, grads: Tensor) -> tuple[Tensor, Tensor]:
        """The shares of two tensors, of which the first was taken where `first` says so."""
        half = grads / 2 if grads.dtype.is_floating_point else ops.truncate_div(grads, 2)
        even, none = ops.equal(x, y), ops.zeros_like(grads)
        shares = ops.select(first, grads, none), ops.select(first, none, grads)
        dx, dy = (ops.select(even, half, share) for share in shares)
        return _summed(dx, x.shape), _summed(dy, y.shape)


def _summed(grad: Tensor, shape: tuple[int, ...]) -> Tensor:
    """A gradient added up to the shape that was broadcast."""
    ahead = grad.ndim - len(shape)
    axes = [*range(ahead), *(ahead + i for i, n in enumerate(shape) if n == 1 and grad.shape[ahead + i] != 1)]
    return ops.reshape(grad.sum(axis=tuple(axes)), shape) if axes else grad


class MaximumGrad(_ExtremeGrad):
    """The gradients of Maximum; where both are equal, half each.

    Args:
        grad_x, grad_y: which gradients a compiler needs; here there are always both.
    """

    def compute(self, x: Tensor, y: Tensor, grads: Tensor) -> tuple[Tensor, Tensor]:
        return self._shares(x > y, x, y, grads)


class MinimumGrad(_ExtremeGrad):
    """The gradients of Minimum; where both are equal, half each.

    Args:
        grad_x, grad_y: which gradients a compiler needs; here there are always both.
    """

    def compute(self, x1: Tensor, x2: Tensor, grads: Tensor) -> tuple[Tensor, Tensor]:
        return self._shares(x1 < x2, x1, x2, grads)


class MaximumGradGrad(Backward):
    """The gradients of MaximumGrad."""

    options: ClassVar[dict[str, Any]] = {"grad_x": True, "grad_y": True}

    def compute(self, x: Tensor, y: Tensor, dx: Tensor, dy: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return ops.zeros_like(x), ops.zeros_like(y), ops.select(x >= y, dx, dy)


class MinimumGradGrad(Backward):
    """The gradients of MinimumGrad."""

    def compute(self, x1: Tensor, x2: Tensor, grad_y1: Tensor, grad_y2: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return ops.zeros_like(x1), ops.zeros_like(x2), ops.select(x1 <= x2, grad_y1, grad_y2)


class MvlgammaGrad(Backward):
    """The gradient of Mvlgamma."""

    options: ClassVar[dict[str, Any]] = {"p": REQUIRED}

    def compute(self, y_grad: Tensor, x: Tensor) -> Tensor:
        return self.through(lambda v: ops.mvlgamma(v, self.p), [x], y_grad)[0]
