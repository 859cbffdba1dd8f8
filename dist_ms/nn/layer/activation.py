"""Activation layers: the functions of `dist_ms.ops` as Cells, and `get_activation`."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.checks import check_bool, check_key, check_type
from dist_ms.common.error_classes import scalars
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.nn.layer.extended.layers import PReLUExt
from dist_ms.nn.layer.shaped_activation import GLU, LRN, LogSoftmax, PReLU, RReLU, Softmax, Softmax2d, Softmin
from dist_ms.ops.arguments import number, scalar

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "LRN",
    "FastGelu",
    "HShrink",
    "HSigmoid",
    "HSwish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "PReLU",
    "PReLUExt",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SeLU",
    "SiLU",
    "Sigmoid",
    "SoftShrink",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
    "get_activation",
]


class ReLU(Cell):
    """`ops.relu` as a layer: `ReLU()(input)`."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, input: Tensor) -> Tensor:
        return ops.relu(input)


class ReLU6(Cell):
    """`ops.relu6` as a layer: `ReLU6()(x)`."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, x: Tensor) -> Tensor:
        return ops.relu6(x)


class LeakyReLU(Cell):
    """`ops.leaky_relu` as a layer: `LeakyReLU(alpha)(x)`."""

    def __init__(self, alpha: float = 0.2) -> None:
        super().__init__()
        self.alpha = alpha

    def construct(self, x: Tensor) -> Tensor:
        return ops.leaky_relu(x, self.alpha)


class ELU(Cell):
    """`ops.elu` as a layer: `ELU(alpha)(x)`."""

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self.alpha = check_type(alpha, "alpha", "ELU", float)

    def construct(self, x: Tensor) -> Tensor:
        return ops.elu(x, self.alpha)


@scalars("alpha")
class CELU(Cell):
    """`ops.celu` as a layer: `CELU(alpha)(x)`."""

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self.alpha = check_type(alpha, "alpha", "CELU", float)

    def construct(self, x: Tensor) -> Tensor:
        return ops.celu(x, self.alpha)


class SeLU(Cell):
    """`ops.selu` as a layer: `SeLU()(input_x)`."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, input_x: Tensor) -> Tensor:
        return ops.selu(input_x)


class GELU(Cell):
    """`ops.gelu` as a layer: `GELU(approximate)(x)`.

    Args:
        approximate: a bool: whether to use the formula with tanh instead of the exact one.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([2.0])
        >>> print(*(ms.nn.GELU(tanh)(x).asnumpy().round(4) for tanh in (True, False)))
        [1.9546] [1.9545]
    """

    def __init__(self, approximate: bool = True) -> None:
        super().__init__()
        self.approximate = "tanh" if check_bool(approximate, "approximate", "GELU") else "none"

    def construct(self, x: Tensor) -> Tensor:
        return ops.gelu(x, approximate=self.approximate)


class FastGelu(Cell):
    """`ops.fast_gelu` as a layer: `FastGelu()(x)`."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, x: Tensor) -> Tensor:
        return ops.fast_gelu(x)


class Sigmoid(Cell):
    """`ops.sigmoid` as a layer: `Sigmoid()(x)`."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, x: Tensor) -> Tensor:
        return ops.sigmoid(x)


class Tanh(Cell):
    """`ops.tanh` as a layer: `Tanh()(x)`."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, x: Tensor) -> Tensor:
        return ops.tanh(x)


class Tanhshrink(Cell):
    """`ops.tanhshrink` as a layer: `Tanhshrink()(x)`."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, x: Tensor) -> Tensor:
        return ops.tanhshrink(x)


@scalars("min_val", "max_val")
class Hardtanh(Cell):
    """`ops.hardtanh` as a layer: `Hardtanh(min_val, max_val)(x)`; `min_val` must be below `max_val`."""

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0) -> None:
        super().__init__()
        ends = scalar(min_val), scalar(max_val)
        if all(isinstance(end, (int, float)) for end in ends) and ends[0] >= ends[1]:
            raise ValueError(f"For 'Hardtanh', 'min_val' must be below 'max_val', but got {min_val} and {max_val}.")
        self.min_val = number(min_val, "min_val", "Hardtanh")
        self.max_val = number(max_val, "max_val", "Hardtanh")

    def construct(self, x: Tensor) -> Tensor:
        return ops.hardtanh(x, self.min_val, self.max_val)


class HSigmoid(Cell):
    """`ops.hardsigmoid` as a layer: `HSigmoid()(input)`."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, input: Tensor) -> Tensor:
        return ops.hardsigmoid(input)


class HSwish(Cell):
    """`ops.hardswish` as a layer: `HSwish()(input)`."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, input: Tensor) -> Tensor:
        return ops.hardswish(input)


class HShrink(Cell):
    """`ops.hardshrink` as a layer: `HShrink(lambd)(input)`."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = number(lambd, "lambd", "HShrink")

    def construct(self, input: Tensor) -> Tensor:
        return ops.hardshrink(input, self.lambd)


class SoftShrink(Cell):
    """`ops.softshrink` as a layer: `SoftShrink(lambd)(input)`."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = number(lambd, "lambd", "SoftShrink")

    def construct(self, input: Tensor) -> Tensor:
        return ops.softshrink(input, self.lambd)


class SiLU(Cell):
    """`ops.silu` as a layer: `SiLU()(x)`."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, x: Tensor) -> Tensor:
        return ops.silu(x)


class Mish(Cell):
    """`ops.mish` as a layer: `Mish()(input_x)`."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, input_x: Tensor) -> Tensor:
        return ops.mish(input_x)


class Softsign(Cell):
    """`ops.softsign` as a layer: `Softsign()(x)`."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, x: Tensor) -> Tensor:
        return ops.softsign(x)


class LogSigmoid(Cell):
    """`ops.logsigmoid` as a layer: `LogSigmoid()(input_x)`."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, input_x: Tensor) -> Tensor:
        return ops.logsigmoid(input_x)


class Threshold(Cell):
    """`ops.threshold` as a layer: `Threshold(threshold, value)(input_x)`."""

    def __init__(self, threshold: float, value: float) -> None:
        super().__init__()
        self.threshold = number(threshold, "threshold", "Threshold")
        self.value = number(value, "value", "Threshold")

    def construct(self, input_x: Tensor) -> Tensor:
        return ops.threshold(input_x, self.threshold, self.value)


_ACTIVATIONS = {
    "softmin": Softmin,
    "softmax": Softmax,
    "softmax2d": Softmax2d,
    "logsoftmax": LogSoftmax,
    "relu": ReLU,
    "relu6": ReLU6,
    "rrelu": RReLU,
    "silu": SiLU,
    "tanh": Tanh,
    "tanhshrink": Tanhshrink,
    "hardtanh": Hardtanh,
    "gelu": GELU,
    "fast_gelu": FastGelu,
    "elu": ELU,
    "sigmoid": Sigmoid,
    "softsign": Softsign,
    "prelu": PReLU,
    "leakyrelu": LeakyReLU,
    "hswish": HSwish,
    "hsigmoid": HSigmoid,
    "logsigmoid": LogSigmoid,
    "softshrink": SoftShrink,
    "hshrink": HShrink,
    "threshold": Threshold,
    "mish": Mish,
    "selu": SeLU,
    "celu": CELU,
    "glu": GLU,
}


def get_activation(name: str | None, prim_name: str | None = None) -> Any:
    """Make an activation layer by its name.

    Args:
        name: such as "relu" or "softmax"; None gives None.
        prim_name: who asks, for the error.

    Returns:
        A Cell, or None.

    Raises:
        KeyError: if no layer has the name.
        TypeError: if it cannot be a key.

    Examples:
        >>> import dist_ms as ms
        >>> ms.nn.get_activation("sigmoid")
        Sigmoid()
    """
    if name is None:
        return None
    if not isinstance(name, str) or name not in _ACTIVATIONS:
        owner = f"For '{prim_name}', the" if prim_name else "The"
        check_key(name, "name", prim_name)
        raise KeyError(f"{owner} 'name' must be in {list(_ACTIVATIONS)}, but got {name}.")
    return _ACTIVATIONS[name]()
