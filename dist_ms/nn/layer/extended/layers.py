"""DropoutExt, Dropout2dExt, LayerNormExt and PReLUExt: layers whose arguments follow PyTorch's."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_number_range
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell

__all__ = ["Dropout2dExt", "DropoutExt", "LayerNormExt", "PReLUExt"]


class DropoutExt(Cell):
    """Sets elements to 0 with probability p and divides the others by 1 - p, in training only.

    Args:
        p: probability to drop an element, in [0, 1]; checked when it is used.
        inplace: write the result into the input.

    Inputs:
        input (Tensor): floats.

    Outputs:
        Tensor of the shape and dtype of `input`.

    Raises:
        ValueError: in training, if `p` is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.DropoutExt(0.5)(ms.Tensor([1.0, 2.0])))
        [1. 2.]
    """

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        self.p, self.inplace = p, inplace

    def _drop(self, input: Tensor) -> Tensor:
        return input * 0 if self.p == 1 else ops.dropout(input, float(self.p), True)

    def construct(self, input: Tensor) -> Tensor:
        if not self.training or self.p == 0:
            return input
        check_number_range(self.p, "p", self.cls_name, 0, 1)
        out = self._drop(input)
        if self.inplace:
            input[...] = out
            return input
        return out


class Dropout2dExt(DropoutExt):
    """`DropoutExt` for whole channels of (N, C, H, W) or (C, H, W)."""

    def _drop(self, input: Tensor) -> Tensor:
        return input * 0 if self.p == 1 else ops.dropout2d(input, self.p, True)


class LayerNormExt(Cell):
    """(x - mean) / sqrt(variance + eps) weight + bias over the last dimensions, biased variance.

    Ba, Kiros and Hinton, "Layer Normalization", 2016. Parameters are `weight` and `bias` of shape
    `normalized_shape`, which start as ones and zeros.

    Args:
        normalized_shape: an int, or a tuple or list of them: the lengths normalised over.
        eps: added to the variance.
        elementwise_affine: whether there are parameters.
        bias: whether `bias` is among them.
        dtype: element type of the parameters; None for float32.

    Inputs:
        input (Tensor): (..., *normalized_shape) floats.

    Outputs:
        Tensor of the shape and dtype of `input`.

    Raises:
        TypeError: if `normalized_shape` is no int, tuple or list.
        ValueError: if it is empty, or the shapes do not agree.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.LayerNormExt(2, eps=0.0)(ms.Tensor([[1.0, 3.0]])))
        [[-1.  1.]]
    """

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if isinstance(normalized_shape, numbers.Integral):
            normalized_shape = (normalized_shape,)
        if not isinstance(normalized_shape, (tuple, list)):
            raise TypeError(
                f"For '{self.cls_name}', 'normalized_shape' must be an int, or a tuple or list of them, but "
                f"got {type(normalized_shape).__name__}."
            )
        if not normalized_shape:
            raise ValueError(f"For '{self.cls_name}', 'normalized_shape' must have at least one length, but got none.")
        self.normalized_shape = shape = tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        dtype = mstype.float32 if dtype is None else dtype
        self.weight = Parameter(Tensor(np.ones(shape), dtype), name="weight") if elementwise_affine else None
        self.bias = Parameter(Tensor(np.zeros(shape), dtype), name="bias") if elementwise_affine and bias else None

    def construct(self, input: Tensor) -> Tensor:
        return ops.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extend_repr(self) -> str:
        return f"normalized_shape={self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class PReLUExt(Cell):
    """max(0, x) + weight min(0, x), with a learned weight for all channels or for each.

    He et al., "Delving Deep into Rectifiers", 2015. The parameter is `weight` (num_parameters,).

    Args:
        num_parameters: 1, or the number of channels (dimension 1 of the input).
        init: first value of the weights.
        dtype: element type of the parameter; None for float32.

    Inputs:
        input (Tensor): floats.

    Outputs:
        Tensor of the shape of `input`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.PReLUExt()(ms.Tensor([-1.0, 2.0])))
        [-0.25  2.  ]
    """

    def __init__(self, num_parameters: int = 1, init: float = 0.25, dtype: Any = None) -> None:
        super().__init__()
        self.weight = Parameter(Tensor(np.full((num_parameters,), init, np.float32), dtype=dtype), name="weight")

    def construct(self, input: Tensor) -> Tensor:
        return ops.prelu(input, self.weight)
