"""Bringing a gradient a user computed to the shape and type of what it belongs to."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.autograd.differentiate import numpy_dtype
from dist_ms.autograd.tape import Recorded, apply
from dist_ms.common.tensor import Tensor, wrap


class _To(Recorded):
    def __init__(self, shape: tuple) -> None:
        self.shape = shape


class _SumTo(_To):
    """Sum over the dimensions that broadcasting a shape to the input's would add or stretch."""

    name = "SumTo"

    def forward(self, x: np.ndarray) -> np.ndarray:
        lead = x.ndim - len(self.shape)
        axes = tuple(i for i in range(x.ndim) if i < lead or self.shape[i - lead] != x.shape[i])
        return x.sum(axes, dtype=x.dtype).reshape(self.shape)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return (apply(_SpreadTo(inputs[0].shape), dout),)


class _SpreadTo(_To):
    """Broadcast to a shape."""

    name = "SpreadTo"

    def forward(self, x: np.ndarray) -> np.ndarray:
        return np.broadcast_to(x, self.shape).copy()

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return (apply(_SumTo(inputs[0].shape), dout),)


class _As(Recorded):
    """Cast to a NumPy dtype."""

    name = "As"

    def __init__(self, dtype: np.dtype) -> None:
        self.dtype = dtype

    def forward(self, x: np.ndarray) -> np.ndarray:
        return x.astype(self.dtype)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return (apply(_As(numpy_dtype(inputs[0])), dout),)


def fit(grad: Any, like: Tensor) -> Tensor:
    """A gradient in the shape and type of `like`: broadcast dimensions summed, then cast.

    Args:
        grad: a Tensor or a number.
        like: the tensor the gradient belongs to; its data is not read.

    Raises:
        TypeError: if `grad` is neither.
        RuntimeError: if the shape of `like` cannot be broadcast to that of `grad`.
    """
    if not isinstance(grad, Tensor):
        if not isinstance(grad, (bool, int, float)):
            raise TypeError(
                f"Unreasonable data type: a gradient must be a Tensor, a number or None, but got {type(grad)}."
            )
        grad = wrap(np.asarray(grad, numpy_dtype(like)))
    want, have = like.shape, grad.shape
    if want != have:
        lead = len(have) - len(want)
        if lead < 0 or any(w not in (1, h) for w, h in zip(want, have[lead:])):
            raise RuntimeError(
                "For grad interface or custom function, grad tensor should be broadcast to "
                f"expected shape, but got {list(have)} vs {list(want)}."
            )
        grad = apply(_SumTo(want), grad)
    dtype = numpy_dtype(like)
    return grad if numpy_dtype(grad) == dtype else apply(_As(dtype), grad)
