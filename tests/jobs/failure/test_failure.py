"""Whatever happens on one rank ends the whole job in seconds, with a word on why."""

import os
import re
import signal
import subprocess
import time

import pytest

from dist_ms.launch.running.stopping import asked
from tests.jobs.conftest import command, environment, processes

QUICK = 5  # seconds in which a job must end after its ranks have met; most take less than one

HEAD = """
import sys, time
import numpy as np
from dist_ms.communication import init, get_comm
init()
comm = get_comm()
rank, x = comm.rank, np.ones(3)
open("began", "w").close()
"""


def test_an_exception_on_one_rank(run, how):
    done = run(
        HEAD + "def fail():\n    raise ValueError('no such data')\nif rank == 1:\n    fail()\ncomm.all_reduce(x)",
        how=how,
    )
    assert done.code == 1 and done.seconds < QUICK
    assert "[rank 1 of 2] uncaught exception\nTraceback" in done.err
    assert "in fail" in done.err and "ValueError: no such data" in done.err
    assert "rank 0 of 2]" not in done.err
    if how == "dist-ms":
        last = done.err.rstrip().splitlines()[-2:]
        assert last == [
            "ValueError: no such data",
            f"dist-ms: rank 1 of 2 ended with an uncaught ValueError on {os.uname().nodename}, exit code 1; "
            "the job was stopped.",
        ]
        assert "MPI_ABORT" not in done.err


@pytest.mark.parametrize("ranks", [2, 3])
def test_exceptions_on_all_ranks_are_all_shown(run, ranks):
    done = run(HEAD + "comm.barrier()\nraise ValueError(f'bad number {rank}')", ranks=ranks, how="mpirun")
    assert done.code == 1 and done.seconds < QUICK
    # One alone calls MPI_Abort, as mpirun may hang when ranks on several machines do.
    assert "MPI_ABORT was invoked on rank 0 " in done.err and "more process" not in done.err
    for rank in range(ranks):
        text = done.err.split(f"[rank {rank} of {ranks}] uncaught exception")[1]
        assert re.search(r"ValueError: bad number (\d)", text)[1] == str(rank)


@pytest.mark.parametrize(
    ("leave", "code"),
    [
        ("sys.exit(3)", 3),
        ("sys.exit('no data')", 1),
        ("__import__('os')._exit(4)", 4),
        ("raise KeyboardInterrupt", 130),
    ],
)
def test_one_rank_leaves_with_an_error_code(run, how, leave, code):
    done = run(HEAD + f"if rank == 1:\n    {leave}\ncomm.all_reduce(x)", how=how)
    assert done.code == code and done.seconds < QUICK
    if "_exit" not in leave:
        assert "[rank 1 of 2]" in done.err
    if "no data" in leave:
        assert "no data" in done.err


def test_all_ranks_leave_with_an_error_code(run, how):
    done = run(HEAD + "sys.exit(7)", how=how)
    assert done.code == 7 and done.seconds < QUICK


@pytest.mark.parametrize("leave", ["sys.exit(0)", "raise SystemExit(3)"])
def test_a_rank_that_ends_early_is_noticed_by_those_who_wait(run, leave):
    done = run(HEAD + f"if rank == 1:\n    {leave}\ncomm.all_reduce(x)")
    assert done.code != 0 and done.seconds < QUICK
    assert "rank 0 of 2 waits for rank 1, which has ended" in done.err
    assert "script.py:11)" in done.err


def test_a_rank_that_ends_early_waits_for_the_others_without_work(run):
    done = run(
        HEAD + "import atexit, resource\n"
        "if rank == 1:\n"
        "    used = resource.getrusage(resource.RUSAGE_SELF).ru_utime\n"
        "    mpi_ends = lambda: print(resource.getrusage(resource.RUSAGE_SELF).ru_utime - used)\n"
        "    from dist_ms.communication.rendezvous import control\n"
        "    farewell = control.Control.farewell\n"
        "    control.Control.farewell = lambda self, words: (farewell(self, words), mpi_ends())\n"
        "    sys.exit(0)\n"
        "time.sleep(2)\nprint('done')",
    )
    assert done.code == 0, done.err
    spent, word = sorted(done.out.split())
    assert word == "done" and float(spent) < 0.3


@pytest.mark.parametrize("code", [0, 75])
def test_an_end_of_mpi_that_hangs_ends_the_process(run, how, code):
    done = run(
        f"""
        import ctypes, sys
        from dist_ms.communication import init
        from dist_ms.communication.end import failure
        from dist_ms.communication.start import mpi_process

        failure._LIMIT = 0.5
        mpi_process.finalize = lambda: ctypes.PyDLL(None).sleep(60)  # and keeps the interpreter's lock
        init()
        open("began", "w").close()
        sys.exit({code})
        """,
        how=how,
    )
    # mpirun takes a process that has not ended MPI for one that failed.
    assert done.code == (code or 1) and done.seconds < QUICK
    assert "of 2] MPI_Finalize has not returned within 0.5 s; this process ends without it.\n" in done.err


def test_the_end_of_mpi_limits_nothing_after_it(run):
    done = run(
        """
        import atexit, time
        from dist_ms.communication import init
        from dist_ms.communication.end import failure

        failure._LIMIT = 0.5
        atexit.register(lambda: (time.sleep(1.5), print("uploaded")))
        init()
        """
    )
    assert done.code == 0 and done.out.count("uploaded") == 2 and "MPI_Finalize" not in done.err


def test_a_caught_exit_is_no_exit(run):
    done = run(
        HEAD + "try:\n    sys.exit(4)\nexcept SystemExit as error:\n    assert error.code == 4\n"
        "comm.barrier()\nprint('alive')"
    )
    assert (done.code, done.out.split()) == (0, ["alive", "alive"]), done.err


def test_an_exception_in_a_thread(run, how):
    done = run(
        HEAD + "import threading\n"
        "def work():\n    raise OSError('disk full')\n"
        "if rank == 1:\n    threading.Thread(target=work, name='loader').start()\n"
        "    time.sleep(60)\n"
        "comm.barrier()",
        how=how,
    )
    assert done.code == 1 and done.seconds < QUICK
    assert "[rank 1 of 2] uncaught exception in thread loader" in done.err
    assert "OSError: disk full" in done.err


@pytest.mark.parametrize("number", [9, 11])
def test_a_rank_that_is_killed(run, how, number):
    done = run(
        HEAD + f"import os\nif rank == 1:\n    os.kill(os.getpid(), {number})\ncomm.barrier()",
        how=how,
    )
    assert done.code == 128 + number and done.seconds < QUICK
    if how == "dist-ms":
        assert f"dist-ms: rank 1 of 2 was ended by signal {number}" in done.err


@pytest.mark.parametrize("posted", [True, False], ids=["posted", "at the end"])
@pytest.mark.parametrize(
    "where", ["comm.shared_buffer(n, np.float32)", "np.empty(n, np.float32)"], ids=["in place", "staged"]
)
def test_a_rank_that_is_killed_amid_reductions(run, how, where, posted):
    # Three arrays of several chunks: rank 1 dies with one reduced, one under way and one not begun.
    post = "handles = [comm.post_all_reduce(a) for a in arrays[: 2 if rank == 1 else 3]]\n"
    done = run(
        HEAD + f"import os, signal\nn = 3 << 20\narrays = [{where} for _ in range(3)]\n"
        "for a in arrays:\n    a[:] = rank\n"
        + (post + "handles[0].wait()\n" if posted else "comm.all_reduce(arrays[0])\n")
        + "assert (arrays[0] == sum(range(comm.size))).all()\n"
        + "if rank == 1:\n"
        + ("" if posted else "    handles = [comm.post_all_reduce(arrays[1])]\n")
        + "    handles[-1].test()\n    os.kill(os.getpid(), signal.SIGKILL)\n"
        + ("for h in handles:\n    h.wait()\n" if posted else "for a in arrays[1:]:\n    comm.all_reduce(a)\n")
        + "print('over')",
        ranks=3,
        how=how,
    )
    assert done.code == 137 and done.seconds < QUICK
    assert "over" not in done.out
    if how == "dist-ms":
        assert "dist-ms: rank 1 of 3 was ended by signal 9" in done.err


@pytest.mark.parametrize("parallel_optimizer", [False, True])
def test_a_rank_that_is_killed_amid_a_training_step(run, how, parallel_optimizer):
    done = run(
        HEAD + "import os, signal\nimport dist_ms as ms\n"
        "from dist_ms import nn\nfrom dist_ms.parallel.reduction.reducer import Reducer\n"
        "ms.set_auto_parallel_context(parallel_mode='data_parallel', gradients_mean=True,\n"
        f"    enable_parallel_optimizer={parallel_optimizer}, comm_fusion={{'openstate': False}},\n"
        "    parallel_optimizer_config={'parallel_optimizer_threshold': 0})\n"
        "net = nn.SequentialCell(nn.Dense(64, 64), nn.Dense(64, 3))\n"
        "step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Adam(net.trainable_params()))\n"
        "data = ms.Tensor(np.ones((8, 64), np.float32)), ms.Tensor(np.zeros((8, 3), np.float32))\n"
        "step.grad_reducer.start()\nsink = step.grad_reducer.sink()\nsink.overlap = True\n"
        "step(*data)\n"
        "ready = sink.ready\n"
        "def die(index, grad):\n    ready(index, grad)\n"
        "    if rank == 1 and index == 2:\n        os.kill(os.getpid(), signal.SIGKILL)\n"
        "sink.ready = die\n"
        "step(*data)\nprint('over')",
        how=how,
    )
    assert done.code == 137 and done.seconds < 2 * QUICK
    assert "over" not in done.out
    if how == "dist-ms":
        assert "dist-ms: rank 1 of 2 was ended by signal 9" in done.err


def test_a_rank_that_does_not_come_is_named_at_the_deadline(run):
    done = run(
        HEAD + "if rank == 1:\n    time.sleep(60)\ncomm.all_reduce(x)",
        ranks=3,
        options=["--timeout", "1"],
    )
    assert done.code == 1 and done.seconds < 10
    assert "TimeoutError: For 'all_reduce', rank 0 of 3 has waited 1 s" in done.err
    assert "rank 1 is not answering" in done.err
    assert "rank 2 is" not in done.err.split("rank 0 of 3 has waited")[1].split("\n")[0]


def test_ranks_that_wait_for_different_things_are_named_at_the_deadline(run):
    done = run(HEAD + "comm.recv(x, 0) if rank == 1 else comm.all_reduce(x)", DIST_MS_TIMEOUT="1")
    assert done.code == 1 and done.seconds < 10
    assert "rank 1 is in 'recv', call 2 of group 'mccl_world_group', at script.py" in done.err


def test_ranks_in_different_collectives(run, how):
    done = run(HEAD + "comm.barrier() if rank == 1 else comm.all_reduce(x)", how=how)
    assert done.code == 1 and done.seconds < QUICK
    assert "  rank 0: all_reduce(float64[3], sum) at script.py:9" in done.err
    assert "  rank 1: barrier() at script.py:9" in done.err


def test_a_script_that_catches_the_timeout_still_fails(run):
    done = run(
        HEAD + "if rank == 1:\n    time.sleep(4)\n    sys.exit(0)\n"
        "try:\n    comm.barrier()\nexcept TimeoutError:\n    print('late')\n",
        DIST_MS_TIMEOUT="1",
    )
    assert done.code == 1 and done.seconds < 10
    assert "ends with an operation that never completed" in done.err


def test_ranks_with_different_models(run, how):
    done = run(
        HEAD + "from dist_ms.common.parameter import Parameter\n"
        "from dist_ms.parallel import DataParallel\n"
        "w = [Parameter(np.zeros((2, 3 + rank), np.float32), name='fc.weight')]\n"
        "DataParallel(w).sink()",
        how=how,
        ranks=3,
    )
    assert done.code == 1 and done.seconds < QUICK
    assert done.err.count("PlanMismatchError: For 'make_plan'") == 3
    for rank in range(3):
        row = rf"\[rank {rank} of 3\] 'fc.weight' \(shape \(2, {3 + rank}\), float32"
        assert len(re.findall(row, done.err)) == 3


def test_forked_children_do_not_end_the_job(run):
    done = run(
        HEAD + "import os\n"
        "child = os.fork()\n"
        "if child == 0:\n    raise ValueError('in the child')\n"
        "status = os.waitpid(child, 0)[1]\n"
        "comm.barrier()\nprint('status', os.waitstatus_to_exitcode(status))"
    )
    assert done.code == 0, done.err
    assert done.out == "status 1\nstatus 1\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_launcher_ends_all_processes(write, tmp_path, number):
    script = write(HEAD + "print('up', flush=True)\ntime.sleep(60)", f"sleeper_{number}.py")
    with subprocess.Popen(
        command("dist-ms", 2, script),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        cwd=tmp_path,
    ) as process:
        assert [process.stdout.readline() for _ in range(2)] == [b"up\n"] * 2
        start = time.monotonic()
        process.send_signal(number)
        assert process.wait(QUICK) == 128 + number
        assert time.monotonic() - start < QUICK
        said = [] if number == signal.SIGHUP else [asked(number.name, 30)]
        said += [] if number == signal.SIGINT else [f"dist-ms: got {number.name}; the job was stopped."]
        assert process.stderr.read().decode().splitlines() == said
    assert_gone(str(script))


def test_a_killed_launcher_leaves_no_process_behind(write, tmp_path):
    script = write(HEAD + "print('up', flush=True)\ntime.sleep(60)", "sleeper_kill.py")
    with subprocess.Popen(
        command("dist-ms", 2, script), stdout=subprocess.PIPE, env=environment(), cwd=tmp_path
    ) as process:
        process.stdout.readline()
        process.kill()
    assert_gone(str(script))


def assert_gone(text):
    """Wait until no process has the text in its command line."""
    start = time.monotonic()
    while processes(text):
        assert time.monotonic() - start < QUICK, processes(text)
        time.sleep(0.05)
