"""Hooks around a Cell's `construct`: on its inputs, its outputs, their gradients, and the parameters it reads.

The order of one call: forward pre hooks, then, inside the gate of the backward hooks,
`construct` and the forward hooks. What hooks compute is differentiated like the rest.

Fields of a cell: writes `_cell_hooks`, `_cell_read_hooks`, `_cell_saved_hooks`; reads `_params`.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from dist_ms.autograd.hooks import call_with_backward_hooks, check_hook
from dist_ms.autograd.saved import saved_tensors_hooks
from dist_ms.common.jit import compiled
from dist_ms.common.parameter import Parameter
from dist_ms.nn.cell.hook_handle import HookHandle
from dist_ms.nn.cell.shortcut import choose_call

if TYPE_CHECKING:
    from dist_ms.nn.cell.cell import Cell

_KINDS = ("forward_pre", "forward", "backward_pre", "backward")


def _register(cell: Cell, kind: str, hook: Callable, first: bool = False, *options: bool) -> HookHandle:
    check_hook(hook)
    tables = cell._cell_hooks
    if tables is None:
        tables = cell.__dict__["_cell_hooks"] = {k: OrderedDict() for k in _KINDS}
    handle = HookHandle(tables[kind], (hook, *options) if options else hook, first)
    choose_call(cell)
    return handle


def register_forward_pre_hook(
    self: Cell, hook_fn: Callable, *, prepend: bool = False, with_kwargs: bool = False
) -> HookHandle:
    """Call `hook_fn(cell, args)` before `construct`; what it returns replaces the inputs.

    Args:
        hook_fn: returns None to keep the inputs, a tuple of all positional inputs, or one value
            for a cell of one input.
        prepend: call it before the hooks registered so far.
        with_kwargs: call `hook_fn(cell, args, kwargs)`, which returns None or (args, kwargs).

    Returns:
        A handle whose `remove()` takes the hook away.

    Raises:
        TypeError: if `hook_fn` is not callable or made by `jit`.

    Examples:
        >>> import dist_ms as ms
        >>> net = ms.nn.ReLU()
        >>> handle = net.register_forward_pre_hook(lambda cell, args: -args[0])
        >>> print(net(ms.Tensor([-2.0])))
        [2.]
    """
    return _register(self, "forward_pre", hook_fn, prepend, with_kwargs)


def register_forward_hook(
    self: Cell, hook_fn: Callable, *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
) -> HookHandle:
    """Call `hook_fn(cell, args, output)` after `construct`; what it returns replaces the output.

    Args:
        hook_fn: returns None to keep the output.
        prepend: call it before the hooks registered so far.
        with_kwargs: call `hook_fn(cell, args, kwargs, output)`.
        always_call: call it also when the cell raises, with the output so far (None before there
            is one); the error is raised all the same, and one of the hook becomes a warning.

    Returns:
        A handle whose `remove()` takes the hook away.

    Raises:
        TypeError: if `hook_fn` is not callable or made by `jit`.

    Examples:
        >>> import dist_ms as ms
        >>> net = ms.nn.ReLU()
        >>> handle = net.register_forward_hook(lambda cell, args, output: output + args[0])
        >>> print(net(ms.Tensor([2.0])))
        [4.]
    """
    return _register(self, "forward", hook_fn, prepend, with_kwargs, always_call)


def register_backward_pre_hook(self: Cell, hook_fn: Callable) -> HookHandle:
    """Call `hook_fn(cell, grad_output)` once the gradients of the outputs are complete.

    Args:
        hook_fn: gets a tuple with one gradient per output, and returns None to keep them, or
            their replacement: a tuple, or a Tensor for a single one.

    Returns:
        A handle whose `remove()` takes the hook away.

    Raises:
        TypeError: if `hook_fn` is not callable or made by `jit`; in the gradient, if it returns
            something else.

    Examples:
        >>> import dist_ms as ms
        >>> net = ms.nn.ReLU()
        >>> handle = net.register_backward_pre_hook(lambda cell, grad_output: grad_output[0] * 5)
        >>> print(ms.grad(net)(ms.Tensor([2.0])))
        [5.]
    """
    return _register(self, "backward_pre", hook_fn)


def register_backward_hook(self: Cell, hook_fn: Callable) -> HookHandle:
    """Call `hook_fn(cell, grad_input, grad_output)` once the gradients of the inputs are complete.

    Args:
        hook_fn: gets two tuples, with one gradient per tensor among the positional inputs and
            one per output, and returns None to keep `grad_input`, or its replacement: a tuple,
            or a Tensor for a single one.

    Returns:
        A handle whose `remove()` takes the hook away.

    Raises:
        TypeError: if `hook_fn` is not callable or made by `jit`; in the gradient, if it returns
            something else.

    Examples:
        >>> import dist_ms as ms
        >>> net = ms.nn.ReLU()
        >>> handle = net.register_backward_hook(lambda cell, grad_input, grad_output: grad_input[0] * 5)
        >>> print(ms.grad(net)(ms.Tensor([2.0])))
        [5.]
    """
    return _register(self, "backward", hook_fn)


def register_saved_tensors_hooks(self: Cell, pack_hook: Callable, unpack_hook: Callable) -> None:
    """Pass what operations inside `construct` save for the gradient through two functions.

    Args:
        pack_hook: gets a tensor that an operation saves, returns any object to keep instead.
        unpack_hook: gets that object when the gradient needs it, returns the tensor.

    Raises:
        TypeError: if one is not callable.

    Examples:
        >>> import dist_ms as ms
        >>> net = ms.nn.Dense(1, 1, weight_init="ones", has_bias=False)
        >>> net.register_saved_tensors_hooks(lambda t: t.asnumpy(), lambda a: ms.Tensor(a) * 10)
        >>> print(ms.grad(net)(ms.Tensor([[2.0]])))
        [[10.]]
    """
    saved_tensors_hooks(pack_hook, unpack_hook)
    self.__dict__["_cell_saved_hooks"] = (pack_hook, unpack_hook)
    choose_call(self)


def register_parameter_forward_hook(self: Cell, hook: Callable | list[dict]) -> None:
    """Let compiled runs (`jit` functions and GRAPH_MODE) read `hook(parameter)` instead of parameters.

    Args:
        hook: a function for all parameters of this cell and the nested ones, or a list of
            `{"params": [Parameter, ...], "hook": function}`. A later hook of a parameter
            replaces an earlier one.

    Raises:
        TypeError: if a hook is not callable, or something else than a Parameter is listed.
        ValueError: if a dict lacks one of the keys.

    Examples:
        >>> import dist_ms as ms
        >>> net = ms.nn.Dense(1, 1, weight_init="ones", has_bias=False)
        >>> net.register_parameter_forward_hook([{"params": [net.weight], "hook": lambda p: p * 10}])
        >>> x = ms.Tensor([[2.0]])
        >>> print(net(x), ms.jit(net)(x))
        [[2.]] [[20.]]
    """
    by_id = _hooks_of_parameters(hook)
    for _, cell in self.cells_and_names():
        for key, p in cell._params.items():
            if p is not None and (callable(hook) or id(p) in by_id):
                if cell._cell_read_hooks is None:
                    cell.__dict__["_cell_read_hooks"] = {}
                cell._cell_read_hooks[key] = hook if callable(hook) else by_id[id(p)]


def _hooks_of_parameters(hook: Any) -> dict[int, Callable]:
    """Check the argument of register_parameter_forward_hook; returns the hooks by the id of their parameter."""
    if callable(hook):
        return {}
    if not isinstance(hook, list):
        raise TypeError(f"Hook must be a callable function or a list of dictionaries, but got {type(hook)}.")
    by_id = {}
    for item in hook:
        if not isinstance(item, dict):
            raise TypeError(f"Each item in the hook list must be a dictionary, but got {type(item)}.")
        if "params" not in item or "hook" not in item:
            raise ValueError(
                f"Each dictionary in the hook list must contain both params and hook keys, but got {sorted(item)}."
            )
        if not callable(item["hook"]):
            raise TypeError(f"The hook value must be callable, but got {type(item['hook'])}.")
        for p in item["params"]:
            if not isinstance(p, Parameter):
                raise TypeError(f"All items in params must be of type 'Parameter', but got {type(p)}.")
            by_id[id(p)] = item["hook"]
    return by_id


def read_parameter(self: Cell, name: str, p: Parameter | None) -> Any:
    """A parameter with a hook of its own as `construct` sees it."""
    hook = (self._cell_read_hooks or {}).get(name)
    return hook(p) if hook is not None and p is not None and compiled() else p


# ---- running
def hooked_call(cell: Cell, compute: Callable, args: tuple, kwargs: dict) -> Any:
    """Run the forward hooks around `compute(cell, args, kwargs)`, all of it inside the backward hooks' gate."""
    hooks = cell._cell_hooks
    if hooks is None:
        return compute(cell, args, kwargs)
    progress = _Progress(cell, compute, hooks["forward"], args, kwargs)
    try:
        for hook, with_kwargs in list(hooks["forward_pre"].values()):
            progress.before(hook, with_kwargs)
        if hooks["backward"] or hooks["backward_pre"]:
            return call_with_backward_hooks(
                cell, progress.run, progress.args, progress.kwargs, hooks["backward_pre"], hooks["backward"]
            )
        return progress.run(*progress.args, **progress.kwargs)
    except Exception:
        progress.rescue()
        raise


class _Progress:
    """One call of a cell with hooks: the inputs as the hooks left them, the output so far, the hooks done.

    Args:
        cell: the cell.
        compute: what computes, given the cell, positional and keyword inputs.
        hooks: the table of forward hooks.
        args, kwargs: what it was called with.
    """

    def __init__(self, cell: Cell, compute: Callable, hooks: dict, args: tuple, kwargs: dict) -> None:
        self.cell = cell
        self.compute = compute
        self.hooks = hooks
        self.args = args
        self.kwargs = kwargs
        self.output: Any = None
        self.done: set = set()

    def before(self, hook: Callable, with_kwargs: bool) -> None:
        """Run one forward pre hook."""
        if not with_kwargs:
            new = hook(self.cell, self.args)
            if new is not None:
                self.args = new if isinstance(new, tuple) else (new,)
            return
        new = hook(self.cell, self.args, self.kwargs)
        if new is None:
            return
        if not isinstance(new, tuple) or len(new) != 2:
            raise RuntimeError(
                "For 'register_forward_pre_hook', a hook with_kwargs must return None, or a tuple of positional and of "
                f"keyword arguments, but got {new}."
            )
        self.args, self.kwargs = new

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Compute, then run the forward hooks."""
        self.args, self.kwargs = args, kwargs
        self.output = self.compute(self.cell, args, kwargs)
        for key, (hook, with_kwargs, _) in list(self.hooks.items()):
            self.done.add(key)
            self.after(hook, with_kwargs)
        return self.output

    def after(self, hook: Callable, with_kwargs: bool) -> None:
        """Run one forward hook."""
        call = partial(hook, self.cell, self.args, *((self.kwargs,) if with_kwargs else ()))
        new = call(self.output)
        if new is not None:
            self.output = new

    def rescue(self) -> None:
        """After an error: run the forward hooks that want to be called all the same."""
        for key, (hook, with_kwargs, always) in list(self.hooks.items()):
            if always and key not in self.done:
                try:
                    self.after(hook, with_kwargs)
                except Exception as error:
                    warnings.warn(
                        f"A forward hook of '{self.cell.cls_name}' with always_call=True raised {error!r}, which "
                        "gives way to the error that the cell itself raised.",
                        stacklevel=2,
                    )
