"""Random tensors in PyTorch's form: the stream is a Generator's, or the global one."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.dtype import Number, float32, int64
from dist_ms.common.random.generator import Generator, key_of_draw
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import integer, tensor
from dist_ms.ops.drawing_numbers.random_sources import FreeSource, SeededSource
from dist_ms.ops.kernels import counted_numbers

__all__ = [
    "bernoulli",
    "multinomial",
    "normal",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
]


def _seed(generator: Generator | None) -> SeededSource | None:
    """What makes an operation draw from a generator: a source it starts; None for the global stream."""
    return None if generator is None else SeededSource(0, 1 + int(generator.draw().integers(2**31)))


def _source(generator: Generator | None) -> FreeSource:
    """Numbers of a generator's stream, or of the global one."""
    return FreeSource() if generator is None else FreeSource(*generator.next_draw())


def _size(size: tuple) -> Any:
    return tuple(size[0]) if len(size) == 1 and isinstance(size[0], (tuple, list)) else size


def rand(*size: Any, generator: Generator | None = None, dtype: Number | None = None, device: Any = None) -> Tensor:
    """Draw numbers from [0, 1).

    Args:
        size: ints, or one tuple or list of them.
        generator: the stream; None for the global one.
        dtype: a float type; None for float32.
        device: taken for scripts that give it; there is the CPU alone.

    Examples:
        >>> from dist_ms import mint
        >>> mint.rand(2, 3).shape
        (2, 3)
    """
    return ops.rand(*_size(size), dtype=dtype, seed=_seed(generator))


def randn(*size: Any, generator: Generator | None = None, dtype: Number | None = None, device: Any = None) -> Tensor:
    """`rand` for normal numbers with mean 0 and standard deviation 1."""
    return ops.randn(*_size(size), dtype=dtype, seed=_seed(generator))


def rand_like(input: Tensor, *, dtype: Number | None = None, device: Any = None) -> Tensor:
    """`rand` in a tensor's shape, and in its dtype unless one is given."""
    return ops.rand_like(input, dtype=dtype)


def randn_like(input: Tensor, *, dtype: Number | None = None, device: Any = None) -> Tensor:
    """`randn` in a tensor's shape, and in its dtype unless one is given."""
    return ops.randn_like(input, dtype=dtype)


def _bounds(name: str, args: tuple, given: dict, last: tuple) -> tuple:
    """The values of [low,] high and what follows: `low` may be left out, and is 0 then."""
    names = ("low", "high", *last)
    if len(args) + len(given) < len(names):
        given = {"low": 0, **given} if "low" not in given else given
        names = tuple(n for n in names if n not in given) if args else names
    else:
        names = tuple(n for n in names if n not in given)
    values = {**given, **dict(zip(names, args))}
    missing = [n for n in ("low", "high", *last) if n not in values]
    if missing or len(values) != len(given) + len(args) or len(args) > len(names):
        raise TypeError(
            f"For '{name}', the arguments must be [low,] high{''.join(', ' + n for n in last)}, "
            f"but got {len(args)} positional ones and {sorted(given)}."
        )
    return tuple(values[n] for n in ("low", "high", *last))


def randint(
    *args: Any, generator: Generator | None = None, dtype: Number | None = None, device: Any = None, **bounds: Any
) -> Tensor:
    """Draw integers from [0, high) or [low, high): the arguments are (high, size) or (low, high, size).

    Args:
        args, bounds: low (0 if left out), high and size (a tuple or list).
        generator: the stream; None for the global one.
        dtype: element type; None for int64.
        device: taken for scripts that give it; there is the CPU alone.

    Raises:
        TypeError: for a missing or superfluous argument, or one of another type.

    Examples:
        >>> from dist_ms import mint
        >>> mint.randint(0, 5, (2, 3)).shape
        (2, 3)
    """
    low, high, size = _bounds("randint", args, bounds, ("size",))
    out = ops.randint(low, high, tuple(size), _seed(generator))
    return out if dtype is None else ops.cast(out, dtype)


def randint_like(input: Tensor, *args: Any, dtype: Number | None = None, device: Any = None, **bounds: Any) -> Tensor:
    """`randint` in a tensor's shape, and in its dtype unless one is given: `size` is left out."""
    low, high = _bounds("randint_like", args, bounds, ())
    out = ops.randint(low, high, tensor(input, "input", "randint_like").shape)
    return ops.cast(out, input.dtype if dtype is None else dtype)


def randperm(n: int, *, generator: Generator | None = None, dtype: Number = int64) -> Tensor:
    """The integers from 0 to n - 1 in a random order.

    Examples:
        >>> from dist_ms import mint
        >>> print(mint.sort(mint.randperm(3))[0])
        [0 1 2]
    """
    n = integer(n, "n", "randperm")
    if n < 0:
        raise ValueError(f"For 'randperm', 'n' must not be negative, but got {n}.")
    order = np.empty(n, np.int64)
    counted_numbers.permutation(order, *key_of_draw(generator))
    return wrap(order.astype(dtype.np, copy=False))


def normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None, generator: Generator | None = None) -> Tensor:
    """Draw normal numbers.

    Args:
        mean, std: numbers or Tensors that broadcast.
        size: a tuple; None for the shape that `mean` and `std` broadcast to.
        generator: the stream; None for the global one.

    Examples:
        >>> from dist_ms import mint
        >>> mint.normal(0.0, 1.0, (2, 3)).shape
        (2, 3)
    """
    values = [v.asnumpy() if isinstance(v, Tensor) else v for v in (mean, std)]
    shape = np.broadcast_shapes(*(np.shape(v) for v in values)) if size is None else tuple(size)
    source = _source(generator)
    if not any(np.ndim(v) for v in values):
        return wrap(source.normal(shape, mean=float(values[0]), deviation=float(values[1])))
    return wrap(np.asarray(values[0] + source.normal(shape) * values[1], float32.np))


def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None
) -> Tensor:
    """Draw the places of elements with probabilities in proportion to them, without repetition by default.

    Args:
        input: weights (n,) or (rows, n).
        num_samples: how many to draw of each row.
        replacement: whether a place may be drawn more than once.
        generator: the stream; None for the global one.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.multinomial(ms.Tensor([0.0, 1.0]), 1))
        [1]
    """
    return ops.multinomial(input, num_samples, replacement, _seed(generator))


def bernoulli(input: Tensor, *, generator: Generator | None = None) -> Tensor:
    """Draw 1 with the probability that each element gives, else 0.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.bernoulli(ms.Tensor([0.0, 1.0])))
        [0. 1.]
    """
    draws = _source(generator).uniform(tensor(input, "input", "bernoulli").shape)
    return wrap((draws < input.asnumpy()).astype(input.dtype.np))
