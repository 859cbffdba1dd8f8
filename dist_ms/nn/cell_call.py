"""Calling a Cell: hooks around `construct`, custom gradients, recomputation and lower precision."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from dist_ms.autograd.tree import map_tensors
from dist_ms.common import dtype as mstype
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell_state import _Handle, add_hook

_PRECISIONS = (mstype.float32, mstype.float16, mstype.bfloat16)


class CellCall:
    """The part of Cell that runs `construct`."""

    def _init_call(self) -> None:
        state = self.__dict__
        state["_plain_call"] = not hasattr(type(self), "bprop")
        state["_hooks"] = None  # the four hook tables, made with the first hook
        state["_recompute"] = False
        state["_precision"] = None  # dtype that to_float asked for
        state["_cast_now"] = None  # the same while construct runs
        state["bprop_debug"] = False

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        """Define the computation: every subclass overrides this."""
        raise AttributeError(f"For '{type(self).__name__}', the method 'construct' is not defined.")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            plain = self._plain_call
        except AttributeError:
            raise AttributeError(
                f"The '{type(self).__name__}' object has no attribute '_init_flag'. Call "
                "super().__init__() as the first line of __init__."
            ) from None
        if plain:
            return self.construct(*args, **kwargs)
        return self._full_call(args, kwargs)

    def _choose_call(self) -> None:
        """Decide whether a call needs more than `construct`."""
        hooks = self._hooks is not None and any(self._hooks.values())
        self.__dict__["_plain_call"] = not (
            hooks or self._recompute or self._precision is not None or hasattr(type(self), "bprop")
        )

    def _full_call(self, args: tuple, kwargs: dict) -> Any:
        hooks = self._hooks
        if hooks is not None:
            for hook, with_kwargs in list(hooks["forward_pre"].values()):
                args, kwargs = self._before(hook, with_kwargs, args, kwargs)
        outputs = self._gradient_call(args, kwargs)
        if hooks is not None:
            for hook, with_kwargs in list(hooks["forward"].values()):
                new = hook(self, args, kwargs, outputs) if with_kwargs else hook(self, args, outputs)
                if new is not None:
                    outputs = new
        return outputs

    def _before(self, hook: Callable, with_kwargs: bool, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        """Run one forward pre hook and return the inputs it leaves."""
        if not with_kwargs:
            new = hook(self, args)
            if new is None:
                return args, kwargs
            return new if isinstance(new, tuple) else (new,), kwargs
        new = hook(self, args, kwargs)
        if new is None:
            return args, kwargs
        if not isinstance(new, tuple) or len(new) != 2:
            raise RuntimeError(
                f"forward pre hook with kwargs must return None or a tuple of (new_args, new_kwargs), but got {new!r}."
            )
        return new

    def _gradient_call(self, args: tuple, kwargs: dict) -> Any:
        """Run the computation with what changes its gradient: backward hooks, bprop, recomputation."""
        from dist_ms.autograd import custom

        run = self._run_construct
        if hasattr(type(self), "bprop"):
            inner = run
            run = lambda *a, **k: custom.call_with_bprop(self, inner, a, k)  # noqa: E731
        if self._recompute:
            again = run
            run = lambda *a, **k: custom.recompute(again, a, k)  # noqa: E731
        hooks = self._hooks
        if hooks is not None and (hooks["backward"] or hooks["backward_pre"]):
            return custom.call_with_backward_hooks(self, run, args, kwargs, hooks["backward_pre"], hooks["backward"])
        return run(*args, **kwargs)

    def _run_construct(self, *args: Any, **kwargs: Any) -> Any:
        precision = self._precision
        if precision is None:
            return self.construct(*args, **kwargs)
        args = map_tensors(self._cast_input, args)
        kwargs = map_tensors(self._cast_input, kwargs)
        before = self._cast_now
        self.__dict__["_cast_now"] = precision
        try:
            return self.construct(*args, **kwargs)
        finally:
            self.__dict__["_cast_now"] = before

    def _cast_input(self, x: Tensor) -> Tensor:
        if x.dtype in _PRECISIONS and x.dtype is not self._precision:
            from dist_ms.ops.casting import cast

            return cast(x, self._precision)
        return x

    def _cast_parameter(self, p: Any) -> Any:
        """The value of a parameter in the precision that construct runs in."""
        if p is None or p.dtype not in _PRECISIONS or p.dtype is self._cast_now or not p.requires_grad:
            return p
        from dist_ms.ops.casting import cast

        return cast(p, self._cast_now)

    def to_float(self, dst_type: mstype.Number) -> Any:
        """Run this cell and all nested ones in a floating-point type; parameters keep theirs.

        Args:
            dst_type: float32, float16 or bfloat16.

        Returns:
            The cell itself.

        Raises:
            ValueError: for another type.
        """
        if dst_type not in _PRECISIONS:
            raise ValueError(
                "For 'to_float', the argument 'dst_type' must be mstype.float32, mstype.float16 or "
                f"mstype.bfloat16, but got type: {type(dst_type)} and value: {dst_type}."
            )
        for _, cell in self.cells_and_names():
            cell.__dict__["_precision"] = dst_type
            for flag, kind in (("fp32", mstype.float32), ("fp16", mstype.float16), ("bf16", mstype.bfloat16)):
                cell.add_flags(**{flag: kind is dst_type})
            cell._choose_call()
        return self

    def recompute(self, mode: bool = True, **kwargs: Any) -> None:
        """Run this cell and its children again for the gradient instead of keeping their activations.

        Args:
            mode: switch recomputation on (True).
            kwargs: `mp_comm_recompute`, `parallel_optimizer_comm_recompute` (bools) and
                `recompute_slice_activation` are remembered for MindSpore; they concern model parallelism.

        Raises:
            ValueError: for another keyword.
        """
        known = {"mp_comm_recompute", "parallel_optimizer_comm_recompute", "recompute_slice_activation"}
        for key, value in kwargs.items():
            if key not in known:
                raise ValueError(
                    f"For 'recompute', keyword {key!r} is not recognized: it must be one of {sorted(known)}."
                )
            if not isinstance(value, bool):
                raise TypeError(f"For 'recompute', {key!r} must be a bool, but got {type(value).__name__}.")
        self.__dict__["_recompute"] = bool(mode)
        self._choose_call()

    # ---- hooks
    def _table(self, kind: str) -> dict:
        if self._hooks is None:
            self.__dict__["_hooks"] = {k: OrderedDict() for k in ("forward_pre", "forward", "backward_pre", "backward")}
        return self._hooks[kind]

    def _add(self, kind: str, hook: Callable, entry: Any) -> _Handle:
        if getattr(hook, "__ms_jit__", False):
            raise TypeError(f"Decorating hook function {hook.__name__} with '@jit' is not supported.")
        if not callable(hook):
            raise TypeError(f"Expected a callable hook function, but got {type(hook).__name__}.")
        handle = add_hook(self._table(kind), entry)
        self._choose_call()
        return handle

    def register_forward_pre_hook(self, hook_fn: Callable, with_kwargs: bool = False) -> _Handle:
        """Call `hook_fn(cell, args)` before `construct`; what it returns replaces the inputs.

        Args:
            hook_fn: with `with_kwargs` called as `hook_fn(cell, args, kwargs)`; returns None to keep
                the inputs.
            with_kwargs: pass the keyword arguments as well.

        Returns:
            A handle whose `remove()` takes the hook away.

        Raises:
            TypeError: if `hook_fn` is not callable or made by `jit`.
        """
        return self._add("forward_pre", hook_fn, (hook_fn, with_kwargs))

    def register_forward_hook(self, hook_fn: Callable, with_kwargs: bool = False) -> _Handle:
        """Call `hook_fn(cell, args, output)` after `construct`; what it returns replaces the output."""
        return self._add("forward", hook_fn, (hook_fn, with_kwargs))

    def register_backward_pre_hook(self, hook_fn: Callable) -> _Handle:
        """Call `hook_fn(cell, grad_output)` when the gradient of the outputs is complete; may replace it."""
        return self._add("backward_pre", hook_fn, hook_fn)

    def register_backward_hook(self, hook_fn: Callable) -> _Handle:
        """Call `hook_fn(cell, grad_input, grad_output)` after the cell's gradient; may replace `grad_input`."""
        return self._add("backward", hook_fn, hook_fn)

    @property
    def has_bprop(self) -> bool:
        """Whether the class defines its own gradient."""
        return hasattr(type(self), "bprop")
