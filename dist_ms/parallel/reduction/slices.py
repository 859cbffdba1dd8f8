"""Slices of buckets: each rank's sum of its own, and everybody's from those who have them.

Where ranks share memory they read each other's buckets: nothing is sent.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dist_ms._ext.reduce import reduce
from dist_ms.communication import Comm, Handle
from dist_ms.parallel.plan import Bucket


def own_slice(buffer: np.ndarray, comm: Comm) -> np.ndarray:
    """Return this rank's slice of a bucket's memory.

    Args:
        buffer: the memory.
        comm: the ranks.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.communication import LocalComm
        >>> from dist_ms.parallel.reduction.slices import own_slice
        >>> own_slice(np.arange(3), LocalComm())
        array([0, 1, 2])
    """
    share = len(buffer) // comm.size
    return buffer[comm.rank * share : (comm.rank + 1) * share]


def sum_own_slices(buffers: Sequence[np.ndarray], comm: Comm, scale: float) -> None:
    """Overwrite this rank's slice of each bucket with `scale` times its sum over the ranks.

    Args:
        buffers: the buckets, flat; their lengths are multiples of the number of ranks.
        comm: the ranks.
        scale: a factor of the sums.
    """
    together = False
    for buffer in buffers:
        mine, every = own_slice(buffer, comm), comm.beside(buffer)
        if every is None:
            mine[...] = comm.reduce_scatter(buffer)
            if scale != 1:
                mine *= mine.dtype.type(scale)
            continue
        together = True
        comm.meet("reduce_scatter", buffer)
        share = len(mine)
        reduce([array[comm.rank * share : (comm.rank + 1) * share] for array in every], mine, "sum", scale)
    if together:
        comm.meet("reduce_scatter")  # from here on a rank may write to its bucket again


class Gather:
    """The slices of a bucket's weights, on their way to all ranks.

    Args:
        bucket: the bucket.
        memory: the bucket's memory, the same place on all ranks; None: there is none to use.
        comm: the ranks.

    Attributes:
        shared: whether ranks read each other's memory. They meet between `start` and `finish`, and after that.
    """

    def __init__(self, bucket: Bucket, memory: np.ndarray | None, comm: Comm) -> None:
        every = None if memory is None else comm.beside(memory)
        self.shared = every is not None
        self._bucket, self._comm = bucket, comm
        self._handle: Handle | None = None
        self._share = share = bucket.size // bucket.shards
        if every is not None:
            slices = [array.view(bucket.dtype)[r * share : (r + 1) * share] for r, array in enumerate(every)]
        else:
            slices = list(np.zeros((comm.size, share), bucket.dtype))
        self._slices = slices

    def start(self, parts: Sequence[np.ndarray]) -> None:
        """Send this rank's slices; every rank calls it.

        Args:
            parts: by weight, flat.
        """
        bucket, rank = self._bucket, self._comm.rank
        mine = self._slices[rank]
        for slot in bucket.slots:
            start, stop = bucket.slice_of(slot, rank)
            at = slot.start + start - rank * self._share
            mine[at : at + stop - start] = parts[slot.weight]
        if not self.shared:
            others = [r for r in range(self._comm.size) if r != rank]
            messages = [(r, mine) for r in others], [(r, self._slices[r]) for r in others]
            self._handle = self._comm.exchange("all_gather", *messages, mine)

    def finish(self, wholes: Sequence[np.ndarray]) -> None:
        """Write what the others have sent.

        Args:
            wholes: by weight; contiguous.
        """
        if self._handle is not None:
            self._handle.wait()
        for slot in self._bucket.slots:
            whole = wholes[slot.weight].reshape(-1)
            for rank, found in enumerate(self._slices):
                start, stop = self._bucket.slice_of(slot, rank)
                if rank != self._comm.rank and start < stop:
                    at = slot.start + start - rank * self._share
                    whole[start:stop] = found[at : at + stop - start]
