"""Linear: the dense layer in its newer form."""

from __future__ import annotations

import math
from typing import Any

from dist_ms import ops
from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_bool, check_positive_int, complaint
from dist_ms.common.initializer import HeUniform, Uniform, initializer
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell

__all__ = ["Linear"]


class Linear(Cell):
    """A fully connected layer: out = x weight^T + bias.

    Parameters are `weight` (out_features, in_features) and `bias` (out_features,), uniform in
    +-1 / sqrt(in_features) unless given.

    Args:
        in_features: length of the input's last dimension.
        out_features: length of the output's.
        bias: whether there is a bias.
        weight_init, bias_init: Tensor, name, Initializer or number; None for the above.
        dtype: element type of the parameters; None for float32.

    Inputs:
        input (Tensor): (..., in_features).

    Outputs:
        Tensor (..., out_features).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number is not positive, or a shape does not agree.

    Examples:
        >>> import dist_ms as ms
        >>> ms.nn.Linear(3, 4)(ms.ops.ones((2, 3))).shape
        (2, 4)
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        weight_init: Any = None,
        bias_init: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.in_features = check_positive_int(in_features, "in_features", self.cls_name)
        self.out_features = check_positive_int(out_features, "out_features", self.cls_name)
        self.has_bias = check_bool(bias, "has_bias", self.cls_name)
        dtype = mstype.float32 if dtype is None else dtype
        weight_init = HeUniform(math.sqrt(5)) if weight_init is None else weight_init
        self.weight = self._parameter("weight", weight_init, (out_features, in_features), dtype)
        self.bias = None
        if bias:
            bias_init = Uniform(1 / math.sqrt(in_features)) if bias_init is None else bias_init
            self.bias = self._parameter("bias", bias_init, (out_features,), dtype)

    def _parameter(self, name: str, init: Any, shape: tuple, dtype: Any) -> Parameter:
        if isinstance(init, Tensor) and init.shape != shape:
            raise ValueError(complaint(f"{name}_init", self.cls_name, f"a Tensor of shape {shape}", init.shape))
        return Parameter(initializer(init, shape, dtype), name=name)

    def construct(self, x: Tensor) -> Tensor:
        return ops.dense(x, self.weight, self.bias)

    def extend_repr(self) -> str:
        text = f"input_features={self.in_features}, output_features={self.out_features}"
        return f"{text}, has_bias={self.has_bias}" if self.has_bias else text
