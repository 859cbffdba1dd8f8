"""The error of ranks that do not hold the same model."""

from __future__ import annotations


class PlanMismatchError(RuntimeError):
    """The ranks' synchronisation plans differ; the text names the first differing parameter."""
