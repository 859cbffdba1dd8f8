"""Primitive: the shape every operation has."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from dist_ms.autograd.tape import apply
from dist_ms.common.tensor import Tensor

# Wraps a forward whose infinities and NaNs are results, not events NumPy should warn about.
quiet = np.errstate(all="ignore")


class Primitive:
    """One operation: its forward on arrays and its gradient in operations.

    A subclass takes its attributes in `__init__` and is called with its inputs. The names
    of `forward`'s parameters are the keywords of the call.

    Attributes:
        name: the operation's name in errors and plans.
        keeps: indices of the inputs whose data `gradient` reads; None for all.
        keeps_output: whether `gradient` reads the output's data.
        differentiable: whether a gradient passes through at all.

    Examples:
        >>> import dist_ms as ms
        >>> class Double(ms.ops.Primitive):
        ...     keeps = ()
        ...     def forward(self, x):
        ...         return x + x
        ...     def gradient(self, inputs, output, dout):
        ...         return dout + dout
        >>> print(ms.grad(Double())(ms.Tensor([1.0, 2.0])))
        [2. 2.]
    """

    name: str = "Primitive"
    differentiable: bool = True
    keeps: tuple | None = None
    keeps_output: bool = False

    def __init__(self, name: str | None = None) -> None:
        if name is not None:
            self.name = name

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.name = cls.__name__

    def forward(self, *arrays: Any) -> Any:
        """Compute the output arrays of the input arrays and plain values."""
        raise NotImplementedError(f"For '{self.name}', forward is not defined.")

    def gradient(self, inputs: tuple, output: Any, dout: Any) -> Any:
        """Return one gradient (Tensor or None) per input."""
        raise RuntimeError(f"For '{self.name}', the gradient is not defined: the operation is not differentiable.")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs:
            args = self.arguments(args, kwargs)
        return apply(self, *args)

    def arguments(self, args: tuple, kwargs: dict) -> tuple:
        """Put keyword arguments in their places, by the names of `forward`'s parameters."""
        try:
            bound = inspect.signature(self.forward).bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"For '{self.name}', {error}.") from None
        bound.apply_defaults()
        return bound.args

    def __repr__(self) -> str:
        attributes = ", ".join(f"{k}={v}" for k, v in vars(self).items() if not k.startswith("_") and k != "name")
        return f"Prim[{self.name}]<{attributes}>" if attributes else f"Prim[{self.name}]"


class PrimitiveWithInfer(Primitive):
    """A primitive with MindSpore's hooks for compilers, which are not called here.

    Examples:
        >>> import dist_ms as ms
        >>> class Twice(ms.ops.PrimitiveWithInfer):
        ...     def forward(self, x):
        ...         return x + x
        >>> print(Twice("Twice")(ms.Tensor([1, 2])))
        [2 4]
    """


class PrimitiveWithCheck(Primitive):
    """A primitive with MindSpore's hooks for compilers, which are not called here.

    Examples:
        >>> import dist_ms as ms
        >>> class Twice(ms.ops.PrimitiveWithCheck):
        ...     def forward(self, x):
        ...         return x + x
        >>> print(Twice("Twice")(ms.Tensor([1, 2])))
        [2 4]
    """


class Undifferentiable(Primitive):
    """An operation whose outputs do not depend smoothly on its inputs; gradients end there."""

    differentiable = False


def as_tensor(x: Any) -> Tensor:
    """Return `x` itself if it is a Tensor, else a Tensor of it."""
    return x if isinstance(x, Tensor) else Tensor(x)


def numpy_dtype(x: Any) -> np.dtype:
    """The NumPy dtype of a tensor that may have no data."""
    return x._data.dtype if x._data is not None else x._dtype
