"""All-reduce through every path against NumPy: small, staged, in shared memory, between machines."""

import functools
import gc

import ml_dtypes
import numpy as np
import pytest

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
NARROW = ["float16", BFLOAT16]
EVERY = ["bool", *INTS, *NARROW, "float32", "float64", "complex64", "complex128"]
OPS = ["sum", "prod", "max", "min"]
# Nothing, one, less than a cache line, less and more than a slot, more than a stage and than two.
SIZES = [0, 1, 7, 5003, 140_001]
UFUNCS = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}


@functools.cache
def values(dtype, size, rank):
    """Numbers of a rank: random, of either sign, whole ones of all magnitudes."""
    rng = np.random.default_rng([rank, size])
    dtype = np.dtype(dtype)
    if dtype.kind in "biu":
        bits = rng.integers(0, 256, size * dtype.itemsize, np.uint8)
        return bits % 2 == 0 if dtype.kind == "b" else bits.view(dtype)
    if dtype.kind == "c":
        return (rng.standard_normal(size) + 1j * rng.standard_normal(size)).astype(dtype)
    return rng.standard_normal(size).astype(dtype)


@functools.lru_cache(50)
def twin(dtype, size, ranks, op):
    """NumPy's reduction in rank order; 16-bit floats in float32, rounded once."""
    parts = [values(dtype, size, rank) for rank in range(ranks)]
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.logical_or.reduce(parts) if op in ("sum", "max") else np.logical_and.reduce(parts)
    wide = np.float32 if dtype in (np.float16, BFLOAT16) else dtype
    result = parts[0].astype(wide)
    for part in parts[1:]:
        result = UFUNCS[op](result, part.astype(wide), dtype=wide)
    return result.astype(dtype)


def skip_without_order(dtype, op):
    if np.dtype(dtype).kind == "c" and op in ("max", "min"):
        pytest.skip("complex numbers have no order")


def assert_reduced(comm, array, dtype, op):
    want = twin(dtype, array.size, comm.size, op)
    if len(set(getattr(comm, "_nodes", ()))) < 2 and array.dtype.kind != "c":
        assert (array == want).all()  # rank order: NumPy's bits
        return
    # Between machines the order is another, and 16-bit floats are rounded there once more.
    loose = 2**-5 if array.dtype == BFLOAT16 else 2**-8 if array.dtype == np.float16 else 1e-5
    wide = np.complex128 if array.dtype.kind == "c" else np.float64
    np.testing.assert_allclose(array.astype(wide), want.astype(wide), rtol=loose, atol=loose)


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("dtype", EVERY, ids=str)
def test_against_numpy(comm, dtype, op):
    skip_without_order(dtype, op)
    for size in SIZES:
        for array in (np.empty(size, dtype), comm.shared_buffer(size, dtype)):
            array[:] = values(dtype, size, comm.rank)
            comm.all_reduce(array, op)
            assert_reduced(comm, array, dtype, op)


@pytest.mark.parametrize("dtype", [*NARROW, "float32", "complex64"], ids=str)
def test_scaled_by_a_third(comm, dtype):
    for array in (np.empty(70_001, dtype), comm.shared_buffer(70_001, dtype)):
        array[:] = values(dtype, array.size, comm.rank)
        comm.all_reduce(array, scale=1 / 3)
        wide = np.complex128 if array.dtype.kind == "c" else np.float64
        want = sum(values(dtype, array.size, rank).astype(wide) for rank in range(comm.size)) / 3
        loose = {"bfloat16": 2**-6, "float16": 2**-9}.get(array.dtype.name, 1e-6)
        np.testing.assert_allclose(array.astype(wide), want, rtol=loose, atol=loose)


def test_a_part_of_a_shared_buffer(comm):
    buffer = comm.shared_buffer(100_000, np.float32)
    buffer[:] = 1
    part = buffer[10_001:90_000].reshape(-1, 79_999)
    comm.all_reduce(part)
    assert (part == comm.size).all()
    assert (buffer[:10_001] == 1).all() and (buffer[90_000:] == 1).all()


def test_nan_comes_out_as_nan(comm):
    between = len(set(getattr(comm, "_nodes", ()))) > 1  # where MPI compares, and need not care
    for op in ("sum", "prod") if between else OPS:
        for size in (100, 50_000):
            for holder in range(comm.size):
                array = np.ones(size, np.float32)
                array[size // 3] = np.nan if comm.rank == holder else 2
                comm.all_reduce(array, op)
                assert np.isnan(array).sum() == 1 and np.isnan(array[size // 3])


def test_posted_reductions_of_all_kinds_are_under_way_together(comm):
    rng = np.random.default_rng(1)
    for _ in range(5):
        arrays = []
        for size in rng.choice([1, 100, 30_000, 150_000], 9):
            shared = rng.random() < 0.5
            array = comm.shared_buffer(size, np.float32) if shared else np.empty(size, np.float32)
            array[:] = np.arange(size) % 7 + comm.rank
            arrays.append(array)
        handles = [comm.post_all_reduce(array) for array in arrays]
        comm.barrier()  # after what was posted; needs no wait
        for i in rng.permutation(9):
            handles[i].wait()
            assert handles[i].test()
        for array in arrays:
            want = comm.size * (np.arange(array.size) % 7) + sum(range(comm.size))
            assert (array == want).all()


@pytest.mark.mpi(min_size=2)
def test_a_posted_reduction_goes_on_while_its_rank_waits_elsewhere(world, comms):
    comm, other = world.comm, comms["reversed"]
    array = comm.shared_buffer(50_000, np.float32)
    array[:] = 1
    handle = comm.post_all_reduce(array)
    if comm.rank == 0:
        handle.wait()
        for rank in range(1, comm.size):
            comm.send(np.ones(3), rank)
        other.barrier()
    else:
        comm.recv(np.ones(3), 0)
        other.barrier()
        handle.wait()
    assert (array == comm.size).all()


def test_shared_memory_is_used_again(world):
    comm = world.comm
    for step in range(20):
        array = comm.shared_buffer(1 << 20, np.float32)
        array[:] = step
        view = array[5:10]
        del array
        gc.collect()
        other = comm.shared_buffer(1 << 20, np.float32)
        other[:] = -1
        assert (view == step).all()
        comm.all_reduce(view)
        assert (view == step * comm.size).all()
        del view, other
    if comm.size > 1:
        assert sum(w.stride > 4 << 20 for w in comm._shared._arena._windows) <= 3


@pytest.mark.mpi(min_size=2)
def test_without_room_ordinary_memory_serves(world, monkeypatch):
    from dist_ms.communication.shared import arena

    comm = world.comm
    monkeypatch.setattr(arena, "room", lambda: 1000 if comm.rank == 0 else 1 << 40)
    array = comm.shared_buffer(3 << 24, np.uint8)
    assert not comm._shared.shares(array)
    array[:] = comm.rank
    assert (comm.all_reduce(array, "max") == comm.size - 1).all()


@pytest.mark.mpi(min_size=2)
def test_other_parts_of_a_buffer_are_an_error_on_every_rank(world):
    comm = world.comm
    buffer = comm.shared_buffer(100_000, np.float32)
    for array in (buffer[comm.rank :][:50_000], buffer[:50_000] if comm.rank else np.ones(50_000, np.float32)):
        with pytest.raises(RuntimeError, match="every rank of group 'mccl_world_group' must do the same"):
            comm.all_reduce(array)
    buffer[:] = 1
    assert (comm.all_reduce(buffer) == comm.size).all()


@pytest.mark.mpi(min_size=2)
def test_a_posted_reduction_against_another_collective_is_an_error_on_every_rank(world):
    comm = world.comm
    array = np.ones(100_000, np.float32)
    with pytest.raises(RuntimeError) as caught:
        if comm.rank == 0:
            comm.post_all_reduce(array).wait()
        else:
            comm.barrier()
    assert "rank 0: all_reduce(float32[100000], sum) at test_all_reduce.py" in str(caught.value)
    assert "rank 1: barrier() at test_all_reduce.py" in str(caught.value)
    assert (comm.all_reduce(np.ones(3)) == comm.size).all()


def test_groups_come_and_go(world):
    """Their windows serve the groups that follow, whenever Python collects what points in circles."""
    comm = world.comm
    gc.disable()
    try:
        counts = []
        for i in range(30):
            group = comm.subgroup(list(range(comm.size)), f"passing{i}")
            assert (group.all_reduce(np.ones(100_000, np.float32)) == comm.size).all()
            group.free()
            counts.append(len(comm._shared._arena._windows) if comm.size > 1 else 0)
    finally:
        gc.enable()
    assert counts[-1] - counts[2] <= 1, counts
