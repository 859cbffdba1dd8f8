"""Collectives that move or reduce from a source: in one piece, in rounds, read directly; and by MPI."""

import numpy as np
import pytest

# Less than a slot, more, more than the stages, more than what is read directly.
SIZES = [0, 5, 3001, 50_021, 200_003]


@pytest.fixture(params=["as it is", "through stages", "MPI alone"])
def path(request, comm, monkeypatch):
    """The communicator, as it is, without reading other ranks' memory, and without shared memory."""
    shared = getattr(comm, "_shared", None)
    staged = request.param == "through stages" and shared is not None and comm.one_node
    if request.param == "MPI alone":
        monkeypatch.setattr(comm, "_shared", None, raising=False)
    if staged:
        allowed = shared.reads_directly
        shared.read_directly(False)
    yield comm
    if staged:
        shared.read_directly(allowed)


def numbers(size, rank, shape=()):
    return np.random.default_rng([size, rank]).integers(-1000, 1000, (*shape, size)).astype(np.float32)


@pytest.mark.parametrize("size", SIZES)
def test_all_to_all(path, size):
    sent = [numbers(size, rank, (path.size,)) for rank in range(path.size)]
    mine = sent[path.rank].copy()
    np.testing.assert_array_equal(path.all_to_all(mine), np.stack([one[path.rank] for one in sent]))
    np.testing.assert_array_equal(mine, sent[path.rank])


def test_all_to_all_of_a_strided_array_and_uneven_rows(path):
    rows = np.arange(6 * path.size * 2).reshape(6 * path.size, 2)[:, ::-1] + 1000 * path.rank
    came = path.all_to_all(rows)
    assert came.shape == rows.shape
    for rank, part in enumerate(np.split(came, path.size)):
        np.testing.assert_array_equal(part, np.split(rows, path.size)[path.rank] + 1000 * (rank - path.rank))
    with pytest.raises(ValueError, match="must be a multiple of the group's size"):
        path.all_to_all(np.zeros((path.size + 1, 2)) if path.size > 1 else np.zeros(()))


@pytest.mark.parametrize("size", SIZES)
def test_broadcast_from_a_source(path, size):
    root = path.size - 1
    source, out = numbers(size, path.rank), np.full(size, -1, np.float32)
    assert path.broadcast(out, root, source) is out
    np.testing.assert_array_equal(out, numbers(size, root))
    np.testing.assert_array_equal(source, numbers(size, path.rank))
    np.testing.assert_array_equal(path.broadcast(source, root), numbers(size, root))


@pytest.mark.parametrize("size", SIZES)
def test_all_reduce_of_a_source(path, size):
    want = sum(numbers(size, rank) for rank in range(path.size)) * np.float32(0.5)
    for out in (np.full(size, -1, np.float32), path.shared_buffer(size, np.float32)):
        source = numbers(size, path.rank)
        assert path.all_reduce(out, scale=0.5, source=source) is out
        np.testing.assert_array_equal(out, want)
        np.testing.assert_array_equal(source, numbers(size, path.rank))
    backwards = numbers(size, path.rank)[::-1].copy()[::-1]
    np.testing.assert_array_equal(path.all_reduce(np.empty(size, np.float32), scale=0.5, source=backwards), want)


@pytest.mark.parametrize("size", SIZES)
def test_all_gather_and_reduce_scatter(path, size):
    every = np.stack([numbers(size, rank) for rank in range(path.size)])
    np.testing.assert_array_equal(path.all_gather(numbers(size, path.rank)), every)
    parts = [numbers(size, rank, (path.size,)) for rank in range(path.size)]
    for op, twin in (("sum", np.add), ("max", np.maximum)):
        want = twin.reduce(parts)[path.rank]
        np.testing.assert_array_equal(path.reduce_scatter(parts[path.rank], op).reshape(-1), want)


def test_movements_of_different_sizes_one_after_the_other(path):
    for turn in range(40):
        size = (3, 200_003, 9000, 40_000)[turn % 4]
        array = np.full(size, turn + path.rank, np.int32)
        assert (path.all_gather(array) == turn + np.arange(path.size)[:, None]).all()
        array[:] = -1  # nobody reads it any more
        assert (path.broadcast(np.full(size, path.rank), turn % path.size) == turn % path.size).all()
        assert (path.all_reduce(np.full(size, 2)) == 2 * path.size).all()


@pytest.mark.parametrize("verb", ["all_reduce", "broadcast"])
def test_a_source_is_of_the_arrays_type_and_shape(comm, verb):
    call = getattr(comm, verb)
    with pytest.raises(ValueError, match=r"'source' must be of the array's type and shape float32\[3\]"):
        call(np.zeros(3, np.float32), source=np.zeros(4, np.float32))
    with pytest.raises(ValueError, match=r"but got float64\[3\]"):
        call(np.zeros(3, np.float32), source=np.zeros(3))
    with pytest.raises(TypeError, match=r"must be a numpy.ndarray, but got list"):
        call(np.zeros(3, np.float32), source=[1, 2, 3])


def test_other_roots_are_an_error_on_every_rank(world):
    comm = world.comm
    if comm.size == 1:
        pytest.skip("needs two ranks")
    with pytest.raises(RuntimeError, match="must do the same") as raised:
        comm.broadcast(np.zeros(300_000), int(comm.rank == 0))
    assert "root 0" in str(raised.value) and "root 1" in str(raised.value)
    assert comm.all_reduce(np.ones(1))[0] == comm.size
