"""ReduceMax, Argmax, ArgMaxWithValue and their kin."""

import warnings

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from tests.serial.ops.compare import equal, same, tensor

C = np.random.default_rng(0).permutation(24).reshape(2, 3, 4).astype("float32")


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("keep", [False, True])
def test_along_one_dimension(axis, keep):
    c = ms.Tensor(C)
    for name, primitive, extreme, place in (
        ("max", ops.ArgMaxWithValue, np.max, np.argmax),
        ("min", ops.ArgMinWithValue, np.min, np.argmin),
    ):
        value, index = getattr(ops, name)(c, axis, keep)
        same(value, extreme(C, axis, keepdims=keep))
        same(index, place(C, axis, keepdims=keep))
        index2, value2 = primitive(axis, keep)(c)
        equal(value2, value.asnumpy())
        equal(index2, index.asnumpy())
        equal(getattr(ops, f"a{name}")(c, axis, keep), value.asnumpy())
        equal(getattr(c, name)(axis=axis, keepdims=keep), value.asnumpy())
        equal(getattr(c, name)(axis, keep)[1], index.asnumpy())
        equal(getattr(c, name)(dim=axis, keepdim=keep)[0], value.asnumpy())
        equal(getattr(c, name)(axis=axis, return_indices=True)[1], place(C, axis))


def test_over_several_dimensions():
    c = ms.Tensor(C)
    equal(ops.amax(c, (0, 2)), C.max((0, 2)))
    equal(ops.ReduceMin(True)(c, (0, 2)), C.min((0, 2), keepdims=True))
    equal(ops.amin(c), C.min())
    equal(c.max(), C.max())
    equal(c.min(axis=(0, 1)), C.min((0, 1)))
    equal(c.ptp(1), np.ptp(C, 1))
    value, place = ops.max(c)
    equal(value, C.max())
    same(place, np.int64(0))


def test_places():
    c = ms.Tensor(C)
    same(ops.argmax(c), np.int64(C.argmax()))
    same(ops.argmax(c, 1, True), C.argmax(1, keepdims=True))
    same(ops.argmin(c, 1), C.argmin(1).astype("int32"))
    same(c.argmax(axis=1, keepdims=True), C.argmax(1, keepdims=True))
    same(ops.Argmax()(c), C.argmax(-1).astype("int32"))
    same(ops.Argmin(0, ms.int64)(c), C.argmin(0))
    equal(ops.argmax(tensor([[3, 1, 3]]), 1), [0])
    equal(ops.argmax(tensor([False, True])), 1)


def test_initial_and_where():
    c = ms.Tensor(C)
    equal(ops.max(c, 0, initial=10.0)[0], C.max(0, initial=10))
    # Where the initial value wins, it wins at the first place, as in MindSpore.
    rows = ms.Tensor([[2, 5, 1, 6], [3, -7, -2, 4]])
    where = ms.Tensor([[True, False, True, False], [False, False, True, True]])
    for initial, value, place in ((0, [0, -2], [0, 2]), (3, [1, -2], [2, 2]), (-4, [-4, -4], [0, 0])):
        found = ops.min(rows, 1, initial=initial, where=where)
        assert found[0].asnumpy().tolist() == value and found[1].asnumpy().tolist() == place
    assert ops.max(rows, 1, initial=7)[1].asnumpy().tolist() == [0, 0]
    equal(ops.amax(c, 0, initial=-5.0, where=c < 10), C.max(0, initial=-5, where=C < 10))
    with pytest.raises(ValueError, match="'initial' must be given together with 'where'"):
        ops.amax(c, 0, where=c > 1)


def test_aminmax_and_scalars():
    low, high = ops.aminmax(ms.Tensor(C), axis=1)
    equal(low, C.min(1))
    equal(high, C.max(1))
    value, index = ops.max(ms.Tensor(3.0), 0)
    assert (float(value), int(index)) == (3, 0)
    assert int(ops.argmax(ms.Tensor(3.0))) == 0


def test_nan_wins():
    x = tensor([1.0, np.nan, 2.0])
    assert np.isnan(ops.amax(x).asnumpy())
    assert np.isnan(ops.min(x, 0)[0].asnumpy())


def test_errors():
    c = ms.Tensor(C)
    for fn in (
        lambda: ops.max(c, 3),
        lambda: ops.argmax(c, -4),
        lambda: ops.max(tensor([]), 0),
        lambda: ops.amax(tensor([])),
    ):
        with pytest.raises(ValueError, match="For '"):
            fn()
    with pytest.raises(RuntimeError, match="For 'Argmax', the dimensions to choose from must not be empty"):
        ops.argmax(tensor([]))
    with pytest.raises(RuntimeError, match="'axis' must name each dimension once"):
        ops.amax(c, (0, 0))
    for fn in (
        lambda: ops.max(c, (0, 1)),
        lambda: ops.argmax(c, 1.0),
        lambda: ops.Argmax(0, ms.float32),
        lambda: ops.amax(tensor([1j])),
        lambda: ops.argmin(tensor([True])),
    ):
        with pytest.raises(TypeError, match="For '"):
            fn()
    with pytest.raises(AttributeError, match="For 'max', 'input'"):
        ops.max([1, 2])


@pytest.mark.parametrize("axis", [0, 1, -1, None])
@pytest.mark.parametrize("keepdims", [False, True])
def test_aminmax_leaves_nan_out(axis, keepdims):
    a = np.array([[9, 3, np.nan], [1, np.nan, np.nan], [4, -2, np.nan]], np.float32)
    low, high = ops.aminmax(ms.Tensor(a), axis=axis, keepdims=keepdims)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a column has nothing else
        np.testing.assert_array_equal(low.asnumpy(), np.nanmin(a, axis, keepdims=keepdims))
        np.testing.assert_array_equal(high.asnumpy(), np.nanmax(a, axis, keepdims=keepdims))


def test_aminmax_of_nan_has_the_gradient_of_the_others():
    slope = ms.grad(lambda x: ops.aminmax(x, axis=0)[1])(ms.Tensor([np.nan, 5.0, 2.0], ms.float32))
    np.testing.assert_array_equal(slope.asnumpy(), [0, 1, 0])


def first_and_count(x, name):
    found = getattr(x, name)(1)
    return (found[0], 2) if isinstance(found, tuple) else (found, 1)


class Extremes(ms.nn.Cell):
    def __init__(self, name):
        super().__init__()
        self.name = name

    def construct(self, x):
        return first_and_count(x, self.name)


@pytest.mark.parametrize("name", ["max", "min"])
def test_methods_without_keywords_tell_no_places_where_mindspore_compiles(name):
    x, expected = ms.Tensor(C[0]), getattr(C[0], name)(1)

    def slope():
        return ms.value_and_grad(lambda x: first_and_count(x, name), has_aux=True)(x)[0]

    compiled = ms.jit(lambda x: first_and_count(x, name))
    kept = ms.jit(lambda x: getattr(x, name)(-1, True))
    by_dim = ms.jit(lambda x: getattr(x, name)(dim=1))
    eager = {"host": lambda: first_and_count(x, name), "cell": lambda: Extremes(name)(x), "gradient": slope}
    counts = {}
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        try:
            for where, run in eager.items():
                value, counts[where, mode] = run()
                equal(value, expected)
            equal(compiled(x)[0], expected)
            assert compiled(x)[1] == 1 and len(by_dim(x)) == 2
            equal(kept(x), expected[:, None])
        finally:
            ms.set_context(mode=ms.PYNATIVE_MODE)
    assert {where for (where, mode), count in counts.items() if mode == ms.PYNATIVE_MODE and count == 2} == set(eager)
    assert {where for (where, mode), count in counts.items() if mode == ms.GRAPH_MODE and count == 2} == {"host"}
