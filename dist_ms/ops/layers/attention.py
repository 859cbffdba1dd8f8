"""Scaled dot-product attention by blocks of queries and keys, with its gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms._ext.tape import Kept, wanted
from dist_ms.autograd.tape import apply, recording
from dist_ms.common.random import seed
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.formula_gradient import formula_gradient
from dist_ms.ops.kernels import attention as kernels
from dist_ms.ops.layout import copied, working_type
from dist_ms.ops.primitive import Primitive

_F32 = np.dtype(np.float32)
# Up to which length of a head's rows blocks are the faster way, and up to how many scores the other one is taken.
_LONG_ROW = 64
_MOST_SCORES = 1024 * 1024
_MOST_SCORES_OF_ALL = 1 << 24


@dataclass(frozen=True)
class Scores:
    """What becomes of the scores of an attention, besides the bias added to them.

    Attributes:
        scale: of the products of queries and keys.
        hidden: uint8 (batch, heads, queries, keys) or of lengths 1: not 0 where a key does not count.
        prefix: int64 (batch,): keys that count for every query, even above `high`; None for none.
        low, high: key j counts for query i if low <= j - i <= high; None for no limit.
        keep_prob: the probability to keep a weight.
        kept: uint8 (batch, heads, queries, keys / 8): a bit per weight, 1 where it is kept.
        seed: what the dropped weights are drawn from; without it and `kept` none are dropped.
        empty: the weights of a query that no key counts for: 0 or NaN.
    """

    scale: float
    hidden: np.ndarray | None = None
    prefix: np.ndarray | None = None
    low: int | None = None
    high: int | None = None
    keep_prob: float = 1.0
    kept: np.ndarray | None = None
    seed: int | None = None
    empty: float = 0.0

    def arguments(self, shape: tuple) -> dict:
        """The kernel's keywords, for scores of this shape."""
        return {
            "scale": self.scale,
            "hidden": _spread(self.hidden, shape),
            "prefix": self.prefix,
            "low": self.low,
            "high": self.high,
            "keep_prob": self.keep_prob,
            "kept": _spread(self.kept, (*shape[:3], (shape[3] + 7) // 8)),
            "seed": self.seed,
        }

    def unseen(self, shape: tuple) -> np.ndarray:
        """Where a key does not count for a query, as bools that broadcast to the shape of the scores."""
        queries, keys = np.arange(shape[2])[:, None], np.arange(shape[3])
        out = np.zeros((1, 1, *shape[2:]), bool)
        if self.high is not None:
            out = out | (keys - queries > self.high)
        if self.prefix is not None:
            out = out & (keys >= self.prefix[:, None, None, None])
        if self.low is not None:
            out = out | (keys - queries < self.low)
        return out if self.hidden is None else out | (self.hidden != 0)

    def factors(self, shape: tuple) -> np.ndarray | None:
        """What each weight is multiplied by, where some are dropped."""
        if self.kept is not None:
            bits = np.unpackbits(self.kept, axis=-1, count=shape[3], bitorder="little")
            return np.broadcast_to(bits, shape) / self.keep_prob
        if self.seed is None:
            return None
        # Where q and k are zero all weights are alike, and the values of one key after the other show the factors.
        dtype, width = np.dtype(np.float32), 64
        nothing = np.zeros((*shape[:3], width), dtype)
        out, ones = np.empty(shape, dtype), np.zeros((*shape[:2], shape[3], width), dtype)
        options = {**Scores(1.0, keep_prob=self.keep_prob, seed=self.seed).arguments(shape)}
        for first in range(0, shape[3], width):
            size = min(width, shape[3] - first)
            ones[...] = 0
            ones[:, :, np.arange(first, first + size), np.arange(size)] = shape[3]
            found = np.empty_like(nothing)
            kernels.forward(nothing, np.zeros_like(ones), ones, found, *_statistics(shape, dtype), **options)
            out[..., first : first + size] = found[..., :size]
        return np.where(out > 0.5, 1 / self.keep_prob, 0.0)


def _statistics(shape: tuple, dtype: np.dtype) -> np.ndarray:
    return np.empty((2, *shape[:3]), dtype)


def _spread(x: np.ndarray | None, shape: tuple) -> np.ndarray | None:
    """A view of the array repeated to a shape, with neighbouring columns neighbours in memory."""
    if x is None:
        return None
    if x.shape[-1] != shape[-1]:
        x = np.repeat(x, shape[-1], -1)
    return np.broadcast_to(_by_rows(x), shape)


def _by_rows(x: np.ndarray) -> np.ndarray:
    """The array itself if its columns are neighbours in memory, else a copy."""
    return x if x.shape[-1] == 1 or x.strides[-1] == x.itemsize else copied(x)


def _like(x: np.ndarray) -> np.ndarray:
    """An array of the shape and type of another, its axes in the same order in memory, the last one last."""
    order = sorted(range(x.ndim - 1), key=lambda axis: -x.strides[axis])
    memory = np.empty([*(x.shape[axis] for axis in order), x.shape[-1]], x.dtype)
    return memory.transpose(*np.argsort(order), x.ndim - 1)


def _bias(bias: np.ndarray | None, shape: tuple, dtype: np.dtype) -> np.ndarray | None:
    """The bias of the scores as the kernel takes it, for operands of a type."""
    if bias is not None and bias.dtype not in (dtype, working_type(dtype)):
        bias = bias.astype(working_type(dtype))
    return _spread(bias, shape)


def _shape(q: np.ndarray, k: np.ndarray) -> tuple:
    return (*q.shape[:3], k.shape[2])


class BlockAttention(Primitive):
    """softmax(scale q k^T + bias) v over the last two dimensions; the scores are never whole in memory.

    Dao et al., "FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness", 2022.

    Call:
        q: (batch, heads, queries, length).
        k, v: (batch, groups, keys, length), of one type; heads // groups heads share a group.
        bias: (batch, heads, queries, keys) or of lengths 1, added to the scores, or None.
        sums: a Kept, into which the largest score and the inverse sum per query are put.
    """

    keeps = (0, 1, 2, 3)
    keeps_output = True

    def __init__(self, scores: Scores) -> None:
        self._scores = scores

    def forward(self, q: np.ndarray, k: np.ndarray, v: np.ndarray, bias: np.ndarray | None, sums: Kept) -> np.ndarray:
        shape = _shape(q, k)
        out, sums.value = _like(q), _statistics(shape, working_type(q.dtype))
        options = self._scores.arguments(shape)
        bias = _bias(bias, shape, q.dtype)
        q, k, v = map(_by_rows, (q, k, v))
        kernels.forward(q, k, v, out, *sums.value, bias=bias, empty=self._scores.empty, **options)
        return out

    def gradient(self, inputs: tuple, output: Tensor, dout: Tensor) -> tuple:
        q, k, v, bias, sums = inputs
        grads = BlockAttentionGrad(self._scores, wanted(bias))(dout, q, k, v, bias, output, sums)
        return (*grads, *(None,) * (5 - len(grads)))


class LayerAttention(BlockAttention):
    """The `BlockAttention` of layers: mixed precision runs it in the low type, as the products it stands for."""


class BlockAttentionGrad(Primitive):
    """The gradients (dq, dk, dv) of `BlockAttention`, and that of the bias if it is wanted."""

    keeps = (0, 1, 2, 3, 4)

    def __init__(self, scores: Scores, with_bias: bool) -> None:
        self._scores = scores
        self._with_bias = with_bias

    def forward(
        self,
        dout: np.ndarray,
        q: np.ndarray,
        k: np.ndarray,
        v: np.ndarray,
        bias: np.ndarray | None,
        out: np.ndarray,
        sums: Kept,
    ) -> tuple:
        shape, work = _shape(q, k), working_type(q.dtype)
        grads = _like(q), _like(k), _like(v)
        dbias = spread = None
        if self._with_bias:
            dbias = np.zeros((*bias.shape[:3], shape[3]), work)
            steps = [step if length > 1 else 0 for step, length in zip(dbias.strides[:3], dbias.shape)]
            spread = np.lib.stride_tricks.as_strided(dbias, shape, (*steps, dbias.itemsize))
        dout, q, k, v = (_by_rows(x.astype(out.dtype, copy=False)) for x in (dout, q, k, v))
        options = {"bias": _bias(bias, shape, q.dtype), "dbias": spread, **self._scores.arguments(shape)}
        kernels.backward(dout, q, k, v, out, *sums.value, *grads, **options)
        if dbias is None:
            return grads
        if bias.shape[3] != shape[3]:
            dbias = dbias.sum(-1, keepdims=True)
        return (*grads, dbias.astype(bias.dtype, copy=False))

    def gradient(self, inputs: tuple, output: Any, dout: Any) -> tuple:
        bias = inputs[4]
        if bias is None:
            return (*formula_gradient(self._formula, inputs[:4], dout), None, None, None)
        if self._with_bias:
            return (*formula_gradient(self._formula, inputs[:5], dout), None, None)

        def formula(*operands: Tensor) -> tuple:
            return self._formula(*operands)[:3]

        return (*formula_gradient(formula, inputs[:5], dout), None, None)

    def _formula(self, dout: Tensor, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None = None) -> tuple:
        shape, groups = (*q.shape[:3], k.shape[2]), k.shape[1]
        share, dtype = shape[1] // max(groups, 1), q.array().dtype
        scale = self._scores.scale
        # The heads of a group as one more dimension.
        by_group = (shape[0], groups, share, shape[2], q.shape[3])
        q, dout = (ops.reshape(x, by_group) for x in (q, dout))
        k, v = (ops.expand_dims(x, 2) for x in (k, v))
        unseen = np.broadcast_to(self._scores.unseen(shape), shape).reshape(*by_group[:4], shape[3])
        scores = ops.BatchMatMul(transpose_b=True)(q * scale, ops.broadcast_to(k, (*by_group[:3], *k.shape[3:])))
        if bias is not None:
            scores = scores + ops.reshape(ops.broadcast_to(bias, shape), scores.shape)
        scores = ops.masked_fill(scores, wrap(unseen), float(np.finfo(np.float16).min))
        weights = ops.softmax(scores, -1) * wrap((~unseen).astype(dtype))
        factors = self._scores.factors(shape)
        kept = weights
        dweights = ops.BatchMatMul(transpose_b=True)(dout, ops.broadcast_to(v, (*by_group[:3], *v.shape[3:])))
        if factors is not None:
            factors = wrap(factors.reshape(weights.shape).astype(dtype))
            kept, dweights = weights * factors, dweights * factors
        total = ops.ReduceSum(keep_dims=True)
        dscores = weights * (dweights - total(dweights * weights, -1))
        dq = ops.BatchMatMul()(dscores, ops.broadcast_to(k, (*by_group[:3], *k.shape[3:]))) * scale
        dk = ops.ReduceSum()(ops.BatchMatMul(transpose_a=True)(dscores, q), 2) * scale
        dv = ops.ReduceSum()(ops.BatchMatMul(transpose_a=True)(kept, dout), 2)
        grads = ops.reshape(dq, (*shape[:3], -1)), dk, dv
        if bias is None:
            return grads
        dbias = ops.reshape(dscores, shape)
        axes = tuple([axis for axis, length in enumerate(bias.shape) if length != shape[axis]])
        return (*grads, total(dbias, axes) if axes else dbias)


def attend(q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, scores: Scores, sums: Kept | None = None) -> Tensor:
    """Attention of (batch, heads, length, size) by blocks; see `BlockAttention`."""
    return apply(BlockAttention(scores), q, k, v, bias, Kept() if sums is None else sums)


def layer_attention(q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, scale: float, drop: float) -> Tensor:
    """Attention of (batch, heads, length, size) for layers, by blocks or with all weights, whichever is faster.

    A query that no key counts for gives NaN, as a plain softmax does. Weights are dropped with probability `drop`.
    """
    if _whole_is_faster(q, k):
        return whole_attention(q, k, v, bias, scale, drop)[0]
    scores = Scores(scale, keep_prob=1.0 - drop, seed=next_seed() if drop else None, empty=float("nan"))
    return apply(LayerAttention(scores), q, k, v, bias, Kept())


def whole_attention(
    q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, scale: float, drop: float
) -> tuple[Tensor, Tensor]:
    """The output and the weights, all in memory; weights are dropped with probability `drop`."""
    scores = ops.BatchMatMul(transpose_b=True)(q * scale, k)
    weights = ops.softmax(scores if bias is None else scores + bias, -1)
    if drop:
        weights = ops.dropout(weights, float(drop), True)
    return ops.BatchMatMul()(weights, v), weights


def _whole_is_faster(q: Tensor, k: Tensor) -> bool:
    """Whether products of all queries and keys beat blocks: with gradients, long float32 rows and few scores.

    Measured forward and backward, lengths 64 to 1024: rows of 128 take 0.67 to 1.06 of the time of blocks, rows of
    32 and 64 take 0.94 to 1.8 of it; forward alone, and in bfloat16, blocks are faster.
    """
    scores = q.shape[2] * k.shape[2]
    return (
        recording.on
        and recording.policy is None
        and q.array().dtype == _F32
        and q.shape[3] > _LONG_ROW
        and scores <= _MOST_SCORES
        and scores * q.shape[0] * q.shape[1] <= _MOST_SCORES_OF_ALL
    )


def next_seed() -> int:
    """What the next call draws its dropped weights from, by the global seed."""
    return seed.next_key()
