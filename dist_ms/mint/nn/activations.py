"""Activation layers in PyTorch's form."""

from __future__ import annotations

from dist_ms.mint.nn.function_layer import FunctionLayer
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


class _Plain(FunctionLayer):
    def __init__(self) -> None:
        super().__init__()


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


class ReLU6(FunctionLayer):
    """`functional.relu6` as a layer: `ReLU6(inplace)(input)`."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace=inplace)


class SiLU(FunctionLayer, inputs="x"):
    """`functional.silu` as a layer: `SiLU(inplace)(x)`."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace=inplace)


class ELU(FunctionLayer):
    """`functional.elu` as a layer: `ELU(alpha, inplace)(input)`."""

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(alpha=alpha, inplace=inplace)


class GELU(FunctionLayer):
    """`functional.gelu` as a layer: `GELU(approximate)(input)`."""

    def __init__(self, approximate: str = "none") -> None:
        super().__init__(approximate=approximate)


class GLU(FunctionLayer):
    """`functional.glu` as a layer: `GLU(dim)(input)`."""

    def __init__(self, dim: int = -1) -> None:
        super().__init__(dim=dim)


class Hardtanh(FunctionLayer):
    """`functional.hardtanh` as a layer: `Hardtanh(min_val, max_val, inplace)(input)`."""

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        super().__init__(min_val=min_val, max_val=max_val, inplace=inplace)


class Threshold(FunctionLayer):
    """`functional.threshold` as a layer: `Threshold(threshold, value, inplace)(input)`."""

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__(threshold=threshold, value=value, inplace=inplace)


class Softmax(FunctionLayer):
    """`functional.softmax` as a layer: `Softmax(dim)(input)`."""

    def __init__(self, dim: int | None = None) -> None:
        super().__init__(dim=dim)


class LogSoftmax(FunctionLayer, of="log_softmax", inputs="x"):
    """`functional.log_softmax` as a layer: `LogSoftmax(dim)(x)`."""

    def __init__(self, dim: int | None = None) -> None:
        super().__init__(dim=dim)
