"""Attention and routing that MindSpore has on Ascend only, against plain NumPy."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, ops

F = np.float32
RNG = np.random.default_rng(0)


def plain(q, k, v, scale, hidden=None, shift=0.0):
    scores = q @ k.swapaxes(-1, -2) * scale + shift
    if hidden is not None:
        scores = np.where(hidden, -np.inf, scores)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


def heads(x, n):
    return x.reshape(*x.shape[:2], n, -1).swapaxes(1, 2)


def test_attention_to_a_prompt():
    q, k, v = (RNG.normal(size=(2, n, 8)).astype(F) for n in (3, 5, 5))
    mask = RNG.random((2, 3, 5)) < 0.3
    mask[..., 0] = False
    shift = RNG.normal(size=(1, 2, 3, 5)).astype(F)
    parts = [heads(x, 2) for x in (q, k, v)]
    found = ops.prompt_flash_attention(*map(Tensor, parts), num_heads=2, scale_value=0.5, input_layout="BNSD")
    assert np.allclose(found.asnumpy(), plain(*parts, 0.5), atol=1e-5)
    options = {"num_heads": 2, "scale_value": 0.5, "sparse_mode": 1, "pse_shift": Tensor(shift)}
    found = ops.prompt_flash_attention(Tensor(q), Tensor(k), Tensor(v), Tensor(mask), **options).asnumpy()
    wanted = plain(*parts, 0.5, mask[:, None], shift).swapaxes(1, 2).reshape(2, 3, 8)
    assert np.allclose(found, wanted, atol=1e-5)
    lengths = {"actual_seq_lengths": [3, 2], "actual_seq_lengths_kv": Tensor([5, 4])}
    found = ops.prompt_flash_attention(Tensor(q), Tensor(k), Tensor(v), num_heads=2, scale_value=0.5, **lengths)
    hidden = (np.arange(5) >= np.array([5, 4])[:, None])[:, None, None]
    wanted = plain(*parts, 0.5, hidden).swapaxes(1, 2).reshape(2, 3, 8)
    wanted[1, 2] = 0
    assert np.allclose(found.asnumpy(), wanted, atol=1e-5)
    for wrong in ({"quant_scale1": Tensor([1.0])}, {"input_layout": "TND"}, {"actual_seq_lengths": [1]}):
        with pytest.raises(ValueError, match=f"'{next(iter(wrong))}' must be"):
            ops.prompt_flash_attention(Tensor(q), Tensor(k), Tensor(v), num_heads=2, **wrong)


def test_attention_of_one_query():
    q, k, v = (RNG.normal(size=(2, n, 8)).astype(F) for n in (1, 6, 6))
    parts = [heads(x, 2) for x in (q, k, v)]
    hidden = np.arange(6) >= np.array([6, 3])[:, None]
    wanted = plain(*parts, 0.5, hidden[:, None, None]).swapaxes(1, 2).reshape(2, 1, 8)
    options = {"num_heads": 2, "scale_value": 0.5}
    rows = [[Tensor(x[i : i + 1]) for i in range(2)] for x in (k, v)]
    found = [
        ops.incre_flash_attention(Tensor(q), [Tensor(k)], [Tensor(v)], actual_seq_lengths=[6, 3], **options),
        ops.incre_flash_attention(Tensor(q), *rows, Tensor(hidden), **options),
    ]
    blocks = [np.concatenate([x.reshape(4, 3, 8)[::-1], np.zeros((1, 3, 8), F)]) for x in (k, v)]
    table = Tensor([[3, 2], [1, 0]])
    found.append(
        ops.incre_flash_attention(
            Tensor(q), Tensor(blocks[0]), Tensor(blocks[1]), Tensor(hidden), block_table=table, **options
        )
    )
    assert all(np.allclose(x.asnumpy(), wanted, atol=1e-5) for x in found)


@pytest.mark.parametrize("layout", ["SBH", "TND"])
def test_attention_to_two_parts_of_the_keys(layout):
    q, k, v = (RNG.normal(size=(2, 3, n, 4)) for n in (5, 6, 6))  # rows, heads
    scores = q @ k.swapaxes(-1, -2)

    def part(cut):
        largest = scores[..., cut].max(-1, keepdims=True)
        weights = np.exp(scores[..., cut] - largest)
        total = weights.sum(-1, keepdims=True)
        return weights @ v[..., cut, :] / total, np.repeat(largest, 8, -1), np.repeat(total, 8, -1)

    def form(out, largest, total):
        if layout == "SBH":
            return out.transpose(2, 0, 1, 3).reshape(5, 2, 12), largest, total
        return [x.transpose(0, 2, 1, 3).reshape(10, 3, -1) for x in (out, largest, total)]

    first, second, whole = (form(*part(cut)) for cut in (slice(0, 2), slice(2, 6), slice(0, 6)))
    ends = Tensor([0, 5, 10])
    found = ops.ring_attention_update(*map(Tensor, (*first, *second)), actual_seq_qlen=ends, layout=layout)
    assert all(np.allclose(a.asnumpy(), b) for a, b in zip(found, whole))


def test_routing_is_that_of_mindspores_page():
    x = Tensor(np.array([[0.1, 0.2, 0.3], [0.2, 0.7, 0.8], [0.3, 0.3, 0.5]], np.float16))
    chosen = Tensor(np.array([[0, 1, 1], [2, 1, 1], [0, 0, 0]], np.int32))
    tokens, places, counts = ops.moe_init_routing_v2(x, chosen, 3, 2, 3, 1, 0, True)
    assert places.asnumpy().tolist() == [0, 2, 3, 4, -1, -1, 1, -1, -1] and counts.asnumpy().tolist() == [4, 4, 1]
    a, b, c = x.asnumpy()
    assert np.array_equal(tokens.asnumpy(), np.array([[a, c], [a, a], [b, 0 * b]]))
    tokens, places, counts = ops.moe_init_routing_v2(x, chosen, 0, 0, 3, 0, 1, False)
    assert np.array_equal(tokens.asnumpy(), np.array([a, c, c, c, a, a, b, b, b]))
    assert places.asnumpy().tolist() == [0, 4, 5, 8, 6, 7, 1, 2, 3] and counts.asnumpy().tolist() == [4, 8, 9]
    assert len(ops.moe_init_routing_v2(x, chosen, 3, 0, 3, 0, 0, False)[0]) == 3
    with pytest.raises(ValueError, match="'expert_capacity' must be from 1 to 3"):
        ops.moe_init_routing_v2(x, chosen, 3, 4, 3, 1, 0, False)


def test_deformable_attention_at_the_centres_of_pixels():
    value = RNG.normal(size=(1, 10, 2, 8)).astype(F)  # maps of 2 x 3 and 2 x 2
    sizes, begins = Tensor([[2, 3], [2, 2]]), Tensor([0, 6])
    weight = RNG.random((1, 1, 2, 2, 1)).astype(F)
    places = np.zeros((1, 1, 2, 2, 1, 2), F)
    places[..., 0, :, :], places[..., 1, :, :] = (0.5, 0.75), (0.25, 0.25)  # (1, 1) of the first, (0, 0) of the second
    found = ops.multi_scale_deformable_attn_function(Tensor(value), sizes, begins, Tensor(places), Tensor(weight))
    wanted = value[0, 4] * weight[0, 0, :, 0] + value[0, 6] * weight[0, 0, :, 1]
    assert np.allclose(found.asnumpy(), wanted.reshape(1, 1, 16), atol=1e-5)


def test_new_keys_in_their_blocks():
    keys, values = (Tensor(RNG.normal(size=(2, 2, 3)).astype(F)) for _ in range(2))
    caches = [Tensor(np.zeros((2, 3, 3), F)) for _ in range(2)]
    slots = Tensor(np.array([5, 0, -1, 1], np.int32))
    assert ops.ReshapeAndCache()(keys, values, *caches, slots) is keys
    for new, cache in zip((keys, values), caches):
        rows, flat = new.asnumpy().reshape(4, 3), cache.asnumpy().reshape(6, 3)
        assert np.array_equal(flat[[5, 0, 1]], rows[[0, 1, 3]]) and not flat[2:5].any()
    with pytest.raises(IndexError, match="'slot_mapping' must be below 6"):
        ops.ReshapeAndCache()(keys, values, *caches, slots + 3)
    assert ms.ops.ReshapeAndCache is ops.ReshapeAndCache
