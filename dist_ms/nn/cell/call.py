"""Calling a Cell: the checks of the first call, mixed precision, custom gradients, recomputation.

Fields of a cell: writes `_bprop_debug`, `_cell_called`, `_cell_recompute`; reads `_cell_plain`, `_cell_policy`,
`_cell_saved_hooks`, `_params`, `has_bprop`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dist_ms.autograd import custom
from dist_ms.autograd.tape import recording
from dist_ms.common.checks import check_bool, check_callable
from dist_ms.nn.cell.hooks import hooked_call
from dist_ms.nn.cell.shortcut import choose_call

if TYPE_CHECKING:
    from dist_ms.nn.cell.cell import Cell

_RECOMPUTE_FLAGS = ("mp_comm_recompute", "parallel_optimizer_comm_recompute", "recompute_slice_activation")


def construct(self: Cell, *args: Any, **kwargs: Any) -> Any:
    """Define the computation: every subclass overrides this.

    Raises:
        AttributeError: if it is called on a class that does not.
    """
    raise AttributeError(f"For '{type(self).__name__}', the method 'construct' is not defined.")


def call_cell(self: Cell, args: tuple, kwargs: dict) -> Any:
    """A cell's first call, and one that needs more than `construct`."""
    if not self._cell_called:
        _prepare(self, args, kwargs)
        if self._cell_plain:
            return self.construct(*args, **kwargs)
    if self._cell_policy is None:
        return hooked_call(self, _compute, args, kwargs)
    before = recording.policy
    recording.policy = self._cell_policy
    try:
        return hooked_call(self, _compute, args, kwargs)
    finally:
        recording.policy = before


def _prepare(cell: Cell, args: tuple, kwargs: dict) -> None:
    """What a cell's first call checks."""
    if "_params" not in cell.__dict__:
        raise AttributeError(
            f"The '{type(cell).__name__}' object has no attribute '_init_flag'. Call "
            "super().__init__() as the first line of __init__."
        )
    code = getattr(inspect.unwrap(type(cell).construct), "__code__", None)
    if code is not None and code.co_varnames[: code.co_argcount][:1] != ("self",):
        _check_first_argument(cell, args, kwargs)
    cell.check_names_and_refresh_name()
    cell.__dict__["_cell_called"] = True
    choose_call(cell)


def _check_first_argument(cell: Cell, args: tuple, kwargs: dict) -> None:
    """Refuse a call that fails since `construct` lacks its first parameter."""
    try:
        inspect.signature(cell.construct).bind(*args, **kwargs)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"For '{type(cell).__name__}', the method 'construct' must have parameter 'self' as its first one: {error}."
        ) from None


def _compute(cell: Cell, args: tuple, kwargs: dict) -> Any:
    """Run `construct` with what changes its gradient: saved-tensor hooks, bprop, recomputation."""
    run: Callable = cell.construct
    if cell.has_bprop:
        construct = run
        run = lambda *a, **k: custom.call_with_bprop(cell, construct, a, k)  # noqa: E731
    options = cell._cell_recompute
    if options is not None:
        again = run
        run = lambda *a, **k: custom.recompute(again, a, k, **options)  # noqa: E731
    if cell._cell_saved_hooks is not None:
        with custom.saved_tensors_hooks(*cell._cell_saved_hooks):
            return run(*args, **kwargs)
    return run(*args, **kwargs)


def run_construct(self: Cell, cast_inputs: tuple, kwargs: dict) -> Any:
    """Run `construct` with its hooks, bypassing `__call__`.

    Args:
        cast_inputs: the positional inputs.
        kwargs: the keyword inputs.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.ReLU().run_construct((ms.Tensor([-1.0, 1.0]),), {}))
        [0. 1.]
    """
    return hooked_call(self, _compute, tuple(cast_inputs), kwargs)


def _bprop_debug(self: Cell) -> bool:
    """Whether a graph compiler would run `bprop` in Python; here it always runs so.

    Raises:
        TypeError: if something else than a bool is assigned.
    """
    return self._bprop_debug


def _set_bprop_debug(self: Cell, value: bool) -> None:
    if not isinstance(value, bool):
        raise TypeError(f"For 'Cell', the property 'bprop_debug' must be bool type, but got type {type(value)}.")
    self.__dict__["_bprop_debug"] = value


bprop_debug = property(_bprop_debug, _set_bprop_debug)


def recompute(
    self: Cell,
    *,
    use_reentrant: bool = True,
    output_recompute: bool = False,
    early_stop: bool = True,
    context_fn: Callable | None = None,
    **kwargs: bool,
) -> None:
    """Run `construct` again for the gradient instead of keeping what it computed.

    Values and gradients stay the same, random numbers included; memory is saved, time is
    not. Inside a recomputed cell the mark of a nested one has no effect.

    Args:
        use_reentrant, output_recompute, early_stop: bools that choose between MindSpore's ways of
            recomputing; the gradients of all of them are the same.
        context_fn: with `use_reentrant=False` or `output_recompute=True`: returns two contexts, for
            the first run and for the second.
        kwargs: `mp_comm_recompute`, `parallel_optimizer_comm_recompute`, `recompute_slice_activation`
            (bools): model parallelism, nothing of which is used here.

    Raises:
        TypeError: if an option is no bool, or `context_fn` not callable.
        ValueError: for another keyword.

    Examples:
        >>> import dist_ms as ms
        >>> net = ms.nn.Dense(1, 1, weight_init="ones")
        >>> net.recompute()
        >>> print(ms.grad(net)(ms.Tensor([[2.0]])))
        [[1.]]
    """
    for key in kwargs:
        if key not in _RECOMPUTE_FLAGS:
            raise ValueError(
                f"For 'recompute', keyword '{key}' is not recognized! the key kwargs must be one of "
                f"{', '.join(_RECOMPUTE_FLAGS)}."
            )
    options = dict(use_reentrant=use_reentrant, output_recompute=output_recompute, early_stop=early_stop, **kwargs)
    for key, value in options.items():
        check_bool(value, key, "recompute")
    if context_fn is not None:
        check_callable(context_fn, "context_fn", "recompute")
    reentrant = use_reentrant and not output_recompute
    self.__dict__["_cell_recompute"] = {"context_fn": None if reentrant else context_fn}
    self.add_flags(output_recompute=output_recompute)
    choose_call(self)
