"""Hooks on gradients: of one tensor, and of several in one identity node.

A hook on a tensor sees its complete gradient. On a value made while a gradient records
the hook belongs to the value's node. On any other tensor (an input, a Parameter) it stays
with the tensor and acts in every gradient that is taken with respect to it.

Cells use `call_with_backward_hooks`: the tensors that go in pass one node, the tensors
that come out another, so that each hook sees a tuple of gradients.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from dist_ms.autograd.differentiate import start
from dist_ms.autograd.tape import Node, Recorded, alias, call_node, live_inputs, recording, tensor_at, wanted
from dist_ms.autograd.tree import map_tensors, tensors
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor

_keys = itertools.count()


class TensorHookHandle:
    """Takes a hook off its tensor.

    Args:
        hooks: the table the hook is in.
        key: its key there.
    """

    def __init__(self, hooks: dict, key: int) -> None:
        self.hooks = hooks
        self.key = key

    def remove(self) -> None:
        """Remove the hook; calling it again does nothing."""
        self.hooks.pop(self.key, None)


def check_hook(hook: Any) -> None:
    """Refuse what cannot be a hook."""
    if not callable(hook):
        raise TypeError(f"Expected a callable hook function, but got {type(hook).__name__}.")
    if getattr(hook, "__ms_jit__", False):
        raise TypeError(f"Decorating hook function {getattr(hook, '__name__', hook)} with '@jit' is not supported.")


def register_hook(self: Tensor, hook: Callable[[Tensor], Tensor | None]) -> TensorHookHandle:
    """Call `hook(grad)` when the tensor's gradient is complete; a Tensor it returns replaces it.

    Several hooks run in the order of registration, each on the result of the one before.

    Args:
        hook: takes the gradient and returns another one, or None to keep it.

    Returns:
        A handle; `handle.remove()` removes the hook.

    Raises:
        TypeError: if `hook` is not callable.
        RuntimeError: for a Parameter that needs no gradient.

    Examples:
        >>> import dist_ms as ms
        >>> def f(x, y):
        ...     z = x * y
        ...     handle = z.register_hook(lambda grad: grad * 2)
        ...     return z * y
        >>> print(ms.grad(f)(ms.Tensor(1.0), ms.Tensor(2.0)))
        8.0
    """
    check_hook(hook)
    if isinstance(self, Parameter) and not self.requires_grad:
        raise RuntimeError(
            "The tensor requires grad is false, which can not register tensor hook: the gradient "
            f"of the Parameter '{self.name}' is never computed."
        )
    table = _table(self)
    key = next(_keys)
    table[key] = hook
    return TensorHookHandle(table, key)


def _table(x: Tensor) -> dict:
    """The table the hooks of a tensor go to."""
    node = x._node
    inner = node is not None and node.tape is recording.tape
    if inner and node.primitive is not None and node.primitive is not start:
        if node.hooks is None:
            node.hooks = {}
        return node.hooks.setdefault(x._index, {})
    if x._hooks is None:
        x._hooks = {}
    if inner:
        node.hooks = {0: x._hooks}
    return x._hooks


def hooks(self: Tensor) -> list[Callable]:
    """The hooks registered on this tensor, in order.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor(1.0)
        >>> handle = x.register_hook(lambda grad: grad * 2)
        >>> len(x.hooks())
        1
        >>> handle.remove(); x.hooks()
        []
    """
    node = self._node
    if node is not None and node.hooks and self._index in node.hooks:
        return list(node.hooks[self._index].values())
    return list(self._hooks.values()) if self._hooks else []


class Pass(Recorded):
    """The primitive of an identity node over several tensors; `seen` gets the tuple of gradients.

    Args:
        seen: returns the gradients to pass on, None for those that did not arrive.
    """

    name = "Pass"

    def __init__(self, seen: Callable[[tuple], tuple]) -> None:
        self.seen = seen

    def gradient(self, inputs: tuple, output: tuple, dout: tuple) -> tuple:
        """Let the hooks see the gradients."""
        return self.seen(dout)


def pass_through(values: list[Tensor], seen: Callable[[tuple], tuple]) -> tuple[list[Tensor], Node]:
    """Send tensors through one node: `seen` is called with the tuple of their gradients.

    The node is to be made only where `wanted(values)` or where it hangs on another node's
    `after`. Tensors that are not traced stay what they are, and their gradient is None.
    """
    tape = recording.tape
    for v in values:
        v.array()
    node = call_node(Pass(seen), [alias(v, False, tape) for v in values], values, tape)
    passed = list(values)
    for i in node.live:
        passed[i] = tensor_at(values[i]._data, node, i)
    return passed, node


def call_with_backward_hooks(cell: Any, run: Callable, args: tuple, kwargs: dict, pre_hooks: dict, hooks: dict) -> Any:
    """Run `run(*args, **kwargs)` so that its gradient passes the backward hooks of `cell`.

    Args:
        cell: the hooks' first argument.
        run: the computation.
        args, kwargs: its arguments. The tensors among `args` make up `grad_input`.
        pre_hooks: called with (cell, grad_output) before the gradients inside are computed.
        hooks: called with (cell, grad_input, grad_output) after that. Inputs that need no gradient
            have the entry None; where none needs one, `grad_input` is (None,).

    Of a tuple of outputs its own tensors make up `grad_output`; of a list, a dict or a named
    tuple all tensors inside. Both tables are read when the gradient is computed. A hook returns
    None, or the gradients to go on with: a tuple, or a Tensor for a tuple of one.
    """
    tape = recording.tape
    if tape is None or tape.watched is tape:
        return run(*args, **kwargs)
    grad_output: list[tuple] = [()]

    def leaving(grads: tuple) -> tuple:
        for hook in list(hooks.values()):
            grads = _replaced("backward", "grad input", hook(cell, grads, grad_output[0]), grads, hook)
        return grads

    def entering(grads: tuple) -> tuple:
        for hook in list(pre_hooks.values()):
            grads = _replaced("backward pre", "output", hook(cell, grads), grads, hook)
        grad_output[0] = grads
        return grads

    inputs = [a for a in args if isinstance(a, Tensor)]
    passed, gate = _gate(inputs, leaving)
    replaced = iter(passed)
    outputs = run(*[next(replaced) if isinstance(a, Tensor) else a for a in args], **kwargs)
    flat = isinstance(outputs, tuple) and not hasattr(outputs, "_fields")
    results = [o for o in outputs if isinstance(o, Tensor)] if flat else tensors(outputs)
    if not wanted(results):
        return outputs
    passed, node = pass_through(results, entering)
    node.after = gate
    replaced = iter(passed)
    if flat:
        return tuple([next(replaced) if isinstance(o, Tensor) else o for o in outputs])
    return map_tensors(lambda o: next(replaced), outputs)


def _gate(inputs: list[Tensor], seen: Callable[[tuple], tuple]) -> tuple[list[Tensor], Node]:
    """The node the inputs of a hooked cell pass; with none traced its gradient is a single None."""
    tape = recording.tape
    if live_inputs(inputs, tape):
        return pass_through(inputs, seen)
    node = Node(Pass(lambda grads: seen((None,))), (), (), 1, (), tape)
    node.special = True
    return inputs, node


def _replaced(kind: str, what: str, result: Any, grads: tuple, hook: Callable) -> tuple:
    """Check what a backward hook returned and merge it with the gradients it was given."""
    if result is None:
        return grads
    name = getattr(hook, "__name__", type(hook).__name__)
    new = result if isinstance(result, tuple) else (result,)
    if len(new) != len(grads):
        raise TypeError(
            f"The {kind} hook return value size is {len(new)} not equal to expect {what} size "
            f"{len(grads)}: the hook '{name}' must return None or a tuple with one Tensor for each."
        )
    for value, grad in zip(new, grads):
        if value is None and grad is None:
            continue
        if not isinstance(value, Tensor):
            raise TypeError(
                f"The output type of the {kind} hook '{name}' should be a tensor but got {type(value).__name__}."
            )
        if grad is not None and (value.shape != grad.shape or value.dtype != grad.dtype):
            raise ValueError(
                f"The output of the {kind} hook '{name}' is not consistent with the expected: the shape "
                f"must be {grad.shape}, but got {value.shape}; the type must be {grad.dtype}, but got {value.dtype}."
            )
    return new
