"""Operations that MindSpore has not on CPUs and scripts use: recurrences with their gates, dropout in two steps.

They are found where dist_ms' own operations have no such name.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_number_range, complaint
from dist_ms.common.random.seed import generator
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.primitive import Primitive

__all__ = ["DropoutDoMask", "DropoutGenMask", "DynamicGRUV2", "DynamicRNN", "FusedWeightScaleApplyMomentum"]

_BITS = 128  # a mask's length is a multiple of it


def _only(owner: str, **given: tuple[Any, Any]) -> None:
    """Refuse options that have another value than the one that is built."""
    for name, (found, built) in given.items():
        if found != built:
            raise ValueError(complaint(name, owner, repr(built), repr(found)))


def _mask_of(lengths: Tensor | None, steps: int, rows: int, dtype: Any) -> Tensor | None:
    """1 where a sequence goes on, (time, N, 1), or None."""
    if lengths is None:
        return None
    return wrap((np.arange(steps)[:, None] < lengths.asnumpy().reshape(1, rows))[..., None].astype(dtype.np))


class DynamicRNN(Primitive):
    """An LSTM over whole sequences, with what each gate was.

    Args:
        cell_type: "LSTM".
        direction: "UNIDIRECTIONAL".
        cell_depth: 1.
        use_peephole: False.
        keep_prob: 1.0.
        cell_clip: -1.0.
        num_proj: 0.
        time_major: True.
        activation: "tanh".
        forget_bias: is added in the forget gate.
        is_training: accepted; what is returned is the same.

    Call:
        x (Tensor): (time, N, input).
        w (Tensor): (input + hidden, 4 hidden), with the gates in the order i, j, f, o.
        b (Tensor): (4 hidden,).
        seq_length (Tensor): lengths, (N,), or None.
        init_h, init_c (Tensor): (1, N, hidden), or None for zeros.

    Returns:
        A tuple (y, h, c, i, j, f, o, tanh(c)), each (time, N, hidden); y and h are the same.

    Raises:
        ValueError: for an option that is not built.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.compat.inner.operations.ascend_operations import DynamicRNN
        >>> x, w, b = ms.ops.ones((2, 1, 3)), ms.ops.ones((5, 8)), ms.ops.zeros(8)
        >>> print(DynamicRNN()(x, w, b)[0].asnumpy().round(3)[0])
        [[0.704 0.704]]
    """

    def __init__(
        self,
        cell_type: str = "LSTM",
        direction: str = "UNIDIRECTIONAL",
        cell_depth: int = 1,
        use_peephole: bool = False,
        keep_prob: float = 1.0,
        cell_clip: float = -1.0,
        num_proj: int = 0,
        time_major: bool = True,
        activation: str = "tanh",
        forget_bias: float = 0.0,
        is_training: bool = True,
    ) -> None:
        _only(
            self.name,
            cell_type=(cell_type, "LSTM"),
            direction=(direction, "UNIDIRECTIONAL"),
            cell_depth=(cell_depth, 1),
            use_peephole=(use_peephole, False),
            keep_prob=(keep_prob, 1.0),
            cell_clip=(cell_clip, -1.0),
            num_proj=(num_proj, 0),
            time_major=(time_major, True),
            activation=(activation, "tanh"),
        )
        self.forget_bias, self.is_training = forget_bias, is_training

    def __call__(
        self,
        x: Tensor,
        w: Tensor,
        b: Tensor,
        seq_length: Tensor | None = None,
        init_h: Tensor | None = None,
        init_c: Tensor | None = None,
    ) -> tuple[Tensor, ...]:
        steps, rows, length = x.shape
        size = w.shape[1] // 4
        if w.shape != (length + size, 4 * size):
            raise ValueError(complaint("w", self.name, f"({length} + hidden, 4 hidden)", f"the shape {w.shape}"))
        h = ops.zeros((rows, size), x.dtype) if init_h is None else ops.reshape(init_h, (rows, size))
        c = ops.zeros((rows, size), x.dtype) if init_c is None else ops.reshape(init_c, (rows, size))
        inputs = ops.matmul(x, w[:length]) + b
        mask = _mask_of(seq_length, steps, rows, x.dtype)
        kept: list[list[Tensor]] = []
        for t in range(steps):
            i, j, f, o = ops.split(inputs[t] + ops.matmul(h, w[length:]), size, -1)
            i, j, f, o = ops.sigmoid(i), ops.tanh(j), ops.sigmoid(f + self.forget_bias), ops.sigmoid(o)
            now_c = f * c + i * j
            squashed = ops.tanh(now_c)
            now_h = o * squashed
            if mask is not None:
                now_h, now_c = now_h * mask[t] + h * (1 - mask[t]), now_c * mask[t] + c * (1 - mask[t])
            h, c = now_h, now_c
            kept.append([h if mask is None else h * mask[t], h, c, i, j, f, o, squashed])
        return tuple(ops.stack(part) for part in zip(*kept))


class DynamicGRUV2(Primitive):
    """A GRU over whole sequences, with what each gate was.

    Args:
        direction: "UNIDIRECTIONAL".
        cell_depth: 1.
        keep_prob: 1.0.
        cell_clip: -1.0.
        num_proj: 0.
        time_major: True.
        activation: "tanh".
        gate_order: "rzh" or "zrh", the order of the gates in the weights.
        reset_after: whether the reset gate comes after the product with the weights.
        is_training: accepted; what is returned is the same.

    Call:
        x (Tensor): (time, N, input).
        weight_input, weight_hidden (Tensor): (input, 3 hidden) and (hidden, 3 hidden).
        bias_input, bias_hidden (Tensor): (3 hidden,), or None.
        seq_length (Tensor): lengths, (N,), or None.
        init_h (Tensor): (N, hidden).

    Returns:
        A tuple (y, h, update, reset, new, hidden part of new), each (time, N, hidden); y and h are the same.

    Raises:
        ValueError: for an option that is not built.
    """

    def __init__(
        self,
        direction: str = "UNIDIRECTIONAL",
        cell_depth: int = 1,
        keep_prob: float = 1.0,
        cell_clip: float = -1.0,
        num_proj: int = 0,
        time_major: bool = True,
        activation: str = "tanh",
        gate_order: str = "rzh",
        reset_after: bool = True,
        is_training: bool = True,
    ) -> None:
        _only(
            self.name,
            direction=(direction, "UNIDIRECTIONAL"),
            cell_depth=(cell_depth, 1),
            keep_prob=(keep_prob, 1.0),
            cell_clip=(cell_clip, -1.0),
            num_proj=(num_proj, 0),
            time_major=(time_major, True),
            activation=(activation, "tanh"),
        )
        if gate_order not in ("rzh", "zrh"):
            raise ValueError(complaint("gate_order", self.name, "'rzh' or 'zrh'", repr(gate_order)))
        self.gate_order, self.reset_after, self.is_training = gate_order, reset_after, is_training

    def __call__(
        self,
        x: Tensor,
        weight_input: Tensor,
        weight_hidden: Tensor,
        bias_input: Tensor | None,
        bias_hidden: Tensor | None,
        seq_length: Tensor | None,
        init_h: Tensor,
    ) -> tuple[Tensor, ...]:
        steps, rows, _ = x.shape
        size = weight_hidden.shape[0]
        h = ops.reshape(init_h, (rows, size))
        inputs = ops.matmul(x, weight_input) if bias_input is None else ops.matmul(x, weight_input) + bias_input
        places = [self.gate_order.index(gate) * size for gate in "rzh"]
        w_r, w_z, w_n = (weight_hidden[:, p : p + size] for p in places)
        b_r, b_z, b_n = (0 if bias_hidden is None else bias_hidden[p : p + size] for p in places)
        mask = _mask_of(seq_length, steps, rows, x.dtype)
        kept: list[list[Tensor]] = []
        for t in range(steps):
            in_r, in_z, in_n = (inputs[t][:, p : p + size] for p in places)
            reset = ops.sigmoid(in_r + ops.matmul(h, w_r) + b_r)
            update = ops.sigmoid(in_z + ops.matmul(h, w_z) + b_z)
            inner = ops.matmul(h if self.reset_after else reset * h, w_n) + b_n
            new = ops.tanh(in_n + (reset * inner if self.reset_after else inner))
            now = (1 - update) * new + update * h
            h = now if mask is None else now * mask[t] + h * (1 - mask[t])
            kept.append([h if mask is None else h * mask[t], h, update, reset, new, inner])
        return tuple(ops.stack(part) for part in zip(*kept))


class DropoutGenMask(Primitive):
    """The mask of a dropout: a bit for each element, in bytes.

    Args:
        Seed0, Seed1: where the numbers start; both 0 for the global seed.

    Call:
        shape (tuple): of the tensor to drop elements of.
        keep_prob (Tensor or float): the chance to keep one.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.compat.inner.operations.ascend_operations import DropoutDoMask, DropoutGenMask
        >>> x, keep = ms.ops.ones((2, 3)), ms.Tensor(1.0)
        >>> print(DropoutDoMask()(x, DropoutGenMask()((2, 3), keep), keep)[0])
        [1. 1. 1.]
    """

    def __init__(self, Seed0: int = 0, Seed1: int = 0) -> None:
        self.Seed0, self.Seed1 = Seed0, Seed1
        self._numbers = np.random.default_rng((Seed0, Seed1)) if Seed0 or Seed1 else None

    def __call__(self, shape: tuple[int, ...], keep_prob: Any) -> Tensor:
        chance = _chance(keep_prob, self.name)
        count = -(-math.prod(shape) // _BITS) * _BITS
        numbers = generator() if self._numbers is None else self._numbers
        return wrap(np.packbits(numbers.random(count) < chance, bitorder="little"))


class DropoutDoMask(Primitive):
    """A tensor without the elements whose bit in a mask is 0; the others are divided by the chance to stay."""

    def __call__(self, input_x: Tensor, mask: Tensor, keep_prob: Any) -> Tensor:
        chance = _chance(keep_prob, self.name)
        count = math.prod(input_x.shape)
        if 8 * mask.shape[0] < count:
            raise ValueError(complaint("mask", self.name, f"of at least {count} bits", f"{8 * mask.shape[0]}"))
        bits = np.unpackbits(mask.asnumpy(), count=count, bitorder="little").reshape(input_x.shape)
        kept = wrap(bits.astype(input_x.dtype.np))
        return input_x * kept / chance if chance else input_x * kept


class FusedWeightScaleApplyMomentum(Primitive):
    """A step of momentum, of a gradient that is scaled and has its share of weight decay.

    Call:
        weight_decay, scale (Tensor or float): what the variable and the gradient are multiplied by.
        variable, accumulation (Parameter): what is changed.
        learning_rate, gradient, momentum: as in `ApplyMomentum`.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.compat.inner.operations.ascend_operations import FusedWeightScaleApplyMomentum
        >>> weight, speed = ms.Parameter(ms.Tensor([1.0]), name="w"), ms.Parameter(ms.Tensor([0.0]), name="v")
        >>> _ = FusedWeightScaleApplyMomentum()(0.1, 0.5, weight, speed, 1.0, ms.Tensor([4.0]), 0.9)
        >>> print(weight.asnumpy().round(3), speed.asnumpy().round(3))
        [-1.1] [2.1]
    """

    def __call__(
        self,
        weight_decay: Any,
        scale: Any,
        variable: Any,
        accumulation: Any,
        learning_rate: Any,
        gradient: Tensor,
        momentum: Any,
    ) -> Tensor:
        step = gradient * scale + variable * weight_decay
        return ops.ApplyMomentum()(variable, accumulation, learning_rate, step, momentum)


def _chance(value: Any, owner: str) -> float:
    number = float(value.asnumpy().reshape(())) if isinstance(value, Tensor) else value
    return check_number_range(number, "keep_prob", owner, 0.0, 1.0)
