"""Dropout of elements and of whole channels.

An element's fate follows from a key and its place, so the gradient draws the same numbers
again instead of keeping a mask.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from dist_ms._ext.remember import remembered
from dist_ms._ext.tape import holds_floats
from dist_ms.common.checks import check_bool, check_float, check_number_range
from dist_ms.common.error_classes import bools, scalars
from dist_ms.common.random import minimal_standard, seed
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops import arguments
from dist_ms.ops.arguments import not_of
from dist_ms.ops.kernels import dropout as kernels
from dist_ms.ops.layout import contiguous, converted, empty_like, is_channels_last, is_row_major, working_type
from dist_ms.ops.primitive import Primitive
from dist_ms.ops.shaping.reshaping import expand_dims, squeeze

__all__ = ["Dropout", "Dropout2D", "Dropout3D", "dropout", "dropout1d", "dropout2d", "dropout3d"]

_BYTE = np.dtype(np.uint8)

# Calls made with a seed of the user's: the next call of the same seed draws further numbers.
_offsets: dict[int, int] = {}
_first_offset = 0


def _key(given: int) -> tuple[int, int]:
    """The (key, offset) of the next draw; `given` 0 takes them from the global seed."""
    if not given:
        return seed.next_key(), 0
    offset = _offsets.get(given, _first_offset)
    _offsets[given] = offset + 1
    return given, offset


@contextmanager
def offsets_from(start: int) -> Iterator[None]:
    """A region in which every seed of the user's draws from the offset `start` on; its counts are put back after it."""
    global _first_offset
    before, first = offsets(), _first_offset
    _offsets.clear()
    _first_offset = start
    try:
        yield
    finally:
        set_offsets(before)
        _first_offset = first


def offsets() -> dict[int, int]:
    """The offset of the next draw of each seed of the user's."""
    return dict(_offsets)


def set_offsets(found: dict[int, int]) -> None:
    """Go back to offsets that `offsets` returned."""
    _offsets.clear()
    _offsets.update(found)


class Drop(Primitive):
    """Each element divided by a probability with that probability, else 0.

    Call:
        x: floats.
        draw: a tuple of the probability, of the key and the offset that the numbers follow from, and
            of whether the elements are counted with the channels last.
    """

    keeps = ()

    def forward(self, x: np.ndarray, draw: tuple) -> np.ndarray:
        return self.masked(x, draw)[0]

    def masked(self, x: np.ndarray, draw: tuple) -> tuple[np.ndarray, np.ndarray]:
        """The result and the mask (uint8) of what was kept."""
        keep_prob, key, offset, last = draw
        memory = contiguous(np.moveaxis(x, 1, -1) if last else x, working_type(x.dtype))
        out, mask = empty_like(memory), empty_like(memory, _BYTE)
        kernels.dropout(memory, out, mask, keep_prob, key, offset)
        if last:
            out, mask = np.moveaxis(out, -1, 1), np.moveaxis(mask, -1, 1)
        return converted(out, x.dtype), mask

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return self(dout, inputs[1]), None


_drop = Drop()


class DropMasked(Drop):
    """`Drop` that returns the mask as well, in the type of `x`."""

    def forward(self, x: np.ndarray, draw: tuple) -> tuple:
        out, mask = self.masked(x, draw)
        return out, mask.astype(x.dtype)

    def gradient(self, inputs: tuple, output: tuple, dout: tuple) -> tuple:
        return _drop(dout[0], inputs[1]), None


_drop_masked = DropMasked()


class Dropout(Primitive):
    """Sets elements to 0 with probability 1 - keep_prob and divides the others by keep_prob.

    Srivastava et al., "Dropout: A Simple Way to Prevent Neural Networks from Overfitting", 2014.

    Args:
        keep_prob: probability to keep an element, in (0, 1].
        Seed0, Seed1: start of the random numbers; 0 and 0 take it from the global seed.

    Call:
        x (Tensor): floats.

    Returns:
        A tuple (result, mask); the mask is 1 where an element is kept, in the type of `x`.

    Raises:
        TypeError: if an argument has the wrong type, or `x` holds no floats.
        ValueError: if `keep_prob` is outside [0, 1].
        RuntimeError: when called with keep_prob 0.

    Examples:
        >>> import dist_ms as ms
        >>> out, mask = ms.ops.Dropout(keep_prob=0.5)(ms.Tensor([1.0, 1.0]))
        >>> print((out == 2 * mask).all())
        True
    """

    def __init__(self, keep_prob: float = 0.5, Seed0: int = 0, Seed1: int = 0) -> None:
        self.keep_prob = check_number_range(keep_prob, "keep_prob", "Dropout", 0, 1)
        self.Seed0 = arguments.integer(Seed0, "Seed0", "Dropout")
        self.Seed1 = arguments.integer(Seed1, "Seed1", "Dropout")

    def __call__(self, x: Tensor) -> tuple:
        return _drop_masked(x, self._draw(x))

    def dropped(self, x: Tensor) -> Tensor:
        """The result alone."""
        return _drop(x, self._draw(x))

    def _draw(self, x: Any) -> tuple[float, int, int, bool]:
        if not isinstance(x, Tensor) or not holds_floats(x):
            arguments.floating_tensor(x, "x", self.name)
        keep_prob = self.keep_prob
        if keep_prob == 0:
            raise RuntimeError(f"For '{self.name}', 'keep_prob' must be in (0, 1], but got 0.")
        # Elements are counted in the order of channels-last memory where they lie so, which then needs no copy.
        last = x.ndim > 2 and not is_row_major(data := x.array()) and is_channels_last(data)
        if self.Seed0 or self.Seed1:
            return keep_prob, *_key((self.Seed0 % 2**31) << 32 | self.Seed1 % 2**32), last
        return keep_prob, seed.next_key(), 0, last


class _ChannelDropout(Primitive):
    """Drops whole channels of (N, C, ...)."""

    _rank = 0

    def __init__(self, keep_prob: float = 0.5) -> None:
        self.keep_prob = check_number_range(keep_prob, "keep_prob", self.name, 0, 1)

    def __call__(self, x: Tensor) -> tuple:
        shape = arguments.tensor(x, "x", self.name).shape
        if len(shape) != self._rank:
            raise ValueError(f"For '{self.name}', 'x' must have {self._rank} dimensions, but got shape {shape}.")
        kept, scale = _channels_kept(x, self.keep_prob)
        return x * scale, wrap(np.broadcast_to(kept, shape).copy())


def _channels_kept(x: Tensor, keep_prob: float) -> tuple[np.ndarray, Tensor]:
    """Which channels stay (N, C, 1 ...), and what each is multiplied by.

    Without a global seed the numbers are those that MindSpore draws, with a stream for each kind of call.
    """
    count = math.prod(x.shape[:2])
    shape = (*x.shape, 1)[: max(4, x.ndim)]  # MindSpore drops rows of (N, C, L) as images of width 1
    start = seed.own_stream(f"dropout of channels {keep_prob:.7g} {shape} {x.dtype}", count)
    drawn = seed.generator().random(count) if start is None else minimal_standard.uniform(start, count)
    kept = drawn.reshape(*x.shape[:2], *(1,) * (x.ndim - 2)) < np.float32(keep_prob)
    return kept, wrap((kept / keep_prob if keep_prob else kept * 0.0).astype(x.array().dtype))


class Dropout2D(_ChannelDropout):
    """Sets channels of (N, C, H, W) to 0 with probability 1 - keep_prob, scales the others.

    Tompson et al., "Efficient Object Localization Using Convolutional Networks", 2015.

    Args:
        keep_prob: probability to keep a channel, in [0, 1].

    Call:
        x (Tensor): (N, C, H, W).

    Returns:
        A tuple (result, mask); the mask is a Bool tensor of the shape of `x`.

    Raises:
        TypeError: if `keep_prob` is no number.
        ValueError: if it is outside [0, 1], or `x` has not 4 dimensions.

    Examples:
        >>> import dist_ms as ms
        >>> out, mask = ms.ops.Dropout2D(keep_prob=0.5)(ms.ops.ones((2, 3, 4, 4)))
        >>> print(mask.shape, mask.dtype)
        (2, 3, 4, 4) Bool
    """

    _rank = 4


class Dropout3D(_ChannelDropout):
    """Sets channels of (N, C, D, H, W) to 0 with probability 1 - keep_prob; see `Dropout2D`.

    Examples:
        >>> import dist_ms as ms
        >>> out, mask = ms.ops.Dropout3D(keep_prob=0.5)(ms.ops.ones((2, 3, 4, 4, 4)))
        >>> mask.shape
        (2, 3, 4, 4, 4)
    """

    _rank = 5


@scalars("p")
def dropout(input: Tensor, p: float = 0.5, training: bool = True, seed: int | None = None) -> Tensor:
    """Set elements to 0 with probability p and divide the others by 1 - p.

    Args:
        input: floats.
        p: probability to drop an element, in [0, 1).
        training: whether to do so at all.
        seed: start of the random numbers; None takes it from the global seed.

    Returns:
        Tensor of the shape and dtype of `input`.

    Raises:
        TypeError: if `p` is no number, `training` no bool, or `input` holds no floats.
        RuntimeError: if `p` is outside [0, 1).

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.dropout(ms.Tensor([1.0, 2.0]), training=False))
        [1. 2.]
    """
    op = _dropping(p, training, seed)
    return op.dropped(input) if training else input


@remembered
def _dropping(p: Any, training: Any, seed: Any) -> Dropout | None:
    """The operation that `dropout` runs with these options, None when not training."""
    check_bool(training, "training", "dropout")
    if not 0 <= arguments.number(p, "p", "dropout") < 1 and not (training and isinstance(p, int)):
        raise RuntimeError(f"For 'dropout', 'p' must be in [0, 1), but got {p}.")
    if not training:
        return None
    if isinstance(p, int):
        raise TypeError(f"For 'dropout', 'p' must be a float, but got int {p}.")
    if seed is not None and arguments.integer(seed, "seed", "dropout") < 0:
        raise ValueError(f"For 'dropout', 'seed' must not be negative, but got {seed}.")
    return Dropout(1.0 - p, 0 if seed is None else seed)


def _drop_channels(owner: str, input: Tensor, p: float, training: bool, ranks: tuple) -> Tensor:
    check_bool(training, "training", owner)
    check_number_range(p, "p", owner, 0, 1)
    if arguments.tensor(input, "input", owner).ndim not in ranks:
        raise ValueError(
            f"For '{owner}', 'input' must have {' or '.join(map(str, ranks))} dimensions, but got shape {input.shape}."
        )
    if not training:
        return input
    if len(ranks) == 2 and input.ndim == ranks[0]:
        batch = expand_dims(input, 0)
        return squeeze(batch * _channels_kept(batch, 1.0 - p)[1], 0)
    return input * _channels_kept(input, 1.0 - p)[1]


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    """Set channels of (N, C, L) or (C, L) to 0 with probability p, divide the others by 1 - p.

    Args:
        input: floats of 2 or 3 dimensions.
        p: probability to drop a channel, in [0, 1].
        training: whether to do so at all.

    Returns:
        Tensor of the shape and dtype of `input`.

    Raises:
        TypeError: if `p` is no number, or `training` no bool.
        ValueError: if `p` is outside [0, 1], or `input` has other dimensions.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.dropout1d(ms.Tensor([[1.0, 2.0]]), p=1.0))
        [[0. 0.]]
    """
    check_float(p, "p", "dropout1d")
    not_of(input, "?BHILFD", "input", "dropout1d")
    return _drop_channels("dropout1d", input, p, training, (2, 3))


@bools("p")
def dropout2d(input: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    """Set channels of (N, C, H, W) to 0 with probability p, divide the others by 1 - p.

    Args:
        input: floats of 4 dimensions.
        p: probability to drop a channel, in [0, 1].
        training: whether to do so at all.

    Returns:
        Tensor of the shape and dtype of `input`.

    Raises:
        TypeError: if `p` is no number, or `training` no bool.
        ValueError: if `p` is outside [0, 1], or `input` has other dimensions.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.dropout2d(ms.Tensor([[[[1.0, 2.0]]]]), p=1.0))
        [[[[0. 0.]]]]
    """
    not_of(input, "?BHILFD", "input", "dropout2d")
    return _drop_channels("dropout2d", input, p, training, (4,))


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    """Set channels of (N, C, D, H, W) to 0 with probability p; see `dropout2d`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.dropout3d(ms.ops.ones((1, 1, 1, 1, 2)), p=1.0))
        [[[[[0. 0.]]]]]
    """
    not_of(input, "?BHILFD", "input", "dropout3d")
    return _drop_channels("dropout3d", input, p, training, (5,))
