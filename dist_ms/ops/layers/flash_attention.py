"""flash_attention_score: attention in the layouts and with the masks of MindSpore's operator."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms._ext.tape import Kept
from dist_ms.common.checks import check_choice, check_string
from dist_ms.common.tensor import Tensor
from dist_ms.ops import arguments
from dist_ms.ops.layers.attention import Scores, attend, next_seed

__all__ = ["flash_attention_score"]

_NAME = "flash_attention_score"
_LAYOUTS = ("BSH", "BNSD", "SBH", "BSND", "TND")
_FAR = 2147483647
_COMPRESSED = (2048, 2048)


def flash_attention_score(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    head_num: int,
    real_shift: Tensor | None = None,
    drop_mask: Tensor | None = None,
    padding_mask: Tensor | None = None,
    attn_mask: Tensor | None = None,
    prefix: Any = None,
    actual_seq_qlen: Any = None,
    actual_seq_kvlen: Any = None,
    keep_prob: float = 1.0,
    scalar_value: float = 1.0,
    pre_tokens: int = _FAR,
    next_tokens: int = _FAR,
    inner_precise: int = 0,
    input_layout: str = "BSH",
    sparse_mode: int = 0,
) -> Tensor:
    """Return dropout(softmax(scale q k^T + real_shift, masked)) v, without ever holding all scores.

    Blocks of queries meet blocks of keys, with the running largest score and sum of Milakov and Gimelshein,
    "Online normalizer calculation for softmax", 2018; the gradient makes the scores again (Dao, Fu, Ermon, Rudra
    and Re, "FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness", 2022). Memory grows
    with the lengths S1 and S2, not with their product. A query that no key counts for gives 0.

    Args:
        query: (B, S1, H1), (B, N1, S1, D), (S1, B, H1), (B, S1, N1, D) or (T1, N1, D); floats, float32 and float64
            too; the 16-bit types are computed in float32.
        key: (B, S2, H2), (B, N2, S2, D), (S2, B, H2), (B, S2, N2, D) or (T2, N2, D), of the dtype of `query`; N2
            divides N1.
        value: like `key`.
        head_num: N1.
        real_shift: added to the scores: (B or 1, N1, S1, S2) of the dtype of `query`.
        drop_mask: (B, N1, S1, S2 // 8) uint8: a bit per weight, lowest first, 1 where it is kept. Without it and
            with `keep_prob` below 1, weights are drawn by the global seed.
        padding_mask: must be None, as in MindSpore.
        attn_mask: bool or uint8, true where a key does not count: (B, N1, S1, S2), (B, 1, S1, S2) or (S1, S2);
            (2048, 2048) for `sparse_mode` 2 to 4, where it is not read and may be left out.
        prefix: (B,) how many keys count for every query, with `sparse_mode` 5.
        actual_seq_qlen: ends of the queries of each sequence in T1, with layout TND.
        actual_seq_kvlen: ends of the keys of each sequence in T2.
        keep_prob: probability to keep a weight, in (0, 1].
        scalar_value: scale; usually 1 / sqrt(D).
        pre_tokens: how many keys before its own a query sees, with `sparse_mode` 4, or 0 and a mask.
        next_tokens: how many keys after its own a query sees, likewise.
        inner_precise: not used, as in MindSpore.
        input_layout: "BSH", "BNSD", "SBH", "BSND" or "TND".
        sparse_mode: 0: `attn_mask` and the band of `pre_tokens` and `next_tokens`; 1: `attn_mask` alone; 2: query i
            sees keys up to i; 3: keys up to i + S2 - S1; 4: the band, counted from the last query and key; 5: as 3,
            and the first `prefix` keys.

    Returns:
        Tensor of the shape and dtype of `query`.

    Raises:
        TypeError: if an argument has the wrong type, or dtypes differ.
        ValueError: if `input_layout` is another one, or a shape or number does not fit.
        RuntimeError: if the number of heads, the lengths D, the shape of `attn_mask` or `sparse_mode` is not right.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.ops.ones((2, 4, 64))
        >>> output = ms.ops.flash_attention_score(x, x, x, head_num=4, scalar_value=0.25, sparse_mode=2)
        >>> print(output.shape)
        (2, 4, 64)
    """
    return scored(
        query,
        key,
        value,
        head_num,
        (real_shift, drop_mask, padding_mask, attn_mask, prefix),
        (actual_seq_qlen, actual_seq_kvlen),
        (keep_prob, scalar_value, pre_tokens, next_tokens),
        input_layout,
        sparse_mode,
    )[0]


def scored(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    head_num: int,
    masks: tuple,
    lengths: tuple,
    numbers: tuple,
    input_layout: str,
    sparse_mode: int,
    seed: int | None = None,
) -> tuple[Tensor, list[Kept]]:
    """What `flash_attention_score` returns, and the largest score and inverse sum of each query, per sequence.

    Dropped weights are drawn from `seed`, by default from the global one.
    """
    real_shift, drop_mask, padding_mask, attn_mask, prefix = masks
    keep_prob, scalar_value, pre_tokens, next_tokens = numbers
    sums: list[Kept] = []
    arguments.one_dtype(_NAME, "fV", query=query, key=key, value=value)
    heads = arguments.integer(head_num, "head_num", _NAME)
    if heads <= 0:
        raise RuntimeError(f"For '{_NAME}', 'head_num' must be above 0, but got {heads}.")
    check_string(input_layout, "input_layout", _NAME)
    check_choice(input_layout, "input_layout", _NAME, _LAYOUTS)
    mode = arguments.integer(sparse_mode, "sparse_mode", _NAME)
    if not 0 <= mode <= 5:
        raise RuntimeError(f"For '{_NAME}', 'sparse_mode' must be in [0, 5], but got {mode}.")
    if padding_mask is not None:
        raise ValueError(f"For '{_NAME}', 'padding_mask' must be None, but got {type(padding_mask).__name__}.")
    keep_prob = arguments.number(keep_prob, "keep_prob", _NAME)
    if not 0 < keep_prob <= 1:
        raise ValueError(f"For '{_NAME}', 'keep_prob' must be in (0, 1], but got {keep_prob}.")
    tokens = (arguments.integer(pre_tokens, "pre_tokens", _NAME), arguments.integer(next_tokens, "next_tokens", _NAME))
    scale = arguments.number(scalar_value, "scalar_value", _NAME)
    for name, given in (("real_shift", real_shift), ("drop_mask", drop_mask), ("attn_mask", attn_mask)):
        if given is not None:
            arguments.tensor(given, name, _NAME)
    masks = (real_shift, drop_mask, attn_mask, prefix, keep_prob, scale, tokens, seed, mode)
    if input_layout == "TND":
        return _packed(query, key, value, heads, lengths, masks, sums), sums
    if lengths != (None, None):
        raise ValueError(
            f"For '{_NAME}', 'actual_seq_qlen' and 'actual_seq_kvlen' must be None unless 'input_layout' is "
            f"'TND', but it is '{input_layout}'."
        )
    q = _by_head(query, input_layout, heads, "query")
    groups = _groups(query, key, input_layout, heads)
    k, v = _by_head(key, input_layout, groups, "key"), _by_head(value, input_layout, groups, "value")
    return _as_given(_attention(q, k, v, *masks, sums), input_layout, query.shape), sums


def _by_head(x: Tensor, layout: str, heads: int, name: str) -> Tensor:
    """A view (B, N, S, D) of an operand."""
    wanted = 4 if "D" in layout else 3
    if x.ndim != wanted:
        raise ValueError(
            f"For '{_NAME}', '{name}' must have {wanted} dimensions in layout {layout}, but got shape {x.shape}."
        )
    if "H" in layout:
        if not heads or x.shape[2] % heads:
            raise RuntimeError(
                f"For '{_NAME}', the last length of '{name}' must be a multiple of its {heads} heads, "
                f"but got shape {x.shape}."
            )
        x = ops.reshape(x, (*x.shape[:2], heads, x.shape[2] // heads))
    elif x.shape[layout.index("N")] != heads:
        raise RuntimeError(f"For '{_NAME}', '{name}' must have {heads} heads, but got shape {x.shape} in {layout}.")
    order = {"BNSD": (0, 1, 2, 3), "SBH": (1, 2, 0, 3)}.get(layout, (0, 2, 1, 3))
    return x if order == (0, 1, 2, 3) else ops.transpose(x, order)


def _groups(query: Tensor, key: Tensor, layout: str, heads: int) -> int:
    """N2, the heads of keys and values."""
    if key.ndim != query.ndim:
        raise ValueError(
            f"For '{_NAME}', 'key' must have the {query.ndim} dimensions of 'query', but got shape {key.shape}."
        )
    if "H" in layout:
        length = query.shape[2] // heads
        groups = key.shape[2] // length if length else heads
    else:
        groups = key.shape[layout.index("N")]
    if not groups or heads % groups:
        raise RuntimeError(
            f"For '{_NAME}', 'head_num' must be a multiple of the heads of 'key', but got {heads} and {groups}."
        )
    return groups


def _as_given(x: Tensor, layout: str, shape: tuple) -> Tensor:
    """(B, N, S, D) in the layout of the query."""
    if layout == "BNSD":
        return x
    return ops.reshape(ops.transpose(x, (2, 0, 1, 3) if layout == "SBH" else (0, 2, 1, 3)), shape)


def _packed(query: Tensor, key: Tensor, value: Tensor, heads: int, lengths: tuple, masks: tuple, sums: list) -> Tensor:
    """Attention of sequences that lie one after the other, (T, N, D)."""
    real_shift, drop_mask, _, prefix, *_, mode = masks
    if mode not in (0, 2, 3) or (mode == 0 and masks[2] is not None):
        raise ValueError(f"For '{_NAME}', 'sparse_mode' must be 2 or 3 with a mask in layout TND, but got {mode}.")
    for name, given in (("real_shift", real_shift), ("drop_mask", drop_mask), ("prefix", prefix)):
        if given is not None:
            raise ValueError(f"For '{_NAME}', '{name}' must be None in layout TND here, but got one.")
    ends = []
    for name, given, x in zip(("actual_seq_qlen", "actual_seq_kvlen"), lengths, (query, key)):
        found = (0,) if given is None else (0, *arguments.integers(given, name, _NAME))
        if given is None or found[-1] != x.shape[0] or list(found) != sorted(found):
            raise ValueError(f"For '{_NAME}', '{name}' must rise to {x.shape[0]} in layout TND, but got {given}.")
        ends.append(found)
    if len(ends[0]) != len(ends[1]):
        raise ValueError(
            f"For '{_NAME}', 'actual_seq_qlen' and 'actual_seq_kvlen' must have one length, "
            f"but got {len(ends[0]) - 1} and {len(ends[1]) - 1}."
        )
    groups = _groups(query, key, "TND", heads)
    parts = []
    for q0, q1, k0, k1 in zip(ends[0], ends[0][1:], ends[1], ends[1][1:]):
        given = ((query[q0:q1], heads, "query"), (key[k0:k1], groups, "key"), (value[k0:k1], groups, "value"))
        operands = [_by_head(ops.expand_dims(x, 0), "BSND", n, name) for x, n, name in given]
        parts.append(_as_given(_attention(*operands, *masks, sums), "BSND", (q1 - q0, *query.shape[1:])))
    return ops.concat(parts, 0)


def _attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    real_shift: Tensor | None,
    drop_mask: Tensor | None,
    attn_mask: Tensor | None,
    prefix: Any,
    keep_prob: float,
    scale: float,
    tokens: tuple,
    seed: int | None,
    mode: int,
    sums: list,
) -> Tensor:
    """Attention of (B, N, S, D)."""
    if q.shape[3] != k.shape[3] or k.shape != v.shape:
        raise RuntimeError(
            f"For '{_NAME}', 'key' and 'value' must have one shape, and the length D of 'query', but got (B, N, S, D) "
            f"of {q.shape}, {k.shape} and {v.shape}."
        )
    if q.shape[0] != k.shape[0]:
        raise ValueError(f"For '{_NAME}', 'key' must have the batch of 'query', {q.shape[0]}, but got {k.shape[0]}.")
    shape = (*q.shape[:3], k.shape[2])
    if real_shift is not None:
        arguments.one_dtype(_NAME, query=q, real_shift=real_shift)
        if real_shift.shape not in (shape, (1, *shape[1:])):
            raise ValueError(
                f"For '{_NAME}', 'real_shift' must have shape {shape} or {(1, *shape[1:])}, but got {real_shift.shape}."
            )
    kept = None
    if drop_mask is not None:
        kept = drop_mask.array()
        wanted = (*shape[:3], shape[3] // 8)
        if kept.dtype != np.uint8:
            raise TypeError(f"For '{_NAME}', 'drop_mask' must be uint8, but got {drop_mask.dtype}.")
        if shape[3] % 8 or kept.shape != wanted:
            raise ValueError(
                f"For '{_NAME}', 'drop_mask' must have shape {wanted} and S2 be a multiple of 8, "
                f"but got {kept.shape} and {shape[3]}."
            )
        if keep_prob == 1:
            raise ValueError(f"For '{_NAME}', 'drop_mask' must be None where 'keep_prob' is 1.")
    low, high = _band(mode, attn_mask is not None, tokens, shape)
    sums.append(Kept())
    return attend(
        q,
        k,
        v,
        real_shift,
        Scores(
            scale,
            _hidden(attn_mask, mode, shape),
            _prefix(prefix, mode, shape),
            low,
            high,
            keep_prob,
            kept,
            (next_seed() if seed is None else seed) if keep_prob < 1 and kept is None else None,
        ),
        sums[-1],
    )


def _band(mode: int, masked: bool, tokens: tuple, shape: tuple) -> tuple[int | None, int | None]:
    """The least and the largest j - i for which query i sees key j; None for no limit."""
    shift = shape[3] - shape[2]
    if mode == 2:
        return None, 0
    if mode in (3, 5):
        return None, shift
    if mode == 1 or (mode == 0 and not masked):
        return None, None
    before, after = tokens
    if before + after < 0:
        raise ValueError(f"For '{_NAME}', the band of 'pre_tokens' and 'next_tokens' must not be empty, got {tokens}.")
    shift = shift if mode == 4 else 0
    return shift - before, shift + after


def _hidden(mask: Tensor | None, mode: int, shape: tuple) -> np.ndarray | None:
    """The mask as the kernel takes it; none where the mode says all."""
    if mask is None:
        if mode == 1:
            raise RuntimeError(f"For '{_NAME}', 'attn_mask' must be given where 'sparse_mode' is {mode}.")
        return None
    array = mask.array()
    if array.dtype not in (np.bool_, np.uint8):
        raise TypeError(f"For '{_NAME}', 'attn_mask' must be bool or uint8, but got {mask.dtype}.")
    if mode in (2, 3, 4):
        if array.shape != _COMPRESSED:
            raise RuntimeError(
                f"For '{_NAME}', 'attn_mask' must have shape {_COMPRESSED} or be None where 'sparse_mode' is {mode}, "
                f"but got {array.shape}."
            )
        return None
    wanted = [shape, (shape[0], 1, *shape[2:])] + ([shape[2:]] if mode < 5 else [])
    if array.shape not in wanted:
        raise RuntimeError(
            f"For '{_NAME}', 'attn_mask' must have a shape of {wanted} where 'sparse_mode' is {mode}, "
            f"but got {array.shape}."
        )
    return np.ascontiguousarray(array).view(np.uint8).reshape((1,) * (4 - array.ndim) + array.shape)


def _prefix(prefix: Any, mode: int, shape: tuple) -> np.ndarray | None:
    if mode != 5:
        return None
    found = () if prefix is None else arguments.integers(prefix, "prefix", _NAME)
    if len(found) != shape[0]:
        raise ValueError(
            f"For '{_NAME}', 'prefix' must hold {shape[0]} ints where 'sparse_mode' is 5, but got {prefix}."
        )
    return np.array(found, np.int64)
