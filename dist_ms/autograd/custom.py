"""Gradients users write: a cell's `bprop`. And the list of what nn.Cell calls.

Cell.__call__ wraps the running of `construct` in this order, innermost first; each
function runs `run(*args, **kwargs)` plainly when no gradient records:

1. `call_with_bprop(cell, run, args, kwargs)` if the class has `bprop`.
2. `recompute(run, args, kwargs)` if the cell is marked by `Cell.recompute` (an inner mark
   has no effect inside a recomputed cell).
3. `call_with_backward_hooks(cell, run, args, kwargs, pre_hooks, hooks)` if it has backward
   hooks (dicts whose values are the hooks).

`saved_tensors_hooks(pack, unpack)` is the context for `Cell.register_saved_tensors_hooks`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from dist_ms.autograd.fit import fit
from dist_ms.autograd.hooks import call_with_backward_hooks
from dist_ms.autograd.recompute import recompute_call as recompute
from dist_ms.autograd.saved import saved_tensors_hooks
from dist_ms.autograd.tape import Recorded, alias, call_node, paused, recording, tied, wanted
from dist_ms.autograd.tree import map_tensors, tensors
from dist_ms.common.tensor import Tensor

__all__ = ["call_with_backward_hooks", "call_with_bprop", "recompute", "saved_tensors_hooks"]


def call_with_bprop(cell: Any, run: Callable, args: tuple, kwargs: dict) -> Any:
    """Run `run(*args, **kwargs)` with `cell.bprop(*inputs, out, dout)` as its gradient.

    Nothing inside `run` is recorded: parameters used there get no gradient, except those in
    `cell.internal_params`, whose gradients `bprop` returns in a dict after the tuple.

    `inputs` are the arguments of `construct` in order, defaults included; `dout` holds one
    gradient per tensor of `out`, zeros where none arrived.
    """
    if recording.tape is None:
        return run(*args, **kwargs)
    inputs = _positional(cell, args, kwargs)
    internal = list(getattr(cell, "internal_params", None) or ())
    values = tensors(inputs) + internal
    making = wanted(values)
    tape = recording.tape
    with paused():
        saved = [alias(v, tape=tape) for v in values]
        outputs = run(*args, **kwargs)
    results = tensors(outputs)
    if not making or not results:
        return outputs
    names = [type(cell).__name__, *(getattr(p, "name", "") for p in internal)]
    primitive = _Bprop(cell.bprop, names, inputs, internal, outputs)
    node = call_node(primitive, saved, results, tape, special=False)
    made = iter(tied(results, node))
    return map_tensors(lambda r: next(made), outputs)


@functools.lru_cache(maxsize=512)
def _signature(function: Callable) -> inspect.Signature:
    return inspect.signature(function)


def _positional(cell: Any, args: tuple, kwargs: dict) -> list:
    """The arguments of `construct` in order, as bprop gets them."""
    construct = type(cell).construct
    try:
        bound = _signature(construct).bind(cell, *args, **kwargs)
    except (TypeError, ValueError):
        return [*args, *kwargs.values()]
    bound.apply_defaults()
    return [*bound.args[1:], *bound.kwargs.values()]


class _Bprop(Recorded):
    """The primitive of one call of a cell with its own gradient.

    Args:
        bprop: the user's function.
        names: the cell's class, then the names of the internal parameters.
        inputs: the arguments, nested.
        internal: the parameters whose gradients bprop returns.
        outputs: what the call returned, nested.
    """

    keeps = None
    keeps_output = True

    def __init__(self, bprop: Callable, names: list[str], inputs: list, internal: list, outputs: Any) -> None:
        self.bprop = bprop
        self.name, *self.parameter_names = names
        self.internal = internal
        self.inputs = map_tensors(lambda x: _HOLE, inputs)
        self.outputs = map_tensors(lambda x: _HOLE, list(outputs) if isinstance(outputs, tuple) else outputs)
        self.as_tuple = isinstance(outputs, (tuple, list))

    def gradient(self, saved: tuple, output: tuple, dout: tuple) -> tuple:
        """Ask bprop, and bring what it returns to one gradient per saved tensor."""
        values, outs, douts = iter(saved), iter(output), iter(dout)
        inputs = [_filled(x, values) for x in self.inputs]
        if self.as_tuple:
            out: Any = tuple([_filled(o, outs) for o in self.outputs])
            grad: Any = tuple([_filled(o, douts) for o in self.outputs if _has_hole(o)])
        else:
            out, grad = _filled(self.outputs, outs), _filled(self.outputs, douts)
        given, weights = self._parts(self.bprop(*inputs, out, grad), inputs)
        if len(given) < len(inputs):
            raise RuntimeError(
                f"Grad size should lager than forward inputs, but got {len(given)} vs "
                f"{len(inputs)}: the bprop of '{self.name}' must return one gradient per input."
            )
        grads: list = []
        for x, g in zip(inputs, given):
            grads.extend(_aligned(x, g))
        return tuple(grads + self._weight_gradients(weights, len(inputs)))

    def _parts(self, returned: Any, inputs: list) -> tuple[tuple, dict]:
        """What bprop returned: the gradients of the inputs, and those of internal parameters."""
        weights: dict = {}
        if isinstance(returned, tuple) and len(returned) == 2 and isinstance(returned[1], dict):
            one_dict_of_two = len(inputs) == 2 and isinstance(inputs[1], dict)
            if self.internal or not one_dict_of_two:
                returned, weights = returned
        if returned is None:
            raise TypeError(
                f"The python function output is none: the bprop of '{self.name}' must return one gradient per input."
            )
        return (tuple(returned) if isinstance(returned, (tuple, list)) else (returned,)), weights

    def _weight_gradients(self, weights: dict, count: int) -> list:
        """The gradients of the internal parameters, found by parameter or by name."""
        grads = []
        named = {getattr(k, "name", k): g for k, g in weights.items()}
        for p, name in zip(self.internal, self.parameter_names):
            if name not in named:
                raise RuntimeError(
                    f"Grad size should lager than forward inputs, but got {count + len(weights)} "
                    f"vs {count + len(self.internal)}: the dict that the bprop of '{self.name}' "
                    f"returns has no gradient of the internal parameter '{name}'."
                )
            grad = named[name]
            grads.append(None if grad is None else fit(grad, p))
        return grads


class _Hole:
    """Stands for a tensor in a remembered nesting."""


_HOLE = _Hole()


def _has_hole(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(_has_hole, value))
    return any(map(_has_hole, value.values())) if isinstance(value, dict) else value is _HOLE


def _filled(value: Any, values: Any) -> Any:
    """The nesting with tensors in the holes."""
    if value is _HOLE:
        return next(values)
    if isinstance(value, (tuple, list)):
        items = [_filled(v, values) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return {k: _filled(v, values) for k, v in value.items()} if isinstance(value, dict) else value


def _aligned(x: Any, grad: Any) -> list:
    """The gradients of the tensors in one input, given in the input's nesting."""
    if isinstance(x, Tensor):
        return [None if grad is None else fit(grad, x)]
    if isinstance(x, dict):
        return [g for k, v in x.items() for g in _aligned(v, grad.get(k) if isinstance(grad, dict) else None)]
    if isinstance(x, (tuple, list)):
        each = grad if isinstance(grad, (tuple, list)) and len(grad) == len(x) else [None] * len(x)
        return [g for v, e in zip(x, each) for g in _aligned(v, e)]
    return []
