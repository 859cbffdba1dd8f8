"""The Transformer's layers and stacks: values and gradients of MindSpore 2.10, names, masks, errors."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, nn, ops
from dist_ms.nn.layer.attention.transformer_layers import TransformerDecoderLayer, TransformerEncoderLayer
from dist_ms.nn.layer.transformer import Transformer, TransformerDecoder, TransformerEncoder

F = np.float32
HIDDEN = Tensor(np.triu(np.ones((3, 3), bool), 1))
PADDING = Tensor(np.array([[0, 0, 1], [0, 1, 1]], bool))
ATTENTION = ["in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"]


def fill(net):
    rng = np.random.RandomState(0)
    for p in net.get_parameters():
        p.set_data(Tensor(rng.uniform(-0.7, 0.7, p.shape).astype(F)))
    return net


def rand(*shape):
    return Tensor(np.random.RandomState(sum(shape)).randn(*shape).astype(F))


def names(net):
    return [p.name for p in net.get_parameters()]


def layer_names(attentions, norms):
    dense = [f"dense{i}.{p}" for i in (1, 2) for p in ("weight", "bias")]
    norm = [f"norm{i + 1}.{p}" for i in range(norms) for p in ("gamma", "beta")]
    return [f"{a}.{p}" for a in attentions for p in ATTENTION] + dense + norm


def test_transformer_has_values_of_mindspore():
    net = fill(Transformer(4, 2, 1, 2, 6, dropout=0.0))

    def loss(src, tgt):
        output = net(src, tgt, HIDDEN, memory_key_padding_mask=PADDING)
        return ops.sum(output * output * output), output

    gradient = ms.value_and_grad(loss, (0, 1), net.trainable_params(), has_aux=True)
    (_, output), ((dsrc, dtgt), dw) = gradient(rand(3, 2, 4), rand(5, 2, 4))
    wanted = [[0.383652, 0.1826354, -0.7547692, 0.119395], [0.3833188, 0.1830364, -0.7532507, 0.121389]]
    np.testing.assert_allclose(output[0].asnumpy(), wanted, atol=5e-6)
    wanted = [[0.0020325, 0.0007285, -0.0020018, 0.0019707], [0.0, 0.0, 0.0, 0.0]]
    np.testing.assert_allclose(dsrc[1].asnumpy(), wanted, atol=2e-6)
    wanted = [
        [-1.8624899e-03, 5.4074044e-06, -4.2156564e-04, 1.5280109e-03],
        [-9.4445248e-04, -1.0458863e-03, -8.0685783e-04, 2.9838448e-03],
    ]
    np.testing.assert_allclose(dtgt[4].asnumpy(), wanted, atol=2e-6)
    sums = [np.abs(g.asnumpy()).sum() for g in dw]
    wanted = [0.1564137, 0.068636, 0.2089077, 0.0758807, 0.0537382, 0.0332314]
    np.testing.assert_allclose(sums[:6], wanted, rtol=2e-4)
    wanted = [6.3528256, 6.2463942, 14.868618, 16.4282455, 20.5639286, 22.9031544]
    np.testing.assert_allclose(sums[-6:], wanted, rtol=2e-5)


@pytest.mark.parametrize(
    "norm_first, wanted",
    [
        (False, [[-0.8620863, 0.1603995, 0.7518753, -0.5558813], [-0.0156782, 0.0188186, 0.7284919, -0.5860304]]),
        (True, [[1.7583112, -0.8556599, -0.7549102, -4.1389832], [-0.0351482, -1.2419802, -1.1826127, -1.2133685]]),
    ],
)
def test_decoder_layer_has_values_of_mindspore(norm_first, wanted):
    net = fill(TransformerDecoderLayer(4, 2, 6, 0.0, "gelu", norm_first=norm_first))
    found = net(rand(5, 2, 4), rand(3, 2, 4))[0].asnumpy()
    np.testing.assert_allclose(found, wanted, atol=1e-5)


@pytest.mark.parametrize("norm_first", [False, True])
def test_encoder_layer_is_its_parts(norm_first):
    net, x = fill(TransformerEncoderLayer(4, 2, 6, activation=ops.gelu, norm_first=norm_first)), rand(3, 2, 4)

    def attend(x):
        return net.self_attn(x, x, x, PADDING, False, HIDDEN)[0]

    def forward(x):
        return net.dense2(ops.gelu(net.dense1(x)))

    if norm_first:
        y = x + attend(net.norm1(x))
        wanted = y + forward(net.norm2(y))
    else:
        y = net.norm1(x + attend(x))
        wanted = net.norm2(y + forward(y))
    assert (net(x, HIDDEN, PADDING) == wanted).all()


def test_batch_first_only_moves_the_batch():
    first, last = Transformer(4, 2, 1, 1, 6, 0.0, batch_first=True), Transformer(4, 2, 1, 1, 6, 0.0)
    fill(first), fill(last)
    src, tgt = rand(2, 3, 4), rand(2, 5, 4)
    found = first(src, tgt, HIDDEN, src_key_padding_mask=PADDING)
    wanted = last(ops.swapaxes(src, 0, 1), ops.swapaxes(tgt, 0, 1), HIDDEN, src_key_padding_mask=PADDING)
    np.testing.assert_allclose(found.asnumpy(), wanted.asnumpy().swapaxes(0, 1), atol=1e-6)
    alone = last(src[0], tgt[0], HIDDEN, src_key_padding_mask=PADDING[0])
    np.testing.assert_allclose(alone.asnumpy(), found[0].asnumpy(), atol=1e-6)


def test_names_and_first_values():
    encoder, decoder = TransformerEncoderLayer(4, 2, 6), TransformerDecoderLayer(4, 2, 6)
    one, two = layer_names(["self_attn"], 2), layer_names(["self_attn", "multihead_attn"], 3)
    assert names(encoder) == one and names(decoder) == two
    stack = TransformerEncoder(encoder, 2, nn.LayerNorm((4,)))
    wanted = [f"layers.{i}.{n}" for i in (0, 1) for n in one] + ["norm.gamma", "norm.beta"]
    assert names(stack) == wanted
    # The layers start equal, with values that are not those of the layer given.
    first, second = (layer.dense1.weight for layer in stack.layers)
    assert first is not second and (first == second).all() and not (first == encoder.dense1.weight).all()
    net = Transformer(4, 2, 2, 1, 6)
    assert names(net)[:36] == [f"encoder.{n}" for n in names(stack)][:-2] + names(net)[24:36]
    assert names(net)[26:] == [f"decoder.layers.0.{n}" for n in two] + ["decoder.norm.gamma", "decoder.norm.beta"]
    first, second = (layer.dense1.weight.asnumpy() for layer in net.encoder.layers)
    assert not (first == second).all() and np.abs(first).max() <= np.sqrt(6 / 10)


def test_printed_form():
    lines = repr(TransformerDecoderLayer(4, 2, 6)).split("\n")
    parts = ["self_attn", "multihead_attn", "dense1", "dropout", "dense2"]
    parts += [f"norm{i}" for i in (1, 2, 3)] + [f"dropout{i}" for i in (1, 2, 3)]
    assert [line[3:].split(")")[0] for line in lines if line.startswith("  (")] == parts


def test_dropout_acts_in_training():
    net, x = fill(TransformerEncoderLayer(4, 2, 6, dropout=0.5)), rand(3, 2, 4)
    assert (net(x) == net(x)).all()
    net.set_train()
    assert not (net(x) == net(x)).all()


def test_custom_parts():
    class Twice(nn.Cell):
        def construct(self, src, src_mask=None, src_key_padding_mask=None):
            return src * 2

    class Add(nn.Cell):
        def construct(self, tgt, memory, **masks):
            return tgt + memory

    x = rand(3, 2, 4)
    net = Transformer(4, 2, custom_encoder=Twice(), custom_decoder=Add())
    assert (net(x, x) == x + x * 2).all() and names(net) == []


@pytest.mark.parametrize(
    "activation",
    ["tanh", nn.ReLU(), nn.Tanh(), ops.tanh, nn.ReLU, 3, None],
    ids=lambda a: getattr(a, "__name__", str(a)),
)
def test_wrong_activations(activation):
    for layer in (TransformerEncoderLayer, TransformerDecoderLayer):
        with pytest.raises(ValueError, match="'activation'"):
            layer(4, 2, 6, activation=activation)


def test_errors():
    x, ints = rand(3, 2, 4), ops.cast(PADDING, ms.int32)
    encoder, decoder, net = (
        TransformerEncoderLayer(4, 2, 6),
        TransformerDecoderLayer(4, 2, 6),
        Transformer(4, 2, 1, 1, 6),
    )
    for layer in (encoder, TransformerEncoder(encoder, 1)):
        with pytest.raises(AssertionError, match="key_padding_mask"):
            layer(x, src_key_padding_mask=ints)
    with pytest.raises(ValueError, match="key_padding_mask"):
        TransformerDecoder(decoder, 1)(x, x, tgt_key_padding_mask=ints)
    with pytest.raises(ValueError, match="'d_model' 4"):
        net(x, rand(3, 2, 5))
    with pytest.raises(ValueError, match="one batch size"):
        net(x, rand(3, 3, 4))
    with pytest.raises(ValueError, match="num_heads"):
        TransformerEncoderLayer(5, 2, 6)
    with pytest.raises(ValueError, match="out_channels"):
        TransformerEncoderLayer(4, 2, 0)
    with pytest.raises(TypeError, match="out_channels"):
        TransformerEncoderLayer(4, 2, 6.0)
    with pytest.raises(ValueError, match="'p'"):
        TransformerEncoderLayer(4, 2, 6, dropout=1.0)
    with pytest.raises(AttributeError, match="d_model"):
        TransformerEncoder(nn.Dense(2, 2), 2)
    with pytest.raises(TypeError):
        TransformerEncoder(encoder, "2")
