"""Jobs that are killed at any moment, and go on from their newest state, end with the bits of an unbroken one."""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from dist_ms.train.state.folder import Folder

DIST_MS = Path(sys.executable).with_name("dist-ms")
SCRIPT = """
    import hashlib, os, sys, time
    import numpy as np
    import dist_ms as ms
    import dist_ms.dataset as ds
    from dist_ms import nn
    from dist_ms.communication import get_group_size, get_rank, init
    from dist_ms.dataset import draws

    init()
    rank, size = get_rank(), get_group_size()
    folder, batch = sys.argv[1], int(sys.argv[2]) // size
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    ms.set_seed(2)
    net = nn.SequentialCell(nn.Dense(6, 32), nn.ReLU(), nn.Dropout(p=0.3), nn.Dense(32, 1))
    np.random.seed(7 + rank)
    ds.config.set_seed(3)
    rows = np.random.RandomState(0).rand(96, 6).astype(np.float32)

    class Rows:
        def __len__(self):
            return len(rows)
        def __getitem__(self, i):
            return rows[i], rows[i].sum(keepdims=True), np.int64(i)

    def noisy(x):
        draw = np.random if WORKERS else draws.generator()  # a thread shares NumPy's generator with dropout
        return x + draw.random(x.shape).astype(np.float32) / 10

    data = ds.GeneratorDataset(
        Rows(), ["x", "y", "i"], python_multiprocessing=WORKERS, num_parallel_workers=2, num_shards=size, shard_id=rank
    )
    data = data.map(noisy, "x", python_multiprocessing=WORKERS, num_parallel_workers=2)
    data = data.batch(batch, drop_remainder=True)

    class Loss(nn.Cell):
        def __init__(self, net):
            super().__init__(auto_prefix=False)
            self.net = net
        def construct(self, x, y, i):
            return ((self.net(x) - y) ** 2).mean()

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
    model.train(8, data, callbacks=[Told(), ms.train.RunCheckpoint(folder, every_steps=4, keep=2)], resume=folder)
    if rank == 0:
        print("bits", hashlib.sha256(b"".join(p.asnumpy().tobytes() for p in net.get_parameters())).hexdigest())
"""

SERVED = """
    import hashlib, sys, numpy as np, dist_ms as ms
    from dist_ms import nn
    from dist_ms.communication import init, get_rank, get_group_size
    ms.set_ps_context(enable_ps=True)
    init()
    folder, stop = sys.argv[1], int(sys.argv[2])
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    ms.set_seed(3)
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.table = nn.EmbeddingLookup(50, 4)
            self.table.embedding_table.set_param_ps()
            self.d = nn.Dense(4, 1)
            self.e = nn.Dense(1, 1)
            self.e.weight.set_param_ps()
        def construct(self, i):
            return self.e(self.d(self.table(i)).mean(1))
    net = Net()
    class Stop(ms.train.Callback):
        comes_last = True
        def on_train_step_end(self, c):
            if c.original_args().cur_step_num == stop:
                c.request_stop()
    opt = nn.Adam(net.trainable_params(), 0.05)
    model = ms.train.Model(net, nn.MSELoss(), opt)
    r = np.random.RandomState(get_rank())
    data = [(r.randint(0, 50, (8, 3)).astype(np.int32), r.rand(8, 1).astype(np.float32)) for _ in range(6)]
    model.train(2, data, callbacks=[Stop(), ms.train.RunCheckpoint(folder, every_steps=100)], resume=folder)
    out = net(ms.Tensor(np.arange(48).reshape(16, 3).astype(np.int32))).asnumpy()
    print("bits", hashlib.sha256(out.tobytes()).hexdigest()[:16], flush=True)
"""


@pytest.fixture
def run(tmp_path):
    def run(folder, ranks, batch=12, workers=False, **environment):
        script = tmp_path / "script.py"
        script.write_text(textwrap.dedent(SCRIPT).replace("WORKERS", str(workers)))
        return subprocess.Popen(
            [DIST_MS, "run", "-n", str(ranks), "--threads", "1", script, tmp_path / folder, str(batch)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, **environment},
        )

    return run


def bits(job):
    out, _ = job.communicate(timeout=90)
    assert job.returncode == 0 and "does not train the parameters" not in out, out
    return re.search(r"bits (\w+)", out)[1]


def descendants(pid):
    """All processes below one."""
    found = subprocess.run(["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    lines = [line.split(None, 2) for line in found.splitlines()]
    below, todo = [], [pid]
    while todo:
        parent = todo.pop()
        for child, its, words in lines:
            if int(its) == parent:
                todo.append(int(child))
                below.append((int(child), words))
    return below


def break_off(job, victim, folder, draw):
    """Kill something of a job at a random moment after its first steps."""
    deadline = time.time() + 40
    before = [path.stat().st_size for path in folder.parent.glob(f"{folder.name}.rows*")]
    while [p.stat().st_size for p in folder.parent.glob(f"{folder.name}.rows*")] == before and time.time() < deadline:
        if job.poll() is not None:
            break
        time.sleep(0.005)
    time.sleep(draw.random() * 0.15)
    below = descendants(job.pid)
    scripts = [pid for pid, words in below if "script.py" in words and "mpirun" not in words]
    mpirun = [pid for pid, words in below if "mpirun" in words.split()[0]]
    chosen = {"rank": scripts[:1], "ranks": scripts, "mpirun": mpirun, "launcher": [job.pid]}[victim]
    for pid in chosen:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    job.communicate(timeout=60)


@pytest.mark.parametrize(
    ("ranks", "victim", "workers"),
    [(1, "launcher", False), (2, "rank", True), (2, "mpirun", False), (4, "ranks", False)],
)
def test_kills_change_no_bit(tmp_path, run, ranks, victim, workers):
    wanted = bits(run("whole", ranks, workers=workers))
    draw = random.Random(victim)
    folder = tmp_path / "broken"
    for _ in range(int(os.environ.get("DIST_MS_TEST_KILLS", "2"))):
        break_off(run("broken", ranks, workers=workers), victim, folder, draw)
        time.sleep(0.3)  # the ranks of a killed launcher end by themselves
        states = Folder(str(folder))
        for step in states.steps():
            states.verify(step)
    assert bits(run("broken", ranks, workers=workers)) == wanted
    assert not [name for name in os.listdir(folder) if name.startswith(".")]


def test_other_numbers_of_ranks_with_virtual_shards(tmp_path, run):
    """Broken off on 2 ranks, resumed on 4 and on 1: the bits are those of one rank, and each row comes once."""
    shards = {"DIST_MS_VIRTUAL_SHARDS": "4", "workers": True}
    wanted = bits(run("whole", 1, **shards))
    draw = random.Random(5)
    folder = tmp_path / "broken"
    for ranks in (2, 4):
        break_off(run("broken", ranks, **shards), "ranks", folder, draw)
        time.sleep(0.3)
    assert bits(run("broken", 1, **shards)) == wanted
    rows = {}
    for path in tmp_path.glob("broken.rows*"):
        for line in path.read_text().splitlines():
            epoch, step, *ids = line.split()
            rows.setdefault((int(epoch), int(step)), set()).update(map(int, ids))
    for epoch in range(1, 9):
        steps = [ids for (e, _), ids in rows.items() if e == epoch]
        assert len(steps) == 8 and all(len(ids) == 12 for ids in steps)
        assert set().union(*steps) == set(range(96))


def test_what_servers_hold_comes_back(tmp_path, write):
    """Stopped after step 4 with one server, resumed with two and with none: the bits of a run that never stopped."""
    script = write(textwrap.dedent(SERVED))

    def train(folder, stop, servers):
        words = ["--servers", str(servers)] if servers else []
        job = subprocess.Popen(
            [DIST_MS, "run", "-n", "2", *words, "--threads", "1", script, tmp_path / folder, str(stop)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return bits(job)

    wanted = train("whole", 0, 1)
    assert train("first", 4, 1) != wanted
    shutil.copytree(tmp_path / "first", tmp_path / "second")
    assert train("first", 0, 2) == train("second", 0, 0) == wanted
