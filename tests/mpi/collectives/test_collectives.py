"""Collectives as operations on several ranks, against NumPy on all ranks' data; gradients by inner products."""

import ml_dtypes
import numpy as np
import pytest

import dist_ms as ms
from dist_ms import mint, ops
from dist_ms.communication import comm_func

dist = mint.distributed
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
TYPES = ["bool", "int8", "uint8", "int32", "int64", "float16", BFLOAT16, "float32", "float64", "complex64"]


@pytest.fixture
def place():
    ms.communication.init()
    return ms.communication.get_rank(), ms.communication.get_group_size()


def data(rank, shape, dtype="float32", seed=0):
    """What a rank holds; every rank can compute every rank's."""
    return np.random.default_rng([seed, rank]).integers(0, 5, shape).astype(dtype)


def everybody(size, shape, dtype="float32", seed=0):
    return [data(r, shape, dtype, seed) for r in range(size)]


def reduced(arrays, op):
    wide = [a.astype(np.float64 if a.dtype.kind not in "c" else a.dtype) for a in arrays]
    if op == "avg":
        return sum(wide) / len(wide)
    return {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}[op].reduce(wide)


def same(tensor, expected):
    found = tensor.asnumpy()
    assert found.shape == np.shape(expected)
    np.testing.assert_allclose(found.astype(complex), np.asarray(expected).astype(complex), rtol=1e-2)


@pytest.mark.parametrize("dtype", TYPES[1:], ids=str)
@pytest.mark.parametrize("op", ["sum", "prod", "max", "min", "avg"])
def test_reductions(place, op, dtype):
    rank, size = place
    kind = np.dtype(dtype).kind
    if (kind == "c" and op in ("max", "min")) or (kind in "iu" and op == "avg"):
        return
    x, every = ms.Tensor(data(rank, (2 * size, 3), dtype)), everybody(size, (2 * size, 3), dtype)
    expected = reduced(every, op)
    same(ops.AllReduce(op)(x), expected)
    same(ops.ReduceScatter(op)(x), expected[2 * rank : 2 * rank + 2])
    last = size - 1
    same(ops.Reduce(last, op)(x), expected if rank == last else np.zeros(1))
    sizes = [2 * size, *[0] * (size - 1)]
    same(ops.ReduceScatterV(op)(x, sizes), expected if rank == 0 else expected[:0])


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_moves(place, dtype):
    rank, size = place
    every = everybody(size, (2 * size, 3), dtype)
    x = ms.Tensor(every[rank])
    root = size - 1
    same(ops.AllGather()(x), np.concatenate(every))
    same(ops.Broadcast(root)((x,))[0], every[root])
    same(ops.CollectiveGather(root)(x), np.concatenate(every) if rank == root else np.zeros(1))
    same(ops.CollectiveScatter(root)(x), every[root][2 * rank : 2 * rank + 2])
    same(ops.AlltoAll(size, 0, 1)(x), np.concatenate([e[2 * rank : 2 * rank + 2] for e in every], 1))
    same(x, every[rank])


def test_uneven_lengths(place):
    rank, size = place
    lengths = [r + 1 for r in range(size)]
    every = [data(r, (r + 1, 2)) for r in range(size)]
    same(ops.AllGatherV()(ms.Tensor(every[rank]), lengths), np.concatenate(every))
    counts = np.arange(size * size).reshape(size, size) % 3
    flat = [data(r, counts[r].sum()) for r in range(size)]
    expected = [np.split(flat[r], np.cumsum(counts[r])[:-1])[rank] for r in range(size)]
    x = ms.Tensor(flat[rank])
    same(ops.AlltoAllV()(x, counts[rank].tolist(), counts[:, rank].tolist()), np.concatenate(expected))
    same(ops.AlltoAllVC()(x, ms.Tensor(counts)), np.concatenate(expected))
    same(ops.AlltoAllVC(transpose=True)(x, ms.Tensor(counts.T.copy())), np.concatenate(expected))
    blocks = ms.Tensor(np.repeat(flat[rank], 4))
    same(
        ops.AlltoAllV(block_size=4)(blocks, counts[rank].tolist(), counts[:, rank].tolist()),
        np.repeat(np.concatenate(expected), 4),
    )


def test_inputs_need_not_be_contiguous(place):
    rank, size = place
    every = everybody(size, (3, 2 * size))
    x = ms.Tensor(every[rank]).swapaxes(0, 1)
    same(ops.AllReduce()(x), sum(every).T)
    same(ops.AllGather()(x), np.concatenate([e.T for e in every]))
    same(ops.ReduceScatter()(x), sum(every).T[2 * rank : 2 * rank + 2])
    same(ops.AllReduce()(ms.Tensor(float(rank))), sum(range(size)))


def linear(size, rank):
    lengths = [r + 1 for r in range(size)]
    counts = np.arange(size * size).reshape(size, size) % 3
    right, left = (rank + 1) % size, (rank - 1) % size
    ring = ops.NeighborExchange([right], [left], [[2, 3]], [[2, 3]], ms.float64)
    halo = ops.NeighborExchangeV2(
        [-1, -1, right, -1, -1, -1, left, -1], [0, 0, 1, 2], [-1, -1, right, -1, -1, -1, left, -1], [0, 0, 2, 1], "NCHW"
    )
    return [
        (ops.AllReduce(), (2, 3)),
        (ops.AllReduce("avg"), (2, 3)),
        (ops.AllGather(), (2, 3)),
        (ops.ReduceScatter(), (size, 3)),
        (ops.ReduceScatter("avg"), (size, 3)),
        (lambda x: ops.AllGatherV()(x, lengths), (rank + 1, 3)),
        (lambda x: ops.ReduceScatterV()(x, lengths), (sum(lengths), 3)),
        (lambda x: ops.Broadcast(size - 1)((x,))[0], (2, 3)),
        (ops.AlltoAll(size, 0, 1), (size, 3)),
        (lambda x: ops.AlltoAllV()(x, counts[rank].tolist(), counts[:, rank].tolist()), (int(counts[rank].sum()),)),
        (lambda x: ops.AlltoAllVC()(x, counts), (int(counts[rank].sum()),)),
        (lambda x: ring((x,))[0], (2, 3)),
        (halo, (1, 2, 3, 4)),
    ]


def test_gradients_are_transposes(place, mpi_sum):
    """For a linear A over all ranks:  sum_r <dy_r, (A x)_r>  ==  sum_r <(A^T dy)_r, x_r>; also for A^T's gradient."""
    rank, size = place
    rng = np.random.default_rng(rank)
    for number, (op, shape) in enumerate(linear(size, rank)):
        x = ms.Tensor(rng.standard_normal(shape))
        y = op(x)
        dy = ms.Tensor(rng.standard_normal(y.shape))
        back = ms.grad(lambda a, op=op, dy=dy: (op(a) * dy).sum())
        dx = back(x)
        assert dx.shape == x.shape
        totals = mpi_sum(float((dy * y).sum()), float((dx * x).sum()))
        np.testing.assert_allclose(*totals, rtol=1e-12, err_msg=f"operation {number}")
        ddx = ms.Tensor(rng.standard_normal(shape))
        again = ms.grad(lambda b, op=op, x=x, ddx=ddx: (ms.grad(lambda a: (op(a) * b).sum())(x) * ddx).sum())(dy)
        totals = mpi_sum(float((again * dy).sum()), float((op(ddx) * dy).sum()))
        np.testing.assert_allclose(*totals, rtol=1e-12, err_msg=f"operation {number}, second order")


@pytest.fixture
def mpi_sum():
    def total(*values):
        return ops.AllReduce()(ms.Tensor(np.array(values))).asnumpy()

    return total


@pytest.mark.parametrize("op", ["max", "min", "prod"])
def test_gradients_of_other_reductions(place, op):
    rank, size = place
    every = [np.random.default_rng(r).uniform(1, 2, (3,)) for r in range(size)]
    dys = [np.random.default_rng(9 + r).standard_normal(3) for r in range(size)]
    x, dy = ms.Tensor(every[rank]), ms.Tensor(dys[rank])
    dx = ms.grad(lambda a: (ops.AllReduce(op)(a) * dy).sum())(x).asnumpy()
    y = reduced(every, op)
    expected = sum(dys) * (y / every[rank] if op == "prod" else every[rank] == y)
    np.testing.assert_allclose(dx, expected, rtol=1e-12)


def test_edges_of_images(place):
    rank, size = place
    h = 2
    whole = np.random.default_rng(0).standard_normal((1, 2, h * size, 3)).astype(np.float32)
    mine = ms.Tensor(whole[:, :, h * rank : h * rank + h])
    above, below = (rank - 1 if rank else -1), (rank + 1 if rank + 1 < size else -1)
    ranks = [above, -1, -1, -1, below, -1, -1, -1]
    lens = [int(above >= 0), int(below >= 0), 0, 0]
    out = ops.NeighborExchangeV2(ranks, lens, ranks, lens, "NCHW")(mine).asnumpy()
    np.testing.assert_array_equal(out, whole[:, :, h * rank - lens[0] : h * rank + h + lens[1]])


def test_messages(place):
    rank, size = place
    right, left = (rank + 1) % size, (rank - 1) % size
    x = ms.Tensor(data(rank, (2, 3)))
    sent = comm_func.isend(x, right, tag=7)
    came, handle = comm_func.irecv(ms.Tensor(np.zeros((2, 3), np.float32)), left, tag=7)
    handle.wait(), sent.wait()
    same(came, data(left, (2, 3)))
    batch = [comm_func.P2POp("irecv", (2, 3), left, recv_dtype=ms.float32), comm_func.P2POp("isend", x, right)]
    came, zero = comm_func.batch_isend_irecv(batch)
    same(came, data(left, (2, 3)))
    assert zero.shape == ()
    back = ops.BatchISendIRecv(("isend", "irecv"), [right, left], [(2, 3)], (ms.float32,))((x,))[1]
    same(back, data(left, (2, 3)))
    if size > 1 and rank == 0:
        ops.Send(3, 1)(x)
        assert dist.send(x, 1) == 0
        dist.send_object_list(["foo", {1: 2}], 1)
    elif rank == 1:
        same(ops.Receive(3, 0, [2, 3], ms.float32)(), data(0, (2, 3)))
        into = ms.Tensor(np.zeros((2, 3), np.float32))
        assert dist.recv(into, 0) == 0
        same(into, data(0, (2, 3)))
        objects = [None, None]
        dist.recv_object_list(objects, 0)
        assert objects == ["foo", {1: 2}]


def test_a_message_of_another_size_is_an_error(place):
    rank, size = place
    if size == 1:
        return
    sent = comm_func.isend(ms.Tensor(np.zeros(4, np.float32)), (rank + 1) % size)
    _, handle = comm_func.irecv(ms.Tensor(np.zeros(5, np.float32)), (rank - 1) % size)
    with pytest.raises(ValueError, match=r"must have the 20 bytes .* but got 16 bytes"):
        handle.wait()
    sent.wait()


@pytest.mark.parametrize("later", [False, True])
def test_functions_with_and_without_waiting(place, later):
    rank, size = place
    every = everybody(size, (2 * size, 3))
    x, root = ms.Tensor(every[rank]), size - 1
    for call, expected in [
        (lambda: comm_func.all_reduce(x, async_op=later), sum(every)),
        (lambda: comm_func.all_reduce(x, "avg", async_op=later), sum(every) / size),
        (lambda: comm_func.all_gather_into_tensor(x, async_op=later), np.concatenate(every)),
        (
            lambda: comm_func.reduce_scatter_tensor(x, "max", async_op=later),
            reduced(every, "max")[2 * rank : 2 * rank + 2],
        ),
        (
            lambda: comm_func.all_to_all_single_with_output_shape((2 * size, 3), x, async_op=later),
            np.concatenate([e[2 * rank : 2 * rank + 2] for e in every]),
        ),
    ]:
        result, handle = call()
        assert (handle is not None) == later
        if later:
            handle.wait()
            handle.wait()
            assert handle.test()
        same(result, expected)
    parts = [x[2 * r : 2 * r + r % 2 + 1] for r in range(size)]
    shapes = [(rank % 2 + 1, 3)] * size
    outputs, handle = comm_func.all_to_all_with_output_shape(shapes, parts, async_op=later)
    if later:
        handle.wait()
    for r in range(size):
        same(outputs[r], every[r][2 * rank : 2 * rank + rank % 2 + 1])
    into = ms.Tensor(np.zeros(size, np.float32))
    handle = comm_func.all_to_all_v_c(into, x[:size, 0], np.ones((size, size), int), async_op=later)
    if later:
        handle.wait()
    same(into, [e[rank, 0] for e in every])
    same(comm_func.reduce(x, root), sum(every) if rank == root else np.zeros(1))
    same(comm_func.broadcast(x, root), every[root])
    same(comm_func.gather_into_tensor(x, root), np.concatenate(every) if rank == root else np.zeros(1))
    same(comm_func.scatter_tensor(x, root), every[root][2 * rank : 2 * rank + 2])
    comm_func.barrier()


@pytest.mark.parametrize("later", [False, True])
def test_mint_writes_into_its_tensors(place, later):
    rank, size = place
    every = everybody(size, (2 * size, 3))
    root = size - 1

    def fresh(*shape):
        return ms.Tensor(np.zeros(shape, np.float32))

    def done(handle):
        assert (handle is not None) == later
        if later:
            handle.wait()

    x = ms.Tensor(every[rank])
    done(dist.all_reduce(x, async_op=later))
    same(x, sum(every))
    x = ms.Tensor(every[rank])
    done(dist.reduce(x, root, async_op=later))
    same(x, sum(every) if rank == root else every[rank])
    x = ms.Tensor(every[rank])
    done(dist.broadcast(x, root, async_op=later))
    same(x, every[root])
    x = ms.Tensor(every[rank])
    out = fresh(2 * size * size, 3)
    done(dist.all_gather_into_tensor(out, x, async_op=later))
    same(out, np.concatenate(every))
    outs = [fresh(2 * size, 3) for _ in range(size)]
    done(dist.all_gather(outs, x, async_op=later))
    for r in range(size):
        same(outs[r], every[r])
    outs = [fresh(2 * size, 3) for _ in range(size)]
    done(dist.gather(x, outs, root, async_op=later))
    for r in range(size):
        same(outs[r], every[r] if rank == root else np.zeros((2 * size, 3)))
    out = fresh(2, 3)
    done(dist.scatter(out, [x[2 * r : 2 * r + 2] for r in range(size)], root, async_op=later))
    same(out, every[root][2 * rank : 2 * rank + 2])
    done(dist.reduce_scatter_tensor(out, x, async_op=later))
    same(out, sum(every)[2 * rank : 2 * rank + 2])
    done(dist.reduce_scatter(out, [x[2 * r : 2 * r + 2] for r in range(size)], async_op=later))
    same(out, sum(every)[2 * rank : 2 * rank + 2])
    outs = [fresh(2, 3) for _ in range(size)]
    done(dist.all_to_all(outs, [x[2 * r : 2 * r + 2] for r in range(size)], async_op=later))
    for r in range(size):
        same(outs[r], every[r][2 * rank : 2 * rank + 2])
    out = fresh(2 * size, 3)
    done(dist.all_to_all_single(out, x, async_op=later))
    same(out, np.concatenate([e[2 * rank : 2 * rank + 2] for e in every]))
    done(dist.barrier(async_op=later))
    lengths = [r + 1 for r in range(size)]
    out = fresh(sum(lengths), 2)
    dist.all_gather_into_tensor_uneven(out, ms.Tensor(data(rank, (rank + 1, 2))), lengths)
    same(out, np.concatenate([data(r, (r + 1, 2)) for r in range(size)]))
    whole = everybody(size, (sum(lengths), 2), seed=1)
    out = fresh(rank + 1, 2)
    dist.reduce_scatter_tensor_uneven(out, ms.Tensor(whole[rank]), lengths)
    start = sum(lengths[:rank])
    same(out, sum(whole)[start : start + rank + 1])


def test_mint_objects_and_groups(place):
    rank, size = place
    found = [None] * size
    dist.all_gather_object(found, {"rank": rank})
    assert found == [{"rank": r} for r in range(size)]
    found = [None] * size
    dist.gather_object(rank, found, size - 1)
    assert found == (list(range(size)) if rank == size - 1 else [None] * size)
    objects = ["a", rank]
    dist.broadcast_object_list(objects, size - 1)
    assert objects == ["a", size - 1]
    mine = [None]
    dist.scatter_object_list(mine, [f"for {r}" for r in range(size)], 0)
    assert mine == [f"for {rank}"]
    assert dist.new_group() == "hccl_world_group"
    some = dist.new_group(list(range(size - 1)) or [0])
    member = rank < max(size - 1, 1)
    assert dist.get_rank(some) == (rank if member else -1)
    assert dist.get_world_size(some) == (max(size - 1, 1) if member else -1)
    if member:
        x = ms.Tensor([1.0])
        dist.all_reduce(x, group=some)
        same(x, [max(size - 1, 1)])
        assert dist.get_global_rank(some, 0) == 0
        assert dist.get_backend(some) == "mccl"
    dist.destroy_process_group(some)


def test_different_collectives_end_in_a_table(place):
    rank, size = place
    if size == 1:
        return
    x = ms.Tensor(np.zeros((size, 2), np.float32))
    with pytest.raises(RuntimeError, match=r"rank 0: all_to_all\(.*\n  rank 1: reduce_scatter\("):
        if rank == 0:
            ops.AlltoAll(size, 0, 0)(x)
        else:
            ops.ReduceScatter()(x)


def test_ranks_that_name_other_lengths_are_told(place):
    """Each would take a part that is another's."""
    rank, size = place
    if size == 1:
        pytest.skip("one rank agrees with itself")
    lengths = [1] * (size - 2) + ([1, 3] if rank == 0 else [3, 1])
    rows = ms.Tensor(np.ones((size + 2, 2), np.float32))
    with pytest.raises(RuntimeError, match="every rank of group .* must do the same"):
        ops.ReduceScatterV("sum")(rows, lengths)
