"""LGamma, DiGamma, IGamma and LBeta: functions of the gamma family as layers."""

from __future__ import annotations

from dist_ms import ops
from dist_ms.common import dtype as mstype
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.ops.arguments import tensor
from dist_ms.ops.special_functions.incomplete_gamma import igamma

__all__ = ["DiGamma", "IGamma", "LBeta", "LGamma"]


def _check_dtype(value: Tensor, name: str, owner: str, allowed: tuple) -> None:
    if tensor(value, name, owner).dtype not in allowed:
        raise TypeError(
            f"For '{owner}', the dtype of '{name}' must be one of {[str(d) for d in allowed]}, but got {value.dtype}."
        )


_SMALL_FLOATS = (mstype.float16, mstype.float32)


class LGamma(Cell):
    """`ops.lgamma` as a layer, of float16 or float32: `LGamma()(x)`."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, x: Tensor) -> Tensor:
        _check_dtype(x, "x", self.cls_name, _SMALL_FLOATS)
        return ops.lgamma(x)


class DiGamma(Cell):
    """`ops.digamma` as a layer, of float16 or float32, and -inf at 0 of either sign: `DiGamma()(x)`."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, x: Tensor) -> Tensor:
        _check_dtype(x, "x", self.cls_name, _SMALL_FLOATS)
        return ops.digamma(x + 0.0)  # which has no -0


class IGamma(Cell):
    """`ops.igamma` as a layer, of float32: `IGamma()(a, x)`."""

    def __init__(self) -> None:
        super().__init__()
        self.lgamma = LGamma()  # as MindSpore prints it

    def construct(self, a: Tensor, x: Tensor) -> Tensor:
        _check_dtype(a, "a", self.cls_name, (mstype.float32,))
        _check_dtype(x, "x", self.cls_name, (mstype.float32,))
        return igamma(a, x)


class LBeta(Cell):
    """log beta(x, y) = log gamma(x) + log gamma(y) - log gamma(x + y), for numbers above 0.

    Inputs:
        x, y (Tensor): float16 or float32 of one dtype; the shapes broadcast.

    Outputs:
        Tensor.

    Raises:
        TypeError: for another dtype, or two of them.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.LBeta()(ms.Tensor([1.0]), ms.Tensor([2.0])))
        [-0.6931472]
    """

    def __init__(self) -> None:
        super().__init__()
        self.lgamma = LGamma()  # as MindSpore prints it

    def construct(self, x: Tensor, y: Tensor) -> Tensor:
        _check_dtype(x, "x", self.cls_name, _SMALL_FLOATS)
        _check_dtype(y, "y", self.cls_name, (x.dtype,))
        # The terms nearly cancel for large numbers: float64 keeps the digits that are left.
        a, b = (ops.cast(t, mstype.float64) for t in (x, y))
        return ops.cast(ops.lgamma(a) + ops.lgamma(b) - ops.lgamma(a + b), x.dtype)
