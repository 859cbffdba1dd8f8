"""Barrier: wait until every rank is here."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.collectives.arguments import WORLD, check_group_name, comm_for
from dist_ms.ops.primitive import Primitive

__all__ = ["Barrier"]


class Barrier(Primitive):
    """Wait until every rank of the group is here.

    Args:
        group: the ranks that wait for each other; default: all.

    Raises:
        TypeError: if `group` is not a string.
        RuntimeError: before init().
        TimeoutError: if a rank does not come within DIST_MS_TIMEOUT seconds.

    Examples:
        >>> import dist_ms as ms
        >>> ms.communication.init()
        >>> _ = ms.ops.Barrier()()
    """

    differentiable = False

    def __init__(self, group: str = WORLD) -> None:
        super().__init__()
        self.group = check_group_name(group, self.name)

    def forward(self) -> Any:
        """Meet; the result only gives the operation a value."""
        comm_for(self.group, self.name).barrier()
        return np.zeros(1, np.float32)
