"""How gradients are put together into buckets: one all-reduce each."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

FIRST_BUCKET = 1 << 20  # bytes; small, so that the first all-reduce starts early
BUCKET = 2 << 20  # bytes; docs/design.md has the figures it was chosen by


@dataclass(frozen=True)
class Fusion:
    """Which gradients share a bucket.

    Attributes:
        first: size in bytes at which the first bucket of each kind is closed.
        size: the same for all later buckets.
        splits: indices of gradients that end a group, ascending; not empty: sizes do not matter.
        single: every gradient has a bucket of its own.
    """

    first: int = FIRST_BUCKET
    size: int = BUCKET
    splits: tuple[int, ...] = ()
    single: bool = False


def fusion_from_context(comm_fusion: dict, splits: Sequence[int]) -> Fusion:
    """Return the fusion that the parallel context's settings ask for.

    Args:
        comm_fusion: the setting of that name.
        splits: the setting `all_reduce_fusion_config`.

    Examples:
        >>> from dist_ms.parallel.fusion import fusion_from_context
        >>> fusion_from_context({"allreduce": {"mode": "size", "config": 4}}, []).size
        4194304
    """
    if not comm_fusion.get("openstate", True):
        return Fusion(single=True)
    if splits:
        return Fusion(splits=tuple(splits))
    reduce = comm_fusion.get("allreduce", {"mode": "auto"})
    if reduce["mode"] == "size" and reduce["config"]:
        size = reduce["config"] << 20
        return Fusion(first=min(FIRST_BUCKET, size), size=size)
    return Fusion()


def group_gradients(sizes: Sequence[int], kinds: Sequence[Hashable], fusion: Fusion) -> list[list[int]]:
    """Assign gradients to buckets. A pure function.

    Gradients become ready roughly in reverse order of registration, so the buckets are filled
    and posted in that order. A bucket holds one kind; it is closed before it would exceed its
    size, so only a gradient that is larger itself makes a larger bucket.

    Args:
        sizes: bytes of each gradient, in order of registration.
        kinds: per gradient what must be equal within a bucket; None: it has a bucket alone.
        fusion: the sizes or splits.

    Returns:
        The buckets in the order in which they are posted, each a list of indices in the order of
        their memory.

    Examples:
        >>> from dist_ms.parallel.fusion import Fusion, group_gradients
        >>> group_gradients([4, 4, 4, 4], ["f"] * 4, Fusion(first=4, size=8))
        [[3], [2, 1], [0]]
        >>> group_gradients([4, 4, 4, 4], ["f"] * 4, Fusion(splits=(0, 2)))
        [[3], [2, 1], [0]]
    """
    closed: list[list[int]] = []
    opened: dict[Hashable, list[int]] = {}
    seen: set[Hashable] = set()
    for index in reversed(range(len(sizes))):
        kind = kinds[index]
        if kind is None or fusion.single:
            closed.append([index])
            continue
        if fusion.splits:
            part = sum(end < index for end in fusion.splits)
            opened.setdefault((part, kind), []).append(index)
            continue
        bucket = opened.get(kind)
        limit = fusion.size if kind in seen else fusion.first
        if bucket and sum(sizes[i] for i in bucket) + sizes[index] > limit:
            closed.append(opened.pop(kind))
            seen.add(kind)
            bucket, limit = None, fusion.size
        if bucket is None:
            bucket = opened.setdefault(kind, [])
        bucket.append(index)
        if sum(sizes[i] for i in bucket) >= limit:
            closed.append(opened.pop(kind))
            seen.add(kind)
    # A bucket is complete with its last gradient; dict order is the order of opening.
    return sorted([*closed, *opened.values()], key=lambda bucket: -bucket[-1])
