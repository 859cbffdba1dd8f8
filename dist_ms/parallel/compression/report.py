"""What a compression saves and what it costs, per parameter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass
class Loss:
    """One parameter's bytes and error.

    Attributes:
        dense: bytes of its gradient.
        sent: bytes that a rank sends for it in a step, before the reduction multiplies them.
        steps: how many steps were measured.
        error: the mean over steps of  |what was sent - what was to be sent| / |what was to be sent|,
            Euclidean norms, on this rank.
    """

    dense: int
    sent: int
    steps: int = 0
    error: float = 0.0


class Compression:
    """Base of the compressing hooks.

    Args:
        measure: measure every parameter's error in every step: some passes over the gradients.

    Attributes:
        losses: by the parameters' names.
    """

    def __init__(self, measure: bool = False) -> None:
        self.measure = measure
        self.losses: dict[str, Loss] = {}

    def note(self, name: str, dense: int, sent: int, wanted: np.ndarray, error: np.ndarray | None) -> None:
        """Note what one step did to one parameter.

        Args:
            name: the parameter.
            dense: bytes of its gradient.
            sent: bytes sent for it.
            wanted: what was to be sent.
            error: how far from it was sent; None where nothing was measured.
        """
        loss = self.losses.setdefault(name, Loss(dense, sent))
        if error is None:
            return
        size = float(np.linalg.norm(wanted.reshape(-1)))
        relative = float(np.linalg.norm(error.reshape(-1))) / size if size else 0.0
        loss.steps += 1
        loss.error += (relative - loss.error) / loss.steps

    def report(self) -> str:
        """Return a table: per parameter the bytes of the gradient, the bytes sent and the relative error."""
        head = ("parameter", "bytes", "sent", "ratio", "error")
        lines = [head]
        total = Loss(sum(x.dense for x in self.losses.values()), sum(x.sent for x in self.losses.values()))
        for name, loss in [*self.losses.items(), ("all", total)]:
            error = f"{loss.error:.2e}" if loss.steps else "-"
            ratio = f"{loss.dense / loss.sent:.1f}" if loss.sent else "-"
            lines.append((name, f"{loss.dense:,}", f"{loss.sent:,}", ratio, error))
        widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
        return "\n".join(
            "  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths, strict=True)))
            for line in lines
        )
