"""Memory in which gradients of weights are wanted: a rule that fills an array may fill that one.

A sink may say where a weight's gradient is to lie. The first rule that takes the place writes the gradient
there, and nothing has to be copied. Who does not know of places returns any other array, as ever.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import numpy as np

from dist_ms.autograd.sink import GradientSink
from dist_ms.autograd.tape import Node, recording
from dist_ms.common.tensor import Tensor


def taken(x: Tensor, dtype: np.dtype) -> np.ndarray | None:
    """Take the place for the gradient of an operation's input; None: there is none, or it is taken.

    Args:
        x: the input, as the operation's node has it.
        dtype: the gradient's type.

    Returns:
        A contiguous array of the shape of `x`, to be overwritten; this very array is to be the gradient's.

    Examples:
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> from dist_ms.autograd.places import taken
        >>> taken(ms.Tensor([1.0]), np.dtype(np.float32)) is None
        True
    """
    places = recording.places
    if not places or recording.tape is not None:  # a gradient that is recorded must not be written over
        return None
    place = places.get(x._node)
    if place is None or not place.free or place.array.dtype != dtype:
        return None
    place.free = False
    return place.array


def sum_at(node: Node, a: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    """Write the sum of two contributions to a node's gradient to its place; None if they cannot be there.

    Args:
        node: the node.
        a, b: the contributions, of one shape and type.
    """
    place = recording.places.get(node)
    if place is None or recording.tape is not None or place.array.dtype != a.dtype:
        return None
    # Where neither is there though the place is taken, it holds a contribution that is still to come.
    if not (place.free or a is place.array or b is place.array):
        return None
    place.free = False
    return np.add(a, b, out=place.array)


class Place:
    """Where a gradient is wanted.

    Attributes:
        array: the memory.
        free: nothing has been written to it.
    """

    __slots__ = ("array", "free")

    def __init__(self, array: np.ndarray) -> None:
        self.array, self.free = array, True


class Places:
    """The places of a sweep, while it runs.

    Args:
        sink: says where gradients are wanted.
        weights: the index of the weight that each node stands for.
    """

    def __init__(self, sink: GradientSink, weights: dict[Node, int]) -> None:
        self._of = {node: Place(at) for node, i in weights.items() if (at := sink.place(i)) is not None}

    def __enter__(self) -> None:
        recording.places.update(self._of)

    def __exit__(self, *exc: object) -> None:
        for node in self._of:
            recording.places.pop(node, None)


@contextmanager
def lent(nodes: Iterable[tuple[Node, Node]]) -> Iterator[None]:
    """Give the places of nodes to others, whose gradients are contributions to theirs, for a while.

    Args:
        nodes: (node, the other) pairs.
    """
    found = {other: place for node, other in nodes if (place := recording.places.get(node)) is not None}
    recording.places.update(found)
    try:
        yield
    finally:
        for other in found:
            recording.places.pop(other, None)
