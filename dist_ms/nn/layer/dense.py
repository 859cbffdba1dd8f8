"""Dense and BiDense: fully connected layers."""

from __future__ import annotations

import math
from typing import Any

from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_bool, check_positive_int, check_type, complaint
from dist_ms.common.error_classes import reads_of_none
from dist_ms.common.initializer import HeUniform, Uniform, initializer
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.nn.layer.activation import get_activation
from dist_ms.ops.layers.dense import bidense, dense
from dist_ms.ops.primitive import Primitive

__all__ = ["BiDense", "Dense"]


def _check_init(init: Any, name: str, owner: str, shape: tuple) -> None:
    """Require a Tensor that initialises a parameter to have its shape."""
    if isinstance(init, Tensor) and init.shape != shape:
        raise ValueError(complaint(name, owner, f"a Tensor of shape {shape}", init.shape))


class Dense(Cell):
    """A fully connected layer: out = activation(x weight^T + bias).

    Parameters are `weight` (out_channels, in_channels) and `bias` (out_channels,).

    Args:
        in_channels: length of the input's last dimension.
        out_channels: length of the output's.
        weight_init: Tensor, name, Initializer or number; None for HeUniform(sqrt(5)), that is
            uniform in +-1 / sqrt(in_channels).
        bias_init: likewise; None for uniform in +-1 / sqrt(in_channels).
        has_bias: whether there is a bias.
        activation: a name known to `get_activation`, a Cell or a Primitive, or None.
        dtype: element type of the parameters.

    Inputs:
        x (Tensor): (..., in_channels).

    Outputs:
        Tensor (..., out_channels).

    Raises:
        TypeError: if an argument has the wrong type, or `x` another dtype than the parameters.
        ValueError: if a number is not positive, or a shape does not agree.
        KeyError: if no activation has the name.

    Examples:
        >>> import dist_ms as ms
        >>> layer = ms.nn.Dense(3, 2, weight_init="ones", bias_init="zeros")
        >>> print(layer(ms.Tensor([[1.0, 2.0, 3.0]])))
        [[6. 6.]]
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        weight_init: Any = None,
        bias_init: Any = None,
        has_bias: bool = True,
        activation: Any = None,
        dtype: Any = mstype.float32,
    ) -> None:
        super().__init__()
        self.in_channels = check_positive_int(in_channels, "in_channels", self.cls_name)
        self.out_channels = check_positive_int(out_channels, "out_channels", self.cls_name)
        self.has_bias = check_bool(has_bias, "has_bias", self.cls_name)
        _check_init(weight_init, "weight_init", self.cls_name, (out_channels, in_channels))
        if weight_init is None:
            weight_init = HeUniform(math.sqrt(5))
        self.weight = Parameter(initializer(weight_init, (out_channels, in_channels), dtype), name="weight")
        self.bias = None
        if has_bias:
            _check_init(bias_init, "bias_init", self.cls_name, (out_channels,))
            if bias_init is None:
                bias_init = Uniform(1 / math.sqrt(in_channels))
            self.bias = Parameter(initializer(bias_init, (out_channels,), dtype), name="bias")
        self.activation = get_activation(activation) if isinstance(activation, str) else activation
        if activation is not None and not isinstance(self.activation, (Cell, Primitive)):
            raise TypeError(
                complaint("activation", self.cls_name, "a str, Cell or Primitive", type(activation).__name__)
            )
        self.activation_flag = self.activation is not None

    def construct(self, x: Tensor) -> Tensor:
        out = dense(x, self.weight, self.bias)
        return self.activation(out) if self.activation_flag else out

    def extend_repr(self) -> str:
        text = f"input_channels={self.in_channels}, output_channels={self.out_channels}"
        if self.has_bias:
            text += f", has_bias={self.has_bias}"
        return f"{text}, activation={self.activation}" if self.activation_flag else text


@reads_of_none("input1")
class BiDense(Cell):
    """A bilinear layer: out[..., k] = input1 weight[k] input2^T + bias[k].

    Parameters are `weight` (out_channels, in1_channels, in2_channels) and `bias` (out_channels,),
    uniform in +-1 / sqrt(in1_channels) unless given.

    Args:
        in1_channels, in2_channels: last lengths of the two inputs.
        out_channels: last length of the output.
        weight_init, bias_init: Tensor, name, Initializer or number; None for the above.
        has_bias: whether there is a bias.
        dtype: element type of the parameters.

    Inputs:
        input1 (Tensor): (..., in1_channels).
        input2 (Tensor): (..., in2_channels).

    Outputs:
        Tensor (..., out_channels).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number is not positive, or a shape does not agree.

    Examples:
        >>> import dist_ms as ms
        >>> layer = ms.nn.BiDense(2, 2, 1, weight_init="ones", has_bias=False)
        >>> print(layer(ms.Tensor([[1.0, 2.0]]), ms.Tensor([[3.0, 4.0]])))
        [[21.]]
    """

    def __init__(
        self,
        in1_channels: int,
        in2_channels: int,
        out_channels: int,
        weight_init: Any = None,
        bias_init: Any = None,
        has_bias: bool = True,
        dtype: Any = mstype.float32,
    ) -> None:
        super().__init__()
        self.in1_channels = check_positive_int(in1_channels, "in1_channels", self.cls_name)
        self.in2_channels = check_positive_int(in2_channels, "in2_channels", self.cls_name)
        self.out_channels = check_positive_int(out_channels, "out_channels", self.cls_name)
        self.has_bias = check_bool(has_bias, "has_bias", self.cls_name)
        shape, bound = (out_channels, in1_channels, in2_channels), 1 / math.sqrt(in1_channels)
        _check_init(weight_init, "weight_init", self.cls_name, shape)
        weight_init = Uniform(bound) if weight_init is None else weight_init
        self.weight = Parameter(initializer(weight_init, shape, dtype), name="weight")
        self.bias = None
        if has_bias:
            _check_init(bias_init, "bias_init", self.cls_name, (out_channels,))
            bias_init = Uniform(bound) if bias_init is None else bias_init
            self.bias = Parameter(initializer(bias_init, (out_channels,), dtype), name="bias")

    def construct(self, input1: Tensor, input2: Tensor) -> Tensor:
        for given, name in ((input1, "input1"), (input2, "input2")):
            check_type(given, name, self.cls_name, Tensor)
        return bidense(input1, input2, self.weight, self.bias)

    def extend_repr(self) -> str:
        return (
            f"in1_channels={self.in1_channels}, in2_channels={self.in2_channels}, "
            f"output_channels={self.out_channels}, has_bias={self.has_bias}"
        )
