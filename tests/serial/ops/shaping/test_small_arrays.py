"""Segments, sequences, packed and renumbered elements, series: NumPy, figures of MindSpore 2.10, differences."""

import math

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from tests.gradcheck import check_gradient

RNG = np.random.default_rng(1)
IDS = np.array([0, 0, 1, 3, 3, 3])


@pytest.mark.parametrize(
    ("name", "reduce", "empty"),
    [("Sum", np.sum, 0), ("Prod", np.prod, 1), ("Max", np.max, 0), ("Min", np.min, 0), ("Mean", np.mean, 0)],
)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_segments(name, reduce, empty, dtype):
    x = (RNG.standard_normal((6, 2, 3)) * 5).astype(dtype)
    out = getattr(ops, f"Segment{name}")()(ms.Tensor(x), ms.Tensor(IDS)).asnumpy()
    wanted = [reduce(x[IDS == i], 0) if (IDS == i).any() else np.full((2, 3), empty) for i in range(4)]
    np.testing.assert_allclose(out, np.array(wanted).astype(dtype), rtol=1e-5)
    assert out.dtype == dtype


@pytest.mark.parametrize("name", ["Sum", "Prod", "Max", "Min", "Mean"])
def test_segment_gradients(name):
    x = RNG.permutation(12).reshape(6, 2) * 0.3 - 1.55
    check_gradient(lambda t: getattr(ops, f"Segment{name}")()(t, ms.Tensor(IDS)), x)


def test_edit_distance():
    def sparse(rows):
        places = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
        return ms.Tensor(places), ms.Tensor([v for row in rows for v in row]), ms.Tensor([len(rows), 9])

    args = sparse([[1, 2, 3], [4, 5], [7]]), sparse([[2, 3], [4, 6, 5], [8]])
    assert ops.EditDistance(False)(*args[0], *args[1]).asnumpy().tolist() == [1, 1, 1]
    np.testing.assert_allclose(ops.EditDistance()(*args[0], *args[1]).asnumpy(), [1 / 2, 1 / 3, 1], rtol=1e-6)


def test_no_repeat_ngram():
    words = ms.Tensor([[[1, 2, 1, 2, 5, 1, 2]], [[4, 8, 6, 4, 5, 6, 4]]], ms.int32)
    out = ops.NoRepeatNGram(3)(words, ops.zeros((2, 1, 10))).asnumpy()
    low = np.finfo(np.float32).min
    assert np.argwhere(out == low).tolist() == [[0, 0, 1], [0, 0, 5], [1, 0, 5]]
    assert (out[out != low] == 0).all()


def test_ragged_range():
    splits, values = ops.RaggedRange(ms.int32)(
        ms.Tensor([2.0, 5.0, 8.0]), ms.Tensor([3.5, 5.0, 1.0]), ms.Tensor([0.5, 1.0, -3.0])
    )
    assert splits.asnumpy().tolist() == [0, 3, 3, 6]
    assert values.asnumpy().tolist() == [2, 2.5, 3, 8, 5, 2]
    assert splits.dtype == ms.int32


def test_renumbered():
    x = RNG.standard_normal((3, 5)).astype(np.float32)
    edges = [-0.5, 0.0, 0.7]
    np.testing.assert_array_equal(ops.Bucketize(edges)(ms.Tensor(x)).asnumpy(), np.digitize(x, edges))
    packed = ops.CompareAndBitpack()(ms.Tensor(np.resize(x, (2, 16))), ms.Tensor(0.1)).asnumpy()
    np.testing.assert_array_equal(np.unpackbits(packed, axis=-1), np.resize(x, (2, 16)) > np.float32(0.1))
    out = ops.UnravelIndex()(ms.Tensor([2, 5, 7], ms.int32), ms.Tensor([3, 3], ms.int32)).asnumpy()
    np.testing.assert_array_equal(out, np.unravel_index([2, 5, 7], (3, 3)))
    assert ops.InvertPermutation()([2, 0, 1]) == (1, 2, 0)
    assert [ops.scalar_cast(*a) for a in ((2.7, ms.int32), (3, ms.float32), (0, ms.bool_))] == [2, 3.0, False]
    same = ops.IdentityN()([ms.Tensor([1, 2]), ms.Tensor([True])])
    assert [t.asnumpy().tolist() for t in same] == [[1, 2], [True]]
    assert ops.Histogram(4, 0.0, 3.0)(ms.Tensor([1.0, 2, 1])).dtype == ms.float32
    assert ops.Histogram(4, 0.0, 3.0)(ms.Tensor([1, 2, 1])).dtype == ms.int32


def test_series():
    out = ops.LogSpace(5, 3)(ms.Tensor(0.0), ms.Tensor(2.0)).asnumpy()
    np.testing.assert_allclose(out, np.logspace(0, 2, 5, base=3), rtol=1e-6)
    parts = [RNG.standard_normal((2, 1, 4)) for _ in range(3)]
    rhs = RNG.standard_normal((2, 4, 3))
    for n in range(2):
        matrix = np.diag(parts[0][n, 0, :-1], 1) + np.diag(parts[1][n, 0]) + np.diag(parts[2][n, 0, 1:], -1)
        out = ops.TridiagonalMatMul()(*[ms.Tensor(p) for p in parts], ms.Tensor(rhs)).asnumpy()[n]
        np.testing.assert_allclose(out, matrix @ rhs[n], rtol=1e-6)
    check_gradient(ops.TridiagonalMatMul(), *parts, rhs)


def test_betainc():
    one = (
        np.array([0.3, 0.1, 0.4], np.float32),
        np.array([0.4, 0.5, 0.9], np.float32),
        np.array([0.2, 0.6, 0.5], np.float32),
    )
    out = ops.Betainc()(*[ms.Tensor(v) for v in one]).asnumpy()
    np.testing.assert_allclose(out, [0.41462693, 0.8706036, 0.72982967], rtol=1e-5)
    a, b = RNG.integers(1, 9, (2, 40)).astype(float)  # for integers: a sum of binomial probabilities
    x = RNG.random(40)
    wanted = [
        sum(math.comb(int(p + q - 1), j) * z**j * (1 - z) ** (p + q - 1 - j) for j in range(int(p), int(p + q)))
        for p, q, z in zip(a, b, x)
    ]
    np.testing.assert_allclose(ops.Betainc()(ms.Tensor(a), ms.Tensor(b), ms.Tensor(x)).asnumpy(), wanted, rtol=1e-10)
    check_gradient(lambda t: ops.Betainc()(ms.Tensor(a), ms.Tensor(b), t), x)
    bad = ops.Betainc()(ms.Tensor([-1.0, 1.0]), ms.Tensor([1.0, 1.0]), ms.Tensor([0.5, 1.5])).asnumpy()
    assert np.isnan(bad).all()


def test_ctc_loss():
    x = [[[0.3, 0.6, 0.6], [0.4, 0.3, 0.9]], [[0.9, 0.4, 0.2], [0.9, 0.9, 0.1]]]
    places, two = ms.Tensor([[0, 0], [1, 0]]), ms.Tensor([2, 2], ms.int32)
    scores = ms.Tensor(np.array(x, np.float32)[..., [1, 2, 0]])
    loss, slope = ops.CTCLoss()(scores, places, ms.Tensor([1, 1], ms.int32), two)
    by_grad = ms.grad(lambda t: ops.CTCLoss()(t, places, ms.Tensor([1, 1], ms.int32), two)[0].sum())(scores)
    np.testing.assert_allclose(slope.asnumpy(), by_grad.asnumpy(), rtol=1e-5, atol=1e-6)
    assert (loss.asnumpy() > 0).all()
    check_gradient(lambda t: ops.CTCLoss()(t, places, ms.Tensor([1, 1], ms.int32), two)[0], np.array(x), order=1)


def test_derivatives_of_higher_order():
    x = ms.Tensor(np.array([[1.0, 2.0], [3.0, 4.0]]))
    out, third = ops.derivative(lambda t: ops.exp(ops.sin(t)), x, 3)
    np.testing.assert_allclose(out.asnumpy(), np.exp(np.sin(x.asnumpy())))
    np.testing.assert_allclose(third.asnumpy(), [[-4.0515366, 3.6724353], [0.5053504, -0.520614]], rtol=1e-5)
    series = ms.Tensor(RNG.standard_normal((3, 2, 2)))
    _, found = ops.jet(lambda t: t * t, x, series)
    a, b, c = series.asnumpy()
    v = x.asnumpy()
    np.testing.assert_allclose(found.asnumpy(), [2 * v * a, 2 * a * a + 2 * v * b, 6 * a * b + 2 * v * c], rtol=1e-6)
    _, mixed = ops.jet(lambda s, t: s * t, (x, x), (series, series))
    np.testing.assert_allclose(mixed.asnumpy(), found.asnumpy(), rtol=1e-6)


def test_choices():
    mask = ms.Tensor(RNG.random((5, 7)) < 0.4)
    places, exist = ops.choice_with_mask(mask, 30)
    count = int(mask.asnumpy().sum())
    assert exist.asnumpy().sum() == count
    found = {tuple(p) for p in places.asnumpy()[:count].tolist()}
    assert found == {tuple(p) for p in np.argwhere(mask.asnumpy()).tolist()}
    assert ops.RandomChoiceWithMask(3)(mask)[0].shape == (3, 2)
    x = ops.NonDeterministicInts(ms.int32)(ms.Tensor([50])).asnumpy()
    assert x.dtype == np.int32 and len(set(x.tolist())) > 40


def test_tensor_methods():
    x = ms.Tensor(np.ones((6, 3), np.float32))
    wanted = np.ones((6, 3))
    np.fill_diagonal(wanted, 5, wrap=True)
    np.testing.assert_array_equal(x.fill_diagonal(5.0, wrap=True).asnumpy(), wanted)
    check_gradient(lambda t: t.fill_diagonal(2.0), RNG.standard_normal((3, 3)))
    check_gradient(lambda t: t.resize(2, 2), RNG.standard_normal(3))
    assert x.resize(2, 2).shape == (2, 2)
    assert set(ops.zeros(50).random_(3, 6).asnumpy().tolist()) == {3, 4, 5}
    assert x.cauchy().shape == x.log_normal().shape == (6, 3)
    assert x.stride() == [3, 1]
    assert x[0].expand_as(x=x).shape == x[0].expand_as(x).shape == (6, 3)
    with pytest.raises(TypeError, match="expand_as"):
        x.expand_as()
    y = ms.Tensor([1, 2], ms.int16)
    assert ms.Tensor.convert_bytes_to_tensor(y.get_bytes(), (2,), ms.int16).tolist() == [1, 2]
    assert ops.function.math_func.isnan_ext(ms.Tensor([float("nan"), 1.0])).tolist() == [True, False]
    assert ops.function.random_func.random_(ops.zeros(2), 3, 4).tolist() == [3, 3]
    assert ops.clip_by_value([x, x], 0, 0.5)[1].asnumpy().max() == 0.5


def test_morph_and_frombuffer():
    double = ops.Morph(lambda x: 2 * x, lambda s: s, lambda d: d)
    check_gradient(lambda x: double(x) * x, RNG.standard_normal(3))
    memory = np.arange(6, dtype=np.int16)
    x = ms.frombuffer(memory, dtype=ms.int16, count=3, offset=4)
    memory[:] = 0
    assert x.tolist() == [2, 3, 4]


REFUSED = {
    "buffer": (ValueError, lambda: ms.frombuffer(b"abc", dtype=ms.int16)),
    "function": (TypeError, lambda: ops.Morph(3, len, len)),
    "falling": (ValueError, lambda: ops.SegmentSum()(ops.ones(3), ms.Tensor([1, 0, 2]))),
    "float ids": (TypeError, lambda: ops.SegmentSum()(ops.ones(2), ops.ones(2))),
    "lengths": (ValueError, lambda: ops.SegmentMean()(ops.ones(3), ms.Tensor([0, 1]))),
    "boundaries": (ValueError, lambda: ops.Bucketize([2.0, 1.0])),
    "groups": (ValueError, lambda: ops.ChannelShuffle(3)(ops.ones((1, 4, 1, 1)))),
    "permutation": (ValueError, lambda: ops.InvertPermutation()((0, 2))),
    "outside": (ValueError, lambda: ops.UnravelIndex()(ms.Tensor([9]), ms.Tensor([3, 3]))),
    "bits": (ValueError, lambda: ops.CompareAndBitpack()(ops.ones(7), ms.Tensor(1.0))),
    "ngram": (ValueError, lambda: ops.NoRepeatNGram(4)(ops.ones((1, 1, 3), ms.int32), ops.ones((1, 1, 2)))),
    "delta": (ValueError, lambda: ops.RaggedRange(ms.int64)(*[ms.Tensor([v]) for v in (0, 1, 0)])),
    "mask": (TypeError, lambda: ops.choice_with_mask(ops.ones(3))),
    "shapes": (ValueError, lambda: ops.Betainc()(ops.ones(2), ops.ones(2), ops.ones(3))),
    "integers": (TypeError, lambda: ops.jet(ops.sin, ms.Tensor([1]), ms.Tensor([[1]]))),
    "order": (ValueError, lambda: ops.derivative(ops.sin, ops.ones(2), 0)),
    "labels": (
        ValueError,
        lambda: ops.CTCLoss()(ops.ones((2, 1, 2)), ms.Tensor([[0, 0], [0, 1]]), ms.Tensor([1, 0]), ms.Tensor([2])),
    ),
    "diagonals": (ValueError, lambda: ops.TridiagonalMatMul()(*[ops.ones((1, 2))] * 3, ops.ones((3, 2)))),
    "diagonal": (ValueError, lambda: ops.ones(3).fill_diagonal(1.0)),
    "device": (ValueError, lambda: ops.Add().set_device("GPU")),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    error, call = REFUSED[name]
    with pytest.raises(error, match="For '"):
        call()
