"""TransformerEncoderLayer and TransformerDecoderLayer."""

from __future__ import annotations

import math
from typing import Any

from dist_ms import ops
from dist_ms.common import dtype as mstype
from dist_ms.common.initializer import HeUniform, Uniform
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.nn.layer.attention.mask import check_padding_type
from dist_ms.nn.layer.attention.multihead import MultiheadAttention
from dist_ms.nn.layer.dense import Dense
from dist_ms.nn.layer.dropout import Dropout
from dist_ms.nn.layer.normalization import LayerNorm

__all__ = ["TransformerDecoderLayer", "TransformerEncoderLayer"]


def _activation(owner: str, activation: Any) -> Any:
    """ops.relu or ops.gelu, given so or by name."""
    known = {"relu": ops.relu, "gelu": ops.gelu}
    if isinstance(activation, str) and activation in known:
        return known[activation]
    if activation is ops.relu or activation is ops.gelu:
        return activation
    raise ValueError(
        f"For '{owner}', 'activation' must be 'relu', 'gelu', ops.relu or ops.gelu, but got {activation!r}."
    )


class _Layer(Cell):
    """What the two layers share: attributes, the parts in MindSpore's order, the feed-forward block."""

    def __init__(
        self,
        attentions: tuple,
        norms: int,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout: float,
        activation: Any,
        layer_norm_eps: float,
        batch_first: bool,
        norm_first: bool,
        dtype: Any,
    ) -> None:
        super().__init__()
        self.activation1, self.activation = activation, _activation(self.cls_name, activation)
        self.d_model, self.nhead, self.dim_feedforward, self.dropout_num = d_model, nhead, dim_feedforward, dropout
        self.layernorm_eps, self.batch_first, self.norm_first = layer_norm_eps, batch_first, norm_first
        self.dtype = dtype
        for name in attentions:
            setattr(self, name, MultiheadAttention(d_model, nhead, dropout, batch_first=batch_first, dtype=dtype))
        self.dense1 = self._dense(d_model, dim_feedforward)
        self.dropout = Dropout(p=dropout)
        self.dense2 = self._dense(dim_feedforward, d_model)
        for i in range(norms):
            setattr(self, f"norm{i + 1}", LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype))
        for i in range(norms):
            setattr(self, f"dropout{i + 1}", Dropout(p=dropout))

    def _dense(self, length: int, out: int) -> Dense:
        return Dense(
            length,
            out,
            weight_init=HeUniform(math.sqrt(5)),
            bias_init=Uniform(1 / math.sqrt(length) if length > 0 else 1),
            dtype=self.dtype,
        )

    def _attend(
        self, attention: Cell, query: Tensor, memory: Tensor, mask: Tensor | None, padding: Tensor | None
    ) -> Tensor:
        return attention(query, memory, memory, key_padding_mask=padding, need_weights=False, attn_mask=mask)[0]

    def _feed_forward(self, x: Tensor) -> Tensor:
        return self.dense2(self.dropout(self.activation(self.dense1(x))))

    def _run(self, x: Tensor, blocks: list) -> Tensor:
        """Add each block's result to what it was given, normalised before or after."""
        for i, block in enumerate(blocks, 1):
            norm, drop = self._cells[f"norm{i}"], self._cells[f"dropout{i}"]
            x = x + drop(block(norm(x))) if self.norm_first else norm(x + drop(block(x)))
        return x


class TransformerEncoderLayer(_Layer):
    """A layer of a Transformer's encoder: self-attention, then two dense layers.

    Vaswani et al., "Attention Is All You Need", 2017. Parts are `self_attn`, `dense1`, `dense2`,
    `norm1` and `norm2`.

    Args:
        d_model: length of the elements.
        nhead: number of attention heads; divides `d_model`.
        dim_feedforward: length between the dense layers.
        dropout: probability to drop an element in training.
        activation: "relu", "gelu", ops.relu or ops.gelu.
        layer_norm_eps: added to the variance in the norms.
        batch_first: whether the batch is the first dimension.
        norm_first: whether the norms come before the blocks instead of after.
        dtype: element type of the parameters.

    Inputs:
        src (Tensor): (S, N, d_model), or (N, S, d_model) with `batch_first`, or (S, d_model).
        src_mask (Tensor, optional): (S, S) or (N nhead, S, S), see `MultiheadAttention`.
        src_key_padding_mask (Tensor, optional): (N, S) or (S,).

    Outputs:
        Tensor of the shape of `src`.

    Raises:
        ValueError: if `activation` is another one, or sizes do not fit.
        AssertionError: if `src_key_padding_mask` holds neither bools nor floats.

    Examples:
        >>> import dist_ms as ms
        >>> layer = ms.nn.TransformerEncoderLayer(16, 4, dim_feedforward=32)
        >>> layer(ms.ops.ones((5, 2, 16))).shape
        (5, 2, 16)
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        dtype: Any = mstype.float32,
    ) -> None:
        super().__init__(
            ("self_attn",),
            2,
            d_model,
            nhead,
            dim_feedforward,
            dropout,
            activation,
            layer_norm_eps,
            batch_first,
            norm_first,
            dtype,
        )

    def construct(
        self, src: Tensor, src_mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None
    ) -> Tensor:
        if src_key_padding_mask is not None:
            check_padding_type(src_key_padding_mask, self.cls_name, AssertionError)
        return self._run(
            src,
            [
                lambda x: self._attend(self.self_attn, x, x, src_mask, src_key_padding_mask),
                self._feed_forward,
            ],
        )


class TransformerDecoderLayer(_Layer):
    """A layer of a Transformer's decoder: self-attention, attention to the encoder, two dense layers.

    Vaswani et al., "Attention Is All You Need", 2017. Parts are `self_attn`, `multihead_attn`,
    `dense1`, `dense2`, `norm1`, `norm2` and `norm3`.

    Args:
        d_model, nhead, dim_feedforward, dropout, activation: as in `TransformerEncoderLayer`.
        layer_norm_eps, batch_first, norm_first, dtype: likewise.

    Inputs:
        tgt (Tensor): (T, N, d_model), or (N, T, d_model) with `batch_first`, or (T, d_model).
        memory (Tensor): (S, N, d_model), likewise: what the encoder returned.
        tgt_mask (Tensor, optional): (T, T) or (N nhead, T, T), see `MultiheadAttention`.
        memory_mask (Tensor, optional): (T, S) or (N nhead, T, S).
        tgt_key_padding_mask (Tensor, optional): (N, T) or (T,).
        memory_key_padding_mask (Tensor, optional): (N, S) or (S,).

    Outputs:
        Tensor of the shape of `tgt`.

    Raises:
        ValueError: if `activation` is another one, or sizes or masks do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> layer = ms.nn.TransformerDecoderLayer(16, 4, dim_feedforward=32)
        >>> layer(ms.ops.ones((3, 2, 16)), ms.ops.ones((5, 2, 16))).shape
        (3, 2, 16)
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        dtype: Any = mstype.float32,
    ) -> None:
        super().__init__(
            ("self_attn", "multihead_attn"),
            3,
            d_model,
            nhead,
            dim_feedforward,
            dropout,
            activation,
            layer_norm_eps,
            batch_first,
            norm_first,
            dtype,
        )

    def construct(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
    ) -> Tensor:
        return self._run(
            tgt,
            [
                lambda x: self._attend(self.self_attn, x, x, tgt_mask, tgt_key_padding_mask),
                lambda x: self._attend(self.multihead_attn, x, memory, memory_mask, memory_key_padding_mask),
                self._feed_forward,
            ],
        )
