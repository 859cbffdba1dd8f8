"""Memory that operations use during a call and share: fresh memory costs as much as a pass over it."""

from __future__ import annotations

import math
import threading

import numpy as np


class Scratch(threading.local):
    """Arrays by use, for one thread; each use has the memory of its largest array so far."""

    def __init__(self) -> None:
        self._memory: dict[str, np.ndarray] = {}

    def array(self, use: str, dtype: np.dtype, *shape: int) -> np.ndarray:
        """An array whose values are lost when the thread next asks for one for this use."""
        size = math.prod(shape) * dtype.itemsize
        memory = self._memory.get(use)
        if memory is None or memory.size < size:
            memory = self._memory[use] = np.empty(size, np.uint8)
        return memory[:size].view(dtype).reshape(shape)


scratch = Scratch()
