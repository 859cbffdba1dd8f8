"""Several sweeps for one reduction, and gradients that come by rows."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import RowTensor, Tensor, nn
from dist_ms.parallel import DataParallel, Fusion, Reducer, make_plan
from dist_ms.parallel.reduction.row_gradients import joined, reduce_rows, rows_of

ROWS, COLUMNS = 40, 3
FORM = (ROWS, COLUMNS), np.float32  # of the table


def parameters():
    return [
        ms.Parameter(np.zeros((ROWS, COLUMNS), np.float32), name="table"),
        ms.Parameter(np.zeros(5, np.float32), name="bias"),
        ms.Parameter(np.zeros(2, np.float32), name="own", layerwise_parallel=True),
    ]


def rows(rank, step, count=4):
    random = np.random.default_rng([rank, step])
    indices = random.integers(0, ROWS, count).astype(np.int32)
    indices[-1] = indices[0]  # twice
    values = random.integers(-8, 8, (count, COLUMNS)).astype(np.float32)
    return indices, values


def dense(rank, step, count=4):
    out = np.zeros((ROWS, COLUMNS))
    np.add.at(out, *rows(rank, step, count))
    return out


def row_gradient(rank, step, count=4):
    indices, values = rows(rank, step, count)
    return RowTensor(Tensor(indices), Tensor(values), (ROWS, COLUMNS))


def as_array(grad):
    if isinstance(grad, RowTensor):
        assert len(set(grad.indices.asnumpy().tolist())) == len(grad.indices.asnumpy())
        return grad.to_dense().asnumpy()
    return grad.asnumpy()


def total(comm, step, count=4):
    return sum(dense(r, step, count) for r in range(comm.size))


@pytest.mark.parametrize("overlap", [False, True])
def test_rows_are_gathered_and_added(world, overlap):
    comm = world.comm
    together = DataParallel(parameters(), mean=True, overlap=overlap, fusion=Fusion(first=16, size=64))
    for step in range(3):
        bias, own = np.full(5, comm.rank, np.float32), Tensor(np.ones(2, np.float32))
        grads = together.sink().reduce([row_gradient(comm.rank, step), Tensor(bias), own])
        assert isinstance(grads[0], RowTensor)
        np.testing.assert_allclose(as_array(grads[0]), total(comm, step) / comm.size, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(grads[1].asnumpy(), (comm.size - 1) / 2)
        assert grads[2].asnumpy().tolist() == [1, 1]
        if comm.size > 1:
            parts = comm.gather_objects((grads[0].indices.asnumpy().tobytes(), grads[0].values.asnumpy().tobytes()))
            assert all(p == parts[0] for p in parts)
    plan = together.sink().plan
    assert [r.gradient for r in plan.rows] == ["all_gather" if comm.size > 1 else "all_reduce", "all_reduce", "keep"]


@pytest.mark.mpi(min_size=2)
def test_where_the_dense_sum_is_smaller_it_is_sent(world):
    comm = world.comm
    together = DataParallel(parameters())
    for step, count in enumerate([4, 400, 4]):
        grads = together.sink().reduce([row_gradient(comm.rank, step, count), None, None])
        assert isinstance(grads[0], RowTensor) == (count == 4)
        np.testing.assert_array_equal(as_array(grads[0]), total(comm, step, count))


@pytest.mark.mpi(min_size=2)
def test_some_ranks_without_rows_or_with_dense_gradients(world):
    comm = world.comm
    together = DataParallel(parameters())
    together.sink().reduce([row_gradient(comm.rank, 0) if comm.rank else None, None, None])  # a rank has none
    assert together.sink().plan.rows[0].gradient == "all_gather"
    grads = together.sink().reduce([None if comm.rank else row_gradient(0, 1), None, None])
    np.testing.assert_array_equal(as_array(grads[0]), dense(0, 1))
    mine = Tensor(dense(0, 2).astype(np.float32)) if comm.rank == 0 else row_gradient(comm.rank, 2)
    grads = together.sink().reduce([mine, None, None])
    np.testing.assert_array_equal(as_array(grads[0]), total(comm, 2))


@pytest.mark.mpi(min_size=2)
def test_a_dense_gradient_anywhere_keeps_the_bucket(world):
    comm = world.comm
    together = DataParallel(parameters())
    for step in range(2):
        mine = Tensor(dense(0, step).astype(np.float32)) if comm.rank == 0 else row_gradient(comm.rank, step)
        grads = together.sink().reduce([mine, None, None])
        assert together.sink().plan.rows[0].gradient == "all_reduce"
        np.testing.assert_array_equal(as_array(grads[0]), total(comm, step))


@pytest.mark.parametrize("overlap", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_sums_of_several_sweeps(world, overlap, sparse):
    comm = world.comm
    if sparse:
        sink = DataParallel(parameters(), mean=True, overlap=overlap).sink()
    else:
        sink = Reducer(make_plan(parameters(), fusion=Fusion(single=True)), comm, mean=True, overlap=overlap)
    for start in (0, 10):
        for step in range(start, start + 3):
            mine = row_gradient(comm.rank, step) if sparse else Tensor(dense(comm.rank, step).astype(np.float32))
            bias = Tensor(np.full(5, step, np.float32)) if step != start + 1 else None
            grads = [mine, bias, Tensor(np.full(2, comm.rank + step, np.float32))]
            if step < start + 2:
                with sink.no_sync():
                    assert sink.reduce(grads) == [None, None, None]
            else:
                out = sink.reduce(grads)
        want = sum(total(comm, step) for step in range(start, start + 3)) / comm.size
        np.testing.assert_allclose(as_array(out[0]), want, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(out[1].asnumpy(), 2 * start + 2)
        np.testing.assert_allclose(out[2].asnumpy(), 3 * comm.rank + 3 * start + 3)


@pytest.mark.parametrize("uneven", [None, "exact"])
def test_steps_without_communication_equal_one_step_on_all(data_parallel, uneven):
    comm = data_parallel
    random = np.random.default_rng(0)
    x, y = random.standard_normal((24, 6)).astype(np.float32), random.integers(0, 3, 24).astype(np.int32)
    parts = np.array_split(np.arange(24), 2 * comm.size)

    def make(sens):
        ms.set_seed(1)
        net = nn.Dense(6, 3)
        step = nn.TrainOneStepCell(
            nn.WithLossCell(net, nn.CrossEntropyLoss()), nn.Adam(net.trainable_params(), 0.01), sens
        )
        step.uneven = uneven
        return net, step

    ms.set_auto_parallel_context(parallel_mode="stand_alone")
    alone, step = make(1.0)
    for _ in range(3):
        step(Tensor(x), Tensor(y))
    ms.set_auto_parallel_context(parallel_mode="data_parallel")
    together, step = make(None if uneven else 0.5)
    for _ in range(3):
        first, second = parts[2 * comm.rank], parts[2 * comm.rank + 1]
        with step.no_sync():
            step(Tensor(x[first]), Tensor(y[first]))
        step(Tensor(x[second]), Tensor(y[second]))
    if uneven or 24 % (2 * comm.size) == 0:
        a, b = alone.weight.asnumpy(), together.weight.asnumpy()
        assert max(comm.gather_objects(float(np.abs(a - b).max() / np.abs(a).max()))) <= 1e-6


def test_an_embedding_trained_by_rows_equals_one_process(data_parallel):
    comm = data_parallel

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            ms.set_seed(2)
            self.table = nn.EmbeddingLookup(200, 8, sparse=True)
            self.dense = nn.Dense(8, 3)

        def construct(self, ids):
            return self.dense(self.table(ids).sum(1))

    def run(parallel):
        ms.set_auto_parallel_context(parallel_mode="data_parallel" if parallel else "stand_alone")
        net = Net()
        # With an eps of 1e-8 Adam's step enlarges the rounding of gradients that nearly cancel.
        optimizer = nn.LazyAdam(net.trainable_params(), 0.01, eps=1e-3)
        step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), optimizer)
        random = np.random.default_rng(5)
        for _ in range(5):
            ids, y = random.integers(0, 200, (12, 2)).astype(np.int32), random.integers(0, 3, 12).astype(np.int32)
            part = slice(comm.rank * 12 // comm.size, (comm.rank + 1) * 12 // comm.size) if parallel else slice(None)
            step(Tensor(ids[part]), Tensor(y[part]))
        return {p.name: p.asnumpy().copy() for p in net.get_parameters()}, step

    (alone, _), (together, step) = run(False), run(True)
    found = comm.gather_objects(
        max(float(np.abs(alone[k] - together[k]).max() / np.abs(alone[k]).max()) for k in alone)
    )
    assert max(found) <= 1e-6, found
    if comm.size > 1:
        assert "all_gather" in {row.gradient for row in step.grad_reducer.plan.rows}


class Tables(nn.Cell):
    """A table of which few rows are looked up, and one of which many are."""

    def __init__(self):
        super().__init__()
        self.large, self.small = nn.Embedding(5000, 6), nn.Embedding(7, 6)
        self.out = nn.Dense(6, 3)

    def construct(self, x):
        return self.out(self.large(x[:, :4]).sum(1) * self.small(x[:, 4]))


def train_tables(comm, make, way, steps=4):
    """The weights after some steps on this rank's part of the batches, all of them if `comm` is None, and the step."""
    rank, size = (0, 1) if comm is None else (comm.rank, comm.size)
    ms.set_seed(5)
    net = Tables()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), make(net.trainable_params()))
    if way == "hook" and comm is not None:
        step.grad_reducer.register_comm_hook(lambda bucket: bucket.comm.all_reduce(bucket.array))
    step.uneven = "exact" if way == "exact" else None
    if way == "overlap" and comm is not None:
        step.grad_reducer.overlap = True
    random = np.random.default_rng(2)
    parts = np.array_split(np.arange(24 if way != "exact" else 25), size)[rank]
    for _ in range(steps):
        ids = random.integers(-5000, 5000, (25, 4)).astype(np.int32)
        ids[:, 1] = ids[:, 0]  # twice in a sample
        ids[:, 2] = 3  # on every rank
        few, labels = random.integers(0, 7, 25).astype(np.int32), random.integers(0, 3, 25).astype(np.int32)
        step(Tensor(np.column_stack([ids, few])[parts]), Tensor(labels[parts]))
    return [p.asnumpy().copy() for p in net.trainable_params()], step


@pytest.mark.parametrize("way", ["blocking", "overlap", "exact", "hook"])
@pytest.mark.parametrize(
    "make",
    # Where a gradient is nearly 0, Adam with a smaller eps makes steps of its rounding.
    [
        lambda p: nn.Adam(p, 0.01, eps=1e-4, weight_decay=0.01),
        lambda p: nn.Momentum(p, 0.1, 0.9),
        lambda p: nn.SGD(p, 0.1),
    ],
    ids=["adam", "momentum", "sgd"],
)
def test_tables_travel_by_rows_where_that_is_less(data_parallel, make, way):
    comm = data_parallel
    found, step = train_tables(comm, make, way)
    plan = step.grad_reducer.plan
    ms.reset_auto_parallel_context()
    want, _ = train_tables(None, make, way)
    for got, exact in zip(found, want, strict=True):
        np.testing.assert_allclose(got, exact, rtol=1e-6, atol=1e-6)
    if comm.size > 1:
        gradients = [
            row.gradient for row in plan.rows if row.name.endswith(("large.embedding_table", "small.embedding_table"))
        ]
        assert gradients[:2] == ["all_reduce" if way == "hook" else "all_gather", "all_reduce"], str(plan)


@pytest.mark.parametrize("count", [1, 100], ids=["by rows", "dense"])
@pytest.mark.parametrize("scale", [1.0, 0.25, 0.3])
def test_reduced_rows_are_scaled_in_either_form(world, count, scale):
    comm = world.comm
    gradients = [rows_of(row_gradient(rank, 1, count), *FORM) for rank in range(comm.size)]
    (found,) = reduce_rows([gradients[comm.rank]], comm, scale)
    assert isinstance(found, RowTensor) == (count == 1)
    want = scale * sum(g.dense() for g in gradients)
    np.testing.assert_allclose(as_array(found), want, rtol=1e-6, atol=1e-6)


def test_rows_of_no_rank_and_of_one(world):
    comm = world.comm
    mine = row_gradient(0, 1, 1) if comm.rank == comm.size - 1 else None
    nothing, one = reduce_rows([rows_of(None, *FORM), rows_of(mine, *FORM)], comm, 0.5)
    assert as_array(nothing).tolist() == np.zeros(FORM[0]).tolist()
    np.testing.assert_array_equal(as_array(one), rows_of(row_gradient(0, 1, 1), *FORM).dense() / 2)
    assert reduce_rows([], comm, 0.5) == []


@pytest.mark.parametrize("whole", [(False, False), (True, False), (False, True), (True, True)], ids=str)
def test_a_sum_stands_for_a_dense_gradient_where_one_of_its_parts_does(whole):
    parts = [rows_of(row_gradient(0, step), *FORM) for step in (1, 2)]
    for part, is_whole in zip(parts, whole, strict=True):
        part.whole = is_whole
    total = joined(*parts)
    assert total.whole == any(whole)
    np.testing.assert_array_equal(total.dense(), dense(0, 1) + dense(0, 2))
