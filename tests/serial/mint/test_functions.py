"""dist_ms.mint's functions against NumPy."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import mint, ops

A = np.array([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]], np.float32)
B = np.array([[2.0, 3.0, 0.5], [-1.0, 2.0, 4.0]], np.float32)
X, Y = ms.Tensor(A), ms.Tensor(B)
F = mint.nn.functional


def same(got, want, dtype=None):
    want = np.asarray(want)
    assert got.shape == want.shape
    np.testing.assert_allclose(got.asnumpy(), want, rtol=1e-5, atol=1e-6)
    if dtype is not None:
        assert got.dtype == dtype


@pytest.mark.parametrize(
    "name, function",
    [("sum", np.sum), ("mean", np.mean), ("amax", np.max), ("amin", np.min), ("nansum", np.nansum)],
)
@pytest.mark.parametrize("dim", [None, 0, -1, (0, 1), [1]])
@pytest.mark.parametrize("keepdim", [False, True])
def test_reductions(name, function, dim, keepdim):
    axis = tuple(dim) if isinstance(dim, list) else dim
    same(
        getattr(mint, name)(X, () if dim is None and name in ("amax", "amin") else dim, keepdim),
        function(A, axis=axis, keepdims=keepdim),
    )


@pytest.mark.parametrize("dim", [None, 1, (0, 1)])
@pytest.mark.parametrize("correction", [0, 1])
def test_spread(dim, correction):
    var = np.var(A, axis=dim, ddof=correction)
    same(mint.var(X, dim, correction=correction), var)
    same(mint.std(X, dim, correction=correction), np.sqrt(var))
    for got, want in zip(mint.std_mean(X, dim, correction=correction), (np.sqrt(var), A.mean(dim))):
        same(got, want)
    for got, want in zip(mint.var_mean(X, dim, correction=correction), (var, A.mean(dim))):
        same(got, want)


def test_dtypes_of_reductions():
    same(mint.sum(ms.Tensor([1, 2], ms.int32)), 3, ms.int64)
    same(mint.prod(X, 1, dtype=ms.float64), A.astype(float).prod(1), ms.float64)
    same(mint.mean(ms.Tensor([1, 2]), dtype=ms.float32), 1.5, ms.float32)
    same(mint.nansum(ms.Tensor([1, 2], ms.int32)), 3, ms.int32)
    same(mint.nansum(ms.Tensor([True, True])), 2, ms.int64)
    same(mint.count_nonzero(ms.Tensor([[0, 2], [3, 4]]), 1), [1, 2], ms.int64)
    same(mint.count_nonzero(ms.Tensor([[0, 2], [3, 4]])), 3, ms.int64)


def test_extremes_have_three_forms():
    same(mint.max(X), A.max())
    values, places = mint.max(X, 1, keepdim=True)
    same(values, A.max(1, keepdims=True))
    same(places, A.argmax(1)[:, None], ms.int64)
    same(mint.max(X, Y), np.maximum(A, B))
    same(mint.min(X, other=Y), np.minimum(A, B))
    same(mint.argmin(X, 1), A.argmin(1), ms.int64)
    same(mint.argmax(X), A.argmax(), ms.int64)
    same(mint.median(X), np.sort(A.ravel())[2])


@pytest.mark.parametrize("name, sign", [("add", 1), ("sub", -1)])
def test_alpha(name, sign):
    function = getattr(mint, name)
    same(function(X, Y, alpha=0.5), A + sign * 0.5 * B)
    same(function(X, 3, alpha=2), A + sign * 6)
    with pytest.raises(TypeError, match="'alpha' must be a number, but got str"):
        function(X, Y, alpha="2")


def test_arithmetic():
    same(mint.div(X, Y, rounding_mode="floor"), np.floor(A / B))
    same(mint.remainder(X, Y), np.mod(A, B))
    same(mint.bitwise_not(input=ms.Tensor([0, 5])), [-1, -6])
    same(mint.fmod(X, Y), np.fmod(A, B))
    same(mint.clamp(X, max=2), np.minimum(A, 2))
    same(mint.addcmul(X, Y, Y, value=2), A + 2 * B * B)
    same(mint.dot(X[0], Y[0]), A[0] @ B[0])
    assert mint.equal(X, X) and not mint.equal(X, Y)
    with pytest.raises(ValueError, match="'other' must have 1 dimension"):
        mint.dot(X[0], Y)


def test_shapes():
    same(mint.cat((X, Y), dim=1), np.concatenate((A, B), 1))
    same(mint.stack((X, Y), -1), np.stack((A, B), -1))
    same(mint.transpose(X, 0, 1), A.T)
    same(mint.flatten(X), A.ravel())
    same(mint.select(X, -1, -1), A[:, -1])
    same(mint.narrow(X, 1, 1, 2), A[:, 1:])
    same(mint.squeeze(X, 1), A)
    same(mint.squeeze(mint.ones((1, 2, 1)), (0, 1)), np.ones((2, 1)))
    same(mint.diag(X, 1), np.diag(A, 1))
    same(mint.diag(X[0], -1), np.diag(A[0], -1))
    for indexing in (None, "ij", "xy"):
        want = np.meshgrid(A[0], B[1], indexing=indexing or "ij")
        for got, expected in zip(mint.meshgrid(X[0], Y[1], indexing=indexing), want):
            same(got, expected)


def test_elements():
    index = ms.Tensor([[0, 2], [1, 1]])
    same(mint.gather(X, 1, index), np.take_along_axis(A, index.asnumpy(), 1))
    same(mint.take(X, ms.Tensor([5, 0])), [-6, 1])
    want = A.copy()
    np.add.at(want, (slice(None), [0, 0]), 2 * B[:, :2])
    same(mint.index_add(X, 1, ms.Tensor([0, 0], ms.int32), Y[:, :2], alpha=2), want)
    same(X, A)
    want = A.copy()
    np.put_along_axis(want, index.asnumpy(), 9.0, 1)
    same(mint.scatter(X, 1, index, 9.0), want)
    same(mint.scatter_add(X, 1, ms.Tensor([[0], [1]]), Y), A + [[2, 0, 0], [0, -1, 0]])
    for got, expected in zip(mint.where(ms.Tensor([True, False, True])), np.where([True, False, True])):
        same(got, expected)


def test_order():
    values, places = mint.sort(X, dim=1, descending=True)
    same(values, -np.sort(-A, 1))
    same(places, np.argsort(-A, 1), ms.int64)
    same(mint.topk(X, 2)[0], -np.sort(-A, 1)[:, :2])
    same(mint.kthvalue(X, 2)[0], np.sort(A, 1)[:, 1])
    values, places = mint.kthvalue(X, 1, 0, True)
    assert values.shape == (1, A.shape[1]) and np.array_equal(places.asnumpy()[0], A.argmin(0))
    with pytest.raises(ValueError, match=r"For 'kthvalue', 'k' must be in the range \[1, 3\], but got 4"):
        mint.kthvalue(ms.Tensor([1.0, 2.0, 3.0]), 4)
    x = np.array([3, 1, 3, 2])
    got = mint.unique(ms.Tensor(x), return_inverse=True, return_counts=True)
    for one, want in zip(got, np.unique(x, return_inverse=True, return_counts=True)):
        same(one, want, ms.int64)


def test_random_numbers_follow_their_generator():
    for draw in (
        lambda g: mint.rand(2, 3, generator=g),
        lambda g: mint.randn((2, 3), generator=g),
        lambda g: mint.normal(0.0, 2.0, (2, 3), g),
        lambda g: mint.randint(0, 100, (2, 3), generator=g),
        lambda g: mint.randperm(6, generator=g),
    ):
        first, second = (draw(ms.Generator().manual_seed(5)).asnumpy() for _ in range(2))
        np.testing.assert_array_equal(first, second)
        g = ms.Generator().manual_seed(5)
        draw(g)
        assert not np.array_equal(draw(g).asnumpy(), first)


def test_randint_takes_low_or_not():
    for got in (mint.randint(5, (100,)), mint.randint(low=0, high=5, size=(100,)), mint.randint(0, 5, size=(100,))):
        assert got.dtype == ms.int64
        assert set(np.unique(got.asnumpy())) <= set(range(5))
    assert mint.randint_like(X, 2, 3).asnumpy().tolist() == np.full_like(A, 2).tolist()
    with pytest.raises(TypeError, match="'randint'"):
        mint.randint((3,))


def test_norms():
    same(mint.norm(X), np.linalg.norm(A))
    same(mint.norm(X, 1, 1, True), np.abs(A).sum(1, keepdims=True))
    same(mint.linalg.matrix_norm(X, 2), np.linalg.norm(A, 2))
    same(mint.linalg.vector_norm(X, 3, dim=0), (np.abs(A) ** 3).sum(0) ** (1 / 3))
    same(mint.linalg.norm(X, float("inf"), 1), np.abs(A).max(1))


def test_norms_of_singular_values_are_float32():
    wide = ms.Tensor(A.astype(np.float64))
    want = np.linalg.norm(A, "nuc")
    for got in (mint.linalg.norm(wide, "nuc"), mint.linalg.matrix_norm(wide, "nuc", dtype=ms.float64)):
        same(got, want, ms.float32)
    same(mint.norm(wide, "nuc"), want, ms.float32)


def test_norms_by_what_is_named():
    same(mint.linalg.norm(X, "nuc"), np.linalg.norm(A, "nuc"))
    same(mint.linalg.norm(X, 1), np.linalg.norm(A, 1))
    same(mint.linalg.norm(X, 1, [1]), np.abs(A).sum(1))
    same(mint.linalg.norm(X, dim=0), np.linalg.norm(A, axis=0))
    assert mint.linalg.norm(ops.stack([X, Y]), dim=(1, 2), keepdim=True).shape == (2, 1, 1)
    with pytest.raises(ValueError, match="at most 2 dimensions"):
        mint.linalg.norm(ops.stack([X, Y]), 1)
    with pytest.raises(ValueError, match="one or two dimensions"):
        mint.linalg.norm(X, 1, (0, 1, 1))
    for dim in (0, True, [1]):
        with pytest.raises(ValueError, match="two dimensions"):
            mint.linalg.norm(X, "nuc", dim)
    with pytest.raises(TypeError, match="'dim'"):
        mint.linalg.norm(X, 1, "a")
    with pytest.raises(AttributeError, match="'A' must be a Tensor"):
        mint.linalg.norm([1.0])


def test_numbers_out_of_tensors():
    one, x = ms.Tensor(1, ms.int32), ms.Tensor([[1, 2, 3], [4, 5, 6]])
    same(mint.narrow(x, one, one, one), [[2], [5]])
    same(mint.select(x, one, one), [2, 5])
    same(mint.unbind(x, one)[2], [3, 6])
    same(mint.chunk(x, 2, one)[1], [[3], [6]])
    same(mint.split(x, 2, one)[1], [[3], [6]])
    same(mint.flatten(ops.stack([x, x]), one), [[1, 2, 3, 4, 5, 6]] * 2)
    same(mint.diff(x, one), [[1, 1], [1, 1]])
    with pytest.raises(TypeError, match="'dim' must be an int, but got bool"):
        mint.narrow(x, True, 0, 1)
    with pytest.raises(TypeError, match="'dim' must be an int, but got Tensor"):
        mint.select(x, X, 0)


def test_unbind_needs_something_to_unbind():
    with pytest.raises(ValueError, match="must not be empty"):
        mint.unbind(ms.Tensor(np.zeros((0, 3), np.float32)))


def test_t_turns_the_first_two_dimensions():
    x = np.arange(24.0).reshape(2, 3, 4)
    same(mint.t(ms.Tensor(x)), x.swapaxes(0, 1))
    same(mint.t(X), A.T)


def test_a_rounding_mode_of_another_type():
    same(mint.div(X, 2, rounding_mode="floor"), A // 2)
    with pytest.raises(TypeError, match="'rounding_mode' must be a str"):
        mint.div(X, 2, rounding_mode=1)
    with pytest.raises(ValueError, match="'rounding_mode'"):
        mint.div(X, 2, rounding_mode="up")


@pytest.mark.parametrize("function", [mint.max, mint.min, mint.any])
def test_keepdim_goes_with_a_dimension(function):
    for arguments in ({"keepdim": True}, {"dim": None}, {"dim": (0,)}, {"dim": "a"}):
        with pytest.raises(TypeError, match="'dim' must be an int"):
            function(X, **arguments)


def test_extremes_of_all_are_of_real_numbers():
    with pytest.raises(TypeError, match="'dim' must be an int"):
        mint.max(X, Y, True)
    for x in (ms.Tensor([True]), ms.Tensor([1j], ms.complex64)):
        with pytest.raises(RuntimeError, match="real numbers"):
            mint.min(x)


def test_any_of_one_dimension():
    x = ms.Tensor([[True, False], [False, False]])
    same(mint.any(x), True)
    same(mint.any(x, 1, True), [[True], [False]])


def test_prod_of_one_dimension_or_all():
    with pytest.raises(TypeError, match="'dim' must be an int"):
        mint.prod(X, (0, 1))
    for call in (lambda: mint.prod(X, keepdim=True), lambda: ops.prod(X, None, True)):
        with pytest.raises(ValueError, match="'keep_dims' must be False without 'axis'"):
            call()


def test_index_add_checks_shapes_and_types():
    index, x = ms.Tensor([0, 2], ms.int32), ops.zeros((3, 3))
    same(mint.index_add(x, 1, index, ms.Tensor(np.ones((3, 2), bool))), [[1, 0, 1]] * 3, ms.float32)
    same(mint.index_add(x, -1, index, ops.ones((3, 2), ms.float16), alpha=2), [[2, 0, 2]] * 3, ms.float32)
    for dim in (1.5, "a"):
        with pytest.raises(TypeError, match="must be an int"):
            mint.index_add(x, dim, index, ops.ones((3, 2)))
    with pytest.raises(TypeError, match="'source' must fit the dtype"):
        mint.index_add(x, 1, index, ops.ones((3, 2), ms.float64))
    with pytest.raises(TypeError, match="'index' must not be UInt8"):
        mint.index_add(x, 1, ops.cast(index, ms.uint8), ops.ones((3, 2)))
    for wrong in ((4, 2), (3, 3), (3,), (0, 2)):
        with pytest.raises(ValueError, match="index_add"):
            mint.index_add(x, 1, index, ops.ones(wrong))
    with pytest.raises(ValueError, match="'index' must have at most 1 dimension"):
        mint.index_add(x, 1, ops.reshape(index, (1, 2)), ops.ones((3, 2)))


def test_diff_as_often_as_wanted():
    x, more = ms.Tensor([1, 3, 2]), ms.Tensor([4, 5])
    same(mint.diff(x, 0, append=more), [1, 3, 2])
    same(mint.diff(x, -1, append=more), [1, 3, 2, 4, 5])
    same(mint.diff(x, True), [2, -1])
    for kind in (ms.complex64, ms.float64, ms.int16):
        with pytest.raises(TypeError, match="'input' must not be"):
            mint.diff(ops.cast(x, kind))
    with pytest.raises(ValueError, match="must have a dimension"):
        mint.diff(ms.Tensor(1), prepend=x)


def test_a_target_that_is_no_tensor():
    with pytest.raises(TypeError, match="'target' must be a Tensor"):
        mint.nn.functional.nll_loss(X, np.array([0, 1]))
    with pytest.raises(AttributeError, match="'target' must be a Tensor"):
        mint.nn.functional.nll_loss(X, [0, 1])


@pytest.mark.parametrize(
    "rows, labels, classes, kind",
    [
        ((2, 3), (2, 1), 3, RuntimeError),
        ((2, 3, 4), (2, 3), 3, RuntimeError),
        ((3,), (1,), 3, RuntimeError),
        ((2, 3), (2,), 4, RuntimeError),
        ((2, 3), (3,), 3, ValueError),
        ((2, 3, 4), (3, 4), 3, ValueError),
        ((2, 3), (), 3, IndexError),
        ((), (), 3, IndexError),
    ],
)
def test_shapes_that_do_not_agree_raise_as_in_mindspore(rows, labels, classes, kind):
    with pytest.raises(kind, match="For 'nll_loss', '(input|inputs|target|weight)' must"):
        mint.nn.functional.nll_loss(ops.ones(rows), ops.zeros(labels, ms.int32), ops.ones((classes,)))


def test_padding_that_is_no_sequence():
    x = ops.ones((1, 3, 4))
    for mode, kind in (("circular", AttributeError), ("reflect", TypeError), ("constant", TypeError)):
        with pytest.raises(kind, match="must be a tuple, list or Tensor of ints"):
            mint.nn.functional.pad(x, 1, mode)
    same(mint.nn.functional.pad(ms.Tensor([[1, 2]]), (1, 0), "circular", 0), [[2, 1, 2]])
    with pytest.raises(ValueError, match="'value' must be None"):
        mint.nn.functional.pad(x, (1, 0), "circular", 1)


def test_the_median_along_a_dimension_that_a_tensor_names():
    x = ms.Tensor([[1.0, 3.0, 2.0]])
    for found in (mint.median(x, ms.Tensor(1)), x.median(dim=1), x.median(0, dim=1)):
        same(found[0], [2.0])
    for call in (lambda: mint.median(x, ms.Tensor([1])), lambda: x.median(ms.Tensor(1))):
        with pytest.raises(TypeError, match="must be an int"):
            call()
    with pytest.raises(ValueError, match="a tensor with elements"):
        mint.median(ops.ones((3, 0)), 0)
    with pytest.raises(TypeError, match="must be an int"):
        x.median(dim=None)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: mint.index_add(x, 0, ms.Tensor([1, 1]), x * x, alpha=3),
        lambda x: mint.select(x, 1, 0) ** 2,
        lambda x: mint.kthvalue(x, 2)[0] * x[:, 0],
        lambda x: mint.nn.functional.elu(x, 2.0),
        lambda x: mint.nn.functional.kl_div(x, x * 2, "sum", True),
    ],
)
def test_gradients_match_differences(function):
    x = np.random.default_rng(0).standard_normal((2, 3))
    got = ms.grad(lambda t: ops.sum(function(t)))(ms.Tensor(x)).asnumpy()
    for place in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[place] = 1e-6
        high, low = (ops.sum(function(ms.Tensor(x + s))).item() for s in (step, -step))
        assert abs((high - low) / 2e-6 - got[place]) < 1e-5


def test_mindspores_own_places_lead_to_the_same_functions():
    assert ops.function.array_func.split_view is mint.split
    assert ops.function.math_func.amax_ext is mint.amax
    assert ops.function.nn_func.softmax_ext is mint.nn.functional.softmax
    assert ops.auto_generate.select_ext_view is mint.select
    assert ops.functional_overload.any is mint.any
    assert ops.function.math_func.add is ops.add
    with pytest.raises(AttributeError):
        _ = ops.function.math_func.nothing_ext


def test_results_of_several_dtypes_have_the_first():
    narrow = ops.cast(X, ms.float16)
    assert F.prelu(narrow, ms.Tensor([0.5, 0.25, 0.5])).dtype == ms.float16
    assert mint.lerp(narrow, narrow, ops.cast(X, ms.float32)).dtype == ms.float16
    assert mint.lerp(X, Y, ops.cast(X, ms.float64)).dtype == ms.float32


def test_float_powers_are_of_real_numbers():
    x = ms.Tensor([1j], ms.complex64)
    assert ops.float_power(x, 2).dtype == ms.complex128
    for call in (lambda: mint.float_power(x, 2), lambda: mint.float_power(2, x), lambda: mint.float_power(X, 1j)):
        with pytest.raises(TypeError, match="'float_power'"):
            call()


def test_limits_broadcast_to_the_input():
    same(F.clamp(X, ms.Tensor([[0.0], [1.0]]), ms.Tensor(2.0)), np.clip(A, [[0], [1]], 2))
    for limits in ((Y, None), (None, Y)):
        with pytest.raises(ValueError, match="must broadcast to the shape"):
            mint.clamp(X[0], *limits)


def test_shapes_to_broadcast_to():
    same(F.broadcast_to(X[0], [2, -1]), np.broadcast_to(A[0], (2, 3)))
    with pytest.raises(TypeError, match="'shape' must be a tuple or list"):
        mint.broadcast_to(X[0], ms.Tensor([2, 3]))
    with pytest.raises(RuntimeError, match="each dimension"):
        mint.broadcast_to(X[0], (-3, 3))


def test_parts_of_nothing():
    nothing = ops.zeros((0, 2))
    assert [part.shape for part in mint.chunk(nothing, 3)] == [(0, 2)] * 3
    assert [part.shape for part in mint.chunk(nothing, 3, 1)] == [(0, 1), (0, 1)]
    with pytest.raises(ValueError, match="must not be empty"):
        mint.split(nothing, 3)
    assert mint.split(nothing, [0])[0].shape == (0, 2)


def test_factors_out_of_tensors():
    same(mint.add(X, Y, alpha=ms.Tensor(2)), A + 2 * B)
    same(mint.sub(X, Y, alpha=ms.Tensor(2.0)), A - 2 * B)
    for alpha in (ms.Tensor([2]), ms.Tensor(True)):
        with pytest.raises(TypeError, match="'alpha'"):
            mint.add(X, Y, alpha=alpha)
    same(mint.amax(X, ms.Tensor(1)), A.max(1))
    with pytest.raises(TypeError, match="'dim' must be an int"):
        mint.cat([X, Y], X)


def test_means_of_bools_are_refused():
    for mean in (mint.mean, ops.mean):
        with pytest.raises(RuntimeError, match="must be a number type"):
            mean(ms.Tensor([True, False]))


def test_values_are_searched_in_their_own_dtype():
    with pytest.raises(RuntimeError, match="'values' must have the dtype of 'sorted_sequence'"):
        mint.searchsorted(ms.Tensor([1, 2]), ms.Tensor([1.0]))
