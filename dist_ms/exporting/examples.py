"""Inputs to run a network with: their open dimensions have several sizes, their values differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from dist_ms.common.tensor import Tensor, wrap
from dist_ms.exporting.recording import tensors

__all__ = ["Axes", "Symbol", "examples", "symbols_of"]

Axes = dict[str, dict[int, str]]

_IMAGE, _IMAGE_STEP = 64, 32  # the least size of open images: networks halve them up to five times


class Symbol(NamedTuple):
    """An open dimension.

    Attributes:
        name: its name in the model.
        places: (input, dimension) where it is.
        sizes: its size in each run.
    """

    name: str
    places: tuple[tuple[int, int], ...]
    sizes: tuple[int, ...]


def symbols_of(inputs: Sequence[Any], names: Sequence[str], axes: Axes) -> list[Symbol]:
    """The open dimensions of the inputs: unknown lengths, and those that `axes` names."""
    found: dict[str, list[tuple[int, int]]] = {}
    given = [t for x in inputs for t in tensors(x)]
    for i, (x, name) in enumerate(zip(given, names)):
        for axis, n in enumerate(x.shape):
            called = axes.get(name, {}).get(axis)
            if called is None and n == -1:
                called = "batch" if axis == 0 else f"{name}_{axis}"
            if called is not None:
                found.setdefault(called, []).append((i, axis))
    runs = 2 + len(found)
    prime = next(p for p in range(runs + 1, 2 * runs + 4) if all(p % d for d in range(2, p)))
    symbols = []
    for number, (name, places) in enumerate(found.items()):
        known = [given[i].shape[axis] for i, axis in places if given[i].shape[axis] > 1]
        i, axis = places[0]
        base, step = (known[0] if known else 2 + 3 * number), 1
        if not known and axis >= 2 and given[i].ndim == 4:
            base, step = _IMAGE, _IMAGE_STEP
        # The multiples of different numbers modulo a prime: no two dimensions grow alike.
        sizes = [base + step * (run * (number + 1) % prime) for run in range(runs)]
        symbols.append(Symbol(name, tuple(places), tuple(sizes)))
    return symbols


def examples(inputs: Sequence[Any], symbols: Sequence[Symbol]) -> Iterator[list]:
    """The inputs of each run: the given values first, then others.

    Two runs are made if nothing is open: what depends on values shows.
    """
    draws = np.random.default_rng(0)
    for run in range(2 + len(symbols) if symbols else 2):
        count = iter(range(1 << 30))
        yield [_like(x, run, symbols, draws, count) for x in inputs]


def _like(x: Any, run: int, symbols: Sequence[Symbol], draws: Any, count: Iterator[int]) -> Any:
    if isinstance(x, (tuple, list)):
        return type(x)([_like(v, run, symbols, draws, count) for v in x])
    if not isinstance(x, Tensor):
        return x
    number = next(count)
    sizes = {axis: s.sizes[run] for s in symbols for i, axis in s.places if i == number}
    shape = tuple([sizes.get(axis, n) for axis, n in enumerate(x.shape)])
    known = min(x.shape, default=0) >= 0
    if known and shape == tuple(x.shape) and run == 0:
        return wrap(x.array().copy())
    return wrap(_values(x.array() if known else np.arange(2), x.dtype.np, shape, draws))


def _values(like: np.ndarray, dtype: np.dtype, shape: tuple, draws: Any) -> np.ndarray:
    """Numbers of the same kind as others: integers are some of them."""
    if dtype.kind in "biu":
        pool = like.reshape(-1).astype(dtype)
        return draws.choice(pool, shape) if pool.size else np.zeros(shape, dtype)
    wide = like.astype(np.float64) if like.dtype.kind != "c" else like.real
    spread = float(wide.std()) if wide.size else 0.0
    middle = float(wide.mean()) if wide.size and spread else 0.0
    return np.asarray(draws.normal(middle, spread or 1.0, shape)).astype(dtype)
