"""ops.flash_attention_score: layouts, modes, masks and errors of MindSpore's documentation; gradients; memory."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, ops
from dist_ms.ops.layers.attention import LayerAttention, layer_attention, whole_attention
from tests.gradcheck import check_gradient
from tests.serial.kernels.attention.test_attention import formula

flash = ops.flash_attention_score


def normal(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape)


def wanted(q, k, v, scale=1.0, bias=0, hidden=False, factors=1):
    return formula(q, k, v, np.zeros_like(q), scale, bias, hidden, factors)[0]


Q, K, V = normal(2, 4, 6, 8), normal(2, 2, 9, 8), normal(2, 2, 9, 8, seed=1)
ORDER = {"BNSD": (0, 1, 2, 3), "BSND": (0, 2, 1, 3), "BSH": (0, 2, 1, 3), "SBH": (2, 0, 1, 3)}


def laid(x, layout):
    x = x.transpose(ORDER[layout])
    return Tensor(x.reshape(*x.shape[:2], -1) if "H" in layout else x)


@pytest.mark.parametrize("layout", ORDER)
def test_layouts(layout):
    found = flash(*(laid(x, layout) for x in (Q, K, V)), 4, scalar_value=0.3, input_layout=layout)
    np.testing.assert_allclose(found.asnumpy(), laid(wanted(Q, K, V, 0.3), layout).asnumpy(), atol=1e-13)


def test_sequences_one_after_the_other():
    q, k, v = normal(7, 4, 8), normal(9, 2, 8), normal(9, 2, 8, seed=1)
    found = flash(
        *(Tensor(x) for x in (q, k, v)),
        4,
        input_layout="TND",
        actual_seq_qlen=(3, 7),
        actual_seq_kvlen=Tensor(np.array([4, 9])),
        sparse_mode=3,
    ).asnumpy()
    for a, b, c, d in [(0, 3, 0, 4), (3, 7, 4, 9)]:
        one = [x.transpose(1, 0, 2)[None] for x in (q[a:b], k[c:d], v[c:d])]
        hidden = np.arange(d - c) > np.arange(b - a)[:, None] + (d - c) - (b - a)
        np.testing.assert_allclose(found[a:b], wanted(*one, hidden=hidden)[0].transpose(1, 0, 2), atol=1e-13)


APART = np.arange(9) - np.arange(6)[:, None]
MASK = np.random.default_rng(3).random((2, 1, 6, 9)) < 0.4
COMPRESSED = Tensor(np.triu(np.ones((2048, 2048), np.uint8), 1))


@pytest.mark.parametrize(
    "options, hidden",
    [
        ({}, False),
        ({"pre_tokens": 1, "next_tokens": 1}, False),
        ({"attn_mask": Tensor(MASK)}, MASK),
        ({"attn_mask": Tensor(MASK[0, 0].astype(np.uint8))}, MASK[0, 0]),
        ({"attn_mask": Tensor(MASK), "pre_tokens": 2, "next_tokens": 1}, MASK | (APART < -2) | (APART > 1)),
        ({"attn_mask": Tensor(MASK), "sparse_mode": 1, "next_tokens": 0}, MASK),
        ({"attn_mask": COMPRESSED, "sparse_mode": 2}, APART > 0),
        ({"sparse_mode": 2}, APART > 0),
        ({"sparse_mode": 3}, APART > 3),
        ({"sparse_mode": 4, "pre_tokens": 2, "next_tokens": 1}, (APART < 1) | (APART > 4)),
        ({"sparse_mode": 5, "prefix": [8, 3]}, (APART > 3) & (np.arange(9) >= np.array([8, 3])[:, None, None, None])),
    ],
)
def test_modes(options, hidden):
    found = flash(*map(Tensor, (Q, K, V)), 4, input_layout="BNSD", **options).asnumpy()
    np.testing.assert_allclose(found, wanted(Q, K, V, hidden=hidden), atol=1e-13)


def test_shift_and_gradients():
    shift = normal(1, 4, 6, 9)
    found = flash(*map(Tensor, (Q, K, V)), 4, real_shift=Tensor(shift), input_layout="BNSD").asnumpy()
    np.testing.assert_allclose(found, wanted(Q, K, V, bias=shift), atol=1e-13)

    def attention(q, k, v, shift):
        return flash(q, k, v, 4, shift, Tensor(drop), keep_prob=0.7, input_layout="BNSD", sparse_mode=3)

    shift, drop = normal(1, 4, 3, 8), np.random.default_rng(0).integers(0, 256, (2, 4, 3, 1), np.uint8)
    check_gradient(attention, normal(2, 4, 3, 5), normal(2, 2, 8, 5), normal(2, 2, 8, 5, seed=1), shift)


def test_drawn_weights_are_those_of_the_gradient():
    def attention(q, k, v):
        ms.set_seed(7)
        return flash(q, k, v, 2, keep_prob=0.6)

    check_gradient(attention, normal(2, 5, 6), normal(2, 70, 6), normal(2, 70, 6, seed=1))
    x = Tensor(normal(1, 4, 8))
    assert (flash(x, x, x, 2, keep_prob=0.5) != flash(x, x, x, 2, keep_prob=0.5)).any()


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16, ms.float32])
def test_dtypes(dtype):
    q, k, v = (ops.cast(Tensor(x), dtype) for x in (Q, K, V))
    found = flash(q, k, v, 4, input_layout="BNSD")
    assert found.dtype == dtype and found.shape == q.shape
    exact = wanted(*(ops.cast(x, ms.float64).asnumpy() for x in (q, k, v)))
    np.testing.assert_allclose(ops.cast(found, ms.float64).asnumpy(), exact, atol=1e-6 if dtype == ms.float32 else 0.02)


def test_the_scores_are_never_whole():
    x = Tensor(np.random.default_rng(0).standard_normal((1, 4096, 32)).astype(np.float32))
    ms.runtime.reset_peak_memory_stats()
    before = ms.runtime.memory_allocated()
    ms.grad(lambda x: ops.sum(flash(x, x, x, 2, sparse_mode=2)))(x)
    used = ms.runtime.max_memory_allocated() - before
    assert used < 2 * 4096 * 4096 * 4 / 8


@pytest.mark.parametrize("length, by_blocks", [(64, True), (80, False)])
def test_layers_take_all_weights_or_blocks_by_size(length, by_blocks, monkeypatch):
    q, k, v = (Tensor(normal(2, 2, 33, length, seed=i).astype(np.float32)) for i in range(3))
    bias = Tensor(normal(2, 2, 33, 33).astype(np.float32))
    forward, calls = LayerAttention.forward, []
    monkeypatch.setattr(LayerAttention, "forward", lambda *args: calls.append(args) or forward(*args))

    def run(q, k, v, bias):
        return ops.sum(ops.sin(layer_attention(q, k, v, bias, 0.1, 0.0)))

    def whole(q, k, v, bias):
        return ops.sum(ops.sin(whole_attention(q, k, v, bias, 0.1, 0.0)[0]))

    found, grads = ms.value_and_grad(run, (0, 1, 2, 3))(q, k, v, bias)
    assert len(calls) == by_blocks
    wanted, grads_wanted = ms.value_and_grad(whole, (0, 1, 2, 3))(q, k, v, bias)
    np.testing.assert_allclose(found.asnumpy(), wanted.asnumpy(), rtol=1e-4)
    for one, other in zip(grads, grads_wanted):
        np.testing.assert_allclose(one.asnumpy(), other.asnumpy(), atol=1e-4)
    calls.clear()
    assert layer_attention(q, k, v, bias, 0.1, 0.0).shape == q.shape and calls


def test_layers_hold_no_scores_of_long_sequences():
    x = Tensor(np.random.default_rng(0).standard_normal((1, 1, 4096, 128)).astype(np.float32))
    ms.runtime.reset_peak_memory_stats()
    before = ms.runtime.memory_allocated()
    ms.grad(lambda x: ops.sum(layer_attention(x, x, x, None, 0.1, 0.0)))(x)
    assert ms.runtime.max_memory_allocated() - before < 4096 * 4096 * 4


@pytest.mark.parametrize(
    "changes, error, text",
    [
        ({"query": 1}, TypeError, "query"),
        ({"query": Tensor(Q.astype(np.float32))}, TypeError, "dtype"),
        ({"head_num": 0}, RuntimeError, "head_num"),
        ({"head_num": 3}, RuntimeError, "query"),
        ({"input_layout": 1}, TypeError, "input_layout"),
        ({"input_layout": "SBND"}, ValueError, "input_layout"),
        ({"input_layout": "BSH"}, ValueError, "query"),
        ({"sparse_mode": 6}, RuntimeError, "sparse_mode"),
        ({"sparse_mode": 1}, RuntimeError, "attn_mask"),
        ({"sparse_mode": 2, "attn_mask": Tensor(MASK)}, RuntimeError, "attn_mask"),
        ({"sparse_mode": 5}, ValueError, "prefix"),
        ({"attn_mask": Tensor(MASK.astype(np.int32))}, TypeError, "attn_mask"),
        ({"attn_mask": Tensor(MASK[..., :8])}, RuntimeError, "attn_mask"),
        ({"padding_mask": Tensor(MASK)}, ValueError, "padding_mask"),
        ({"real_shift": Tensor(np.ones((2, 4, 6, 9), np.float32))}, TypeError, "real_shift"),
        ({"real_shift": Tensor(np.ones((2, 1, 6, 9)))}, ValueError, "real_shift"),
        ({"drop_mask": Tensor(np.ones((2, 4, 6, 1), np.uint8)), "keep_prob": 0.5}, ValueError, "drop_mask"),
        ({"keep_prob": 0}, ValueError, "keep_prob"),
        ({"sparse_mode": 4, "pre_tokens": -2, "next_tokens": 1}, ValueError, "pre_tokens"),
        ({"value": Tensor(V[:, :, :5])}, RuntimeError, "value"),
        ({"actual_seq_qlen": [6]}, ValueError, "actual_seq_qlen"),
    ],
)
def test_errors(changes, error, text):
    call = {"query": Tensor(Q), "key": Tensor(K), "value": Tensor(V), "head_num": 4, "input_layout": "BNSD", **changes}
    with pytest.raises(error, match=f"For 'flash_attention_score', .*{text}"):
        flash(**call)
