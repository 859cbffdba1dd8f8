"""HookBackward, InsertGradientOf, StopGradient, and Tensor.register_hook."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms.autograd import hooks
from dist_ms.autograd.fit import fit
from dist_ms.autograd.tape import stop_gradient
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.primitive import Primitive

__all__ = ["HookBackward", "InsertGradientOf", "StopGradient"]

Tensor.register_hook = hooks.register_hook
Tensor.hooks = hooks.hooks


def _hook_of_parameter(self: Parameter, hook_fn: Callable[[Tensor], Tensor | None]) -> hooks.TensorHookHandle:
    """Call `hook_fn(grad)` when the parameter's gradient is complete; see `Tensor.register_hook`."""
    return hooks.register_hook(self, hook_fn)


_hook_of_parameter.__name__ = "register_hook"
Parameter.register_hook = _hook_of_parameter  # type: ignore[method-assign]


class HookBackward(Primitive):
    """Return the inputs as they are; call a function with their gradients.

    Args:
        hook_fn: called with the tuple of the inputs' gradients. Returns None to keep them, or new
            ones: a Tensor for one input, a tuple for several.
        cell_id: a label for printing.

    Raises:
        TypeError: if `hook_fn` is not callable or an input is no Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> hook = ms.ops.HookBackward(lambda grads: print("gradient", grads[0]))
        >>> print(ms.grad(lambda x: hook(x * x) * 3)(ms.Tensor(2.0)))
        gradient 3.0
        12.0
    """

    keeps = ()

    def __init__(self, hook_fn: Callable, cell_id: str = "") -> None:
        hooks.check_hook(hook_fn)
        self.cell_id = cell_id
        self._hook = hook_fn

    def __call__(self, *inputs: Any) -> Any:
        for x in inputs:
            if not isinstance(x, Tensor):
                raise TypeError(f"For 'HookBackward', each input must be a Tensor, but got {type(x).__name__}.")
        return super().__call__(*inputs)

    def forward(self, *arrays: np.ndarray) -> Any:
        return arrays[0] if len(arrays) == 1 else arrays

    def gradient(self, inputs: tuple, output: Any, dout: Any) -> tuple:
        grads = dout if isinstance(dout, tuple) else (dout,)
        new = self._hook(grads)
        return grads if new is None else self._checked(new, grads)

    def _checked(self, new: Any, grads: tuple) -> tuple:
        """What the hook returned as one gradient per input."""
        name = getattr(self._hook, "__name__", type(self._hook).__name__)
        if len(grads) == 1:
            new = new if isinstance(new, tuple) and len(new) == 1 else (new,)
        elif not isinstance(new, tuple):
            raise TypeError(
                f"For 'HookBackward', the hook '{name}' of {len(grads)} inputs should return a "
                f"tuple: the output gradient should be a tuple, but got {type(new).__name__}."
            )
        if len(new) != len(grads):
            raise TypeError(
                f"For 'HookBackward', the hook '{name}' should return {len(grads)} gradients, but got {len(new)}."
            )
        for value, grad in zip(new, grads):
            if not isinstance(value, Tensor):
                raise TypeError(
                    f"The output type of function: {name} should be a tensor but got {type(value).__name__}."
                )
            if value.shape != grad.shape:
                raise ValueError(
                    f"The output of function: {name} is not consistent with the expected: the "
                    f"shape should be {grad.shape}, but got {value.shape}."
                )
        return new


class InsertGradientOf(Primitive):
    """Return the input as it is; replace its gradient by a function of it.

    Args:
        f: takes the gradient and returns another one, or None to keep it.

    Raises:
        TypeError: if `f` is not callable.

    Examples:
        >>> import dist_ms as ms
        >>> double = ms.ops.InsertGradientOf(lambda grad: grad * 2)
        >>> print(ms.grad(lambda x: double(x) * 3)(ms.Tensor(1.0)))
        6.0
    """

    keeps = ()

    def __init__(self, f: Callable) -> None:
        if not callable(f):
            raise TypeError(f"For 'InsertGradientOf', 'f' must be a function, but got {type(f).__name__}.")
        self._function = f

    def __call__(self, input_x: Any) -> Any:
        return super().__call__(input_x) if isinstance(input_x, Tensor) else input_x

    def forward(self, input_x: np.ndarray) -> np.ndarray:
        return input_x

    def gradient(self, inputs: tuple, output: Tensor, dout: Tensor) -> tuple:
        new = self._function(dout)
        if isinstance(new, tuple) and len(new) == 1:
            new = new[0]
        if isinstance(new, (bool, int, float)):
            new = wrap(np.full(dout.shape, new, dout.array().dtype))
        return (dout if new is None else fit(new, inputs[0]),)


class StopGradient(Primitive):
    """Return the value of the input; its gradient ends there.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.grad(lambda x: x * ms.ops.StopGradient()(x))(ms.Tensor(3.0)))
        3.0
    """

    def __call__(self, value: Any) -> Any:
        return stop_gradient(value)
