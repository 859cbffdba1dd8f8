"""TransformerEncoder, TransformerDecoder and Transformer: stacks of layers."""

from __future__ import annotations

import copy
from typing import Any

from dist_ms.common import dtype as mstype
from dist_ms.common.initializer import initializer
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.nn.layer.attention.mask import check_padding_type
from dist_ms.nn.layer.attention.transformer_layers import TransformerDecoderLayer, TransformerEncoderLayer
from dist_ms.nn.layer.container import CellList
from dist_ms.nn.layer.normalization import LayerNorm

__all__ = ["Transformer", "TransformerDecoder", "TransformerEncoder"]


def _copies(make: type, layer: Any, count: int) -> CellList:
    """`count` equal layers with the settings of the one given, but values of their own."""
    first = make(
        layer.d_model,
        layer.nhead,
        layer.dim_feedforward,
        layer.dropout_num,
        layer.activation1,
        layer.layernorm_eps,
        layer.batch_first,
        layer.norm_first,
        dtype=layer.dtype,
    )
    return CellList([copy.deepcopy(first) for _ in range(count)])


class TransformerEncoder(Cell):
    """Encoder layers one after the other.

    Args:
        encoder_layer: a `TransformerEncoderLayer` whose settings the layers take; they start with
            values that are equal among them.
        num_layers: number of layers.
        norm: a Cell applied at the end, or None.

    Inputs:
        src, src_mask, src_key_padding_mask: as in `TransformerEncoderLayer`.

    Outputs:
        Tensor of the shape of `src`.

    Raises:
        AssertionError: if `src_key_padding_mask` holds neither bools nor floats.

    Examples:
        >>> import dist_ms as ms
        >>> layer = ms.nn.TransformerEncoderLayer(16, 4, dim_feedforward=32)
        >>> ms.nn.TransformerEncoder(layer, 2)(ms.ops.ones((5, 2, 16))).shape
        (5, 2, 16)
    """

    def __init__(self, encoder_layer: Any, num_layers: int, norm: Cell | None = None) -> None:
        super().__init__()
        self.layers = _copies(TransformerEncoderLayer, encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def construct(
        self, src: Tensor, src_mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None
    ) -> Tensor:
        if src_key_padding_mask is not None:
            check_padding_type(src_key_padding_mask, self.cls_name, AssertionError)
        for layer in self.layers:
            src = layer(src, src_mask=src_mask, src_key_padding_mask=src_key_padding_mask)
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Cell):
    """Decoder layers one after the other.

    Args:
        decoder_layer: a `TransformerDecoderLayer` whose settings the layers take; they start with
            values that are equal among them.
        num_layers: number of layers.
        norm: a Cell applied at the end, or None.

    Inputs:
        tgt, memory and their masks: as in `TransformerDecoderLayer`.

    Outputs:
        Tensor of the shape of `tgt`.

    Examples:
        >>> import dist_ms as ms
        >>> layer = ms.nn.TransformerDecoderLayer(16, 4, dim_feedforward=32)
        >>> ms.nn.TransformerDecoder(layer, 2)(ms.ops.ones((3, 2, 16)), ms.ops.ones((5, 2, 16))).shape
        (3, 2, 16)
    """

    def __init__(self, decoder_layer: Any, num_layers: int, norm: Cell | None = None) -> None:
        super().__init__()
        self.layers = _copies(TransformerDecoderLayer, decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def construct(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
    ) -> Tensor:
        for layer in self.layers:
            tgt = layer(
                tgt,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
            )
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Cell):
    """An encoder and a decoder, each with a norm at its end.

    Vaswani et al., "Attention Is All You Need", 2017. Parameters of two and more dimensions start
    as Xavier uniform.

    Args:
        d_model, nhead, dim_feedforward, dropout, activation: as in `TransformerEncoderLayer`.
        num_encoder_layers, num_decoder_layers: numbers of layers.
        custom_encoder, custom_decoder: Cells to use in their place, or None.
        layer_norm_eps, batch_first, norm_first, dtype: as in `TransformerEncoderLayer`.

    Inputs:
        src (Tensor): (S, N, d_model), or (N, S, d_model) with `batch_first`, or (S, d_model).
        tgt (Tensor): (T, N, d_model), likewise.
        src_mask, tgt_mask, memory_mask (Tensor, optional): (S, S), (T, T), (T, S), or one per head
            with N nhead in front.
        src_key_padding_mask, tgt_key_padding_mask, memory_key_padding_mask (Tensor, optional):
            (N, S), (N, T), (N, S).

    Outputs:
        Tensor of the shape of `tgt`.

    Raises:
        ValueError: if the batches differ, or a length is not `d_model`.

    Examples:
        >>> import dist_ms as ms
        >>> net = ms.nn.Transformer(16, 4, 1, 1, dim_feedforward=32)
        >>> net(ms.ops.ones((5, 2, 16)), ms.ops.ones((3, 2, 16))).shape
        (3, 2, 16)
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = "relu",
        custom_encoder: Cell | None = None,
        custom_decoder: Cell | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        dtype: Any = mstype.float32,
    ) -> None:
        super().__init__()
        settings = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first)
        if custom_encoder is None:
            custom_encoder = TransformerEncoder(
                TransformerEncoderLayer(*settings, dtype=dtype),
                num_encoder_layers,
                LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype),
            )
        if custom_decoder is None:
            custom_decoder = TransformerDecoder(
                TransformerDecoderLayer(*settings, dtype=dtype),
                num_decoder_layers,
                LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype),
            )
        self.encoder, self.decoder = custom_encoder, custom_decoder
        for p in self.get_parameters():
            if p.ndim > 1:
                p.set_data(initializer("xavier_uniform", p.shape, p.dtype))
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def construct(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
    ) -> Tensor:
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise ValueError(
                f"For 'Transformer', the last dimension of 'src' and 'tgt' must be 'd_model' "
                f"{self.d_model}, but got shapes {src.shape} and {tgt.shape}."
            )
        batch = 0 if self.batch_first else 1
        if src.ndim == 3 and (tgt.ndim != 3 or src.shape[batch] != tgt.shape[batch]):
            raise ValueError(
                f"For 'Transformer', 'src' and 'tgt' must have one batch size, but got shapes {src.shape} "
                f"and {tgt.shape}."
            )
        memory = self.encoder(src, src_mask=src_mask, src_key_padding_mask=src_key_padding_mask)
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
        )
