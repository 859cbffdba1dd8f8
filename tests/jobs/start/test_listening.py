"""Where a job's processes listen: on one machine nowhere but on the loopback interface."""

import os
import socket
import subprocess
from pathlib import Path

import pytest

from tests.jobs.conftest import command, environment, wait_for

LISTENING = "0A"
LOOPBACK = {"127.0.0.1", "::1"}
TRAIN = """
import os, pathlib, time
import numpy as np
import dist_ms as ms
from dist_ms import nn
from dist_ms.communication import get_rank, init
init()
ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
net = nn.Dense(4, 2)
step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1))
pathlib.Path(f"preload{get_rank()}").write_text(os.environ.get("LD_PRELOAD", "none"))
step(ms.Tensor(np.ones((3, 4), np.float32)), ms.Tensor(np.ones((3, 2), np.float32)))
pathlib.Path(f"ready{get_rank()}").touch()
while not pathlib.Path("seen").exists():
    time.sleep(0.05)
"""


def family(first):
    """A process and all that descend from it."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = {first}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def sockets(process):
    """The inodes of a process's sockets."""
    found = set()
    for fd in Path(f"/proc/{process}/fd").iterdir():
        try:
            target = os.readlink(fd)
        except OSError:
            continue
        if target.startswith("socket:["):
            found.add(target[8:-1])
    return found


def address(text):
    """The address that a line of /proc/net/tcp or tcp6 writes in hexadecimal words."""
    words = bytes.fromhex(text)
    raw = b"".join(words[i : i + 4][::-1] for i in range(0, len(words), 4))
    return socket.inet_ntop(socket.AF_INET if len(raw) == 4 else socket.AF_INET6, raw)


def listening(processes):
    """The addresses at which some processes wait for connections."""
    mine = set().union(*(sockets(p) for p in processes))
    found = []
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        if Path(table).exists():
            for line in Path(table).read_text().splitlines()[1:]:
                words = line.split()
                if words[3] == LISTENING and words[9] in mine:
                    found.append(address(words[1].partition(":")[0]))
    return found


def test_addresses_are_read():
    with socket.create_server(("127.0.0.1", 0)), socket.create_server(("0.0.0.0", 0)):
        assert {"127.0.0.1", "0.0.0.0"} <= set(listening([os.getpid()]))
    assert address("00000000000000000000000001000000") == "::1"


@pytest.mark.parametrize("preload", ["", "libm.so.6"])
def test_a_job_on_one_machine_listens_on_loopback_alone(write, tmp_path, preload):
    words = command("dist-ms", 3, write(TRAIN))
    changes = {"LD_PRELOAD": preload} if preload else {}
    process = subprocess.Popen(words, cwd=tmp_path, env=environment(DIST_MS_TIMEOUT="30", **changes))
    try:
        wait_for(process, *(tmp_path / f"ready{rank}" for rank in range(3)))
        members = family(process.pid)
        found = listening(members)
    finally:
        (tmp_path / "seen").touch()
        code = process.wait(30)
    assert code == 0 and len(members) >= 5  # the launcher, mpirun and three ranks
    assert set(found) <= LOOPBACK, found
    assert {(tmp_path / f"preload{rank}").read_text() for rank in range(3)} == {preload or "none"}
