"""A job that is killed at random moments, in a place of its own where what is left of it can be seen."""

import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

from dist_ms.train.state.folder import Folder
from tests.jobs.conftest import environment

DIST_MS = Path(sys.executable).with_name("dist-ms")
ROWS, BATCH, EPOCHS = 96, 12, 16
# The arguments: the folder of states, whether the data has worker processes, whether servers hold weights.
SCRIPT = """
    import hashlib, sys, time
    import numpy as np
    import dist_ms as ms
    import dist_ms.dataset as ds
    from dist_ms import nn
    from dist_ms.communication import get_group_size, get_rank, init
    from dist_ms.dataset import draws

    folder, workers, served = sys.argv[1], sys.argv[2] == "workers", sys.argv[3] == "servers"
    if served:
        ms.set_ps_context(enable_ps=True)
    init()
    rank, size = get_rank(), get_group_size()
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    ms.set_seed(2)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.table = nn.EmbeddingLookup(96, 6)
            self.layers = nn.SequentialCell(nn.Dense(6, 32), nn.ReLU(), nn.Dropout(p=0.3), nn.Dense(32, 1))
            if served:
                self.table.embedding_table.set_param_ps()
                self.layers[0].weight.set_param_ps()
        def construct(self, x, i):
            return self.layers(x + self.table(i))

    net = Net()
    np.random.seed(7 + rank)
    ds.config.set_seed(3)
    rows = np.random.RandomState(0).rand(96, 6).astype(np.float32)

    class Rows:
        def __len__(self):
            return len(rows)
        def __getitem__(self, i):
            return rows[i], rows[i].sum(keepdims=True), np.int32(i)

    def noisy(x):
        draw = np.random if workers else draws.generator()  # a thread shares NumPy's generator with dropout
        return x + draw.random(x.shape).astype(np.float32) / 10

    data = ds.GeneratorDataset(
        Rows(), ["x", "y", "i"], python_multiprocessing=workers, num_parallel_workers=2, shuffle=True,
        num_shards=size, shard_id=rank,
    )
    data = data.map(noisy, "x", python_multiprocessing=workers, num_parallel_workers=2)
    data = data.batch(BATCH // size, drop_remainder=True)

    class Loss(nn.Cell):
        def __init__(self, net):
            super().__init__(auto_prefix=False)
            self.net = net
        def construct(self, x, y, i):
            return ((self.net(x, i) - y) ** 2).mean()

    class Told(ms.train.Callback):
        def __init__(self):
            self.lines = open(f"{folder}.rows{rank}", "a")
        def on_train_step_end(self, run_context):
            run = run_context.original_args()
            ids = " ".join(str(i) for i in run.train_dataset_element[2].asnumpy())
            print(run.cur_epoch_num, run.cur_step_num, ids, file=self.lines, flush=True)
            time.sleep(0.003)

    scale = ms.amp.DynamicLossScaleManager(2.0**8, 2, 5)
    model = ms.train.Model(
        Loss(net), None, nn.Adam(net.trainable_params(), nn.ExponentialDecayLR(0.05, 0.9, 9)), loss_scale_manager=scale
    )
    model.train(EPOCHS, data, callbacks=[Told(), ms.train.RunCheckpoint(folder, every_steps=4, keep=2)], resume=folder)
    found = b"".join(p.asnumpy().tobytes() for p in net.get_parameters())
    if rank == 0:
        print("bits", hashlib.sha256(found).hexdigest())
"""
# In its mount namespace the job has a folder of its own for shared memory.
_OWN_SHM = 'mount --bind "$1" /dev/shm && shift && exec "$@"'


def descendants(pid):
    """All processes below one, with their command lines."""
    found = subprocess.run(["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    lines = [line.split(None, 2) for line in found.splitlines()]
    below, todo = [], [pid]
    while todo:
        parent = todo.pop()
        for child, its, *words in lines:
            if int(its) == parent:
                todo.append(int(child))
                below.append((int(child), words[0] if words else ""))
    return below


class Place:
    """Where jobs run that are killed: their states, temporary files, shared memory, and a mark on their processes.

    Args:
        folder: for states and scripts.
        draw: the random numbers that decide who is killed when.
    """

    def __init__(self, folder: Path, draw: random.Random) -> None:
        self.folder, self._draw = folder, draw
        code = textwrap.dedent(SCRIPT).replace("BATCH", str(BATCH)).replace("EPOCHS", str(EPOCHS))
        self._script = folder / "script.py"
        self._script.write_text(code)
        self._temporary = Path(tempfile.mkdtemp(prefix="dmk", dir="/tmp"))  # short: sockets' names are limited
        self._shm = Path(tempfile.mkdtemp(prefix="dmk", dir="/dev/shm"))
        words = ["unshare", "--mount", "--propagation", "private", "true"]
        apart = shutil.which("unshare") and subprocess.run(words, capture_output=True, check=False).returncode == 0
        self._apart = [*words[:-1], "sh", "-c", _OWN_SHM, "_", str(self._shm)] if apart else []
        self._mark = f"DIST_MS_KILLED_JOB={self._temporary.name}"

    def close(self) -> None:
        """Remove it."""
        for folder in (self._temporary, self._shm):
            shutil.rmtree(folder, ignore_errors=True)

    def start(self, states: str, ranks: int, workers: bool = False, servers: int = 0, **changes: str):
        """Start a job that goes on from its newest state."""
        name, value = self._mark.split("=")
        words = [DIST_MS, "run", "-n", str(ranks), *(["--servers", str(servers)] if servers else []), "--threads", "1"]
        words += [self._script, self.folder / states]
        words += ["workers" if workers else "threads", "servers" if servers else "alone"]
        return subprocess.Popen(
            [*self._apart, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment(**{name: value, "TMPDIR": str(self._temporary), **changes}),
        )

    def bits(self, job) -> str:
        """Let a job end, and return the bits of its weights."""
        out, _ = job.communicate(timeout=300)
        assert job.returncode == 0 and "does not train the parameters" not in out, out
        self.check_nothing_left()
        return re.search(r"bits (\w+)", out)[1]

    def kill(self, job, states: str, victim: str, moment: str) -> bool:
        """Kill something of a job at a moment; return whether it was still running then.

        Args:
            job: as `start` returned it.
            states: its folder.
            victim: "rank", "ranks", "mpirun" or "launcher".
            moment: "starting", "training" or "saving".
        """
        self._wait(job, self.folder / states, moment)
        below = [pair for pair in descendants(job.pid) if "ps -eo" not in pair[1]]
        scripts = [pid for pid, words in below if re.match(rf"\S*python\S* {re.escape(str(self._script))}", words)]
        scripts = scripts or ([job.pid] if job.poll() is None else [])  # a rank alone is the launcher's own process
        mpirun = [pid for pid, words in below if re.match(r"\S*(mpirun|prterun)", words)]
        one = [self._draw.choice(scripts)] if scripts else []
        chosen = {"rank": one, "ranks": scripts, "mpirun": mpirun or [job.pid], "launcher": [job.pid]}[victim]
        running = job.poll() is None
        for pid in chosen:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        try:
            out, _ = job.communicate(timeout=60)
        except subprocess.TimeoutExpired as error:
            raise AssertionError(f"{victim} killed ({moment}): after 60 s there are {self._left()}") from error
        self.check_nothing_left()
        return running and job.returncode != 0 and "bits" not in out

    def _wait(self, job, folder: Path, moment: str) -> None:
        """Wait for a moment, or for the job's end."""
        until = time.monotonic() + 60
        if moment == "starting":
            until = time.monotonic() + self._draw.random() * 2.5
        before = self._told(folder)
        while (
            job.poll() is None and time.monotonic() < until and (moment == "starting" or self._told(folder) == before)
        ):
            time.sleep(0.005)
        if moment == "starting":
            return
        time.sleep(self._draw.random() * 0.25)
        until = time.monotonic() + 5
        while moment == "saving" and job.poll() is None and time.monotonic() < until:
            if any(folder.glob(".step-*.partial")):
                time.sleep(
                    self._draw.random() * 0.01
                )  # anywhere from the first file to the rename, and what follows it
                return
            time.sleep(0.0005)

    def _told(self, folder: Path) -> list[int]:
        return [path.stat().st_size for path in folder.parent.glob(f"{folder.name}.rows*")]

    def check_nothing_left(self) -> None:
        """See that within some seconds no process, no shared memory and no temporary file of the jobs is left."""
        until = time.monotonic() + 20
        while found := self._left():
            assert time.monotonic() < until, found
            time.sleep(0.05)

    def _left(self) -> list[str]:
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if self._mark.encode() in (path / "environ").read_bytes().split(b"\0"):
                    found.append((path / "cmdline").read_text().replace("\0", " "))
        return found + [str(path) for folder in (self._temporary, self._shm) for path in folder.rglob("*")]

    def verify(self, states: str) -> list[int]:
        """Verify all states of a job, and return their steps."""
        folder = Folder(str(self.folder / states))
        steps = folder.steps()
        for step in steps:
            folder.verify(step)
        return steps

    def check_rows(self, states: str) -> None:
        """See that each row came once in each epoch; steps that were made again had the same rows."""
        rows: dict[tuple[int, int], set[int]] = {}
        for path in self.folder.glob(f"{states}.rows*"):
            for line in path.read_text().splitlines():
                epoch, step, *ids = map(int, line.split())
                rows.setdefault((epoch, step), set()).update(ids)
        for epoch in range(1, EPOCHS + 1):
            steps = [ids for (found, _), ids in rows.items() if found == epoch]
            assert len(steps) == ROWS // BATCH and all(len(ids) == BATCH for ids in steps), (states, epoch)
            assert set().union(*steps) == set(range(ROWS))
