"""The gradient graph: nodes, and the gate every operation passes.

A node holds values, not variables: its inputs are private aliases of the tensors
an operation was called with, so rebinding a tensor to other data cannot reach them.
Writing into an array that a node saved would: in-place operations end with `overwrite`,
and a Parameter, whose array stays where it is, calls `preserve` before it is written.

All nodes of one outermost gradient share a tape. A tensor is traced only while its
node's tape is the one being recorded, so tensors that outlive their gradient are
constants in a later one. Gradients are written with operations: running a sweep while
an outer gradient records gives second-order gradients.
"""

from __future__ import annotations

import functools
import itertools
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor

_new = object.__new__
_ndarray = np.ndarray
_orders = itertools.count()


class Tape:
    """What the nodes of one outermost gradient have in common.

    Attributes:
        kept: the aliases of Parameters whose data nodes saved.
        pack: the innermost saved-tensor hooks, None without any.
        watched: a Watch that wants to know which outer tensors are read, or None.
    """

    __slots__ = ("__weakref__", "kept", "pack", "watched")

    def __init__(self, watched: Watch | None = None) -> None:
        self.kept: list[Tensor] = []
        self.pack: Any = None
        self.watched = watched
        recording.tapes.add(self)


class Watch(Tape):
    """A tape that makes no nodes: it collects the traced tensors that operations read.

    Attributes:
        of: the tape the collected tensors are traced on.
        found: (tensor, alias of its value at the first use) by id, in the order of first use.
    """

    __slots__ = ("found", "of")

    def __init__(self, of: Tape) -> None:
        super().__init__(self)
        self.of = of
        self.found: dict[int, tuple[Tensor, Tensor]] = {}

    def see(self, values: Iterable) -> None:
        """Collect the traced tensors among some values."""
        for x in values:
            if isinstance(x, Tensor) and x._node is not None and x._node.tape is self.of:
                self.keep(x)
        if self.of.watched is not None:
            self.of.watched.see(values)

    def keep(self, x: Tensor) -> None:
        """Remember a tensor and its value now."""
        if id(x) not in self.found:
            saved = alias(x, tape=self.of)
            self.found[id(x)] = x, saved
            if type(x) is not Tensor:
                self.of.kept.append(saved)


class Recording(threading.local):
    """What is being recorded, per thread.

    Attributes:
        tape: the tape operations are recorded on; None when nothing is recorded.
        depth: the number of gradient computations whose function is running.
        refused: inside a `no_grad` region, where gradients cannot be taken.
        rerunning: a recomputed function runs for the second time.
        written: during such a run, the Parameters it wrote: (parameter, array, old values) by id.
        policy: called with (primitive, inputs) before every operation; returns the inputs to run
            on, or the result if it ran the operation itself: mixed precision casts. None outside
            such regions.
        rows: a sweep that runs may give the gradient of any table that was looked up as a
            RowTensor, because who asked for it takes one as the dense gradient it stands for.
        tapes: the tapes in use.
        places: where a sweep wants the gradients of some nodes (see places.py).
    """

    tape: Tape | None = None
    depth: int = 0
    refused: bool = False
    rerunning: bool = False
    written: dict[int, tuple] | None = None
    policy: Callable[[Any, tuple], Sequence | Tensor] | None = None
    rows: bool = False

    def __init__(self) -> None:
        self.tapes: weakref.WeakSet[Tape] = weakref.WeakSet()
        self.places: dict[Node, Any] = {}

    @property
    def on(self) -> bool:
        """Whether operations on traced tensors are recorded."""
        return self.tape is not None


recording = Recording()


class as_given:
    """A part of a mixed-precision region in which operations run in the types of their inputs."""

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        self._before = recording.policy
        recording.policy = None

    def __exit__(self, *exc: Any) -> None:
        recording.policy = self._before


class Node:
    """One recorded operation: what made a value, and from which values.

    Attributes:
        primitive: has `gradient(inputs, output, dout)`; None for a leaf or a released node.
        inputs: the call's arguments, tensors as aliases (without data where not needed).
        output: the output alias or tuple of them, kept for the gradient; of one output whose data
            is not kept, its shape and dtype alone.
        width: number of outputs; 0 means one output that is no tuple.
        live: indices of the inputs that are traced.
        tape: the tape it was recorded on.
        hooks: per output index, a dict of functions that see and may replace its gradient.
        packed: what saved-tensor hooks made of saved data, with the way back.
        special: its gradient is asked even if none arrives, and gets None where none arrived.
        after: a node to run after this one even if no gradient reaches it.
    """

    # The rest is rare: it stays in the class until it is set.
    __slots__ = ("__dict__", "__weakref__", "inputs", "live", "order", "output", "primitive", "tape", "width")

    hooks: dict[int, dict] | None = None
    packed: list | None = None
    special: bool = False
    after: Node | None = None

    def __init__(
        self,
        primitive: Any,
        inputs: tuple,
        output: Any,
        width: int,
        live: Sequence[int] = (),
        tape: Tape | None = None,
    ) -> None:
        self.primitive = primitive
        self.inputs = inputs
        self.output = output
        self.width = width
        self.live = live
        self.tape = tape
        self.order = next(_orders)

    def release(self) -> None:
        """Drop what only the gradient needs."""
        self.primitive = self.output = None
        if self.packed is not None:
            self.packed = None
        if self.after is not None:
            self.after = None
        self.inputs = self.live = ()


def alias(x: Tensor, keep_data: bool = True, tape: Tape | None = None) -> Tensor:
    """The value of `x` now, as a tensor of its own.

    Args:
        x: a tensor.
        keep_data: False leaves shape and dtype only.
        tape: keep the history only if it is on this tape; None keeps it anyway.
    """
    t = _new(Tensor)
    data = x._data
    if keep_data and data is not None:
        t._data = data
    elif data is not None:
        t._shape, t._dtype = data.shape, data.dtype
    else:
        t._shape, t._dtype = x._shape, x._dtype
    node = x._node
    if node is not None and (tape is None or node.tape is tape):
        t._node = node
        t._index = x._index
    return t


def tensor_at(data: _ndarray, node: Node, index: int = 0) -> Tensor:
    """A tensor of `data` whose history is `node`."""
    t = _new(Tensor)
    t._data = data
    t._node = node
    t._index = index
    return t


def overwrite(target: Tensor, value: Tensor) -> Tensor:
    """Give `target` the value and the history of `value`, the way in-place operations end.

    Arrays saved for gradients keep what they hold: `target` gets another array.
    """
    target._data = value._data
    target._node = value._node
    target._index = value._index
    return target


def preserve(x: Tensor) -> None:
    """Before the array of a Parameter is written: give values saved for a gradient a copy of it."""
    data = x._data
    if recording.written is not None and id(x) not in recording.written:
        recording.written[id(x)] = x, data, data.copy(order="K")
    separate(data)


def separate(data: _ndarray) -> None:
    """Give the saved values of Parameters that are this very array a copy of it."""
    copy = None
    for tape in recording.tapes:
        for t in tape.kept:
            if t._data is data:
                if copy is None:
                    copy = data.copy(order="K")
                t._data = copy


Parameter.before_write = preserve


def apply(primitive: Any, *inputs: Any) -> Any:
    """Run an operation on tensors and plain values, recording it when a gradient asks.

    Returns:
        A Tensor, or a tuple of them when the primitive's forward returns a tuple.
    """
    if recording.policy is not None:
        inputs = recording.policy(primitive, inputs)
        if isinstance(inputs, Tensor):
            return inputs
    traced = False
    arrays = []
    for x in inputs:
        if isinstance(x, Tensor):
            data = x._data
            arrays.append(data if data is not None else x.array())
            if x._node is not None:
                traced = True
        else:
            arrays.append(x)
    out = primitive.forward(*arrays)
    if type(out) is tuple:
        results = tuple([_tensor(o) for o in out])
        if traced and (tape := recording.tape) is not None:
            record(primitive, inputs, results, len(results), tape)
        return results
    result = _new(Tensor)
    result._data = out if type(out) is _ndarray else np.asarray(out)
    if traced and (tape := recording.tape) is not None:
        record(primitive, inputs, result, 0, tape)
    return result


def _tensor(array: Any) -> Tensor:
    t = _new(Tensor)
    t._data = array if type(array) is _ndarray else np.asarray(array)
    return t


def record(primitive: Any, inputs: Sequence, result: Any, width: int, tape: Tape | None = None) -> Node | None:
    """Make the node of an operation that ran and tie its results to it.

    Args:
        primitive: has `name`, `differentiable`, `keeps`, `keeps_output` and `gradient`.
        inputs: the arguments it ran on.
        result: its output tensor, or the tuple of them.
        width: the number of outputs; 0 for one output that is no tuple.
        tape: the tape being recorded, if known.

    Returns:
        The node; None when nothing is recorded or no input is traced.
    """
    if tape is None:
        tape = recording.tape
    if tape is None or not primitive.differentiable:
        return None
    watched = tape.watched
    if watched is not None:
        watched.see(inputs)
        if watched is tape:
            return None
    keeps = primitive.keeps
    saved = []
    live = []
    i = -1
    for x in inputs:
        i += 1
        if isinstance(x, Tensor):
            t = _new(Tensor)
            if keeps is None or i in keeps:
                t._data = x._data
                if type(x) is not Tensor:
                    tape.kept.append(t)
            else:
                data = x._data
                t._shape, t._dtype = data.shape, data.dtype
            node = x._node
            if node is not None and node.tape is tape:
                t._node = node
                t._index = x._index
                live.append(i)
            saved.append(t)
        else:
            saved.append(x)
    if not live:
        return None
    keep_output = primitive.keeps_output
    if width:
        outputs = tuple([kept_output(r, keep_output) for r in result])
        node = Node(primitive, tuple(saved), outputs, width, live, tape)
        for i, r in enumerate(result):
            r._node, r._index = node, i
    else:
        data = result._data
        if keep_output:
            output = _new(Tensor)
            output._data = data
        else:
            output = data.shape, data.dtype
        node = _new(Node)
        node.primitive, node.inputs, node.output, node.width = primitive, tuple(saved), output, 0
        node.live, node.tape, node.order = live, tape, next(_orders)
        result._node = node
    if tape.pack is not None:
        tape.pack.pack(node)
    return node


def formless(shape: tuple, dtype: np.dtype) -> Tensor:
    """A tensor that has a shape and a dtype, but no data."""
    t = _new(Tensor)
    t._shape, t._dtype = shape, dtype
    return t


def kept_output(result: Tensor, keep_data: bool) -> Tensor:
    """A result as its node keeps it, without history (that would be a cycle)."""
    t = _new(Tensor)
    data = result._data
    if keep_data:
        t._data = data
    else:
        t._shape, t._dtype = data.shape, data.dtype
    return t


def call_node(primitive: Any, saved: Sequence, results: Sequence[Tensor], tape: Tape, special: bool = True) -> Node:
    """Make one node of a whole call; its results are still to be tied to it.

    Args:
        primitive: the node's primitive.
        saved: aliases of the tensors the call read, and plain values.
        results: the tensors it returned.
        tape: the tape it is recorded on.
        special: as in Node.
    """
    keep_output = primitive.keeps_output
    node = Node(
        primitive,
        tuple(saved),
        tuple([kept_output(r, keep_output) for r in results]),
        len(results),
        live_inputs(saved, tape),
        tape,
    )
    node.special = special
    if tape.pack is not None:
        tape.pack.pack(node)
    return node


def tied(results: Sequence[Tensor], node: Node) -> list[Tensor]:
    """The results as new tensors whose history is the node."""
    return [tensor_at(r._data, node, i) for i, r in enumerate(results)]


def wanted(values: Iterable) -> bool:
    """Whether a node has to be made for an operation that reads these values."""
    tape = recording.tape
    if tape is None:
        return False
    watched = tape.watched
    if watched is not None:
        values = list(values)
        watched.see(values)
        if watched is tape:
            return False
    return any(isinstance(x, Tensor) and x._node is not None and x._node.tape is tape for x in values)


def live_inputs(inputs: Sequence, tape: Tape) -> list[int]:
    """The indices of the inputs that are traced on this tape."""
    return [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x._node is not None and x._node.tape is tape]


class paused:
    """A region in which nothing is recorded; gradients may be taken in it."""

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        self._before = recording.tape
        recording.tape = None

    def __exit__(self, *exc: Any) -> None:
        recording.tape = self._before


class no_grad:
    """A region, or a decorated function, in which nothing is recorded and no gradient can be taken.

    Examples:
        >>> import dist_ms as ms
        >>> def f(x):
        ...     with ms._no_grad():
        ...         c = x * 3
        ...     return x * c
        >>> print(ms.grad(f)(ms.Tensor(2.0)))
        6.0
    """

    def __init__(self) -> None:
        self._before: list[tuple] = []

    def __enter__(self) -> None:
        self._before.append((recording.tape, recording.refused))
        recording.tape, recording.refused = None, True

    def __exit__(self, *exc: Any) -> None:
        recording.tape, recording.refused = self._before.pop()

    def __call__(self, fn: Callable) -> Callable:
        @functools.wraps(fn)
        def call(*args: Any, **kwargs: Any) -> Any:
            with no_grad():
                return fn(*args, **kwargs)

        return call


def stop_gradient(value: Any) -> Any:
    """Return the value of a tensor without its history: gradients end here.

    Args:
        value: a Tensor, or a tuple or list of them; anything else is returned as it is.

    Returns:
        Tensors that share the memory of the given ones.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.grad(lambda x: x * ms.ops.stop_gradient(x))(ms.Tensor(3.0)))
        3.0
    """
    if isinstance(value, (tuple, list)):
        return type(value)(stop_gradient(v) for v in value)
    return _tensor(value.array()) if isinstance(value, Tensor) else value
