"""Questions about elements and boxes, and the rarer random primitives."""

import math

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from tests.gradcheck import check_gradient
from tests.serial.ops.compare import equal, same, tensor

RNG = np.random.default_rng(0)


def test_elements():
    x = RNG.permutation(20)
    out, places = ops.ListDiff(ms.int64)(tensor(x), tensor(x[::2]))
    equal(out, x[1::2])
    equal(places, np.arange(1, 20, 2))
    scores = np.array([[1.0, 8, 5, 2, 7], [4, 9, 1, 3, 5], [2, 2, 2, 1, 1], [1, 2, 3, 4, np.inf]])
    equal(ops.intopk(tensor(scores, "float32"), tensor([1, 3, 2, 4]), 1), [True, False, True, False])
    equal(ops.InTopK(3)(tensor(scores), tensor([4, 4, 4, 9])), [True, True, False, False])
    rows = RNG.standard_normal((3, 7))
    for n in (0, 3, 6):
        same(ops.NthElement()(tensor(rows), n), np.sort(rows)[:, n])
        same(ops.NthElement(True)(tensor(rows), tensor(n)), np.sort(rows)[:, -1 - n])
    with pytest.raises(ValueError, match=r"'n' must be in \[0, 7\), but got 7"):
        ops.NthElement()(tensor(rows), 7)
    line, values = np.sort(RNG.integers(0, 9, (3, 7))), RNG.integers(0, 9, (3, 4))
    equal(ops.LowerBound()(tensor(line), tensor(values)), (line[:, None] < values[..., None]).sum(-1))
    equal(ops.UpperBound(ms.int64)(tensor(line), tensor(values)), (line[:, None] <= values[..., None]).sum(-1))
    kept, places = ops.SubAndFilter()(tensor([9, 3, 5, 14], "int32"), 9, 5)
    equal(kept, [4, 0])
    equal(places, [0, 2])


def test_scatter_and_coalesce():
    x, index, updates = np.ones((2, 3)), [[2, 0], [1, 1]], np.array([[5.0, 6], [7, 8]])
    same(ops.ScatterAddWithAxis(1)(tensor(x), tensor(index), tensor(updates)), [[7.0, 1, 6], [1, 16, 1]])
    check_gradient(lambda a, b: ops.ScatterAddWithAxis(1)(a, tensor(index), b), x, updates)
    places, values, shape = ops.Coalesce()(tensor([[2, 0, 2], [1, 1, 1]]), tensor([1, 2, 4], "float32"), tensor([3, 2]))
    equal(places, [[0, 2], [1, 1]])
    equal(values, [2, 5])
    equal(shape, [3, 2])


def test_boxes():
    boxes = tensor([[0.0, 0, 3, 2], [0, 0, 4, 2], [-1, 0, 1, 1], [0, 0, 1, 3]], "float32")
    equal(ops.check_valid(boxes, tensor([1.5, 2.0, 2.0], "float32")), [True, False, False, False])
    a, g = tensor([[0.0, 0, 1, 1], [2, 2, 3, 3]]), tensor([[1.0, 1, 2, 2]])
    same(ops.iou(a, g), [[1 / 7, 1 / 7]])
    same(ops.IOU("iof")(a, g), [[0.25, 0.25]])
    with pytest.raises(ValueError, match="boxes must have the shape"):
        ops.iou(a, g[0])


@pytest.mark.parametrize("low, high", [(-2.0, 2.0), (0.3, 0.9), (3.0, 100.0), (-9.0, -4.0), (-100.0, 100.0)])
def test_truncated_normal(low, high):
    one = tensor([1.0])
    draw = ops.ParameterizedTruncatedNormal(seed=3)
    x = draw(tensor([2, 4000]), 0 * one, one, low * one, high * one).asnumpy()
    assert x.dtype == np.float64 and x.min() >= low and x.max() <= high
    mass = (math.erfc(low / 2**0.5) - math.erfc(high / 2**0.5)) / 2
    mean = (math.exp(-low * low / 2) - math.exp(-high * high / 2)) / math.sqrt(2 * math.pi) / mass
    assert abs(x.mean() - mean) < 5 * x.std() / math.sqrt(x.size)
    # An object goes on in its sequence, as MindSpore's; another of the same seed starts it again.
    again = ops.ParameterizedTruncatedNormal(seed=3)
    same(again(tensor([2, 4000]), 0 * one, one, low * one, high * one), x)


def test_other_draws():
    x = ops.TruncatedNormal(ms.float16, 1)(tensor([30, 50])).asnumpy()
    assert x.dtype == np.float16 and x.shape == (30, 50) and np.abs(x).max() <= 2 and abs(x.mean()) < 0.1
    ms.set_seed(1)
    x = ops.Cauchy([2000], 3.0, 2.0)().asnumpy()
    np.testing.assert_allclose(np.quantile(x, [0.25, 0.5, 0.75]), [1, 3, 5], atol=0.4)
    with pytest.raises(ValueError, match="'sigma' must be positive"):
        ops.Cauchy([1], 0.0, 0.0)


def test_draws_with_parameters():
    x = ops.RandomGamma(3)(tensor([4000]), tensor([1.0, 4.0])).asnumpy()
    np.testing.assert_allclose([x.mean(0), x.var(0)], [[1, 4], [1, 4]], rtol=0.15)
    x = ops.RandomPoisson(3, 1)(tensor([4000]), tensor([1, 4])).asnumpy()
    assert x.dtype == np.int64
    np.testing.assert_allclose([x.mean(0), x.var(0)], [[1, 4], [1, 4]], rtol=0.15)
    ms.set_seed(1)
    logs = np.log(ops.LogNormalReverse(1.0, 0.5)(tensor(np.ones((40, 50)))).asnumpy())
    assert abs(logs.mean() - 1) < 0.06 and abs(logs.std() - 0.5) < 0.05


def test_candidates():
    true = tensor([[1, 2], [0, 3]])
    drawn, expected, own = ops.uniform_candidate_sampler(true, 2, 3, True, 8, 1, True)
    assert set(drawn.asnumpy()) <= set(range(4, 8)) and len(set(drawn.asnumpy())) == 3
    assert expected.shape == (2, 2) and own.dtype == ms.float32
    drawn, expected, own = ops.LogUniformCandidateSampler(2, 20000, False, 5, 7)(true)
    wanted = np.log(np.arange(2, 7) / np.arange(1, 6)) / np.log(6)
    np.testing.assert_allclose(np.bincount(drawn.asnumpy()) / 20000, wanted, atol=0.02)
    same(expected / 20000, wanted[[[1, 2], [0, 3]]].astype("float32"))
    with pytest.raises(ValueError, match="'num_sampled' must not be above 'range_max'"):
        ops.uniform_candidate_sampler(true, 2, 9, True, 8)
    for wrong in ({"num_sampled": -1}, {"range_max": 0}, {"num_true": 0}):
        with pytest.raises(ValueError, match=f"'{next(iter(wrong))}' must be at least 1"):
            ops.log_uniform_candidate_sampler(true, **{"num_true": 2, **wrong})
