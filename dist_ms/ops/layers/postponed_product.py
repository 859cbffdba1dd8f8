"""Products and convolutions that leave writing their result to the ReLU that follows.

ReLU is then the last step of the kernel, which saves a pass over memory. Only kernels of our own take part:
oneDNN's ReLU makes 0 of a NaN. To make a result twice would cost more than is saved, so a weight whose result
was read by anything but one ReLU is remembered, and its results do not wait any more.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms._ext.tape import Later
from dist_ms.autograd.tape import recording
from dist_ms.ops.layers.postponed_norm import has_one_owner

# Elements from which on a saved pass over memory outweighs what postponing costs.
LEAST = 32768
_read: dict[int, weakref.ref] = {}  # weights whose results others read, by their arrays' identity


def can_wait(size: int, *operands: np.ndarray) -> bool:
    """Whether a result of so many elements may be written later; for the `forward` of an operation, which is `quiet`.

    Args:
        size: the number of elements.
        operands: the input, the weight and perhaps the bias, each in one variable of the caller.
    """
    if size < LEAST or id(operands[1]) in _read:
        return False
    # A recording keeps its inputs, so who writes there past `Tensor` has wrong gradients anyway.
    if recording.tape is not None:
        return True
    # The gate's loop over the inputs still has the last one in a variable.
    return all(has_one_owner(x, 5 + (x is operands[-1])) for x in operands)


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
