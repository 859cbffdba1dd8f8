"""The reverse sweep: from the gradients of some outputs to those of target nodes.

Nodes are numbered as they are made, which is a topological order; the sweep walks the
nodes that lie between outputs and targets backwards. The edges that lead to each node
are counted first, so a target nothing leads to is known before the first gradient is
computed, and a complete gradient is handed out at its last contribution.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from dist_ms.autograd.places import sum_at
from dist_ms.autograd.tape import Node, alias, formless, recording
from dist_ms.common.sparse_tensor import RowTensor, joined
from dist_ms.common.tensor import Tensor, wrap

_order_of = attrgetter("order")


class Sweep:
    """One reverse pass from outputs to target nodes.

    Args:
        roots: (node, output index, gradient) of each output to start from.
        targets: nodes whose gradients are wanted; the pass does not go beyond them.
    """

    def __init__(self, roots: Sequence[tuple[Node, int, Tensor]], targets: Iterable[Node]) -> None:
        self.targets = set(targets)
        self.edges, self.order = self._plan({node for node, _, _ in roots})
        self.roots = [r for r in roots if r[0] in self.edges]
        for node, _, _ in self.roots:
            self.edges[node] += 1
        self.pending: dict[Node, list] = {}
        self.summed: set[tuple[Node, int]] = set()

    def _plan(self, start: set[Node]) -> tuple[dict[Node, int], list[Node]]:
        """Count the edges into the nodes between `start` and targets; list those to run in order."""
        targets = self.targets
        if not targets:
            return {}, []
        first = min(map(_order_of, targets))
        seen: set[Node] = set()
        stack = list(start)
        while stack:
            node = stack.pop()
            if node in seen or node.order < first:
                continue
            seen.add(node)
            if node not in targets:
                inputs = node.inputs
                stack.extend([inputs[i]._node for i in node.live])
        edges: dict[Node, int] = {}
        order: list[Node] = []
        late: list[Node] = []
        for node in sorted(seen, key=_order_of):
            if node in targets:
                edges[node] = 0
                continue
            inputs = node.inputs
            useful = [p for i in node.live if (p := inputs[i]._node) in edges]
            if useful:
                for p in useful:
                    edges[p] += 1
                edges[node] = 0
                order.append(node)
                if node.after is not None and node.after.tape is node.tape:
                    late.append(node.after)
        for node in late:
            if node not in edges:
                for i in node.live:
                    if (p := node.inputs[i]._node) in edges:
                        edges[p] += 1
                edges[node] = 0
                order.append(node)
        if late:
            order.sort(key=_order_of)
        return edges, order

    def reaches(self, target: Node) -> bool:
        """Whether anything leads to this target."""
        return target in self.edges

    def run(
        self,
        deliver: Callable[[Node, Tensor | None], None],
        progress: Callable[[], None],
        release: bool,
    ) -> None:
        """Compute the gradients; `deliver` gets each target's as soon as it is complete.

        Args:
            deliver: called once for every reached target; None when only empty
                contributions arrived.
            progress: called after each node.
            release: free each node's saved values once used.
        """
        contribute = self._contribute
        edges = self.edges
        roots, self.roots = self.roots, []
        for node, index, grad in roots:
            contribute(node, index, grad, deliver)
        del roots
        order = self.order
        while order:
            node = order.pop()
            slots = self.pending.pop(node, None)
            inputs, live = node.inputs, node.live
            if slots is not None or node.special:
                given = gradients_of(node, slots)
            else:
                given = (None,) * len(inputs)
            if release:
                node.release()
            for i in live:
                x = inputs[i]
                if x._node in edges:
                    contribute(x._node, x._index, given[i], deliver)
            progress()

    def _contribute(self, node: Node, index: int, grad: Tensor | None, deliver: Callable) -> None:
        if grad is not None:
            if type(grad) is RowTensor and (node not in self.targets or node.hooks is not None):
                grad = grad.to_dense()  # what comes next is written for tensors
            slots = self.pending.get(node)
            if slots is None:
                slots = self.pending[node] = [None] * (node.width or 1)
            before = slots[index]
            slots[index] = grad if before is None else self._sum(before, grad, (node, index))
        self.edges[node] -= 1
        if self.edges[node] == 0 and node in self.targets:
            slots = self.pending.pop(node, None)
            deliver(node, None if slots is None else hooked(node, slots)[0])

    def _sum(self, a: Tensor | RowTensor, b: Tensor | RowTensor, place: tuple[Node, int]) -> Tensor | RowTensor:
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
        raise RuntimeError(
            f"For '{primitive.name}', the gradient must give one value per input, "
            f"{len(node.inputs)} in all, but got {len(given)}."
        )
    return given


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
    return wrap(np.zeros(x.shape, x._data.dtype if x._data is not None else x._dtype))
