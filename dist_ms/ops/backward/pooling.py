"""Gradients of pooling as operations: MaxPoolGrad, AvgPoolGrad, those by saved places, and second ones."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from dist_ms import ops
from dist_ms.common.tensor import Tensor
from dist_ms.ops.backward.backward import REQUIRED, Backward, pushed

__all__ = [
    "AdaptiveAvgPool2DGrad",
    "AdaptiveAvgPool2DGradExt",
    "AdaptiveAvgPool3DGrad",
    "AdaptiveAvgPool3DGradExt",
    "AdaptiveMaxPool2DGrad",
    "AdaptiveMaxPool3DGrad",
    "AvgPool2DGrad",
    "AvgPool3DGrad",
    "AvgPool3DGradExt",
    "AvgPoolGrad",
    "AvgPoolGradGe",
    "AvgPoolGradV1",
    "FractionalAvgPoolGrad",
    "FractionalMaxPool3DGradWithFixedKsize",
    "FractionalMaxPoolGrad",
    "FractionalMaxPoolGradWithFixedKsize",
    "MaxPool3DGrad",
    "MaxPool3DGradGrad",
    "MaxPool3DGradWithArgmax",
    "MaxPoolGrad",
    "MaxPoolGradGrad",
    "MaxPoolGradGradWithArgmax",
    "MaxPoolGradV1",
    "MaxPoolGradWithArgmax",
    "MaxPoolGradWithArgmaxV2",
    "MaxPoolGradWithIndices",
    "MaxUnpool2DGrad",
    "MaxUnpool3DGrad",
]

_WINDOWS: dict[str, Any] = {"kernel_size": 1, "strides": 1, "pad_mode": "VALID", "data_format": "NCHW"}
_VOLUME_WINDOWS: dict[str, Any] = {
    "kernel_size": (1, 1, 1, 1, 1),
    "strides": (1, 1, 1, 1, 1),
    "pad_mode": "VALID",
    "pad_list": 0,
    "data_format": "NCDHW",
}


def lengths(value: Any) -> tuple[int, ...]:
    """A shape, given as a tuple or a tensor."""
    return tuple(int(n) for n in value.asnumpy()) if isinstance(value, Tensor) else tuple(value)


def _last(value: Any, rank: int) -> Any:
    """The part of a window's numbers that belongs to the last dimensions."""
    return value[-rank:] if isinstance(value, (tuple, list)) else value


def _flat(x: Tensor, rank: int) -> Tensor:
    """A tensor with its last dimensions as one."""
    return ops.reshape(x, (*x.shape[:-rank], math.prod(x.shape[-rank:])))


class _AtPlaces(Backward):
    """A gradient put to the places that were picked in the last dimensions of an image."""

    rank = 2

    def _put(self, x: Tensor, grad: Tensor, argmax: Tensor) -> Tensor:
        places = _flat(argmax, self.rank)
        return self.through(
            lambda v: ops.gather_elements(_flat(v, self.rank), -1, places), [x], _flat(grad, self.rank)
        )[0]

    def _pick(self, grad: Tensor, argmax: Tensor) -> Tensor:
        found = ops.gather_elements(_flat(grad, self.rank), -1, _flat(argmax, self.rank))
        return ops.reshape(found, argmax.shape)


class MaxPoolGrad(Backward):
    """The gradient of MaxPool, from its input and output.

    Args:
        kernel_size, strides, pad_mode, data_format: as in `MaxPool`.

    Call:
        x_origin (Tensor): the input.
        out_origin (Tensor): the output; it is not read.
        grad (Tensor): the gradient of the output.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.ops.backward import MaxPoolGrad
        >>> x, dy = ms.Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), ms.Tensor([[[[5.0]]]])
        >>> print(MaxPoolGrad(2, 2)(x, dy, dy))
        [[[[0. 0.]
           [0. 5.]]]]
    """

    options: ClassVar[dict[str, Any]] = _WINDOWS

    def _pool(self) -> Any:
        size, step = _last(self.kernel_size, 2), _last(self.strides, 2)
        return ops.MaxPool(size, step, self.pad_mode, self.data_format)

    def compute(self, x_origin: Tensor, out_origin: Tensor, grad: Tensor) -> Tensor:
        return self.through(self._pool(), [x_origin], grad)[0]


class MaxPoolGradV1(MaxPoolGrad):
    """The gradient of MaxPool in its first form, whose windows have four numbers."""


class MaxPoolGradGrad(MaxPoolGrad):
    """The gradient of MaxPoolGrad with respect to `grad`: what is at the places of the maxima."""

    def compute(self, x_origin: Tensor, out_origin: Tensor, grad: Tensor) -> Tensor:
        return pushed(self._pool(), x_origin, grad, self.name)


class MaxPool3DGrad(Backward):
    """The gradient of MaxPool3D, from its input and output."""

    options: ClassVar[dict[str, Any]] = _VOLUME_WINDOWS
    pad_list: Any = 0

    def _pool(self) -> Any:
        size, step = _last(self.kernel_size, 3), _last(self.strides, 3)
        return ops.MaxPool3D(size, step, self.pad_mode, self.pad_list, data_format=self.data_format)

    def compute(self, x_origin: Tensor, out_origin: Tensor, grad: Tensor) -> Tensor:
        return self.through(self._pool(), [x_origin], grad)[0]


class MaxPool3DGradGrad(MaxPool3DGrad):
    """The gradient of MaxPool3DGrad with respect to `grad`: what is at the places of the maxima."""

    options: ClassVar[dict[str, Any]] = {k: v for k, v in _VOLUME_WINDOWS.items() if k != "pad_list"}

    def compute(self, x_origin: Tensor, out_origin: Tensor, grad: Tensor) -> Tensor:
        return pushed(self._pool(), x_origin, grad, self.name)


class AvgPoolGrad(Backward):
    """The gradient of AvgPool; its output is not read."""

    options: ClassVar[dict[str, Any]] = _WINDOWS

    def _pool(self) -> Any:
        size, step = _last(self.kernel_size, 2), _last(self.strides, 2)
        return ops.AvgPool(size, step, self.pad_mode, self.data_format)

    def compute(self, x: Tensor, out: Tensor, dout: Tensor) -> Tensor:
        return self.through(self._pool(), [x], dout)[0]


class AvgPoolGradGe(AvgPoolGrad):
    """The gradient of AvgPool by the name that MindSpore's graph compiler gives it."""


class AvgPoolGradV1(AvgPoolGrad):
    """The gradient of AvgPool in its first form, from the shape of its input."""

    def compute(self, orig_input_shape: Any, input_grad: Tensor) -> Tensor:  # type: ignore[override]
        zeros = ops.zeros(lengths(orig_input_shape), input_grad.dtype)
        return self.through(self._pool(), [zeros], input_grad)[0]


class AvgPool3DGrad(Backward):
    """The gradient of AvgPool3D, from the shape of its input."""

    options: ClassVar[dict[str, Any]] = {
        "kernel_size": 1,
        "strides": 1,
        "pads": 0,
        "ceil_mode": False,
        "count_include_pad": True,
        "divisor_override": 0,
        "data_format": "NCDHW",
        "pad_mode": "pad",
    }

    def compute(self, origin_input_shape: Any, grads: Tensor) -> Tensor:
        pool = ops.AvgPool3D(
            _last(self.kernel_size, 3),
            _last(self.strides, 3),
            self.pad_mode,
            self.pads,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
            self.data_format,
        )
        return self.through(pool, [ops.zeros(lengths(origin_input_shape), grads.dtype)], grads)[0]


class _AvgPoolGradExt(Backward):
    """The gradient of the mean over windows, in PyTorch's form."""

    function = ""

    def compute(
        self,
        grad: Tensor,
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Tensor:
        from dist_ms.ops.extended import pooling

        pool = getattr(pooling, self.function)
        arguments = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
        return self.through(lambda x: pool(x, *arguments), [input], grad)[0]


class AvgPool2DGrad(_AvgPoolGradExt):
    """The gradient of `avg_pool2d` in PyTorch's form."""

    function = "avg_pool2d"


class AvgPool3DGradExt(_AvgPoolGradExt):
    """The gradient of `avg_pool3d` in PyTorch's form."""

    function = "avg_pool3d"


class AdaptiveAvgPool2DGrad(Backward):
    """The gradient of AdaptiveAvgPool2D, from the shape of its input."""

    def compute(self, input_grad: Tensor, orig_input_shape: Any) -> Tensor:
        zeros = ops.zeros(lengths(orig_input_shape), input_grad.dtype)
        return self.through(ops.AdaptiveAvgPool2D(input_grad.shape[-2:]), [zeros], input_grad)[0]


class AdaptiveAvgPool3DGrad(Backward):
    """The gradient of AdaptiveAvgPool3D, from the shape of its input."""

    def compute(self, y_grad: Tensor, orig_input_shape: Any) -> Tensor:
        zeros = ops.zeros(lengths(orig_input_shape), y_grad.dtype)
        return self.through(ops.AdaptiveAvgPool3D(y_grad.shape[-3:]), [zeros], y_grad)[0]


class AdaptiveAvgPool2DGradExt(Backward):
    """The gradient of AdaptiveAvgPool2D, from its input."""

    def compute(self, grad_output: Tensor, x: Tensor) -> Tensor:
        return self.through(ops.AdaptiveAvgPool2D(grad_output.shape[-2:]), [x], grad_output)[0]


class AdaptiveAvgPool3DGradExt(Backward):
    """The gradient of AdaptiveAvgPool3D, from its input."""

    def compute(self, input_grad: Tensor, input: Tensor) -> Tensor:
        return self.through(ops.AdaptiveAvgPool3D(input_grad.shape[-3:]), [input], input_grad)[0]


class AdaptiveMaxPool2DGrad(_AtPlaces):
    """The gradient of AdaptiveMaxPool2D, from the places of the maxima."""

    def compute(self, y_grad: Tensor, x: Tensor, argmax: Tensor) -> Tensor:
        return self._put(x, y_grad, argmax)


class AdaptiveMaxPool3DGrad(_AtPlaces):
    """The gradient of AdaptiveMaxPool3D, from the places of the maxima."""

    rank = 3

    def compute(self, input_grad: Tensor, x: Tensor, argmax: Tensor) -> Tensor:
        return self._put(x, input_grad, argmax)


class MaxPoolGradWithArgmax(_AtPlaces):
    """The gradient of MaxPoolWithArgmax, from the places of the maxima in each sample of all channels."""

    rank = 3
    options: ClassVar[dict[str, Any]] = _WINDOWS

    def compute(self, x: Tensor, grad: Tensor, argmax: Tensor) -> Tensor:
        return self._put(x, grad, argmax)


class MaxPoolGradGradWithArgmax(_AtPlaces):
    """The gradient of MaxPoolGradWithArgmax with respect to `grad`: what is at the places of the maxima."""

    rank = 3
    options: ClassVar[dict[str, Any]] = {k: v for k, v in _WINDOWS.items() if k != "data_format"}

    def compute(self, x: Tensor, grad: Tensor, argmax: Tensor) -> Tensor:
        return self._pick(grad, argmax)


class MaxPoolGradWithArgmaxV2(_AtPlaces):
    """The gradient of MaxPoolWithArgmaxV2, from the places of the maxima in each channel."""

    options: ClassVar[dict[str, Any]] = {
        "kernel_size": REQUIRED,
        "strides": None,
        "pads": 0,
        "dilation": (1, 1),
        "ceil_mode": False,
        "argmax_type": None,
    }

    def compute(self, x: Tensor, grad: Tensor, argmax: Tensor) -> Tensor:
        return self._put(x, grad, argmax)


class MaxPoolGradWithIndices(MaxPoolGradWithArgmaxV2):
    """The gradient of MaxPoolWithIndices, from the places of the maxima in each channel."""


class MaxPool3DGradWithArgmax(_AtPlaces):
    """The gradient of MaxPool3DWithArgmax, from the places of the maxima in each channel."""

    rank = 3
    options: ClassVar[dict[str, Any]] = {
        "ksize": REQUIRED,
        "strides": REQUIRED,
        "pads": REQUIRED,
        "dilation": (1, 1, 1),
        "ceil_mode": False,
        "data_format": "NCDHW",
    }

    def compute(self, x: Tensor, grads: Tensor, argmax: Tensor) -> Tensor:
        return self._put(x, grads, argmax)


class MaxUnpool2DGrad(_AtPlaces):
    """The gradient of MaxUnpool2D: what is at the places of the maxima."""

    options: ClassVar[dict[str, Any]] = {
        "ksize": REQUIRED,
        "strides": 0,
        "pads": 0,
        "output_shape": (),
        "data_format": "NCHW",
    }

    def compute(self, x: Tensor, grads: Tensor, argmax: Tensor) -> Tensor:
        return self._pick(grads, argmax)


class MaxUnpool3DGrad(MaxUnpool2DGrad):
    """The gradient of MaxUnpool3D: what is at the places of the maxima."""

    rank = 3
    options: ClassVar[dict[str, Any]] = {**MaxUnpool2DGrad.options, "data_format": "NCDHW"}


class FractionalMaxPoolGradWithFixedKsize(_AtPlaces):
    """The gradient of FractionalMaxPoolWithFixedKsize, from the places of the maxima in each channel."""

    options: ClassVar[dict[str, Any]] = {"data_format": "NCHW"}

    def compute(self, origin_input: Tensor, out_backprop: Tensor, argmax: Tensor) -> Tensor:
        return self._put(origin_input, out_backprop, argmax)


class FractionalMaxPool3DGradWithFixedKsize(FractionalMaxPoolGradWithFixedKsize):
    """The gradient of FractionalMaxPool3DWithFixedKsize, from the places of the maxima in each channel."""

    rank = 3
    options: ClassVar[dict[str, Any]] = {"data_format": "NCDHW"}


class FractionalAvgPoolGrad(Backward):
    """The gradient of FractionalAvgPool, from the shape of its input and where the stretches begin."""

    options: ClassVar[dict[str, Any]] = {"overlapping": False}

    def compute(
        self,
        orig_input_tensor_shape: Any,
        out_backprop: Tensor,
        row_pooling_sequence: Tensor,
        col_pooling_sequence: Tensor,
    ) -> Tensor:
        op = ops.FractionalAvgPool([1.0, 1.0, 1.0, 1.0], overlapping=self.overlapping)
        starts = row_pooling_sequence.asnumpy(), col_pooling_sequence.asnumpy()
        x = ops.zeros(lengths(orig_input_tensor_shape), out_backprop.dtype)
        return self.through(lambda v: op.pool(v, [op.windows(s) for s in starts]), [x], out_backprop)[0]


class FractionalMaxPoolGrad(Backward):
    """The gradient of FractionalMaxPool, from its input and where the stretches begin."""

    options: ClassVar[dict[str, Any]] = {"overlapping": False}

    def compute(
        self,
        orig_input: Tensor,
        orig_output: Tensor,
        out_backprop: Tensor,
        row_pooling_sequence: Tensor,
        col_pooling_sequence: Tensor,
    ) -> Tensor:
        op = ops.FractionalMaxPool([1.0, 1.0, 1.0, 1.0], overlapping=self.overlapping)
        starts = row_pooling_sequence.asnumpy(), col_pooling_sequence.asnumpy()
        return self.through(lambda v: op.pool(v, [op.windows(s) for s in starts]), [orig_input], out_backprop)[0]
