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
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from dist_ms._ext.tape import (
    Node,
    Tape,
    alias,
    apply,
    formless,
    kept_output,
    preserve,
    recording,
    separate,
    tensor_at,
)
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor, wrap

__all__ = [
    "Node",
    "Recorded",
    "Tape",
    "Watch",
    "alias",
    "apply",
    "as_given",
    "call_node",
    "formless",
    "live_inputs",
    "no_grad",
    "overwrite",
    "paused",
    "preserve",
    "recording",
    "separate",
    "stop_gradient",
    "tensor_at",
    "tied",
    "unseen",
    "wanted",
]


class Recorded:
    """What the gate reads of an operation, for those that are no Primitives: a subclass has `name` and `gradient`.

    Attributes:
        keeps: places of the inputs whose data the gradient reads; None: all.
        keeps_output: whether it reads the output.
    """

    differentiable = True
    keeps: tuple[int, ...] | None = ()
    keeps_output = False


class Watch(Tape):
    """A tape that makes no nodes: it collects the traced tensors that operations read.

    Attributes:
        of: the tape the collected tensors are traced on.
        found: (tensor, alias of its value at the first use) by id, in the order of first use.
    """

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


def unseen() -> bool:
    """Whether nothing records or watches operations: a gradient may be made of arrays, without them.

    Examples:
        >>> from dist_ms.autograd.tape import unseen
        >>> unseen()
        True
    """
    return recording.tape is None and recording.observer is None


class as_given:
    """A part of a mixed-precision region in which operations run in the types of their inputs."""

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        self._before = recording.policy
        recording.policy = None

    def __exit__(self, *exc: Any) -> None:
        recording.policy = self._before


def overwrite(target: Tensor, value: Tensor) -> Tensor:
    """Give `target` the value and the history of `value`, the way in-place operations end.

    Arrays saved for gradients keep what they hold: `target` gets another array.
    """
    target._data = value._data if value._held is None else value._held
    target._part = value._part
    target._node = value._node
    target._index = value._index
    return target


Parameter.before_write = preserve


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
    return wrap(value.array()) if isinstance(value, Tensor) else value
