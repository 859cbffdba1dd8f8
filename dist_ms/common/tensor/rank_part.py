"""The mark of a tensor whose values differ from rank to rank because each rank has a part of the whole.

The gate of operations hands it on to everything that is made of such a tensor, so that a norm taken later
is known to need the other ranks' parts.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class RankPart:
    """Which ranks have the other parts.

    Args:
        kind: "slice": the ranks' parts make one tensor; "own": every rank has a tensor of its own.
        comm: the ranks.
    """

    __slots__ = ("comm", "kind")

    def __init__(self, kind: str, comm: Any) -> None:
        self.kind, self.comm = kind, comm

    def over_ranks(self, value: float, reduction: str = "sum") -> float:
        """Return a number added up over the ranks; every rank calls it.

        Args:
            value: this rank's.
            reduction: "sum" or "max".
        """
        return float(self.comm.all_reduce(np.array([value], np.float64), reduction)[0])
