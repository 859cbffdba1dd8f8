"""Gradients that travel as 16-bit floats and are added in float32."""

from __future__ import annotations

import numpy as np

from dist_ms.communication import Handle
from dist_ms.communication.buffers import TAG_UB
from dist_ms.parallel.compression.report import Compression
from dist_ms.parallel.gradient_hook import GradBucket


class _Wire(Compression):
    """Rounds gradients to 16 bits; each rank adds its share of everybody's in rank order, and sends that round."""

    half: bool
    _met = False

    def __call__(self, bucket: GradBucket) -> Handle | np.ndarray:
        """Add a bucket over the ranks."""
        if bucket.array.dtype != np.float32:
            return bucket.comm.all_reduce(bucket.array)
        if not self._met:  # the first exchange of a group makes a communicator, for which all must be here
            bucket.comm.barrier()
            self._met = True
        handle = _Sum(bucket, self.half)
        for name, grad in bucket.parts():
            error = None
            if self.measure:
                flat = np.ascontiguousarray(grad).reshape(-1)
                error = widened(narrowed(flat, self.half), self.half) - flat
            self.note(name, grad.nbytes, grad.nbytes // 2, grad, error)
        return handle


class Float16Wire(_Wire):
    """Gradients travel as float16: 11 bits of precision, from 6e-8 to 65504; above, they become infinite.

    Half the bytes of float32. Sums are made in float32, and rounded once more on their way back.

    Args:
        measure: as for `Compression`.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.parallel.compression import Float16Wire
        >>> reducer = ms.nn.DistributedGradReducer([ms.Parameter(ms.Tensor([1.0]), name="w")])
        >>> reducer.register_comm_hook(Float16Wire())
    """

    half = True


class BFloat16Wire(_Wire):
    """Gradients travel as bfloat16: 8 bits of precision, over float32's range.

    Args:
        measure: as for `Compression`.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.parallel.compression import BFloat16Wire
        >>> reducer = ms.nn.DistributedGradReducer([ms.Parameter(ms.Tensor([1.0]), name="w")])
        >>> reducer.register_comm_hook(BFloat16Wire())
    """

    half = False


def narrowed(x: np.ndarray, half: bool) -> np.ndarray:
    """Return flat float32 numbers as the bits of 16-bit floats.

    Args:
        x: (n,) float32.
        half: float16, else bfloat16.
    """
    from dist_ms._ext import wire

    out = np.empty(x.size, np.uint16)
    wire.narrow(x, out, half)
    return out


def widened(bits: np.ndarray, half: bool) -> np.ndarray:
    """Return the sum of the rows of 16-bit floats, (n,) or (rows, n), as float32.

    Args:
        bits: uint16.
        half: float16, else bfloat16.
    """
    from dist_ms._ext import wire

    rows = np.atleast_2d(bits)
    out = np.empty(rows.shape[1], np.float32)
    wire.add(rows, out, half)
    return out


class _Sum(Handle):
    """A sum under way: every rank's parts go to the rank that adds them, then the sums to all."""

    def __init__(self, bucket: GradBucket, half: bool) -> None:
        array, comm = bucket.array, bucket.comm
        self._array, self._comm, self._half = array, comm, half
        self._tag = 2 * bucket.index % TAG_UB  # buckets overtake each other
        size, rank = comm.size, comm.rank
        self._share = -(-array.size // size)
        mine = np.zeros(self._share * size, np.uint16)
        mine[: array.size] = narrowed(array, half)
        self._mine = mine.reshape(size, self._share)
        self._parts = np.empty_like(self._mine)
        self._parts[rank] = self._mine[rank]
        others = [r for r in range(size) if r != rank]
        self._others = others
        self._under_way: Handle | None = comm.post_exchange(
            [(r, self._mine[r]) for r in others], [(r, self._parts[r]) for r in others], self._tag, collective=True
        )
        self._added = False

    def test(self) -> bool:
        """Drive the sum and return whether it is done."""
        while self._under_way is not None and self._under_way.test():
            self._next()
        return self._under_way is None

    def wait(self) -> None:
        """Wait until the sum is there."""
        while self._under_way is not None:
            self._under_way.wait()
            self._next()

    def _next(self) -> None:
        """Go on after one exchange."""
        if self._added:
            total = self._parts.reshape(1, -1)[:, : self._array.size]
            self._array[...] = widened(np.ascontiguousarray(total), self._half)
            self._under_way = None
            return
        self._added = True
        rank = self._comm.rank
        total = narrowed(widened(self._parts, self._half), self._half)
        self._parts[rank] = total
        self._under_way = self._comm.post_exchange(
            [(r, total) for r in self._others],
            [(r, self._parts[r]) for r in self._others],
            self._tag + 1,
            collective=True,
        )
