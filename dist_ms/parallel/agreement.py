"""Every rank must have made the same plan before any of it is carried out."""

from __future__ import annotations

import numpy as np

from dist_ms.communication import Comm
from dist_ms.parallel.errors import PlanMismatchError
from dist_ms.parallel.plan import SyncPlan


def agree_on_plan(plan: SyncPlan, comm: Comm) -> None:
    """Compare the ranks' plans by their hashes; only plans that differ are sent.

    Args:
        plan: this rank's plan.
        comm: the ranks that train together. All of them call this.

    Raises:
        PlanMismatchError: on every rank, naming the first differing parameter, what each rank
            has in its place, and the ranks.

    Examples:
        >>> from dist_ms.communication import LocalComm
        >>> from dist_ms.parallel.agreement import agree_on_plan
        >>> from dist_ms.parallel.plan import make_plan
        >>> agree_on_plan(make_plan([]), LocalComm())
    """
    hashes = comm.all_gather(np.frombuffer(plan.hash, np.uint8))
    if (hashes == hashes[0]).all():
        return
    weights = [f"'{plan.rows[row].name}'" for row in plan.weights]
    buckets = [f"'{row.name}': {row.bucket}" for row in plan.rows]
    found = comm.gather_objects((_lines(plan), weights, buckets))
    raise PlanMismatchError(_difference(found, comm.size))


def _lines(plan: SyncPlan) -> list[str]:
    """Return a line per parameter that says all that must be equal, but for its bucket."""
    lines = []
    for row in plan.rows:
        shape = "its own shape" if row.start == "keep" else f"shape {row.shape}"
        lines.append(
            f"'{row.name}' ({shape}, {row.dtype}; start: {row.start}, gradient: {row.gradient}, "
            f"saved by {row.saved_by})"
        )
    return lines


def _difference(found: list[tuple[list[str], list[str], list[str]]], size: int) -> str:
    """Say where the plans first differ: in a parameter, in what is trained, or in the buckets.

    A parameter that differs moves others to other buckets, so buckets come last.
    """
    head = f"For 'make_plan', all {size} ranks must have the same parameters"
    remedy = "Build the same network and optimizer, with the same settings, on every rank."
    kinds = ("parameter", "trained weight", "bucket of parameter")
    for kind, lists in zip(kinds, zip(*found, strict=True), strict=True):
        for i in range(max(len(lines) for lines in lists)):
            items = [lines[i] if i < len(lines) else "nothing" for lines in lists]
            if len(set(items)) > 1:
                return f"{head}, but {kind} {i} differs:\n{_by_rank(items, size)}\n{remedy}"
    return f"{head}, but the hashes of their plans differ.\n{remedy}"


def _by_rank(found: list[str], size: int) -> str:
    """List what each group of ranks has."""
    ranks: dict[str, list[int]] = {}
    for rank, item in enumerate(found):
        ranks.setdefault(item, []).append(rank)
    lines = []
    for item, members in ranks.items():
        several = "ranks" if len(members) > 1 else "rank"
        lines.append(f"  [{several} {', '.join(map(str, members))} of {size}] {item}")
    return "\n".join(lines)
