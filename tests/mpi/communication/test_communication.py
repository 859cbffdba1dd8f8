"""The verbs, on every kind of communicator; expected values come from rank and size."""

import ml_dtypes
import numpy as np
import pytest

from dist_ms.communication import agree, agreeing
from dist_ms.communication import mpi as mpi_file
from dist_ms.communication.wire import calls as calls_file

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", BFLOAT16, "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
NUMBERS = [*INTS, *FLOATS, *COMPLEX]
EVERY = ["bool", *NUMBERS]


def expected(op, size, offset=1):
    values = np.arange(offset, size + offset)
    return {"sum": values.sum, "prod": values.prod, "max": values.max, "min": values.min}[op]()


@pytest.fixture(params=["as it is", "MPI alone", "between nodes"])
def path(request, comm, monkeypatch):
    """The communicator on its paths: in shared memory, by MPI within a machine, by MPI between."""
    if request.param != "as it is":
        monkeypatch.setattr(comm, "_shared", None, raising=False)
    if request.param == "between nodes":
        monkeypatch.setattr(comm, "one_node", False)
    if request.param == "as it is" or comm.size == 1:
        yield comm
        return
    posted = comm._comm.Dup()  # as where no memory is shared
    monkeypatch.setattr(comm, "_posted", posted)
    yield comm
    posted.Free()


@pytest.fixture
def small_chunks(monkeypatch):
    """Make every array larger than what one MPI call may count."""
    for file in (mpi_file, calls_file):
        monkeypatch.setattr(file, "CHUNK_BYTES", 64)


@pytest.mark.parametrize("op", ["sum", "prod", "max", "min"])
def test_all_reduce(path, op):
    for dtype in NUMBERS:
        if dtype in COMPLEX and op in ("max", "min"):
            with pytest.raises(TypeError, match="'sum' or 'prod' for complex"):
                path.all_reduce(np.ones(3, dtype), op)
            continue
        array = np.full((3, 5), path.rank + 1).astype(dtype)
        assert path.all_reduce(array, op) is array
        assert array.dtype == dtype
        assert (array.astype(complex) == expected(op, path.size)).all(), dtype


@pytest.mark.parametrize("op", ["sum", "prod", "max", "min"])
def test_all_reduce_of_booleans_is_or_and_and(path, op):
    array = np.array([True, False, path.rank == 0])
    path.all_reduce(array, op)
    third = True if op in ("sum", "max") else path.size == 1
    assert array.tolist() == [True, False, third]


def test_narrow_floats_are_summed_in_float32(path):
    # 1 + tiny is lost at every step in the narrow type, but not in float32.
    for dtype, tiny in (("float16", np.float32(2.0**-12)), (BFLOAT16, np.float32(2.0**-9))):
        array = np.full(4, 1 if path.rank == 0 else tiny, np.float32).astype(dtype)
        small = np.float32(array.dtype.type(tiny))
        path.all_reduce(array)
        assert (array == np.float32(1 + (path.size - 1) * small).astype(dtype)).all(), dtype


@pytest.mark.parametrize("length", [1, 7, 1000, 100_003])
def test_all_ranks_get_the_same_bits(path, length):
    array = np.random.default_rng(path.rank).standard_normal(length).astype(np.float32)
    path.all_reduce(array)
    everyone = path.all_gather(array)
    assert (everyone == everyone[0]).all()
    parts = [np.random.default_rng(r).standard_normal(length) for r in range(path.size)]
    np.testing.assert_allclose(array, np.sum(parts, 0), rtol=1e-5, atol=1e-5)


def test_all_reduce_in_chunks(path, small_chunks):
    for dtype in ("bool", "float16", "float32", "complex128"):
        array = np.arange(101).astype(dtype)
        path.all_reduce(array)
        want = np.arange(101) > 0 if dtype == "bool" else np.arange(101) * path.size
        assert (array == want.astype(dtype)).all()


def test_all_reduce_of_nothing_and_of_a_scalar(path):
    assert path.all_reduce(np.empty((0, 3))).shape == (0, 3)
    scalar = np.array(path.rank + 1.0)
    assert path.all_reduce(scalar) == expected("sum", path.size)


def test_posted_reductions_finish_in_any_order_of_waiting(comm):
    arrays = [np.full(n, comm.rank + 1, d) for n, d in ((3, "f4"), (1000, "f8"), (5, "f2"))]
    handles = [comm.post_all_reduce(a) for a in arrays]
    for handle in reversed(handles):
        handle.wait()
        assert handle.test()
    for array in arrays:
        assert (array == expected("sum", comm.size)).all()


def test_broadcast_keeps_every_bit(path):
    for kind in map(np.dtype, EVERY):
        top = 2 if kind.kind == "b" else 256
        bits = [np.random.default_rng(r).integers(0, top, 12 * kind.itemsize, np.uint8) for r in range(path.size)]
        root = path.size - 1
        array = bits[path.rank].copy().view(kind).reshape(3, 4)
        assert path.broadcast(array, root) is array
        assert (array.reshape(-1).view(np.uint8) == bits[root]).all(), kind


def test_broadcast_in_chunks(path, small_chunks):
    array = np.arange(100) + 1000 * path.rank
    path.broadcast(array)
    assert (array == np.arange(100)).all()


@pytest.mark.parametrize("shape", [(), (4,), (2, 3), (0, 2)])
def test_all_gather(path, shape):
    for dtype in EVERY:
        out = path.all_gather(np.full(shape, path.rank % 2, dtype))
        assert out.shape == (path.size, *shape) and out.dtype == dtype
        for rank in range(path.size):
            assert (out[rank] == np.array(rank % 2).astype(dtype)).all(), dtype


def test_all_gather_in_chunks_of_a_strided_array(path, small_chunks):
    array = (np.arange(60).reshape(6, 10) + 100 * path.rank).T
    out = path.all_gather(array)
    for rank in range(path.size):
        assert (out[rank] == np.arange(60).reshape(6, 10).T + 100 * rank).all()


def test_reduce_scatter(path):
    for dtype in NUMBERS:
        rows = np.arange(2 * path.size)[:, None] % 5 + np.zeros((1, 3), int)
        out = path.reduce_scatter((rows + path.rank).astype(dtype))
        want = path.size * rows[2 * path.rank : 2 * path.rank + 2] + sum(range(path.size))
        assert out.shape == (2, 3) and out.dtype == dtype
        assert (out == want.astype(dtype)).all(), dtype


def test_reduce_scatter_in_chunks_of_a_strided_array(path, small_chunks):
    array = np.arange(path.size * 77.0).reshape(77, path.size).T + path.rank
    out = path.reduce_scatter(array, "max")
    assert (out == np.arange(path.size * 77.0).reshape(77, path.size).T[[path.rank]] + path.size - 1).all()


@pytest.mark.parametrize(("length", "chunks"), [(0, False), (3, False), (20_000, False), (0, True), (3, True)], ids=str)
def test_posted_collectives_finish_in_any_order_of_waiting(path, length, chunks, request):
    if chunks:
        request.getfixturevalue("small_chunks")
    for dtype in ("bool", "int8", BFLOAT16, "float32", "complex128"):
        assert_posted_collectives_finish(path, length, dtype)


def assert_posted_collectives_finish(path, length, dtype):
    """Assert that five posted collectives, waited for in the other order, bring what they have to."""
    size, rank = path.size, path.rank

    def row(r):
        return np.add.outer(np.arange(size), np.arange(length) % 3 + r % 3).astype(dtype)

    rows, reduced, sent = row(rank), row(rank), row(rank)
    handles = [path.post_broadcast(sent, size - 1)]
    gathered, handle = path.post_all_gather(rows)
    handles += [handle, path.post_all_reduce(reduced)]
    part, handle = path.post_reduce_scatter(rows)
    handles.append(handle)
    came, handle = path.post_all_to_all(rows)
    handles.append(handle)
    for handle in reversed(handles):
        handle.wait()
        assert handle.test()
    total = row(0)
    for r in range(1, size):
        total = total | row(r) if dtype == "bool" else total + row(r)
    assert (sent == row(size - 1)).all() and (reduced == total).all()
    assert gathered.shape == (size, size, length) and all((gathered[r] == row(r)).all() for r in range(size))
    assert (part == total[[rank]]).all() and all((came[r] == row(r)[rank]).all() for r in range(size))


def test_posted_and_waited_for_collectives_meet(path):
    if path.size > 1 and not path._moves:
        pytest.skip("between machines each is a collective of its own")
    if path.rank % 2:
        out = path.all_gather(np.array([path.rank]))
    else:
        out, handle = path.post_all_gather(np.array([path.rank]))
        handle.wait()
    assert (out[:, 0] == np.arange(path.size)).all()


def test_reduce_scatter_wants_equal_parts(comm):
    with pytest.raises(ValueError, match="must be a multiple of the group's size"):
        comm.reduce_scatter(np.array(1.0))
    if comm.size > 1:
        with pytest.raises(ValueError, match="must be a multiple of the group's size"):
            comm.reduce_scatter(np.ones(comm.size + 1))


def test_send_and_receive_round_the_ring(comm, small_chunks):
    after, before = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    for dtype in EVERY:
        mine = np.arange(50).astype(dtype) if comm.rank == 0 else np.zeros(50, dtype)
        if comm.rank == 0:
            comm.send(mine, after, tag=3)
            back = np.zeros(50, dtype)
            comm.recv(back, before, tag=3)
            assert (back == mine).all(), dtype
        else:
            comm.recv(mine, before, tag=3)
            comm.send(mine[::-1][::-1], after, tag=3)


def test_receiving_another_length_is_an_error(comm):
    if comm.rank == 0:
        comm.send(np.ones(3), comm.size - 1)
    if comm.rank == comm.size - 1:
        with pytest.raises(ValueError, match="bytes"):
            comm.recv(np.ones(4), 0)


def test_gather_objects(comm):
    found = comm.gather_objects({"rank": comm.rank, "text": "x" * 100 * comm.rank})
    assert found == [{"rank": r, "text": "x" * 100 * r} for r in range(comm.size)]


def test_barrier_holds_the_early(world):
    import time

    comm = world.comm
    if comm.rank == 0:
        time.sleep(0.3)
    entered = time.time()
    comm.barrier()
    left = comm.gather_objects((entered, time.time()))
    assert min(out for _, out in left) >= max(came for came, _ in left) - 0.05


@pytest.mark.parametrize("verb", ["all_reduce", "broadcast", "post_all_reduce", "recv"])
def test_arrays_changed_in_place_must_be_contiguous(comm, verb):
    arguments = (comm.rank,) if verb == "recv" else ()
    with pytest.raises(ValueError, match="must be C-contiguous"):
        getattr(comm, verb)(np.ones((3, 4)).T, *arguments)
    frozen = np.ones(3)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="must be writeable"):
        getattr(comm, verb)(frozen, *arguments)


def test_what_is_no_array_of_numbers_is_refused(comm):
    with pytest.raises(TypeError, match=r"numpy\.ndarray, but got list"):
        comm.all_reduce([1.0])
    with pytest.raises(TypeError, match="gather_objects"):
        comm.broadcast(np.array([None]))
    with pytest.raises(TypeError, match="byte order"):
        comm.all_reduce(np.ones(2, ">f4"))
    with pytest.raises(TypeError, match="double precision"):
        comm.all_reduce(np.ones(2, np.longdouble))
    with pytest.raises(ValueError, match="'op' must be one of sum, max, min, prod"):
        comm.all_reduce(np.ones(2), "mean")
    with pytest.raises(ValueError, match="'root' must be in"):
        comm.broadcast(np.ones(2), comm.size)


@pytest.mark.mpi(min_size=2)
def test_different_collectives_are_an_error_on_every_rank(world):
    comm = world.comm
    with pytest.raises(RuntimeError) as caught:
        if comm.rank == 0:
            comm.barrier()
        else:
            comm.all_reduce(np.ones(3, np.float32))
    text = str(caught.value)
    assert "rank 0: barrier() at test_communication.py" in text
    assert "rank 1: all_reduce(float32[3], sum) at test_communication.py" in text
    assert comm.all_reduce(np.ones(1)) == comm.size


@pytest.mark.mpi(min_size=2)
def test_different_lengths_are_an_error_on_every_rank(world):
    comm = world.comm
    with pytest.raises(RuntimeError, match="every rank of group"):
        comm.all_reduce(np.ones(3 + comm.rank))


@pytest.mark.mpi(min_size=3)
def test_a_subgroup_leaves_the_others_alone(world):
    comm = world.comm
    last = comm.size - 1
    if comm.rank in (0, last):
        pair = comm.subgroup([last, 0], "ends")
        assert pair.ranks == (last, 0) and pair.rank == (1 if comm.rank == 0 else 0)
        assert pair.all_reduce(np.array(comm.rank)) == last
        pair.free()


def test_agree_passes_when_all_is_well(comm):
    agree(comm, None)
    with agreeing(comm):
        pass


@pytest.mark.mpi(min_size=2)
def test_an_error_on_one_rank_is_raised_on_all(world):
    comm = world.comm
    with pytest.raises(ValueError, match=rf"^\[rank 1 of {comm.size}\] no data$"):
        with agreeing(comm):
            if comm.rank == 1:
                raise ValueError("no data")
    with pytest.raises(KeyError) as caught:
        agree(comm, KeyError("name"))
    assert caught.value.args == (f"[all {comm.size} ranks] name",)


@pytest.mark.mpi(min_size=2)
def test_errors_that_do_not_travel_become_runtime_errors(world):
    class Local(Exception):
        pass

    comm = world.comm
    with pytest.raises(RuntimeError, match=r"\[rank 0 of \d\] odd"):
        agree(comm, Local("odd") if comm.rank == 0 else None)


def test_all_reduce_scales_the_result(path):
    for dtype in (*FLOATS, *COMPLEX):
        array = np.full(7, path.rank + 1).astype(dtype)
        path.all_reduce(array, scale=0.5)
        assert (array.astype(complex) == expected("sum", path.size) / 2).all(), dtype
        op, times = ("sum", path.size) if dtype in COMPLEX else ("max", 1)
        path.post_all_reduce(array, op, scale=2.0).wait()
        assert (array.astype(complex) == expected("sum", path.size) * times).all(), dtype


def test_whole_numbers_are_not_scaled(comm):
    for dtype in ("bool", "int32", "uint8"):
        with pytest.raises(TypeError, match="'scale' must be 1 for an array of"):
            comm.all_reduce(np.ones(2, dtype), scale=0.5)


def test_a_shared_buffer_is_reduced_like_any_array(path):
    for dtype in EVERY:
        buffer = path.shared_buffer(1001, dtype)
        assert buffer.shape == (1001,) and buffer.dtype == dtype and buffer.flags.writeable
        buffer[:] = (np.arange(1001) % 5 == path.rank % 5).astype(dtype)
        assert path.all_reduce(buffer, "sum" if dtype in COMPLEX else "max") is buffer
        want = (np.arange(1001) % 5 < path.size).astype(dtype)
        assert (buffer == want).all(), dtype


def test_a_shared_buffer_must_be_of_numbers(comm):
    with pytest.raises(TypeError, match="'size' must be an int, but got 2.5"):
        comm.shared_buffer(2.5, np.float32)
    with pytest.raises(ValueError, match="'size' must not be negative, but got -1"):
        comm.shared_buffer(-1, np.float32)
    with pytest.raises(TypeError, match="'dtype' must be of numbers, but got object"):
        comm.shared_buffer(3, object)
