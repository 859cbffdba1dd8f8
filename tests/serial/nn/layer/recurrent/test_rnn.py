"""RNN, LSTM, GRU and their cells: values and gradients of MindSpore 2.10, and loops in NumPy."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, nn, ops
from dist_ms.nn.layer.recurrent.rnn import GRU, LSTM, RNN
from dist_ms.nn.layer.recurrent.rnn_cells import GRUCell, LSTMCell, RNNCell

F = np.float32


def fill(net):
    """Give a network's parameters reproducible values."""
    rng = np.random.RandomState(0)
    for p in net.get_parameters():
        p.set_data(Tensor(rng.uniform(-0.7, 0.7, p.shape).astype(F)))
    return net


def sequence():
    return Tensor(np.random.RandomState(5).randn(4, 2, 3).astype(F))


# MindSpore 2.10 on the network of `test_values_of_mindspore`: output[0, 1], output[3, 0], last
# states of sequence 1 (LSTM: h c), gradient of x[1, 1], sums of the weights' absolute gradients.
PINNED = {
    "LSTM": (
        [0.02636235, -0.04110375, -0.2280376, -0.16308425],
        [0.03903457, -0.04031594, -0.13585137, -0.11554797],
        [[0.04049626, 0.11068286], [0.07579464, 0.0054278], [0.00330756, 0.01176644], [0.09894167, 0.04746892]],
        [-0.08336208, -0.1201671, 0.22799355],
        [
            1.5018832683563232,
            0.6524559259414673,
            0.265964537858963,
            1.4115054607391357,
            0.3074338734149933,
            0.027483968064188957,
            0.05838491767644882,
            0.7499786615371704,
            0.8023331165313721,
            0.2827811539173126,
            0.7987671494483948,
            2.675131320953369,
            0.8023331165313721,
            0.2827811539173126,
            0.7987671494483948,
            2.675131320953369,
        ],
    ),
    "GRU": (
        [-0.2642567, 0.0620186, -0.6539245, 0.24659173],
        [0.20531707, 0.38234898, -0.30141997, -0.01214957],
        [[-0.26565403, 0.6666069], [-0.2712598, 0.45864397], [-0.52442676, 0.00326833], [-0.6539245, 0.24659173]],
        [-0.24844152, 0.04817512, -0.13575321],
        [
            5.041322231292725,
            4.901440620422363,
            4.8698625564575195,
            4.877805709838867,
            0.6415086388587952,
            0.4378269910812378,
            1.151223063468933,
            0.8383796811103821,
            2.8857998847961426,
            2.98600697517395,
            4.5749969482421875,
            5.306600570678711,
            1.6186869144439697,
            2.3085834980010986,
            2.8745036125183105,
            2.847269296646118,
        ],
    ),
    "RNN": (
        [0.06995636, -0.8278857, 0.48216346, -0.68254626],
        [0.12216537, -0.97094417, 0.05610321, -0.73469377],
        [[0.48817164, -0.48744357], [0.26094314, -0.35646442], [0.5745864, -0.96914417], [0.48216346, -0.68254626]],
        [0.18922305, -0.06326385, 0.22158198],
        [
            7.25872802734375,
            9.601766586303711,
            12.817999839782715,
            11.298029899597168,
            3.845566749572754,
            2.412796974182129,
            4.47123908996582,
            2.580888271331787,
            5.97059440612793,
            1.2848334312438965,
            5.965315341949463,
            5.114426136016846,
            5.97059440612793,
            1.2848334312438965,
            5.965315341949463,
            5.114426136016846,
        ],
    ),
    "relu": (
        [0.0, 0.0, 0.73144907, 0.0],
        [0.04753131, 0.0, 0.6496945, 0.0],
        [[0.541342, 0.0], [0.296342, 0.0], [0.00752087, 0.0], [0.73144907, 0.0]],
        [0.09066564, 0.3996902, 0.19087149],
        [
            11.223062515258789,
            3.7984089851379395,
            1.807913064956665,
            11.122781753540039,
            3.99149227142334,
            0.0,
            0.051257334649562836,
            2.941720485687256,
            8.723503112792969,
            1.7225916385650635,
            2.4519505500793457,
            7.866013050079346,
            8.723503112792969,
            1.7225916385650635,
            2.4519505500793457,
            7.866013050079346,
        ],
    ),
}


@pytest.mark.parametrize("name", PINNED)
def test_values_of_mindspore(name):
    options = {"nonlinearity": "relu"} if name == "relu" else {}
    net = fill({"LSTM": LSTM, "GRU": GRU}.get(name, RNN)(3, 2, 2, bidirectional=True, **options))

    def loss(x):
        output, last = net(x, None, Tensor([4, 2]))
        last = last[0] * last[1] if name == "LSTM" else last
        return ops.sum(output * output) + ops.sum(last), output, last

    (_, output, last), (dx, dw) = ms.value_and_grad(loss, 0, net.trainable_params(), has_aux=True)(sequence())
    found = (output[0, 1], output[3, 0], last[:, 1], dx[1, 1])
    for x, wanted in zip(found, PINNED[name]):
        np.testing.assert_allclose(x.asnumpy(), wanted, atol=3e-6)
    assert (output[2:, 1].asnumpy() == 0).all() and (dx[2:, 1].asnumpy() == 0).all()
    np.testing.assert_allclose([np.abs(g.asnumpy()).sum() for g in dw], PINNED[name][4], rtol=3e-5, atol=1e-6)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm_loop(x, h, c, w_ih, w_hh, b_ih, b_hh):
    """An LSTM layer step by step in NumPy."""
    outputs = []
    for x_t in x:
        i, f, g, o = np.split(x_t @ w_ih.T + b_ih + h @ w_hh.T + b_hh, 4, axis=1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        outputs.append(h)
    return np.stack(outputs), h, c


def test_lstm_is_the_loop_in_both_directions():
    net, x = fill(LSTM(3, 2, bidirectional=True, batch_first=True)), sequence().asnumpy()
    rng = np.random.RandomState(1)
    h, c = rng.randn(2, 2, 2).astype(F), rng.randn(2, 2, 2).astype(F)
    output, (h_n, c_n) = net(Tensor(x.transpose(1, 0, 2)), (Tensor(h), Tensor(c)))
    for d, steps in ((0, slice(None)), (1, slice(None, None, -1))):
        weights = [p[d].asnumpy() for p in (net.w_ih_list, net.w_hh_list, net.b_ih_list, net.b_hh_list)]
        wanted, h_end, c_end = lstm_loop(x[steps], h[d], c[d], *weights)
        found = output.asnumpy().transpose(1, 0, 2)[steps, :, 2 * d : 2 * d + 2]
        np.testing.assert_allclose(found, wanted, atol=1e-6)
        np.testing.assert_allclose(h_n[d].asnumpy(), h_end, atol=1e-6)
        np.testing.assert_allclose(c_n[d].asnumpy(), c_end, atol=1e-6)


def test_lengths_are_the_same_as_shorter_sequences():
    net, x = fill(GRU(3, 2, 2, bidirectional=True)), sequence()
    output, last = net(x, seq_length=Tensor([4, 2], ms.int32))
    short, end = net(x[:2, 1:])
    np.testing.assert_allclose(output[:2, 1:].asnumpy(), short.asnumpy(), atol=1e-6)
    np.testing.assert_allclose(last[:, 1:].asnumpy(), end.asnumpy(), atol=1e-6)
    whole, ends = net(x, seq_length=Tensor([4, 9]))
    full, full_ends = net(x)
    assert (whole == full).all() and (ends == full_ends).all()


def test_names_order_and_printed_form():
    net = nn.CellList([LSTM(3, 4, 2, bidirectional=True), GRU(3, 4, has_bias=False), GRUCell(2, 2)])
    kinds = ["weight_ih", "weight_hh", "bias_ih", "bias_hh"]
    wanted = [f"0.{kind}_l{k}{d}" for kind in kinds for k in (0, 1) for d in ("", "_reverse")]
    wanted += ["1.weight_ih_l0", "1.weight_hh_l0"] + [f"2.{kind}" for kind in kinds]
    assert [p.name for p in net.get_parameters()] == wanted
    assert [p.shape for p in net[0].w_ih_list] == [(16, 3), (16, 3), (16, 8), (16, 8)]
    assert repr(LSTM(3, 4)) == "LSTM(\n  (rnn): _DynamicLSTMCPUGPU()\n  (dropout_op): Dropout(p=0.0)\n)"
    assert "_DynamicGRUCPUGPU" in repr(net[1]) and "_DynamicRNNTanh" in repr(RNN(3, 4))
    assert "_DynamicRNNRelu" in repr(RNN(3, 4, nonlinearity="relu")) and repr(LSTMCell(3, 4)) == "LSTMCell()"


def test_first_values_come_from_numpy_as_in_mindspore():
    np.random.seed(2)
    found = [p.asnumpy().ravel()[0] for p in GRU(3, 2, 2, bidirectional=True).get_parameters()]
    wanted = [-0.09051688, 0.5508646, -0.00413827, -0.4031578, 0.49011195, 0.42462942, 0.13022725, -0.6455868]
    wanted += [-0.04555538, -0.33977222, 0.06775183, -0.10554659, 0.41526607, 0.4205941, -0.69261104, -0.0703894]
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_dropout_comes_between_layers_in_training():
    net, x = fill(RNN(3, 2, 2, dropout=0.5)), sequence()
    still = net(x)[0]
    assert (net(x)[0] == still).all()
    net.set_train()
    ms.set_seed(1)
    first = net(x)
    assert not (first[0] == still).all() and (first[0].asnumpy() != 0).all()
    one = RNN(3, 2)
    for a, b in zip(one.get_parameters(), net.get_parameters()):
        a.set_data(net.parameters_dict()[a.name] if a.name in net.parameters_dict() else b)
    assert (one(x)[1][0] == first[1][0]).all()


def test_lower_precision():
    net = fill(LSTM(3, 2))
    wanted = net(sequence())[0]
    output, (h, c) = net(Tensor(sequence().asnumpy().astype(np.float16)))
    assert output.dtype == h.dtype == c.dtype == ms.float16
    np.testing.assert_allclose(output.asnumpy(), wanted.asnumpy(), atol=2e-3)
    assert net.to_float(ms.bfloat16)(sequence())[0].dtype == ms.bfloat16
    assert LSTM(3, 2, dtype=ms.float16).w_ih_list[0].dtype == ms.float16


@pytest.mark.parametrize(
    "cell, wanted",
    [
        (LSTMCell(3, 2), [[3.55928868e-01, -1.19812153e-01], [-1.18555188e-01, 1.73896383e-02]]),
        (GRUCell(3, 2), [[1.1804166, 0.3867926], [-0.6191269, -0.41341752]]),
        (RNNCell(3, 2), [[0.29715246, 0.98197705], [0.20197172, 0.64354104]]),
        (RNNCell(3, 2, nonlinearity="relu"), [[0.30639336, 2.3501024], [0.20478728, 0.7641947]]),
    ],
    ids=lambda x: getattr(x, "cls_name", ""),
)
def test_cells_have_values_of_mindspore(cell, wanted):
    fill(cell)
    h = Tensor(np.random.RandomState(1).randn(2, 2).astype(F))
    out = cell(sequence()[0], (h, h * 0.5) if isinstance(cell, LSTMCell) else h)
    if isinstance(cell, LSTMCell):
        np.testing.assert_allclose(out[1].asnumpy(), [[0.53702104, -0.16461512], [-0.24850574, 0.0689574]], rtol=1e-5)
        out = out[0]
    np.testing.assert_allclose(out.asnumpy(), wanted, rtol=2e-5)


def test_cells_step_through_a_layer():
    layer, cell, x = fill(GRU(3, 2)), GRUCell(3, 2), sequence()
    for a, b in zip(cell.get_parameters(), layer.get_parameters()):
        a.set_data(b)
    h = ops.zeros((2, 2), ms.float32)
    for t, wanted in enumerate(layer(x)[0]):
        h = cell(x[t], h)
        np.testing.assert_allclose(h.asnumpy(), wanted.asnumpy(), atol=1e-6)


@pytest.mark.parametrize("make", [LSTM, GRU, RNN])
@pytest.mark.parametrize(
    "error, options",
    [
        (ValueError, {"hidden_size": 0}),
        (TypeError, {"hidden_size": 1.5}),
        (TypeError, {"input_size": True}),
        (ValueError, {"num_layers": 0}),
        (TypeError, {"dropout": 1}),
        (ValueError, {"dropout": 1.0}),
        (ValueError, {"dropout": -0.1}),
        (TypeError, {"has_bias": 1}),
        (TypeError, {"batch_first": None}),
        (TypeError, {"bidirectional": "a"}),
        (TypeError, {"foo": 1}),
    ],
)
def test_wrong_options(make, error, options):
    with pytest.raises(error, match=next(iter(options))):
        make(**{"input_size": 3, "hidden_size": 4, **options})


def test_wrong_nonlinearity():
    with pytest.raises(ValueError, match="nonlinearity"):
        RNN(3, 4, nonlinearity="x")
    with pytest.raises(ValueError, match="nonlinearity"):
        RNNCell(3, 4, nonlinearity="x")
    with pytest.raises(TypeError, match="nonlinearity"):
        RNNCell(3, 4, nonlinearity=1)


@pytest.mark.parametrize("layer", [LSTM(3, 2), GRU(3, 2)], ids=["LSTM", "GRU"])
def test_wrong_inputs(layer):
    x, state = sequence(), Tensor(np.ones((1, 2, 2), F))
    pair = (lambda h: (h, h)) if isinstance(layer, LSTM) else (lambda h: h)
    cases = [
        (AttributeError, "'x'", (1,)),
        (ValueError, "'x'", (x[0],)),
        (ValueError, "'x'", (x[:, :, :2],)),
        (TypeError, "'hx'", (x, 3)),
        (TypeError, "hx", (x, [state, state])),
        (TypeError, "'hx'", (x, pair(Tensor(np.ones((1, 2, 2)))))),
        (ValueError, "'hx'", (x, pair(state[:, :1]))),
        (AttributeError, "'seq_length'", (x, None, [1, 2])),
        (TypeError, "'seq_length'", (x, None, Tensor([1.0, 2.0]))),
        (ValueError, "'seq_length'", (x, None, Tensor([1, 2, 3]))),
    ]
    if isinstance(layer, LSTM):
        cases.append((TypeError, "'hx'", (x, (state,))))
    for error, text, inputs in cases:
        with pytest.raises(error, match=text):
            layer(*inputs)


def test_wrong_cells():
    x, h, cell = sequence()[0], Tensor(np.ones((2, 2), F)), LSTMCell(3, 2)
    for error, inputs in [
        (TypeError, (x, h)),
        (TypeError, (x, (h,))),
        (TypeError, (x, [h, h])),
        (TypeError, (x, h, h, h)),
        (TypeError, (x,)),
        (TypeError, (Tensor(np.ones((2, 3))), (h, h))),
        (ValueError, (h, (h, h))),
        (ValueError, (x, (x, x))),
    ]:
        with pytest.raises(error):
            cell(*inputs)
    with pytest.raises(ValueError, match=r"nn\.LSTM"):
        LSTMCell(3, 4, bidirectional=True)
    with pytest.raises(ValueError, match=r"nn\.LSTM"):
        LSTMCell(3, 4, True, ms.float32, 1)
    with pytest.raises(TypeError, match="foo"):
        LSTMCell(3, 4, foo=1)
    with pytest.raises(TypeError, match="'hx'"):
        GRUCell(3, 2)(x, 1)
