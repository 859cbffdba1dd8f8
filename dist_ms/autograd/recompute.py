"""Recomputation: a call that saves its inputs only and runs again when its gradient is asked for.

The first run records nothing; it watches which traced tensors are read, parameters and
tensors of the surroundings included, and these become the inputs of one node. Its gradient
runs the function again, with the same values and the same random numbers, and sweeps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np

from dist_ms.autograd.differentiate import Graph
from dist_ms.autograd.places import lent
from dist_ms.autograd.tape import Recorded, Watch, call_node, live_inputs, recording, separate, tied
from dist_ms.autograd.tree import map_tensors, tensors
from dist_ms.common.checks import check_callable
from dist_ms.common.random.random_state import get_random_state, set_random_state
from dist_ms.common.tensor import Tensor


def recompute(
    block: Callable,
    *args: Any,
    use_reentrant: bool = True,
    output_recompute: bool = False,
    early_stop: bool = True,
    context_fn: Callable | None = None,
    **kwargs: Any,
) -> Any:
    """Call `block(*args, **kwargs)` without keeping what it computes; the gradient runs it again.

    Args:
        block: a Cell; with `use_reentrant=False` any function.
        args, kwargs: its arguments. Gradients reach all tensors in them, nested ones too.
        use_reentrant: whether only a Cell is accepted.
        output_recompute, early_stop: accepted for MindSpore's sake: they choose between ways of
            recomputing whose gradients are the same.
        context_fn: with `use_reentrant=False`: returns two contexts, for the first run and for the
            second.

    Returns:
        What `block` returns.

    Raises:
        TypeError: if `block` is not a Cell (with `use_reentrant=False`: not callable).

    Examples:
        >>> import dist_ms as ms
        >>> def block(x):
        ...     return x * x * x
        >>> print(ms.grad(lambda x: ms.recompute(block, x, use_reentrant=False))(ms.Tensor(2.0)))
        12.0
    """
    if use_reentrant and not (hasattr(block, "construct") and callable(block)):
        raise TypeError(
            "Recompute function now only support block which inherited from Cell when "
            f"use_reentrant=True: got {type(block).__name__}; use_reentrant=False takes any "
            "function."
        )
    check_callable(block, "block", "recompute")
    contexts = (nullcontext(), nullcontext())
    if context_fn is not None and not use_reentrant:
        contexts = context_fn()
    return _call(block, args, kwargs, *contexts)


def recompute_call(run: Callable, args: tuple, kwargs: dict, context_fn: Callable | None = None) -> Any:
    """Run `run(*args, **kwargs)` for a cell that `Cell.recompute` marked; the outermost counts.

    Args:
        run, args, kwargs: the call.
        context_fn: returns two contexts, for the first run and for the second; only called while a
            gradient records.
    """
    if recording.rerunning:
        return run(*args, **kwargs)
    tape = recording.tape
    if context_fn is None or tape is None or tape.watched is tape:
        return _call(run, args, kwargs, nullcontext(), nullcontext())
    return _call(run, args, kwargs, *context_fn())


def _call(
    fn: Callable,
    args: tuple,
    kwargs: dict,
    first: AbstractContextManager,
    second: AbstractContextManager,
) -> Any:
    tape = recording.tape
    if tape is None or tape.watched is tape:
        with first:
            return fn(*args, **kwargs)
    watch = Watch(tape)
    for x in (*tensors(args), *tensors(kwargs)):
        x.array()
        watch.keep(x)
    random = get_random_state()
    recording.tape = watch
    try:
        with first:
            outputs = fn(*args, **kwargs)
    finally:
        recording.tape = tape
    results = tensors(outputs)
    watch.see(results)
    read = list(watch.found.values())
    saved = tuple([value for _, value in read])
    live = live_inputs(saved, tape)
    if not live or not results:
        return outputs
    again = _Again(fn, args, kwargs, [x for x, _ in read], live, random, second)
    made = iter(tied(results, call_node(again, saved, results, tape)))
    return map_tensors(lambda r: next(made), outputs)


class _Again(Recorded):
    """The primitive of a recomputed call.

    Args:
        fn, args, kwargs: the call.
        read: the tensors it read whose values the node saved.
        live: which of them are traced.
        random: the state of the random generators before the first run.
        context: for the second run.
    """

    name = "Recompute"
    keeps = None

    def __init__(
        self,
        fn: Callable,
        args: tuple,
        kwargs: dict,
        read: list[Tensor],
        live: list[int],
        random: tuple,
        context: AbstractContextManager,
    ) -> None:
        self.call = fn, args, kwargs
        self.read = read
        self.live = live
        self.random = random
        self.context = context
        self.policy = recording.policy

    def gradient(self, inputs: tuple, output: tuple, dout: tuple) -> tuple:
        """Run the call again and sweep back through it."""
        grads: list = [None] * len(inputs)
        if all(d is None for d in dout):
            return tuple(grads)
        fn, args, kwargs = self.call
        with self._as_before(inputs), self.context:
            graph = Graph(fn, args, kwargs, targets=[self.read[i] for i in self.live], hooks=False)
        found = len(tensors(graph.outputs))
        if found != len(dout):
            raise RuntimeError(
                f"For 'recompute', the second run must return what the first did, {len(dout)} "
                f"tensors, but it returned {found}."
            )
        with lent([(inputs[i]._node, graph.starts[id(self.read[i])]) for i in self.live]):
            found_grads = graph.gradients(graph.outputs, list(dout))[0]
        for i, grad in zip(self.live, found_grads):
            grads[i] = grad
        return tuple(grads)

    @contextmanager
    def _as_before(self, values: tuple) -> Iterator[None]:
        """The tensors read, the random generators and mixed precision are as in the first run.

        What the second run writes into Parameters is undone: the first run wrote it already.
        """
        now = [(x, x._data, x._node, x._index) for x in self.read]
        random, outer = get_random_state(), (recording.rerunning, recording.written, recording.policy)
        try:
            for x, value in zip(self.read, values):
                x._data, x._node, x._index = value._data, value._node, value._index
            set_random_state(self.random)
            recording.rerunning, recording.written, recording.policy = True, {}, self.policy
            yield
        finally:
            written = recording.written
            recording.rerunning, recording.written, recording.policy = outer
            for x, data, old in written.values():
                separate(data)
                np.copyto(data, old)
                x._data = data
            set_random_state(random)
            for x, data, node, index in now:
                x._data, x._node, x._index = data, node, index
