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

# Elements from which on a saved pass over memory shows in a step: 1 MB, half of what a core's cache holds.
LEAST = 1 << 18
_read: dict[int, weakref.ref] = {}  # weights whose results others read, by their arrays' identity


def is_large(shape: tuple) -> bool:
    """Whether a result of this shape is worth waiting."""
    return math.prod(shape) >= LEAST


def can_wait(weight: np.ndarray) -> bool:
    """Whether results of this weight may be written later, if nobody else can write to the operands."""
    return id(weight) not in _read


class ProductLater(Later):
    """The result of a product or a convolution, or ReLU of it.

    Args:
        make: gives the result, or with True ReLU of it, of the operands and that bool.
        shape, dtype: of the result.
        operands: the arrays of all inputs, or None for one; by the second, the weight, it is known whether ReLU
            alone reads the result.
    """

    def __init__(self, make: Callable[..., np.ndarray], shape: tuple, dtype: np.dtype, operands: tuple) -> None:
        super().__init__(shape, dtype)
        self.operands = operands  # a recording keeps its inputs, so who writes there has wrong gradients anyway
        self._make, self._joined = make, False

    def now(self) -> np.ndarray:
        return self._make(*self.operands, False)

    def array(self) -> np.ndarray:
        weight = self.operands[1]
        key = id(weight)
        _read[key] = weakref.ref(weight, lambda _: _read.pop(key, None))
        return self.now()

    def joined(self, primitive: Any, inputs: tuple) -> np.ndarray | None:
        if primitive.joins != "relu" or self._joined:
            return None
        self._joined = True
        return self._make(*self.operands, True)
