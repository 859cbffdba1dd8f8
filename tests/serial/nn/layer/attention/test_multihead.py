"""MultiheadAttention: values and gradients of MindSpore 2.10, a loop in NumPy, masks and errors."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, ops
from dist_ms.nn.layer.attention.multihead import MultiheadAttention
from tests.gradcheck import check_gradient

F = np.float32
HIDDEN = Tensor(np.triu(np.ones((3, 3), bool), 1))
PADDING = Tensor(np.array([[0, 0, 1], [0, 1, 1]], bool))


def fill(net):
    rng = np.random.RandomState(0)
    for p in net.get_parameters():
        p.set_data(Tensor(rng.uniform(-0.7, 0.7, p.shape).astype(F)))
    return net


def rand(*shape):
    return Tensor(np.random.RandomState(sum(shape)).randn(*shape).astype(F))


# MindSpore 2.10: output[1], weights[0], gradient of query[2], sums of the weights' absolute gradients.
PINNED = [
    (
        {},
        [[-0.0323722, -0.4745857, -0.1353195, 0.0798479], [-0.1659352, -0.9237915, 1.0821401, -0.2208172]],
        [[1.0, 0.0, 0.0], [0.5352694, 0.4647307, 0.0], [0.5286934, 0.4713065, 0.0]],
        [[0.0141653, -0.0020259, 0.0008827, -0.0071851], [0.0, 0.0, 0.0, 0.0]],
        [79.507782, 30.3640003, 67.1532211, 23.9450951],
    ),
    (
        {"kdim": 3, "vdim": 5, "has_bias": False},
        [[0.2391005, 0.7885985, 0.7451538, 1.0710944], [-0.0283721, -0.0198391, -0.128171, -0.2351034]],
        [[1.0, 0.0, 0.0], [0.5338011, 0.4661988, 0.0], [0.6075246, 0.3924754, 0.0]],
        [[0.0669518, -0.1025091, 0.1874327, 0.2566924], [0.0, 0.0, 0.0, 0.0]],
        [3.9388938, 3.8638763, 81.8279266, 76.7142029],
    ),
    (
        {"add_bias_kv": True, "add_zero_attn": True},
        [[0.2643489, 0.0492136, 0.4363619, -0.6839713], [0.6642696, -0.09561, 0.293182, -0.7089197]],
        [
            [0.3293017, 0.0, 0.0, 0.3390632, 0.3316351],
            [0.2239068, 0.1942789, 0.0, 0.3323704, 0.2494438],
            [0.2340805, 0.2110642, 0.0, 0.3201804, 0.234675],
        ],
        [[0.0141077, -0.0054623, -0.0416294, -0.0563272], [0.0300278, -0.0431343, 0.0227653, -0.1468112]],
        [10.3052435, 5.1157351, 0.741498, 2.6560469, 15.4445114, 15.491374],
    ),
]


@pytest.mark.parametrize("pinned", PINNED, ids=["self", "lengths", "extended"])
def test_values_of_mindspore(pinned):
    options, *wanted = pinned
    net = fill(MultiheadAttention(4, 2, **options))
    key, value = (rand(3, 2, 3), rand(3, 2, 5)) if "kdim" in options else (None, None)

    def loss(x):
        output, weights = net(x, x if key is None else key, x if value is None else value, PADDING, attn_mask=HIDDEN)
        return ops.sum(output * output * output) + ops.sum(weights * weights), output, weights

    (_, output, weights), (dx, dw) = ms.value_and_grad(loss, 0, net.trainable_params(), has_aux=True)(rand(3, 2, 4))
    for found, numbers in zip((output[1], weights[0], dx[2]), wanted):
        np.testing.assert_allclose(found.asnumpy(), numbers, atol=5e-6)
    np.testing.assert_allclose([np.abs(g.asnumpy()).sum() for g in dw], wanted[3], rtol=5e-5)


def by_hand(net, query, key, value, added):
    """The output and the weights per head in NumPy, for (N, length, embed_dim)."""
    parts = np.split(net.in_proj_weight.asnumpy(), 3), np.split(net.in_proj_bias.asnumpy(), 3)
    q, k, v = (x @ w.T + b for x, w, b in zip((query, key, value), *parts))
    outputs, weights = [], []
    for head in range(net.num_heads):
        one = slice(head * net.head_dim, (head + 1) * net.head_dim)
        scores = q[..., one] @ k[..., one].transpose(0, 2, 1) / np.sqrt(net.head_dim) + added
        e = np.exp(scores - scores.max(-1, keepdims=True))
        weights.append(e / e.sum(-1, keepdims=True))
        outputs.append(weights[-1] @ v[..., one])
    out = np.concatenate(outputs, -1)
    return out @ net.out_proj.weight.asnumpy().T + net.out_proj.bias.asnumpy(), np.stack(weights, 1)


@pytest.mark.parametrize("shared", ["all", "key is value", "none"])
def test_each_way_to_project_is_the_loop(shared):
    net = fill(MultiheadAttention(4, 2, batch_first=True))
    query = rand(2, 3, 4)
    key = query if shared == "all" else rand(2, 5, 4)
    value = key if shared != "none" else rand(2, 5, 4) * 2
    wanted = by_hand(net, *(x.asnumpy() for x in (query, key, value)), 0)
    found = net(query, key, value, average_attn_weights=False)
    for x, numbers in zip(found, wanted):
        np.testing.assert_allclose(x.asnumpy(), numbers, atol=2e-6)
    np.testing.assert_allclose(net(query, key, value)[1].asnumpy(), wanted[1].mean(1), atol=1e-6)


def test_masks_are_added_or_hide():
    net, x, y = fill(MultiheadAttention(4, 2, batch_first=True)), rand(2, 3, 4), rand(2, 3, 4).asnumpy()
    scores, keys = rand(3, 3), rand(2, 3)
    infinite = np.where(HIDDEN.asnumpy(), -np.inf, 0)
    both = np.where(PADDING.asnumpy()[:, None] | HIDDEN.asnumpy(), -np.inf, 0)
    for attn_mask, padding, added in [
        (scores, None, scores.asnumpy()),
        (None, keys, keys.asnumpy()[:, None]),
        (scores, keys, scores.asnumpy() + keys.asnumpy()[:, None]),
        (HIDDEN, None, infinite),
        (ops.cast(HIDDEN, ms.uint8), None, infinite),
        (HIDDEN, PADDING, both),
        (HIDDEN, ops.cast(PADDING, ms.float32), both),
        (scores, PADDING, scores.asnumpy() + PADDING.asnumpy()[:, None]),
    ]:
        wanted = by_hand(net, y, y, y, added)[0]
        found = net(x, x, x, padding, attn_mask=attn_mask, need_weights=False)
        assert len(found) == 1
        np.testing.assert_allclose(found[0].asnumpy(), wanted, atol=2e-6)
    per_head = rand(4, 3, 3)
    found = net(x, x, x, attn_mask=per_head, average_attn_weights=False)[1].asnumpy()
    for head in range(2):
        added = per_head.asnumpy().reshape(2, 2, 3, 3)[:, head]
        np.testing.assert_allclose(found[:, head], by_hand(net, y, y, y, added)[1][:, head], atol=1e-6)


def test_without_a_batch():
    net, x = fill(MultiheadAttention(4, 2)), rand(3, 4)
    output, weights = net(x, x, x, PADDING[0], attn_mask=rand(2, 3, 3))
    whole, all_weights = net(x[:, None], x[:, None], x[:, None], PADDING[:1], attn_mask=rand(2, 3, 3))
    assert output.shape == (3, 4) and weights.shape == (3, 3)
    assert (output == whole[:, 0]).all() and (weights == all_weights[0]).all()
    assert net(x, x, x, average_attn_weights=False)[1].shape == (2, 3, 3)


def test_gradients():
    net = fill(MultiheadAttention(4, 2, add_bias_kv=True, add_zero_attn=True, dtype=ms.float64))
    key = np.random.RandomState(2).randn(2, 1, 4)

    def attend(query, key, mask):
        return net(query, key, key, attn_mask=mask)

    check_gradient(attend, np.random.RandomState(1).randn(3, 1, 4), key, np.random.RandomState(3).randn(3, 2))


def test_dropout_acts_on_weights_in_training():
    net, x = fill(MultiheadAttention(4, 2, dropout=0.5)), rand(3, 2, 4)
    assert (net(x, x, x)[1] == net(x, x, x)[1]).all()
    ms.set_seed(1)
    weights = net.set_train()(x, x, x, average_attn_weights=False)[1].asnumpy()
    still = net.set_train(False)(x, x, x, average_attn_weights=False)[1].asnumpy()
    kept = weights != 0
    assert 0 < kept.sum() < kept.size
    np.testing.assert_allclose(weights[kept], 2 * still[kept], rtol=1e-6)


def test_names_order_and_printed_form():
    found = {p.name: p.shape for p in MultiheadAttention(4, 2, add_bias_kv=True).get_parameters()}
    assert list(found.items()) == [
        ("in_proj_weight", (12, 4)),
        ("in_proj_bias", (12,)),
        ("bias_k", (1, 1, 4)),
        ("bias_v", (1, 1, 4)),
        ("out_proj.weight", (4, 4)),
        ("out_proj.bias", (4,)),
    ]
    net = MultiheadAttention(4, 2, kdim=3, has_bias=False)
    assert [(p.name, p.shape) for p in net.get_parameters()] == [
        ("q_proj_weight", (4, 4)),
        ("k_proj_weight", (4, 3)),
        ("v_proj_weight", (4, 4)),
        ("out_proj.weight", (4, 4)),
    ]
    text = "MultiheadAttention(\n  (out_proj): Dense(input_channels=4, output_channels=4, has_bias=True)\n)"
    assert repr(MultiheadAttention(4, 2)) == text


def test_errors():
    x, flat = rand(3, 2, 4), rand(3, 4)
    net, lengths = MultiheadAttention(4, 2), MultiheadAttention(4, 2, kdim=3, vdim=5)
    ints = ops.cast(HIDDEN, ms.int32)
    for inputs, options in [
        ((x, x, x), {"attn_mask": ints}),
        ((x, x, x), {"key_padding_mask": ops.cast(PADDING, ms.int32)}),
        ((x, x, x), {"attn_mask": rand(3, 3, 3)}),
        ((x, x, x), {"attn_mask": rand(1, 3, 3)}),
        ((x, x, x), {"attn_mask": rand(2, 3)}),
        ((x, x, x), {"attn_mask": rand(3)}),
        ((x, x, x), {"key_padding_mask": PADDING[:, :2]}),
        ((x, x, x), {"key_padding_mask": PADDING[0]}),
        ((flat, flat, flat), {"attn_mask": rand(1, 3, 3)}),
        ((x, flat, flat), {}),
        ((x[None], x[None], x[None]), {}),
        ((rand(3, 2, 5),) * 3, {}),
        ((x, x, x[:2]), {}),
        ((x, x[:, :1], x[:, :1]), {}),
    ]:
        with pytest.raises(ValueError, match="For 'MultiheadAttention', "):
            net(*inputs, **options)
    for inputs in [(x, x, x), (x, rand(6, 2, 3), rand(5, 2, 5))]:
        with pytest.raises(ValueError, match="For 'MultiheadAttention', "):
            lengths(*inputs)
    for dtype in (ms.float64, ms.float16):
        with pytest.raises(TypeError):
            net(*(ops.cast(x, dtype),) * 3)
    with pytest.raises(AttributeError, match="'query'"):
        net(1, 2, 3)
    with pytest.raises(ValueError, match="num_heads"):
        MultiheadAttention(4, 3)
    with pytest.raises(ValueError):
        MultiheadAttention(0, 1)
    with pytest.raises(ZeroDivisionError):
        MultiheadAttention(4, 0)
    with pytest.raises(TypeError, match="has_bias"):
        MultiheadAttention(4, 2, has_bias="x")
