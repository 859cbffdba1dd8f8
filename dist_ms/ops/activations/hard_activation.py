"""Activations of straight pieces (hard tanh, sigmoid, swish) and shrinking ones."""

from __future__ import annotations

from dist_ms import ops
from dist_ms.common.dtype import float32
from dist_ms.common.error_classes import bools, reads_of_none
from dist_ms.common.tensor import Tensor
from dist_ms.ops import arguments
from dist_ms.ops.activations.activation import tanh
from dist_ms.ops.activations.elementwise import Elementwise
from dist_ms.ops.arguments import not_of

__all__ = [
    "HShrink",
    "HSigmoid",
    "HSwish",
    "SoftShrink",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "soft_shrink",
    "softshrink",
    "tanhshrink",
]


class HSigmoid(Elementwise):
    """min(max((input + 3) / 6, 0), 1), element by element.

    Call:
        input (Tensor): real numbers.

    Raises:
        TypeError: if `input` is complex or no Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.HSigmoid()(ms.Tensor([-4.0, 0.0, 4.0])))
        [0.  0.5 1. ]
    """

    function = "hard_sigmoid"
    integers = True


class HSwish(Elementwise):
    """input min(max(input + 3, 0), 6) / 6, element by element.

    Howard et al., "Searching for MobileNetV3", 2019.

    Call:
        input (Tensor): real numbers.

    Raises:
        TypeError: if `input` is complex or no Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.HSwish()(ms.Tensor([-4.0, 0.0, 4.0])))
        [0. 0. 4.]
    """

    function = "hard_swish"
    integers = True

    def derivative(self, x: Tensor) -> Tensor:
        inside = (2 * x + 3) / 6
        return ops.select(x < -3, ops.zeros_like(x), ops.select(x > 3, ops.ones_like(x), inside))


class Hardtanh(Elementwise):
    """min(max(x, min_val), max_val); at the two corners the slope is a half."""

    function = "clip"
    integers = True

    def __init__(self, min_val: float, max_val: float) -> None:
        self.min_val, self.max_val = min_val, max_val
        self._options = (min_val, max_val, 0.5, 0.5)


@bools("lambd")
class HShrink(Elementwise):
    """`hardshrink` as a primitive: `HShrink(lambd)(input)`."""

    function = "hard_shrink"

    def __init__(self, lambd: float = 0.5) -> None:
        self.lambd = arguments.number(lambd, "lambd", "HShrink")
        self._options = (self.lambd,)


@bools("lambd")
class SoftShrink(Elementwise):
    """`softshrink` as a primitive: `SoftShrink(lambd)(input)`."""

    function = "soft_shrink"

    def __init__(self, lambd: float = 0.5) -> None:
        self.lambd = arguments.number(lambd, "lambd", "SoftShrink")
        if lambd < 0:
            raise RuntimeError(f"For 'SoftShrink', 'lambd' must be 0 or more, but got {lambd}.")
        self._options = (self.lambd,)


_hsigmoid, _hswish, _hardtanh = HSigmoid(), HSwish(), Hardtanh(-1.0, 1.0)


def hardsigmoid(input: Tensor) -> Tensor:
    """Return min(max((x + 3) / 6, 0), 1), element by element.

    Args:
        input: real numbers.

    Returns:
        Tensor of the shape and dtype of `input`.

    Raises:
        TypeError: if `input` is complex or no Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.hardsigmoid(ms.Tensor([-4.0, 0.0, 4.0])))
        [0.  0.5 1. ]
    """
    not_of(input, "?BHIL", "input", "hardsigmoid")
    return _hsigmoid(input)


def hardswish(input: Tensor) -> Tensor:
    """Return x min(max(x + 3, 0), 6) / 6, element by element.

    Args:
        input: real numbers.

    Returns:
        Tensor of the shape and dtype of `input`.

    Raises:
        TypeError: if `input` is complex or no Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.hardswish(ms.Tensor([0.0, 4.0])))
        [0. 4.]
    """
    not_of(input, "?BHIL", "input", "hardswish")
    return _hswish(input)


@reads_of_none("input")
def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """Return min(max(x, min_val), max_val), element by element.

    Args:
        input: real numbers.
        min_val: least value, an int or float.
        max_val: greatest value, an int or float.

    Returns:
        Tensor of the shape and dtype of `input`.

    Raises:
        TypeError: if a limit is no number, or `input` is complex.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.hardtanh(ms.Tensor([-4.0, 0.5, 4.0])))
        [-1.   0.5  1. ]
    """
    arguments.tensor(input, "input", "hardtanh")
    arguments.number(min_val, "min_val", "hardtanh")
    arguments.number(max_val, "max_val", "hardtanh")
    return (_hardtanh if min_val == -1 and max_val == 1 else Hardtanh(min_val, max_val))(input)


def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Return x where |x| > lambd, else 0, element by element.

    Args:
        input: floats.
        lambd: the threshold, a number.

    Returns:
        Tensor of the shape and dtype of `input`.

    Raises:
        TypeError: if `lambd` is no number, or `input` holds no floats.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.hardshrink(ms.Tensor([-1.0, 0.3])))
        [-1.  0.]
    """
    return HShrink(lambd)(input)


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Return x moved toward 0 by `lambd`, not beyond it, element by element.

    Args:
        input: floats.
        lambd: the distance, 0 or more.

    Returns:
        Tensor of the shape and dtype of `input`.

    Raises:
        TypeError: if `lambd` is no number, or `input` holds no floats.
        RuntimeError: if `lambd` is negative.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.softshrink(ms.Tensor([-1.0, 0.3])))
        [-0.5  0. ]
    """
    return SoftShrink(lambd)(input)


def tanhshrink(input: Tensor) -> Tensor:
    """Return x - tanh(x), element by element; integers give float32.

    Args:
        input: numbers.

    Returns:
        Tensor of the shape of `input`.

    Raises:
        TypeError: if `input` holds bools or is no Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.tanhshrink(ms.Tensor([0.0])))
        [0.]
    """
    kind = arguments.tensor(input, "input", "tanhshrink").array().dtype.kind
    if kind == "b":
        raise TypeError("For 'tanhshrink', the dtype of 'input' must be a number type, but got Bool; cast it first.")
    if kind in "iu":
        input = ops.cast(input, float32)
    return input - tanh(input)


soft_shrink = softshrink
