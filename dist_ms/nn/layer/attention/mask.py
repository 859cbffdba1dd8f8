"""Masks of attention scores: checked, brought to one form, and joined."""

from __future__ import annotations

import numpy as np

from dist_ms import ops
from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_dimensions
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import is_float


def _is_bool(mask: Tensor) -> bool:
    return mask.dtype == mstype.bool_


def check_masks(
    owner: str, query: Tensor, key: Tensor, heads: int, attn_mask: Tensor | None, padding: Tensor | None
) -> None:
    """Check the types and ranks of the masks.

    Raises:
        ValueError: if one does not fit.
    """
    batched = query.ndim == 3
    if padding is not None:
        check_padding_type(padding, owner)
        if padding.ndim != query.ndim - 1:
            raise ValueError(
                f"For '{owner}', 'key_padding_mask' must have {query.ndim - 1} dimensions beside a 'query' "
                f"of {query.ndim}, but got shape {padding.shape}."
            )
    if attn_mask is None:
        return
    if not (_is_bool(attn_mask) or attn_mask.dtype == mstype.uint8 or is_float(attn_mask.array().dtype)):
        raise ValueError(
            f"For '{owner}', 'attn_mask' must be of a float type, bool or uint8, but got {attn_mask.dtype}."
        )
    check_dimensions(attn_mask, "attn_mask", owner, 2, 3)
    wanted = (heads, query.shape[0], key.shape[0])
    if not batched and attn_mask.ndim == 3 and attn_mask.shape != wanted:
        raise ValueError(f"For '{owner}', 'attn_mask' must have shape {wanted}, but got {attn_mask.shape}.")


def check_padding_type(padding: Tensor, owner: str, error: type = ValueError) -> None:
    """Require a mask of bools or floats.

    Raises:
        ValueError: or `error`, for another type.
    """
    if not (_is_bool(padding) or is_float(padding.array().dtype)):
        raise error(f"For '{owner}', 'key_padding_mask' must be of a float type or bool, but got {padding.dtype}.")


def attention_mask(
    owner: str, shape: tuple, columns: int, attn_mask: Tensor | None, padding: Tensor | None, dtype: mstype.Number
) -> Tensor | None:
    """What is added to attention scores.

    Args:
        owner: the class it is for, in errors.
        shape: (N, heads, L, S) of the scores of the given keys.
        columns: S and the number of elements put behind the keys.
        attn_mask: (L, S) or (N heads, L, S), bool, uint8 or float, or None.
        padding: (N, S) or (S,), bool or float, or None.
        dtype: element type of the scores.

    Returns:
        A float Tensor that broadcasts to (N, heads, L, columns), -inf where a bool mask is true;
        None without masks.

    Raises:
        ValueError: if a shape does not fit.
    """
    rows, heads, length, sources = shape
    mask = None
    if attn_mask is not None:
        wanted = (length, sources) if attn_mask.ndim == 2 else (rows * heads, length, sources)
        if attn_mask.shape != wanted:
            raise ValueError(f"For '{owner}', 'attn_mask' must have shape {wanted}, but got {attn_mask.shape}.")
        if attn_mask.dtype == mstype.uint8:
            attn_mask = ops.cast(attn_mask, mstype.bool_)
        full = (1, 1, length, sources) if attn_mask.ndim == 2 else shape
        mask = _with_columns(ops.reshape(attn_mask, full), columns)
    if padding is not None:
        wanted = (rows, sources)
        if padding.shape != wanted and (padding.ndim == 2 or padding.shape != (sources,)):
            raise ValueError(f"For '{owner}', 'key_padding_mask' must have shape {wanted}, but got {padding.shape}.")
        padding = _with_columns(ops.reshape(padding, (rows, 1, 1, sources)), columns)
        mask = padding if mask is None else _joined(mask, padding)
    if mask is not None and _is_bool(mask):
        return ops.cast(ops.where(mask, wrap(np.float32(-np.inf)), wrap(np.float32(0))), dtype)
    return mask


def _joined(mask: Tensor, padding: Tensor) -> Tensor:
    if _is_bool(mask):
        return ops.logical_or(mask, padding if _is_bool(padding) else padding != 0)
    return mask + (ops.cast(padding, mask.dtype) if _is_bool(padding) else padding)


def _with_columns(mask: Tensor, columns: int) -> Tensor:
    """The mask with free columns put at its end."""
    missing = columns - mask.shape[-1]
    if not missing:
        return mask
    free = wrap(np.zeros((*mask.shape[:-1], missing), mask.array().dtype))
    return ops.concat([mask, free], -1)
