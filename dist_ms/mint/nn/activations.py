"""Activation layers in PyTorch's form."""

from __future__ import annotations

from dist_ms.common.tensor import Tensor
from dist_ms.mint.nn import functional
from dist_ms.nn.cell import Cell
from dist_ms.nn.layer.activation import HShrink as Hardshrink
from dist_ms.nn.layer.activation import HSigmoid as Hardsigmoid
from dist_ms.nn.layer.activation import HSwish as Hardswish
from dist_ms.nn.layer.activation import ReLU
from dist_ms.nn.layer.activation import SoftShrink as Softshrink
from dist_ms.nn.layer.extended.layers import PReLUExt as PReLU

__all__ = [
    "ELU",
    "GELU",
    "GLU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "PReLU",
    "ReLU",
    "ReLU6",
    "SELU",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softshrink",
    "Tanh",
    "Threshold",
]


class _Plain(Cell):
    """A layer that applies a function without arguments."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, input: Tensor) -> Tensor:
        return getattr(functional, type(self).__name__.lower())(input)


class LogSigmoid(_Plain):
    """`functional.logsigmoid` as a layer: `LogSigmoid()(input)`."""


class Mish(_Plain):
    """`functional.mish` as a layer: `Mish()(input)`."""


class SELU(_Plain):
    """`functional.selu` as a layer: `SELU()(input)`."""


class Sigmoid(_Plain):
    """`functional.sigmoid` as a layer: `Sigmoid()(input)`."""


class Tanh(_Plain):
    """`functional.tanh` as a layer: `Tanh()(input)`."""


class ReLU6(Cell):
    """`functional.relu6` as a layer: `ReLU6(inplace)(input)`."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def construct(self, input: Tensor) -> Tensor:
        return functional.relu6(input, self.inplace)


class SiLU(Cell):
    """`functional.silu` as a layer: `SiLU(inplace)(input)`."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def construct(self, input: Tensor) -> Tensor:
        return functional.silu(input, self.inplace)


class ELU(Cell):
    """`functional.elu` as a layer: `ELU(alpha, inplace)(input)`."""

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def construct(self, input: Tensor) -> Tensor:
        return functional.elu(input, self.alpha, self.inplace)


class GELU(Cell):
    """`functional.gelu` as a layer: `GELU(approximate)(input)`."""

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def construct(self, input: Tensor) -> Tensor:
        return functional.gelu(input, self.approximate)


class GLU(Cell):
    """`functional.glu` as a layer: `GLU(dim)(input)`."""

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def construct(self, input: Tensor) -> Tensor:
        return functional.glu(input, self.dim)


class Hardtanh(Cell):
    """`functional.hardtanh` as a layer: `Hardtanh(min_val, max_val, inplace)(input)`."""

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.min_val, self.max_val, self.inplace = min_val, max_val, inplace

    def construct(self, input: Tensor) -> Tensor:
        return functional.hardtanh(input, self.min_val, self.max_val, self.inplace)


class Threshold(Cell):
    """`functional.threshold` as a layer: `Threshold(threshold, value, inplace)(input)`."""

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace

    def construct(self, input: Tensor) -> Tensor:
        return functional.threshold(input, self.threshold, self.value, self.inplace)


class Softmax(Cell):
    """`functional.softmax` as a layer: `Softmax(dim)(input)`."""

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def construct(self, input: Tensor) -> Tensor:
        return functional.softmax(input, self.dim)


class LogSoftmax(Cell):
    """`functional.log_softmax` as a layer: `LogSoftmax(dim)(input)`."""

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def construct(self, input: Tensor) -> Tensor:
        return functional.log_softmax(input, self.dim)
