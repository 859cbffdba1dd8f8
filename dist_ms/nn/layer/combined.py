"""Conv2dBnAct and DenseBnAct: a layer, a batch norm and an activation in one."""

from __future__ import annotations

from typing import Any

from dist_ms.common.checks import check_bool, complaint
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.nn.layer.activation import LeakyReLU, get_activation
from dist_ms.nn.layer.conv import Conv2d
from dist_ms.nn.layer.dense import Dense
from dist_ms.nn.layer.normalization import BatchNorm1d, BatchNorm2d
from dist_ms.ops.primitive import Primitive

__all__ = ["Conv2dBnAct", "DenseBnAct"]


class _WithBnAct(Cell):
    """What comes after the layer: a batch norm, if asked for, and an activation."""

    def _follow(self, norm: Any, activation: Any, alpha: float, after_fake: bool) -> None:
        """Make both; `norm` is the batch norm or None."""
        self.has_bn = norm is not None
        self.has_act = activation is not None
        self.after_fake = check_bool(after_fake, "after_fake", self.cls_name)
        if norm is not None:
            self.batchnorm = norm
        if activation == "leakyrelu":
            self.activation = LeakyReLU(alpha)
            return
        self.activation = get_activation(activation) if isinstance(activation, str) else activation
        if self.has_act and not isinstance(self.activation, (Cell, Primitive)):
            raise TypeError(
                complaint("activation", self.cls_name, "a str, Cell or Primitive", type(activation).__name__)
            )

    def _finish(self, x: Tensor) -> Tensor:
        if self.has_bn:
            x = self.batchnorm(x)
        return self.activation(x) if self.has_act else x


class Conv2dBnAct(_WithBnAct):
    """A convolution, then a batch norm and an activation if asked for.

    Parameters are those of `conv` and `batchnorm`.

    Args:
        in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group: as in
            `Conv2d`.
        has_bias, weight_init, bias_init: likewise, but weights are drawn with sigma 0.01 and biases 0.
        has_bn: whether there is a batch norm.
        momentum, eps: of the batch norm, see `BatchNorm2d`.
        activation: a name known to `get_activation`, a Cell or a Primitive, or None.
        alpha: slope of "leakyrelu" below 0.
        after_fake: for quantisation, which MindSpore does elsewhere; has no effect.

    Inputs:
        x (Tensor): (N, in_channels, H, W).

    Outputs:
        Tensor (N, out_channels, H', W').

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number is out of range.
        KeyError: if no activation has the name.

    Examples:
        >>> import dist_ms as ms
        >>> layer = ms.nn.Conv2dBnAct(3, 8, 3, has_bn=True, activation="relu")
        >>> layer(ms.ops.ones((1, 3, 5, 5))).shape
        (1, 8, 5, 5)
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        pad_mode: str = "same",
        padding: Any = 0,
        dilation: Any = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = "normal",
        bias_init: Any = "zeros",
        has_bn: bool = False,
        momentum: float = 0.997,
        eps: float = 1e-5,
        activation: Any = None,
        alpha: float = 0.2,
        after_fake: bool = True,
    ) -> None:
        super().__init__()
        self.conv = Conv2d(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            pad_mode,
            padding,
            dilation,
            group,
            has_bias,
            weight_init,
            bias_init,
        )
        check_bool(has_bn, "has_bn", self.cls_name)
        norm = BatchNorm2d(out_channels, eps, momentum) if has_bn else None
        self._follow(norm, activation, alpha, after_fake)

    def construct(self, x: Tensor) -> Tensor:
        return self._finish(self.conv(x))


class DenseBnAct(_WithBnAct):
    """A dense layer, then a batch norm and an activation if asked for.

    Parameters are those of `dense` and `batchnorm`.

    Args:
        in_channels, out_channels, has_bias: as in `Dense`.
        weight_init, bias_init: likewise, but weights are drawn with sigma 0.01 and biases 0.
        has_bn: whether there is a batch norm.
        momentum, eps: of the batch norm, see `BatchNorm1d`.
        activation: a name known to `get_activation`, a Cell or a Primitive, or None.
        alpha: slope of "leakyrelu" below 0.
        after_fake: for quantisation, which MindSpore does elsewhere; has no effect.

    Inputs:
        x (Tensor): (N, in_channels).

    Outputs:
        Tensor (N, out_channels).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number is out of range.
        KeyError: if no activation has the name.

    Examples:
        >>> import dist_ms as ms
        >>> ms.nn.DenseBnAct(3, 8, activation="relu")(ms.ops.ones((2, 3))).shape
        (2, 8)
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        weight_init: Any = "normal",
        bias_init: Any = "zeros",
        has_bias: bool = True,
        has_bn: bool = False,
        momentum: float = 0.9,
        eps: float = 1e-5,
        activation: Any = None,
        alpha: float = 0.2,
        after_fake: bool = True,
    ) -> None:
        super().__init__()
        self.dense = Dense(in_channels, out_channels, weight_init, bias_init, has_bias)
        check_bool(has_bn, "has_bn", self.cls_name)
        norm = BatchNorm1d(out_channels, eps, momentum) if has_bn else None
        self._follow(norm, activation, alpha, after_fake)

    def construct(self, x: Tensor) -> Tensor:
        return self._finish(self.dense(x))
