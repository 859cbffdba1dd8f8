"""Training on several machines: network namespaces joined by a link of 1 Gbit/s, real TCP between them."""

import subprocess
import sys

import numpy as np
import pytest

from tests.jobs.conftest import environment

TRAIN = """
import sys
import numpy as np
import dist_ms as ms
from dist_ms import nn
from dist_ms.communication import current, get_comm, init
from dist_ms.parallel import shared_update
init()
comm = get_comm()
folder, rank, size = sys.argv[1], comm.rank, comm.size
ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
ms.set_seed(3)
# 130,000 weights: more than the small messages that MPI reduces itself.
net = nn.SequentialCell(nn.Dense(64, 1000), nn.ReLU(), nn.Dense(1000, 64), nn.ReLU(), nn.Dense(64, 4))
shared_update.LEAST = 0
optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
step = nn.TrainOneStepCell(loss, optimizer)
rng = np.random.default_rng(7)
for _ in range(5):
    x, y = rng.standard_normal((24, 64)).astype(np.float32), rng.integers(0, 4, 24).astype(np.int32)
    mine = slice(rank * 24 // size, (rank + 1) * 24 // size)
    step(ms.Tensor(x[mine]), ms.Tensor(y[mine]))
np.savez(f"{folder}/weights_{size}_{rank}.npz", *[p.asnumpy() for p in net.trainable_params()])
if size > 1:
    nodes = current().nodes
    assert nodes == tuple(int(k) for k in sys.argv[2]), nodes
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
    # The other collectives, posted behind another and waited for at once.
    for count in (3, 70_000):
        rows = [(np.arange(size * count).reshape(size, count) % 7 + r).astype(np.float16) for r in range(size)]
        for wait in (False, True):
            sent = rows[rank].copy()
            told = comm.post_broadcast(sent, size - 1, wait=wait)
            posts = comm.post_all_gather, comm.post_reduce_scatter, comm.post_all_to_all
            begun = [post(rows[rank], wait=wait) for post in posts]
            for _, handle in reversed(begun):
                handle.wait()
            told.wait()
            gathered, part, came = (out for out, _ in begun)
            assert (sent == rows[-1]).all() and all((gathered[r] == rows[r]).all() for r in range(size))
            assert (part == sum(rows)[[rank]]).all() and all((came[r] == rows[r][rank]).all() for r in range(size))
    update = optimizer.shared_update
    print("machines", max(nodes) + 1, "shared", shared)
    print("update of", 1 if update is None or update.memory is None else update._comm.size)
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
kinds = {"size": lambda a: a[:-1] if last else a, "dtype": lambda a: a.view(np.int32) if last else a}
for array in arrays:
    array[:] = 1
handles = [comm.post_all_reduce(arrays[0])]
third = kinds.get(sys.argv[2], lambda a: a)(arrays[1])
if sys.argv[2] == "verb" and last:
    handles.append(comm.post_broadcast(third))
else:
    op = "max" if sys.argv[2] == "op" and last else "sum"
    handles.append(comm.post_all_reduce(third, op, names=lambda: ["w", "b"]))
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


NARROW = """
import numpy as np
import dist_ms as ms
from dist_ms.communication import current, get_comm, init
from dist_ms.parallel import Reducer, make_plan
from dist_ms.parallel.compression import BFloat16Wire, Float16Wire
init()
comm = get_comm()
shapes = [(300, 400), (400,), (700, 1000), (5,)]
weights = [ms.Parameter(np.zeros(s, np.float32), name=f"w{i}") for i, s in enumerate(shapes)]
grads = lambda rank, step: [np.random.default_rng([rank, step, i]).random(s, np.float32) for i, s in enumerate(shapes)]
for wire, precision in ((Float16Wire, 2.0**-11), (BFloat16Wire, 2.0**-8)):
    for overlap in (False, True):
        reducer = Reducer(make_plan(weights), comm, mean=True, overlap=overlap)
        reducer.hook = wire()
        for step in range(3):
            found = [g.asnumpy() for g in reducer.reduce([ms.Tensor(g) for g in grads(comm.rank, step)])]
            want = [sum(parts) / comm.size for parts in zip(*(grads(r, step) for r in range(comm.size)))]
            for got, exact in zip(found, want):
                np.testing.assert_allclose(got, exact, rtol=0, atol=2 * precision)  # numbers below 1
                assert len(set(comm.gather_objects(got.tobytes()))) == 1
print("machines", max(current().nodes) + 1)
"""


def job(words, *arguments, **changes):
    env = environment(OMP_NUM_THREADS="1", **changes)
    return subprocess.run([*words, sys.executable, *arguments], env=env, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    ("slots", "choice"),
    [
        ((1, 1), "shared"),
        ((2, 2), "shared"),
        ((2, 1), "shared"),
        ((2, 2), "mpi"),
        ((1, 1, 1), "shared"),
        ((1, 2, 3), "shared"),
    ],
    ids=str,
)
def test_training_on_several_machines_equals_one_process(hosts, tmp_path, slots, choice):
    script = tmp_path / "train.py"
    script.write_text(TRAIN)
    ranks = sum(slots)
    nodes = "".join(str(k) * count for k, count in enumerate(slots))
    words = hosts.mpirun(ranks, slots)
    done = job(words, str(script), str(tmp_path), nodes, DIST_MS_ALL_REDUCE=choice, DIST_MS_TIMEOUT="60")
    assert done.returncode == 0, done.stderr
    shared = choice == "shared" and max(slots) > 1
    assert done.stdout.splitlines().count(f"machines {len(slots)} shared {shared}") == ranks
    together = sorted(int(line.split()[-1]) for line in done.stdout.splitlines() if line.startswith("update of "))
    assert together == sorted(count if choice == "shared" else 1 for count in slots for _ in range(count))
    alone = job([], str(script), str(tmp_path))
    assert alone.returncode == 0, alone.stderr
    want = np.load(tmp_path / "weights_1_0.npz")
    for rank in range(ranks):
        found = np.load(tmp_path / f"weights_{ranks}_{rank}.npz")
        assert len(found.files) == len(want.files) == 6
        for name in want.files:
            np.testing.assert_allclose(found[name], want[name], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(("slots", "choice"), [((1, 1), "shared"), ((2, 1), "shared"), ((1, 1), "mpi")], ids=str)
def test_sixteen_bit_wires_between_machines(hosts, tmp_path, slots, choice):
    script = tmp_path / "narrow.py"
    script.write_text(NARROW)
    done = job(hosts.mpirun(sum(slots), slots), str(script), DIST_MS_ALL_REDUCE=choice, DIST_MS_TIMEOUT="60")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines().count("machines 2") == sum(slots)


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
    done = job(hosts.mpirun(4, (2, 2)), str(script), DIST_MS_TIMEOUT="20")
    # 14, MPI_ERR_UNKNOWN, is Open MPI's own: its TCP may see rank 3 leave before mpirun has heard of the 1.
    assert done.returncode in (1, 14)
    assert "[rank 3 of 4] uncaught exception" in done.stderr and "no such data" in done.stderr


@pytest.mark.parametrize(
    ("slots", "memory", "choice", "what"),
    [
        *(((1, 1), "own", "shared", what) for what in ("size", "dtype", "op", "verb")),
        ((2, 2), "shared", "shared", "size"),
        ((2, 1), "shared", "shared", "verb"),
        ((1, 1), "own", "mpi", "op"),
    ],
    ids=str,
)
def test_arrays_that_differ_between_machines_are_shown_on_every_rank(hosts, tmp_path, slots, memory, choice, what):
    script = tmp_path / "different.py"
    script.write_text(DIFFERENT)
    ranks = sum(slots)
    done = job(hosts.mpirun(ranks, slots), str(script), memory, what, DIST_MS_ALL_REDUCE=choice, DIST_MS_TIMEOUT="20")
    assert done.returncode == 1 and "ends with an operation that never completed" in done.stderr, done.stderr
    tables = [line.partition("|")[2] for line in done.stdout.splitlines() if line.startswith("rank ")]
    assert len(tables) == ranks and len(set(tables)) == 1, done.stdout
    rows = tables[0].split("|")
    others = {
        "size": "all_reduce(float32[499999], sum) of w, b",
        "dtype": "all_reduce(int32[500000], sum) of w, b",
        "op": "all_reduce(float32[500000], max) of w, b",
        "verb": "post_broadcast(float32[500000], root 0)",
    }
    shown = ["all_reduce(float32[500000], sum) of w, b"] * (ranks - 1) + [others[what]]
    assert [row.partition(" at ")[0] for row in rows] == [f"  rank {r}: {text}" for r, text in enumerate(shown)]
    assert done.stdout.count("closed: For 'post_all_reduce', group") == ranks


SPEAKS = """
import sys, time
from dist_ms.communication import init, get_rank
init()
print("begin", flush=True)
time.sleep(0.3)
print("half", end="", flush=True)
print(" of", get_rank())
if get_rank() == 0:
    time.sleep(0.5)
    raise ValueError("no such data")
try:
    time.sleep(60)
finally:
    print("too late", file=sys.stderr, flush=True)
"""


def test_labels_and_a_file_per_rank_of_several_machines(hosts, tmp_path):
    script = tmp_path / "speaks.py"
    script.write_text(SPEAKS)
    words = hosts.mpi_options((1, 2))
    at = words.index("--host")
    options = ["--hosts", words[at + 1], "--mpi-args", " ".join(words[:at] + words[at + 2 :])]
    options += ["--prefix", "--log-dir", str(tmp_path / "logs")]
    done = job([*hosts.on_first()], "-m", "dist_ms.launch", "run", *options, str(script))
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    rest = sorted(line for line in lines if not line.endswith(" begin"))
    assert rest == [f"[{rank}] half of {rank}" for rank in range(3)]
    # "[0-2] begin", or "[0,2] begin" and "[1] begin" where a busy machine has one of them late.
    parts = [part for line in lines if line.endswith(" begin") for part in line[1 : line.index("]")].split(",")]
    ends = [[int(end) for end in part.split("-")] for part in parts]
    assert sorted(rank for end in ends for rank in range(end[0], end[-1] + 1)) == [0, 1, 2], lines
    assert "[0] ValueError: no such data\n" in done.stderr and "\x1e" not in done.stderr
    assert "dist-ms: rank 0 of 3 ended with an uncaught ValueError on node1, exit code 1" in done.stderr
    for rank in range(3):
        text = (tmp_path / "logs" / f"rank_{rank}.log").read_text()
        assert text.startswith(f"begin\nhalf of {rank}\n") and ("ValueError" in text) == (rank == 0)
