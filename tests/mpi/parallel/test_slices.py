"""Memory that ranks read of each other, and slices summed up and gathered, with it and without."""

import numpy as np
import pytest

from dist_ms.common.parameter import Parameter
from dist_ms.parallel.plan import Sharding, make_plan
from dist_ms.parallel.reduction.slices import Gather, own_slice, sum_own_slices


@pytest.fixture(params=["shared", "sent"])
def comm(request, world, monkeypatch):
    """The ranks, with memory that they share, and with messages alone."""
    if request.param == "sent":
        monkeypatch.setattr(type(world.comm), "beside", lambda self, buffer: None)
    return world.comm


@pytest.mark.mpi(min_size=2)
def test_ranks_see_each_others_buffers(world):
    comm = world.comm
    buffers = [comm.shared_buffer(n, np.float32) for n in (5, 1000)]
    for n, buffer in enumerate(buffers):
        buffer[:] = 10 * n + comm.rank
        comm.barrier()
        for part in (buffer, buffer[2:4]):
            every = comm.beside(part)
            assert [array.tolist() for array in every] == [[10 * n + r] * len(part) for r in range(comm.size)]
        comm.barrier()
    assert comm.beside(np.zeros(5, np.float32)) is None
    assert comm.beside(np.zeros(0, np.float32)) is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("share", [0, 1, 7, 1000])
def test_slices_are_summed_up_as_by_all_reduce(comm, dtype, share):
    random = np.random.default_rng(comm.rank)
    given = [random.standard_normal(share * comm.size).astype(dtype) for _ in range(2)]
    buffers = [comm.shared_buffer(len(x), dtype) for x in given]
    for buffer, x in zip(buffers, given, strict=True):
        buffer[:] = x
    sum_own_slices(buffers, comm, 0.25)
    for buffer, x in zip(buffers, given, strict=True):
        whole = comm.all_reduce(x.copy(), scale=0.25)
        found, wanted = own_slice(buffer, comm), own_slice(whole, comm)
        # MPI adds up in an order of its own, whose rounding is as large as that of the terms.
        rounding = 0 if comm.beside(buffer) else 4 * np.finfo(dtype).eps
        same = np.allclose(found, wanted, rtol=0, atol=rounding)
        assert all(comm.gather_objects(same))


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_slices_of_weights_are_gathered(comm, dtype):
    shapes = [(3, 5), (1,), (4, 2, 2), (7,)]
    wanted = [np.random.default_rng(n).standard_normal(shape).astype(dtype) for n, shape in enumerate(shapes)]
    weights = [Parameter(w, name=f"w{n}") for n, w in enumerate(wanted)]
    plan = make_plan(weights, sharding=Sharding(comm.size))
    gathers, memory = [], []
    for bucket in plan.buckets:
        memory.append(comm.shared_buffer(bucket.size, np.float32))
        gathers.append(Gather(bucket, memory[-1], comm))
    wholes = [np.full(shape, np.nan, dtype) for shape in shapes]
    for bucket, gather in zip(plan.buckets, gathers, strict=True):
        parts = [None] * len(weights)
        for slot in bucket.slots:
            start, stop = bucket.slice_of(slot, comm.rank)
            parts[slot.weight] = wanted[slot.weight].reshape(-1)[start:stop]
            wholes[slot.weight].reshape(-1)[start:stop] = parts[slot.weight]
        gather.start(parts)
    comm.barrier()
    for gather in gathers:
        gather.finish(wholes)
    comm.barrier()
    for found, w in zip(wholes, wanted, strict=True):
        assert all(comm.gather_objects(np.array_equal(found, w)))
