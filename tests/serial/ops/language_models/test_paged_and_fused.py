"""Paged attention, turning by positions, and the fused forms, compared with plain formulas."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, ops


def draw(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


TABLE = np.array([[3, 1, -1], [0, 4, 2]], np.int32)


def rows_of(cache, row, length):
    return np.concatenate([cache[b] for b in TABLE[row] if b >= 0])[:length]


def attended(q, keys, values, group, scale, bias=0.0):
    """Of one token: (N, D) to (length, groups, D)."""
    out = []
    for head, x in enumerate(q):
        added = bias[head] if np.ndim(bias) == 2 else bias
        out.append(softmax(keys[:, head // group] @ x * scale + added) @ values[:, head // group])
    return np.stack(out)


def test_a_token_per_sequence():
    q, keys, values, lengths = draw(0, 2, 4, 6), draw(1, 5, 2, 2, 6), draw(2, 5, 2, 2, 6), [3, 6]
    attention = ops.PagedAttention(4, 0.4, 2)
    given = [Tensor(x) for x in (q, keys, values, TABLE, np.array(lengths, np.int32))]
    wanted = [attended(q[t], rows_of(keys, t, n), rows_of(values, t, n), 2, 0.4) for t, n in enumerate(lengths)]
    np.testing.assert_allclose(attention(*given).asnumpy(), wanted, rtol=1e-4, atol=1e-5)
    flat = attention(Tensor(q.reshape(2, -1)), *given[1:])
    np.testing.assert_allclose(flat.asnumpy(), np.reshape(wanted, (2, -1)), rtol=1e-4, atol=1e-5)

    bias, mask = draw(3, 2, 4, 6), draw(4, 2, 6)
    both = [
        attended(q[t], rows_of(keys, t, n), rows_of(values, t, n), 2, 0.4, bias[t, :, :n] + mask[t, :n])
        for t, n in enumerate(lengths)
    ]
    found = attention(*given, attn_mask=Tensor(mask), alibi_mask=Tensor(bias))
    np.testing.assert_allclose(found.asnumpy(), both, rtol=1e-4, atol=1e-5)
    masked = ops.PagedAttentionMask(4, 0.4, 2)
    found = masked(*given, alibi_mask=Tensor(bias[:, :, None]), attn_mask=Tensor(mask[:, None]))
    np.testing.assert_allclose(found.asnumpy(), both, rtol=1e-4, atol=1e-5)


def test_several_tokens_of_a_sequence_see_their_past():
    q, keys, counts, lengths = draw(0, 4, 2, 6), draw(1, 5, 2, 2, 6), [1, 3], [3, 6]
    given = [Tensor(x) for x in (q, keys, keys, TABLE, np.array(lengths, np.int32))]
    counted = Tensor(np.array(counts, np.int32))
    causal = ops.PagedAttention(2, 0.4, 2, mask_mode="TRAPEZOIDAL")(*given, q_seq_lens=counted).asnumpy()
    whole = ops.PagedAttention(2, 0.4, 2)(*given, q_seq_lens=counted).asnumpy()
    for token, (row, seen, length) in enumerate([(0, 3, 3), (1, 4, 6), (1, 5, 6), (1, 6, 6)]):
        for found, n in ((causal, seen), (whole, length)):
            part = rows_of(keys, row, n)
            np.testing.assert_allclose(found[token], attended(q[token], part, part, 1, 0.4), rtol=1e-4, atol=1e-5)


def test_values_inside_keys_and_caches_of_int8():
    q, keys = draw(0, 2, 2, 6), draw(1, 5, 2, 1, 6)
    lengths = Tensor(np.array([3, 6], np.int32))
    found = ops.PagedAttention(2, 0.4, 1, mla_v_dim=4)(Tensor(q), Tensor(keys), None, Tensor(TABLE), lengths)
    wanted = [attended(q[t], rows_of(keys, t, n), rows_of(keys, t, n)[..., :4], 2, 0.4) for t, n in enumerate((3, 6))]
    np.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-4, atol=1e-5)

    numbers = np.random.default_rng(2).integers(-9, 9, (5, 2, 1, 6)).astype(np.int8)
    scale, offset = draw(3, 2, 6), draw(4, 2, 6)
    meant = [((numbers + offset[i]) * scale[i]).astype(np.float32) for i in (0, 1)]
    cache = Tensor(numbers)
    given = (Tensor(q), cache, cache, Tensor(TABLE), lengths)
    found = ops.PagedAttention(2, 0.1, 1)(*given, Tensor(scale), Tensor(offset))
    wanted = [attended(q[t], *(rows_of(m, t, n) for m in meant), 2, 0.1) for t, n in enumerate((3, 6))]
    np.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="antiquant_scale"):
        ops.PagedAttention(2, 0.1, 1)(*given)


def test_turned_by_positions():
    q, k, angles = draw(0, 3, 8), draw(1, 3, 4), draw(2, 5, 4)
    cos, sin, places = np.cos(angles), np.sin(angles), np.array([4, 0, 2], np.int32)
    found = ops.ApplyRotaryPosEmb(0)(*map(Tensor, (q, k, cos, sin, places)))
    again = ops.ApplyRotaryPosEmb(2)(*map(Tensor, (q, k, cos[places], sin[places])))
    for x, out, other in zip((q, k), found, again):
        heads = x.reshape(3, -1, 4)
        turned = np.concatenate([-heads[..., 2:], heads[..., :2]], -1)
        wanted = heads * cos[places][:, None] + turned * sin[places][:, None]
        np.testing.assert_allclose(out.asnumpy(), wanted.reshape(x.shape), rtol=1e-5, atol=1e-6)
        assert np.array_equal(out.asnumpy(), other.asnumpy())
    with pytest.raises(ValueError, match="from 0 to 4"):
        ops.ApplyRotaryPosEmb()(*map(Tensor, (q, k, cos, sin, places + 1)))
    with pytest.raises(ValueError, match="0 or 2"):
        ops.ApplyRotaryPosEmb(1)


@pytest.mark.parametrize("layout", ["BSH", "BNSD", "SBH", "BSND", "TND"])
def test_attention_with_its_softmax(layout):
    q, k, v = draw(0, 2, 4, 3, 8), draw(1, 2, 2, 5, 8), draw(2, 2, 2, 5, 8)  # (B, N, S, D)
    pse = draw(3, 2, 4, 3, 5)
    packed = layout == "TND"
    scores = np.einsum("bnsd,bntd->bnst", q, np.repeat(k, 2, 1))
    scores = 0.3 * scores if packed else 0.3 * (scores + pse)
    wanted = np.einsum("bnst,bntd->bnsd", softmax(scores), np.repeat(v, 2, 1))
    turn = {
        "BSH": lambda x: x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1),
        "BNSD": lambda x: x,
        "SBH": lambda x: x.transpose(2, 0, 1, 3).reshape(x.shape[2], x.shape[0], -1),
        "BSND": lambda x: x.transpose(0, 2, 1, 3),
        "TND": lambda x: x.transpose(0, 2, 1, 3).reshape(-1, x.shape[1], x.shape[3]),
    }[layout]
    options = {"actual_seq_qlen": [3, 6], "actual_seq_kvlen": [5, 10]} if packed else {"pse": Tensor(pse)}
    given = [Tensor(np.ascontiguousarray(turn(x))) for x in (q, k, v)]
    out, largest, total, empty, seed, offset, numels = ops.speed_fusion_attention(
        *given, 4, layout, scale=0.3, **options
    )
    np.testing.assert_allclose(out.asnumpy(), turn(wanted), rtol=1e-4, atol=1e-5)
    sums = [scores.max(-1), np.exp(scores - scores.max(-1, keepdims=True)).sum(-1)]
    for found, want in zip((largest, total), sums):
        want = want.transpose(0, 2, 1).reshape(-1, 4) if packed else want
        np.testing.assert_allclose(found.asnumpy(), np.repeat(want[..., None], 8, -1), rtol=1e-4)
    assert empty.size == 0 and (seed, offset, numels) == (0, 0, 0)


def test_bias_after_the_scale_and_dropped_weights():
    q, pse = Tensor(draw(0, 1, 2, 4, 8)), draw(3, 1, 2, 4, 4)
    scores = np.einsum("bnsd,bntd->bnst", *[q.asnumpy()] * 2) * 0.3 + pse
    found = ops.speed_fusion_attention(q, q, q, 2, "BNSD", scale=0.3, pse=Tensor(pse), pse_type=0)[0]
    np.testing.assert_allclose(found.asnumpy(), softmax(scores) @ q.asnumpy(), rtol=1e-4, atol=1e-5)
    ms.set_seed(1)
    first = ops.speed_fusion_attention(q, q, q, 2, "BNSD", keep_prob=0.5)
    ms.set_seed(1)
    second = ops.speed_fusion_attention(q, q, q, 2, "BNSD", keep_prob=0.5)
    assert np.array_equal(first[0].asnumpy(), second[0].asnumpy()) and first[4] == second[4] and first[6] == 32
    for wrong in ({"pse_type": 2}, {"q_start_idx": [0]}, {"padding_mask": q}):
        with pytest.raises(ValueError, match="must be"):
            ops.speed_fusion_attention(q, q, q, 2, "BNSD", **wrong)


def test_attention_for_inference():
    q, k, v = draw(0, 2, 4, 3, 8), draw(1, 2, 2, 5, 8), draw(2, 2, 2, 5, 8)
    hidden = np.random.default_rng(4).random((2, 1, 3, 5)) < 0.3
    hidden[..., 0] = False
    scores = np.einsum("bnsd,bntd->bnst", q, np.repeat(k, 2, 1)) * 0.3
    wanted = softmax(np.where(hidden, -np.inf, scores)) @ np.repeat(v, 2, 1)
    options = {"num_heads": 4, "scale": 0.3, "num_key_value_heads": 2}
    given = [Tensor(x) for x in (q, k, v)]
    found, _ = ops.fused_infer_attention_score(
        *given, atten_mask=Tensor(hidden), input_layout="BNSD", sparse_mode=1, **options
    )
    np.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-4, atol=1e-5)
    turned = [Tensor(np.ascontiguousarray(x.transpose(0, 2, 1, 3))) for x in (q, k, v)]
    plain = softmax(scores) @ np.repeat(v, 2, 1)
    found, _ = ops.fused_infer_attention_score(*turned, input_layout="BSND", **options)
    np.testing.assert_allclose(found.asnumpy(), plain.transpose(0, 2, 1, 3), rtol=1e-4, atol=1e-5)
    one, zero = ops.fused_infer_attention_score(
        Tensor(q[:, :, :1]), [given[1]], [given[2]], actual_seq_lengths_kv=[2, 5], input_layout="BNSD", **options
    )
    short = softmax(scores[:1, :, :1, :2]) @ np.repeat(v[:1, :, :2], 2, 1)
    np.testing.assert_allclose(one.asnumpy()[:1], short, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(one.asnumpy()[1:], plain[1:, :, :1], rtol=1e-4, atol=1e-5)
    assert zero.asnumpy().tolist() == [0]
    for wrong in ({"softmax_lse_flag": True}, {"quant_scale1": given[0]}, {"kv_padding_size": given[0]}):
        with pytest.raises(ValueError, match="must be"):
            ops.fused_infer_attention_score(*given, input_layout="BNSD", **wrong)


def test_a_step_of_an_lstm():
    x, h, c, w, b = draw(0, 2, 3), draw(1, 2, 4), draw(2, 2, 4), draw(3, 7, 16), draw(4, 16)
    found = [t.asnumpy() for t in ops.BasicLSTMCell(forget_bias=0.5)(*map(Tensor, (x, h, c, w, b)))]
    sigmoid = lambda a: 1 / (1 + np.exp(-a))  # noqa: E731
    i, j, f, o = np.split(np.concatenate([x, h], 1) @ w + b, 4, 1)
    new = c * sigmoid(f + 0.5) + sigmoid(i) * np.tanh(j)
    wanted = [new, np.tanh(new) * sigmoid(o), sigmoid(i), np.tanh(j), sigmoid(f + 0.5), sigmoid(o), np.tanh(new)]
    for a, want in zip(found, wanted):
        np.testing.assert_allclose(a, want, rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="keep_prob"):
        ops.BasicLSTMCell(keep_prob=0.5)
    with pytest.raises(ValueError, match="'w' must be of shape"):
        ops.BasicLSTMCell()(*map(Tensor, (x, h, c, w[1:], b)))


def test_groups_of_experts():
    scores = np.random.default_rng(0).random((5, 12)).astype(np.float32)
    for inner in (1, 2):
        x = Tensor(scores.copy())
        found = ops.GroupTopk()(x, Tensor(np.arange(12, dtype=np.int32)), 4, 2, inner)
        for row in range(5):
            groups = scores[row].reshape(4, 3)
            best = np.argsort(-np.sort(groups, -1)[:, -inner:].sum(-1))[:2]
            wanted = np.where(np.isin(np.arange(4), best)[:, None], groups, 0).reshape(-1)
            assert np.array_equal(x.asnumpy()[row], wanted) and found is x
    for wrong in ((5, 2), (4, 5), (4, 2, 4)):
        with pytest.raises(ValueError, match="must be"):
            ops.GroupTopk()(Tensor(scores), Tensor([0]), *wrong)
