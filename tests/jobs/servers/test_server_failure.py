"""Whatever dies in a job with servers, the job ends in seconds, and someone says who it was and what it held."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.jobs.conftest import command, environment, processes, wait_for

QUICK = 10  # seconds
MODEL = Path(__file__).with_name("served_model.py").read_text()

# Long training; the process that is to die writes its number when the time has come.
TRAINING = """
import os, sys, time
import numpy as np
import dist_ms as ms
from dist_ms import nn, Tensor
from dist_ms.communication import init, get_rank
from dist_ms.parallel.servers import loop as server_loop
victim, moment = sys.argv[1:3]
def now():
    with open("victim.part", "w") as f:
        f.write(str(os.getpid()))
    os.rename("victim.part", "victim")
    time.sleep(60)
class Dying(server_loop.Server):
    count = 0
    def __init__(self, world):
        super().__init__(world)
        if self.number == 1 and victim == "server":
            kind = {"pull": server_loop.Kind.PULL, "push": server_loop.Kind.PUSH}.get(moment)
            before = self._actions.get(kind)
            def act(message):
                self.count += 1
                if self.count > 5:
                    now()
                return before(message)
            if kind:
                self._actions[kind] = act
    def _look_around(self, idle):
        super()._look_around(idle)
        if self.number == 1 and victim == "server" and moment == "idle" and self.units and idle > 0.5:
            now()
server_loop.Server = Dying
ms.set_ps_context(enable_ps=True)
init()
layer = nn.EmbeddingLookup(1000, 4)
layer.embedding_table.set_param_ps(init_in_server=True)
step = nn.TrainOneStepCell(layer, nn.SGD(layer.trainable_params(), 0.1))
for i in range(100000):
    step(Tensor(np.arange(50)))
    if moment == "idle" and i == 3:
        time.sleep(60)
    if victim == "worker" and get_rank() == 1 and i == 5:
        now()
"""


@pytest.mark.parametrize(
    ("victim", "moment"), [("server", "pull"), ("server", "push"), ("server", "idle"), ("worker", "step")]
)
def test_a_killed_process_is_named(write, tmp_path, how, victim, moment):
    options = ("--servers", "2")
    ranks, env = 2, environment(OMP_NUM_THREADS="1")
    if how == "mpirun":
        ranks, options, env["MS_SERVER_NUM"] = 4, (), "2"
    job = subprocess.Popen(
        command(how, ranks, write(TRAINING), victim, moment, options=options),
        stderr=subprocess.PIPE, text=True, env=env, cwd=tmp_path,
    )  # fmt: skip
    try:
        wait_for(job, tmp_path / "victim")
        os.kill(int((tmp_path / "victim").read_text()), signal.SIGKILL)
        killed = time.monotonic()
        _, errors = job.communicate(timeout=30)
        assert time.monotonic() - killed < QUICK
    finally:
        job.kill()
    assert job.returncode != 0
    if victim == "server":
        assert "server 1 of 2 (rank 3) was killed; it held 500 of the 1000 rows of 'embedding_table'" in errors, errors
    else:
        assert "worker 1 of 2 (rank 1) was killed" in errors, errors
    if how == "dist-ms":
        role = "server 1 of 2" if victim == "server" else "worker 1 of 2"
        assert f"({role}) was ended by signal 9" in errors
    time.sleep(0.5)
    assert not processes(str(tmp_path / "script.py"))


def test_servers_end_when_a_worker_raises(run):
    code = MODEL.replace("    if rank == 0:", "    raise ValueError('no more')\n    if rank == 0:")
    done = run(code, "SGD", "o.npz", "steps=2", options=("--servers", "2"))
    assert done.code == 1 and "ValueError: no more" in done.err and "was killed" not in done.err


def test_a_worker_that_stops_early_is_named(run):
    code = MODEL.replace(
        "in itertools.islice(batches(steps), first, None):",
        "in itertools.islice(batches(steps - 2 * rank), first, None):",
    )
    done = run(code, "SGD", "o.npz", "mode=''", "served=('emb','fc1','fc2')", options=("--servers", "1"))
    assert done.code == 1
    assert "needs every worker's gradients, but worker 1 has ended after 18" in done.err


def test_a_server_that_does_not_answer_is_named(run):
    code = MODEL.replace(
        "    ms.set_ps_context",
        "    from dist_ms.parallel.servers import loop as server_loop\n    import time\n"
        "    server_loop.Server._pull = lambda self, message: time.sleep(20)\n    ms.set_ps_context",
    )
    done = run(code, "SGD", "o.npz", options=("--servers", "1"), DIST_MS_TIMEOUT="2")
    assert done.code == 1
    assert "has waited 2 s (DIST_MS_TIMEOUT) for server 0 of 1 (rank 2), which holds" in done.err


def test_idle_servers_use_no_cpu(run):
    code = MODEL.replace(
        "    if rank == 0:",
        "    import pathlib, time\n    from dist_ms.communication import current\n"
        "    def used():\n"
        "        words = [pathlib.Path(f'/proc/{p}/stat').read_text().rsplit(')', 1)[1].split()\n"
        "                 for p in current().processes[2:]]\n"
        "        return sum(int(w[11]) + int(w[12]) for w in words)\n"
        "    time.sleep(3)\n    before = used()\n    time.sleep(5)\n"
        "    if rank == 0:\n        print('ticks', used() - before)",
    )
    done = run(code, "SGD", "o.npz", options=("--servers", "2"))
    assert done.code == 0, done.err
    assert int(done.out.split("ticks")[1].split()[0]) <= 15  # hundredths of a second of two servers in 5 seconds


@pytest.mark.parametrize("mode", ["''", "'data_parallel'"])
def test_a_worker_that_is_stopped_is_named_and_not_the_server(run, mode):
    code = MODEL.replace(
        "        loss = step(",
        "        if rank == 1 and batch is not None and optimizer.global_step.asnumpy()[0] == 4:\n"
        "            import os, signal\n            os.kill(os.getpid(), signal.SIGSTOP)\n        loss = step(",
    )
    served = ("emb", "fc1", "fc2")  # all: in the first mode the workers meet on the servers alone
    done = run(
        code, "SGD", "o.npz", f"mode={mode}", f"served={served}", options=("--servers", "1"), DIST_MS_TIMEOUT="2"
    )
    host = os.uname().nodename
    assert done.code == 1
    if mode == "''":
        assert (
            "has waited 2 s (DIST_MS_TIMEOUT) for server 0 of 1 (rank 2), which waits for worker 1 of 2 (rank 1)"
            in (done.err)
        )
    assert f"is not answering: it is stopped (SIGSTOP) (on {host})" in done.err
    assert done.err.rstrip().splitlines()[-1] == (
        f"dist-ms: rank 1 of 3 (worker 1 of 2) did not answer the others: it is stopped (SIGSTOP) on {host}, "
        "exit code 1; the job was stopped."
    )


def test_a_server_that_is_stopped_is_named(run):
    code = MODEL.replace(
        "    ms.set_ps_context",
        "    from dist_ms.parallel.servers import loop as server_loop\n    import os, signal\n"
        "    server_loop.Server._push = lambda self, message: os.kill(os.getpid(), signal.SIGSTOP)\n"
        "    ms.set_ps_context",
    )
    done = run(
        code, "SGD", "o.npz", "mode=''", "served=('emb','fc1','fc2')", options=("--servers", "1"), DIST_MS_TIMEOUT="2"
    )
    assert done.code == 1
    assert "for server 0 of 1 (rank 2), which holds" in done.err
    assert (
        "rank 2 of 3 (server 0 of 1) did not answer the others: it is stopped (SIGSTOP) on"
        in (done.err.rstrip().splitlines()[-1])
    )
