"""Activation layers that look at more than one element, or have parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_positive_int, complaint
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.ops.arguments import number, tensor

__all__ = ["GLU", "LRN", "LogSoftmax", "PReLU", "RReLU", "Softmax", "Softmax2d", "Softmin"]


class Softmax(Cell):
    """`ops.softmax` as a layer: `Softmax(axis)(input)`; `axis` may be a tuple of one int."""

    def __init__(self, axis: Any = -1) -> None:
        super().__init__()
        self.softmax = ops.Softmax(axis)

    def construct(self, input: Tensor) -> Tensor:
        return self.softmax(input)


class LogSoftmax(Cell):
    """`ops.log_softmax` as a layer: `LogSoftmax(axis)(x)`."""

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.log_softmax = ops.LogSoftmax(axis)

    def construct(self, x: Tensor) -> Tensor:
        return self.log_softmax(x)


class Softmin(Cell):
    """exp(-x) / sum(exp(-x)) over an axis.

    Args:
        axis: an int, or a tuple of one.

    Raises:
        TypeError: if `axis` is no int or tuple of ints.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.Softmin()(ms.Tensor([1.0, 1.0])))
        [0.5 0.5]
    """

    def __init__(self, axis: Any = -1) -> None:
        super().__init__()
        self.softmax = ops.Softmax(axis)

    def construct(self, x: Tensor) -> Tensor:
        return self.softmax(-tensor(x, "x", "Softmin"))


class Softmax2d(Cell):
    """Softmax over the channels of (N, C, H, W) or (C, H, W).

    Raises:
        ValueError: when the input has other dimensions.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.Softmax2d()(ms.Tensor([[[1.0]], [[1.0]]])))
        [[[0.5]]
        <BLANKLINE>
         [[0.5]]]
    """

    def __init__(self) -> None:
        super().__init__()
        self.softmax = ops.Softmax(-3)

    def construct(self, x: Tensor) -> Tensor:
        if tensor(x, "x", "Softmax2d").ndim not in (3, 4):
            raise ValueError(f"For 'Softmax2d', the input must have 3 or 4 dimensions, but got shape {x.shape}.")
        return self.softmax(x)


class GLU(Cell):
    """`ops.glu` as a layer: `GLU(axis)(x)`."""

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def construct(self, x: Tensor) -> Tensor:
        return ops.glu(x, self.axis)


class PReLU(Cell):
    """x where positive, else a x, with a parameter `a` (channel,).

    He et al., "Delving Deep into Rectifiers", 2015.

    Args:
        channel: 1, or the number of channels of the input.
        w: initial value of `a`: a float, a list of floats or a Tensor.

    Raises:
        TypeError: if `channel` is no int, or `w` no float, list or Tensor.
        ValueError: if `channel` is not positive, or `w` has another length.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.PReLU()(ms.Tensor([-1.0, 2.0])))
        [-0.25  2.  ]
    """

    def __init__(self, channel: int = 1, w: Any = 0.25) -> None:
        super().__init__()
        check_positive_int(channel, "channel", "PReLU")
        if isinstance(w, (float, np.float32)):
            values = np.full(channel, w, np.float32)
        elif isinstance(w, list):
            values = np.asarray(w, np.float32)
        elif isinstance(w, Tensor):
            values = w.asnumpy()
        else:
            raise TypeError(complaint("w", "PReLU", "a float, list or Tensor", type(w).__name__))
        if values.shape != (channel,):
            raise ValueError(complaint("w", "PReLU", f"of 'channel' = {channel} elements", f"shape {values.shape}"))
        self.w = Parameter(Tensor(values), name="a")

    def construct(self, x: Tensor) -> Tensor:
        if not isinstance(x, Tensor):  # of which MindSpore reads the dtype first
            raise AttributeError(complaint("x", "PReLU", "a Tensor", type(x).__name__))
        return ops.prelu(x, self.w)


class RReLU(Cell):
    """`ops.rrelu` as a layer: `RReLU(lower, upper)(x)`."""

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3) -> None:
        super().__init__()
        self.lower, self.upper = number(lower, "lower", "RReLU"), number(upper, "upper", "RReLU")
        if upper < lower:
            raise ValueError(f"For 'RReLU', 'upper' must be at least 'lower' {lower}, but got {upper}.")

    def construct(self, x: Tensor) -> Tensor:
        return ops.rrelu(x, self.lower, self.upper)


class LRN(Cell):
    """`ops.lrn` as a layer: `LRN(depth_radius, bias, alpha, beta, norm_region)(input_x)`."""

    def __init__(
        self,
        depth_radius: int = 5,
        bias: float = 1.0,
        alpha: float = 1.0,
        beta: float = 0.5,
        norm_region: str = "ACROSS_CHANNELS",
    ) -> None:
        super().__init__()
        self.lrn = ops.LRN(depth_radius, bias, alpha, beta, norm_region)

    def construct(self, input_x: Tensor) -> Tensor:
        return self.lrn(input_x)
