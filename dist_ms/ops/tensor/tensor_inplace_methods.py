"""Tensor's methods that change the tensor itself: add_, copy_, fill_ and their kin.

Outside gradients they write into the tensor's memory. Under a gradient the tensor object
stands for a new value, which the gradient passes through.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.autograd.tape import recording
from dist_ms.common.dtype import from_numpy
from dist_ms.common.error_classes import of_value, raises
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import boolean
from dist_ms.ops.broadcasting import promote_types, sequence_operand
from dist_ms.ops.creating.casting import cast_array
from dist_ms.ops.drawing_numbers.drawing import source_for
from dist_ms.ops.picking.indexing import rebind, writable


def _fits(shape: tuple, place: tuple) -> bool:
    """Whether values of one shape broadcast into another."""
    try:
        return np.broadcast_shapes(shape, place) == place
    except ValueError:
        return False


def become(self: Tensor, new: Tensor, name: str) -> Tensor:
    """Give a tensor new values, which keep its shape and dtype, and return the tensor.

    Raises:
        ValueError: if the values have a larger shape.
        TypeError: if they need a higher kind of dtype.
    """
    old = self.array()
    if new.shape != old.shape:
        if not _fits(new.shape, old.shape):
            wrong = of_value("result", f"Tensor.{name}")
            raise wrong(f"For 'Tensor.{name}', the result must keep the shape {old.shape}, but got {new.shape}.")
        new = ops.broadcast_to(new, old.shape)
    d = new.array().dtype
    if promote_types(old.dtype, d) != old.dtype and any((old.dtype.kind in k) != (d.kind in k) for k in ("biu", "c")):
        raise TypeError(
            f"For 'Tensor.{name}', the result must fit the dtype {from_numpy(old.dtype)}, but got {from_numpy(d)}."
        )
    new = cast_array(new, old.dtype)
    if recording.on:
        from dist_ms.ops.flow.debugging import copied

        rebind(self, new if new is not self else copied(new))
        return self
    target = writable(self)
    target[...] = new._data.copy() if np.may_share_memory(target, new._data) else new._data
    return self


def _in_place(name: str, function: Callable) -> Callable:
    """The method `name_` that puts a function's result in the tensor's place."""

    def method(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:  # a function of ops, too
        return become(input, function(input, *args, **kwargs), f"{name}_")

    method.__name__, method.__qualname__ = f"{name}_", f"Tensor.{name}_"
    method.__doc__ = f"Put the result of `{name}` in the tensor's place, and return the tensor."
    return method


def _of_ops(name: str) -> Callable:
    """The function of `ops` with a name, which loads when it is called."""
    return lambda self, *args, **kwargs: getattr(ops, name)(self, *args, **kwargs)


def _plus(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    return ops.add(self, other if alpha == 1 else ops.mul(other, alpha))


Tensor.add_ = _in_place("add", _plus)
for _name in (
    *("addmm", "clamp", "div", "erfinv", "exp", "floor", "floor_divide", "index_fill", "index_put", "log"),
    *("masked_fill", "masked_scatter", "mul", "remainder", "sigmoid", "sign", "subtract", "tanh"),
):
    setattr(Tensor, f"{_name}_", _in_place(_name, _of_ops(_name)))
Tensor.sub_ = _in_place("sub", _of_ops("subtract"))
Tensor.index_add_ = _in_place("index_add", lambda self, *args, **kwargs: self.index_add(*args, **kwargs))
Tensor.scatter_ = _in_place("scatter", lambda self, *args, **kwargs: self.scatter(*args, **kwargs))
Tensor.scatter_add_ = _in_place("scatter_add", lambda self, *args, **kwargs: self.scatter_add(*args, **kwargs))


def _of_list(value: Any, self: Tensor) -> Any:
    """A list or tuple as a tensor."""
    return sequence_operand(value, self) if isinstance(value, (list, tuple)) else value


def add(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """Return the tensor plus alpha * other.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([1.0]).add(2, alpha=3))
        [7.]
    """
    if type(alpha) is int and alpha == 1:
        return ops.add(self, _of_list(other, self))
    from dist_ms.ops.extended.arithmetic import add as scaled

    return scaled(self, other, alpha=alpha)


def sub(self: Tensor, other: Any = None, *, alpha: Any = 1, y: Any = None) -> Tensor:
    """Return the tensor less alpha * other.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([1.0]).sub(2, alpha=3))
        [-5.]
    """
    other = other if y is None else y
    if type(alpha) is int and alpha == 1:
        return ops.sub(self, _of_list(other, self))
    from dist_ms.ops.extended.arithmetic import sub as scaled

    return scaled(self, other, alpha=alpha)


def remainder(self: Tensor, other: Any = None, *, divisor: Any = None) -> Tensor:
    """Return the remainder of the division rounded down; see `dist_ms.ops.remainder`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([-7, 7]).remainder(3))
        [2 1]
    """
    return ops.remainder(self, other if divisor is None else divisor)


@raises(owner="Tensor.copy_", result=(TypeError, RuntimeError))
def copy_(self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """Take over the values of another tensor, broadcast and cast, and return the tensor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([1.0, 2.0]).copy_(ms.Tensor([3, 4])))
        [3. 4.]
    """
    if not isinstance(src, Tensor):
        raise TypeError(f"For 'Tensor.copy_', 'src' must be a Tensor, but got {type(src).__name__}.")
    boolean(non_blocking, "non_blocking", "Tensor.copy_")
    return become(self, cast_array(src, self.array().dtype), "copy_")


def fill_(self: Tensor, value: Any) -> Tensor:
    """Give every element one value, and return the tensor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([1.0, 2.0]).fill_(3))
        [3. 3.]
    """
    return become(self, ops.full_like(self, value), "fill_")


def zero_(input: Tensor) -> Tensor:
    """Give every element the value 0, and return the tensor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([1.0, 2.0]).zero_())
        [0. 0.]
    """
    return become(input, ops.zeros_like(input), "zero_")


def index_copy_(self: Tensor, dim: int, index: Tensor, tensor: Tensor) -> Tensor:
    """Replace slices along a dimension, by index, and return the tensor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([1.0, 2.0]).index_copy_(0, ms.Tensor([1]), ms.Tensor([9.0])))
        [1. 9.]
    """
    self[(slice(None),) * (dim % max(self.ndim, 1)) + (index,)] = tensor
    return self


def _drawn(name: str, draw: Callable) -> Callable:
    """A method that fills the tensor with random numbers."""

    def method(input: Tensor, *args: Any, generator: Any = None, **kwargs: Any) -> Tensor:  # a function of ops, too
        d = input.array().dtype
        source = source_for(name, generator.seed() if generator is not None else None)
        values = draw(source, input.shape, d if d.kind in "fV" else np.dtype(np.float32), *args, **kwargs)
        return become(input, wrap(np.asarray(values).astype(d, copy=False)), name)

    method.__name__, method.__qualname__ = name, f"Tensor.{name}"
    method.__doc__ = f"Fill the tensor with random numbers ({name[:-1]} distribution), and return it."
    return method


def _with_rate(source: Any, shape: tuple, d: np.dtype, lambd: float = 1) -> np.ndarray:
    """Numbers of the exponential distribution."""
    return -np.log1p(-source.uniform(shape, np.promote_types(d, np.float32))) / lambd


Tensor.uniform_ = _drawn(
    "uniform_", lambda source, shape, d, from_=0, to=1: source.uniform(shape, d, float(from_), float(to) - float(from_))
)
Tensor.normal_ = _drawn(
    "normal_", lambda source, shape, d, mean=0, std=1: source.normal(shape, d, float(mean), float(std))
)
Tensor.bernoulli_ = _drawn(
    "bernoulli_",
    lambda source, shape, d, p=0.5: (
        source.uniform(shape, np.promote_types(d, np.float32)) < (p.array() if isinstance(p, Tensor) else p)
    ),
)
Tensor.exponential_ = _drawn("exponential_", _with_rate)

for _method in (add, sub, remainder, copy_, fill_, zero_, index_copy_):
    setattr(Tensor, _method.__name__, _method)
