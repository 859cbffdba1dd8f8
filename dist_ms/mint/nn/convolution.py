"""Convolution layers in PyTorch's form."""

from __future__ import annotations

import math
from typing import Any

from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_bool, check_int, check_positive_int, check_string, complaint
from dist_ms.common.initializer import HeUniform, Uniform, initializer
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.mint.nn import functional
from dist_ms.nn.cell import Cell
from dist_ms.ops.convolutions.geometry import per_dimension

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose2d"]

_MODES = {"zeros": "constant", "reflect": "reflect", "replicate": "replicate", "circular": "circular"}


def _each(value: Any, rank: int) -> tuple[int, ...]:
    """One number for each spatial dimension."""
    if not isinstance(value, (int, tuple, list)):
        raise ValueError(f"For 'Convolution', the sizes must be an int, a tuple or a list, but got {value!r}.")
    return (value,) * rank if isinstance(value, int) else tuple(value)


class _Convolution(Cell):
    """What convolution layers share: parameters `weight` and `bias`, and numbers for each dimension."""

    _rank = 0

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        groups: int,
        bias: bool,
        padding_mode: str,
        dtype: Any,
    ) -> None:
        super().__init__()
        for value, name in ((in_channels, "in_channels"), (out_channels, "out_channels"), (groups, "groups")):
            check_positive_int(value, name, self.cls_name)
        for value, name in ((in_channels, "in_channels"), (out_channels, "out_channels")):
            if value % groups:
                raise ValueError(
                    f"For '{self.cls_name}', '{name}' must be a multiple of 'groups' ({groups}), but got {value}."
                )
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size = _each(kernel_size, self._rank)
        self.stride, self.dilation = _each(stride, self._rank), _each(dilation, self._rank)
        self.padding = padding if isinstance(padding, str) else _each(padding, self._rank)
        self.padding_mode = check_string(padding_mode, "padding_mode", self.cls_name, list(_MODES))
        kind = mstype.float32 if dtype is None else dtype
        shape = self._weight_shape()
        self.weight = Parameter(initializer(HeUniform(math.sqrt(5)), shape, kind), name="weight")
        bound = 1 / math.sqrt(math.prod(shape[1:]))
        self.bias = Parameter(initializer(Uniform(bound), (out_channels,), kind), name="bias") if bias else None

    def _weight_shape(self) -> tuple[int, ...]:
        return (self.out_channels, self.in_channels // self.groups, *self.kernel_size)

    def extend_repr(self) -> str:
        return (
            f"input_channels={self.in_channels}, output_channels={self.out_channels}, "
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, groups={self.groups}, bias={self.bias is not None}"
        )


class _Conv(_Convolution):
    """What Conv1d to Conv3d share."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        dtype: Any = None,
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, dtype
        )

    def construct(self, input: Tensor) -> Tensor:
        padding = self.padding
        if self.padding_mode != "zeros" and padding != "valid":
            spans = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size)]
            sides = [(n // 2, n - n // 2) for n in spans] if padding == "same" else [(n, n) for n in padding]
            input = functional.pad(input, [n for pair in reversed(sides) for n in pair], _MODES[self.padding_mode])
            padding = "valid"
        function = getattr(functional, f"conv{self._rank}d")
        return function(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)


class Conv1d(_Conv):
    """`Conv2d` of (N, C, L)."""

    _rank = 1


class Conv2d(_Conv):
    """Convolution of (N, C, H, W); see `functional.conv2d`.

    Parameters: `weight` (out_channels, in_channels / groups, *kernel_size) and `bias`
    (out_channels,), uniform in +-1 / sqrt(inputs of one output).

    Args:
        in_channels, out_channels: C before and after.
        kernel_size, stride, dilation: ints or tuples of two.
        padding: an int, a tuple of two, "valid" or "same".
        groups: number of groups the channels fall into.
        bias: whether there is one.
        padding_mode: what the padding is: "zeros", "reflect", "replicate" or "circular".
        dtype: the parameters' type; None for float32.

    Raises:
        ValueError: for channels that do not fall into the groups, or an unknown padding mode.

    Examples:
        >>> import dist_ms as ms
        >>> ms.mint.nn.Conv2d(2, 3, 3, padding=1)(ms.ops.ones((1, 2, 8, 8))).shape
        (1, 3, 8, 8)
    """

    _rank = 2


class Conv3d(_Conv):
    """`Conv2d` of (N, C, D, H, W)."""

    _rank = 3


class ConvTranspose2d(_Convolution):
    """The transposed convolution of (N, C, H, W), which makes images larger.

    Parameters: `weight` (in_channels, out_channels / groups, *kernel_size) and `bias`.

    Args:
        in_channels, out_channels, kernel_size, stride, padding, groups, bias, dilation, dtype: as `Conv2d`.
        output_padding: added to one side of the output.
        padding_mode: "zeros".

    Examples:
        >>> import dist_ms as ms
        >>> ms.mint.nn.ConvTranspose2d(2, 3, 2, 2)(ms.ops.ones((1, 2, 4, 4))).shape
        (1, 3, 8, 8)
    """

    _rank = 2

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        dtype: Any = None,
    ) -> None:
        check_bool(bias, "bias", "ConvTranspose2d")
        if isinstance(kernel_size, (int, tuple, list)):
            for size in (kernel_size,) if isinstance(kernel_size, int) else kernel_size:
                check_int(size, "kernel_size", "ConvTranspose2d")
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, dtype
        )
        per_dimension(stride, 2, "stride", "ConvTranspose2d")
        per_dimension(dilation, 2, "dilation", "ConvTranspose2d")
        if padding_mode != "zeros":
            raise ValueError(f"For 'ConvTranspose2d', 'padding_mode' must be 'zeros', but got {padding_mode!r}.")
        self.output_padding = _each(output_padding, 2)

    def _weight_shape(self) -> tuple[int, ...]:
        return (self.in_channels, self.out_channels // self.groups, *self.kernel_size)

    def construct(self, input: Tensor, output_size: Any = None) -> Tensor:
        """Convolve.

        Args:
            input: a tensor (N, C, H, W).
            output_size: the output's (H, W), or whole shape, in place of what `output_padding` makes of it.

        Raises:
            ValueError: if there is no output of that size, or it has another length.
        """
        padding = self.output_padding if output_size is None else self._output_padding(input.shape, output_size)
        return functional.conv_transpose2d(
            input, self.weight, self.bias, self.stride, self.padding, padding, self.groups, self.dilation
        )

    def _output_padding(self, shape: tuple[int, ...], output_size: Any) -> tuple[int, ...]:
        """What the smallest output lacks to a size."""
        if len(output_size) not in (self._rank, len(shape)):
            wanted = f"{self._rank} or {len(shape)} ints"
            raise ValueError(complaint("output_size", self.cls_name, wanted, output_size))
        sizes = tuple(output_size[-self._rank :])
        geometry = zip(shape[-self._rank :], self.stride, self.padding, self.dilation, self.kernel_size, strict=True)
        least = [(n - 1) * s - 2 * p + d * (k - 1) + 1 for n, s, p, d, k in geometry]
        most = [n + s - 1 for n, s in zip(least, self.stride, strict=True)]
        if not all(low <= n <= high for low, n, high in zip(least, sizes, most, strict=True)):
            wanted = f"sizes from {least} to {most} for an input of shape {shape}"
            raise ValueError(complaint("output_size", self.cls_name, wanted, output_size))
        return tuple(n - low for n, low in zip(sizes, least, strict=True))
