"""Dense and BiDense."""

import math

import numpy as np
import pytest

from dist_ms import nn, ops
from tests.precisions import normal, tensor


class TestDense:
    def test_parameters(self):
        layer = nn.Dense(300, 40)
        assert [(p.name, p.shape) for p in layer.get_parameters()] == [("weight", (40, 300)), ("bias", (40,))]
        bound = 1 / math.sqrt(300)
        for p in layer.get_parameters():
            assert np.abs(p.asnumpy()).max() <= bound * (1 + 1e-6)
        assert layer.weight.asnumpy().std() == pytest.approx(bound / math.sqrt(3), rel=0.05)
        assert [p.name for p in nn.Dense(3, 4, has_bias=False).get_parameters()] == ["weight"]

    @pytest.mark.parametrize("lead", [(), (2,), (2, 5), (0,)])
    def test_values(self, lead):
        layer, x = nn.Dense(3, 4), normal(*lead, 3)
        wanted = x @ layer.weight.asnumpy().T + layer.bias.asnumpy()
        np.testing.assert_allclose(layer(tensor(x)).asnumpy(), wanted, atol=1e-6)

    @pytest.mark.parametrize("activation", ["relu", nn.ReLU(), ops.ReLU()])
    def test_activation(self, activation):
        layer = nn.Dense(3, 4, activation=activation)
        assert layer(tensor(normal(20, 3))).asnumpy().min() == 0

    def test_text(self):
        assert repr(nn.Dense(3, 4)) == "Dense(input_channels=3, output_channels=4, has_bias=True)"
        assert repr(nn.Dense(3, 4, has_bias=False, activation="relu")) == (
            "Dense(\n  input_channels=3, output_channels=4, activation=ReLU()\n  (activation): ReLU()\n)"
        )

    @pytest.mark.parametrize(
        "arguments, error",
        [
            ((0, 4), ValueError),
            ((3, 4.0), TypeError),
            ((3, 4, "foo"), ValueError),
            ((3, 4, tensor(normal(3, 4))), ValueError),
            ((3, 4, None, tensor(normal(3))), ValueError),
            ((3, 4, None, None, 1), TypeError),
            ((3, 4, None, None, True, "foo"), KeyError),
            ((3, 4, None, None, True, 3), TypeError),
            ((3, 4, None, None, True, nn.ReLU), TypeError),
            ((3, 4, None, None, True, ops.relu), TypeError),
        ],
    )
    def test_bad_arguments(self, arguments, error):
        with pytest.raises(error):
            nn.Dense(*arguments)

    @pytest.mark.parametrize(
        "x, error",
        [
            (tensor(normal(2, 4)), ValueError),
            (tensor(normal(2, 3), np.float64), TypeError),
            (tensor([[1, 2, 3]], np.int32), TypeError),
            (3, TypeError),
        ],
    )
    def test_bad_inputs(self, x, error):
        with pytest.raises(error, match="For 'Dense'"):
            nn.Dense(3, 4)(x)


def test_bidense():
    layer, a, b = nn.BiDense(2, 3, 4), normal(5, 2), normal(5, 3, seed=1)
    wanted = np.einsum("ni,kij,nj->nk", a, layer.weight.asnumpy(), b) + layer.bias.asnumpy()
    np.testing.assert_allclose(layer(tensor(a), tensor(b)).asnumpy(), wanted, atol=1e-6)
    assert repr(layer) == "BiDense(in1_channels=2, in2_channels=3, output_channels=4, has_bias=True)"
    assert np.abs(layer.weight.asnumpy()).max() <= 1 / math.sqrt(2)
    with pytest.raises(TypeError, match="'input1' must be a Tensor"):
        layer(3, tensor(b))
    with pytest.raises(ValueError, match="'in2_channels' must be a positive int"):
        nn.BiDense(2, 0, 4)
