"""`dist-ms run --trace`: the files of the ranks, the merged trace, and what the report says bounds the run."""

import json
import re
import subprocess
import sys

import pytest

from tests.jobs.conftest import DIST_MS, environment

TRAIN = """
import sys, time
import numpy as np
import dist_ms as ms
from dist_ms import nn, train
from dist_ms.communication import get_rank, init
init()
ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
slow = sys.argv[1]

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        wide = 12000 if slow == "network" else 32
        self.a, self.b = nn.Dense(16, wide, activation="relu"), nn.Dense(wide, 2)
    def construct(self, x):
        if slow == "rank" and get_rank() == 1:
            time.sleep(0.03)
        return self.b(self.a(x))

class Rows:
    def __iter__(self):
        for step in range(20):
            if slow == "data":
                time.sleep(0.03)
            if slow == "error" and get_rank() == 1 and step > 9:
                raise ValueError("a broken row")
            yield ms.Tensor(np.ones((8, 16), np.float32)), ms.Tensor(np.zeros((8, 2), np.float32))

net = Net()
train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.01)).train(1, Rows())
"""


def traced(run, folder, slow, code=0):
    done = run(TRAIN, slow, "unused", options=["--trace", str(folder)])
    assert done.code == code, done.err
    return done.err.splitlines()[-1]


def test_a_slow_rank_is_named_and_the_trace_opens(run, tmp_path):
    folder = tmp_path / "traces"
    line = traced(run, folder, "rank")
    assert "A slow rank bounds this run: rank 1 on " in line and "above all in the forward" in line
    trace = json.loads((folder / "trace.json").read_text())
    events = trace["traceEvents"]
    names = [e["args"]["name"] for e in events if e["name"] == "process_name"]
    assert [name.partition(" on ")[0] for name in names] == ["rank 0", "rank 1"]
    lanes = {(e["pid"], e["args"]["name"]) for e in events if e["name"] == "thread_name"}
    assert {(r, lane) for r in (0, 1) for lane in ("data", "forward", "communication")} <= lanes
    spans = [e for e in events if e["ph"] == "X"]
    assert min(e["ts"] for e in spans) >= 0 and all(e["dur"] >= 0 for e in spans)
    for rank in (0, 1):
        assert sum(e["pid"] == rank and e["cat"] == "steps" for e in spans) == 20
        assert sum(e["pid"] == rank and e["cat"] == "forward" for e in spans) == 20
    slow = [e["dur"] for e in spans if e["pid"] == 1 and e["cat"] == "forward"]
    assert min(slow) >= 30_000  # us
    page = (folder / "report.html").read_text()
    assert "A slow rank bounds this run" in page and "prefers-color-scheme:dark" in page and "Dense" in page
    (row,) = re.findall(r"<tr><td>Dense</td><td>8,16 · 32,16 · 32</td>(.*?)</tr>", page)  # twice 2 * 8 * 32 * 16
    times, took, _, speed, moved, share = re.findall(r"<td>([^<]+)</td>", row)
    assert times == "2" and float(speed) == pytest.approx(2 * 8192 / (float(took) * 1e6), rel=0.2)
    assert float(moved) > 0 and 0 <= int(share.removesuffix(" %")) <= 100
    assert "GFLOP/s in products of float32" in page
    assert page.count("  all_reduce  ") == 4  # the plan's rows: two weights, two biases
    assert "http" not in page and "<script" not in page and "is in no phase" in page
    words = [sys.executable, "-m", "dist_ms.launch", "report", str(folder)]
    again = subprocess.run(words, capture_output=True, text=True, timeout=30, check=True).stdout
    assert again.splitlines()[0] in line


def test_slow_data_is_named(run, tmp_path):
    assert "Data bounds this run: ranks wait" in traced(run, tmp_path / "traces", "data")


def test_a_slow_network_is_named(hosts, write, tmp_path):
    folder, given = tmp_path / "traces", hosts.mpi_options((1, 1, 1))
    at = given.index("--host")
    words = [*hosts.on_first(), *DIST_MS, "--hosts", given[at + 1], "--trace", str(folder)]
    words += ["--mpi-args", " ".join(given[:at] + given[at + 2 :]), str(write(TRAIN)), "network"]
    with hosts.slowed(2, "16mbit"):
        done = subprocess.run(words, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    line = done.stderr.splitlines()[-1]
    assert "Communication bounds this run: moving data between ranks takes" in line
    slow, others = map(
        float, re.findall(r"node2 is slow: it carries (\S+) MB/s, where the others carry (\S+):", line)[0]
    )
    assert slow < 10 and others > 2 * slow
    page = (folder / "report.html").read_text()
    assert "<tr><td>node1</td><td>node2</td><td>" in page and "<tr><td>node3</td><td>node1</td><td>" in page


def test_a_rank_that_fails_leaves_its_trace(run, tmp_path):
    traced(run, tmp_path / "traces", "error", code=1)
    assert (tmp_path / "traces" / "rank_1.json.gz").exists()


@pytest.mark.parametrize("make", [False, True])
def test_a_folder_without_traces_is_refused(tmp_path, make):
    folder = tmp_path / "empty"
    if make:
        folder.mkdir()
        (folder / "rank_0.json.gz").write_bytes(b"no gzip")
    words = [sys.executable, "-m", "dist_ms.launch", "report", str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 2 and done.stderr.startswith("dist-ms report: ") and " must be " in done.stderr
