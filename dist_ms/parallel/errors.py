"""The errors of ranks that do not hold the same model."""

from __future__ import annotations

from collections.abc import Sequence

VARIABLE = "DIST_MS_DESYNC_STEPS"
CHANGED = (
    "Something changed it on some ranks only: code that runs on one rank alone, a random number, an update with "
    "gradients that were not reduced."
)
REMEDY = f"Mark a parameter that each rank has of its own as layerwise_parallel; {VARIABLE}=0 ends the comparison."

NOT_REDUCED = (
    "it was not reduced. Reduce the gradients before the update: grads = nn.DistributedGradReducer("
    "optimizer.parameters)(grads), with the reducer made once. Where each rank is meant to train weights of its own, "
    "say optimizer.local = True, or mark single parameters as layerwise_parallel."
)


class PlanMismatchError(RuntimeError):
    """The ranks' synchronisation plans differ; the text names the first differing parameter."""


class DesyncError(RuntimeError):
    """A weight that the ranks update together is no longer the same on all; the text names it and the ranks."""


class UnreducedGradientError(DesyncError):
    """Gradients that differ between the ranks have reached an optimizer of data-parallel training."""


def name_ranks(ranks: Sequence[int]) -> str:
    """Name ranks in a message.

    Args:
        ranks: one or several.

    Examples:
        >>> from dist_ms.parallel.errors import name_ranks
        >>> name_ranks([0]), name_ranks([0, 2])
        ('rank 0', 'ranks 0, 2')
    """
    return f"rank{'s' * (len(ranks) > 1)} {', '.join(map(str, ranks))}"
