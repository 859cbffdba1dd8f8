"""Training on several machines: network namespaces joined by a link of 1 Gbit/s, real TCP between them."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from tests.jobs.conftest import MPIRUN, environment

HOSTS = 2
RATE = "1gbit"
AGENT = """#!/bin/bash
# Stands in for ssh: AGENT [options] ADDRESS COMMAND...
while [[ "$1" == -* ]]; do shift; done
k=${1##*.}; shift
exec ip netns exec "PREFIX$k" unshare --uts bash -c "hostname node$k; $*"
"""

TRAIN = """
import sys
import numpy as np
import dist_ms as ms
from dist_ms import nn
from dist_ms.communication import current, get_comm, init
init()
comm = get_comm()
folder, rank, size = sys.argv[1], comm.rank, comm.size
ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
ms.set_seed(3)
# 130,000 weights: more than the small messages that MPI reduces itself.
net = nn.SequentialCell(nn.Dense(64, 1000), nn.ReLU(), nn.Dense(1000, 64), nn.ReLU(), nn.Dense(64, 4))
step = nn.TrainOneStepCell(
    nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")),
    nn.Momentum(net.trainable_params(), 0.1, 0.9),
)
rng = np.random.default_rng(7)
for _ in range(5):
    x, y = rng.standard_normal((24, 64)).astype(np.float32), rng.integers(0, 4, 24).astype(np.int32)
    mine = slice(rank * 24 // size, (rank + 1) * 24 // size)
    step(ms.Tensor(x[mine]), ms.Tensor(y[mine]))
np.savez(f"{folder}/weights_{size}_{rank}.npz", *[p.asnumpy() for p in net.trainable_params()])
if size > 1:
    nodes = current().nodes
    assert nodes == tuple(r * 2 // size for r in range(size)) if len(sys.argv) < 3 else nodes == (0, 0, 1), nodes
    shared = comm._shared is not None and comm._shared.between is not None
    # Every way an array can take: MPI alone, piece by piece, in shared memory; posted and not.
    for dtype in (np.float32, np.float16, np.int8):
        for count in (3, 5_000, 3_000_001):
            for array in (np.empty(count, dtype), comm.shared_buffer(count, dtype)):
                for call in (comm.all_reduce, lambda a: comm.post_all_reduce(a).wait()):
                    array[:] = np.arange(count) % 5 + rank
                    call(array)
                    want = size * (np.arange(count) % 5) + sum(range(size))
                    assert (array == want.astype(dtype)).all(), (dtype, count)
    print("machines", max(nodes) + 1, "shared", shared)
"""


DIFFERENT = """
import sys, time
import numpy as np
from dist_ms.communication import get_comm, init
init()
comm = get_comm()
last = comm.rank == comm.size - 1
make = comm.shared_buffer if sys.argv[1] == "shared" else np.zeros
arrays = [make(500_000, np.float32) for _ in range(4)]
kinds = {"size": lambda a: a[:-1] if last else a, "dtype": lambda a: a.view(np.int32) if last else a, "op": lambda a: a}
for array in arrays:
    array[:] = 1
handles = [comm.post_all_reduce(arrays[0])]
third = kinds[sys.argv[2]](arrays[1])
handles.append(comm.post_all_reduce(third, "max" if sys.argv[2] == "op" and last else "sum", names=lambda: ["w", "b"]))
if not last:
    handles.append(comm.post_all_reduce(arrays[2]))
try:
    for handle in handles:
        handle.wait()
except RuntimeError as error:
    assert (arrays[0] == comm.size).all()
    print(f"rank {comm.rank}", str(error).replace(chr(10), "|"), flush=True)
try:
    comm.post_all_reduce(arrays[3])
except RuntimeError as error:
    print("closed:", error, flush=True)
time.sleep(2)  # the first to end takes the others with it
"""


def missing():
    """Why there can be no hosts, or None."""
    if os.geteuid() != 0:
        return "it takes root to make network namespaces"
    for program in ("ip", "tc", "unshare"):
        if shutil.which(program) is None:
            return f"there is no program '{program}' (iproute2, util-linux)"
    if MPIRUN is None or "Open MPI" not in subprocess.run([MPIRUN, "--version"], capture_output=True, text=True).stdout:
        return "there is no mpirun of Open MPI"
    return None


def call(*words):
    subprocess.run(words, check=True, capture_output=True, text=True, timeout=30)


@pytest.fixture(scope="module")
def hosts(tmp_path_factory):
    """The words that start a job of so many slots per host."""
    reason = missing()
    if reason is not None:
        pytest.skip(reason)
    # Names and addresses of this test run alone.
    mark = os.getpid() % 200 + 20
    prefix, bridge, net = f"dmt{mark}h", f"dmt{mark}", f"10.78.{mark}"
    agent = tmp_path_factory.mktemp("hosts") / "agent.sh"
    agent.write_text(AGENT.replace("PREFIX", prefix))
    agent.chmod(0o755)
    try:
        try:
            call("ip", "link", "add", bridge, "type", "bridge")
            call("ip", "link", "set", bridge, "up")
            for k in range(1, HOSTS + 1):
                call("ip", "netns", "add", f"{prefix}{k}")
                call(
                    "ip",
                    "link",
                    "add",
                    f"{prefix}v{k}",
                    "type",
                    "veth",
                    "peer",
                    "name",
                    "eth0",
                    "netns",
                    f"{prefix}{k}",
                )
                call("ip", "link", "set", f"{prefix}v{k}", "master", bridge, "up")
                inside = ["ip", "-n", f"{prefix}{k}"]
                call(*inside, "addr", "add", f"{net}.{k}/24", "dev", "eth0")
                call(*inside, "link", "set", "eth0", "up")
                call(*inside, "link", "set", "lo", "up")
                shape = [
                    "qdisc",
                    "add",
                    "dev",
                    "eth0",
                    "root",
                    "tbf",
                    "rate",
                    RATE,
                    "burst",
                    "256kb",
                    "latency",
                    "50ms",
                ]
                call("tc", "-n", f"{prefix}{k}", *shape)
        except subprocess.CalledProcessError as error:
            pytest.skip(f"the kernel makes no network namespaces here: {error.stderr.strip()}")

        def words(ranks, slots):
            listed = ",".join(f"{net}.{k}:{n}" for k, n in enumerate(slots, 1))
            on_first = ["ip", "netns", "exec", f"{prefix}1", "unshare", "--uts", "bash", "-c"]
            on_first += ['hostname node1; exec "$@"', "_"]
            start = [MPIRUN, "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--host", listed]
            start += ["--prtemca", "plm_ssh_agent", str(agent), "--prtemca", "prte_if_include", f"{net}.0/24"]
            start += ["--mca", "btl_tcp_if_include", f"{net}.0/24", "-x", "OMP_NUM_THREADS", "-n", str(ranks)]
            return [*on_first, *start]

        yield words
    finally:
        for k in range(1, HOSTS + 1):
            subprocess.run(["ip", "netns", "del", f"{prefix}{k}"], capture_output=True, check=False)
        subprocess.run(["ip", "link", "del", bridge], capture_output=True, check=False)


def job(words, *arguments, **changes):
    env = environment(OMP_NUM_THREADS="1", **changes)
    return subprocess.run([*words, sys.executable, *arguments], env=env, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    ("slots", "choice"), [((1, 1), "shared"), ((2, 2), "shared"), ((2, 1), "shared"), ((2, 2), "mpi")], ids=str
)
def test_training_on_two_machines_equals_one_process(hosts, tmp_path, slots, choice):
    script = tmp_path / "train.py"
    script.write_text(TRAIN)
    ranks = sum(slots)
    uneven = ["uneven"] if len(set(slots)) > 1 else []
    done = job(
        hosts(ranks, slots), str(script), str(tmp_path), *uneven, DIST_MS_ALL_REDUCE=choice, DIST_MS_TIMEOUT="60"
    )
    assert done.returncode == 0, done.stderr
    shared = choice == "shared" and max(slots) > 1
    assert done.stdout.splitlines().count(f"machines 2 shared {shared}") == ranks
    alone = job([], str(script), str(tmp_path))
    assert alone.returncode == 0, alone.stderr
    want = np.load(tmp_path / "weights_1_0.npz")
    for rank in range(ranks):
        found = np.load(tmp_path / f"weights_{ranks}_{rank}.npz")
        assert len(found.files) == len(want.files) == 6
        for name in want.files:
            np.testing.assert_allclose(found[name], want[name], rtol=1e-6, atol=1e-6)


def test_a_rank_that_dies_on_another_machine_ends_the_job(hosts, tmp_path):
    script = tmp_path / "die.py"
    script.write_text(
        "import os, numpy as np\n"
        "from dist_ms.communication import get_comm, init\n"
        "init()\n"
        "comm = get_comm()\n"
        "x = comm.shared_buffer(1_000_000, np.float32)\n"
        "comm.all_reduce(x)\n"
        "if comm.rank == 3:\n    raise ValueError('no such data')\n"
        "comm.all_reduce(x)\n"
    )
    done = job(hosts(4, (2, 2)), str(script), DIST_MS_TIMEOUT="20")
    assert done.returncode == 1
    assert "[rank 3 of 4] uncaught exception" in done.stderr and "no such data" in done.stderr


@pytest.mark.parametrize("what", ["size", "dtype", "op"])
@pytest.mark.parametrize(
    ("slots", "memory", "choice"),
    [((1, 1), "own", "shared"), ((2, 2), "shared", "shared"), ((2, 1), "shared", "shared"), ((1, 1), "own", "mpi")],
    ids=str,
)
def test_arrays_that_differ_between_machines_are_shown_on_every_rank(hosts, tmp_path, slots, memory, choice, what):
    script = tmp_path / "different.py"
    script.write_text(DIFFERENT)
    ranks = sum(slots)
    done = job(hosts(ranks, slots), str(script), memory, what, DIST_MS_ALL_REDUCE=choice, DIST_MS_TIMEOUT="20")
    assert done.returncode == 1 and "ends with an operation that never completed" in done.stderr, done.stderr
    tables = [line.partition("|")[2] for line in done.stdout.splitlines() if line.startswith("rank ")]
    assert len(tables) == ranks and len(set(tables)) == 1, done.stdout
    rows = tables[0].split("|")
    other = {"size": "float32[499999], sum", "dtype": "int32[500000], sum", "op": "float32[500000], max"}[what]
    assert [row.partition(" at ")[0] for row in rows] == [
        f"  rank {r}: all_reduce({other if r == ranks - 1 else 'float32[500000], sum'}) of w, b" for r in range(ranks)
    ]
    assert done.stdout.count("closed: For 'post_all_reduce', group") == ranks
