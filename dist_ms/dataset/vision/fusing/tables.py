"""What a chain of functions of single pixels makes of every byte, found by running the chain itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.dataset.transforms.values import TypeCast
from dist_ms.dataset.vision.colour.levels import Invert
from dist_ms.dataset.vision.pixels import HWC2CHW, Normalize, Rescale, ToTensor

_BYTES = 256


def follows(operation: Any, has_channels_first: bool) -> bool:
    """Whether an operation makes numbers of single pixels, or turns the axes, where the axes are in this order."""
    kind = type(operation)
    if kind is Normalize:
        return operation.is_hwc is not has_channels_first
    if kind in (HWC2CHW, ToTensor, Invert):
        return not has_channels_first
    return kind is Rescale or kind is TypeCast or (issubclass(kind, TypeCast) and kind.__call__ is TypeCast.__call__)


def turns(operation: Any) -> bool:
    """Whether it puts the channels first."""
    return type(operation) in (HWC2CHW, ToTensor)


class Tables:
    """The results of some operations for the 256 bytes of each channel.

    Args:
        operations: those for which `follows` holds.
    """

    def __init__(self, operations: list) -> None:
        self.operations = operations
        self.has_channels_first = any(turns(operation) for operation in operations)
        self._found: dict[tuple, np.ndarray | None] = {}

    def __getstate__(self) -> dict:
        return self.__dict__ | {"_found": {}}

    def of(self, channels: int, dtype: Any = None) -> np.ndarray | None:
        """The table (channels, 256), of another type if one is given; None where the operations do not take it."""
        key = channels, dtype
        if key not in self._found:
            if dtype is None:
                self._found[key] = self._run(channels)
            else:
                table = self.of(channels)
                self._found[key] = None if table is None else table.astype(dtype)
        return self._found[key]

    def _run(self, channels: int) -> np.ndarray | None:
        value = np.broadcast_to(np.arange(_BYTES, dtype=np.uint8)[:, None, None], (_BYTES, 1, channels)).copy()
        try:
            for operation in self.operations:
                value = operation(value)
        except (TypeError, ValueError, RuntimeError):
            return None  # the operations say what is wrong, of the image itself
        shape = (channels, _BYTES, 1) if self.has_channels_first else (_BYTES, 1, channels)
        if value.shape != shape or value.dtype.itemsize not in (1, 2, 4, 8) or value.dtype.kind not in "biufV":
            return None
        return np.ascontiguousarray(value[:, :, 0] if self.has_channels_first else value[:, 0].T)
