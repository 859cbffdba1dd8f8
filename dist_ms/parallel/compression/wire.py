"""Gradients that travel as 16-bit floats and are added in float32."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from dist_ms._ext import cast
from dist_ms.communication import Handle
from dist_ms.parallel.compression.report import Compression
from dist_ms.parallel.reduction.gradient_hook import GradBucket


class _Wire(Compression):
    """Rounds gradients to 16 bits, has them added by an all-reduce of that type, and widens the sums."""

    dtype: np.dtype

    def __init__(self, measure: bool = False) -> None:
        super().__init__(measure)
        self._memory: dict[tuple[str, int], np.ndarray] = {}

    def __call__(self, bucket: GradBucket) -> Handle | np.ndarray:
        """Add a bucket over the ranks."""
        if bucket.array.dtype != np.float32:
            return bucket.comm.all_reduce(bucket.array)
        for name, grad in bucket.parts():
            error = None
            if self.measure:
                flat = np.ascontiguousarray(grad).reshape(-1)
                error, bits = np.empty_like(flat), np.empty(flat.size, self.dtype)
                narrow(flat, bits)
                widen(bits, error)
                error -= flat
            self.note(name, grad.nbytes, grad.nbytes // 2, grad, error)
        return _Sum(bucket, self._narrow_memory(bucket))

    def _narrow_memory(self, bucket: GradBucket) -> np.ndarray:
        """Return a bucket's memory for 16-bit numbers; all ranks make it together."""
        key = bucket.comm.name, bucket.index
        found = self._memory.get(key)
        if found is None or found.size != bucket.array.size:
            found = bucket.comm.shared_buffer(bucket.array.size, self.dtype)
            self._memory[key] = found
        return found


class Float16Wire(_Wire):
    """Gradients travel as float16: 11 bits of precision, from 6e-8 to 65504; above, they become infinite.

    Half the bytes of float32. Sums are made in float32 and rounded: those over a machine's ranks, then those over
    machines.

    Args:
        measure: as for `Compression`.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.parallel.compression import Float16Wire
        >>> reducer = ms.nn.DistributedGradReducer([ms.Parameter(ms.Tensor([1.0]), name="w")])
        >>> reducer.register_comm_hook(Float16Wire())
    """

    dtype = np.dtype(np.float16)


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

    dtype = np.dtype(ml_dtypes.bfloat16)


def narrow(x: np.ndarray, out: np.ndarray) -> None:
    """Round flat float32 numbers to 16 bits.

    Args:
        x: (n,) float32.
        out: (n,) float16 or bfloat16.
    """
    (cast.to_float16 if out.dtype == np.float16 else cast.to_bfloat16)(x, out)


def widen(x: np.ndarray, out: np.ndarray) -> None:
    """Write 16-bit floats as float32.

    Args:
        x: (n,) float16 or bfloat16.
        out: (n,) float32.
    """
    (cast.from_float16 if x.dtype == np.float16 else cast.from_bfloat16)(x, out)


class _Sum(Handle):
    """A sum under way in 16 bits."""

    def __init__(self, bucket: GradBucket, memory: np.ndarray) -> None:
        self._array, self._bits = bucket.array, memory
        narrow(bucket.array, memory)
        names = bucket.names
        self._under_way: Handle | None = bucket.comm.post_all_reduce(memory, names=lambda: names)

    def test(self) -> bool:
        """Drive the sum and return whether it is done."""
        if self._under_way is not None and self._under_way.test():
            self._widen()
        return self._under_way is None

    def wait(self) -> None:
        """Wait until the sum is there."""
        if self._under_way is not None:
            self._under_way.wait()
            self._widen()

    def _widen(self) -> None:
        widen(self._bits, self._array)
        self._under_way = None
