"""What a tensor says about itself: shape, type and size, also while it has no values."""

from __future__ import annotations

from typing import Any

from dist_ms._ext.tape import Value, has_data
from dist_ms.common import dtype as mstype


class TensorForm(Value):
    """The shape and element type of a tensor, read from its array or remembered without one."""

    init: Any = None
    _data: Any
    _node: Any
    _index: int
    _part: Any

    @property
    def dtype(self) -> mstype.Number:
        """The element type."""
        return mstype.from_numpy(self._element)

    @property
    def size(self) -> int:
        """The number of elements."""
        n = 1
        for length in self.shape:
            n *= length
        return n

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self._element.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.itemsize

    @property
    def strides(self) -> tuple:
        """Bytes to step in each dimension, for the standard row-major layout."""
        steps, step = [], self.itemsize
        for length in reversed(self.shape):
            steps.append(step)
            step *= length
        return tuple(reversed(steps))

    @property
    def has_init(self) -> bool:
        """Whether the values are still to be made by `init_data`."""
        return not has_data(self) and self.init is not None and not self.init.remade

    def is_init(self) -> bool:
        """Whether an engine copied the values to a device: False, the values live here."""
        return False
