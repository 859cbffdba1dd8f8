"""Pipelines of a job: shards of its ranks, one order, worker processes beside MPI, rows cached once per machine."""

import os

import numpy as np
import pytest

import dist_ms as ms
import dist_ms.dataset as ds
from dist_ms.communication import current
from dist_ms.dataset.sources.indexed import IndexedSource


class Numbers(IndexedSource):
    """A source of files, as far as shards go."""

    def __init__(self, count, **options):
        super().__init__(["x"], **options)
        self.rows_there, self.reads = count, []

    def count(self):
        return self.rows_there

    def read(self, number):
        self.reads.append(number)
        return (np.int64(number),)


def of_all(value):
    return current().comm.gather_objects(value)


def epoch(data):
    return [n for (x,) in data.create_tuple_iterator(num_epochs=1, output_numpy=True) for n in x.reshape(-1).tolist()]


@pytest.fixture
def together(world):
    ms.set_auto_parallel_context(parallel_mode="data_parallel")
    yield world.comm
    ms.reset_auto_parallel_context()


@pytest.mark.parametrize("count", [12, 13, 1])
def test_ranks_read_their_shards(together, count):
    size, rank = together.size, together.rank
    data = Numbers(count)
    parts = of_all(epoch(data))
    assert f"# shard {rank} of {size}, as the rank has" in repr(data)
    assert len({len(p) for p in parts}) == 1 and {x for p in parts for x in p} == set(range(count))
    with data.without_padding():
        assert sorted(x for p in of_all(epoch(data)) for x in p) == list(range(count))


def test_the_order_is_that_of_one_process(together):
    alone, data = Numbers(12 * 5, num_shards=1, shard_id=0), Numbers(12 * 5)
    for _ in range(2):
        parts, whole = of_all(epoch(data)), epoch(alone)
        assert [parts[i % together.size][i // together.size] for i in range(60)] == whole


def test_where_ranks_do_not_train_together_each_reads_all(world):
    assert sorted(epoch(Numbers(7))) == list(range(7))
    ms.set_auto_parallel_context(parallel_mode="data_parallel", full_batch=True)
    try:
        assert sorted(epoch(Numbers(7))) == list(range(7))
    finally:
        ms.reset_auto_parallel_context()


def test_rows_that_the_program_hands_over_are_its_own(together):
    mine = [together.rank * 10 + i for i in range(3)]
    assert epoch(ds.NumpySlicesDataset(mine, shuffle=False)) == mine
    assert epoch(ds.GeneratorDataset(mine, ["x"], shuffle=False)) == mine


def test_worker_processes_beside_mpi(together):
    def told(x):
        return x, os.getpid()

    data = Numbers(24).map(told, "x", ["x", "p"], num_parallel_workers=2, python_multiprocessing=True).batch(2)
    rows = list(data.create_tuple_iterator(num_epochs=1, output_numpy=True))
    pids = {int(p) for _, ps in rows for p in ps}
    everywhere = of_all((os.getpid(), pids, [int(x) for xs, _ in rows for x in xs]))
    assert {x for *_, xs in everywhere for x in xs} == set(range(24))
    assert not {pid for pid, *_ in everywhere} & {p for _, ps, _ in everywhere for p in ps}
    assert np.allclose(
        together.all_reduce(np.ones(3, np.float32), "sum"), together.size
    )  # the ranks are none the worse
    data.close_pool()


def test_the_ranks_of_a_machine_share_a_cache(together):
    data = Numbers(16, cache=ds.DatasetCache(5), num_shards=1, shard_id=0, num_parallel_workers=1)
    if together.rank == 0:
        assert sorted(epoch(data)) == list(range(16)) and sorted(data.reads) == list(range(16))
    together.barrier()
    if together.rank:
        assert sorted(epoch(data)) == list(range(16)) and data.reads == []
    together.barrier()


def test_a_position_is_the_same_on_all_ranks(together):
    data = Numbers(48).batch(2)
    rows = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    given = [x for _ in range(2) for x in next(rows)[0].tolist()]
    state = data.state_dict()
    assert all(s == state for s in of_all(state)) and state["rows"] == 4 * together.size
    again = Numbers(48, num_shards=1, shard_id=0).batch(5)
    again.load_state_dict(state)
    assert sorted(epoch(again) + [x for part in of_all(given) for x in part]) == list(range(48))


def test_a_rank_sends_its_rows_to_others(together):
    """As in MindSpore's documentation: rank 0 to all others, then each of them to rank 0; also tensors of one's own."""
    others = [rank for rank in range(together.size) if rank]
    data = ds.NumpySlicesDataset({"x": [together.rank, 10], "y": np.ones((2, 3), bool)}, shuffle=False)
    if together.rank == 0:
        data.send(dst=others)
        found = data.recv(src=others)
        assert [int(x) for x in found[::2]] == others and all(y.dtype == ms.bool_ for y in found[1::2])
        for half in (data.recv(src=rank) for rank in others):
            assert half.dtype == ms.bfloat16 and half.shape == (2, 0)
    else:
        x, y = data.recv()
        assert int(x) == 0 and y.asnumpy().all() and y.shape == (3,)
        data.send()
        data.send(ms.Tensor(np.zeros((2, 0)), ms.bfloat16))
