"""Convolution layers: parameters, sizes, values against ops, errors."""

import math

import numpy as np
import pytest

from dist_ms import nn, ops
from tests.precisions import normal, tensor


def described(layer):
    return [(p.name, p.shape, p.requires_grad) for p in layer.get_parameters()]


class TestParameters:
    @pytest.mark.parametrize(
        "layer, weight",
        [
            (lambda **a: nn.Conv1d(4, 8, 3, **a), (8, 4, 1, 3)),
            (lambda **a: nn.Conv2d(4, 8, (3, 5), **a), (8, 4, 3, 5)),
            (lambda **a: nn.Conv2d(4, 8, 3, group=2, **a), (8, 2, 3, 3)),
            (lambda **a: nn.Conv3d(4, 8, 3, **a), (8, 4, 3, 3, 3)),
            (lambda **a: nn.Conv1dTranspose(4, 8, 3, **a), (4, 8, 1, 3)),
            (lambda **a: nn.Conv2dTranspose(4, 8, 3, group=2, **a), (4, 4, 3, 3)),
            (lambda **a: nn.Conv3dTranspose(4, 8, 3, **a), (4, 8, 3, 3, 3)),
        ],
    )
    def test_names_shapes_and_distribution(self, layer, weight):
        assert described(layer()) == [("weight", weight, True)]
        made = layer(has_bias=True)
        assert described(made) == [("weight", weight, True), ("bias", (8,), True)]
        bound = 1 / math.sqrt(math.prod(weight[1:]))
        values = np.concatenate([layer(has_bias=True).weight.asnumpy().ravel() for _ in range(30)])
        assert 0.97 * bound < np.abs(values).max() <= bound * (1 + 1e-6)
        assert values.std() == pytest.approx(bound / math.sqrt(3), rel=0.05)
        assert np.abs(made.bias.asnumpy()).max() <= bound * (1 + 1e-6)

    def test_initial_values(self):
        given = tensor(normal(2, 1, 3, 3))
        assert np.array_equal(nn.Conv2d(1, 2, 3, weight_init=given).weight.asnumpy(), given.asnumpy())
        layer = nn.Conv2d(1, 2, 3, has_bias=True, weight_init="ones", bias_init=0.5)
        assert layer.weight.asnumpy().min() == 1 and layer.bias.asnumpy().tolist() == [0.5, 0.5]

    def test_text(self):
        text = repr(nn.Conv2d(4, 8, 3, stride=2, weight_init="ones", bias_init="zeros"))
        assert text == (
            "Conv2d(input_channels=4, output_channels=8, kernel_size=(3, 3), stride=(2, 2), pad_mode=same, "
            "padding=0, dilation=(1, 1), group=1, has_bias=False, weight_init=ones, bias_init=zeros, "
            "format=NCHW)"
        )
        assert "padding=(0, 0, 1, 1)" in repr(nn.Conv1d(4, 8, 3, pad_mode="pad", padding=1))


@pytest.mark.parametrize(
    "options, size",
    [
        ({}, (8, 7)),
        ({"stride": 2}, (4, 4)),
        ({"pad_mode": "valid"}, (6, 5)),
        ({"pad_mode": "pad", "padding": 1, "stride": (2, 1)}, (4, 7)),
        ({"pad_mode": "pad", "padding": (1, 2, 3, 4)}, (9, 12)),
        ({"dilation": 2, "pad_mode": "valid"}, (4, 3)),
    ],
)
def test_sizes(options, size):
    layer = nn.Conv2d(2, 4, 3, has_bias=True, **options)
    out = layer(tensor(normal(2, 2, 8, 7)))
    assert out.shape == (2, 4, *size)
    if not isinstance(options.get("padding", 0), tuple):
        wanted = ops.conv2d(
            tensor(normal(2, 2, 8, 7)), layer.weight, layer.bias, **{"pad_mode": "same", **options}
        ).asnumpy()
        assert np.array_equal(out.asnumpy(), wanted)


def test_conv1d_and_conv3d():
    line = nn.Conv1d(2, 4, 3, has_bias=True, pad_mode="pad", padding=2, dilation=2)
    x = tensor(normal(2, 2, 9))
    wanted = ops.conv1d(x, ops.squeeze(line.weight, 2), line.bias, pad_mode="pad", padding=2, dilation=2)
    np.testing.assert_allclose(line(x).asnumpy(), wanted.asnumpy(), atol=1e-6)
    block = nn.Conv3d(2, 4, 3, pad_mode="pad", padding=(1, 1, 2, 2, 0, 0), group=2)
    assert block(tensor(normal(1, 2, 8, 8, 8))).shape == (1, 4, 8, 10, 6)


@pytest.mark.parametrize(
    "options, size",
    [
        ({}, (8, 7)),
        ({"stride": 2}, (16, 14)),
        ({"stride": 2, "pad_mode": "valid"}, (17, 15)),
        ({"stride": 5, "pad_mode": "valid"}, (40, 35)),
        ({"stride": 2, "pad_mode": "pad", "padding": 1}, (15, 13)),
        ({"stride": 2, "pad_mode": "pad", "padding": 1, "output_padding": 1}, (16, 14)),
        ({"stride": 2, "pad_mode": "pad", "padding": (1, 0, 2, 1), "dilation": 2}, (18, 14)),
    ],
)
def test_transposed_sizes(options, size):
    assert nn.Conv2dTranspose(2, 4, 3, has_bias=True, **options)(tensor(normal(1, 2, 8, 7))).shape == (1, 4, *size)


def test_transposed_values_of_mindspore():
    # MindSpore's 2-D layer fills what output_padding adds with zeros, its bias included.
    layer = nn.Conv2dTranspose(
        1,
        1,
        3,
        stride=2,
        pad_mode="pad",
        padding=1,
        output_padding=1,
        has_bias=True,
        weight_init="ones",
        bias_init="ones",
    )
    found = layer(tensor(np.arange(1, 5).reshape(1, 1, 2, 2))).asnumpy()[0, 0]
    assert found.tolist() == [[2, 4, 3, 0], [5, 11, 7, 0], [4, 8, 5, 0], [0, 0, 0, 0]]


def test_other_transposed_ranks():
    assert nn.Conv1dTranspose(2, 4, 3, stride=2, has_bias=True)(tensor(normal(1, 2, 8))).shape == (1, 4, 16)
    layer = nn.Conv3dTranspose(2, 4, 3, stride=2, pad_mode="pad", padding=1, output_padding=1)
    assert layer(tensor(normal(1, 2, 5, 5, 5))).shape == (1, 4, 10, 10, 10)


@pytest.mark.parametrize("kind", [nn.Conv2d, nn.Conv2dTranspose])
@pytest.mark.parametrize(
    "arguments, error",
    [
        ((0, 2, 3), ValueError),
        ((2, -1, 3), ValueError),
        ((2.0, 2, 3), TypeError),
        ((2, 2, 0), ValueError),
        ((2, 2, (3,)), TypeError),
        ((2, 2, 3.0), TypeError),
        ((2, 2, True), TypeError),
        ((2, 2, 3, -1), ValueError),
        ((2, 2, 3, (1, 1, 1)), TypeError),
        ((2, 2, 3, 1, "SAME"), ValueError),
        ((2, 2, 3, 1, "same", 1), ValueError),
        ((2, 2, 3, 1, "pad", -1), ValueError),
        ((2, 2, 3, 1, "pad", 1.0), TypeError),
        ((2, 2, 3, 1, "pad", (1, 2, 3)), ValueError),
    ],
)
def test_bad_arguments(kind, arguments, error):
    with pytest.raises(error, match=f"For '{kind.__name__}'"):
        kind(*arguments)


@pytest.mark.parametrize("kind, error", [(nn.Conv2d, TypeError), (nn.Conv2dTranspose, ValueError)])
def test_a_mode_that_is_no_str(kind, error):
    with pytest.raises(error, match="'pad_mode' must be a str, but got int 3"):
        kind(2, 2, 3, 1, 3)


@pytest.mark.parametrize(
    "options, error",
    [
        ({"dilation": 0}, ValueError),
        ({"group": 0}, ValueError),
        ({"group": 1.0}, TypeError),
        ({"group": 3}, ValueError),
        ({"has_bias": 1}, TypeError),
        ({"data_format": "NHWC"}, ValueError),
        ({"weight_init": "foo"}, ValueError),
        ({"weight_init": tensor(normal(2, 2, 3, 2))}, ValueError),
    ],
)
def test_bad_options(options, error):
    with pytest.raises(error):
        nn.Conv2d(2, 2, 3, **options)


@pytest.mark.parametrize(
    "x, error",
    [
        (tensor(normal(2, 8, 8)), ValueError),
        (tensor(normal(1, 3, 8, 8)), RuntimeError),
        (tensor(normal(1, 2, 8, 8), np.float64), TypeError),
        (tensor(np.ones((1, 2, 8, 8)), np.int32), TypeError),
        (3, TypeError),
    ],
)
def test_bad_inputs(x, error):
    with pytest.raises(error):
        nn.Conv2d(2, 2, 3)(x)
    with pytest.raises(error):
        nn.Conv2dTranspose(2, 2, 3)(x)


@pytest.mark.parametrize(
    "call",
    [
        lambda: nn.Conv2dTranspose(2, 4, 3, stride=2, output_padding=1),
        lambda: nn.Conv2dTranspose(2, 4, 3, stride=2, pad_mode="pad", output_padding=2),
        lambda: nn.Conv2dTranspose(2, 4, 3, stride=2, pad_mode="pad", output_padding=(1, 0, 1)),
        lambda: nn.Conv1d(2, 4, 3)(tensor(normal(2, 8))),
        lambda: nn.Conv1dTranspose(2, 4, 3)(tensor(normal(2, 8))),
        lambda: nn.Conv2d(2, 2, 3, pad_mode="valid")(tensor(normal(1, 2, 2, 2))),
    ],
)
def test_value_errors(call):
    with pytest.raises(ValueError, match="For 'Conv"):
        call()
