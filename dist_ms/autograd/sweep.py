"""The reverse sweep: from the gradients of some outputs to those of target nodes.

Nodes are numbered as they are made, which is a topological order; the sweep walks the
nodes that lie between outputs and targets backwards. The edges that lead to each node
are counted first, so a target nothing leads to is known before the first gradient is
computed, and a complete gradient is handed out at its last contribution.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from dist_ms._ext.tape import NodeSweep
from dist_ms.autograd.places import sum_at
from dist_ms.autograd.tape import Node, alias, formless, recording
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.common.tensor.sparse_tensor import RowTensor, joined


class Sweep(NodeSweep):
    """One reverse pass from outputs to target nodes.

    Args:
        roots: (node, output index, gradient) of each output to start from.
        targets: nodes whose gradients are wanted; the pass does not go beyond them.
    """

    row_gradient = RowTensor

    def __init__(self, roots: Sequence[tuple[Node, int, Tensor]], targets: Iterable[Node]) -> None:
        super().__init__(roots, targets)
        self.summed: set[tuple[Node, int]] = set()

    def sum(self, a: Tensor | RowTensor, b: Tensor | RowTensor, place: tuple[Node, int]) -> Tensor | RowTensor:
        """a + b; into the memory of `a` where that is a sum made here."""
        if type(a) is RowTensor:
            if type(b) is RowTensor:
                return joined(a, b)
            a, b = b, a
        if type(b) is RowTensor:
            own = place in self.summed and recording.tape is None
            self.summed.add(place)
            return b.added_to(a, own)
        if place in self.summed and recording.tape is None and a._data.dtype == b._data.dtype:
            np.add(a._data, b._data, out=a._data)
            return a
        if recording.places and a._data.dtype == b._data.dtype:
            there = sum_at(place[0], a._data, b._data)
            if there is not None:
                return wrap(there)
        self.summed.add(place)
        return a + b

    @staticmethod
    def gradients_of(node: Node, slots: list | None) -> tuple:
        """Ask a node for the gradients of its inputs, given those of its outputs."""
        return gradients_of(node, slots)

    @staticmethod
    def hooked(node: Node, slots: list) -> list:
        """Let the hooks of a node's outputs see, and replace, their complete gradients."""
        return hooked(node, slots)

    @staticmethod
    def too_few(node: Node, given: tuple) -> RuntimeError:
        """The error of a gradient that leaves out inputs."""
        return too_few(node, given)


def gradients_of(node: Node, slots: list | None) -> tuple:
    """Ask a node for the gradients of its inputs, given those of its outputs."""
    primitive = node.primitive
    if node.hooks is not None and slots is not None:
        slots = hooked(node, slots)
    if node.packed is not None:
        _unpack(node)
    output: Any = node.output
    if node.width:
        if slots is None:
            slots = [None] * node.width
        if not node.special:
            slots = [g if g is not None else _zeros(o) for g, o in zip(slots, output)]
        dout: Any = tuple(slots)
        if primitive.keeps_output:
            output = tuple([_outcome(o, node, i) for i, o in enumerate(output)])
    else:
        dout = None if slots is None else slots[0]
        if primitive.keeps_output:
            output = _outcome(output, node, 0)
        elif type(output) is tuple:
            output = formless(*output)
    given = primitive.gradient(node.inputs, output, dout)
    if type(given) is not tuple:
        given = (given,)
    if node.live and node.live[-1] >= len(given):
        raise too_few(node, given)
    return given


def too_few(node: Node, given: tuple) -> RuntimeError:
    """The error of a gradient that leaves out inputs."""
    return RuntimeError(
        f"For '{node.primitive.name}', the gradient must give one value per input, "
        f"{len(node.inputs)} in all, but got {len(given)}."
    )


def hooked(node: Node, slots: list) -> list:
    """Let the hooks of a node's outputs see, and replace, their complete gradients."""
    if node.hooks is None:
        return slots
    slots = list(slots)
    for index, hooks in node.hooks.items():
        for hook in list(hooks.values()):
            if slots[index] is None:
                break
            new = hook(_apart(slots[index]))
            if new is None:
                continue
            if not isinstance(new, Tensor):
                raise RuntimeError(f"Tensor hook should be return Tensor, but get type: {type(new).__name__}.")
            slots[index] = new
    return slots


def _apart(grad: Tensor) -> Tensor:
    """A gradient for a hook, which may write into it: the same array may flow elsewhere too."""
    return alias(grad) if recording.on else wrap(grad._data.copy(order="K"))


def _unpack(node: Node) -> None:
    """Bring back what saved-tensor hooks packed."""
    for saved, packed, unpack in node.packed:
        value = unpack(packed)
        if not isinstance(value, Tensor):
            raise RuntimeError(
                f"For 'saved_tensors_hooks', 'unpack_hook' must return a Tensor, but got {type(value).__name__}."
            )
        saved._data = value.array()


def _outcome(output: Tensor, node: Node, index: int) -> Tensor:
    """The saved output as a tensor whose history is the node (made late: no reference cycle)."""
    t = alias(output)
    t._node, t._index = node, index
    return t


def _zeros(x: Tensor) -> Tensor:
    return wrap(np.zeros(x.shape, x._element))
