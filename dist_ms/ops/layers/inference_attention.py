"""Attention and routing that MindSpore has on Ascend only, over operations that are here."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_bool, check_choice, check_non_negative_int, check_string, complaint
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import integral, tensor
from dist_ms.ops.layers.flash_attention import flash_attention_score
from dist_ms.ops.primitive import Primitive

__all__ = [
    "ReshapeAndCache",
    "incre_flash_attention",
    "moe_init_routing_v2",
    "multi_scale_deformable_attn_function",
    "prompt_flash_attention",
    "ring_attention_update",
]

_FAR = 2147483647


def _none(owner: str, **given: Any) -> None:
    """Refuse what is for quantised values."""
    for name, value in given.items():
        if value is not None:
            raise ValueError(complaint(name, owner, "None, as nothing is quantised", value))


def _lengths(value: Any, rows: int, most: int, name: str, owner: str) -> np.ndarray:
    found = np.asarray(value.array() if isinstance(value, Tensor) else value)
    if found.shape != (rows,) or found.dtype.kind not in "iu" or (found.size and not 0 <= found.min() <= most):
        raise ValueError(complaint(name, owner, f"{rows} ints from 0 to {most}", value))
    return np.minimum(found, most)


def _mask4(mask: Tensor | None, name: str, owner: str) -> np.ndarray | None:
    """A mask with 4 dimensions, true where a key does not count."""
    if mask is None:
        return None
    array = tensor(mask, name, owner).array() != 0
    return array.reshape(array.shape[0], 1, *array.shape[1:]) if array.ndim == 3 else array


def prompt_flash_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    actual_seq_lengths: Any = None,
    actual_seq_lengths_kv: Any = None,
    pse_shift: Tensor | None = None,
    deq_scale1: Tensor | None = None,
    quant_scale1: Tensor | None = None,
    deq_scale2: Tensor | None = None,
    quant_scale2: Tensor | None = None,
    quant_offset2: Tensor | None = None,
    num_heads: int = 1,
    scale_value: float = 1.0,
    pre_tokens: int = _FAR,
    next_tokens: int = 0,
    input_layout: str = "BSH",
    num_key_value_heads: int = 0,
    sparse_mode: int = 0,
    inner_precise: int = 1,
) -> Tensor:
    """Return softmax(scale_value q k^T + pse_shift, masked) v; see `flash_attention_score`.

    Args:
        query: (B, S1, H1) or (B, N1, S1, D).
        key: (B, S2, H2) or (B, N2, S2, D).
        value: like `key`.
        attn_mask: true where a key does not count, (S1, S2) with or without B, or B and 1, before them.
        actual_seq_lengths: (B,) how many queries of each row count; the others give 0.
        actual_seq_lengths_kv: (B,) how many keys of each row count.
        pse_shift: added to the scores, (B or 1, N1, S1, S2).
        deq_scale1, quant_scale1, deq_scale2, quant_scale2, quant_offset2: None.
        num_heads: N1.
        scale_value: usually 1 / sqrt(D).
        pre_tokens, next_tokens: the band of keys that count, with a mask and `sparse_mode` 0, or with 4.
        input_layout: "BSH" or "BNSD".
        num_key_value_heads: N2; 0 for N1. What `key` has is looked at.
        sparse_mode: as in `flash_attention_score`; 0 or 1 with lengths.
        inner_precise: accepted; 16-bit types are computed in float32.

    Returns:
        Tensor of the shape of `query`.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if an option is not built, or the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.ops.ones((1, 3, 4))
        >>> ms.ops.prompt_flash_attention(x, x, x, num_heads=2, scale_value=0.7).shape
        (1, 3, 4)
    """
    owner = "prompt_flash_attention"
    quantised = {"deq_scale1": deq_scale1, "quant_scale1": quant_scale1, "deq_scale2": deq_scale2}
    _none(owner, **quantised, quant_scale2=quant_scale2, quant_offset2=quant_offset2)
    check_string(input_layout, "input_layout", owner, ("BSH", "BNSD"))
    axis = 1 if input_layout == "BSH" else 2
    rows, queries, keys = query.shape[0], query.shape[axis], key.shape[axis]
    mask = _mask4(attn_mask, "attn_mask", owner)
    if actual_seq_lengths is not None or actual_seq_lengths_kv is not None:
        if sparse_mode > 1 or (mask is not None and sparse_mode == 0 and (pre_tokens, next_tokens) != (_FAR, _FAR)):
            raise ValueError(complaint("sparse_mode", owner, "1, or 0 without a mask, with lengths", sparse_mode))
        hidden = np.zeros((rows, 1, queries, keys), bool)
        if actual_seq_lengths is not None:
            ends = _lengths(actual_seq_lengths, rows, queries, "actual_seq_lengths", owner)
            hidden |= (np.arange(queries) >= ends[:, None])[:, None, :, None]
        if actual_seq_lengths_kv is not None:
            ends = _lengths(actual_seq_lengths_kv, rows, keys, "actual_seq_lengths_kv", owner)
            hidden |= (np.arange(keys) >= ends[:, None])[:, None, None, :]
        mask, sparse_mode = hidden if mask is None else hidden | mask, 1
    if mask is not None and mask.ndim == 4 and mask.shape[0] != rows:
        mask = np.broadcast_to(mask, (rows, *mask.shape[1:]))
    return flash_attention_score(
        query,
        key,
        value,
        num_heads,
        real_shift=pse_shift,
        attn_mask=None if mask is None else wrap(np.ascontiguousarray(mask)),
        scalar_value=scale_value,
        pre_tokens=pre_tokens,
        next_tokens=next_tokens,
        input_layout=input_layout,
        sparse_mode=sparse_mode,
    )


def incre_flash_attention(
    query: Tensor,
    key: Any,
    value: Any,
    attn_mask: Tensor | None = None,
    actual_seq_lengths: Any = None,
    pse_shift: Tensor | None = None,
    dequant_scale1: Tensor | None = None,
    quant_scale1: Tensor | None = None,
    dequant_scale2: Tensor | None = None,
    quant_scale2: Tensor | None = None,
    quant_offset2: Tensor | None = None,
    antiquant_scale: Tensor | None = None,
    antiquant_offset: Tensor | None = None,
    block_table: Tensor | None = None,
    num_heads: int = 1,
    input_layout: str = "BSH",
    scale_value: float = 1.0,
    num_key_value_heads: int = 0,
    block_size: int = 0,
    inner_precise: int = 1,
    kv_padding_size: Tensor | None = None,
) -> Tensor:
    """Return the attention of one new query per row to its keys so far; see `prompt_flash_attention`.

    Args:
        query: (B, 1, H1) or (B, N1, 1, D).
        key: (B, S, H2) or (B, N2, S, D); a list or tuple of one such tensor, or of one per row. With `block_table`
            (blocks, block_size, H2).
        value: like `key`.
        attn_mask: true where a key does not count, (B, S), (B, 1, S) or (B, 1, 1, S).
        actual_seq_lengths: (B,) how many keys of each row count.
        pse_shift: added to the scores, (B or 1, N1, 1, S).
        dequant_scale1, quant_scale1, dequant_scale2, quant_scale2, quant_offset2, antiquant_scale, antiquant_offset,
            kv_padding_size: None.
        block_table: (B, blocks of a row), which blocks hold its keys, in order.
        num_heads: N1.
        input_layout: "BSH" or "BNSD".
        scale_value: usually 1 / sqrt(D).
        num_key_value_heads, block_size, inner_precise: accepted; shapes say them.

    Returns:
        Tensor of the shape of `query`.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if an option is not built, or the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> query, keys = ms.ops.ones((2, 1, 4)), ms.ops.ones((2, 5, 4))
        >>> ms.ops.incre_flash_attention(query, [keys], [keys], num_heads=2, scale_value=0.7).shape
        (2, 1, 4)
    """
    owner = "incre_flash_attention"
    _none(owner, dequant_scale1=dequant_scale1, quant_scale1=quant_scale1, dequant_scale2=dequant_scale2)
    _none(owner, quant_scale2=quant_scale2, quant_offset2=quant_offset2, antiquant_scale=antiquant_scale)
    _none(owner, antiquant_offset=antiquant_offset, kv_padding_size=kv_padding_size)
    keys, values = (_joined(part) for part in (key, value))
    if block_table is not None:
        if input_layout != "BSH":
            raise ValueError(complaint("input_layout", owner, "'BSH' with 'block_table'", repr(input_layout)))
        keys, values = (_blocks(part, block_table) for part in (keys, values))
    mask = None
    if attn_mask is not None:
        mask = ops.reshape(attn_mask, (attn_mask.shape[0], 1, 1, attn_mask.shape[-1]))
    return prompt_flash_attention(
        query,
        keys,
        values,
        mask,
        actual_seq_lengths_kv=actual_seq_lengths,
        pse_shift=pse_shift,
        num_heads=num_heads,
        scale_value=scale_value,
        next_tokens=_FAR,
        input_layout=input_layout,
        sparse_mode=0 if mask is None else 1,
    )


def _joined(part: Any) -> Tensor:
    """The keys of all rows, given as one tensor or one per row."""
    if isinstance(part, (tuple, list)):
        return part[0] if len(part) == 1 else ops.concat(tuple(part), 0)
    return part


def _blocks(part: Tensor, table: Tensor) -> Tensor:
    """The keys of each row, from the blocks that hold them."""
    rows = ops.gather(part, ops.maximum(table, 0), 0)
    return ops.reshape(rows, (table.shape[0], -1, *part.shape[2:]))


def ring_attention_update(
    prev_attn_out: Tensor,
    prev_softmax_max: Tensor,
    prev_softmax_sum: Tensor,
    cur_attn_out: Tensor,
    cur_softmax_max: Tensor,
    cur_softmax_sum: Tensor,
    actual_seq_qlen: Tensor | None = None,
    layout: str = "SBH",
) -> tuple[Tensor, Tensor, Tensor]:
    """Put together the attention to two parts of the keys.

    Args:
        prev_attn_out, cur_attn_out: (S, B, H) or (T, N, D), the attention to each.
        prev_softmax_max, cur_softmax_max: (B, N, S, 8) or (T, N, 8), the largest score of each query, 8 times.
        prev_softmax_sum, cur_softmax_sum: likewise, the sum of exp(score - largest).
        actual_seq_qlen: needed with "TND", as in MindSpore; queries are independent, and it is not read.
        layout: "SBH" or "TND".

    Returns:
        tuple: the attention to both parts, the largest scores, the sums.

    Raises:
        ValueError: if the shapes do not fit, or `layout` is another.
        RuntimeError: without `actual_seq_qlen` for "TND".

    Examples:
        >>> import dist_ms as ms
        >>> a, zero, one = ms.ops.ones((1, 1, 2)), ms.ops.zeros((1, 1, 1, 8)), ms.ops.ones((1, 1, 1, 8))
        >>> print(ms.ops.ring_attention_update(a, zero, one, 3 * a, zero, one)[0])
        [[[2. 2.]]]
    """
    check_string(layout, "layout", "ring_attention_update", ("SBH", "TND"))
    if layout == "TND" and actual_seq_qlen is None:
        raise RuntimeError(complaint("actual_seq_qlen", "ring_attention_update", "given with 'TND'", None))
    largest = ops.maximum(prev_softmax_max, cur_softmax_max)
    before = ops.exp(prev_softmax_max - largest) * prev_softmax_sum
    after = ops.exp(cur_softmax_max - largest) * cur_softmax_sum
    total = before + after
    out = _share(prev_attn_out, before / total, layout) + _share(cur_attn_out, after / total, layout)
    return ops.cast(out, prev_attn_out.dtype), largest, total


def _share(out: Tensor, factor: Tensor, layout: str) -> Tensor:
    """An attention times a factor of each query and head."""
    one = factor[..., :1]
    if layout == "TND":
        return out * one
    one = ops.transpose(one, (2, 0, 1, 3))  # (S, B, N, 1)
    steps, rows, heads = one.shape[:3]
    return ops.reshape(ops.reshape(out, (steps, rows, heads, -1)) * one, out.shape)


def moe_init_routing_v2(
    x: Tensor,
    expert_idx: Tensor,
    active_num: int,
    expert_capacity: int,
    expert_num: int,
    drop_pad_mode: int,
    expert_tokens_count_or_cumsum_flag: int,
    expert_tokens_before_capacity_flag: bool,
) -> tuple[Tensor, ...]:
    """Put tokens in the order of the experts that were chosen for them.

    Args:
        x: (rows, H), the tokens.
        expert_idx: (rows, K) integers, the experts of each.
        active_num: how many of the tokens in order are returned without padding; 0 for all.
        expert_capacity: how many tokens an expert has with padding.
        expert_num: how many experts there are.
        drop_pad_mode: 1 to leave out what is beyond the capacity, and fill up with zeros; 0 for neither.
        expert_tokens_count_or_cumsum_flag: 1 to return, without padding, how many tokens the experts up to each
            have, 2 for how many each has; 0 for neither.
        expert_tokens_before_capacity_flag: return, with padding, how many tokens each expert would have.

    Returns:
        tuple: the tokens, (rows * K or `active_num`, H) or (experts, capacity, H); where each token of each choice is,
        (rows * K,) int32, -1 where it was left out; and the numbers that are asked for, (experts,) int32.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> x, chosen = ms.Tensor([[0.1], [0.2]]), ms.Tensor([[1], [0]])
        >>> print(ms.ops.moe_init_routing_v2(x, chosen, 0, 0, 2, 0, 2, False)[0])
        [[0.2]
         [0.1]]
    """
    owner = "moe_init_routing_v2"
    experts = integral(tensor(expert_idx, "expert_idx", owner).array(), "expert_idx", owner)
    if tensor(x, "x", owner).ndim != 2 or experts.ndim != 2 or len(experts) != x.shape[0]:
        raise ValueError(complaint("expert_idx", owner, f"({x.shape[0]}, K)", experts.shape))
    for name, number in (("active_num", active_num), ("expert_capacity", expert_capacity), ("expert_num", expert_num)):
        check_non_negative_int(number, name, owner)
    check_bool(expert_tokens_before_capacity_flag, "expert_tokens_before_capacity_flag", owner)
    check_choice(drop_pad_mode, "drop_pad_mode", owner, (0, 1))
    if expert_tokens_count_or_cumsum_flag not in (0, 1, 2):
        found = expert_tokens_count_or_cumsum_flag
        raise ValueError(complaint("expert_tokens_count_or_cumsum_flag", owner, "0, 1 or 2", found))
    if experts.size and (experts.min() < 0 or (expert_num and experts.max() >= expert_num)):
        raise ValueError(complaint("expert_idx", owner, f"in [0, {expert_num})", experts.tolist()))
    flat, choices = experts.reshape(-1), experts.shape[1]
    order = np.argsort(flat, kind="stable")
    counts = np.bincount(flat, minlength=expert_num).astype(np.int32)
    places = np.empty(len(flat), np.int32)
    if not drop_pad_mode:
        places[order] = np.arange(len(flat), dtype=np.int32)
        tokens = ops.gather(x, wrap((order // choices)[: active_num or None]), 0)
        results = [tokens, wrap(places)]
        if expert_tokens_count_or_cumsum_flag:
            counted = counts.cumsum() if expert_tokens_count_or_cumsum_flag == 1 else counts
            results.append(wrap(counted.astype(np.int32)))
        return tuple(results)
    if not 0 < expert_capacity <= x.shape[0] or not expert_num:
        wanted = f"from 1 to {x.shape[0]} with padding, and 'expert_num' positive"
        raise ValueError(complaint("expert_capacity", owner, wanted, expert_capacity))
    turn = np.arange(len(flat)) - np.searchsorted(flat[order], flat[order])
    kept = turn < expert_capacity
    places[order] = np.where(kept, flat[order] * expert_capacity + turn, -1)
    source = np.zeros(expert_num * expert_capacity, np.int64)
    filled = np.zeros((expert_num * expert_capacity, 1), x.dtype.np)
    source[places[order][kept]], filled[places[order][kept]] = order[kept] // choices, 1
    tokens = ops.gather(x, wrap(source), 0) * wrap(filled)
    results = [ops.reshape(tokens, (expert_num, expert_capacity, -1)), wrap(places)]
    return (*results, wrap(counts)) if expert_tokens_before_capacity_flag else tuple(results)


def multi_scale_deformable_attn_function(
    value: Tensor, shape: Tensor, offset: Tensor, locations: Tensor, weight: Tensor
) -> Tensor:
    """Return weighted sums of feature maps' values at places (Zhu et al., "Deformable DETR", 2021).

    Args:
        value: (N, keys, heads, D), the maps one behind the other; float16 or float32.
        shape: (levels, 2) integers, height and width of each map.
        offset: (levels,) integers, where each begins in the keys.
        locations: (N, queries, heads, levels, points, 2), x and y in [0, 1]; elsewhere values are 0.
        weight: (N, queries, heads, levels, points).

    Returns:
        Tensor (N, queries, heads * D).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> value, sizes, begin = ms.ops.ones((1, 4, 1, 8)), ms.Tensor([[2, 2]]), ms.Tensor([0])
        >>> places, weight = ms.ops.ones((1, 3, 1, 1, 1, 2)) * 0.5, ms.ops.ones((1, 3, 1, 1, 1))
        >>> ms.ops.multi_scale_deformable_attn_function(value, sizes, begin, places, weight).shape
        (1, 3, 8)
    """
    owner = "multi_scale_deformable_attn_function"
    sizes, begins = (
        integral(tensor(v, n, owner).array(), n, owner).tolist() for v, n in ((shape, "shape"), (offset, "offset"))
    )
    rows, keys, heads, width = value.shape
    queries, levels, points = locations.shape[1], locations.shape[3], locations.shape[4]
    if len(sizes) != levels or len(begins) != levels or weight.shape != locations.shape[:-1]:
        wanted = f"of shape {locations.shape[:-1]}, for {len(sizes)} maps"
        raise ValueError(complaint("weight", owner, wanted, weight.shape))
    total = None
    for level, ((high, wide), begin) in enumerate(zip(sizes, begins)):
        if begin + high * wide > keys:
            raise ValueError(complaint("shape", owner, f"maps inside {keys} keys", sizes))
        part = ops.transpose(value[:, begin : begin + high * wide], (0, 2, 3, 1))
        images = ops.reshape(part, (rows * heads, width, high, wide))
        grid = ops.transpose(locations[:, :, :, level], (0, 2, 1, 3, 4)) * 2 - 1
        grid = ops.reshape(grid, (rows * heads, queries, points, 2))
        found = ops.grid_sample(images, grid, "bilinear", "zeros", False)  # (N heads, D, queries, points)
        share = ops.reshape(ops.transpose(weight[:, :, :, level], (0, 2, 1, 3)), (rows * heads, 1, queries, points))
        summed = ops.sum(found * share, -1)
        total = summed if total is None else total + summed
    out = ops.reshape(total, (rows, heads * width, queries))
    return ops.transpose(out, (0, 2, 1))


class ReshapeAndCache(Primitive):
    """Writes new keys and values into caches of blocks, and returns the keys.

    Call:
        key, value (Tensor): (N, S, H) or (tokens, H).
        key_cache, value_cache (Tensor): (blocks, block_size, H) or (blocks, block_size, N, D), updated.
        slot_mapping (Tensor): (tokens,) integers, the place of each token in the caches; below 0 for none.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.
        IndexError: if a place is not there.

    Examples:
        >>> import dist_ms as ms
        >>> cache = ms.ops.zeros((2, 2, 1))
        >>> x = ms.Tensor([[1.0], [2.0]])
        >>> _ = ms.ops.ReshapeAndCache()(x, x, cache, cache.copy(), ms.Tensor([3, -1]))
        >>> print(cache.reshape(4))
        [0. 0. 0. 1.]
    """

    differentiable = False

    def __call__(
        self, key: Tensor, value: Tensor, key_cache: Tensor, value_cache: Tensor, slot_mapping: Tensor
    ) -> Tensor:
        slots = integral(tensor(slot_mapping, "slot_mapping", self.name).array(), "slot_mapping", self.name).reshape(-1)
        used = slots >= 0
        for name, new, cache in (("key", key, key_cache), ("value", value, value_cache)):
            blocks = tensor(cache, f"{name}_cache", self.name).array()
            width = math.prod(blocks.shape[2:])
            rows = tensor(new, name, self.name).array().reshape(-1, width)
            if len(rows) != len(slots) or rows.dtype != blocks.dtype:
                raise ValueError(complaint(name, self.name, f"{len(slots)} rows of {blocks.dtype}", new.shape))
            if used.any() and slots.max() >= blocks.shape[0] * blocks.shape[1]:
                raise IndexError(complaint("slot_mapping", self.name, f"below {blocks.size // width}", slots.max()))
            changed = blocks.reshape(-1, width).copy()
            changed[slots[used]] = rows[used]
            cache.copy_(wrap(changed.reshape(blocks.shape)))
        return key
