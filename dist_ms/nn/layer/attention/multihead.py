"""MultiheadAttention: scaled dot-product attention in several heads."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_number
from dist_ms.common.error_classes import reads
from dist_ms.common.initializer import HeUniform, Uniform, XavierNormal, XavierUniform, initializer
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.nn.cell import Cell
from dist_ms.nn.layer.attention.mask import attention_mask, check_masks
from dist_ms.nn.layer.dense import Dense
from dist_ms.ops.arguments import scalar, tensor
from dist_ms.ops.layers.attention import layer_attention, whole_attention
from dist_ms.ops.layers.dense import dense

__all__ = ["MultiheadAttention"]

_OWNER = "MultiheadAttention"


@reads("ndim")
class MultiheadAttention(Cell):
    """Attention of several heads: softmax(q k^T / sqrt(head length)) v, projected back.

    Vaswani et al., "Attention Is All You Need", 2017.

    Parameters are `in_proj_weight` (3 embed_dim, embed_dim), the projections to q, k and v; or
    `q_proj_weight` (embed_dim, embed_dim), `k_proj_weight` (embed_dim, kdim) and `v_proj_weight`
    (embed_dim, vdim) where the lengths differ; `in_proj_bias` (3 embed_dim,); `bias_k` and
    `bias_v` (1, 1, embed_dim); `out_proj.weight` and `out_proj.bias`.

    Args:
        embed_dim: length of the queries and outputs.
        num_heads: number of heads; divides `embed_dim`.
        dropout: probability to drop an attention weight in training.
        has_bias: whether the projections have biases.
        add_bias_kv: whether a learned element is put at the end of keys and values.
        add_zero_attn: whether a zero is put at the end of keys and values.
        kdim, vdim: lengths of keys and values; `embed_dim` by default.
        batch_first: whether the batch is the first dimension of inputs and output.
        dtype: element type of the parameters.

    Inputs:
        query (Tensor): (L, N, embed_dim), or (N, L, embed_dim) with `batch_first`, or (L, embed_dim).
        key (Tensor): (S, N, kdim), likewise.
        value (Tensor): (S, N, vdim), likewise.
        key_padding_mask (Tensor, optional): (N, S), or (S,) without a batch: true where a key does
            not count, or a float added to the scores.
        need_weights (bool): whether to return the attention weights.
        attn_mask (Tensor, optional): (L, S) or (N num_heads, L, S): true where there is no
            attention, or a float added to the scores. A bool `key_padding_mask` beside a float one
            is added as 0 and 1, as MindSpore does; give both in one type.
        average_attn_weights (bool): whether to average the weights over the heads.

    Outputs:
        tuple (output, weights), or (output,) without `need_weights`. The output has the shape of
        `query`, the weights (N, L, S), (N, num_heads, L, S) without averaging, or the same without
        N.

    Raises:
        TypeError: if the inputs have another dtype than the parameters.
        ValueError: if `num_heads` does not divide `embed_dim`, or shapes or mask types do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> attention = ms.nn.MultiheadAttention(16, num_heads=4, batch_first=True)
        >>> x = ms.ops.ones((2, 5, 16))
        >>> output, weights = attention(x, x, x)
        >>> output.shape, weights.shape
        ((2, 5, 16), (2, 5, 5))
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        has_bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        dtype: Any = mstype.float32,
    ) -> None:
        super().__init__()
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        check_number(scalar(dropout), "dropout", _OWNER)
        self.dropout, self.batch_first, self.add_zero_attn = dropout, batch_first, add_zero_attn
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise ValueError(
                f"For '{_OWNER}', 'embed_dim' must be a multiple of 'num_heads', but got {embed_dim} and {num_heads}."
            )
        self.dtype = dtype = mstype.float32 if dtype is None else dtype
        self._one_length = self.kdim == embed_dim and self.vdim == embed_dim
        lengths = {"q_proj_weight": embed_dim, "k_proj_weight": self.kdim, "v_proj_weight": self.vdim}
        self.in_proj_weight = None
        if self._one_length:
            self.in_proj_weight = self._parameter("in_proj_weight", (3 * embed_dim, embed_dim), XavierUniform())
        for name, length in lengths.items():
            shape = (embed_dim, length)
            setattr(self, name, None if self._one_length else self._parameter(name, shape, XavierUniform()))
        self.in_proj_bias = self._parameter("in_proj_bias", (3 * embed_dim,), "zeros") if has_bias else None
        self.out_proj = Dense(
            embed_dim,
            embed_dim,
            has_bias=has_bias,
            weight_init=HeUniform(math.sqrt(5)),
            bias_init=Uniform(1 / math.sqrt(embed_dim)),
            dtype=dtype,
        )
        for name in ("bias_k", "bias_v"):
            shape = (1, 1, embed_dim)
            setattr(self, name, self._parameter(name, shape, XavierNormal()) if add_bias_kv else None)

    def _parameter(self, name: str, shape: tuple, init: Any) -> Parameter:
        return Parameter(initializer(init, shape, self.dtype), name=name)

    def construct(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
    ) -> tuple:
        batched = self._check(query, key, value)
        check_masks(_OWNER, query, key, self.num_heads, attn_mask, key_padding_mask)
        swap = self.batch_first and batched
        q, k, v = self._projected(query, key, value)
        q, k, v = (self._by_head(x if batched else ops.expand_dims(x, 0 if swap else 1), swap) for x in (q, k, v))
        k, v = self._extended(k, self.bias_k), self._extended(v, self.bias_v)
        rows, heads, length, _ = q.shape
        sources = key.shape[1 if swap else 0]
        mask = attention_mask(_OWNER, (rows, heads, length, sources), k.shape[2], attn_mask, key_padding_mask, q.dtype)
        scale, drop = 1 / math.sqrt(self.head_dim), self.dropout if self.training else 0.0
        if not need_weights:
            return (self._joined(layer_attention(q, k, v, mask, scale, drop), swap, batched),)
        heads_out, weights = whole_attention(q, k, v, mask, scale, drop)
        output = self._joined(heads_out, swap, batched)
        if average_attn_weights:
            weights = ops.mean(weights, 1)
        return output, weights if batched else ops.squeeze(weights, 0)

    def _joined(self, x: Tensor, batch_first: bool, batched: bool) -> Tensor:
        """(N, heads, length, head length) projected back, in the layout of the query."""
        rows, _, length, _ = x.shape
        lead = (rows, length) if batch_first else (length, rows)
        joined = ops.reshape(ops.transpose(x, (0, 2, 1, 3) if batch_first else (2, 0, 1, 3)), (*lead, self.embed_dim))
        output = self.out_proj(joined)
        return output if batched else ops.reshape(output, (length, self.embed_dim))

    def _check(self, query: Tensor, key: Tensor, value: Tensor) -> bool:
        """Check the inputs' shapes; whether there is a batch."""
        for x, name in ((query, "query"), (key, "key"), (value, "value")):
            tensor(x, name, _OWNER)
        if query.ndim not in (2, 3) or key.ndim != query.ndim or value.ndim != query.ndim:
            raise ValueError(
                f"For '{_OWNER}', 'query', 'key' and 'value' must all have 3 dimensions, or 2 without a "
                f"batch, but got shapes {query.shape}, {key.shape} and {value.shape}."
            )
        lengths = (self.embed_dim, self.kdim, self.vdim)
        if (query.shape[-1], key.shape[-1], value.shape[-1]) != lengths:
            raise ValueError(
                f"For '{_OWNER}', the last dimensions of 'query', 'key' and 'value' must be {lengths}, but "
                f"got shapes {query.shape}, {key.shape} and {value.shape}."
            )
        batch = 0 if self.batch_first else 1
        if key.shape[:-1] != value.shape[:-1] or (query.ndim == 3 and query.shape[batch] != key.shape[batch]):
            raise ValueError(
                f"For '{_OWNER}', 'key' and 'value' must have one length, and the batch of 'query', but "
                f"got shapes {query.shape}, {key.shape} and {value.shape}."
            )
        return query.ndim == 3

    def _projected(self, query: Tensor, key: Tensor, value: Tensor) -> Any:
        """q, k and v, by as few products as the inputs allow."""
        size, weight, bias = self.embed_dim, self.in_proj_weight, self.in_proj_bias
        if self._one_length and key is value and query is key:
            return ops.split(dense(query, weight, bias), size, -1)
        if self._one_length and key is value:
            w_q, w_kv = ops.split(weight, [size, 2 * size])
            b_q, b_kv = (None, None) if bias is None else ops.split(bias, [size, 2 * size])
            return (dense(query, w_q, b_q), *ops.split(dense(key, w_kv, b_kv), size, -1))
        weights = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        if self._one_length:
            weights = ops.split(weight, size)
        biases = (None,) * 3 if bias is None else ops.split(bias, size)
        return [dense(x, w, b) for x, w, b in zip((query, key, value), weights, biases)]

    def _by_head(self, x: Tensor, batch_first: bool) -> Tensor:
        """(length, N, embed_dim) as (N, heads, length, head length)."""
        x = ops.reshape(x, (*x.shape[:2], self.num_heads, self.head_dim))
        return ops.transpose(x, (0, 2, 1, 3) if batch_first else (1, 2, 0, 3))

    def _extended(self, x: Tensor, bias: Tensor | None) -> Tensor:
        """Keys or values with the learned element and the zero at the end."""
        shape = (*x.shape[:2], 1, self.head_dim)
        if bias is not None:
            row = ops.reshape(bias, (1, self.num_heads, 1, self.head_dim))
            x = ops.concat([x, ops.broadcast_to(row, shape)], 2)
        if self.add_zero_attn:
            x = ops.concat([x, wrap(np.zeros(shape, x.array().dtype))], 2)
        return x
