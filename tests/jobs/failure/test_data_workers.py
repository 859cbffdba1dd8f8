"""Jobs with worker processes: killed at any moment they leave nothing, and go on with the rows that are left."""

import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

DIST_MS = Path(sys.executable).with_name("dist-ms")
SCRIPT = """
    import json, os, sys
    import numpy as np
    import dist_ms as ms
    import dist_ms.dataset as ds
    from dist_ms.communication import get_group_size, get_rank, init

    class Rows:
        def __len__(self):
            return 96
        def __getitem__(self, i):
            return np.int64(i), np.random.rand(1000)

    def work(i):
        return i, os.getpid()

    init()
    rank, size = get_rank(), get_group_size()
    folder, state_file = sys.argv[1], sys.argv[1] + f"/state{rank}.json"
    data = ds.GeneratorDataset(Rows(), ["i", "x"], num_parallel_workers=2, num_shards=size, shard_id=rank)
    data = data.map(work, "i", ["i", "p"], python_multiprocessing=True, num_parallel_workers=2).batch(2)
    if os.path.exists(state_file):
        data.load_state_dict(json.load(open(state_file)))
    log = open(f"{folder}/rows{rank}.txt", "a")
    for numbers, pids, x in data.create_tuple_iterator(num_epochs=1, output_numpy=True):
        # The rows and the place behind them become true together.
        with open(state_file + ".new", "w") as file:
            json.dump(data.state_dict(), file)
        print(" ".join(str(n) for n in numbers), "|", " ".join(str(p) for p in pids), file=log, flush=True)
        os.rename(state_file + ".new", state_file)
    print("done", rank, flush=True)
"""


def pids_of(folder):
    lines = [line for path in folder.glob("rows*.txt") for line in path.read_text().splitlines()]
    return {int(pid) for line in lines if "|" in line for pid in line.split("|")[1].split()}


def is_running(pid):
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False


@pytest.mark.parametrize("victim", ["rank", "launcher", "worker"])
def test_kills_at_any_moment(tmp_path, victim):
    """Each run is killed at a random moment and started again, until one ends by itself."""
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))
    before = set(os.listdir("/dev/shm"))
    draw = random.Random(victim)
    for _ in range(3):
        with subprocess.Popen(
            [DIST_MS, "run", "-n", "2", script, tmp_path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as run:
            deadline = time.time() + 30
            seen = pids_of(tmp_path)
            while not pids_of(tmp_path) - seen and run.poll() is None and time.time() < deadline:
                time.sleep(0.005)
            time.sleep(draw.random() * 0.02)
            if victim == "launcher":
                run.send_signal(signal.SIGTERM)
            else:
                workers = [pid for pid in pids_of(tmp_path) - seen if is_running(pid)]
                if workers:
                    worker = draw.choice(workers)
                    target = worker if victim == "worker" else int(Path(f"/proc/{worker}/stat").read_text().split()[3])
                    os.kill(target, signal.SIGKILL)
            run.communicate(timeout=60)
    done = subprocess.run(
        [DIST_MS, "run", "-n", "2", script, tmp_path], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    deadline = time.time() + 10
    while any(map(is_running, pids_of(tmp_path))) and time.time() < deadline:
        time.sleep(0.05)
    assert not [pid for pid in pids_of(tmp_path) if is_running(pid)]
    left = {name for name in os.listdir("/dev/shm") if not name.startswith("sm_segment")} - before  # Open MPI's own
    while left & set(os.listdir("/dev/shm")) and time.time() < deadline:  # a job beside this test takes its own away
        time.sleep(0.05)
    assert not left & set(os.listdir("/dev/shm"))
    for rank in range(2):
        text = (tmp_path / f"rows{rank}.txt").read_text()
        batches = [line.split("|")[0].split() for line in text.splitlines()]
        # Only a batch that was written, and whose place was not yet, may stand twice.
        rows = [n for i, batch in enumerate(batches) if i + 1 == len(batches) or batches[i + 1] != batch for n in batch]
        assert len(rows) == 48 and len(set(rows)) == 48
        state = json.loads((tmp_path / f"state{rank}.json").read_text())
        assert state["given"] <= 24
    every = [
        n for rank in range(2) for line in (tmp_path / f"rows{rank}.txt").read_text().splitlines()
        for n in line.split("|")[0].split()
    ]  # fmt: skip
    assert set(map(int, every)) == set(range(96))
