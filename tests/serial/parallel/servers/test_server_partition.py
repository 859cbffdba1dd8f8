"""Which server holds what: every row and every element on exactly one server, evenly."""

import numpy as np
import pytest

from dist_ms.common.initializer import Normal
from dist_ms.parallel.servers.partition import BLOCK_ROWS, WHOLE_BELOW, RowPartition, cut_dense
from dist_ms.parallel.servers.shards import TableShard

SIZES = [1, 2, 7, BLOCK_ROWS, BLOCK_ROWS + 1, 5 * BLOCK_ROWS - 3]


@pytest.mark.parametrize("how", ["hash", "range"])
@pytest.mark.parametrize("servers", [1, 2, 3, 5])
@pytest.mark.parametrize("rows", SIZES)
def test_every_row_lives_on_one_server(rows, servers, how):
    partition = RowPartition(rows, servers, how)
    held = [np.arange(rows)[partition.slice_of(k)] for k in range(servers)]
    assert [len(part) for part in held] == [partition.count(k) for k in range(servers)]
    np.testing.assert_array_equal(np.sort(np.concatenate(held)), np.arange(rows))
    spread = max(map(len, held)) - min(map(len, held))
    assert spread <= (1 if how == "hash" else BLOCK_ROWS)


@pytest.mark.parametrize("how", ["hash", "range"])
@pytest.mark.parametrize("servers", [1, 2, 3])
def test_split_finds_rows_where_slice_of_puts_them(servers, how):
    rows = 3 * BLOCK_ROWS + 11
    partition = RowPartition(rows, servers, how)
    for count in (0, 1, 500):
        ids = np.sort(np.random.default_rng(count).choice(rows, count, replace=False))
        seen = 0
        for server, (places, local) in enumerate(partition.split(ids)):
            np.testing.assert_array_equal(np.arange(rows)[partition.slice_of(server)][local], ids[places])
            seen += len(local)
        assert seen == count


@pytest.mark.parametrize("how", ["hash", "range"])
@pytest.mark.parametrize("servers", [2, 3])
def test_first_values_do_not_depend_on_the_servers(servers, how):
    shape = (2 * BLOCK_ROWS + 5, 3)

    def shards(number):
        partition = RowPartition(shape[0], number, how)
        made = [TableShard("table", shape, np.float32, partition, server) for server in range(number)]
        for shard in made:
            shard.initialise(Normal(1.0), 4)
        return made

    whole = shards(1)[0].rows
    assert len(np.unique(whole)) > whole.size * 0.9
    for shard in shards(servers):
        np.testing.assert_array_equal(shard.rows, whole[shard.partition.slice_of(shard.server)])


@pytest.mark.parametrize("servers", [1, 2, 3, 4])
def test_dense_tensors_are_cut_evenly(servers):
    sizes = [10 * WHOLE_BELOW + 1, 5, WHOLE_BELOW - 1, WHOLE_BELOW, 7, 1]
    pieces = cut_dense(sizes, servers)
    for index, size in enumerate(sizes):
        mine = [p for p in pieces if p.index == index]
        assert [p.start for p in mine] == [0, *[p.stop for p in mine[:-1]]] and mine[-1].stop == size
        assert len(mine) == (servers if size >= WHOLE_BELOW else 1)
    load = [sum(p.stop - p.start for p in pieces if p.server == k) for k in range(servers)]
    assert sum(load) == sum(sizes) and max(load) - min(load) < WHOLE_BELOW


def test_what_needs_its_whole_tensor_is_not_cut():
    pieces = cut_dense([3 * WHOLE_BELOW, 3 * WHOLE_BELOW], 2, [False, True])
    assert [p.stop - p.start for p in pieces if p.index == 0] == [3 * WHOLE_BELOW]
    assert len([p for p in pieces if p.index == 1]) == 2
