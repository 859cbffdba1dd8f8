"""Attention to single keys that an indexer chose, as DeepSeek-V3.2 has it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import (
    check_choice,
    check_int_range,
    check_number,
    check_positive_int,
    check_string,
    complaint,
)
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import integers, integral, one_dtype, tensor
from dist_ms.ops.language_models.native_sparse_attention import attend_to, sequence_ends, wide_type

__all__ = ["lightning_indexer", "sparse_flash_attention"]

_FAR = 2**63 - 1


def _sequences(layout: str, x: Tensor, lengths: Any, name: str, owner: str) -> list[tuple[int, int]]:
    """Begin and end of each sequence's rows that count in (B, S, ...) or (T, ...) seen as rows."""
    if layout == "TND":
        if lengths is None:
            raise RuntimeError(complaint(name, owner, "given in layout TND", None))
        ends = sequence_ends(lengths, x.shape[0], name, owner)
        return list(pairwise(ends))
    rows, most = x.shape[:2]
    found = [most] * rows if lengths is None else list(integers(lengths, name, owner))
    if len(found) != rows or not all(0 <= n <= most for n in found):
        raise RuntimeError(complaint(name, owner, f"{rows} ints from 0 to {most}", lengths))
    return [(row * most, row * most + n) for row, n in enumerate(found)]


def _paged(key: Tensor, table: Any, lengths: Any, name: str, owner: str) -> tuple[np.ndarray, list[int]]:
    """Where the keys of each row lie in blocks seen as rows, (B, most), and how many each has."""
    if table is None or lengths is None:
        raise RuntimeError(complaint(f"block_table' and '{name}", owner, "given in layout PA_BSND", None))
    blocks = integral(tensor(table, "block_table", owner).array(), "block_table", owner).astype(np.int64)
    size = key.shape[1]
    found = list(integers(lengths, name, owner))
    if blocks.ndim != 2 or len(found) != len(blocks) or any(not 0 <= n <= blocks.shape[1] * size for n in found):
        raise RuntimeError(complaint("block_table", owner, f"a row of blocks for each of {found} keys", blocks.shape))
    return (blocks[:, :, None] * size + np.arange(size)).reshape(len(blocks), -1), found


def _layouts(layout_query: str, layout_key: str, name: str, owner: str) -> None:
    check_string(layout_query, "layout_query", owner, ["BSND", "TND"])
    check_string(layout_key, name, owner, ["BSND", "TND", "PA_BSND"])
    if layout_key != "PA_BSND" and layout_key != layout_query:
        raise RuntimeError(complaint(name, owner, f"'{layout_query}' or 'PA_BSND'", repr(layout_key)))


def _flat(x: Tensor, layout: str) -> Tensor:
    """(rows, N, ...) of a tensor in a layout."""
    return x if layout == "TND" else ops.reshape(x, (-1, *x.shape[2:]))


def lightning_indexer(
    query: Tensor,
    key: Tensor,
    weights: Tensor,
    *,
    actual_seq_lengths_query: Any = None,
    actual_seq_lengths_key: Any = None,
    block_table: Tensor | None = None,
    layout_query: str = "BSND",
    layout_key: str = "BSND",
    sparse_count: int = 2048,
    sparse_mode: int = 3,
    pre_tokens: int = _FAR,
    next_tokens: int = _FAR,
    return_value: bool = False,
) -> tuple[Tensor, Tensor]:
    """The keys of the largest sum over heads of weight times ReLU(query key), for each query.

    DeepSeek-AI, "DeepSeek-V3.2-Exp: Boosting Long-Context Efficiency with DeepSeek Sparse Attention", 2025.

    Args:
        query: (B, S1, N1, D), or (T1, N1, D) in layout TND; floats.
        key: (B, S2, 1, D), (T2, 1, D), or blocks (count, size, 1, D) in layout PA_BSND.
        weights: (B, S1, N1) or (T1, N1), of each head.
        actual_seq_lengths_query: how many queries of each row count; in layout TND the ends of the sequences.
        actual_seq_lengths_key: likewise; needed in layouts TND and PA_BSND.
        block_table: (B, blocks) which blocks hold a row's keys, in layout PA_BSND.
        layout_query: "BSND" or "TND".
        layout_key: the same, or "PA_BSND".
        sparse_count: how many keys are chosen.
        sparse_mode: 0: all keys; 3: query i sees keys up to i + keys - queries.
        pre_tokens, next_tokens: their defaults, as in MindSpore.
        return_value: return the sums, too.

    Returns:
        tuple of the keys' places in their sequence, (B, S1, 1, sparse_count) or (T1, 1, sparse_count) int32, the best
        first and -1 where there are no more; and the sums in the type of `query`, -inf there, or an empty Tensor.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if an option is another.
        RuntimeError: if shapes or lengths do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> key = ms.Tensor([[[[1.0]], [[3.0]], [[2.0]]]])
        >>> query, weights = ms.ops.ones((1, 1, 1, 1)), ms.ops.ones((1, 1, 1))
        >>> print(ms.ops.lightning_indexer(query, key, weights, sparse_count=2)[0])
        [[[[1 2]]]]
    """
    owner = "lightning_indexer"
    one_dtype(owner, "fV", query=query, key=key, weights=weights)
    _layouts(layout_query, layout_key, "layout_key", owner)
    count = check_positive_int(sparse_count, "sparse_count", owner)
    _causal(sparse_mode, pre_tokens, next_tokens, owner)
    paged = layout_key == "PA_BSND"
    if return_value and paged:
        raise ValueError(complaint("return_value", owner, "False in layout PA_BSND", True))
    q, k, w = _flat(query, layout_query), _flat(key, layout_key), _flat(weights, layout_query)
    if q.ndim != 3 or k.ndim != 3 or k.shape[1:] != (1, q.shape[2]) or w.shape != q.shape[:2]:
        found = f"{query.shape}, {key.shape} and {weights.shape}"
        raise RuntimeError(complaint("query", owner, "(..., N, D), 'key' (..., 1, D), 'weights' (..., N)", found))
    rows = _sequences(layout_query, query, actual_seq_lengths_query, "actual_seq_lengths_query", owner)
    keys = _keys(layout_key, key, block_table, actual_seq_lengths_key, "actual_seq_lengths_key", owner)
    if len(keys) != len(rows):
        raise RuntimeError(complaint("key", owner, f"of {len(rows)} sequences, as 'query'", len(keys)))
    places = np.full((q.shape[0], count), -1, np.int32)
    values = ops.full((q.shape[0], count), -np.inf, dtype=wide_type(query)) if return_value else None
    for (begin, end), where in zip(rows, keys):
        if end == begin or not len(where):
            continue
        qs, ks = ops.cast(q[begin:end], wide_type(query)), ops.cast(ops.gather(k, wrap(where), 0), wide_type(query))
        sums = ops.relu(ops.einsum("thd,sd->ths", qs, ks[:, 0]))
        scores = ops.sum(sums * ops.expand_dims(ops.cast(w[begin:end], wide_type(query)), -1), 1)
        hidden = _unseen(end - begin, len(where), sparse_mode)
        array = np.where(hidden, -np.inf, scores.asnumpy())
        order = np.argsort(-array, -1, kind="stable")[:, :count]
        seen = ~np.take_along_axis(hidden, order, -1)
        places[begin:end, : order.shape[1]] = np.where(seen, order, -1)
        if values is not None:
            found = ops.gather_elements(scores, 1, wrap(order))
            found = ops.masked_fill(found, wrap(~seen), -np.inf)
            padded = ops.pad(found, (0, count - order.shape[1]), value=-np.inf)
            values = ops.concat([values[:begin], padded, values[end:]], 0)
    shape = (*(query.shape[:1] if layout_query == "TND" else query.shape[:2]), 1, count)
    out = wrap(places.reshape(shape))
    return out, (wrap(np.empty(0, query.dtype.np)) if values is None else _shaped(values, shape, query))


def _shaped(values: Tensor, shape: tuple, like: Tensor) -> Tensor:
    return ops.cast(ops.reshape(values, shape), like.dtype)


def _causal(mode: int, pre_tokens: int, next_tokens: int, owner: str) -> None:
    check_choice(mode, "sparse_mode", owner, (0, 3))
    for name, found in (("pre_tokens", pre_tokens), ("next_tokens", next_tokens)):
        if found != _FAR:
            raise ValueError(complaint(name, owner, f"{_FAR}", found))


def _unseen(queries: int, keys: int, mode: int) -> np.ndarray:
    """Which keys a query does not see."""
    if mode == 0:
        return np.zeros((queries, keys), bool)
    return np.arange(keys) > np.arange(queries)[:, None] + keys - queries


def _keys(layout: str, key: Tensor, table: Any, lengths: Any, name: str, owner: str) -> list[np.ndarray]:
    """Where the keys of each sequence lie among all rows of keys."""
    if layout == "PA_BSND":
        places, found = _paged(key, table, lengths, name, owner)
        return [row[:n] for row, n in zip(places, found)]
    return [np.arange(*pair) for pair in _sequences(layout, key, lengths, name, owner)]


def sparse_flash_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    sparse_indices: Tensor,
    scale_value: float,
    *,
    block_table: Tensor | None = None,
    actual_seq_lengths_query: Any = None,
    actual_seq_lengths_kv: Any = None,
    query_rope: Tensor | None = None,
    key_rope: Tensor | None = None,
    sparse_block_size: int = 1,
    layout_query: str = "BSND",
    layout_kv: str = "BSND",
    sparse_mode: int = 3,
    pre_tokens: int = _FAR,
    next_tokens: int = _FAR,
    attention_mode: int = 0,
    return_softmax_lse: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """Attention of each query to the blocks of keys that `lightning_indexer` chose.

    Args:
        query: (B, S1, N1, D), or (T1, N1, D) in layout TND; floats.
        key: (B, S2, 1, D), (T2, 1, D), or blocks (count, size, 1, D) in layout PA_BSND.
        value: like `key`.
        sparse_indices: int32 (B, S1, 1, K) or (T1, 1, K): numbers of blocks in the sequence, below 0 for none.
        scale_value: of the products of queries and keys.
        block_table: (B, blocks) which blocks hold a row's keys, in layout PA_BSND.
        actual_seq_lengths_query: how many queries of each row count; in layout TND the ends of the sequences.
        actual_seq_lengths_kv: likewise; needed in layouts TND and PA_BSND.
        query_rope, key_rope: parts with positions, whose products are added to the scores; with `attention_mode` 2.
        sparse_block_size: how many keys a number in `sparse_indices` stands for.
        layout_query: "BSND" or "TND".
        layout_kv: the same, or "PA_BSND".
        sparse_mode: 0: all chosen keys; 3: query i sees keys up to i + keys - queries.
        pre_tokens, next_tokens: their defaults, as in MindSpore.
        attention_mode: 0, or 2 with `query_rope` and `key_rope`.
        return_softmax_lse: return the parts of the softmax, too; not in layout PA_BSND.

    Returns:
        tuple of the attention, of the shape of `query` (0 for queries that do not count); and the largest score and the
        sum of each softmax, (B, 1, S1, N1) or (1, T1, N1) float32, or empty Tensors.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if an option is another.
        RuntimeError: if shapes, lengths or layouts do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.ops.ones((1, 3, 1, 2))
        >>> chosen = ms.Tensor([[[[0, -1]], [[1, 0]], [[2, 1]]]])
        >>> ms.ops.sparse_flash_attention(x, x, x, chosen, 0.7)[0].shape
        (1, 3, 1, 2)
    """
    owner = "sparse_flash_attention"
    one_dtype(owner, "fV", query=query, key=key, value=value)
    _layouts(layout_query, layout_kv, "layout_kv", owner)
    scale = check_number(scale_value, "scale_value", owner)
    size = check_int_range(sparse_block_size, "sparse_block_size", owner, 1, 128)
    _causal(sparse_mode, pre_tokens, next_tokens, owner)
    if attention_mode not in (0, 2) or ((query_rope is None, key_rope is None) != (attention_mode == 0,) * 2):
        wanted = "0, or 2 with 'query_rope' and 'key_rope'"
        raise ValueError(complaint("attention_mode", owner, wanted, attention_mode))
    paged = layout_kv == "PA_BSND"
    if return_softmax_lse and paged:
        raise ValueError(complaint("return_softmax_lse", owner, "False in layout PA_BSND", True))
    q, k, v = _flat(query, layout_query), _flat(key, layout_kv), _flat(value, layout_kv)
    if q.ndim != 3 or k.ndim != 3 or k.shape[1] != 1 or k.shape != v.shape or k.shape[2] != q.shape[2]:
        found = f"{query.shape}, {key.shape} and {value.shape}"
        raise RuntimeError(complaint("query", owner, "(..., N, D), 'key' and 'value' (..., 1, D)", found))
    if query_rope is not None and key_rope is not None:
        one_dtype(owner, query=query, query_rope=query_rope, key_rope=key_rope)
        q = ops.concat((q, _flat(query_rope, layout_query)), -1)
        k = ops.concat((k, _flat(key_rope, layout_kv)), -1)
    rows = _sequences(layout_query, query, actual_seq_lengths_query, "actual_seq_lengths_query", owner)
    keys = _keys(layout_kv, key, block_table, actual_seq_lengths_kv, "actual_seq_lengths_kv", owner)
    if len(keys) != len(rows):
        raise RuntimeError(complaint("key", owner, f"of {len(rows)} sequences, as 'query'", len(keys)))
    chosen = integral(tensor(sparse_indices, "sparse_indices", owner).array(), "sparse_indices", owner)
    if chosen.shape[:-1] != (*query.shape[:-2], 1):
        raise RuntimeError(
            complaint("sparse_indices", owner, f"of shape {(*query.shape[:-2], 1)} + (K,)", chosen.shape)
        )
    chosen = chosen.reshape(len(q), -1).astype(np.int64)
    places = (chosen[..., None] * size + np.arange(size)).reshape(len(q), -1)
    hidden = np.repeat(chosen < 0, size, -1)
    for (begin, end), where in zip(rows, keys):
        part = slice(begin, end)
        queries = np.arange(end - begin)[:, None]
        last = queries + len(where) - (end - begin) if sparse_mode == 3 else len(where)
        hidden[part] |= (places[part] > last) | (places[part] >= len(where))
        safe = np.where(hidden[part], 0, places[part])
        places[part] = where[safe] if len(where) else 0
    counting = np.zeros(len(q), bool)
    for begin, end in rows:
        counting[begin:end] = True
    hidden |= ~counting[:, None]
    places = np.where(hidden, 0, places)
    out, largest, total = attend_to(ops.expand_dims(q, 1), k, v, places[:, None], hidden[:, None], scale)
    out = ops.reshape(out, query.shape)
    if not return_softmax_lse:
        return out, wrap(np.empty(0, np.float32)), wrap(np.empty(0, np.float32))
    parts = []
    for x in (largest, total):  # (T, 1, N1, 1)
        x = ops.stop_gradient(ops.cast(x, wide_type(q)))
        by_row = ops.reshape(x, (1, *q.shape[:2]) if layout_query == "TND" else (*query.shape[:2], 1, q.shape[1]))
        parts.append(by_row if layout_query == "TND" else ops.transpose(by_row, (0, 2, 1, 3)))
    return out, parts[0], parts[1]
