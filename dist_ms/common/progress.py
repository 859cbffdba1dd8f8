"""How far this process has trained: numbers that training counts and others show."""

from __future__ import annotations

from time import perf_counter

__all__ = ["Progress", "progress"]


class Progress:
    """What has been done.

    Attributes:
        updates: of optimizers.
        first, last: when the first and the last update began, by `time.perf_counter`; 0 before.
        steps: of `Model.train`; the attributes from here on stay as they are in a loop of one's own.
        samples: rows of its batches.
        epoch, epochs: the present one, from 1, and how many there are.
        batch, batches: the present one of the epoch, from 1, and how many there are, 0 where that is not known.
        data_seconds: how long steps waited for their batches.
        waits: at the first update, and at the last, the seconds for which this process had waited for batches, and for
            other ranks.
        loss: of a step that ended when somebody wanted it; None before.
        wants_loss: whether somebody does.
        awaited: on a server, the worker that others waited for longest, for how many seconds, and the next one's.
    """

    __slots__ = (
        *("batch", "batches", "data_seconds", "epoch", "epochs", "first", "last", "loss", "samples", "steps"),
        *("awaited", "updates", "waits", "wants_loss"),
    )

    def __init__(self) -> None:
        self.updates = self.steps = self.samples = 0
        self.epoch = self.epochs = self.batch = self.batches = 0
        self.first = self.last = self.data_seconds = 0.0
        self.waits = (0.0, 0.0), (0.0, 0.0)
        self.loss: float | None = None
        self.wants_loss = False
        self.awaited: tuple[int, float, float] | None = None

    def updating(self, waited: float) -> None:
        """Count an update.

        Args:
            waited: for how many seconds this process has waited for other ranks until now.
        """
        self.updates += 1
        self.last = now = perf_counter()
        waits = self.data_seconds, waited
        if not self.first:
            self.first, self.waits = now, (waits, waits)
        else:
            self.waits = self.waits[0], waits


progress = Progress()
