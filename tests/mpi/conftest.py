"""Every MPI test ends at a meeting point, so that a failure on one rank never becomes a hang."""

import os
import shutil
import sys
import tempfile
import time

import pytest

# Ranks left waiting by a failed one give up before the meeting point does.
os.environ.setdefault("DIST_MS_TIMEOUT", "25")
MEETING_SECONDS = 30

_reports = {}
_folder = pytest.StashKey[str]()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    """Give each rank a folder of its own: pytest's numbered ones are cleaned by all ranks at once.

    One that is deleted under pytest's hands leaves a directory iterator open, and warnings are errors.
    """
    if config.option.basetemp is None:
        config.stash[_folder] = config.option.basetemp = tempfile.mkdtemp(prefix="dist_ms_rank_")


def pytest_unconfigure(config):
    """Remove it."""
    if _folder in config.stash:
        shutil.rmtree(config.stash[_folder], ignore_errors=True)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if report.failed:
        _reports[item.nodeid] = report.longreprtext


@pytest.fixture(scope="session")
def world():
    """The world, joined."""
    from dist_ms.communication import current, init

    init()
    return current()


@pytest.fixture
def data_parallel(world):
    """The communicator of all ranks, which train together in the mean of their gradients."""
    import dist_ms as ms

    ms.reset_auto_parallel_context()
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    yield world.comm
    ms.reset_auto_parallel_context()


@pytest.fixture(scope="session")
def meeting(world):
    """An MPI communicator for the meeting point alone."""
    if world.comm.size == 1:
        return None
    from mpi4py import MPI

    return MPI.COMM_WORLD.Dup()


@pytest.fixture(autouse=True)
def meet(request, meeting):
    """After the test wait for all ranks; end the job if some do not come."""
    yield
    if meeting is None:
        return
    barrier, start = meeting.Ibarrier(), time.monotonic()
    while not barrier.Test():
        if time.monotonic() - start > MEETING_SECONDS:
            test = request.node.nodeid
            capture = request.config.pluginmanager.getplugin("capturemanager")
            with capture.global_and_fixture_disabled():
                sys.stderr.write(
                    f"\n[rank {meeting.rank} of {meeting.size}] after {test} the other ranks did "
                    f"not come in {MEETING_SECONDS} s\n{_reports.get(test, '')}\n"
                )
                sys.stderr.flush()
            meeting.Abort(1)
        time.sleep(0.001)


@pytest.fixture(scope="session")
def comms(world):
    """One communicator of each kind."""
    from dist_ms.communication import LocalComm

    comm = world.comm
    # As if two ranks at a time were on a machine; the last may be there alone.
    machines = comm.subgroup(list(range(comm.size)), "machines")
    if comm.size > 1:
        machines.share([rank // 2 for rank in range(comm.size)])
    return {
        "local": LocalComm(),
        "alone": comm.subgroup([comm.rank], f"alone{comm.rank}"),
        "world": comm,
        "reversed": comm.subgroup(list(reversed(range(comm.size))), "reversed"),
        "machines": machines,
    }


@pytest.fixture(params=["local", "alone", "world", "reversed", "machines"])
def comm(request, comms):
    """Each kind of communicator in turn."""
    return comms[request.param]
