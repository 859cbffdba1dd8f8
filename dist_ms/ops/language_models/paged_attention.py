"""Attention of new tokens to keys that lie in blocks, and the turning of queries and keys by their positions."""

from __future__ import annotations

import math

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_non_negative_int, check_number, check_positive_int, check_string, complaint
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import integral, tensor
from dist_ms.ops.language_models.native_sparse_attention import softmax_parts, wide_type
from dist_ms.ops.primitive import Primitive

__all__ = ["ApplyRotaryPosEmb", "PagedAttention", "PagedAttentionMask"]


def _cached(
    cache: Tensor, table: np.ndarray, antiquant: tuple[Tensor | None, Tensor | None], part: int, owner: str
) -> Tensor:
    """The keys or values of each token, (tokens, longest, N, D), from the blocks that hold them."""
    scale, offset = antiquant
    found = ops.gather(cache, wrap(np.maximum(table, 0)), 0)
    found = ops.reshape(found, (len(table), -1, *cache.shape[2:]))
    if cache.array().dtype == np.int8:
        if scale is None:
            raise ValueError(complaint("antiquant_scale", owner, "given for caches of int8", None))
        found = ops.cast(found, scale.dtype)
        if offset is not None:
            found = found + ops.reshape(offset[part], cache.shape[2:])
        return found * ops.reshape(scale[part], cache.shape[2:])
    for name, given in (("antiquant_scale", scale), ("antiquant_offset", offset)):
        if given is not None:
            raise ValueError(complaint(name, owner, "None, as the caches are not of int8", "a Tensor"))
    return found


class PagedAttention(Primitive):
    """Attention of new tokens to the keys of their sequences, which lie in blocks.

    Args:
        head_num: N, of the queries.
        scale_value: of the products of queries and keys.
        kv_head_num: heads of the keys; it divides N.
        kv_cache_quant_mode: "DEFAULT": int8 caches have a scale and an offset for each element of a token.
        mask_mode: "MASK_DEFAULT", or "TRAPEZOIDAL": token i of a sequence's q new ones sees keys up to i + keys - q.
        mla_v_dim: 0, or how many elements of a key are its value, of one cache for both.

    Call:
        query (Tensor): (tokens, N, D) or (tokens, N D).
        key_cache, value_cache (Tensor): (blocks, block_size, kv_head_num, D).
        block_tables (Tensor): (tokens or sequences, blocks of each) integers, below 0 for none.
        context_lens (Tensor): (tokens or sequences,) how many keys each has.
        antiquant_scale, antiquant_offset (Tensor): (2, kv_head_num D), of the keys and of the values, for int8 caches:
            a value is (number + offset) times scale.
        attn_mask (Tensor): (tokens, longest) added to the scores.
        q_seq_lens (Tensor): (sequences,) how many tokens each has; without it each token is a sequence.
        alibi_mask (Tensor): (tokens, longest) or (tokens, N, longest), added to the scores, too.

    Returns:
        Tensor of the shape of `query`; with `mla_v_dim` its last length is that of the values.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if an option is another, or the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> cache, query = ms.ops.ones((3, 2, 1, 4)), ms.ops.ones((2, 1, 4))
        >>> attention = ms.ops.PagedAttention(1, 0.5, 1)
        >>> attention(query, cache, cache, ms.Tensor([[2, 0], [1, -1]]), ms.Tensor([3, 1])).shape
        (2, 1, 4)
    """

    def __init__(
        self,
        head_num: int,
        scale_value: float,
        kv_head_num: int,
        kv_cache_quant_mode: str = "DEFAULT",
        mask_mode: str = "MASK_DEFAULT",
        mla_v_dim: int = 0,
    ) -> None:
        self.head_num = check_positive_int(head_num, "head_num", self.name)
        self.scale_value = check_number(scale_value, "scale_value", self.name)
        self.kv_head_num = check_positive_int(kv_head_num, "kv_head_num", self.name)
        if head_num % kv_head_num:
            raise ValueError(complaint("kv_head_num", self.name, f"a divisor of {head_num}", kv_head_num))
        self.kv_cache_quant_mode = check_string(kv_cache_quant_mode, "kv_cache_quant_mode", self.name, ["DEFAULT"])
        self.mask_mode = check_string(mask_mode, "mask_mode", self.name, ["MASK_DEFAULT", "TRAPEZOIDAL"])
        self.mla_v_dim = check_non_negative_int(mla_v_dim, "mla_v_dim", self.name)

    def __call__(
        self,
        query: Tensor,
        key_cache: Tensor,
        value_cache: Tensor | None,
        block_tables: Tensor,
        context_lens: Tensor,
        antiquant_scale: Tensor | None = None,
        antiquant_offset: Tensor | None = None,
        attn_mask: Tensor | None = None,
        q_seq_lens: Tensor | None = None,
        alibi_mask: Tensor | None = None,
    ) -> Tensor:
        table = integral(tensor(block_tables, "block_tables", self.name).array(), "block_tables", self.name)
        lengths = integral(tensor(context_lens, "context_lens", self.name).array(), "context_lens", self.name)
        tokens = tensor(query, "query", self.name).shape[0]
        last = lengths
        if q_seq_lens is not None:
            counts = integral(tensor(q_seq_lens, "q_seq_lens", self.name).array(), "q_seq_lens", self.name)
            if counts.shape != lengths.shape or counts.sum() != tokens or (counts < 0).any():
                wanted = f"{len(lengths)} ints whose sum is {tokens}"
                raise ValueError(complaint("q_seq_lens", self.name, wanted, counts.tolist()))
            which = np.repeat(np.arange(len(counts)), counts)
            turn = np.arange(tokens) - np.repeat(np.cumsum(counts) - counts, counts)
            causal = self.mask_mode == "TRAPEZOIDAL"
            last = (lengths - counts)[which] + turn + 1 if causal else lengths[which]
            table, lengths = table[which], lengths[which]
        if table.ndim != 2 or table.shape[0] != tokens or lengths.shape != (tokens,):
            raise ValueError(complaint("block_tables", self.name, f"a row of blocks for {tokens} tokens", table.shape))
        if tensor(key_cache, "key_cache", self.name).ndim != 4 or key_cache.shape[2] != self.kv_head_num:
            wanted = f"(blocks, size, {self.kv_head_num}, D)"
            raise ValueError(complaint("key_cache", self.name, wanted, key_cache.shape))
        longest = table.shape[1] * key_cache.shape[1]
        if lengths.size and not (0 <= lengths.min() and lengths.max() <= longest):
            raise ValueError(complaint("context_lens", self.name, f"from 0 to {longest}", lengths.tolist()))
        antiquant = (antiquant_scale, antiquant_offset)
        keys = _cached(key_cache, table, antiquant, 0, self.name)
        if self.mla_v_dim:
            values = keys[..., : self.mla_v_dim]
        else:
            values = _cached(tensor(value_cache, "value_cache", self.name), table, antiquant, 1, self.name)
        hidden = np.arange(longest) >= last[:, None]
        out = self._attend(query, keys, values, hidden, attn_mask, alibi_mask)
        width = values.shape[-1]
        return ops.reshape(out, (tokens, self.head_num * width) if query.ndim == 2 else (tokens, self.head_num, width))

    def _attend(self, query: Tensor, keys: Tensor, values: Tensor, hidden: np.ndarray, *added: Tensor | None) -> Tensor:
        tokens, longest, groups, width = keys.shape
        if math.prod(query.shape[1:]) != self.head_num * width:
            wanted = f"(tokens, {self.head_num}, {width})"
            raise ValueError(complaint("query", self.name, wanted, query.shape))
        wide = wide_type(query)
        q = ops.reshape(ops.cast(query, wide), (tokens, groups, -1, width))
        k, v = (ops.transpose(ops.cast(x, wide), (0, 2, 1, 3)) for x in (keys, values))
        scores = ops.BatchMatMul(transpose_b=True)(q, k) * self.scale_value
        for name, mask in zip(("attn_mask", "alibi_mask"), added):
            if mask is not None:
                scores = scores + self._bias(mask, name, tokens, longest, groups)
        weights = softmax_parts(scores, hidden[:, None, None])[0]
        return ops.cast(ops.BatchMatMul()(weights, v), query.dtype)

    def _bias(self, mask: Tensor, name: str, tokens: int, longest: int, groups: int) -> Tensor:
        """A mask as what is added to the scores, (tokens, groups, heads of each, longest)."""
        shape = tuple(n for n in tensor(mask, name, self.name).shape if n != 1 or mask.ndim <= 3)
        if shape in ((tokens, longest), (tokens, self.head_num, longest)):
            found = ops.cast(ops.reshape(mask, (tokens, -1, longest)), wide_type(mask))
            found = ops.broadcast_to(found, (tokens, self.head_num, longest))
            return ops.reshape(found, (tokens, groups, -1, longest))
        wanted = f"{(tokens, longest)} or {(tokens, self.head_num, longest)}"
        raise ValueError(complaint(name, self.name, wanted, mask.shape))


class PagedAttentionMask(PagedAttention):
    """A `PagedAttention` with a bias of the scores, as ALiBi has (Press and others, "Train Short, Test Long", 2022).

    Args:
        head_num, scale_value, kv_head_num, kv_cache_quant_mode: as there.

    Call:
        query, key_cache, value_cache, block_tables, context_lens, antiquant_scale, antiquant_offset: as there.
        alibi_mask (Tensor): (tokens, N, 1, longest) or (tokens, N, longest), added to the scores.
        attn_mask (Tensor): (tokens, 1, longest) or (tokens, longest), added to them, too.

    Returns:
        Tensor of the shape of `query`.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if an option is another, or the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> cache, query, bias = ms.ops.ones((3, 2, 1, 4)), ms.ops.ones((1, 1, 4)), ms.ops.zeros((1, 1, 1, 4))
        >>> attention = ms.ops.PagedAttentionMask(1, 0.5, 1)
        >>> attention(query, cache, cache, ms.Tensor([[2, 0]]), ms.Tensor([3]), alibi_mask=bias).shape
        (1, 1, 4)
    """

    def __init__(
        self, head_num: int, scale_value: float, kv_head_num: int, kv_cache_quant_mode: str = "DEFAULT"
    ) -> None:
        super().__init__(head_num, scale_value, kv_head_num, kv_cache_quant_mode)

    def __call__(  # type: ignore[override]
        self,
        query: Tensor,
        key_cache: Tensor,
        value_cache: Tensor,
        block_tables: Tensor,
        context_lens: Tensor,
        antiquant_scale: Tensor | None = None,
        antiquant_offset: Tensor | None = None,
        alibi_mask: Tensor | None = None,
        attn_mask: Tensor | None = None,
    ) -> Tensor:
        if attn_mask is not None and attn_mask.ndim == 3 and attn_mask.shape[1] == 1:
            attn_mask = attn_mask[:, 0]
        if alibi_mask is not None and alibi_mask.ndim == 4 and alibi_mask.shape[2] == 1:
            alibi_mask = alibi_mask[:, :, 0]
        given = (query, key_cache, value_cache, block_tables, context_lens, antiquant_scale, antiquant_offset)
        return super().__call__(*given, attn_mask=attn_mask, alibi_mask=alibi_mask)


class ApplyRotaryPosEmb(Primitive):
    """Turns queries and keys by the angles of their positions; see `rotary_position_embedding`.

    Args:
        cos_format: which rows of `cos` and `sin` are read: 0: those of `position_ids`, of tables (positions, D);
            2: all in turn, (tokens, D). An element of the first half is paired with that of the second.

    Call:
        query, key (Tensor): (tokens, N D) or (batch, length, N D); their heads have the length D of `cos`.
        cos, sin (Tensor): the cosines and sines of the angles, of each element.
        position_ids (Tensor): (tokens,) integers; not read with `cos_format` 2.

    Returns:
        tuple of the turned queries and keys.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> x, table = ms.Tensor([[1.0, 2.0]]), ms.ops.ones((3, 2))
        >>> print(ms.ops.ApplyRotaryPosEmb(0)(x, x, 0 * table, table, ms.Tensor([1]))[0])
        [[-2.  1.]]
    """

    def __init__(self, cos_format: int = 0) -> None:
        self.cos_format = cos_format
        if cos_format not in (0, 2):
            raise ValueError(complaint("cos_format", self.name, "0 or 2", cos_format))

    def __call__(
        self, query: Tensor, key: Tensor, cos: Tensor, sin: Tensor, position_ids: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        width = tensor(cos, "cos", self.name).shape[-1]
        tables = [ops.reshape(tensor(t, n, self.name), (-1, width)) for t, n in ((cos, "cos"), (sin, "sin"))]
        if self.cos_format == 0:
            places = integral(tensor(position_ids, "position_ids", self.name).array(), "position_ids", self.name)
            if places.size and not (0 <= places.min() and places.max() < tables[0].shape[0]):
                raise ValueError(
                    complaint("position_ids", self.name, f"from 0 to {tables[0].shape[0] - 1}", places.tolist())
                )
            tables = [ops.gather(t, wrap(places.reshape(-1).astype(np.int64)), 0) for t in tables]
        return self._turned(query, "query", width, *tables), self._turned(key, "key", width, *tables)

    def _turned(self, x: Tensor, name: str, width: int, cos: Tensor, sin: Tensor) -> Tensor:
        tokens = math.prod(tensor(x, name, self.name).shape[:-1])
        if x.shape[-1] % width or tokens != cos.shape[0]:
            wanted = f"of {cos.shape[0]} tokens, as there are positions, with heads of {width}"
            raise ValueError(complaint(name, self.name, wanted, x.shape))
        heads = ops.reshape(x, (1, tokens, -1, width))
        wide = wide_type(x)
        turns = [ops.expand_dims(ops.cast(t, wide), 1) for t in (cos, sin)]
        turned = ops.rotary_position_embedding(ops.cast(heads, wide), *turns)
        return ops.cast(ops.reshape(turned, x.shape), x.dtype)
