"""`multi_head_attention_forward` of `mindspore.ops.function.nn_func`: attention with the weights as arguments."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common import dtype as mstype
from dist_ms.common.checks import complaint
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.nn.layer.attention.mask import attention_mask, check_masks
from dist_ms.ops.layers.attention import whole_attention

__all__ = ["multi_head_attention_forward"]

_OWNER = "multi_head_attention_forward"


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
    k_is_v: bool = False,
    q_is_k: bool = False,
    dtype: Any = mstype.float32,
) -> tuple[Tensor, Tensor]:
    """Attention with several heads, as `nn.MultiheadAttention` has it, of weights that are given.

    Args:
        query, key, value: (length, N, embed_dim), or without N.
        embed_dim_to_check: the length of the embeddings.
        num_heads: the number of heads.
        in_proj_weight, in_proj_bias: of the three projections, one below the other.
        bias_k, bias_v: (1, 1, embed_dim), further keys and values, or None.
        add_zero_attn: whether a key and a value of zeros are added.
        dropout_p, training: the chance to drop a weight in training.
        out_proj_weight, out_proj_bias: of the output's projection.
        key_padding_mask, attn_mask: as in `nn.MultiheadAttention`.
        use_separate_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight: the three weights one by one.
        static_k, static_v: (N * heads, sources, head length), keys and values that are projected already.
        average_attn_weights: whether the weights are means over the heads.
        is_causal: a hint on `attn_mask`, which must be given then.
        k_is_v, q_is_k: hints that inputs are the same; nothing depends on them.
        dtype: the type of zeros that are added; here it is that of the keys.

    Returns:
        A tuple (output, weights).

    Raises:
        ValueError: if shapes do not fit, or a mask is missing.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.compat.inner.attention_function import multi_head_attention_forward
        >>> x, weights = ms.ops.ones((3, 2, 4)), (ms.ops.ones((12, 4)), ms.ops.ones((4, 4)))
        >>> output, _ = multi_head_attention_forward(
        ...     x, x, x, 4, 2, weights[0], None, None, None, False, 0.0, weights[1], None, training=False)
        >>> output.shape
        (3, 2, 4)
    """
    if query.shape[-1] != embed_dim_to_check or embed_dim_to_check % num_heads:
        wanted = f"of embeddings of the length {embed_dim_to_check}, a multiple of {num_heads}"
        raise ValueError(complaint("query", _OWNER, wanted, f"the shape {query.shape}"))
    if is_causal and attn_mask is None:
        raise ValueError(complaint("attn_mask", _OWNER, "given with 'is_causal'", None))
    check_masks(_OWNER, query, key, num_heads, attn_mask, key_padding_mask)
    batched, size = query.ndim == 3, embed_dim_to_check
    weights = (q_proj_weight, k_proj_weight, v_proj_weight)
    if not use_separate_proj_weight:
        weights = ops.split(in_proj_weight, size)
    biases = (None,) * 3 if in_proj_bias is None else ops.split(in_proj_bias, size)
    projected = (ops.dense(x, w, b) for x, w, b in zip((query, key, value), weights, biases))
    q, k, v = (_by_head(x if batched else ops.expand_dims(x, 1), num_heads) for x in projected)
    k = _extended(k, static_k, bias_k, add_zero_attn)
    v = _extended(v, static_v, bias_v, add_zero_attn)
    rows, heads, length, each = q.shape
    shape = (rows, heads, length, key.shape[0] if static_k is None else static_k.shape[1])
    mask = attention_mask(_OWNER, shape, k.shape[2], attn_mask, key_padding_mask, q.dtype)
    found, shares = whole_attention(q, k, v, mask, 1 / math.sqrt(each), dropout_p if training else 0.0)
    output = ops.dense(
        ops.reshape(ops.transpose(found, (2, 0, 1, 3)), (length, rows, size)), out_proj_weight, out_proj_bias
    )
    if average_attn_weights:
        shares = ops.mean(shares, 1)
    return (output, shares) if batched else (ops.squeeze(output, 1), ops.squeeze(shares, 0))


def _by_head(x: Tensor, heads: int) -> Tensor:
    """(length, N, embed_dim) as (N, heads, length, head length)."""
    return ops.transpose(ops.reshape(x, (*x.shape[:2], heads, -1)), (1, 2, 0, 3))


def _extended(x: Tensor, static: Tensor | None, bias: Tensor | None, zeros: bool) -> Tensor:
    """Keys or values: those given, and what is added at their end."""
    rows, heads, _, each = x.shape
    if static is not None:
        x = ops.reshape(static, (rows, heads, *static.shape[1:]))
    if bias is not None:
        row = ops.reshape(bias, (1, heads, 1, each))
        x = ops.concat([x, ops.broadcast_to(row, (rows, heads, 1, each))], 2)
    if zeros:
        x = ops.concat([x, wrap(np.zeros((rows, heads, 1, each), x.dtype.np))], 2)
    return x
