"""Every layer, exported with an open batch, gives the same in onnxruntime."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn, ops
from tests.serial.onnx.exported import check, run
from tests.serial.onnx.test_operations import Of

DRAWS = np.random.RandomState(1)


def floats(*shape):
    return ms.Tensor(DRAWS.randn(*shape).astype(np.float32))


IMAGES, ROWS, VECTORS = (2, 4, 8, 8), (2, 5, 8), (2, 8)
PLAIN = (
    "ReLU ReLU6 GELU Sigmoid Tanh SiLU HSwish HSigmoid Mish ELU LeakyReLU PReLU Softmax LogSoftmax Softsign Hardtanh "
    "HShrink SoftShrink LogSigmoid SeLU CELU FastGelu Softmax2d Identity"
).split()
LAYERS = {
    **{name: (getattr(nn, name), IMAGES) for name in PLAIN},
    "gelu exact": (lambda: nn.GELU(approximate=False), VECTORS),
    "prelu of channels": (lambda: nn.PReLU(4), IMAGES),
    "dropout": (lambda: nn.Dropout(p=0.5), VECTORS),
    "conv same": (lambda: nn.Conv2d(4, 6, 3, 2, has_bias=True), IMAGES),
    "conv valid": (lambda: nn.Conv2d(4, 6, 3, pad_mode="valid"), IMAGES),
    "conv pad": (lambda: nn.Conv2d(4, 6, 3, pad_mode="pad", padding=(1, 2, 0, 1)), IMAGES),
    "conv groups": (lambda: nn.Conv2d(4, 8, 3, pad_mode="pad", padding=1, group=2), IMAGES),
    "conv depthwise": (lambda: nn.Conv2d(4, 4, (5, 3), 2, group=4), IMAGES),
    "conv dilated": (lambda: nn.Conv2d(4, 6, 3, dilation=2), IMAGES),
    "conv 1d": (lambda: nn.Conv1d(5, 6, 3, has_bias=True), ROWS),
    "conv 3d": (lambda: nn.Conv3d(4, 6, 3), (2, 4, 5, 5, 5)),
    "transposed same": (lambda: nn.Conv2dTranspose(4, 6, 3, 2, has_bias=True), IMAGES),
    "transposed pad": (
        lambda: nn.Conv2dTranspose(4, 6, 3, 2, pad_mode="pad", padding=1, output_padding=1),
        IMAGES,
    ),
    "batch norm": (lambda: nn.BatchNorm2d(4, gamma_init="normal", moving_mean_init="normal"), IMAGES),
    "batch norm 1d": (lambda: nn.BatchNorm1d(8), VECTORS),
    "layer norm": (lambda: nn.LayerNorm((8,), gamma_init="normal", beta_init="normal"), ROWS),
    "layer norm of two": (lambda: nn.LayerNorm((5, 8), begin_norm_axis=1, begin_params_axis=1), ROWS),
    "group norm": (lambda: nn.GroupNorm(2, 4, gamma_init="normal"), IMAGES),
    "instance norm": (lambda: nn.InstanceNorm2d(4), IMAGES),
    "dense": (lambda: nn.Dense(8, 3), VECTORS),
    "dense of rows": (lambda: nn.Dense(8, 3, has_bias=False), ROWS),
    "dense and relu": (lambda: nn.SequentialCell(nn.Dense(8, 3), nn.ReLU()), VECTORS),
    "norm and relu": (lambda: nn.SequentialCell(nn.Conv2d(4, 4, 3), nn.BatchNorm2d(4), nn.ReLU()), IMAGES),
    "flatten": (nn.Flatten, IMAGES),
    "max pool": (lambda: nn.MaxPool2d(3, 2, pad_mode="same"), IMAGES),
    "max pool pad": (lambda: nn.MaxPool2d(3, 2, pad_mode="pad", padding=1), IMAGES),
    "max pool ceil": (lambda: nn.MaxPool2d(3, 2, pad_mode="pad", ceil_mode=True), IMAGES),
    "mean pool": (lambda: nn.AvgPool2d(2, 2), IMAGES),
    "mean pool same": (lambda: nn.AvgPool2d(3, 2, pad_mode="same"), IMAGES),
    "mean pool pad": (lambda: nn.AvgPool2d(3, 2, pad_mode="pad", padding=1), IMAGES),
    "mean pool uncounted": (
        lambda: nn.AvgPool2d(3, 2, pad_mode="pad", padding=1, count_include_pad=False),
        IMAGES,
    ),
    "global mean": (lambda: nn.AdaptiveAvgPool2d(1), IMAGES),
    "adaptive mean": (lambda: nn.AdaptiveAvgPool2d(3), IMAGES),
    "adaptive max": (lambda: nn.AdaptiveMaxPool2d(2), IMAGES),
    "pad": (lambda: nn.Pad(((0, 0), (0, 0), (1, 2), (3, 4))), IMAGES),
    "pad mirrored": (lambda: nn.ReflectionPad2d(1), IMAGES),
    "pad constant": (lambda: nn.ConstantPad2d(1, 2.0), IMAGES),
    "pixel shuffle": (lambda: nn.PixelShuffle(2), IMAGES),
    "unfold": (lambda: nn.Unfold([1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1]), IMAGES),
    "upsample nearest": (lambda: nn.Upsample(size=(16, 16), mode="nearest"), IMAGES),
    "upsample bilinear": (lambda: nn.Upsample(size=(13, 16), mode="bilinear"), IMAGES),
    "lstm": (lambda: nn.LSTM(8, 6, 2, batch_first=True, bidirectional=True), ROWS),
    "gru": (lambda: nn.GRU(8, 6, batch_first=True, bidirectional=True), ROWS),
    "rnn": (lambda: nn.RNN(8, 6, 2, batch_first=True), ROWS),
    "transformer": (lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), ROWS),
}


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer(layer, tmp_path):
    make, shape = LAYERS[layer]
    check(make(), [floats(*shape)], tmp_path)


@pytest.mark.parametrize("layer", [lambda: nn.Embedding(20, 4), lambda: nn.EmbeddingLookup(20, 4)])
def test_embeddings(layer, tmp_path):
    check(layer(), [ms.Tensor(DRAWS.randint(0, 20, (2, 5)), ms.int32)], tmp_path)


def test_a_cell_of_an_lstm(tmp_path):
    check(nn.LSTMCell(8, 6), [floats(2, 8), (floats(2, 6), floats(2, 6))], tmp_path)


def test_attention_with_its_weights(tmp_path):
    rows = floats(2, 5, 8)
    check(nn.MultiheadAttention(8, 2, batch_first=True), [rows, rows, rows], tmp_path)


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_sequences_of_several_lengths(kind, tmp_path):
    net = kind(8, 6, num_layers=2, batch_first=True, bidirectional=True)
    check(Of(lambda x, lengths: net(x, None, lengths)), [floats(*ROWS), ms.Tensor([3, 5], ms.int32)], tmp_path)


@pytest.mark.parametrize("weights", [False, True])
def test_padding_of_attention(weights, tmp_path):
    net = nn.MultiheadAttention(8, 2, batch_first=True)
    hidden = ms.Tensor([[False, False, True, True, True], [False, False, False, False, True]])
    function = Of(lambda x, h: net(x, x, x, key_padding_mask=h, need_weights=weights)[0])
    check(function, [floats(*ROWS), hidden], tmp_path)


def test_a_causal_encoder_whose_length_is_open(tmp_path):
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    net, path = nn.TransformerEncoder(layer, 2), tmp_path / "net.onnx"

    def causal(x):
        length = x.shape[1]
        return net(x, src_mask=ops.triu(ops.ones((length, length)), 1).astype(ms.bool_))

    ms.export(Of(causal), ms.Tensor(shape=[None, None, 8], dtype=ms.float32), file_name=str(path))
    given = floats(3, 11, 8)
    net.set_train(False)
    np.testing.assert_allclose(run(path, [given.asnumpy()])[0], causal(given).asnumpy(), rtol=1e-5, atol=1e-5)


def test_attention_by_blocks(tmp_path):
    net = nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
    check(net, [floats(2, 5, 8), floats(2, 4, 8)], tmp_path)
