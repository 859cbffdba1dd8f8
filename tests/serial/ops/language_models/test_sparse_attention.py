"""Attention to a part of the keys, compared with the formulas in NumPy, row by row."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, ops
from tests.gradcheck import check_gradient


def draw(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def softmax(x):
    if not x.size or np.isneginf(x).all():
        return np.zeros_like(x)
    e = np.exp(x - x.max())
    return e / e.sum()


def test_compressed():
    x, w, ends = draw(0, 11, 2, 3), draw(1, 3, 2), (6, 8, 11)
    found = ops.nsa_compress(Tensor(x), Tensor(w), 3, 2, actual_seq_len=ends)
    firsts = [0, 2, 8]
    wanted = np.stack([(x[f : f + 3] * w[:, :, None]).sum(0) for f in firsts])
    np.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-5, atol=1e-6)
    low = ops.nsa_compress(Tensor(x, ms.float16), Tensor(w, ms.float16), 3, 2, actual_seq_len=ends)
    assert low.dtype is ms.float16
    np.testing.assert_allclose(low.asnumpy(), wanted, rtol=1e-2, atol=2e-2)


def test_compressed_attention_and_the_blocks_it_chooses():
    q, k, v = draw(0, 5, 4, 6), draw(1, 9, 2, 6), draw(2, 9, 2, 5)
    q_ends, k_ends, s_ends = (2, 5), (4, 9), (3, 6)
    hidden = np.random.default_rng(3).random((3, 5)) < 0.2
    unwanted = np.random.default_rng(4).random((3, 3)) < 0.2
    out, blocks, largest, total = ops.nsa_compress_attention(
        *map(Tensor, (q, k, v)),
        0.4,
        4,
        32,
        16,
        64,
        2,
        topk_mask=Tensor(unwanted),
        atten_mask=Tensor(hidden),
        actual_seq_qlen=q_ends,
        actual_cmp_seq_kvlen=k_ends,
        actual_sel_seq_kvlen=s_ends,
    )
    assert largest.shape == total.shape == (5, 4, 8) and blocks.dtype is ms.int32
    for s, (q0, q1, k0, k1) in enumerate(((0, 2, 0, 4), (2, 5, 4, 9))):
        for t in range(q0, q1):
            importance = np.zeros((2, 3))
            for h in range(4):
                scores = k[k0:k1, h // 2] @ q[t, h] * 0.4
                scores[hidden[t - q0, : k1 - k0]] = -np.inf
                p = softmax(scores)
                np.testing.assert_allclose(out.asnumpy()[t, h], p @ v[k0:k1, h // 2], rtol=1e-4, atol=1e-5)
                np.testing.assert_allclose(largest.asnumpy()[t, h], scores.max(), rtol=1e-5)
                np.testing.assert_allclose(total.asnumpy()[t, h], np.exp(scores - scores.max()).sum(), rtol=1e-5)
                for j in range(3):
                    for m in range(4):
                        for n in range(2):
                            if 0 <= 4 * j - m - n < k1 - k0:
                                importance[h // 2, j] += p[4 * j - m - n]
            importance[:, unwanted[t - q0]] = -np.inf
            for g in range(2):
                assert blocks.asnumpy()[t, g].tolist() == np.argsort(-importance[g], kind="stable")[:2].tolist(), s


def test_attention_to_chosen_blocks():
    q, k, v = draw(0, 4, 4, 3), draw(1, 11, 2, 3), draw(2, 11, 2, 2)
    chosen = np.random.default_rng(3).permuted(np.tile(np.arange(2), (4, 2, 1)), axis=-1).astype(np.int32)
    chosen[2:] = [[0, 2], [1, 0]]  # the second sequence has 6 keys: block 2 is one of two keys
    out, largest, total = ops.nsa_select_attention(
        *map(Tensor, (q, k, v, chosen)), 0.5, 4, 2, 2, actual_seq_qlen=(2, 4), actual_seq_kvlen=(6, 11)
    )
    for t in range(4):
        begin, length = (0, 6) if t < 2 else (6, 5)
        for h in range(4):
            places = [b * 2 + i for b in chosen[t, h // 2] for i in range(2) if b * 2 + i < length]
            scores = k[begin:, h // 2][places] @ q[t, h] * 0.5
            np.testing.assert_allclose(out.asnumpy()[t, h], softmax(scores) @ v[begin:, h // 2][places], rtol=1e-4)
            np.testing.assert_allclose(largest.asnumpy()[t, h], scores.max(), rtol=1e-5)
            np.testing.assert_allclose(total.asnumpy()[t, h], np.exp(scores - scores.max()).sum(), rtol=1e-5)
    check_gradient(
        lambda a, b, c: ops.nsa_select_attention(
            a, b, c, Tensor(chosen), 0.5, 4, 2, 2, actual_seq_qlen=(2, 4), actual_seq_kvlen=(6, 11)
        )[0],
        *(x.astype(np.float64) for x in (q, k, v)),
    )


@pytest.mark.parametrize("layout", ["BSND", "TND", "PA_BSND"])
def test_indexer_and_sparse_attention(layout):
    lengths, q_lengths, size = [5, 7], [2, 4], 3
    q, w = draw(0, 2, 4, 3, 6), draw(1, 2, 4, 3)
    key, rope, q_rope = draw(2, 2, 7, 1, 6), draw(3, 2, 7, 1, 2), draw(4, 2, 4, 3, 2)
    options = {"layout_query": "BSND", "actual_seq_lengths_query": q_lengths}
    laid = {"q": q, "w": w, "k": key, "r": rope, "qr": q_rope}
    if layout == "TND":
        of_q = [b * 4 + i for b, n in enumerate(q_lengths) for i in range(n)]
        of_k = [b * 7 + i for b, n in enumerate(lengths) for i in range(n)]
        laid = {n: x.reshape(-1, *x.shape[2:])[of_q if n in ("q", "w", "qr") else of_k] for n, x in laid.items()}
        options = {"layout_query": "TND", "actual_seq_lengths_query": [2, 6]}
        kv_lengths, table = [5, 12], None
    elif layout == "PA_BSND":
        blocks = np.random.default_rng(5).permutation(6).reshape(2, 3)
        for n in ("k", "r"):
            paged = np.zeros((6, size, 1, laid[n].shape[-1]), np.float32)
            for b in range(2):
                for i in range(7):
                    paged[blocks[b, i // size], i % size] = laid[n][b, i]
            laid[n] = paged
        kv_lengths, table = lengths, Tensor(blocks.astype(np.int32))
    else:
        kv_lengths, table = lengths, None
    x = {n: Tensor(a) for n, a in laid.items()}
    values_too = layout != "PA_BSND"
    places, values = ops.lightning_indexer(
        x["q"], x["k"], x["w"], layout_key=layout, actual_seq_lengths_key=kv_lengths, block_table=table,
        sparse_count=4, return_value=values_too, **options,
    )  # fmt: skip
    out, largest, total = ops.sparse_flash_attention(
        x["q"], x["k"], x["k"], places, 0.3, query_rope=x["qr"], key_rope=x["r"], attention_mode=2, layout_kv=layout,
        actual_seq_lengths_kv=kv_lengths, block_table=table, return_softmax_lse=values_too, **options,
    )  # fmt: skip
    assert places.shape == (*x["q"].shape[:-2], 1, 4) and out.shape == x["q"].shape
    row = 0
    for b in range(2):
        for i in range(q_lengths[b]):
            at = (row,) if layout == "TND" else (b, i)
            seen = lengths[b] - q_lengths[b] + i + 1
            scores = (np.maximum(q[b, i] @ key[b, :seen, 0].T, 0) * w[b, i][:, None]).sum(0)
            best = np.argsort(-scores, kind="stable")[:4]
            wanted = best.tolist() + [-1] * (4 - len(best))
            assert places.asnumpy()[at][0].tolist() == wanted
            if values_too:
                np.testing.assert_allclose(values.asnumpy()[at][0][: len(best)], scores[best], rtol=1e-4, atol=1e-5)
                assert np.isneginf(values.asnumpy()[at][0][len(best) :]).all()
            for h in range(3):
                s = (key[b, best, 0] @ q[b, i, h] + rope[b, best, 0] @ q_rope[b, i, h]) * 0.3
                np.testing.assert_allclose(out.asnumpy()[at][h], softmax(s) @ key[b, best, 0], rtol=1e-4, atol=1e-5)
                if values_too:
                    of = (0, row, h) if layout == "TND" else (b, 0, i, h)
                    np.testing.assert_allclose(largest.asnumpy()[of], s.max(), rtol=1e-5)
                    np.testing.assert_allclose(total.asnumpy()[of], np.exp(s - s.max()).sum(), rtol=1e-5)
            row += 1
    if layout == "BSND":
        assert not out.asnumpy()[0, 2:].any()  # queries beyond their row's length


def test_blocks_of_several_keys_and_all_of_them():
    q, k = draw(0, 1, 3, 2, 4), draw(1, 1, 6, 1, 4)
    chosen = Tensor(np.array([[[[2, 0]], [[1, -1]], [[0, 1]]]], np.int32))
    out = ops.sparse_flash_attention(Tensor(q), Tensor(k), Tensor(k), chosen, 1.0, sparse_block_size=2, sparse_mode=0)[
        0
    ]
    for i, places in enumerate(([4, 5, 0, 1], [2, 3], [0, 1, 2, 3])):
        for h in range(2):
            wanted = softmax(k[0, places, 0] @ q[0, i, h]) @ k[0, places, 0]
            np.testing.assert_allclose(out.asnumpy()[0, i, h], wanted, rtol=1e-4, atol=1e-5)
    check_gradient(
        lambda a, b, c: ops.sparse_flash_attention(a, b, c, chosen, 1.0, sparse_block_size=2)[0],
        *(x.astype(np.float64) for x in (q, k, k * 0.5)),
    )


ONE = np.ones((4, 1, 2), np.float32)


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda x: ops.nsa_compress(x, x, 4, 2, actual_seq_len=[4]), RuntimeError, "'weight' must be"),
        (lambda x: ops.nsa_compress(x, x[:, :, 0], 4, 5, actual_seq_len=[4]), ValueError, "compress_stride"),
        (lambda x: ops.nsa_compress(x, x[:, :, 0], 4, 2, actual_seq_len=[3]), RuntimeError, "rise to 4"),
        (lambda x: ops.nsa_compress(x, 1, 4, 2, actual_seq_len=[4]), TypeError, "weight"),
        (lambda x: select(x, head_num=2), RuntimeError, "head_num"),
        (lambda x: select(x, mask=x), ValueError, "atten_mask"),
        (lambda x: select(x, blocks=9), RuntimeError, "numbers of blocks"),
        (lambda x: ops.lightning_indexer(x, x, x[:, :, 0], layout_query="BNSD"), ValueError, "layout_query"),
        (lambda x: ops.lightning_indexer(x, x, x[:, :, 0], layout_query="TND"), RuntimeError, "layout_key"),
        (lambda x: tnd(x), RuntimeError, "given in layout TND"),
        (lambda x: sparse(x, sparse_mode=2), ValueError, "sparse_mode"),
        (lambda x: sparse(x, attention_mode=2), ValueError, "attention_mode"),
        (lambda x: sparse(x, layout_kv="PA_BSND"), RuntimeError, "block_table"),
        (lambda x: sparse(x, pre_tokens=3), ValueError, "pre_tokens"),
    ],
)
def test_refused(call, error, match):
    with pytest.raises(error, match=match):
        call(Tensor(ONE))


def select(x, head_num=1, mask=None, blocks=0):
    chosen = ops.full((4, 1, 1), blocks, dtype=ms.int32)
    ends = {"actual_seq_qlen": [4], "actual_seq_kvlen": [4]}
    return ops.nsa_select_attention(x, x, x, chosen, 0.7, head_num, 2, 1, atten_mask=mask, **ends)


def tnd(x):
    return ops.lightning_indexer(x, x, x[:, :, 0], layout_query="TND", layout_key="TND")


def sparse(x, **options):
    x = ops.expand_dims(x, 0)
    return ops.sparse_flash_attention(x, x, x, ops.zeros((1, 4, 1, 1), ms.int32), 1.0, **options)
