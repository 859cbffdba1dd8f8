"""How many floating-point operations products and convolutions take, counted while they run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dist_ms.autograd.tape import recording
from dist_ms.ops.operation_flops import operation_flops

__all__ = ["flops_collection"]

_last: list[float] = []  # of the last step that was counted: this rank's, and the number of ranks


@contextmanager
def counting() -> Iterator[list[float]]:
    """Count what runs in this thread inside; the list's one element is the sum so far."""
    total, before = [0.0], recording.observer

    def count(primitive: Any, inputs: tuple, result: Any) -> None:
        total[0] += operation_flops(primitive, inputs, result)
        if before is not None:
            before(primitive, inputs, result)

    recording.observer = count
    try:
        yield total
    finally:
        recording.observer = before


def remember(flops: float, ranks: int) -> None:
    """Keep a step's number for `flops_collection`."""
    _last[:] = [flops, ranks]


def flops_collection(phase: str = "train") -> tuple[float, float, float, float, bool]:
    """Return the floating-point operations of a training step, which FlopsUtilizationCollector has counted.

    Products, convolutions, attention and recurrent layers count, forward and backward; recomputed ones in all four
    numbers.

    Args:
        phase: "train".

    Returns:
        tuple: those of the model and of the hardware on all ranks, the two of this rank, and whether shapes change:
        False.

    Raises:
        RuntimeError: if no step was counted.
        ValueError: for another phase.

    Examples:
        >>> import dist_ms as ms
        >>> try:
        ...     ms.flops_collection("eval")
        ... except ValueError as error:
        ...     print(error)
        For 'flops_collection', 'phase' must be 'train', but got 'eval'.
    """
    if phase != "train":
        raise ValueError(f"For 'flops_collection', 'phase' must be 'train', but got {phase!r}.")
    if not _last:
        raise RuntimeError(
            "For 'flops_collection', a step must be counted, but none was: train with FlopsUtilizationCollector."
        )
    mine, ranks = _last
    return mine * ranks, mine * ranks, mine, mine, False
