"""Products and convolutions that leave writing their result to the ReLU that follows.

ReLU is then the last step of the kernel, which saves a pass over memory. Only kernels of our own take part:
oneDNN's ReLU makes 0 of a NaN. To make a result twice would cost more than is saved, so a weight whose result
was read by anything but one ReLU is remembered, and its results do not wait any more.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms._ext.tape import Later
from dist_ms.autograd.tape import recording
from dist_ms.ops.layers.postponed_norm import has_one_owner

# Elements from which on a saved pass over memory shows in a step: 1 MB, half of what a core's cache holds.
LEAST = 1 << 18
_read: dict[int, weakref.ref] = {}  # weights whose results others read, by their arrays' identity


def is_large(shape: tuple) -> bool:
    """Whether a result of this shape is worth waiting."""
    return math.prod(shape) >= LEAST


def can_wait(x: np.ndarray, weight: np.ndarray, bias: np.ndarray | None) -> bool:
    """Whether a result may be written later; for the `forward`, which is `quiet`, of an operation on these alone."""
    if id(weight) in _read:
        return False
    # A recording keeps its inputs, so who writes there past `Tensor` has wrong gradients anyway.
    if recording.tape is not None:
        return True
    operands = (x, weight) if bias is None else (x, weight, bias)
    # The gate's loop over the inputs still has the last one in a variable.
    return all(has_one_owner(a, 6 + (a is operands[-1])) for a in operands)


class ProductLater(Later):
    """The result of a product or a convolution, or ReLU of it.

    Args:
        make: gives the result, or with True ReLU of it.
        shape, dtype: of the result.
        weight: the factor by which it is known whether ReLU alone reads the result.
    """

    def __init__(self, make: Callable[[bool], np.ndarray], shape: tuple, dtype: np.dtype, weight: np.ndarray) -> None:
        super().__init__(shape, dtype)
        self._make, self._weight, self._joined = make, weight, False

    def array(self) -> np.ndarray:
        key = id(self._weight)
        _read[key] = weakref.ref(self._weight, lambda _: _read.pop(key, None))
        return self._make(False)

    def joined(self, primitive: Any, inputs: tuple) -> np.ndarray | None:
        if primitive.joins != "relu" or self._joined:
            return None
        self._joined = True
        return self._make(True)
