"""Seeds: the global seed, and the generators that random numbers come from.

As in MindSpore, the same `set_seed(n)` gives the same numbers: random operations count their calls
from it on (`operation_seeds`), everything else takes its start from NumPy's global generator, which
`np.random.seed(n)` also fixes.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from dist_ms._ext.draws import key

_seed: int | None = None
_operation_starts: dict[tuple[str, int], int] = {}  # the next second seed of a kind of operation and its own seed
_sliced_draws = 0  # without a seed: how often slices were drawn, equal on every rank


def set_seed(seed: int) -> None:
    """Set the global seed of initializers, random operations, NumPy and Python's `random`.

    Args:
        seed: 0 to 2**32 - 1.

    Raises:
        TypeError: if `seed` is no int.
        ValueError: if it is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.common.initializer import initializer
        >>> ms.set_seed(1); a = initializer("normal", [2]).asnumpy()
        >>> ms.set_seed(1); b = initializer("normal", [2]).asnumpy()
        >>> print((a == b).all())
        True
    """
    global _seed, _sliced_draws
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise TypeError(f"For 'set_seed', 'seed' must be an int, but got {type(seed).__name__}.")
    if not 0 <= seed < 2**32:
        raise ValueError(f"For 'set_seed', 'seed' must be an int in [0, 2**32 - 1], but got {seed}.")
    random.seed(seed)
    np.random.seed(seed)
    _operation_starts.clear()
    _seed = seed
    _sliced_draws = 0


def get_seed() -> int | None:
    """Return the seed given to `set_seed`, None before that.

    Examples:
        >>> import dist_ms as ms
        >>> ms.set_seed(1234)
        >>> ms.get_seed()
        1234
    """
    return _seed


def operation_seeds(name: str, seed: int | None) -> tuple[int, int]:
    """The two seeds of a call of a random operation; (0, 0) without a global seed and its own.

    The first is the global seed, the second the call's own, which moves on from call to call.
    """
    first = 0 if _seed is None else _seed or 87654321
    second = seed or 0
    if not first and not second:
        return 0, 0
    start = _operation_starts.get((name, second), second)
    _operation_starts[name, second] = start + (3528531795 ^ 3449720151)
    return first % (2**31 - 1), start % (2**31 - 1)


def own_stream(name: str, count: int) -> int | None:
    """Where the stream of an operation goes on that has one of its own without a global seed, None with one.

    The next call goes on `count` numbers further.
    """
    if _seed is not None:
        return None
    start = _operation_starts.get((name, 0), 0)
    _operation_starts[name, 0] = start + count
    return start


def next_key() -> int:
    """Draw a 62-bit key for a counter-based generator from the global generator."""
    bits = np.random.get_bit_generator()  # type: ignore[attr-defined]  # NumPy's stubs lack it
    if type(bits) is np.random.MT19937:  # the numbers of `randint`, sooner: it takes 31 bits of a raw number as well
        return key(bits)
    high, low = np.random.randint(0, 2**31, size=2)
    return (int(high) << 31) | int(low)


def initial_seed() -> int:
    """Draw the seed of an initializer's numbers from the global generator, as MindSpore draws it."""
    return int(np.random.randint(1, 1 << 63, dtype=np.int64))


def generator() -> np.random.Generator:
    """A generator whose start is drawn from the global one, so successive calls differ."""
    return np.random.Generator(np.random.Philox(key=next_key()))


def counts() -> tuple:
    """The global seed, and how far what counts from it has come."""
    return _seed, _sliced_draws, [(name, own, start) for (name, own), start in _operation_starts.items()]


def set_counts(found: tuple) -> None:
    """Go back to what `counts` returned."""
    global _seed, _sliced_draws
    _seed, _sliced_draws, starts = found
    _operation_starts.clear()
    _operation_starts.update({(name, own): start for name, own, start in starts})


@contextmanager
def seeded(*words: int) -> Iterator[None]:
    """A region whose draws depend on `words` alone; the global generator is put back after it."""
    state = np.random.get_state()
    np.random.seed([int(w) % 2**32 for w in words])
    try:
        yield
    finally:
        np.random.set_state(state)


@contextmanager
def operations_seeded(seed: int) -> Iterator[None]:
    """A region in which random operations count their calls anew, from another global seed."""
    global _seed
    before, starts = _seed, dict(_operation_starts)
    _seed = seed
    _operation_starts.clear()
    try:
        yield
    finally:
        _seed = before
        _operation_starts.clear()
        _operation_starts.update(starts)


@contextmanager
def seeded_for_slice(name: str, slice_index: int | None) -> Iterator[None]:
    """A region whose draws agree on all ranks that hold the same slice of the same parameter.

    The numbers follow from the global seed, the parameter's name and the slice's number.
    Without a global seed they follow from how many slices were drawn before, which ranks
    that run the same script agree on. None stands for the whole tensor.
    """
    global _sliced_draws
    if _seed is None:
        _sliced_draws += 1
    part = 0 if slice_index is None else 1 + slice_index
    with seeded(_seed or 0, _sliced_draws, zlib.crc32(name.encode()), part, int(slice_index is None)):
        yield
