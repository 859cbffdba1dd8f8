"""The reducer over a communicator that records: the number and order of posts, and misuse."""

import numpy as np
import pytest

from dist_ms import ops
from dist_ms.autograd.differentiate import Graph
from dist_ms.common import once
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import wrap
from dist_ms.communication import LocalComm
from dist_ms.communication.comm import Handle
from dist_ms.parallel import DataParallel, Fusion, Reducer, make_plan
from dist_ms.parallel import session as session_file
from dist_ms.parallel.reduction import bucket_memory
from dist_ms.parallel.reduction.row_gradients import add_at


class RecordedHandle(Handle):
    def __init__(self, log, index):
        self.log, self.index, self.polls = log, index, 0

    def test(self):
        self.log.append(("test", self.index))
        self.polls += 1
        return self.polls > 1

    def wait(self):
        self.log.append(("wait", self.index))


class RecordingComm(LocalComm):
    """Two ranks with equal gradients: a reduction doubles the array."""

    def __init__(self):
        super().__init__()
        self.size, self.ranks = 2, (0, 1)
        self.log, self.posts, self.named = [], 0, []

    def all_reduce(self, array, op="sum", scale=1.0, names=None):
        self.named.append(names and names())
        self.log.append(("reduce", array.size))
        array *= np.asarray(2 * scale).astype(array.dtype)
        return array

    def post_all_reduce(self, array, op="sum", scale=1.0, names=None):
        self.named.append(names and names())
        self.log.append(("post", array.size))
        array *= np.asarray(2 * scale).astype(array.dtype)
        self.posts += 1
        return RecordedHandle(self.log, self.posts - 1)


SIZES = [1, 2, 3, 4, 5, 6]


def weights(sizes=SIZES, dtype=np.float32, **flags):
    return [Parameter(np.zeros(n, dtype), name=f"w{n}", **flags) for n in sizes]


def gradients(sizes=SIZES, dtype=np.float32):
    return [wrap(np.full(n, n, dtype)) for n in sizes]


def make(comm, fusion=None, **options):
    return Reducer(make_plan(weights(), fusion=fusion), comm, **options)


@pytest.mark.parametrize(
    ("fusion", "posted"),
    [
        (Fusion(), [21]),  # one bucket
        (Fusion(first=24, size=40), [6, 9, 6]),  # 6 | 5 4 | 3 2 1
        (Fusion(single=True), [6, 5, 4, 3, 2, 1]),
    ],
)
@pytest.mark.parametrize("overlap", [True, False])
def test_number_and_order_of_reductions(fusion, posted, overlap):
    comm = RecordingComm()
    reducer = make(comm, fusion, overlap=overlap)
    grads = reducer.reduce(gradients())
    verb = "post" if overlap else "reduce"
    sizes = iter(reversed(SIZES))
    assert [sum(int(name[1:]) for name in names) for names in comm.named] == posted
    assert [name for names in comm.named for name in names] == [f"w{n}" for n in sizes]
    assert [size for what, size in comm.log if what == verb] == posted
    for n, grad in zip(SIZES, grads, strict=True):
        assert grad.asnumpy().tolist() == [2.0 * n] * n


def test_a_bucket_is_posted_when_complete_and_not_before_earlier_ones():
    comm = RecordingComm()
    reducer = make(comm, Fusion(first=24, size=40), overlap=True)
    grads = gradients()
    reducer.begin()
    for i in (0, 1, 2, 3):  # the last bucket is complete first
        reducer.ready(i, grads[i])
    assert comm.log == []
    reducer.ready(5, grads[5])  # bucket 0
    assert comm.log == [("post", 6)]
    reducer.progress()
    reducer.ready(4, grads[4])  # bucket 1, and with it bucket 2
    assert comm.log[1:] == [("test", 0), ("post", 9), ("post", 6)]
    reducer.progress()
    assert comm.log[4:] == [("test", 0), ("test", 1)]  # in order, as far as they are done
    reducer.finish()
    assert comm.log[6:] == [("wait", 0), ("wait", 1), ("wait", 2)]


def test_blocking_mode_waits_for_the_end():
    comm = RecordingComm()
    reducer = make(comm, overlap=False)
    reducer.begin()
    for i, grad in enumerate(gradients()):
        reducer.ready(i, grad)
        reducer.progress()
    assert comm.log == []
    reducer.finish()
    assert comm.log == [("reduce", 21)]


def test_overlap_is_for_ranks_on_several_machines():
    comm = RecordingComm()
    assert not make(comm).overlap
    comm.one_node = False
    assert make(comm).overlap


def test_unused_weights_become_zeros():
    reducer = make(RecordingComm())
    for _ in range(2):  # also in memory that held something else
        reducer.reduce(gradients())
        grads = gradients()
        grads[2] = None
        out = reducer.reduce(grads)
        assert out[2].asnumpy().tolist() == [0, 0, 0]
        assert out[3].asnumpy().tolist() == [8, 8, 8, 8]


@pytest.mark.parametrize(("mean", "degree", "factor"), [(False, 5, 2), (True, None, 1), (True, 4, 0.5)])
def test_sum_mean_and_degree(mean, degree, factor):
    out = make(RecordingComm(), mean=mean, degree=degree).reduce(gradients())
    assert out[1].asnumpy().tolist() == [2 * factor] * 2


@pytest.mark.parametrize("degree", [0, -1, 1.5, True, "2"])
def test_the_degree_must_be_a_positive_int(degree):
    with pytest.raises(ValueError, match="'degree' must be a positive int, but got"):
        make(RecordingComm(), degree=degree)


def test_layerwise_gradients_come_back_untouched():
    comm = RecordingComm()
    w = weights([2, 3])
    w[0].layerwise_parallel = True
    grads = gradients([2, 3])
    out = Reducer(make_plan(w), comm, mean=True, degree=8).reduce(grads)
    assert out[0] is grads[0] and out[0].asnumpy().tolist() == [2, 2]
    assert comm.log == [("reduce", 3)]


def test_tied_weights_are_reduced_once():
    comm = RecordingComm()
    (w,) = weights([2])
    grads = gradients([2])
    out = Reducer(make_plan([w], [w, w]), comm).reduce([grads[0], grads[0]])
    assert [g.asnumpy().tolist() for g in out] == [[4, 4], [4, 4]]
    assert comm.log == [("reduce", 2)]


@pytest.mark.parametrize("dtype", ["float16", "float64", "complex64"])
def test_gradients_keep_their_type(dtype):
    out = Reducer(make_plan(weights(dtype=dtype)), RecordingComm()).reduce(gradients(dtype=dtype))
    assert all(g.asnumpy().dtype == dtype for g in out)


def test_gradients_of_another_type_than_the_weight_keep_it():
    grads = gradients([2], np.float16)
    (out,) = Reducer(make_plan(weights([2])), RecordingComm()).reduce(grads)
    assert out.asnumpy().dtype == np.float16 and out.asnumpy().tolist() == [4, 4]
    with pytest.raises(TypeError, match="must be of type float32, but got complex64"):
        Reducer(make_plan(weights([2])), RecordingComm()).reduce(gradients([2], np.complex64))


def test_strided_gradients_are_laid_out():
    (w,) = [Parameter(np.zeros((2, 3), np.float32), name="w")]
    grad = np.arange(6, dtype=np.float32).reshape(3, 2).T
    (out,) = Reducer(make_plan([w]), RecordingComm()).reduce([wrap(grad)])
    assert out.asnumpy().flags.c_contiguous
    assert (out.asnumpy() == 2 * grad).all()


def test_memory_is_reused_unless_asked_not_to():
    reducer = make(RecordingComm())
    first = reducer.reduce(gradients())
    assert np.shares_memory(first[0].asnumpy(), reducer.reduce(gradients())[0].asnumpy())
    assert np.shares_memory(first[0].asnumpy().base, first[5].asnumpy())
    fresh = make(RecordingComm(), reuse=False)
    first = fresh.reduce(gradients())
    assert not np.shares_memory(first[0].asnumpy(), fresh.reduce(gradients())[0].asnumpy())


def test_alone_gradients_are_passed_on():
    grads = gradients()
    grads[1] = None
    out = make(LocalComm(), mean=True).reduce(grads)
    assert all(a is b for a, b in zip(out, grads, strict=True))


def test_out_of_turn():
    reducer = make(RecordingComm(), Fusion(first=24, size=40), overlap=True)
    grad = gradients()
    with pytest.raises(RuntimeError, match=r"ready\(0\) must come after begin\(\)"):
        reducer.ready(0, grad[0])
    with pytest.raises(RuntimeError, match=r"finish\(\) must come after begin\(\)"):
        reducer.finish()
    reducer.begin()
    reducer.ready(4, grad[4])
    with pytest.raises(RuntimeError, match="'w5' must come once per step, but it came again"):
        reducer.ready(4, grad[4])
    with pytest.raises(RuntimeError, match=r"got none of \['w1', 'w2', 'w3', 'w4', 'w6'\]"):
        reducer.finish()
    reducer.begin()  # nothing was on its way: a step that an error broke off is forgotten
    reducer.ready(5, grad[5])
    with pytest.raises(RuntimeError, match="1 of 3 buckets are on their way"):
        reducer.begin()


def test_wrong_gradients():
    reducer = make(RecordingComm())
    with pytest.raises(ValueError, match=r"'w2' must have shape \(2,\), but got \(1,\)"):
        reducer.reduce([gradients()[0], gradients()[0], *gradients()[2:]])
    with pytest.raises(ValueError, match="'grads' must have 6 entries, one per parameter, but got 1"):
        reducer.reduce(gradients()[:1])


@pytest.mark.parametrize(("mean", "factor"), [(True, 1.0), (False, 2.0)])
def test_a_served_gradient_stays_and_is_scaled_for_the_mean_that_servers_take(mean, factor):
    (w,) = weights([2])
    w.is_param_ps = True
    comm = RecordingComm()
    reducer = Reducer(make_plan([w], servers=True), comm, mean=mean)
    (grad,) = reducer.reduce([wrap(np.array([1.0, 3.0], np.float32))])
    np.testing.assert_array_equal(grad.asnumpy(), np.array([1.0, 3.0]) * factor)


class SessionComm(RecordingComm):
    """Enough of a second, equal rank for a session."""

    def all_gather(self, array):
        return np.stack([array, array])

    def gather_objects(self, value):
        return [value, value]

    def broadcast(self, array, root=0):
        self.log.append(("broadcast", array.nbytes))
        return array


def test_a_session_starts_once_and_tells_of_the_sum_once(caplog, monkeypatch):
    monkeypatch.setattr(once, "_told", set())
    comm = SessionComm()
    calls = []
    w = weights([2])
    for _ in range(2):
        session = DataParallel(w, lambda: calls.append(1) or w, comm=comm)
        assert session.plan is None
        assert session.sink() is session.sink()
        assert session.plan.rows[0].name == "w2"
    assert calls == [1, 1]
    assert [what for what, _ in comm.log] == ["broadcast", "broadcast"]
    assert caplog.text.count("gradients of 2 ranks are added, not averaged") == 1
    DataParallel(w, comm=comm, broadcast=False).sink()
    assert len(comm.log) == 2


def test_the_context_decides_on_a_session(monkeypatch):
    from dist_ms.common.settings import parallel_context as context

    monkeypatch.setattr(context, "_values", {})
    make_session = session_file.data_parallel
    assert make_session(weights()) is None
    context.set_auto_parallel_context(parallel_mode="data_parallel")
    session = make_session(weights())
    assert (session.mean, session.degree, session.broadcast) == (False, 1, True)
    context.set_auto_parallel_context(
        parallel_mode="hybrid_parallel",
        gradients_mean=True,
        device_num=3,
        parameter_broadcast=False,
        comm_fusion={"openstate": False},
    )
    session = make_session(weights())
    assert (session.mean, session.degree, session.broadcast) == (True, 3, False)
    assert session._fusion == Fusion(single=True)
    session = make_session(weights(), mean=False, degree=5)
    assert (session.mean, session.degree) == (False, 5)
    context.set_auto_parallel_context(parallel_mode="semi_auto_parallel")
    with pytest.raises(RuntimeError, match="'parallel_mode' must be 'data_parallel'"):
        make_session(weights())


def test_several_ranks_without_init_are_an_error(monkeypatch):
    from dist_ms.communication import release

    release()
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "4")
    with pytest.raises(RuntimeError, match=r"init\(\) must be called first: OMPI_COMM_WORLD_SIZE says"):
        DataParallel(weights())


@pytest.mark.parametrize("overlap", [True, False])
def test_sweeps_without_communication(overlap):
    comm = RecordingComm()
    reducer = make(comm, Fusion(first=24, size=40), overlap=overlap)
    for _ in range(2):
        with reducer.no_sync():
            reducer.reduce(gradients())
            reducer.reduce([None] * 6)
        assert comm.log == []
        out = reducer.reduce(gradients())
        assert [size for what, size in comm.log if what in ("post", "reduce")] == [6, 9, 6]
        assert [g.asnumpy().tolist() for g in out] == [[4.0 * n] * n for n in SIZES]
        comm.log.clear()


def test_an_error_in_a_sweep_forgets_what_was_summed_up():
    reducer = make(RecordingComm())
    with reducer.no_sync():
        reducer.reduce(gradients())
    reducer.begin()
    reducer.ready(5, wrap(np.ones(6, np.float32)))  # the sweep breaks off here
    assert reducer.reduce(gradients())[0].asnumpy().tolist() == [2.0]


def test_samples_travel_at_the_end_of_the_first_bucket():
    comm = RecordingComm()
    reducer = make(comm, Fusion(first=24, size=40), mean=True, weighted=True)
    out = reducer.reduce(gradients(), samples=3)  # the other rank has as many of the same
    assert comm.log == [("reduce", 7), ("reduce", 9), ("reduce", 6)]
    assert [g.asnumpy().tolist() for g in out] == [[float(n)] * n for n in SIZES]
    for wrong in (-1, 2**24):
        with pytest.raises(ValueError, match="'samples' must be in"):
            reducer.reduce(gradients(), samples=wrong)


def test_samples_travel_alone_where_no_bucket_can_take_them():
    comm = RecordingComm()
    plan = make_plan(weights([2], np.complex64))
    (out,) = Reducer(plan, comm, mean=True, weighted=True).reduce(gradients([2], np.complex64), samples=3)
    assert comm.log == [("reduce", 2), ("reduce", 1)] and out.asnumpy().tolist() == [2, 2]


@pytest.mark.parametrize("overlap", [True, False])
def test_a_hook_takes_the_place_of_the_reduction(overlap):
    comm, seen = RecordingComm(), []
    reducer = make(comm, Fusion(first=24, size=40), overlap=overlap, mean=True)
    reducer.hook = lambda bucket: seen.append(bucket.names) or bucket.array * 10
    out = reducer.reduce(gradients())
    assert comm.log == [] and seen == [("w6",), ("w5", "w4"), ("w3", "w2", "w1")]
    assert [g.asnumpy().tolist() for g in out] == [[5.0 * n] * n for n in SIZES]


# ---- gradients written straight into the buckets
def swept(reducer, w, x, uses=1):
    """The gradient of the sum of x w, the product taken `uses` times."""
    graph = Graph(lambda x: sum(ops.matmul(x, w).sum() for _ in range(uses)), (x,), weights=[w])
    return graph.sweep(graph.outputs, None, reducer)[1][0]


@pytest.fixture
def matrix():
    rng = np.random.default_rng(0)
    w = Parameter(rng.standard_normal((30, 20)).astype(np.float32), name="w")
    return w, wrap(rng.standard_normal((40, 30)).astype(np.float32))


@pytest.fixture
def copies(monkeypatch):
    """Names of the weights whose gradients were copied to a bucket."""
    log, write = [], bucket_memory.write
    monkeypatch.setattr(bucket_memory, "write", lambda *args: (log.append(args[-1]), write(*args))[1])
    return log


@pytest.mark.parametrize("uses", [1, 2])
@pytest.mark.parametrize("mean", [False, True])
def test_a_product_is_written_to_its_bucket(matrix, copies, uses, mean):
    w, x = matrix
    reducer = Reducer(make_plan([w]), RecordingComm(), mean=mean, reuse=True)
    for _ in range(2):
        grad = swept(reducer, w, x, uses).asnumpy()
        wanted = (x.asnumpy().T @ np.ones((40, 20), np.float32)) * uses * (1 if mean else 2)
        np.testing.assert_allclose(grad, wanted, rtol=1e-5)
    assert copies == []


def test_sweeps_that_add_up_are_not_written_over(matrix, copies):
    w, x = matrix
    reducer = Reducer(make_plan([w]), RecordingComm(), mean=True)
    with reducer.no_sync():
        for _ in range(2):
            graph = Graph(lambda x: ops.matmul(x, w).sum(), (x,), weights=[w])
            assert graph.gradients(graph.outputs, None, reducer)[1] == [None]
    grad = swept(reducer, w, x).asnumpy().copy()
    np.testing.assert_allclose(grad, 3 * (x.asnumpy().T @ np.ones((40, 20), np.float32)), rtol=1e-5)
    assert copies == ["w", "w"]
    np.testing.assert_allclose(swept(reducer, w, x).asnumpy() * 3, grad, rtol=1e-5)


def test_a_sweep_that_broke_off_is_forgotten(matrix):
    w, x = matrix
    reducer = Reducer(make_plan([w]), RecordingComm(), mean=True)
    wanted = swept(reducer, w, x).asnumpy().copy()
    reducer.begin()
    reducer.place(0)[...] = 7
    reducer.begin()
    reducer.ready(0, None)
    np.testing.assert_array_equal(reducer.finish()[0].asnumpy(), 0)
    np.testing.assert_array_equal(swept(reducer, w, x).asnumpy(), wanted)


def test_a_gradient_that_is_kept_does_not_change(matrix):
    w, x = matrix
    reducer = Reducer(make_plan([w]), RecordingComm(), mean=True, reuse=False)
    first = swept(reducer, w, x)
    before = first.asnumpy().copy()
    swept(reducer, w, wrap(x.asnumpy() * 5))
    np.testing.assert_array_equal(first.asnumpy(), before)


@pytest.mark.parametrize("what", ["narrow", "rows"])
def test_gradients_that_are_widened_or_may_be_rows_have_no_place(what):
    w = Parameter(np.zeros((3, 2), np.float16 if what == "narrow" else np.float32), name="w")
    replan = (lambda names: make_plan([w], sparse=names)) if what == "rows" else None
    reducer = Reducer(make_plan([w]), RecordingComm(), mean=True, replan=replan)
    reducer.begin()
    assert reducer.place(0) is None


@pytest.mark.parametrize("what", ["samples", "hook"])
def test_gradients_that_are_scaled_are_scaled_in_their_place(what, matrix, monkeypatch):
    w, x = matrix
    reducer = Reducer(make_plan([w]), RecordingComm(), mean=True, weighted=what == "samples")
    if what == "hook":
        reducer.hook = lambda bucket: np.multiply(bucket.array, 2, out=bucket.array)
    monkeypatch.setattr(bucket_memory, "write", None)  # nothing is copied
    plain = x.asnumpy().T @ np.ones((40, 20), np.float32)
    for samples in (3, 5):
        if what == "samples":
            reducer.samples.set(samples)
        np.testing.assert_allclose(swept(reducer, w, x).asnumpy(), plain, rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int32])
@pytest.mark.parametrize("shape", [(9, 4), (9,), (9, 2, 3), (0, 3)])
def test_rows_are_added_where_they_belong(dtype, shape):
    random = np.random.default_rng(3)
    for kind, low in ((np.int64, 0), (np.int32, 0), (np.int64, -9), (np.int16, 0)):
        count = 30 if shape[0] else 0
        indices = random.integers(low, 9, count).astype(kind)
        values = random.integers(-4, 5, (count, *shape[1:])).astype(dtype)
        table = np.ones(shape, dtype)
        want = table.copy()
        np.add.at(want, indices, values)
        add_at(table, indices, values)
        np.testing.assert_array_equal(table, want)
    with pytest.raises(IndexError):
        add_at(np.zeros((3, 2), dtype), np.array([3]), np.ones((1, 2), dtype))
