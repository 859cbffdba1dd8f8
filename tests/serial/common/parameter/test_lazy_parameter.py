"""Lazy parameters: modes, init_data, slices that agree between ranks."""

import copy
import pickle
import tracemalloc

import numpy as np
import pytest

import dist_ms as ms
from dist_ms.common.initializer import Identity, Initializer, initializer
from dist_ms.common.parameter.postponing import no_init_parameters
from dist_ms.common.tensor import slices


@pytest.fixture(params=["semi_auto_parallel", "auto_parallel"])
def cutting(request):
    ms.set_auto_parallel_context(parallel_mode=request.param)
    yield
    ms.reset_auto_parallel_context()


@pytest.fixture
def at_rank():
    """Set this process's rank."""
    yield lambda rank: slices.set_rank_source(lambda group=None: rank)
    slices.set_rank_source(None)


def lazy(init="normal", shape=(8, 6), name="p", dtype=ms.float32):
    with no_init_parameters():
        return ms.Parameter(initializer(init, list(shape), dtype), name=name)


def layout(devices, tensor_map, slice_shape):
    return (devices, tensor_map, slice_shape, 0, True, "")


def slice_at(rank, at_rank, tensor_map=(1, -1), devices=(2, 2), shape=(4, 6), **kwargs):
    at_rank(rank)
    p = lazy(**kwargs)
    return p.init_data(layout(list(devices), list(tensor_map), list(shape))).asnumpy()


def test_modes_that_cut_make_parameters_lazy(cutting):
    p = ms.Parameter(initializer("ones", [4, 2]), name="p")
    assert p.has_init
    assert p._data is None
    assert p.is_in_parallel
    assert p.init_mode.has_init
    assert isinstance(p.data, ms.Tensor)
    assert (p.shape, p.dtype) == ((4, 2), ms.float32)
    assert repr(p) == "Parameter (name=p, shape=(4, 2), dtype=Float32, requires_grad=True)"
    assert p.init_data() is p
    assert not p.has_init
    assert p.init_mode is None
    assert p.init_data() is p
    assert p.asnumpy().tolist() == [[1, 1]] * 4


def test_parameters_of_data_are_never_lazy(cutting):
    p = ms.Parameter(ms.Tensor([1.0]))
    assert not p.has_init
    assert p.is_in_parallel


@pytest.mark.parametrize("mode", ["stand_alone", "data_parallel", "hybrid_parallel"])
def test_other_modes_make_the_values_at_once(mode):
    ms.set_auto_parallel_context(parallel_mode=mode)
    try:
        p = ms.Parameter(initializer("ones", [2]), name="p")
    finally:
        ms.reset_auto_parallel_context()
    assert p._data is not None
    assert not p.is_in_parallel
    assert p.init_data(layout=3) is p


def test_no_init_parameters_is_left_after_an_error():
    with pytest.raises(ZeroDivisionError), no_init_parameters():
        raise ZeroDivisionError
    assert not ms.Parameter(initializer("ones", [2])).has_init


def test_reading_makes_the_values():
    p = lazy("ones", (2,))
    assert p.asnumpy().tolist() == [1, 1]
    assert not p.has_init
    assert p.init_mode is None


@pytest.mark.parametrize(
    "write",
    [
        lambda p, t: p.set_data(t),
        lambda p, t: p.overwrite(t.asnumpy()),
        lambda p, t: p.assign_value(t),
    ],
)
def test_writing_replaces_the_initializer(write):
    p = lazy("normal", (2,))
    write(p, ms.Tensor([3.0, 4.0]))
    assert p.asnumpy().tolist() == [3, 4]
    assert not p.has_init
    assert p.init_mode is None


def test_set_data_checks_the_shape_of_a_lazy_parameter():
    p = lazy("normal", (2,))
    with pytest.raises(ValueError, match=r"\(2,\), but got \(3,\)"):
        p.set_data(ms.Tensor([1, 2, 3]))
    assert p.has_init
    p.set_data(ms.Tensor([1, 2, 3]), slice_shape=True)
    assert (p.shape, p.dtype, p.sliced) == ((3,), ms.float32, True)


@pytest.mark.parametrize(
    "twin_of",
    [copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p)), ms.Parameter.clone],
)
def test_copies_stay_lazy_and_keep_flags(twin_of):
    p = lazy()
    p.layerwise_parallel = True
    twin = twin_of(p)
    assert twin.has_init
    assert twin.layerwise_parallel
    assert twin.init_mode is not None
    twin.init_data()
    assert p.has_init


def test_a_clone_with_other_values_is_made_at_once():
    assert lazy().clone("ones").asnumpy().min() == 1


@pytest.mark.parametrize(
    ("bad", "error", "text"),
    [
        (3, TypeError, "must be a tuple, but got int"),
        ([[4], [0, -1], [2, 6], 0, True, ""], TypeError, "must be a tuple, but got list"),
        ((1, 2), ValueError, "at least 6 entries"),
        (([4], [0], [2, 6], 0, True, ""), ValueError, "one entry for each dimension"),
        (([4], [0, -1], [2], 0, True, ""), ValueError, "one entry for each dimension"),
    ],
)
def test_bad_layouts(bad, error, text):
    p = lazy()
    with pytest.raises(error, match=text):
        p.init_data(layout=bad)
    assert p.has_init


def test_a_rank_outside_the_layout_is_an_error(at_rank):
    at_rank(4)
    with pytest.raises(ValueError, match="must hold rank 4"):
        lazy().init_data(layout([2, 2], [1, -1], [4, 6]))


def test_set_sliced(at_rank):
    at_rank(0)
    for wanted in (True, False):
        p = lazy()
        p.init_data(layout([2], [0, -1], [4, 6]), set_sliced=wanted)
        assert p.sliced is wanted
        assert p.shape == (4, 6)
    p = lazy()
    p.init_data(set_sliced=True)
    assert not p.sliced


@pytest.mark.parametrize(
    "name",
    [
        "normal",
        "uniform",
        "truncatednormal",
        "he_uniform",
        "he_normal",
        "xavier_uniform",
        "xavier_normal",
        "varianceScaling",
    ],
)
@pytest.mark.parametrize("seed", [None, 5])
def test_equal_slices_are_equal_and_others_differ(at_rank, name, seed, monkeypatch):
    monkeypatch.setattr("dist_ms.common.random.seed._seed", seed)
    made = []
    for rank in range(4):
        # Each rank is a process of its own that drew nothing before.
        monkeypatch.setattr("dist_ms.common.random.seed._sliced_draws", 0)
        made.append(slice_at(rank, at_rank, init=name))
    np.testing.assert_array_equal(made[0], made[1])
    np.testing.assert_array_equal(made[2], made[3])
    assert not np.intersect1d(made[0], made[2]).size


def test_slices_follow_the_seed_and_the_name(at_rank):
    ms.set_seed(1)
    one, other = slice_at(0, at_rank), slice_at(0, at_rank, name="q")
    again = slice_at(0, at_rank)
    ms.set_seed(2)
    two = slice_at(0, at_rank)
    np.testing.assert_array_equal(one, again)
    assert not np.intersect1d(one, two).size
    assert not np.intersect1d(one, other).size


def test_without_a_seed_successive_parameters_differ(at_rank, monkeypatch):
    monkeypatch.setattr("dist_ms.common.random.seed._seed", None)
    assert not np.intersect1d(slice_at(0, at_rank), slice_at(0, at_rank)).size


def test_a_slice_leaves_the_global_stream_alone(at_rank):
    ms.set_seed(1)
    wanted = np.random.random(3)
    ms.set_seed(1)
    slice_at(0, at_rank)
    np.testing.assert_array_equal(np.random.random(3), wanted)


def test_fans_are_those_of_the_whole(at_rank):
    ms.set_seed(0)
    at_rank(1)
    p = lazy("xavier_uniform", (1000, 1000))
    part = p.init_data(layout([50], [-1, 0], [1000, 20])).asnumpy()
    bound = np.sqrt(6 / 2000)
    assert 0.99 * bound < np.abs(part).max() <= bound


@pytest.mark.parametrize("init", ["identity", "orthogonal", "dirac"])
def test_slices_of_patterns_put_together_are_the_whole(at_rank, init):
    ms.set_seed(4)
    shape = (6, 4, 3) if init == "dirac" else (6, 4)
    rest = list(shape[2:])
    rows = []
    for row in range(3):
        parts = []
        for column in range(2):
            at_rank(row * 2 + column)
            p = lazy(init, shape)
            p.init_data(layout([3, 2], [1, 0, *[-1] * len(rest)], [2, 2, *rest]))
            parts.append(p.asnumpy())
        rows.append(np.concatenate(parts, 1))
    whole = np.concatenate(rows)
    if init == "identity":
        np.testing.assert_array_equal(whole, np.eye(6, 4))
    elif init == "dirac":
        np.testing.assert_array_equal(whole, initializer("dirac", list(shape)).asnumpy())
    else:
        np.testing.assert_allclose(whole.T @ whole, np.eye(4), atol=1e-5)


def test_custom_initializers_of_numpy_draws_agree_too(at_rank):
    class Mine(Initializer):
        def _initialize(self, arr):
            arr[:] = np.random.random(arr.shape)

    ms.set_seed(8)
    zero, one, two = (slice_at(rank, at_rank, init=Mine()) for rank in (0, 1, 2))
    np.testing.assert_array_equal(zero, one)
    assert not np.intersect1d(zero, two).size


def test_a_table_larger_than_memory_can_be_sliced(at_rank):
    at_rank(10**6)
    tracemalloc.start()
    p = lazy("normal", (4 * 10**9, 512))
    p.init_data(layout([2 * 10**9], [0, -1], [2, 512]), set_sliced=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert p.shape == (2, 512)
    assert peak < 2**20
    assert p.asnumpy().std() == pytest.approx(0.01, rel=0.1)


def test_tensor_init_data_with_a_slice():
    ms.set_seed(6)

    def make(index):
        return initializer("normal", [4, 2]).init_data(index, (2, 2)).asnumpy()

    np.testing.assert_array_equal(make(0), make(0))
    assert not np.intersect1d(make(0), make(1)).size
    assert initializer("normal", [4, 2]).init_data(1, 3).shape == (3,)
    assert initializer("normal", [4, 2]).init_data(shape=(7, 3)).shape == (7, 3)
    for wrong in ("a", 1.5, True):
        with pytest.raises(TypeError, match="'slice_index' must be an int"):
            initializer("normal", [4, 2]).init_data(wrong, (2, 2))
    with pytest.raises(TypeError, match="must be made with 'init'"):
        ms.Tensor([1.0]).init_data()
    made = initializer("ones", [2]).init_data()
    assert made.init_data() is made


def test_the_optimizers_group_cuts_further(at_rank):
    ms.set_seed(2)
    made = []
    for rank, piece in ((0, 0), (0, 1), (1, 0)):
        slices.set_rank_source(lambda group=None, r=rank, p=piece: p if group else r)
        p = lazy("normal", (8, 6))
        p.init_data(([2], [0, -1], [2, 6], 0, True, "opt"))
        made.append(p.asnumpy())
        eye = lazy(Identity(), (8, 6))
        eye.init_data(([2], [0, -1], [2, 6], 0, True, "opt"))
        first = rank * 4 + piece * 2
        np.testing.assert_array_equal(eye.asnumpy(), np.eye(8, 6)[first : first + 2])
    slices.set_rank_source(None)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        assert not np.intersect1d(made[i], made[j]).size


def test_a_worker_leaves_a_table_that_its_server_makes(monkeypatch):
    monkeypatch.setenv("MS_ROLE", "MS_WORKER")
    ms.set_ps_context(enable_ps=True)
    try:
        p = lazy("normal", (1000, 64))
        p.set_param_ps(init_in_server=True)
        assert p.init_data().shape == (1,)
        q = lazy("normal", (10, 4))
        q.set_param_ps()
        assert q.init_data().shape == (10, 4)
    finally:
        ms.reset_ps_context()
