"""The reducer on real ranks: sums and means, in every mode, and plans that differ."""

import ml_dtypes
import numpy as np
import pytest

from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import wrap
from dist_ms.parallel import DataParallel, Fusion, PlanMismatchError, Reducer, make_plan

SHAPES = {"a": (3, 4), "b": (5,), "c": (), "d": (2, 2, 2), "e": (7, 1)}


def parameters(dtype=np.float32, **flags):
    return [Parameter(np.zeros(s, dtype), name=n, **flags) for n, s in SHAPES.items()]


def gradient(rank, index, shape, dtype=np.float32):
    # Small integers: sums are exact, so that every order of adding gives the same.
    values = np.random.default_rng([rank, index]).integers(-8, 8, shape)
    return np.asarray(values, dtype)


def total(size, index, shape):
    return sum(gradient(r, index, shape, np.float64) for r in range(size))


def small_buckets():
    return Fusion(first=16, size=40)


@pytest.mark.parametrize("overlap", [False, True], ids=["at the end", "overlapped"])
@pytest.mark.parametrize("mean", [False, True], ids=["sum", "mean"])
def test_sum_and_mean_whatever_the_order_of_gradients(comm, overlap, mean):
    weights = parameters()
    reducer = Reducer(make_plan(weights, fusion=small_buckets()), comm, mean=mean, overlap=overlap)
    assert len(reducer.plan.buckets) > 2
    for step in range(3):
        order = np.random.default_rng([comm.rank, step]).permutation(len(weights))
        reducer.begin()
        for i in order:
            reducer.ready(int(i), wrap(gradient(comm.rank, i + step, weights[i].shape)))
            reducer.progress()
        for i, grad in enumerate(reducer.finish()):
            want = total(comm.size, i + step, weights[i].shape) / (comm.size if mean else 1)
            assert grad.asnumpy().dtype == np.float32
            np.testing.assert_allclose(grad.asnumpy(), want, rtol=1e-6)


@pytest.mark.parametrize("overlap", [False, True], ids=["at the end", "overlapped"])
def test_each_kind_of_parameter(world, overlap):
    comm = world.comm
    plain = Parameter(np.zeros(4, np.float32), name="plain")
    own = Parameter(np.zeros(4, np.float32), name="own", layerwise_parallel=True)
    unused = Parameter(np.zeros((2, 3), np.float32), name="unused")
    only_here = Parameter(np.zeros(3, np.float32), name="only_here")
    reducer = Reducer(make_plan([plain, own, unused, only_here]), comm, mean=True, overlap=overlap)
    reducer.begin()
    reducer.ready(2, None)
    reducer.ready(3, wrap(np.full(3, 6, np.float32)) if comm.rank == 0 else None)
    mine = wrap(np.full(4, comm.rank, np.float32))
    reducer.ready(1, mine)
    reducer.ready(0, wrap(np.full(4, comm.rank, np.float32)))
    grads = reducer.finish()
    np.testing.assert_allclose(grads[0].asnumpy(), (comm.size - 1) / 2)
    assert grads[1] is mine  # neither summed nor divided
    assert grads[2] is None if comm.size == 1 else not grads[2].asnumpy().any()
    np.testing.assert_allclose(grads[3].asnumpy(), 6 / comm.size, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", np.dtype(ml_dtypes.bfloat16), "float64", "complex64"], ids=str)
def test_gradients_keep_their_type(world, dtype):
    comm = world.comm
    weights = parameters(dtype)
    grads = [wrap(gradient(comm.rank, i, w.shape, dtype)) for i, w in enumerate(weights)]
    for i, grad in enumerate(Reducer(make_plan(weights), comm).reduce(grads)):
        assert grad.asnumpy().dtype == dtype
        assert (grad.asnumpy().astype(complex) == total(comm.size, i, weights[i].shape)).all()


def test_the_mean_of_large_half_precision_gradients_does_not_overflow(world):
    w = Parameter(np.zeros(2, np.float16), name="w")
    reducer = Reducer(make_plan([w]), world.comm, mean=True)
    grads = reducer.reduce([wrap(np.full(2, 60000, np.float16))])
    assert (grads[0].asnumpy() == np.float16(60000)).all()


def test_the_degree_is_taken_at_its_word(world):
    w = Parameter(np.zeros(2, np.float32), name="w")
    grads = Reducer(make_plan([w]), world.comm, mean=True, degree=4).reduce([wrap(np.ones(2, np.float32))])
    np.testing.assert_allclose(grads[0].asnumpy(), world.comm.size / 4)


def test_a_session_makes_models_equal_and_reduces(world):
    comm = world.comm
    weights = [Parameter(np.full(3, comm.rank, np.float32), name="w")]
    moment = Parameter(np.full(3, comm.rank, np.float32), name="moment", requires_grad=False)
    buffer = wrap(np.array([comm.rank]))
    session = DataParallel(weights, lambda: [*weights, moment], lambda: [buffer], mean=True)
    sink = session.sink()
    assert not weights[0].asnumpy().any() and not moment.asnumpy().any() and buffer.asnumpy() == 0
    assert session.sink() is sink
    grads = sink.reduce([wrap(np.full(3, comm.rank, np.float32))])
    np.testing.assert_allclose(grads[0].asnumpy(), (comm.size - 1) / 2)


def test_a_session_that_does_not_broadcast(world):
    w = Parameter(np.full(3, world.comm.rank, np.float32), name="w")
    DataParallel([w], broadcast=False, mean=True).sink()
    assert (w.asnumpy() == world.comm.rank).all()


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize(
    ("on_rank_1", "text"),
    [
        (
            {"shape": (3, 5)},
            r"parameter 1 differs.*'two' \(shape \(3, 4\).*\[rank 1 of \d\] 'two' \(shape \(3, 5\)",
        ),
        ({"name": "zwei"}, r"\[rank 1 of \d\] 'zwei'"),
        ({"dtype": np.float64}, r"float32.*\[rank 1 of \d\] 'two' \(shape \(3, 4\), float64"),
        ({"layerwise_parallel": True}, r"\[rank 1 of \d\] 'two' \(its own shape.*start: keep"),
        ({"requires_grad": False}, r"\[rank 1 of \d\] 'two'.*gradient: none"),
    ],
)
def test_plans_that_differ_are_an_error_on_every_rank(world, on_rank_1, text):
    import re

    comm = world.comm
    change = {"shape": (3, 4), "name": "two", "dtype": np.float32}
    if comm.rank == 1:
        change |= on_rank_1
    shape, dtype = change.pop("shape"), change.pop("dtype")
    weights = [
        Parameter(np.zeros(2, np.float32), name="one"),
        Parameter(np.zeros(shape, dtype), **change),
    ]
    with pytest.raises(PlanMismatchError) as caught:
        DataParallel([w for w in weights if w.requires_grad], lambda: weights).sink()
    assert re.search(text, str(caught.value), re.DOTALL), caught.value
    assert comm.gather_objects("still here") == ["still here"] * comm.size


@pytest.mark.mpi(min_size=2)
def test_one_rank_with_fewer_parameters(world):
    names = ["one", "two"][: 1 if world.comm.rank == 1 else 2]
    weights = [Parameter(np.zeros(2, np.float32), name=n) for n in names]
    with pytest.raises(PlanMismatchError, match=r"parameter 1 differs:[^$]*\[rank 1 of \d\] nothing"):
        DataParallel(weights).sink()


@pytest.mark.mpi(min_size=2)
def test_another_order_of_weights(world):
    weights = [Parameter(np.zeros(2, np.float32), name=n) for n in ("one", "two")]
    order = weights if world.comm.rank == 0 else weights[::-1]
    with pytest.raises(PlanMismatchError, match="trained weight 0 differs"):
        DataParallel(order, lambda: weights).sink()


@pytest.mark.mpi(min_size=2)
def test_a_plan_that_cannot_be_made_on_one_rank(world):
    names = ["one", "one" if world.comm.rank == 1 else "two"]
    weights = [Parameter(np.zeros(2, np.float32), name=n) for n in names]
    with pytest.raises(ValueError, match=r"\[rank 1 of \d\] For 'make_plan'.*'one'"):
        DataParallel(weights).sink()


def test_without_servers_in_the_job_a_served_parameter_is_like_the_others(world, monkeypatch):
    from dist_ms.common.settings.ps_context import reset_ps_context, set_ps_context

    monkeypatch.setenv("MS_SERVER_NUM", "1")
    set_ps_context(enable_ps=True)
    try:
        w = Parameter(np.zeros(2, np.float32), name="w")
        w.is_param_ps = True
        together = DataParallel([w])
        grad = together.sink().reduce([wrap(np.ones(2, np.float32))])[0]
        assert together.plan.rows[0].gradient == "all_reduce"
        assert (grad.array() == world.comm.size).all()
    finally:
        reset_ps_context()


def test_own_slices_may_have_their_own_shapes(world):
    comm = world.comm
    part = Parameter(np.full(2 + comm.rank, comm.rank, np.float32), name="part")
    part.layerwise_parallel = True
    sink = DataParallel([part]).sink()
    grad = wrap(np.full(2 + comm.rank, comm.rank, np.float32))
    assert sink.reduce([grad])[0] is grad
    assert (part.asnumpy() == comm.rank).all()
