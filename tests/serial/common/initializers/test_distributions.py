"""Random initializers: the right distribution, by Kolmogorov and Smirnov, moments and bounds."""

import math
import tracemalloc

import numpy as np
import pytest

import dist_ms as ms
from dist_ms.common.initializer import (
    HeNormal,
    HeUniform,
    Normal,
    Orthogonal,
    Sparse,
    TruncatedNormal,
    Uniform,
    VarianceScaling,
    XavierNormal,
    XavierUniform,
    initializer,
)

WIDE, KERNEL = (80, 500), (60, 40, 5, 7)


def values(init, shape, dtype=ms.float32):
    ms.set_seed(7)
    return initializer(init, list(shape), dtype).init_data().asnumpy()


def normal_cdf(x, sigma=1.0, mean=0.0):
    return np.array([0.5 * (1 + math.erf((v - mean) / (sigma * math.sqrt(2)))) for v in x])


def distance(sample, cdf):
    """The Kolmogorov-Smirnov distance times the root of the sample's size (level 1 %: 1.63)."""
    x = np.sort(np.asarray(sample, np.float64).ravel()[:20000])
    found = cdf(x)
    steps = np.arange(len(x) + 1) / len(x)
    return max(np.abs(found - steps[1:]).max(), np.abs(found - steps[:-1]).max()) * math.sqrt(len(x))


def assert_uniform(sample, bound):
    assert distance(sample, lambda x: (x + bound) / (2 * bound)) < 1.63
    assert 0.99 * bound < sample.max() <= bound
    assert -bound <= sample.min() < -0.99 * bound


def assert_normal(sample, sigma, mean=0.0):
    assert distance(sample, lambda x: normal_cdf(x, sigma, mean)) < 1.63


@pytest.mark.parametrize("dtype", [ms.float32, ms.float64])
@pytest.mark.parametrize(("sigma", "mean"), [(0.01, 0.0), (2.0, 3.0)])
def test_normal(sigma, mean, dtype):
    assert_normal(values(Normal(sigma, mean), WIDE, dtype), sigma, mean)


@pytest.mark.parametrize("scale", [0.07, 3])
def test_uniform(scale):
    assert_uniform(values(Uniform(scale), WIDE), scale)


@pytest.mark.parametrize(
    ("sigma", "mean", "low", "high"),
    [
        (0.01, 0.0, -2.0, 2.0),  # hardly cut
        (0.5, 0.0, -0.3, 0.6),
        (2.0, 5.0, -1.0, 1.0),  # a short interval two deviations away
        (1.0, 0.0, 3.0, 9.0),  # the right tail
        (1.0, 0.0, -9.0, -4.0),  # the left tail
        (1.0, 0.0, -0.01, 0.02),  # next to nothing
        (1.0, 0.0, 0.5, 1.5),
        (1.0, 0.0, 2.0, -2.0),  # the bounds in the other order
    ],
)
def test_truncated_normal_cuts_at_values_not_at_multiples_of_sigma(sigma, mean, low, high):
    sample = values(TruncatedNormal(sigma, mean, low, high), WIDE, ms.float64)
    low, high = sorted((low, high))
    assert low <= sample.min()
    assert sample.max() <= high
    sign = -1 if high < mean else 1  # erf is exact near 0 only: measure tails from their thin end

    def cdf(x):
        upper = np.array([0.5 * math.erfc(sign * (v - mean) / (sigma * math.sqrt(2))) for v in x])
        ends = [0.5 * math.erfc(sign * (v - mean) / (sigma * math.sqrt(2))) for v in (low, high)]
        return (upper - ends[0]) / (ends[1] - ends[0])

    assert distance(sample, cdf) < 1.63


@pytest.mark.parametrize(
    ("init", "fans", "wanted"),
    [
        (XavierNormal(), "both", lambda i, o: math.sqrt(2 / (i + o))),
        (XavierNormal(2.0), "both", lambda i, o: 2 * math.sqrt(2 / (i + o))),
        (HeNormal(), "in", lambda i, o: math.sqrt(2 / i)),
        (HeNormal(mode="fan_out"), "out", lambda i, o: math.sqrt(2 / o)),
        (HeNormal(0.5), "in", lambda i, o: math.sqrt(2 / 1.25 / i)),
        (HeNormal(nonlinearity="relu"), "in", lambda i, o: math.sqrt(2 / i)),
        (HeNormal(nonlinearity="tanh"), "in", lambda i, o: 5 / 3 / math.sqrt(i)),
        (HeNormal(nonlinearity="sigmoid"), "in", lambda i, o: 1 / math.sqrt(i)),
        (
            VarianceScaling(3.0, "fan_avg", "untruncated_normal"),
            "both",
            lambda i, o: math.sqrt(6 / (i + o)),
        ),
    ],
)
@pytest.mark.parametrize("shape", [WIDE, KERNEL])
def test_normals_scaled_by_fans(init, fans, wanted, shape):
    area = math.prod(shape[2:])
    assert_normal(values(init, shape), wanted(shape[1] * area, shape[0] * area))


@pytest.mark.parametrize(
    ("init", "wanted"),
    [
        (XavierUniform(), lambda i, o: math.sqrt(6 / (i + o))),
        (XavierUniform(2), lambda i, o: 2 * math.sqrt(6 / (i + o))),
        (HeUniform(), lambda i, o: math.sqrt(6 / i)),
        (HeUniform(1, "fan_out", "leaky_relu"), lambda i, o: math.sqrt(3 / o)),
        (VarianceScaling(3.0, "fan_out", "uniform"), lambda i, o: math.sqrt(9 / o)),
    ],
)
@pytest.mark.parametrize("shape", [WIDE, KERNEL])
def test_uniforms_scaled_by_fans(init, wanted, shape):
    area = math.prod(shape[2:])
    assert_uniform(values(init, shape), wanted(shape[1] * area, shape[0] * area))


@pytest.mark.parametrize(("mode", "fan"), [("fan_in", 500), ("fan_out", 80), ("fan_avg", 290)])
def test_variance_scaling_truncates_and_keeps_the_variance(mode, fan):
    sample = values(VarianceScaling(2.0, mode), WIDE, ms.float64)
    assert sample.var() == pytest.approx(2 / fan, rel=0.03)
    sigma = math.sqrt(2 / fan) / 0.8796256610342398
    assert np.abs(sample).max() <= 2 * sigma
    low, high = normal_cdf([-2, 2])
    assert distance(sample, lambda x: (normal_cdf(x, sigma) - low) / (high - low)) < 1.63


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 2, 3), (4, 4)])
def test_orthogonal(shape):
    x = values(Orthogonal(2.0), shape).reshape(shape[0], -1)
    product = x @ x.T if x.shape[0] <= x.shape[1] else x.T @ x
    np.testing.assert_allclose(product, 4 * np.eye(len(product)), atol=1e-5)


def test_orthogonal_has_no_preferred_direction():
    ms.set_seed(3)
    corners = [initializer(Orthogonal(), [2, 2]).init_data().asnumpy()[0, 0] for _ in range(400)]
    assert abs(np.mean(corners)) < 0.15


@pytest.mark.parametrize(("sparsity", "zeros"), [(0.3, 3), (0.5, 4), (0.0, 0), (1.5, 7), (-1, 0)])
def test_sparse(sparsity, zeros):
    x = values(Sparse(sparsity, sigma=0.5), (7, 300))
    assert (x == 0).sum(0).tolist() == [zeros] * 300
    if zeros < 7:
        assert_normal(x[x != 0], 0.5)
        assert len(np.unique((x == 0).argmax(0))) == (min(7, 7 - zeros + 1) if zeros else 1)


@pytest.mark.parametrize("name", ["normal", "uniform", "truncatednormal", "he_normal", "orthogonal"])
def test_the_same_seed_gives_the_same_numbers(name):
    def draw():
        return [initializer(name, [2, 3]).init_data().asnumpy() for _ in range(2)]

    ms.set_seed(1)
    first = draw()
    ms.set_seed(1)
    np.testing.assert_array_equal(first, draw())
    np.random.seed(1)
    np.testing.assert_array_equal(first, draw())
    assert not np.intersect1d(*first).size
    ms.set_seed(2)
    assert not np.intersect1d(first[0], draw()[0]).size


@pytest.mark.parametrize("init", [Normal(), Uniform(), TruncatedNormal(), HeNormal(), "zeros"])
def test_large_arrays_are_filled_without_a_second_array(init):
    lazy = initializer(init, [1000, 2000])
    tracemalloc.start()
    lazy.init_data()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < lazy.nbytes + 2**22


def test_a_parameter_of_an_initializer_is_the_only_copy():
    lazy = initializer("normal", [1000, 2000])
    tracemalloc.start()
    p = ms.Parameter(lazy)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < p.nbytes + 2**22
