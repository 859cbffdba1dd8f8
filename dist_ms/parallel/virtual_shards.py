"""Virtual shards: the sum of gradients in an order that does not depend on the number of ranks.

The global batch is cut into a fixed number of shards, whatever the number of ranks. Each rank computes
the gradients of its shards one after the other; all shards' gradients are then added in the shards'
order. So the same global batch gives bit-identical weights on every number of ranks that divides the
number of shards, as long as each rank runs the same number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dist_ms.common.checks import check_choice
from dist_ms.common.settings.environment import value_of
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.communication import Comm
from dist_ms.parallel.plan import SyncPlan
from dist_ms.parallel.reduction.bucket_memory import wire_type

VARIABLE = "DIST_MS_VIRTUAL_SHARDS"
ORDERS = ("interleaved", "contiguous")


@dataclass(frozen=True)
class VirtualShards:
    """How a global batch is cut.

    Attributes:
        count: the number of shards of the whole batch, over all ranks.
        order: how ranks share a batch. "interleaved": rank r of R holds the samples r, r + R, ..., as a
            dataset with `num_shards` deals them out; "contiguous": it holds the r-th part.
    """

    count: int
    order: str = "interleaved"

    def of_rank(self, rank: int, size: int) -> range:
        """Return the numbers of a rank's shards, in the order in which they lie in its batch.

        Args:
            rank: the rank.
            size: the number of ranks, which must divide `count`.

        Examples:
            >>> from dist_ms.parallel.virtual_shards import VirtualShards
            >>> list(VirtualShards(4).of_rank(1, 2)), list(VirtualShards(4, "contiguous").of_rank(1, 2))
            ([1, 3], [2, 3])
        """
        if self.order == "interleaved":
            return range(rank, self.count, size)
        each = self.count // size
        return range(rank * each, (rank + 1) * each)

    def samples(self, place: int, parts: int, length: int) -> slice:
        """Return which of a rank's samples are in its shard number `place` of `parts`.

        Args:
            place: 0 to parts - 1.
            parts: how many shards the rank has.
            length: how many samples.
        """
        if self.order == "interleaved":
            return slice(place, length, parts)
        each = length // parts
        return slice(place * each, (place + 1) * each)


_chosen: VirtualShards | None = None


def set_virtual_shards(count: int | None, order: str = "interleaved") -> None:
    """Have every train step built from now on compute in virtual shards; the environment variable
    DIST_MS_VIRTUAL_SHARDS does the same for scripts that do not call this.

    The weights are then bit-identical on every number of ranks that divides `count`. The loss must be a
    mean over samples, and every rank's batch must have the same number of samples, a multiple of
    count / ranks. Random numbers follow from the global seed, the step and the shard. Layers that keep
    statistics of batches are refused, and so is what sums gradients in another order.

    Args:
        count: the number of shards of the global batch; None: none, each rank takes its batch at once.
        order: as for `VirtualShards`.

    Raises:
        TypeError: if `count` is no int.
        ValueError: if `count` is not positive, or there is no such order.

    Examples:
        >>> from dist_ms.parallel import set_virtual_shards
        >>> set_virtual_shards(4)
        >>> set_virtual_shards(None)
    """
    global _chosen
    if count is not None and (isinstance(count, bool) or not isinstance(count, int)):
        raise TypeError(f"For 'set_virtual_shards', 'count' must be an int or None, but got {type(count).__name__}.")
    if count is not None and count < 1:
        raise ValueError(f"For 'set_virtual_shards', 'count' must be positive, but got {count}.")
    check_choice(order, "order", "set_virtual_shards", ORDERS)
    _chosen = None if count is None else VirtualShards(count, order)


def virtual_shards() -> VirtualShards | None:
    """Return what `set_virtual_shards` or the environment asks for; None: nothing.

    Raises:
        ValueError: if DIST_MS_VIRTUAL_SHARDS is neither a number nor a number and an order, like 4:contiguous.
    """
    if _chosen is not None:
        return _chosen
    text = value_of(VARIABLE)
    if text in ("", "0"):
        return None
    number, _, order = text.partition(":")
    if not number.isdecimal() or int(number) < 1 or (order or ORDERS[0]) not in ORDERS:
        raise ValueError(
            f"The environment variable {VARIABLE} must be a number of shards, optionally with an order, like 4 or "
            f"4:contiguous, but got {text!r}."
        )
    return VirtualShards(int(number), order or ORDERS[0])


def mean_over_shards(
    plan: SyncPlan, comm: Comm, shards: VirtualShards, gradients: Sequence[Sequence[Tensor]]
) -> list[Tensor]:
    """Return the mean of all shards' gradients, added in the order of the shards, on every rank.

    Args:
        plan: where gradients travel together; all of its weights are reduced.
        comm: the ranks.
        shards: how the batch is cut.
        gradients: per shard of this rank the weights' gradients.
    """
    found: list = [None] * len(plan.weights)
    parts = len(gradients)
    owners = [(r, place, v) for r in range(comm.size) for place, v in enumerate(shards.of_rank(r, comm.size))]
    ordered = [(r, place) for r, place, _ in sorted(owners, key=lambda owner: owner[2])]
    for bucket in plan.buckets:
        mine = np.zeros((parts, bucket.size), wire_type(bucket))
        for row, grads in zip(mine, gradients, strict=True):
            for slot in bucket.slots:
                row[slot.start : slot.stop] = grads[slot.weight].array().reshape(-1)
        everyone = comm.all_gather(mine)
        total = everyone[ordered[0]].copy()
        for owner in ordered[1:]:
            total += everyone[owner]
        total *= 1 / shards.count
        for slot in bucket.slots:
            dtype = gradients[0][slot.weight].array().dtype
            found[slot.weight] = wrap(total[slot.start : slot.stop].reshape(slot.shape).astype(dtype, copy=False))
    first = {row: i for i, row in reversed(list(enumerate(plan.weights)))}  # tied weights share a gradient
    return [found[i] if found[i] is not None else found[first[row]] for i, row in enumerate(plan.weights)]
