"""Attention in the forms of MindSpore's newer functions for training and for inference."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_bool, check_int, check_string, complaint
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import tensor
from dist_ms.ops.layers.attention import next_seed
from dist_ms.ops.layers.flash_attention import scored

__all__ = ["fused_infer_attention_score", "speed_fusion_attention"]

_FAR = 2147483647


def speed_fusion_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    head_num: int,
    input_layout: str,
    *,
    pse: Tensor | None = None,
    padding_mask: Tensor | None = None,
    atten_mask: Tensor | None = None,
    scale: float = 1.0,
    keep_prob: float = 1.0,
    pre_tokens: int = _FAR,
    next_tokens: int = _FAR,
    inner_precise: int = 0,
    prefix: Any = None,
    actual_seq_qlen: Any = None,
    actual_seq_kvlen: Any = None,
    sparse_mode: int = 0,
    gen_mask_parallel: bool = True,
    sync: bool = False,
    pse_type: int = 1,
    q_start_idx: Any = None,
    kv_start_idx: Any = None,
) -> tuple[Tensor, ...]:
    """Attention for training, with the parts of its softmax; see `flash_attention_score`, whose arguments these are.

    Args:
        query, key, value, head_num, input_layout: as there.
        pse: its `real_shift`, times `scale` with `pse_type` 1.
        padding_mask: None.
        atten_mask: its `attn_mask`.
        scale: its `scalar_value`.
        keep_prob, pre_tokens, next_tokens, inner_precise, prefix, actual_seq_qlen, actual_seq_kvlen, sparse_mode: as
            there.
        gen_mask_parallel, sync: accepted; what is dropped is drawn with the weights.
        pse_type: 0: `pse` is added to the scaled products; 1: to the products, before they are scaled.
        q_start_idx, kv_start_idx: None: they are for a `pse` that is generated.

    Returns:
        tuple of the attention; the largest score and the sum of each softmax, (B, N1, S1, 8) or (T1, N1, 8) float32; an
        empty Tensor; and the seed, the offset and the number of weights of what was dropped, ints.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if an option is another, or a shape or number does not fit.
        RuntimeError: as there.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.ops.ones((2, 4, 64))
        >>> out, largest, total, *_ = ms.ops.speed_fusion_attention(x, x, x, 4, "BSH", scale=0.25)
        >>> out.shape, largest.shape, float(total[0, 0, 0, 0])
        ((2, 4, 64), (2, 4, 4, 8), 4.0)
    """
    owner = "speed_fusion_attention"
    if isinstance(pse_type, bool) or not isinstance(pse_type, int):
        raise TypeError(complaint("pse_type", owner, "an int", pse_type))
    if pse_type not in (0, 1):
        raise ValueError(complaint("pse_type", owner, "0 or 1", pse_type, "Compute the ALiBi bias and pass it."))
    for name, given in (("q_start_idx", q_start_idx), ("kv_start_idx", kv_start_idx)):
        if given is not None:
            raise ValueError(complaint(name, owner, "None with a 'pse' that is given", given))
    check_bool(gen_mask_parallel, "gen_mask_parallel", owner)
    check_bool(sync, "sync", owner)
    if pse is not None:
        pse = ops.cast(tensor(pse, "pse", owner) * scale, pse.dtype) if pse_type == 1 else tensor(pse, "pse", owner)
    seed = next_seed() if keep_prob != 1 else 0
    out, sums = scored(
        query,
        key,
        value,
        head_num,
        (pse, None, padding_mask, atten_mask, prefix),
        (actual_seq_qlen, actual_seq_kvlen),
        (keep_prob, scale, pre_tokens, next_tokens),
        input_layout,
        sparse_mode,
        seed,
    )
    largest, inverse = _statistics([kept.value for kept in sums], input_layout == "TND")
    total = np.divide(1, inverse, out=np.zeros_like(inverse), where=(inverse != 0) & np.isfinite(inverse))
    eight = [wrap(np.repeat(x[..., None], 8, -1).astype(np.float32)) for x in (largest, total)]
    weights = math.prod(largest.shape) * key.shape[{"BSH": 1, "BNSD": 2, "SBH": 0, "BSND": 1, "TND": 0}[input_layout]]
    return out, *eight, wrap(np.empty(0, query.dtype.np)), seed, 0, weights if keep_prob != 1 else 0


def _statistics(found: list[np.ndarray], packed: bool) -> np.ndarray:
    """The largest scores and inverse sums, (2, B, N, S) or (2, T, N)."""
    if not packed:
        return found[0]
    return np.concatenate([each[:, 0].transpose(0, 2, 1) for each in found], 1)


def fused_infer_attention_score(
    query: Tensor,
    key: Any,
    value: Any,
    *,
    pse_shift: Tensor | None = None,
    atten_mask: Tensor | None = None,
    actual_seq_lengths: Any = None,
    actual_seq_lengths_kv: Any = None,
    dequant_scale1: Tensor | None = None,
    quant_scale1: Tensor | None = None,
    dequant_scale2: Tensor | None = None,
    quant_scale2: Tensor | None = None,
    quant_offset2: Tensor | None = None,
    antiquant_scale: Tensor | None = None,
    antiquant_offset: Tensor | None = None,
    key_antiquant_scale: Tensor | None = None,
    key_antiquant_offset: Tensor | None = None,
    value_antiquant_scale: Tensor | None = None,
    value_antiquant_offset: Tensor | None = None,
    block_table: Tensor | None = None,
    query_padding_size: Tensor | None = None,
    kv_padding_size: Tensor | None = None,
    key_shared_prefix: Tensor | None = None,
    value_shared_prefix: Tensor | None = None,
    actual_shared_prefix_len: Any = None,
    num_heads: int = 1,
    scale: float = 1.0,
    pre_tokens: int = _FAR,
    next_tokens: int = _FAR,
    input_layout: str = "BSH",
    num_key_value_heads: int = 0,
    sparse_mode: int = 0,
    inner_precise: int = 1,
    block_size: int = 0,
    antiquant_mode: int = 0,
    key_antiquant_mode: int = 0,
    value_antiquant_mode: int = 0,
    softmax_lse_flag: bool = False,
) -> tuple[Tensor, Tensor]:
    """Attention for inference: `incre_flash_attention` for one query per row, `prompt_flash_attention` for several.

    Args:
        query: (B, S1, H1), (B, N1, S1, D) or (B, S1, N1, D).
        key, value: (B, S2, H2) or likewise; a tuple or list of one such Tensor, or of one per row.
        pse_shift: added to the scores, (B or 1, N1, S1, S2).
        atten_mask: true where a key does not count, (S1, S2) with or without B, or B and 1, before them.
        actual_seq_lengths, actual_seq_lengths_kv: how many queries and keys of each row count; with one query the
            former is not read.
        block_table: (B, blocks of a row), with one query: which blocks (blocks, block_size, H2) hold its keys.
        num_heads: N1.
        scale: usually 1 / sqrt(D).
        pre_tokens, next_tokens, sparse_mode: as in `flash_attention_score`, with several queries.
        input_layout: "BSH", "BNSD", "BSND" or "BNSD_BSND": like BNSD, but the result is (B, S1, N1, D).
        num_key_value_heads, block_size, inner_precise, antiquant_mode, key_antiquant_mode, value_antiquant_mode:
            accepted; shapes say them, and nothing is quantised.
        softmax_lse_flag: False: the logarithms of the sums are not returned.
        dequant_scale1, quant_scale1, dequant_scale2, quant_scale2, quant_offset2, antiquant_scale, antiquant_offset,
            key_antiquant_scale, key_antiquant_offset, value_antiquant_scale, value_antiquant_offset,
            query_padding_size, kv_padding_size, key_shared_prefix, value_shared_prefix, actual_shared_prefix_len: None.

    Returns:
        tuple of the attention, like `query`, and a Tensor with one 0, as MindSpore has without the flag.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if an option is not built, or the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.ops.ones((1, 2, 3, 4))
        >>> ms.ops.fused_infer_attention_score(x, x, x, num_heads=2, scale=0.5, input_layout="BNSD")[0].shape
        (1, 2, 3, 4)
    """
    owner = "fused_infer_attention_score"
    given = dict(locals())
    quantised = [
        n for n in given if n.startswith(("dequant_", "quant_")) or n.endswith(("quant_scale", "quant_offset"))
    ]
    reserved = ["query_padding_size", "kv_padding_size", "key_shared_prefix", "value_shared_prefix"]
    for name in (*quantised, *reserved, "actual_shared_prefix_len"):
        if given[name] is not None:
            raise ValueError(complaint(name, owner, "None", type(given[name]).__name__))
    if check_bool(softmax_lse_flag, "softmax_lse_flag", owner):
        raise ValueError(complaint("softmax_lse_flag", owner, "False", True, "Use ops.speed_fusion_attention."))
    for name in ("inner_precise", "block_size", "antiquant_mode", "key_antiquant_mode", "value_antiquant_mode"):
        check_int(given[name], name, owner)
    check_string(input_layout, "input_layout", owner, ["BSH", "BNSD", "BSND", "BNSD_BSND"])
    turn = input_layout == "BSND"
    keys, values = (x if isinstance(x, (tuple, list)) else [x] for x in (key, value))
    queries = tensor(query, "query", owner)
    if turn:
        queries, *others = (ops.transpose(x, (0, 2, 1, 3)) for x in (query, *keys, *values))
        keys, values = others[: len(keys)], others[len(keys) :]
    layout = "BSH" if input_layout == "BSH" else "BNSD"
    common: dict[str, Any] = {"pse_shift": pse_shift, "num_heads": num_heads, "scale_value": scale}
    common |= {"input_layout": layout, "num_key_value_heads": num_key_value_heads}
    if queries.shape[1 if layout == "BSH" else 2] == 1:
        common |= {"actual_seq_lengths": actual_seq_lengths_kv, "block_table": block_table}
        out = ops.incre_flash_attention(queries, keys, values, atten_mask, **common)
    else:
        if block_table is not None:
            raise ValueError(complaint("block_table", owner, "None with several queries", "a Tensor"))
        whole = [x[0] if len(x) == 1 else ops.concat(tuple(x), 0) for x in (keys, values)]
        common |= {"actual_seq_lengths": actual_seq_lengths, "actual_seq_lengths_kv": actual_seq_lengths_kv}
        common |= {"pre_tokens": pre_tokens, "next_tokens": next_tokens, "sparse_mode": sparse_mode}
        out = ops.prompt_flash_attention(queries, *whole, atten_mask, **common)
    if turn or input_layout == "BNSD_BSND":
        out = ops.transpose(out, (0, 2, 1, 3))
    return out, wrap(np.zeros(1, np.float32))
