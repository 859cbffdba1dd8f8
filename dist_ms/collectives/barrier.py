"""Barrier: wait until every rank is here."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.collectives.arguments import WORLD, check_group_name, comm_for
from dist_ms.ops.primitive import Primitive

__all__ = ["Barrier"]


class Barrier(Primitive):
    """`communication.comm_func.barrier` as a primitive: `Barrier(group)()`.

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
