"""One seed gives the weights that MindSpore 2.10 gives, whose values stand here."""

import numpy as np
import pytest
from scipy import special, stats

import dist_ms as ms
from dist_ms import nn
from dist_ms.common.initializer import HeUniform, Sparse, TruncatedNormal, initializer

OF_SEED_11 = [
    ("normal", [-0.0005037, -0.0010088, 0.0041147, -0.0232826, -0.0071008, 0.0097198]),
    ("uniform", [0.0363655, 0.0543256, -0.0656083, 0.0521658, -0.0110784, -0.0305292]),
    ("xavier_uniform", [0.5690909, 0.8501523, -1.0267184, 0.8163542, -0.1733688, -0.4777578]),
    ("he_normal", [-0.0503657, -0.1008811, 0.4114668, -2.3282635, -0.7100812, 0.9719788]),
    ("truncatednormal", [0.0070551, 0.0121617, -0.0186104, 0.0113883, -0.0019967, -0.005771]),
    ("orthogonal", [-0.0612552, -0.1446687, 0.5004298, -0.860547, -0.8636075, -0.4883951]),
    (TruncatedNormal(1.0, 0.0, 1.0, 3.0), [1.7607306, 2.0756781, 1.0206056, 2.0258796, 1.3258154, 1.2039448]),
    (Sparse(0.5), [-0.0005037, 0.0, 0.0, -0.0232826, 0.0, 0.0]),
    (HeUniform(5**0.5), [0.3673466, 0.5487709, -0.6627438, 0.5269543, -0.1119091, -0.3083913]),
]


@pytest.mark.parametrize("init, wanted", OF_SEED_11)
@pytest.mark.parametrize("dtype", [ms.float32, ms.float64])
def test_initializers(init, wanted, dtype):
    ms.set_seed(11)
    found = initializer(init, [3, 2], dtype).init_data().asnumpy().reshape(-1)
    np.testing.assert_allclose(found, wanted, rtol=3e-6, atol=1e-7)


def test_layers_and_what_follows_them():
    ms.set_seed(11)
    net = nn.SequentialCell(
        nn.Conv2d(2, 3, 3, has_bias=True), nn.Dense(4, 5), nn.GRUCell(3, 4), nn.Embedding(6, 2), nn.LSTM(2, 3)
    )
    sums = {parameter.name: parameter.asnumpy().sum() for parameter in net.get_parameters()}
    wanted = {
        "0.weight": -1.2992, "0.bias": -0.01431, "1.weight": 1.23619, "1.bias": 0.14819, "2.weight_ih": -1.26126,
        "2.weight_hh": -0.26082, "2.bias_ih": -0.34822, "2.bias_hh": -2.24521, "3.embedding_table": -0.00988,
        "4.weight_ih_l0": 1.09703, "4.weight_hh_l0": 0.76655, "4.bias_ih_l0": -0.86645, "4.bias_hh_l0": 0.66595,
    }  # fmt: skip
    assert sums == pytest.approx(wanted, abs=2e-5)
    assert np.random.rand() == pytest.approx(0.9028368325407534)  # NumPy's generator is as far as there


@pytest.mark.parametrize("low, high", [(-2, 2), (0.5, 3), (4, 5), (-9, -6), (10, 30), (-1, 60), (-100, 100)])
def test_a_truncated_normal_is_one_anywhere(low, high):
    ms.set_seed(2)
    z = initializer(TruncatedNormal(0.1, 1.0, 1 + 0.1 * low, 1 + 0.1 * high), [20_000]).init_data().asnumpy()
    z = (z.astype(np.float64) - 1) / 0.1
    assert low - 1e-5 <= z.min() <= z.max() <= high + 1e-5
    side = -1.0 if low > 0 else 1.0
    start, end = special.ndtr(side * low), special.ndtr(side * high)
    shares = (special.ndtr(side * z) - start) / (end - start)
    assert stats.kstest(shares, "uniform").pvalue > 1e-3


def test_limits_beyond_all_numbers():
    for low, high, nearest in ((50.0, 60.0, 50.0), (-60.0, -50.0, -50.0)):
        values = initializer(TruncatedNormal(1.0, 0.0, low, high), [100]).init_data().asnumpy()
        np.testing.assert_array_equal(values, nearest)
