"""_Function: an operation with a forward and a backward written by the user."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from typing import Any

from dist_ms.autograd.differentiate import start, zeros_like
from dist_ms.autograd.fit import fit
from dist_ms.autograd.tape import (
    Node,
    Recorded,
    Tape,
    alias,
    call_node,
    kept_output,
    overwrite,
    paused,
    recording,
    tensor_at,
    wanted,
)
from dist_ms.autograd.tree import map_tensors, tensors
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor


class _Function:
    """Base class of operations that define their own gradient; call them with `apply`.

    A subclass has two static methods: `forward(ctx, *args)` returns a tensor or a tuple;
    `backward(ctx, *grads)` takes one gradient per output and returns one per argument, None
    where there is none. `ctx` carries values from one to the other, and takes free attributes.

    Attributes:
        needs_input_grad: for each argument, whether it is a tensor that may need a gradient.

    Examples:
        >>> import dist_ms as ms
        >>> class Cube(ms._Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.save_for_backward(x)
        ...         return x * x * x
        ...     @staticmethod
        ...     def backward(ctx, grad):
        ...         x, = ctx.saved_tensors
        ...         return 3 * x * x * grad
        >>> print(ms.grad(Cube.apply)(ms.Tensor(2.0)))
        12.0
    """

    def __init__(self) -> None:
        self.needs_input_grad: tuple = ()
        self.materialize_grads = True
        self._saved: list = []
        self._dirty: tuple = ()
        self._constant: tuple = ()
        self._node: Callable[[], Node | None] = lambda: None  # weak: the node holds this object

    # ---- what forward tells about itself
    def save_for_backward(self, *values: Tensor | None) -> None:
        """Keep tensors for `backward`; there they are `saved_tensors`."""
        for value in values:
            if value is not None and not isinstance(value, Tensor):
                raise RuntimeError(
                    "Please check your custom function, that save_for_backward() only support "
                    f"None and tensor, but got other type: {type(value).__name__}."
                )
        self._saved = list(values)

    def mark_dirty(self, *values: Tensor) -> None:
        """Name the arguments that `forward` changes in place; it must return them."""
        self._dirty = values

    def mark_non_differentiable(self, *values: Tensor) -> None:
        """Name the outputs that have no gradient."""
        self._constant = values

    def set_materialize_grads(self, value: bool) -> None:
        """Whether `backward` gets zeros (the default) or None for outputs without a gradient."""
        self.materialize_grads = value

    @property
    def saved_tensors(self) -> tuple:
        """The tensors given to `save_for_backward`."""
        node = self._node()
        return tuple([tensor_at(s[0]._data, node, s[1]) if isinstance(s, tuple) else s for s in self._saved])

    # ---- the two functions
    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        """Compute the outputs: every subclass overrides this."""
        raise NotImplementedError("forward function should be customized.")

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Compute the gradients: every subclass overrides this."""
        raise NotImplementedError("backward function should be customized.")

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Run the operation on its arguments."""
        ctx = cls()
        ctx.needs_input_grad = tuple([_may_need(a) for a in args])
        making = wanted(args)
        tape = recording.tape
        saved = tuple([alias(a, tape=tape) if isinstance(a, Tensor) else a for a in args])
        leaves = [a for a in args if making and _is_leaf(a, tape)]
        with paused():
            outputs = cls.forward(ctx, *args)
        results = tensors(outputs)
        if any(not any(d is r for r in results) for d in ctx._dirty):
            raise RuntimeError("The dirty tensors must all be outputs of the forward function.")
        if any(d is leaf for d in ctx._dirty for leaf in leaves):
            raise RuntimeError("A leaf tensor that need grad is being used in an inplace operator.")
        if not making or not results:
            return outputs
        return ctx._record(args, saved, outputs, results, tape)

    def _record(self, args: tuple, saved: tuple, outputs: Any, results: list[Tensor], tape: Tape) -> Any:
        """Make the node and tie the outputs to it."""
        node = call_node(_Call(self, _layout(outputs)), saved, results, tape)
        self._node = weakref.ref(node)
        self._saved = [_kept(s, args, saved, results) for s in self._saved]
        made = []
        for i, r in enumerate(results):
            if any(c is r for c in self._constant):
                made.append(r)
                continue
            out = tensor_at(r._data, node, i)
            made.append(overwrite(r, out) if any(d is r for d in self._dirty) else out)
        each = iter(made)
        return map_tensors(lambda r: next(each), outputs)


def _is_leaf(x: Any, tape: Tape) -> bool:
    """Whether a gradient is being taken with respect to this very tensor."""
    node = x._node if isinstance(x, Tensor) else None
    return node is not None and node.tape is tape and (node.primitive is None or node.primitive is start)


def _layout(outputs: Any) -> list:
    """For each argument of backward after ctx: the number of its output tensor, if it is one."""
    numbers = itertools.count()
    if not isinstance(outputs, (tuple, list)):
        return [i for i, _ in enumerate(tensors(outputs))]
    return [next(numbers) if isinstance(o, Tensor) else None for o in outputs]


def _may_need(x: Any) -> bool:
    """Whether an argument is a tensor of a type and kind that has gradients."""
    return (
        isinstance(x, Tensor)
        and x.array().dtype.kind in "fcV"
        and not (isinstance(x, Parameter) and not x.requires_grad)
    )


def _kept(value: Tensor | None, args: tuple, saved: tuple, results: list[Tensor]) -> Any:
    """What to keep of a saved tensor: an argument's alias; of an output its value and number."""
    for i, r in enumerate(results):
        if r is value:
            return kept_output(r, True), i
    for a, s in zip(args, saved):
        if a is value:
            return s
    return value


class _Call(Recorded):
    """The primitive of one call of a _Function."""

    keeps = None

    def __init__(self, ctx: _Function, layout: list) -> None:
        self.ctx = ctx
        self.layout = layout
        self.name = type(ctx).__name__

    def gradient(self, inputs: tuple, output: tuple, dout: tuple) -> tuple:
        """Ask backward, and check what it returns."""
        if all(d is None for d in dout):
            return (None,) * len(inputs)
        ctx = self.ctx
        if ctx.materialize_grads:
            dout = tuple([zeros_like(o) if d is None else d for o, d in zip(output, dout)])
        given = type(ctx).backward(ctx, *[None if i is None else dout[i] for i in self.layout])
        given = given if isinstance(given, tuple) else (given,)
        if len(given) < len(inputs):
            raise RuntimeError(
                f"Function backward return a wrong number of gradients, expect: {len(inputs)} but: {len(given)}."
            )
        return tuple([_checked(i, x, g) for i, (x, g) in enumerate(zip(inputs, given))])


def _checked(position: int, x: Any, grad: Any) -> Tensor | None:
    """One gradient in the shape and type of its argument."""
    if grad is None:
        return None
    if not isinstance(x, Tensor):
        raise RuntimeError(f"Input is not tensor, but gradient is not none, position: {position} type: {type(grad)}.")
    if not isinstance(grad, Tensor):
        raise RuntimeError(f"Gradient should be none or tensor, position: {position} type: {type(grad)}.")
    return fit(grad, x)
