"""FusedAdaFactor and FusedCastAdamWeightDecay against their formulas in float64, and MindSpore 2.10's numbers."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops

FLAGS = [(s, f, w) for s in (False, True) for f in (False, True) for w in (False, True)]


def par(a, dtype=np.float32):
    return ms.Parameter(ms.Tensor(np.asarray(a, dtype)))


def state(shape, seed=0):
    rng = np.random.default_rng(seed)
    param, mean, square = (rng.random(shape) for _ in range(3))
    row, column = rng.random(shape[:-1]), rng.random((*shape[:-2], shape[-1]))
    return param, 0.1 * mean, row, column, square, rng.random(shape) - 0.5


def adafactor(scale, first, decays, param, mean, row, column, square, g):
    """The step in float64."""
    squares = g * g + 1e-30
    if param.ndim > 1:
        row, column = 0.8 * row + 0.2 * squares.mean(-1), 0.8 * column + 0.2 * squares.mean(-2)
        ratio = row / row.mean(-1, keepdims=True)
        step = g / np.sqrt(ratio)[..., None] / np.sqrt(column)[..., None, :]
    else:
        square = 0.8 * square + 0.2 * squares
        step = g / np.sqrt(square)
    step = step / max(1, np.sqrt((step**2).mean()) / 0.7)
    rate = 0.03 * max(1e-3, np.sqrt((param**2).mean())) if scale else 0.03
    step = rate * step
    if first:
        mean = step = 0.9 * mean + 0.1 * step
    return param - step - (0.01 * rate * param if decays else 0), mean, row, column, square


NUMBERS = ((1e-30, 1e-3), 0.7, 0.9, 0.8, 1e-2, 0.03)


@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("shape", [(5,), (4, 3), (2, 3, 2)])
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_adafactor(flags, shape, dtype):
    *states, g = [np.asarray(a, dtype) for a in state(shape)]
    params = [par(a, dtype) for a in states]
    out = ops.FusedAdaFactor(*flags)(*NUMBERS, ms.Tensor(g), *params)
    want = adafactor(*flags, *[a.astype(np.float64) for a in (*states, g)])
    tolerance = 2e-3 if dtype == np.float16 else 2e-6
    for found, expected in zip(params, want):
        assert found.asnumpy().dtype == dtype
        np.testing.assert_allclose(found.asnumpy(), expected, rtol=tolerance, atol=tolerance)
    assert isinstance(out, tuple) and len(out) == 1
    assert np.array_equal(out[0].asnumpy(), params[0].asnumpy())


def test_adafactor_divides_by_a_global_norm():
    *states, g = state((4, 3))
    params, others = [par(a) for a in states], [par(a) for a in states]
    ops.FusedAdaFactorWithGlobalNorm(True)(*NUMBERS, ms.Tensor(g.astype(np.float32)), *params, 2.0)
    ops.FusedAdaFactor(True)(*NUMBERS, ms.Tensor((g / 2).astype(np.float32)), *others)
    for a, b in zip(params, others):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-6)


def test_adafactor_gives_mindspores_numbers():
    weights = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
    g = ms.Tensor(np.array([[0.1, -0.2, 0.3], [0.4, 0.5, -0.6]], np.float32))
    params = [par(a) for a in (weights, weights / 10, [0.5, 0.25], [0.3, 0.2, 0.1], weights**2)]
    ops.FusedAdaFactor(True, True, True)(*NUMBERS, g, *params)
    np.testing.assert_allclose(params[0].asnumpy(), MINDSPORE[0], rtol=1e-6)
    np.testing.assert_allclose(params[1].asnumpy(), MINDSPORE[1], rtol=1e-5)


# param and exp_avg that MindSpore 2.10 gave for the arguments above.
MINDSPORE = (
    [
        [0.454428106546402, -0.9087241291999817, 1.8175923824310303],
        [1.3624478578567505, 0.22445599734783173, -0.6778752207756042],
    ],
    [
        [0.045397400856018066, -0.09092680364847183, 0.1817093938589096],
        [0.1370285004377365, 0.025456799194216728, -0.07186289876699448],
    ],
)


@pytest.mark.parametrize("weights", [np.float16, np.float32])
@pytest.mark.parametrize("gradient", [np.float16, np.float32])
def test_adam_keeps_its_state_in_float32(weights, gradient):
    rng = np.random.default_rng(0)
    w, m, v, g = rng.random(7).astype(weights), rng.random(7), rng.random(7), (rng.random(7) - 0.5).astype(gradient)
    params = [par(w, weights), par(m), par(v)]
    out = ops.FusedCastAdamWeightDecay()(*params, 0.01, 0.9, 0.99, 1e-3, 0.1, ms.Tensor(g), 2.0)
    g = g.astype(np.float64) / 2
    m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
    want = (w - 0.01 * (m / (np.sqrt(v) + 1e-3) + 0.1 * w), m, v)
    for found, param, expected, dtype in zip(out, params, want, (weights, np.float32, np.float32)):
        assert found.asnumpy().dtype == dtype and np.array_equal(found.asnumpy(), param.asnumpy())
        np.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-3 if dtype == np.float16 else 2e-6)


def test_errors():
    step, one = ops.FusedCastAdamWeightDecay(), ms.Tensor([1.0])
    numbers = (0.01, 0.9, 0.99, 1e-3, 0.1)
    with pytest.raises(TypeError, match="'m' must be of float32"):
        step(par([1.0]), par([1.0], np.float16), par([1.0]), *numbers, one, 1.0)
    with pytest.raises(ValueError, match=r"'gradient' must have shape \(1,\)"):
        step(par([1.0]), par([1.0]), par([1.0]), *numbers, ms.Tensor([1.0, 2.0]), 1.0)
    with pytest.raises(TypeError, match="'epsilon' must be a tuple of two floats"):
        ops.FusedAdaFactor()(1e-3, *NUMBERS[1:], one, *[par([1.0])] * 5)
    with pytest.raises(ValueError, match="'exp_avg_sq_row' must have shape"):
        two = ms.Tensor([[1.0, 2.0]])
        ops.FusedAdaFactor()(*NUMBERS, two, par([[1.0, 2.0]]), *[par([[1.0, 2.0]])] * 4)
    with pytest.raises(TypeError, match="13 arguments"):
        ops.FusedAdaFactorWithGlobalNorm()(*NUMBERS)
    with pytest.raises(TypeError, match="'enable_first_moment' must be a bool"):
        ops.FusedAdaFactor(enable_first_moment=1)
