"""Networks whose layers are replaced by those that collect what THOR reads."""

from __future__ import annotations

from typing import Any

from dist_ms.nn.cell import Cell
from dist_ms.nn.layer.conv import Conv2d
from dist_ms.nn.layer.dense import Dense
from dist_ms.nn.layer.embedding import Embedding, EmbeddingLookup
from dist_ms.nn.layer.thor import Conv2dThor, DenseThor, EmbeddingLookupThor, EmbeddingThor


def _dense(old: Dense) -> DenseThor:
    new = DenseThor(old.in_channels, old.out_channels, has_bias=old.has_bias)
    new.activation, new.activation_flag = old.activation, old.activation_flag
    return new


def _conv2d(old: Conv2d) -> Conv2dThor | None:
    if old.group != 1:
        return None
    return Conv2dThor(
        old.in_channels,
        old.out_channels,
        old.kernel_size,
        old.stride,
        old.pad_mode,
        old.padding,
        old.dilation,
        old.group,
        old.has_bias,
    )


def _embedding(old: Embedding) -> EmbeddingThor:
    return EmbeddingThor(old.vocab_size, old.embedding_size, old.use_one_hot, padding_idx=old.padding_idx)


def _lookup(old: EmbeddingLookup) -> EmbeddingLookupThor:
    return EmbeddingLookupThor(old.vocab_size, old.embedding_size, target=old.target)


_MAKERS: dict[type, Any] = {Dense: _dense, Conv2d: _conv2d, Embedding: _embedding, EmbeddingLookup: _lookup}
_SHARED = ("weight", "bias", "embedding_table")


def _is_trained(layer: Cell) -> bool:
    weight = getattr(layer, "weight", getattr(layer, "embedding_table", None))
    return getattr(weight, "requires_grad", True)


def convert(net: Cell) -> None:
    """Replace the layers in a network, which keep their parameters; convolutions in groups and frozen layers stay."""
    _convert(net)
    net.update_cell_type("second-order")


def _convert(net: Cell) -> None:
    for name, cell in list(net.name_cells().items()):
        maker = _MAKERS.get(type(cell)) if _is_trained(cell) else None
        new = None if maker is None else maker(cell)
        if new is None:
            _convert(cell)
            continue
        for shared in _SHARED:
            if getattr(cell, shared, None) is not None:
                setattr(new, shared, getattr(cell, shared))
        weight = getattr(new, "weight", None)
        weight = weight if weight is not None else new.embedding_table
        above = weight.name.rpartition(".")[0]
        for collected in new.get_parameters():
            if not any(collected is given for given in cell.get_parameters()):
                collected.name = f"{above}.{collected.name}" if above else collected.name
        new.set_train(cell.training)
        if name.isdigit() and hasattr(net, "__setitem__"):
            net[int(name)] = new
        else:
            setattr(net, name, new)
