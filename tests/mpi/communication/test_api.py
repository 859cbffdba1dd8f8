"""MindSpore's communication functions on several ranks."""

import logging
import os

import numpy as np
import pytest

from dist_ms import communication as C


def test_init_twice_and_the_environment(world):
    C.init()
    C.init("mccl")
    rank, size = C.get_rank(), C.get_group_size()
    assert (rank, size) == (world.comm.rank, world.comm.size)
    assert os.environ["RANK_ID"] == str(rank)
    assert os.environ["RANK_SIZE"] == str(size)
    assert os.environ["DEVICE_ID"] == str(C.get_local_rank())
    assert C.GlobalComm.INITED and C.GlobalComm.BACKEND == "mccl"
    assert C.GlobalComm.WORLD_COMM_GROUP == "mccl_world_group"


def test_the_world_by_all_its_names(world):
    for name in ("hccl_world_group", "nccl_world_group", "mccl_world_group"):
        assert C.get_rank(name) == world.comm.rank
        assert C.get_group_size(name) == world.comm.size
        assert C.get_process_group_ranks(name) == list(range(world.comm.size))
        assert C.get_world_rank_from_group_rank(name, 0) == 0
        assert C.get_group_rank_from_world_rank(world.comm.size - 1, name) == world.comm.size - 1
        with pytest.raises(ValueError, match="must not be the world group"):
            C.destroy_group(name)
    assert C.get_local_rank_size() == world.comm.size  # all ranks of the tests are on one node


@pytest.mark.mpi(min_size=2)
def test_a_group_keeps_the_order_of_its_ranks(world):
    C.create_group("swapped", [1, 0])
    if C.get_rank() in (0, 1):
        assert C.get_rank("swapped") == 1 - C.get_rank()
        assert C.get_local_rank("swapped") == 1 - C.get_rank()
        assert C.get_local_rank_size("swapped") == 2
        assert C.get_comm("swapped").all_reduce(np.ones(1)) == 2
    else:  # a rank outside knows the group, but cannot use it
        for ask in (C.get_rank, C.get_local_rank, C.get_comm):
            with pytest.raises(RuntimeError, match="must include this rank"):
                ask("swapped")
    assert C.get_group_size("swapped") == 2
    assert C.get_process_group_ranks("swapped") == [1, 0]
    assert C.get_world_rank_from_group_rank("swapped", 0) == 1
    assert C.get_group_rank_from_world_rank(1, "swapped") == 0
    for ask, arguments in (
        (C.get_world_rank_from_group_rank, ("swapped", 2)),
        (C.get_world_rank_from_group_rank, ("swapped", -1)),
        (C.get_group_rank_from_world_rank, (2, "swapped")),
    ):
        with pytest.raises(RuntimeError, match="swapped"):
            ask(*arguments)
    C.destroy_group("swapped")
    with pytest.raises(RuntimeError, match="group swapped does not exist"):
        C.get_group_size("swapped")


@pytest.mark.mpi(min_size=2)
def test_the_same_group_again_warns_and_other_ranks_are_an_error(world, caplog):
    everyone = list(range(world.comm.size))
    C.create_group("all", everyone)
    with caplog.at_level(logging.WARNING, "dist_ms"):
        C.create_group("all", everyone)
    assert "exists already" in caplog.text
    with pytest.raises(ValueError, match="must be"):
        C.create_group("all", everyone[::-1])
    C.destroy_group("all")
    C.create_group("all", everyone[::-1])
    assert C.get_rank("all") == world.comm.size - 1 - world.comm.rank
    C.destroy_group("all")


@pytest.mark.mpi(min_size=3)
def test_groups_made_in_crossing_order(world):
    pairs = {"ab": [0, 1], "bc": [1, 2], "ca": [2, 0]}
    mine = [name for name, ranks in pairs.items() if world.comm.rank in ranks]
    for name in mine:
        C.create_group(name, pairs[name])
    for name in mine:
        assert C.get_comm(name).all_reduce(np.array(world.comm.rank)) == sum(pairs[name])
        C.destroy_group(name)


def test_wrong_arguments(world):
    with pytest.raises(TypeError, match="'rank_ids' must be type of list"):
        C.create_group("g", (0,))
    with pytest.raises(ValueError, match="at least one rank"):
        C.create_group("g", [])
    with pytest.raises(ValueError, match="has duplicate data"):
        C.create_group("g", [0, 0])
    with pytest.raises(TypeError, match="must be type of int"):
        C.create_group("g", ["a"])
    with pytest.raises(RuntimeError, match=r"must be in \[0, "):
        C.create_group("g", [0, world.comm.size])
    with pytest.raises(TypeError, match="'options' must be None"):
        C.create_group("g", [0], 3)
    with pytest.raises(KeyError, match="nope"):
        C.destroy_group("nope")
    for ask in (C.get_rank, C.get_group_size, C.get_local_rank, C.get_local_rank_size):
        with pytest.raises(TypeError, match="must be type of string"):
            ask(3)
        with pytest.raises(RuntimeError, match="The group nope does not exist"):
            ask("nope")


def test_release_and_init_again(world):
    C.release()
    assert not C.GlobalComm.INITED
    with pytest.raises(RuntimeError, match="has not been inited"):
        C.create_group("g", [0])
    assert C.get_rank() == world.comm.rank  # from RANK_ID
    C.init()
    assert C.current() is world
    assert C.get_comm().all_reduce(np.ones(1)) == world.comm.size


def test_callbacks_get_the_world(world):
    seen = []
    C.on_init(seen.append)
    assert seen == [world]


@pytest.mark.mpi(min_size=2)
def test_ranks_that_disagree_about_a_group(world):
    if world.comm.rank > 1:
        return
    with pytest.raises(ValueError, match="must be the same on every member"):
        C.create_group("odd", [0, 1] if world.comm.rank == 0 else [1, 0])
