"""How fast the network carries data from each machine to the next, measured when a traced job starts."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

import numpy as np

from dist_ms.communication import Comm

__all__ = ["link_rate"]

_SIZES = (256 << 10, 1 << 20, 4 << 20)  # bytes, sent one after the other
_ENOUGH = 0.1  # seconds that a size takes where larger ones would tell no more


def link_rate(comm: Comm, nodes: Sequence[int]) -> tuple[int, float] | None:
    """Measure the ring of machines; every rank calls it.

    The first rank of each machine sends to that of the next one, as long as a tenth of a second and 5 MB in all. No
    machine sends to two others at once, nor receives of two.

    Args:
        comm: the ranks.
        nodes: per rank the number of its machine.

    Returns:
        The rank that this one has sent to, and bytes per second; None where it has not sent: it is not the first of
        its machine, or there is no other machine.

    Examples:
        >>> from dist_ms.communication import LocalComm
        >>> from dist_ms.profiler.links import link_rate
        >>> link_rate(LocalComm(), [0])
    """
    first = {node: rank for rank, node in reversed(list(enumerate(nodes)))}
    leaders = [first[node] for node in sorted(first)]
    if len(leaders) == 1 or comm.rank not in leaders:
        return None
    place = leaders.index(comm.rank)
    after, before = leaders[(place + 1) % len(leaders)], leaders[place - 1]
    if place % 2:
        _receive(comm, before)
        return after, _send(comm, after)
    rate = _send(comm, after)
    _receive(comm, before)
    return after, rate


def _send(comm: Comm, other: int) -> float:
    """Send when the other one is ready; the speed of the largest size."""
    word, rate = np.zeros(1, np.int64), 0.0
    comm.recv(word, other)
    for size in _SIZES:
        data = np.zeros(size, np.uint8)
        began = perf_counter()
        comm.send(data, other)
        comm.recv(word, other)
        seconds = perf_counter() - began
        rate, word[0] = size / max(seconds, 1e-9), size == _SIZES[-1] or seconds > _ENOUGH
        comm.send(word, other)
        if word[0]:
            break
    return rate


def _receive(comm: Comm, other: int) -> None:
    """Receive what `_send` sends, and tell when it is here."""
    word = np.zeros(1, np.int64)
    comm.send(word, other)
    for size in _SIZES:
        comm.recv(np.empty(size, np.uint8), other)
        comm.send(word, other)
        comm.recv(word, other)
        if word[0]:
            break
