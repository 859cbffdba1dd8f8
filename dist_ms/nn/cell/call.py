"""Calling a Cell: the checks of the first call, mixed precision, custom gradients, recomputation."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from dist_ms._ext.cell import Constructed
from dist_ms.autograd import custom
from dist_ms.autograd.tape import recording
from dist_ms.nn.cell.hooks import CellHooks
from dist_ms.nn.cell.precision import CellPrecision

_RECOMPUTE_FLAGS = ("mp_comm_recompute", "parallel_optimizer_comm_recompute", "recompute_slice_activation")


class CellCall(Constructed, CellHooks, CellPrecision):
    """The part of Cell that runs `construct`."""

    _cell_plain = False  # nothing but `construct` is to be run
    _cell_called = False
    _cell_recompute: dict | None = None
    _bprop_debug = False
    has_bprop = False

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        """Define the computation: every subclass overrides this.

        Raises:
            AttributeError: if it is called on a class that does not.
        """
        raise AttributeError(f"For '{type(self).__name__}', the method 'construct' is not defined.")

    def _cell_call(self, args: tuple, kwargs: dict) -> Any:
        """A cell's first call, and one that needs more than `construct`."""
        if not self._cell_called:
            self._cell_prepare(args, kwargs)
            if self._cell_plain:
                return self.construct(*args, **kwargs)
        if self._cell_policy is None:
            return self._cell_hooked_call(args, kwargs)
        before = recording.policy
        recording.policy = self._cell_policy
        try:
            return self._cell_hooked_call(args, kwargs)
        finally:
            recording.policy = before

    def _cell_prepare(self, args: tuple, kwargs: dict) -> None:
        """What a cell's first call checks."""
        if "_params" not in self.__dict__:
            raise AttributeError(
                f"The '{type(self).__name__}' object has no attribute '_init_flag'. Call "
                "super().__init__() as the first line of __init__."
            )
        code = getattr(inspect.unwrap(type(self).construct), "__code__", None)
        if code is not None and code.co_varnames[: code.co_argcount][:1] != ("self",):
            self._cell_check_first_argument(args, kwargs)
        self.check_names_and_refresh_name()
        self.__dict__["_cell_called"] = True
        self._cell_choose_call()

    def _cell_check_first_argument(self, args: tuple, kwargs: dict) -> None:
        """Refuse a call that fails since `construct` lacks its first parameter."""
        try:
            inspect.signature(self.construct).bind(*args, **kwargs)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"For '{type(self).__name__}', the method 'construct' must have parameter 'self' as its first one: "
                f"{error}."
            ) from None

    def _cell_choose_call(self) -> None:
        """Decide whether a call needs more than `construct`."""
        self.__dict__["_cell_plain"] = self._cell_called and not (
            self._cell_policy is not None
            or (self._cell_hooks is not None and any(self._cell_hooks.values()))
            or self._cell_recompute is not None
            or self.has_bprop
            or self._cell_saved_hooks is not None
        )

    def _cell_compute(self, *args: Any, **kwargs: Any) -> Any:
        """Run `construct` with what changes its gradient: saved-tensor hooks, bprop, recomputation."""
        run: Callable = self.construct
        if self.has_bprop:
            construct = run
            run = lambda *a, **k: custom.call_with_bprop(self, construct, a, k)  # noqa: E731
        if self._cell_recompute is not None:
            again = run
            run = lambda *a, **k: custom.recompute(again, a, k, **self._cell_recompute)  # noqa: E731
        if self._cell_saved_hooks is not None:
            with custom.saved_tensors_hooks(*self._cell_saved_hooks):
                return run(*args, **kwargs)
        return run(*args, **kwargs)

    def run_construct(self, cast_inputs: tuple, kwargs: dict) -> Any:
        """Run `construct` with its hooks, bypassing `__call__`.

        Args:
            cast_inputs: the positional inputs.
            kwargs: the keyword inputs.

        Examples:
            >>> import dist_ms as ms
            >>> print(ms.nn.ReLU().run_construct((ms.Tensor([-1.0, 1.0]),), {}))
            [0. 1.]
        """
        return self._cell_hooked_call(tuple(cast_inputs), kwargs)

    @property
    def bprop_debug(self) -> bool:
        """Whether a graph compiler would run `bprop` in Python; here it always runs so.

        Raises:
            TypeError: if something else than a bool is assigned.
        """
        return self._bprop_debug

    @bprop_debug.setter
    def bprop_debug(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise TypeError(f"For 'Cell', the property 'bprop_debug' must be bool type, but got type {type(value)}.")
        self.__dict__["_bprop_debug"] = value

    def recompute(
        self,
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
            if not isinstance(value, bool):
                raise TypeError(f"For 'recompute', '{key}' must be a bool, but got {type(value).__name__}.")
        if context_fn is not None and not callable(context_fn):
            raise TypeError(f"For 'recompute', 'context_fn' must be callable, but got {type(context_fn).__name__}.")
        reentrant = use_reentrant and not output_recompute
        self.__dict__["_cell_recompute"] = {"context_fn": None if reentrant else context_fn}
        self.add_flags(output_recompute=output_recompute)
        self._cell_choose_call()
