"""Native sparse attention: to compressed keys, and to the blocks of keys that it finds important."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_int_range, check_number, check_positive_int, complaint
from dist_ms.common.dtype import float32, float64
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import integers, integral, one_dtype, tensor

__all__ = ["nsa_compress", "nsa_compress_attention", "nsa_select_attention"]


def sequence_ends(value: Any, total: int, name: str, owner: str) -> list[int]:
    """0 and the ends of the sequences that lie one after the other."""
    found = [0, *integers(value, name, owner)]
    if len(found) < 2 or found != sorted(found) or found[-1] != total:
        raise RuntimeError(complaint(name, owner, f"ends of sequences that rise to {total}", value))
    return found


def _batches(owner: str, **ends: list[int]) -> None:
    """Refuse different numbers of sequences."""
    if len({len(found) for found in ends.values()}) > 1:
        wanted = " and ".join(f"'{name}'" for name in ends)
        found = {name: len(given) - 1 for name, given in ends.items()}
        raise RuntimeError(f"For '{owner}', {wanted} must have one length, but got {found}.")


def nsa_compress(
    input: Tensor, weight: Tensor, compress_block_size: int, compress_stride: int, *, actual_seq_len: Any
) -> Tensor:
    """Sum windows of keys or values with learned weights, each sequence by itself.

    Yuan and others, "Native Sparse Attention: Hardware-Aligned and Natively Trainable Sparse Attention", 2025.

    Args:
        input: (T, N, D) floats, the sequences one after the other.
        weight: (compress_block_size, N), of the same dtype.
        compress_block_size: how many rows a window has.
        compress_stride: from one window's first row to the next one's; at most the size.
        actual_seq_len: ends of the sequences in T.

    Returns:
        Tensor (T', N, D): the windows of all sequences.

    Raises:
        TypeError: if an argument has the wrong type.
        RuntimeError: if shapes, sizes or ends do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> x, w = ms.ops.ones((6, 1, 2)), ms.ops.ones((4, 1))
        >>> print(ms.ops.nsa_compress(x, w, 4, 2, actual_seq_len=[6]).shape)
        (2, 1, 2)
    """
    owner = "nsa_compress"
    one_dtype(owner, "fV", input=input, weight=weight)
    size = check_positive_int(compress_block_size, "compress_block_size", owner)
    stride = check_int_range(compress_stride, "compress_stride", owner, 1, size)
    if input.ndim != 3 or weight.shape != (size, input.shape[1]):
        raise RuntimeError(complaint("weight", owner, f"({size}, N) for an input (T, N, D)", weight.shape))
    ends = sequence_ends(actual_seq_len, input.shape[0], "actual_seq_len", owner)
    firsts = [np.arange(begin, end - size + 1, stride) for begin, end in pairwise(ends)]
    rows = np.concatenate(firsts)[:, None] + np.arange(size)
    windows = ops.cast(ops.gather(input, wrap(rows), 0), wide_type(input))
    summed = ops.sum(windows * ops.expand_dims(ops.cast(weight, wide_type(input)), -1), 1)
    return ops.cast(summed, input.dtype)


def wide_type(x: Tensor) -> Any:
    """The type that 16-bit floats are computed in."""
    return float64 if x.dtype == float64 else float32


def _heads(query: Tensor, key: Tensor, value: Tensor, owner: str) -> int:
    """How many heads of the query share one of the keys."""
    one_dtype(owner, "fV", query=query, key=key, value=value)
    fits = query.ndim == key.ndim == value.ndim == 3 and key.shape[:2] == value.shape[:2]
    if not fits or query.shape[2] != key.shape[2] or query.shape[1] % key.shape[1]:
        found = f"{query.shape}, {key.shape} and {value.shape}"
        wanted = "(T1, N1, D), with 'key' (T2, N2, D), 'value' (T2, N2, D2) and N1 a multiple of N2"
        raise RuntimeError(complaint("query", owner, wanted, found))
    return query.shape[1] // key.shape[1]


def softmax_parts(scores: Tensor, hidden: np.ndarray | None) -> tuple[Tensor, Tensor, Tensor]:
    """The softmax over the last axis, 0 where nothing counts, with the largest scores and the sums."""
    if hidden is not None:
        scores = ops.masked_fill(scores, wrap(np.broadcast_to(hidden, scores.shape).copy()), -np.inf)
    largest = ops.stop_gradient(ops.amax(scores, -1, True))
    largest = ops.where(ops.isfinite(largest), largest, ops.zeros_like(largest))
    parts = ops.exp(scores - largest)
    total = ops.sum(parts, -1, True)
    return parts / ops.maximum(total, ops.full_like(total, 1e-30)), largest, total


def _eight(x: Tensor) -> Tensor:
    """(T, N, 1) eight times, as MindSpore returns the parts of a softmax."""
    return ops.stop_gradient(ops.cast(ops.tile(x, (1, 1, 8)), float32))


def nsa_compress_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    scale_value: float,
    head_num: int,
    compress_block_size: int,
    compress_stride: int,
    select_block_size: int,
    select_block_count: int,
    *,
    topk_mask: Tensor | None = None,
    atten_mask: Tensor | None = None,
    actual_seq_qlen: Any,
    actual_cmp_seq_kvlen: Any,
    actual_sel_seq_kvlen: Any,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Attention to compressed keys, and the blocks of keys that it finds the most important; see `nsa_compress`.

    With the weights P of the attention, l and l' the block sizes and d the stride, block j has the importance
    sum over m < l'/d and n < l/d of P[l'/d j - m - n], summed over the heads that share a key.

    Args:
        query: (T1, N1, D1) floats; N2 divides N1.
        key: (T2, N2, D1), compressed.
        value: (T2, N2, D2).
        scale_value: of the products of queries and keys.
        head_num: N1.
        compress_block_size: l, a multiple of d.
        compress_stride: d.
        select_block_size: l', a multiple of d, and not below l.
        select_block_count: how many blocks are returned; at most the blocks of the shortest sequence.
        topk_mask: bool (queries, blocks), true where a block is not to be chosen; of the longest sequence.
        atten_mask: bool (queries, compressed keys), true where a key does not count.
        actual_seq_qlen, actual_cmp_seq_kvlen: ends of the sequences in T1 and T2.
        actual_sel_seq_kvlen: ends of the sequences' blocks.

    Returns:
        tuple of the attention (T1, N1, D2), the chosen blocks (T1, N2, select_block_count) int32, the most important
        first, and the largest score and the sum of each softmax, (T1, N1, 8).

    Raises:
        TypeError: if an argument has the wrong type.
        RuntimeError: if shapes, sizes or ends do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.ops.ones((4, 1, 2))
        >>> out, blocks, *_ = ms.ops.nsa_compress_attention(
        ...     x, x, x, 0.7, 1, 32, 16, 64, 1, actual_seq_qlen=[4], actual_cmp_seq_kvlen=[4], actual_sel_seq_kvlen=[2]
        ... )
        >>> out.shape, blocks.shape
        ((4, 1, 2), (4, 1, 1))
    """
    owner = "nsa_compress_attention"
    group = _heads(query, key, value, owner)
    if check_positive_int(head_num, "head_num", owner) != query.shape[1]:
        raise RuntimeError(complaint("head_num", owner, f"{query.shape[1]}, as 'query' has", head_num))
    scale = check_number(scale_value, "scale_value", owner)
    stride = check_positive_int(compress_stride, "compress_stride", owner)
    size = check_positive_int(compress_block_size, "compress_block_size", owner)
    chosen = check_positive_int(select_block_size, "select_block_size", owner)
    count = check_positive_int(select_block_count, "select_block_count", owner)
    if size % stride or chosen % stride or chosen < size:
        wanted = f"a multiple of the stride {stride} and at least the multiple 'compress_block_size', {size}"
        raise RuntimeError(complaint("select_block_size", owner, wanted, chosen))
    q_ends = sequence_ends(actual_seq_qlen, query.shape[0], "actual_seq_qlen", owner)
    k_ends = sequence_ends(actual_cmp_seq_kvlen, key.shape[0], "actual_cmp_seq_kvlen", owner)
    blocks = integers(actual_sel_seq_kvlen, "actual_sel_seq_kvlen", owner)
    s_ends = sequence_ends(blocks, blocks[-1] if blocks else 0, "actual_sel_seq_kvlen", owner)
    _batches(owner, actual_seq_qlen=q_ends, actual_cmp_seq_kvlen=k_ends, actual_sel_seq_kvlen=s_ends)
    outs, picked, parts = [], [], []
    for q0, q1, k0, k1, s0, s1 in zip(q_ends, q_ends[1:], k_ends, k_ends[1:], s_ends, s_ends[1:]):
        if s1 - s0 < count:
            raise RuntimeError(complaint("select_block_count", owner, f"at most {s1 - s0} blocks of a sequence", count))
        q, k, v = (ops.cast(x, wide_type(query)) for x in (query[q0:q1], key[k0:k1], value[k0:k1]))
        q, k, v = ops.transpose(q, (1, 0, 2)), ops.transpose(k, (1, 2, 0)), ops.transpose(v, (1, 0, 2))
        k, v = ops.repeat_interleave(k, group, 0), ops.repeat_interleave(v, group, 0)
        hidden = _mask(atten_mask, (q1 - q0, k1 - k0), "atten_mask", owner)
        weights, largest, total = softmax_parts(ops.bmm(q, k) * scale, hidden)
        outs.append(ops.transpose(ops.bmm(weights, v), (1, 0, 2)))
        parts.append([ops.transpose(x, (1, 0, 2)) for x in (largest, total)])
        importance = _importance(weights.asnumpy(), s1 - s0, chosen // stride, size // stride)
        importance = importance.reshape(-1, group, *importance.shape[1:]).sum(1)
        unwanted = _mask(topk_mask, (q1 - q0, s1 - s0), "topk_mask", owner)
        if unwanted is not None:
            importance[:, unwanted] = -np.inf
        order = np.argsort(-importance, -1, kind="stable")[..., :count]
        picked.append(order.transpose(1, 0, 2).astype(np.int32))
    maxima, sums = (_eight(ops.concat([p[i] for p in parts], 0)) for i in (0, 1))
    return ops.cast(ops.concat(outs, 0), query.dtype), wrap(np.concatenate(picked)), maxima, sums


def _mask(mask: Tensor | None, shape: tuple[int, int], name: str, owner: str) -> np.ndarray | None:
    if mask is None:
        return None
    array = tensor(mask, name, owner).array()
    if array.dtype != np.bool_:
        raise TypeError(complaint(name, owner, "a bool Tensor", array.dtype))
    if array.ndim != 2 or array.shape[0] < shape[0] or array.shape[1] < shape[1]:
        raise RuntimeError(complaint(name, owner, f"of at least {shape}", array.shape))
    return array[: shape[0], : shape[1]]


def _importance(weights: np.ndarray, blocks: int, step: int, width: int) -> np.ndarray:
    """The importance of each block for each head and query."""
    found = np.zeros((*weights.shape[:2], blocks), weights.dtype)
    for shift in (m + n for m in range(step) for n in range(width)):
        places = np.arange(blocks) * step - shift
        there = (places >= 0) & (places < weights.shape[-1])
        found[..., there] += weights[..., places[there]]
    return found


def nsa_select_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    topk_indices: Tensor,
    scale_value: float,
    head_num: int,
    select_block_size: int,
    select_block_count: int,
    *,
    atten_mask: Tensor | None = None,
    actual_seq_qlen: Any,
    actual_seq_kvlen: Any,
) -> tuple[Tensor, Tensor, Tensor]:
    """Attention of each query to the blocks of keys chosen for it; see `nsa_compress_attention`.

    Args:
        query: (T1, N1, D1) floats; N2 divides N1.
        key: (T2, N2, D1).
        value: (T2, N2, D2).
        topk_indices: int32 (T1, N2, select_block_count), the numbers of blocks in the query's own sequence; of a last
            block that is not full the keys that there are count.
        scale_value: of the products of queries and keys.
        head_num: N1.
        select_block_size: how many keys a block has.
        select_block_count: how many blocks each query has.
        atten_mask: None, as in MindSpore.
        actual_seq_qlen, actual_seq_kvlen: ends of the sequences in T1 and T2.

    Returns:
        tuple of the attention (T1, N1, D2), and the largest score and the sum of each softmax, (T1, N1, 8).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if there is a mask.
        RuntimeError: if shapes, sizes, ends or numbers of blocks do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> x, blocks = ms.ops.ones((4, 1, 2)), ms.ops.zeros((4, 1, 1), ms.int32)
        >>> ms.ops.nsa_select_attention(
        ...     x, x, x, blocks, 0.7, 1, 2, 1, actual_seq_qlen=[4], actual_seq_kvlen=[4]
        ... )[0].shape
        (4, 1, 2)
    """
    owner = "nsa_select_attention"
    group = _heads(query, key, value, owner)
    if atten_mask is not None:
        raise ValueError(complaint("atten_mask", owner, "None", "a mask"))
    if check_positive_int(head_num, "head_num", owner) != query.shape[1]:
        raise RuntimeError(complaint("head_num", owner, f"{query.shape[1]}, as 'query' has", head_num))
    scale = check_number(scale_value, "scale_value", owner)
    size = check_positive_int(select_block_size, "select_block_size", owner)
    count = check_positive_int(select_block_count, "select_block_count", owner)
    q_ends = sequence_ends(actual_seq_qlen, query.shape[0], "actual_seq_qlen", owner)
    k_ends = sequence_ends(actual_seq_kvlen, key.shape[0], "actual_seq_kvlen", owner)
    _batches(owner, actual_seq_qlen=q_ends, actual_seq_kvlen=k_ends)
    blocks = integral(tensor(topk_indices, "topk_indices", owner).array(), "topk_indices", owner).astype(np.int64)
    rows, shared = query.shape[0], key.shape[1]
    if blocks.shape != (rows, shared, count):
        raise RuntimeError(complaint("topk_indices", owner, f"of shape {(rows, shared, count)}", blocks.shape))
    which = np.repeat(np.arange(len(q_ends) - 1), np.diff(q_ends))
    begins, lengths = np.array(k_ends)[which], np.diff(k_ends)[which]
    if blocks.size and (blocks.min() < 0 or (blocks > (lengths // size)[:, None, None]).any()):
        raise RuntimeError(complaint("topk_indices", owner, "numbers of blocks of the sequence", blocks.tolist()))
    places = (blocks[..., None] * size + np.arange(size)).reshape(rows, shared, -1)
    hidden = places >= lengths[:, None, None]
    places = np.where(hidden, 0, places) + begins[:, None, None]
    q = ops.reshape(query, (rows, shared, group, -1))
    out, largest, total = attend_to(q, key, value, places, hidden, scale)
    shape = (rows, query.shape[1], -1)
    return ops.reshape(out, shape), _eight(ops.reshape(largest, shape)), _eight(ops.reshape(total, shape))


def attend_to(
    q: Tensor, key: Tensor, value: Tensor, places: np.ndarray, hidden: np.ndarray, scale: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Attention of (T, N, group, D) to the keys (T2, N, D) at places (T, N, L), but for the hidden ones."""
    heads = key.shape[1]
    flat = wrap(places * heads + np.arange(heads)[:, None])
    wide = wide_type(q)
    k, v = (ops.cast(ops.gather(ops.reshape(x, (-1, x.shape[-1])), flat, 0), wide) for x in (key, value))
    scores = ops.BatchMatMul(transpose_b=True)(ops.cast(q, wide), k) * scale
    weights, largest, total = softmax_parts(scores, hidden[:, :, None])
    return ops.cast(ops.BatchMatMul()(weights, v), q.dtype), largest, total
