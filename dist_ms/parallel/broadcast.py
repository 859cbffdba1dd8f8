"""The start: rank 0's values on every rank, as the plan says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from dist_ms.communication import Comm
from dist_ms.parallel.plan import SyncPlan

PACK = 4 << 20  # bytes of small arrays that travel together


def broadcast_parameters(plan: SyncPlan, parameters: Iterable[Any], comm: Comm, buffers: Iterable[Any] = ()) -> None:
    """Overwrite with rank 0's bits what the plan broadcasts, in place.

    The bytes travel as they are, so every dtype arrives unchanged; arrays of any size and layout
    are possible. Nothing else of a parameter changes: not its flags, not its identity.

    Args:
        plan: says which parameters are broadcast.
        parameters: as given to `make_plan`, in any order; found by name.
        comm: the ranks that train together.
        buffers: Tensors that are not parameters, all broadcast, in the same order on every rank.

    Examples:
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> from dist_ms.communication import LocalComm
        >>> from dist_ms.parallel.broadcast import broadcast_parameters
        >>> from dist_ms.parallel.plan import make_plan
        >>> w = ms.Parameter(np.ones(2, np.float32), name="w")
        >>> broadcast_parameters(make_plan([w]), [w], LocalComm())
    """
    by_name = {p.name: p for p in parameters}
    chosen = [by_name[row.name] for row in plan.rows if row.start == "broadcast"]
    if comm.size == 1:
        return
    arrays = [tensor.array() for tensor in [*chosen, *buffers]]
    for parameter in chosen:
        parameter.before_write()
    broadcast_arrays(arrays, comm)


def broadcast_arrays(arrays: list[np.ndarray], comm: Comm, root: int = 0) -> None:
    """Overwrite arrays with rank `root`'s, small ones packed together.

    Args:
        arrays: the same number, shapes and types on every rank; any layout.
        comm: the ranks.
        root: whose values count.
    """
    for pack in _packs(arrays):
        if len(pack) == 1 and pack[0].flags.c_contiguous and pack[0].flags.writeable:
            comm.broadcast(pack[0], root)
            continue
        flat = np.empty(sum(_rounded(a.nbytes) for a in pack), np.uint8)
        parts = _parts(flat, pack)
        if comm.rank == root:
            for part, array in zip(parts, pack, strict=True):
                np.copyto(part, array)
        comm.broadcast(flat, root)
        if comm.rank != root:
            for part, array in zip(parts, pack, strict=True):
                np.copyto(array, part)


def _packs(arrays: list[np.ndarray]) -> Iterator[list[np.ndarray]]:
    """Put neighbours together as long as they are small."""
    pack: list[np.ndarray] = []
    size = 0
    for array in arrays:
        if pack and size + array.nbytes > PACK:
            yield pack
            pack, size = [], 0
        pack.append(array)
        size += array.nbytes
    if pack:
        yield pack


def _rounded(nbytes: int) -> int:
    """Round up, so that the next array starts where any type may."""
    return (nbytes + 15) // 16 * 16


def _parts(flat: np.ndarray, arrays: list[np.ndarray]) -> list[np.ndarray]:
    """Return C-contiguous views of `flat` that have the arrays' shapes and types."""
    parts, start = [], 0
    for array in arrays:
        part = flat[start : start + array.nbytes]
        parts.append(part.view(array.dtype).reshape(array.shape))
        start += _rounded(array.nbytes)
    return parts
