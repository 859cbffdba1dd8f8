"""Pooling layers: maximum and mean over sliding windows."""

from __future__ import annotations

from typing import Any

from dist_ms.common.checks import check_bool, check_dimensions, check_int, check_string, check_type, complaint
from dist_ms.common.error_classes import raises, reads, scalars, truths
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.ops.arguments import tensor
from dist_ms.ops.convolutions.geometry import check_data_format, mode_padding, per_dimension
from dist_ms.ops.pooling_windows.pooling import AvgPooling, MaxPooling, MaxPoolingWithIndices, Pool
from dist_ms.ops.pooling_windows.pooling_functions import batched

__all__ = ["AvgPool1d", "AvgPool2d", "AvgPool3d", "MaxPool1d", "MaxPool2d", "MaxPool3d"]


class _PoolNd(Cell):
    """What pooling layers share: attributes and windows."""

    _op: Any
    _rank: int

    def _read(
        self, rank: int, kernel_size: Any, stride: Any, pad_mode: str, padding: Any, dilation: Any, ceil_mode: bool
    ) -> Pool:
        """Check the arguments, set MindSpore's attributes, and return the windows."""
        owner = self.cls_name
        types = (int,) if isinstance(self, MaxPool1d) else (int, tuple)
        for value, name in ((kernel_size, "kernel_size"), (stride, "stride")):
            check_type(value, name, owner, types)
        if isinstance(self, AvgPool1d):
            for value, name in ((kernel_size, "kernel_size"), (stride, "stride")):
                per_dimension(value, 1, name, owner)
        kernel = per_dimension(kernel_size, rank, "kernel_size", owner, ValueError)
        step = per_dimension(stride, rank, "stride", owner, ValueError)
        self.kernel_size = (1, *kernel) if rank == 1 else kernel_size
        self.stride = (1, *step) if rank == 1 else stride
        self.pad_mode = check_string(
            pad_mode.upper() if isinstance(pad_mode, str) else pad_mode, "pad_mode", owner, ["VALID", "SAME", "PAD"]
        )
        check_type(padding, "padding", owner, (int, tuple, list))
        check_bool(ceil_mode, "ceil_mode", owner)
        pairs = mode_padding(self.pad_mode.lower(), padding, rank, "padding", owner, symmetric=True)
        step_inside = per_dimension(dilation, rank, "dilation", owner, ValueError)
        size_error = RuntimeError if rank < 3 and isinstance(self, _AvgPoolNd) else ValueError
        return Pool(kernel, step, pairs, step_inside, ceil_mode, owner, size_error).check_padding()

    def construct(self, x: Tensor) -> Any:
        rank = self._rank
        if isinstance(x, Tensor) and x.ndim == rank + 2:
            return self._op(x)
        check_dimensions(tensor(x, "x", self.cls_name), "x", self.cls_name, rank + 1, rank + 2)
        return batched(self._op, x, rank)

    def extend_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}"


class _MaxPoolNd(_PoolNd):
    """A maximum pooling layer."""

    def __init__(
        self,
        kernel_size: Any = 1,
        stride: Any = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.return_indices = check_bool(return_indices, "return_indices", self.cls_name)
        if self._rank == 3:
            check_type(padding, "padding", self.cls_name, (int, tuple, list))
        plain = padding in (0, (0,) * self._rank) and dilation in (1, (1,) * self._rank)
        is_pad = isinstance(pad_mode, str) and pad_mode.upper() == "PAD"
        check_type(pad_mode, "pad_mode", self.cls_name, str)
        if not is_pad and not (plain and not return_indices and not ceil_mode):
            raise ValueError(
                f"For '{self.cls_name}', 'padding', 'dilation', 'return_indices' and 'ceil_mode' need "
                f"pad_mode 'pad', but got {pad_mode!r}."
            )
        if not is_pad:
            dilation, ceil_mode = 1, False
        elif isinstance(dilation, bool) and self._rank < 3:
            dilation = int(dilation)
        pool = self._read(self._rank, kernel_size, stride, pad_mode, padding, dilation, ceil_mode)
        self._op = MaxPoolingWithIndices(pool) if return_indices else MaxPooling(pool)


@reads("shape")
@truths("return_indices")
@raises(pad_mode=(TypeError, ValueError), dilation=ValueError)
class MaxPool2d(_MaxPoolNd):
    """The maximum over sliding windows of (N, C, H, W) or (C, H, W).

    Args:
        kernel_size, stride: an int or a tuple (height, width).
        pad_mode: "valid" without padding, "same" for an output of ceil(size / stride), "pad" for
            `padding`; in any case of letters.
        padding: an int or a tuple (height, width), at most half the kernel; never a maximum.
        dilation: step between the elements of a window.
        return_indices: return the flat indices (int64) in the (H, W) plane as well.
        ceil_mode: whether a partly filled last window counts.
        data_format: "NCHW".

    Inputs:
        x (Tensor): (N, C, H, W) or (C, H, W) floats.

    Outputs:
        Tensor (N, C, H', W'), or a tuple with the indices.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number is out of range, or an argument after `pad_mode` is given without
            "pad".

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.MaxPool2d(2, 2)(ms.Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])))
        [[[[4.]]]]
    """

    _rank = 2

    def __init__(
        self,
        kernel_size: Any = 1,
        stride: Any = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
        data_format: str = "NCHW",
    ) -> None:
        super().__init__(kernel_size, stride, pad_mode, padding, dilation, return_indices, ceil_mode)
        self.format = check_data_format(data_format, "MaxPool2d", "NCHW")


@raises(pad_mode=(TypeError, ValueError), dilation=ValueError)
@reads(x="ndim")
@truths("return_indices")
class MaxPool1d(_MaxPoolNd):
    """`MaxPool2d` of (N, C, L) or (C, L), with ints."""

    _rank = 1


@raises(pad_mode=(TypeError, ValueError))
@reads(x="ndim")
@scalars("return_indices")
@truths("return_indices")
class MaxPool3d(_MaxPoolNd):
    """`MaxPool2d` of (N, C, D, H, W) or (C, D, H, W), with ints or tuples of three."""

    _rank = 3


class _AvgPoolNd(_PoolNd):
    """A mean pooling layer."""

    def __init__(
        self,
        kernel_size: Any = 1,
        stride: Any = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        owner = self.cls_name
        is_pad = isinstance(pad_mode, str) and pad_mode.upper() == "PAD"
        if self._rank < 3 and not is_pad and not ceil_mode and count_include_pad and divisor_override is None:
            if padding == 0:
                ceil_mode, count_include_pad = False, True
        check_bool(count_include_pad, "count_include_pad", owner)
        if isinstance(divisor_override, (int, float, Tensor)) and divisor_override <= 0:
            raise ValueError(complaint("divisor_override", owner, "a positive int or None", divisor_override))
        if divisor_override is not None:
            check_int(divisor_override, "divisor_override", owner)
        pool = self._read(self._rank, kernel_size, stride, pad_mode, padding, 1, ceil_mode)
        # MindSpore's plain 1-D and 2-D kernels leave "same" padding out of the mean, its 3-D one does not.
        plain = self._rank < 3 and self.pad_mode != "PAD" and not ceil_mode and divisor_override is None
        self._op = AvgPooling(pool, count_include_pad and not plain, divisor_override or 0)


@reads("shape")
@raises(pad_mode=(TypeError, ValueError))
class AvgPool2d(_AvgPoolNd):
    """The mean over sliding windows of (N, C, H, W) or (C, H, W).

    Args:
        kernel_size, stride: an int or a tuple (height, width).
        pad_mode: "valid" without padding, "same" for an output of ceil(size / stride), "pad" for
            `padding`; in any case of letters.
        padding: an int or a tuple (height, width), at most half the kernel; only with "pad".
        ceil_mode: whether a partly filled last window counts.
        count_include_pad: whether the padding counts in the mean (not that of plain "same").
        divisor_override: divide by this instead of the number of elements, or None.
        data_format: "NCHW".

    Inputs:
        x (Tensor): (N, C, H, W) or (C, H, W) floats.

    Outputs:
        Tensor (N, C, H', W').

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.AvgPool2d(2, 2)(ms.Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])))
        [[[[2.5]]]]
    """

    _rank = 2

    def __init__(
        self,
        kernel_size: Any = 1,
        stride: Any = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
        data_format: str = "NCHW",
    ) -> None:
        super().__init__(kernel_size, stride, pad_mode, padding, ceil_mode, count_include_pad, divisor_override)
        self.format = check_data_format(data_format, "AvgPool2d", "NCHW")


@reads("shape")
@raises(pad_mode=(TypeError, ValueError))
class AvgPool1d(_AvgPoolNd):
    """`AvgPool2d` of (N, C, L) or (C, L), with ints."""

    _rank = 1

    def __init__(
        self,
        kernel_size: int = 1,
        stride: int = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__(kernel_size, stride, pad_mode, padding, ceil_mode, count_include_pad)


@reads("shape")
@raises(pad_mode=(TypeError, ValueError))
class AvgPool3d(_AvgPoolNd):
    """`AvgPool2d` of (N, C, D, H, W) or (C, D, H, W), with ints or tuples of three."""

    _rank = 3
