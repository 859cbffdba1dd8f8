"""How the gradients of all ranks become one: added, averaged over ranks, or averaged over samples."""

from __future__ import annotations

from dist_ms.communication import Comm
from dist_ms.parallel.reduction.gradient_hook import GradHook
from dist_ms.parallel.reduction.samples import SampleCount


class Summation:
    """The factors of a reduction, and who adds.

    Args:
        comm: the ranks.
        divisor: what the sums are divided by.
        weighted: every rank's gradients count as often as it has samples, and the sums are divided by all of them.

    Attributes:
        comm: the ranks.
        samples: counts the samples where they matter.
        hook: adds the buckets instead of an all-reduce; None: an all-reduce.

    Examples:
        >>> from dist_ms.communication import LocalComm
        >>> from dist_ms.parallel.reduction.summation import Summation
        >>> way = Summation(LocalComm(), divisor=4)
        >>> way.before, way.after
        (1.0, 0.25)
    """

    def __init__(self, comm: Comm, divisor: int = 1, weighted: bool = False) -> None:
        self.comm = comm
        self.samples = SampleCount(comm, weighted)
        self.hook: GradHook | None = None
        self._divisor = divisor

    @property
    def trivial(self) -> bool:
        """Whether every gradient is its own sum."""
        return self.comm.size == 1 and self._divisor == 1 and not self.samples.on

    @property
    def before(self) -> float:
        """What gradients are multiplied with on their way to the bucket: a hook gets them divided.

        Only by a power of two, which changes no bit. Else the all-reduce divides the sums at no cost.
        """
        exact = self._divisor & (self._divisor - 1) == 0
        return 1 / self._divisor if exact and self.hook is not None else 1.0

    @property
    def after(self) -> float:
        """What the sums are multiplied with."""
        return 1 / self._divisor / self.before

    @property
    def reduces_scaled(self) -> bool:
        """Whether the all-reduce multiplies its sums with `after` itself: no hook adds, and no samples are counted."""
        return self.hook is None and not self.samples.on
