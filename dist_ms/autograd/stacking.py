"""Stacking tensors along a new axis and taking them apart again; each is the other's gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dist_ms.autograd.tape import Recorded, apply
from dist_ms.common.tensor import Tensor


class _Stack(Recorded):
    """Stack equal shapes along a new axis, then reshape."""

    name = "StackAlong"

    def __init__(self, axis: int, shape: tuple | None = None) -> None:
        self.axis = axis
        self.shape = shape

    def forward(self, *arrays: np.ndarray) -> np.ndarray:
        stacked = np.stack(arrays, self.axis)
        return stacked if self.shape is None else stacked.reshape(self.shape)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        item = inputs[0].shape
        axis = self.axis % (len(item) + 1)
        stacked = (*item[:axis], len(inputs), *item[axis:])
        return apply(_Unstack(axis, None if self.shape is None else stacked), dout)


class _Unstack(Recorded):
    """Reshape, then split along an axis that the parts do not have."""

    name = "UnstackAlong"

    def __init__(self, axis: int, shape: tuple | None = None) -> None:
        self.axis = axis
        self.shape = shape

    def forward(self, x: np.ndarray) -> tuple:
        if self.shape is not None:
            x = x.reshape(self.shape)
        return tuple(np.moveaxis(x, self.axis, 0))

    def gradient(self, inputs: tuple, output: Any, dout: tuple) -> tuple:
        shape = inputs[0].shape if self.shape is not None else None
        return (apply(_Stack(self.axis, shape), *dout),)


def stack(items: Sequence[Tensor], axis: int = 0, shape: tuple | None = None) -> Tensor:
    """Stack tensors of one shape along a new axis and give the result a shape."""
    return apply(_Stack(axis, shape), *items)


def unstack(x: Tensor, axis: int = 0) -> tuple[Tensor, ...]:
    """The slices of a tensor along an axis; its length must not be zero."""
    return apply(_Unstack(axis), x)
