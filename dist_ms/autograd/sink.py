"""The whole link between gradients and communication: a sink with five methods."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from dist_ms.common.tensor import Tensor


class GradientSink(Protocol):
    """Takes weight gradients as the reverse sweep completes them."""

    def begin(self) -> None:
        """A sweep starts."""

    def place(self, index: int) -> np.ndarray | None:
        """Return where the gradient of weight `index` may be written before `ready`; None: anywhere.

        Called after `begin`, at most once per sweep, for weights that something leads to. The array is
        contiguous and has the weight's shape; it is left as it is, or holds the gradient given to `ready`, or
        what is not needed any more.
        """

    def ready(self, index: int, grad: Tensor | None) -> None:
        """The gradient of weight `index` is complete; None when nothing leads to the weight.

        It may be a RowTensor, whose rows may repeat and come in any order.

        Called exactly once per weight; weights nothing leads to come before the
        first gradient is computed.
        """

    def progress(self) -> None:
        """One more node of the sweep is done."""

    def finish(self) -> list[Tensor | None]:
        """The sweep is over; return the gradients in weight order."""


class StoreSink:
    """The sink of a world of one: it stores.

    Args:
        count: number of weights.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.grads: list[Tensor | None] = []

    def begin(self) -> None:
        """Forget the last sweep."""
        self.grads = [None] * self.count

    def place(self, index: int) -> None:
        """Return None: gradients lie where they are made."""

    def ready(self, index: int, grad: Tensor | None) -> None:
        """Store one gradient."""
        self.grads[index] = grad

    def progress(self) -> None:
        """Nothing to do between nodes."""

    def finish(self) -> list[Tensor | None]:
        """Return what was stored."""
        grads, self.grads = self.grads, []
        return grads
