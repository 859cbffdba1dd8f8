"""Activation layers: the functions of `dist_ms.ops` as Cells, and `get_activation`."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.checks import check_bool, check_type
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.nn.layer.extended.layers import PReLUExt
from dist_ms.nn.layer.shaped_activation import GLU, LRN, LogSoftmax, PReLU, RReLU, Softmax, Softmax2d, Softmin
from dist_ms.ops.arguments import number

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
    """max(x, 0), element by element.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.ReLU()(ms.Tensor([-1.0, 2.0])))
        [0. 2.]
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.relu(x)


class ReLU6(Cell):
    """min(max(x, 0), 6), element by element.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.ReLU6()(ms.Tensor([-1.0, 9.0])))
        [0. 6.]
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.relu6(x)


class LeakyReLU(Cell):
    """x where positive, else alpha x.

    Args:
        alpha: slope of the negative side, an int or float.

    Raises:
        TypeError: if `alpha` is no number.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.LeakyReLU(0.5)(ms.Tensor([-1.0, 2.0])))
        [-0.5  2. ]
    """

    def __init__(self, alpha: float = 0.2) -> None:
        super().__init__()
        self.alpha = number(alpha, "alpha", "LeakyReLU")

    def construct(self, x: Tensor) -> Tensor:
        return ops.leaky_relu(x, self.alpha)


class ELU(Cell):
    """x where positive, else alpha (exp(x) - 1).

    Args:
        alpha: scale of the negative side, a float.

    Raises:
        TypeError: if `alpha` is no float.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.ELU()(ms.Tensor([0.0, 2.0])))
        [0. 2.]
    """

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self.alpha = check_type(alpha, "alpha", "ELU", float)

    def construct(self, x: Tensor) -> Tensor:
        return ops.elu(x, self.alpha)


class CELU(Cell):
    """max(x, 0) + min(alpha (exp(x / alpha) - 1), 0).

    Args:
        alpha: scale of the negative side, a float other than 0.

    Raises:
        TypeError: if `alpha` is no float.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.CELU()(ms.Tensor([0.0, 2.0])))
        [0. 2.]
    """

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self.alpha = check_type(alpha, "alpha", "CELU", float)

    def construct(self, x: Tensor) -> Tensor:
        return ops.celu(x, self.alpha)


class SeLU(Cell):
    """scale x where positive, else scale alpha (exp(x) - 1); scale = 1.0507, alpha = 1.6733.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.SeLU()(ms.Tensor([0.0, 1.0])))
        [0.       1.050701]
    """

    def construct(self, input_x: Tensor) -> Tensor:
        return ops.selu(input_x)


class GELU(Cell):
    """x P(X <= x) for a standard normal X.

    Args:
        approximate: use the formula with tanh instead of the exact one; see `ops.gelu`.

    Raises:
        TypeError: if `approximate` is no bool.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.GELU()(ms.Tensor([0.0, 100.0])))
        [  0. 100.]
    """

    def __init__(self, approximate: bool = True) -> None:
        super().__init__()
        self.approximate = "tanh" if check_bool(approximate, "approximate", "GELU") else "none"

    def construct(self, x: Tensor) -> Tensor:
        return ops.gelu(x, approximate=self.approximate)


class FastGelu(Cell):
    """x sigmoid(1.702 x), an approximation of GELU.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.FastGelu()(ms.Tensor([0.0])))
        [0.]
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.fast_gelu(x)


class Sigmoid(Cell):
    """1 / (1 + exp(-x)), element by element.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.Sigmoid()(ms.Tensor([0.0])))
        [0.5]
    """

    def construct(self, input: Tensor) -> Tensor:
        return ops.sigmoid(input)


class Tanh(Cell):
    """The hyperbolic tangent, element by element.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.Tanh()(ms.Tensor([0.0])))
        [0.]
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.tanh(x)


class Tanhshrink(Cell):
    """x - tanh(x), element by element.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.Tanhshrink()(ms.Tensor([0.0])))
        [0.]
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.tanhshrink(x)


class Hardtanh(Cell):
    """min(max(x, min_val), max_val), element by element.

    Args:
        min_val, max_val: the limits, ints or floats.

    Raises:
        TypeError: if a limit is no number.
        ValueError: if `min_val` is not below `max_val`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.Hardtanh()(ms.Tensor([-4.0, 0.5])))
        [-1.   0.5]
    """

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0) -> None:
        super().__init__()
        self.min_val = number(min_val, "min_val", "Hardtanh")
        self.max_val = number(max_val, "max_val", "Hardtanh")
        if min_val >= max_val:
            raise ValueError(f"For 'Hardtanh', 'min_val' must be below 'max_val', but got {min_val} and {max_val}.")

    def construct(self, x: Tensor) -> Tensor:
        return ops.hardtanh(x, self.min_val, self.max_val)


class HSigmoid(Cell):
    """min(max((x + 3) / 6, 0), 1), element by element.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.HSigmoid()(ms.Tensor([0.0])))
        [0.5]
    """

    def construct(self, input_x: Tensor) -> Tensor:
        return ops.hardsigmoid(input_x)


class HSwish(Cell):
    """x min(max(x + 3, 0), 6) / 6, element by element.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.HSwish()(ms.Tensor([4.0])))
        [4.]
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.hardswish(x)


class HShrink(Cell):
    """x where |x| > lambd, else 0, element by element.

    Args:
        lambd: the threshold, a number.

    Raises:
        TypeError: if `lambd` is no number.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.HShrink()(ms.Tensor([-1.0, 0.3])))
        [-1.  0.]
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = number(lambd, "lambd", "HShrink")

    def construct(self, input_x: Tensor) -> Tensor:
        return ops.hardshrink(input_x, self.lambd)


class SoftShrink(Cell):
    """x moved toward 0 by `lambd`, not beyond it, element by element.

    Args:
        lambd: the distance, 0 or more.

    Raises:
        TypeError: if `lambd` is no number.
        RuntimeError: when called with a negative `lambd`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.SoftShrink()(ms.Tensor([-1.0, 0.3])))
        [-0.5  0. ]
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = number(lambd, "lambd", "SoftShrink")

    def construct(self, input_x: Tensor) -> Tensor:
        return ops.softshrink(input_x, self.lambd)


class SiLU(Cell):
    """x sigmoid(x), element by element, also called swish.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.SiLU()(ms.Tensor([0.0])))
        [0.]
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.silu(x)


class Mish(Cell):
    """x tanh(log(1 + exp(x))), element by element.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.Mish()(ms.Tensor([0.0])))
        [0.]
    """

    def construct(self, input_x: Tensor) -> Tensor:
        return ops.mish(input_x)


class Softsign(Cell):
    """x / (1 + |x|), element by element.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.Softsign()(ms.Tensor([-1.0, 3.0])))
        [-0.5   0.75]
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.softsign(x)


class LogSigmoid(Cell):
    """log(1 / (1 + exp(-x))), element by element.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.LogSigmoid()(ms.Tensor([-100.0])))
        [-100.]
    """

    def construct(self, input_x: Tensor) -> Tensor:
        return ops.logsigmoid(input_x)


class Threshold(Cell):
    """x above `threshold`, else `value`.

    Args:
        threshold: the threshold, a number.
        value: what replaces the elements not above it.

    Raises:
        TypeError: if an argument is no number.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.Threshold(0.3, 20)(ms.Tensor([0.1, 0.5])))
        [20.   0.5]
    """

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

    Examples:
        >>> import dist_ms as ms
        >>> ms.nn.get_activation("sigmoid")
        Sigmoid()
    """
    if name is None:
        return None
    if not isinstance(name, str) or name not in _ACTIVATIONS:
        owner = f"For '{prim_name}', the" if prim_name else "The"
        raise KeyError(f"{owner} 'name' must be in {list(_ACTIVATIONS)}, but got {name}.")
    return _ACTIVATIONS[name]()
