"""A process alone: the launcher's variables, shares of cores, waiting, and the API without MPI."""

import contextlib
import os
import subprocess
import sys
import time

import numpy as np
import pytest

from dist_ms import communication as C
from dist_ms.communication import LocalComm
from dist_ms.communication.rendezvous import control
from dist_ms.communication.rendezvous.control import caller
from dist_ms.communication.rendezvous.waiting import default_timeout, wait_until
from dist_ms.communication.start.cores import core_of, fair_share
from dist_ms.communication.start.launched import (
    copy_rank_variables,
    launched_local,
    launched_rank,
    launched_size,
)
from dist_ms.communication.start.mpi_process import forget_memory


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    for name in list(os.environ):
        if name.startswith(("OMPI_", "PMI", "SLURM_", "RANK_", "DEVICE_ID", "LOCAL_RANK")):
            monkeypatch.delenv(name)
    C.release()
    yield
    C.release()


@pytest.mark.parametrize(
    ("environ", "size", "rank", "local"),
    [
        ({}, None, None, (None, None)),
        (
            {
                "OMPI_COMM_WORLD_SIZE": "4",
                "OMPI_COMM_WORLD_RANK": "3",
                "OMPI_COMM_WORLD_LOCAL_RANK": "1",
                "OMPI_COMM_WORLD_LOCAL_SIZE": "2",
                "SLURM_STEP_NUM_TASKS": "2",
            },
            ("OMPI_COMM_WORLD_SIZE", 4),
            3,
            (1, 2),
        ),
        (
            {"PMI_SIZE": "2", "PMI_RANK": "1", "MPI_LOCALRANKID": "1", "MPI_LOCALNRANKS": "2"},
            ("PMI_SIZE", 2),
            1,
            (1, 2),
        ),
        (
            {"SLURM_STEP_NUM_TASKS": "8", "SLURM_PROCID": "5", "PMIX_RANK": "5"},
            ("SLURM_STEP_NUM_TASKS", 8),
            5,
            (None, None),
        ),
        ({"SLURM_NTASKS": "8", "SLURM_PROCID": "0"}, None, None, (None, None)),  # a batch script
        ({"OMPI_COMM_WORLD_SIZE": "x"}, None, None, (None, None)),
    ],
)
def test_launchers(environ, size, rank, local):
    assert launched_size(environ) == size
    assert launched_rank(environ) == rank
    assert launched_local(environ) == local


def test_rank_variables_are_there_before_init(monkeypatch):
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "4")
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "2")
    monkeypatch.setenv("OMPI_COMM_WORLD_LOCAL_RANK", "0")
    for name in ("RANK_ID", "RANK_SIZE", "DEVICE_ID"):
        monkeypatch.setenv(name, "")  # so that monkeypatch takes them away again
    copy_rank_variables()
    assert (C.get_rank(), C.get_group_size(), os.environ["DEVICE_ID"]) == (2, 4, "0")


@pytest.mark.parametrize(
    ("mine", "on_node", "quota", "share"),
    [
        ([0, 1, 2, 3], [[0, 1, 2, 3]], None, 4),
        ([0, 1], [[0, 1], [2, 3]], None, 2),
        ([0, 1, 2, 3], [[0, 1, 2, 3]] * 2, None, 2),
        ([0, 1], [[0, 1]] * 3, None, 1),
        ([0, 1, 2], [[0, 1, 2], [2, 3]], None, 2),
        (range(64), [range(64)] * 2, 4.0, 2),
        (range(64), [range(64)] * 2, 1.0, 1),
    ],
)
def test_a_rank_gets_its_fair_share_of_cores(mine, on_node, quota, share):
    assert fair_share(mine, on_node, quota) == share


def test_hardware_threads_of_one_core(tmp_path):
    topology = tmp_path / "cpu5" / "topology"
    topology.mkdir(parents=True)
    (topology / "thread_siblings_list").write_text("1,5\n")
    assert core_of(5, tmp_path) == 1
    assert core_of(6, tmp_path) == 6


def test_only_the_memory_that_this_process_maps_loses_its_name(tmp_path):
    for name in ("mpich_shm_1a_0", "mpich_shm_2b_0", "sm_segment.vm.0.1"):
        (tmp_path / name).write_text("")
    lines = (
        f"7f00-7f01 rw-s 00000000 00:18 {i} {tmp_path}/{name}"
        for i, name in enumerate(
            ("mpich_shm_1a_0", "mpich_shm_1a_0", "mpich_shm_gone_0", "mpich_shm_2b_0 (deleted)", "sm_segment.vm.0.1")
        )
    )
    (tmp_path / "maps").write_text("\n".join(("7e00-7e01 rw-p 00000000 00:00 0 ", *lines)))
    forget_memory(str(tmp_path), str(tmp_path / "maps"))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["maps", "mpich_shm_2b_0", "sm_segment.vm.0.1"]
    forget_memory(str(tmp_path), str(tmp_path / "none"))


def test_waiting_ends_when_done_or_late():
    calls = []
    assert wait_until(lambda: calls.append(1) or len(calls) > 3, 10)
    start = time.monotonic()
    assert not wait_until(lambda: False, 0.05)
    assert time.monotonic() - start < 1


def test_a_long_wait_sleeps_and_listens():
    heard, start = [], time.monotonic()
    busy = time.process_time()
    assert wait_until(lambda: time.monotonic() - start > 0.7, 10, heard.append, longest=0.02)
    assert 2 <= len(heard) <= 4
    assert time.process_time() - busy < 0.35


def test_the_time_limit_comes_from_the_environment():
    assert default_timeout({"DIST_MS_TIMEOUT": "1.5"}) == 1.5
    assert default_timeout({"DIST_MS_TIMEOUT": "0"}) == float("inf")
    for text in ("soon", "-1", "nan"):
        with pytest.raises(ValueError, match=f"must be seconds, 0 for no limit, but got '{text}'"):
            default_timeout({"DIST_MS_TIMEOUT": text})


def test_the_caller_is_the_user_s_line():
    assert caller().startswith("test_world.py:")


def test_the_caller_is_not_the_library_of_with_statements():
    # A context manager of dist_ms that asks when its block has ended, as `agreeing` does.
    source = "@contextmanager\ndef block(found):\n    yield\n    found.append(caller())"
    scope = {"contextmanager": contextlib.contextmanager, "caller": caller}
    exec(compile(source, control.__file__, "exec"), scope)
    found = []
    with scope["block"](found):
        pass
    assert found[0].startswith("test_world.py:")


def test_before_init():
    assert (C.get_rank(), C.get_group_size()) == (0, 1)
    assert (C.get_local_rank(), C.get_local_rank_size()) == (0, 1)
    assert C.get_rank("any name") == 0
    for ask, arguments in (
        (C.create_group, ("g", [0])),
        (C.destroy_group, ("g",)),
        (C.get_process_group_ranks, ()),
        (C.get_comm_name, ()),
        (C.get_comm, ()),
        (C.get_world_rank_from_group_rank, ("g", 0)),
        (C.get_group_rank_from_world_rank, (0, "g")),
    ):
        with pytest.raises(RuntimeError, match="Distributed Communication has not been inited"):
            ask(*arguments)
    for ask in (C.get_rank, C.get_group_size, C.get_local_rank, C.get_local_rank_size):
        with pytest.raises(TypeError, match="'group' must be type of string, but got None"):
            ask(None)


def test_the_environment_answers_before_init(monkeypatch):
    values = {"RANK_ID": "7", "RANK_SIZE": "9", "LOCAL_RANK": "3", "LOCAL_RANK_SIZE": "4"}
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    assert (C.get_rank(), C.get_group_size()) == (7, 9)
    assert (C.get_local_rank(), C.get_local_rank_size()) == (3, 4)


def test_init_alone_is_a_world_of_one():
    C.init()
    C.init()
    assert isinstance(C.get_comm(), LocalComm)
    assert (C.get_rank(), C.get_group_size(), C.get_process_group_ranks()) == (0, 1, [0])
    assert C.current().threads is None and C.current().library == ""
    assert (os.environ["RANK_ID"], os.environ["RANK_SIZE"], os.environ["DEVICE_ID"]) == (
        "0",
        "1",
        "0",
    )
    C.create_group("mine", [0])
    assert C.get_rank("mine") == 0 and C.get_comm("mine").all_reduce(np.ones(1)) == 1
    C.destroy_group("mine")


@pytest.mark.parametrize(
    ("backend", "error"),
    [(3, TypeError), ("zz", RuntimeError), ("nccl", RuntimeError), ("hccl", RuntimeError)],
)
def test_other_backends(backend, error):
    with pytest.raises(error, match="'backend_name' must be"):
        C.init(backend)


def test_callbacks_come_with_every_init():
    seen = []
    C.on_init(seen.append)
    assert seen == []
    C.init()
    C.release()
    C.init()
    assert len(seen) == 2 and seen[0] is seen[1] is C.current()


def test_sending_to_oneself():
    comm = LocalComm()
    for n in (1.0, 2.0):
        comm.send(np.full(3, n)[::-1], 0, tag=4)
    array = np.zeros(3)
    assert comm.recv(array, 0, tag=4) is array and array.tolist() == [1, 1, 1]
    assert comm.recv(array, 0, tag=4).tolist() == [2, 2, 2]
    with pytest.raises(RuntimeError, match="nothing was sent with tag 4"):
        comm.recv(array, 0, tag=4)
    comm.send(np.zeros(2), 0)
    with pytest.raises(ValueError, match="must have the 16 bytes that were sent"):
        comm.recv(array, 0)


def test_results_do_not_share_memory_with_arguments():
    comm, array = LocalComm(), np.ones((2, 2))
    assert not np.shares_memory(comm.all_gather(array), array)
    assert not np.shares_memory(comm.reduce_scatter(array), array)


def run(code, **environ):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environ})


def test_alone_no_mpi_is_loaded():
    done = run(
        "from dist_ms.communication import init; init()\n"
        "import sys; print('mpi4py' in sys.modules, 'mpi4py.MPI' in sys.modules)"
    )
    assert done.stdout == "False False\n", done.stderr


def test_several_ranks_without_mpi_name_the_remedy():
    done = run(
        "from dist_ms.communication import init; init()",
        OMPI_COMM_WORLD_SIZE="2",
        OMPI_COMM_WORLD_RANK="1",
        MPI4PY_LIBMPI="/nowhere/libmpi.so",
    )
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("RuntimeError: [rank 1 of 2] For 'init', MPI must be installed")
    assert "pip install 'dist_ms[mpi]'" in last


def test_another_mpi_than_the_launcher_s_is_an_error():
    pytest.importorskip("mpi4py")
    done = run(
        "from dist_ms.communication import init; init()",
        PMI_SIZE="3",
        PMI_RANK="2",
        MPI_LOCALNRANKS="3",
    )
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    if "MPI must be installed" in last:
        pytest.skip("there is no MPI here")
    assert last.startswith("RuntimeError: [rank 2 of 3] For 'init', the launcher and the MPI library")
    assert "PMI_SIZE says that 3 ranks were started" in last and "sees 1" in last
