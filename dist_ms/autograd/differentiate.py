"""Run a function and sweep back through it: what every gradient function stands on.

A gradient is taken with respect to tensor objects, as MindSpore does: while the function
runs, each target is made the start of the graph, wherever the function gets it from, and
afterwards it is what it was before.

The training step:

    outputs, grads = differentiate(net, inputs, weights=params, sink=reducer_sink, sens=None)

or, to look at the outputs before the sweep,

    graph = Graph(net, inputs, weights=params)
    _, grads = graph.sweep(graph.outputs, douts, sink)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from dist_ms._ext.tape import Source, has_data
from dist_ms.autograd.places import Places
from dist_ms.autograd.sink import GradientSink, StoreSink
from dist_ms.autograd.sweep import Sweep
from dist_ms.autograd.tape import Node, Recorded, Tape, alias, as_given, recording
from dist_ms.autograd.tree import tensors
from dist_ms.common.lanes import lanes, span
from dist_ms.common.parameter import Parameter
from dist_ms.common.parameter.differentiated import differentiated
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.common.tensor.scaled import apart
from dist_ms.common.tensor.sparse_tensor import RowTensor, row_tensor

# Hooks that stay with a tensor whose gradient is asked for (see hooks.py).
Tensor._hooks = None


class Start(Recorded):
    """The primitive of a node where an inner gradient ends: ties a value to its outer history."""

    name = "Start"

    @staticmethod
    def gradient(inputs: tuple, output: Tensor, dout: Tensor) -> tuple:
        """Pass the gradient on."""
        return (dout,)


start = Start()


class Graph:
    """A recorded call: its outputs and the nodes that gradients are wanted for.

    Args:
        fn: the function to run.
        args, kwargs: its arguments.
        positions: indices of `args` whose tensors, nested or not, become targets.
        weights: Parameters that become targets; those that need no gradient stay out.
        targets: more tensors that become targets; their gradients come after those of `positions`.
        traced: tensors to trace as well, so that hooks on cells see their gradients.
        hooks: let the hooks registered on the targets see their gradients.

    Attributes:
        outputs: what `fn` returned. Without an outer gradient its tensors have no history left.
        targets: the tensors whose gradients `sweep` returns first.

    Raises:
        RuntimeError: inside a `no_grad` region.
    """

    def __init__(
        self,
        fn: Callable,
        args: Sequence = (),
        kwargs: dict | None = None,
        positions: Iterable[int] = (),
        weights: Sequence = (),
        targets: Sequence[Tensor] = (),
        traced: Sequence[Tensor] = (),
        hooks: bool = True,
    ) -> None:
        if recording.refused:
            raise RuntimeError(
                "In no_grad context, you can not calculate gradient: take it outside the '_no_grad' region."
            )
        around = recording.tape
        watched = None if around is None else around.watched
        self.outer = around is not None and watched is not around
        self.tape = around if self.outer else Tape(watched)
        self.weights = list(weights)
        self.targets = [t for p in positions for t in tensors(args[p])] + list(targets)
        self.starts: dict[int, Node] = {}
        before = []
        for x in (*self.targets, *self.weights, *traced):
            if id(x) not in self.starts:
                self.starts[id(x)] = self._start(x, hooks)
                before.append((x, x._node, x._index))
        if differentiated.listener is not None and not self.outer:
            differentiated.listener(self.weights)
        if watched is not None:
            watched.see([x for x, _, _ in before])
        if self.outer or not lanes.on:
            self._run(fn, args, kwargs or {}, before)
        else:
            with span("forward"):
                self._run(fn, args, kwargs or {}, before)

    def _start(self, x: Tensor, hooks: bool) -> Node:
        """The node where the gradient with respect to `x` ends."""
        if not has_data(x) and not x.elsewhere:
            x.array()
        history = x._node
        if self.outer and history is not None and history.tape is self.tape:
            node = Node(start, (alias(x, keep_data=False),), alias(x, keep_data=False), 0, (0,), self.tape)
        else:
            node = Node(None, (), None, 0, (), self.tape)
        if hooks and x._hooks:
            node.hooks = {0: x._hooks}
        return node

    def _run(self, fn: Callable, args: Sequence, kwargs: dict, before: list) -> None:
        around, tape, starts = recording.tape, self.tape, self.starts
        try:
            for x, _, _ in before:
                needs = not isinstance(x, Parameter) or x.requires_grad
                x._node, x._index = starts[id(x)] if needs else None, 0
            recording.tape = tape
            recording.depth += 1
            try:
                self.outputs = fn(*args, **kwargs)
            finally:
                recording.depth -= 1
                recording.tape = around
            outs = [t for t in tensors(self.outputs) if t._node is not None and t._node.tape is tape]
            self.places = {id(t): (t._node, t._index) for t in outs}
        finally:
            for x, node, index in before:
                # An in-place operation on a target gave it a new history in the outer gradient.
                if not self.outer or x._node is None or x._node is starts[id(x)]:
                    x._node, x._index = node, index
        if not self.outer:
            for t in outs:
                if t._node is not None and t._node.tape is tape:
                    t._node = None

    def sweep(
        self, outputs: Any, douts: Any = None, sink: GradientSink | None = None, keep: bool = False
    ) -> tuple[list[Tensor], list[Tensor]]:
        """Gradients of `outputs` with respect to the targets and the weights.

        Args:
            outputs: the part of the call's outputs to differentiate, nested or not.
            douts: its gradient, nested alike, or a list with None where there is none; by default
                ones.
            sink: takes the weights' gradients.
            keep: keep the saved values so that the graph can be swept again.

        Returns:
            (gradients of the targets, gradients of the weights), zeros where nothing led. No two
            of them, and none of them and `douts`, share an array.
        """
        taken = set()
        for d in tensors(douts):
            taken.add(id(d._data))
        if lanes.on:
            with span("backward"):
                target_grads, weight_grads = self.gradients(outputs, douts, sink, keep)
        else:
            target_grads, weight_grads = self.gradients(outputs, douts, sink, keep)
        return (
            [_own(x, g, taken) for x, g in zip(self.targets, target_grads)],
            [_own(w, g, taken) for w, g in zip(self.weights, weight_grads)],
        )

    def gradients(
        self, outputs: Any, douts: Any = None, sink: GradientSink | None = None, keep: bool = False
    ) -> tuple[list[Tensor | None], list[Tensor | None]]:
        """The same as `sweep`, with None where nothing led."""
        starts, wanted = self.starts, {self.starts[id(x)] for x in self.targets}
        found: dict[Node, Tensor | None] = {}

        def deliver(node: Node, grad: Tensor | None) -> None:
            if node in places:
                for i in places[node]:
                    ready(i, grad)
            if node in wanted:
                found[node] = grad.to_dense() if type(grad) is RowTensor else grad

        places: dict[Node, list[int]] = {}
        for i, w in enumerate(self.weights):
            places.setdefault(starts[id(w)], []).append(i)
        sweep = Sweep(self._roots(outputs, douts), wanted.union(places) if places else wanted)
        release = not (keep or self.outer)
        if release:
            self.places = {}
        if sink is None:
            sink = StoreSink(len(self.weights))
        ready = sink.ready
        sink.begin()
        # No place for a gradient that is returned as well: what is there changes.
        at: dict[Node, int] = {}
        for node, indices in places.items():
            if not sweep.reaches(node):
                for i in indices:
                    ready(i, None)
            elif node not in wanted:
                at[node] = indices[0]
        with as_given():  # gradients have the types that the forward run chose
            if at:
                with Places(sink, at):
                    sweep.run(deliver, sink.progress, release)
            else:
                sweep.run(deliver, sink.progress, release)
        if release:
            self.tape.kept.clear()
        return [found.get(starts[id(x)]) for x in self.targets], sink.finish()

    def _roots(self, outputs: Any, douts: Any) -> list[tuple[Node, int, Tensor]]:
        """Where a sweep starts, with the gradients there."""
        places = self.places
        if isinstance(outputs, Tensor) and isinstance(douts, Tensor):
            place = places.get(id(outputs))
            return [] if place is None else [(*place, douts)]
        outs = tensors(outputs)
        if douts is None:
            return [(*places[id(o)], ones_like(o)) for o in outs if id(o) in places]
        flat = isinstance(douts, list) and all(d is None or isinstance(d, Tensor) for d in douts)
        grads = douts if flat else tensors(douts)
        return [(*places[id(o)], g) for o, g in zip(outs, grads) if g is not None and id(o) in places]


def _own(x: Tensor, grad: Tensor | RowTensor | None, taken: set[int]) -> Tensor | RowTensor:
    """The gradient of `x` as a tensor that shares no array with those taken."""
    if grad is None:
        return no_rows(x) if x.elsewhere else zeros_like(x)
    if type(grad) is RowTensor:
        if id(grad) in taken:  # the weights of one node share it
            grad = grad.with_values(wrap(grad.values.array().copy()))
        taken.add(id(grad))
        return grad
    if type(grad._later) is Source and not recording.on:  # one before waits for the array
        return apart(grad)
    if id(grad._data) in taken:
        if not recording.on:
            return apart(grad)
        grad = alias(grad)
    taken.add(id(grad._data))
    return grad


def no_rows(x: Tensor) -> RowTensor:
    """The gradient of a table of which nothing was looked up."""
    return row_tensor(np.empty(0, np.int64), np.empty((0, *x.shape[1:]), x._dtype), x.shape)


def ones_like(x: Tensor) -> Tensor:
    """A tensor of ones of the same shape and dtype."""
    return wrap(np.ones(x.shape, numpy_dtype(x)))


def zeros_like(x: Tensor) -> Tensor:
    """A tensor of zeros of the same shape and dtype."""
    return wrap(np.zeros(x.shape, numpy_dtype(x)))


def numpy_dtype(x: Tensor) -> np.dtype:
    """The NumPy dtype of a tensor that may have no data."""
    return x._element
