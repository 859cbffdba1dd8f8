"""The errors of ranks that do not hold the same model."""

from __future__ import annotations


class PlanMismatchError(RuntimeError):
    """The ranks' synchronisation plans differ; the text names the first differing parameter."""


class DesyncError(RuntimeError):
    """A weight that the ranks update together is no longer the same on all; the text names it and the ranks."""


class UnreducedGradientError(DesyncError):
    """Gradients that differ between the ranks have reached an optimizer of data-parallel training."""
