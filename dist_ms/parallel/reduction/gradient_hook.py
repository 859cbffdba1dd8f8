"""Hooks that add a bucket's gradients over the ranks in a way of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from dist_ms.communication import Comm, Handle
from dist_ms.communication.comm import Done


@dataclass(frozen=True)
class GradBucket:
    """What a hook gets: one bucket of this rank's gradients.

    Attributes:
        index: the bucket's number in the plan, the same on every rank.
        array: the gradients one after the other, flat; divided already where the mean is wanted.
        names: the weights' names, in the order of their memory.
        shapes: their shapes.
        comm: the ranks.
    """

    index: int
    array: np.ndarray
    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    comm: Comm

    def parts(self) -> Iterator[tuple[str, np.ndarray]]:
        """Yield each weight's name and gradient, a view of `array` in the weight's shape."""
        start = 0
        for name, shape in zip(self.names, self.shapes, strict=True):
            stop = start + int(np.prod(shape, dtype=np.int64))
            yield name, self.array[start:stop].reshape(shape)
            start = stop


# Adds the ranks' buckets. Returns the sum, or None when it is in `bucket.array`, or a Handle: then it is
# there when the handle is done. Every rank runs it for the same buckets in the same order.
GradHook = Callable[[GradBucket], "Handle | np.ndarray | None"]


def run_hook(hook: GradHook, bucket: GradBucket) -> Handle:
    """Run a hook and return the handle of its work.

    Args:
        hook: the hook.
        bucket: what it works on.

    Raises:
        TypeError: if it returns something else.
        ValueError: if it returns an array of another length.
    """
    result = hook(bucket)
    if isinstance(result, Handle):
        return result
    if result is None:
        return Done()
    if not isinstance(result, np.ndarray):
        raise TypeError(
            "For 'register_comm_hook', the hook must return a Handle, a numpy.ndarray or None, but got "
            f"{type(result).__name__}."
        )
    if result.size != bucket.array.size:
        raise ValueError(
            f"For 'register_comm_hook', the hook must return {bucket.array.size} elements for bucket {bucket.index}, "
            f"but got {result.size}."
        )
    if result is not bucket.array:
        np.copyto(bucket.array, result.reshape(-1), casting="unsafe")
    return Done()
