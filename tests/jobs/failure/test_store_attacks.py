"""A process outside of the job sends the job's TCPStore what no store sends: training goes on to its end."""

import contextlib
import socket
import struct
import subprocess

import numpy as np
import pytest

from dist_ms.communication.store.master import GREETING, NONCE_BYTES, PROOF_BYTES, exactly
from dist_ms.communication.store.proof import proof
from tests.jobs.conftest import command, environment, wait_for

REQUESTS = 1000
TRAIN = """
import os, pathlib, time
import numpy as np
import dist_ms as ms
from dist_ms import nn
from dist_ms.communication import get_comm, get_rank, init
from dist_ms.mint.distributed import TCPStore
init()
comm, rank = get_comm(), get_rank()
store = TCPStore("localhost", 0, is_master=True) if rank == 0 else None
port = comm.gather_objects(store.port if store else None)[0]
store = store or TCPStore("localhost", port)
ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
net = nn.Dense(4, 2)
step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.01))
steps = 0
over = pathlib.Path("over")
while True:
    step(ms.Tensor(np.ones((3, 4), np.float32)), ms.Tensor(np.ones((3, 2), np.float32)))
    store.add("steps", 1)
    steps += 1
    if rank == 0 and steps == 3:
        pathlib.Path("aside").write_text(str(port))
        os.rename("aside", "port")
    if any(comm.gather_objects(over.exists())):
        break
    time.sleep(0.005)
store.set(f"last{rank}", "done")
assert store.get(f"last{1 - rank}") == b"done"
comm.barrier()
assert store.get("steps") == str(2 * steps).encode()
print("trained", steps, flush=True)
"""


def attack(port, token, random):
    """One connection's worth of bytes; with the token they come after a right proof."""
    with socket.create_connection(("127.0.0.1", port), 10) as connection, contextlib.suppress(OSError):
        if token is not None:
            theirs = exactly(connection, len(GREETING) + NONCE_BYTES)[len(GREETING) :]
            mine = bytes(NONCE_BYTES)
            connection.sendall(mine + proof(token, b"member", theirs, mine))
            assert exactly(connection, 1 + PROOF_BYTES)[:1] == b"+"
        kind = random.integers(4)
        if kind == 0:  # shorter than what they announce themselves as
            what = random.choice([b"g", b"w"]).item()
            length = int(random.integers(8))
            data = struct.pack("!cII", what, 1, length) + b"k" + bytes(length)
        elif kind == 1:
            data = struct.pack("!cII", b"s", *random.integers(2**16 + 1, 2**32, 2, dtype=np.uint32).tolist())
        elif kind == 2:
            data = struct.pack("!cIId", b"g", 0, 8, random.choice([np.nan, np.inf, -1.0]))
        else:
            data = random.bytes(random.integers(200)).replace(b"s", b"?")
        connection.sendall(data)
        connection.settimeout(0.02)
        connection.recv(64)


@pytest.mark.parametrize("token", [None, "a token that was given away"])
def test_training_goes_on(write, tmp_path, token):
    changes = {} if token is None else {"DIST_MS_JOB_TOKEN": token}
    env = environment(DIST_MS_TIMEOUT="60", OMP_NUM_THREADS="1", **changes)
    process = subprocess.Popen(
        command("dist-ms", 2, write(TRAIN)),
        cwd=tmp_path,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_for(process, tmp_path / "port")
        port, random = int((tmp_path / "port").read_text()), np.random.default_rng(7)
        for _ in range(REQUESTS):
            attack(port, token, random)
        assert process.poll() is None
    finally:
        (tmp_path / "over").touch()
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    steps = [int(line.split()[1]) for line in out.splitlines() if line.startswith("trained")]
    assert len(steps) == 2 and min(steps) > 3, out


def test_ranks_without_dist_ms_run_share_rank_0_s_token(run):
    done = run(
        "import os\nfrom dist_ms.communication import get_comm, init\n"
        "os.environ['DIST_MS_JOB_TOKEN'] = ''\ninit()\n"
        "found = get_comm().gather_objects(os.environ['DIST_MS_JOB_TOKEN'])\n"
        "assert len(set(found)) == 1 and len(found[0]) == 32\n",
        how="mpirun",
    )
    assert done.code == 0, done.err


def test_dist_ms_run_gives_every_job_a_token_before_init(run):
    code = "import os\nprint(os.environ['DIST_MS_JOB_TOKEN'])"
    first, second = (run(code).out.split() for _ in range(2))
    assert len(first) == 2 and len(set(first)) == 1 and len(first[0]) == 32 and first != second
    assert run(code, DIST_MS_JOB_TOKEN="mine").out.split() == ["mine", "mine"]
