"""Random numbers: normal, uniform, integers, permutations.

After `set_seed`, or with a `seed` of their own, the draws are MindSpore's and repeatable; successive
calls differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_dimensions
from dist_ms.common.dtype import Number, float32, int32, int64
from dist_ms.common.error_classes import bools, of_type, plain, raises
from dist_ms.common.random import seed as seeds
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import data_type, integer, number, tensor
from dist_ms.ops.creating.creation import shape_of
from dist_ms.ops.drawing_numbers.random_engines import MersenneTwister
from dist_ms.ops.drawing_numbers.random_sources import FreeSource, source_of

__all__ = [
    "normal",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
    "shuffle",
    "standard_normal",
    "uniform",
]


def generator_of(name: str, seed: Any) -> np.random.Generator:
    """The generator of one call: from its `seed`, or from the global one.

    Raises:
        TypeError: if `seed` is no int.
        ValueError: if it is negative.
    """
    key = _key(name, seed)
    return seeds.generator() if key is None else np.random.Generator(np.random.Philox(key=key))


def source_for(name: str, seed: Any) -> FreeSource:
    """The source of one call whose numbers are not MindSpore's: from its `seed`, or from the global one.

    Raises:
        TypeError: if `seed` is no int.
        ValueError: if it is negative.
    """
    return FreeSource(_key(name, seed))


def _key(name: str, seed: Any) -> int | None:
    """The key that a call's own seed stands for."""
    if seed is None:
        return None
    seed = integer(seed, "seed", name)
    if seed < 0:
        raise ValueError(f"For '{name}', 'seed' must not be negative, but got {seed}.")
    return seed


def _float_dtype(name: str, dtype: Any) -> np.dtype:
    """The NumPy dtype of random floats, float32 by default."""
    if dtype is None:
        return float32.np
    if not isinstance(dtype, Number) or dtype.np.kind not in "fV":
        raise ValueError(f"For '{name}', 'dtype' must be a float type, but got {dtype!r}.")
    return dtype.np


def draw_uniform(rng: np.random.Generator, shape: tuple, d: np.dtype) -> np.ndarray:
    """Numbers from [0, 1) of a dtype."""
    return rng.random(shape, np.float32 if d.itemsize <= 4 else np.float64).astype(d, copy=False)


def shape_of_draws(shape: Any, owner: str, least: int = 0) -> tuple:
    """The shape of draws: a tuple of ints, none below `least`, or a Tensor of them.

    Raises:
        TypeError: for anything else, or what MindSpore raises.
        ValueError: if a length is too small, or the Tensor has not one dimension.
    """
    if isinstance(shape, Tensor):
        check_dimensions(shape, "shape", owner, 1)
    elif not isinstance(shape, tuple):
        raise of_type("shape", owner, shape)(
            f"For '{owner}', 'shape' must be a tuple of ints or a Tensor, but got {type(shape).__name__}."
        )
    size = shape_of(shape, "shape", owner)
    if min(size, default=least) < least:
        raise ValueError(f"For '{owner}', 'shape' must hold lengths of {least} or more, but got {size}.")
    return size


@plain("seed")
def standard_normal(shape: Any, seed: int | None = None) -> Tensor:
    """Draw normal numbers with mean 0 and standard deviation 1.

    Args:
        shape: the shape, a tuple of ints or a Tensor.
        seed: start of this call alone.

    Returns:
        Tensor of float32.

    Raises:
        TypeError: if `shape` holds anything but ints.
        ValueError: if a length or `seed` is negative.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.standard_normal((2, 3)).shape
        (2, 3)
    """
    return wrap(source_of("standard_normal", seed).normal(shape_of_draws(shape, "standard_normal")))


@plain("seed")
@bools("mean", "stddev")
@plain("shape")
def normal(shape: Any, mean: Any, stddev: Any, seed: int | None = None) -> Tensor:
    """Draw normal numbers.

    Args:
        shape: the shape; the result's is broadcast with those of `mean` and `stddev`.
        mean: a number or a Tensor.
        stddev: a number or a Tensor.
        seed: start of this call alone.

    Returns:
        Tensor of float32.

    Raises:
        TypeError: if an argument has the wrong type.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.normal((2, 3), 0.0, 1.0).shape
        (2, 3)
    """
    m, s = parameter_array(mean, "mean", "normal"), parameter_array(stddev, "stddev", "normal")
    size, source = shape_of_draws(shape, "normal", 1), source_of("normal", seed)
    if not m.ndim and not s.ndim:
        return wrap(source.normal(size, mean=float(m), deviation=float(s)))
    return wrap(np.asarray(source.normal(size) * s + m, np.float32))


def parameter_array(value: Any, name: str, owner: str) -> np.ndarray:
    """A distribution's parameter as an array of float32."""
    if isinstance(value, Tensor):
        return value.array().astype(np.float32)
    return np.asarray(number(value, name, owner), np.float32)


@raises(shape=(RuntimeError, ValueError))
@plain("seed")
def uniform(shape: Any, minval: Any, maxval: Any, seed: int | None = None, dtype: Number = float32) -> Tensor:
    """Draw numbers that are equally likely between two limits.

    Args:
        shape: the shape; the result's is broadcast with those of the limits.
        minval: the smallest value, a Tensor of float32, or for integers of int32 without dimensions.
        maxval: the limit above, itself never drawn, a Tensor of the same dtype.
        seed: start of this call alone.
        dtype: float32 or int32.

    Returns:
        Tensor.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if integers are wanted and `minval` has dimensions.
        RuntimeError: if integers are wanted and `minval` is not below `maxval`.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.ops.uniform((100,), ms.Tensor(1.0), ms.Tensor(2.0))
        >>> bool((x >= 1).all()), bool((x < 2).all())
        (True, True)
    """
    drawn = int32 if data_type(dtype, "dtype", "uniform").np.kind in "iu" else float32
    for name, value in (("minval", minval), ("maxval", maxval)):
        if tensor(value, name, "uniform").dtype != drawn:
            raise TypeError(f"For 'uniform', '{name}' must be of {drawn} for 'dtype' {dtype}, but got {value.dtype}.")
        if value.ndim and drawn == int32 and name == "minval":
            raise ValueError(f"For 'uniform', '{name}' must be a scalar for integers, but got the shape {value.shape}.")
    if drawn == int32:
        low, high = minval.array(), maxval.array()
        if (low >= high).any():
            raise RuntimeError(f"For 'uniform', 'minval' must be below 'maxval', but got {minval} and {maxval}.")
        full = np.broadcast_shapes(shape_of_draws(shape, "uniform"), low.shape, high.shape)
        return wrap(source_of("uniform", seed).integers(low, high, full).astype(dtype.np))
    low, high = parameter_array(minval, "minval", "uniform"), parameter_array(maxval, "maxval", "uniform")
    size, source = shape_of_draws(shape, "uniform"), source_of("uniform", seed)
    below = np.where(high > low, np.nextafter(high, low), low)  # Rounding must not reach the upper limit.
    if not low.ndim and not high.ndim:
        out = source.uniform(size, low=float(low), span=float(high - low))
        np.minimum(out, below, out=out)
    else:
        out = np.minimum(low + source.uniform(size) * (high - low), below)
    return wrap(np.asarray(out, np.float32).astype(_float_dtype("uniform", dtype), copy=False))


@raises(size=(RuntimeError, ValueError))
@plain("size")
def rand(*size: Any, dtype: Number | None = None, seed: int | None = None) -> Tensor:
    """Draw numbers from [0, 1).

    Args:
        size: the shape, as ints or one tuple or list.
        dtype: a float type, float32 by default.
        seed: start of this call alone.

    Returns:
        Tensor.

    Raises:
        TypeError: if the shape holds anything but ints.
        ValueError: if `dtype` is no float type.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.rand(2, 3).shape
        (2, 3)
    """
    d = _float_dtype("rand", dtype)
    return wrap(source_of("rand", seed).uniform(_size("rand", size), d))


def _size(name: str, size: tuple) -> tuple:
    """A shape given as separate ints or as one sequence."""
    if len(size) == 1 and isinstance(size[0], (tuple, list, Tensor)):
        size = size[0]
    elif not all(isinstance(n, int) for n in size):
        raise TypeError(f"For '{name}', 'size' must be ints, or a tuple or list of them, but got {size}.")
    return shape_of(size, "size", name)


@plain("seed")
def randn(*size: Any, dtype: Number | None = None, seed: int | None = None) -> Tensor:
    """`rand` for normal numbers with mean 0 and standard deviation 1.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.randn((2, 3)).shape
        (2, 3)
    """
    d = _float_dtype("randn", dtype)
    return wrap(source_of("randn", seed).normal(_size("randn", size), d))


@raises(size=(RuntimeError, ValueError))
@plain("low", "high", "seed")
def randint(low: int, high: int, size: Any, seed: int | None = None, *, dtype: Number | None = None) -> Tensor:
    """Draw integers that are equally likely from [low, high).

    Args:
        low: the smallest integer.
        high: the limit above, itself never drawn.
        size: the shape.
        seed: start of this call alone.
        dtype: an integer type, int64 by default.

    Returns:
        Tensor.

    Raises:
        TypeError: if an argument has the wrong type.
        RuntimeError: if `low` is not below `high`.
        ValueError: if `dtype` is no integer type.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.ops.randint(1, 4, (100,))
        >>> int(x.min()), int(x.max())
        (1, 3)
    """
    d = _int_dtype("randint", dtype)
    if not isinstance(size, tuple):
        raise ValueError(f"For 'randint', 'size' must be a tuple, but got {type(size).__name__}.")
    return wrap(_integers("randint", low, high, size, seed, d))


def _integers(name: str, low: Any, high: Any, size: Any, seed: Any, d: np.dtype) -> np.ndarray:
    """Equally likely integers from [low, high)."""
    low, high = integer(low, "low", name), integer(high, "high", name)
    if low >= high:
        raise RuntimeError(f"For '{name}', 'low' must be below 'high', but got {low} and {high}.")
    return source_of(name, seed).integers(low, high, shape_of(size, "size", name)).astype(d, copy=False)


def _int_dtype(name: str, dtype: Any) -> np.dtype:
    """The NumPy dtype of random integers, int64 by default."""
    if dtype is None:
        return int64.np
    if not isinstance(dtype, Number) or dtype.np.kind != "i":
        raise ValueError(f"For '{name}', 'dtype' must be a signed integer type, but got {dtype!r}.")
    return dtype.np


@plain("seed")
def rand_like(input: Tensor, seed: int | None = None, *, dtype: Number | None = None) -> Tensor:
    """Draw numbers from [0, 1) in the shape of a tensor.

    Args:
        input: the Tensor whose shape is wanted.
        seed: start of this call alone.
        dtype: a float type, that of `input` by default.

    Returns:
        Tensor.

    Raises:
        TypeError: if `input` is no Tensor.
        ValueError: if the dtype is no float type.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.rand_like(ms.Tensor([1.0, 2.0])).shape
        (2,)
    """
    tensor(input, "input", "rand_like")
    d = _float_dtype("rand_like", input.dtype if dtype is None else dtype)
    return wrap(source_of("rand_like", seed).uniform(input.shape, d))


@plain("seed")
def randn_like(input: Tensor, seed: int | None = None, *, dtype: Number | None = None) -> Tensor:
    """`rand_like` for normal numbers with mean 0 and standard deviation 1.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.randn_like(ms.Tensor([1.0, 2.0])).shape
        (2,)
    """
    tensor(input, "input", "randn_like")
    d = _float_dtype("randn_like", input.dtype if dtype is None else dtype)
    return wrap(source_of("randn_like", seed).normal(input.shape, d))


@plain("low", "high", "seed")
def randint_like(input: Tensor, low: int, high: int, seed: int | None = None, *, dtype: Number | None = None) -> Tensor:
    """Draw integers from [low, high) in the shape of a tensor.

    Args:
        input: the Tensor whose shape is wanted.
        low: the smallest integer.
        high: the limit above, itself never drawn.
        seed: start of this call alone.
        dtype: an integer type, that of `input` by default.

    Returns:
        Tensor.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if `low` is not below `high`, or the dtype no integer type.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.randint_like(ms.Tensor([1, 2]), 0, 5).shape
        (2,)
    """
    tensor(input, "input", "randint_like")
    d = _int_dtype("randint_like", input.dtype if dtype is None else dtype)
    return wrap(_integers("randint_like", low, high, input.shape, seed, d))


def randperm(n: int, seed: int = 0, offset: int = 0, dtype: Number = int64) -> Tensor:
    """Put the integers from 0 to n - 1 in random order.

    Args:
        n: how many.
        seed: start of this call.
        offset: start of this call instead, unless 0.
        dtype: an integer type.

    Returns:
        Tensor (n,).

    Raises:
        TypeError: if `n` is no int.
        ValueError: if `n` is not positive, or `offset` negative.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.sort(ms.ops.randperm(4))[0])
        [0 1 2 3]
    """
    n = integer(n, "n", "randperm")
    if n < 1 or integer(offset, "offset", "randperm") < 0:
        raise ValueError(f"For 'randperm', 'n' must be positive and 'offset' not negative, but got {n} and {offset}.")
    start = integer(offset, "offset", "randperm") or integer(seed, "seed", "randperm")
    order = FreeSource() if start == -1 else MersenneTwister(start)
    return wrap(order.permutation(n).astype(data_type(dtype, "dtype", "randperm").np, copy=False))


@plain("seed")
def shuffle(x: Tensor, seed: int | None = None) -> Tensor:
    """Put the slices along the first dimension in random order.

    Args:
        x: a Tensor.
        seed: start of this call alone.

    Returns:
        Tensor of the shape of `x`.

    Raises:
        TypeError: if `x` is no Tensor, or `seed` no int.
        ValueError: if `seed` is negative.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.sort(ms.ops.shuffle(ms.Tensor([1, 2, 3])))[0])
        [1 2 3]
    """
    if not tensor(x, "x", "shuffle").ndim:
        return x
    return x[wrap(source_of("shuffle", seed).permutation(x.shape[0]))]
