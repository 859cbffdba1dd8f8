"""All-reduce of float32 on 2 bound ranks: dist_ms against Open MPI, gloo and the memory's limit.

For each size three are run in turns, in one job: dist_ms in shared memory (`shared_buffer`, what
the gradient buckets use), dist_ms on ordinary memory, and MPI's Allreduce in place. Then both ranks
at once copy as many bytes. A copy reads and writes every byte once, which is also the least an
all-reduce in place does, so the time of a copy is the memory's limit; it walks through 256 MB, as
smaller copies stay in the caches. gloo runs in a job of its own between two
halves of ours, with the Python of --torch. Before each call a rank writes its array, as backward
does. dist_ms also scales the result (the mean), in the same pass. The table has medians in microseconds.

    python benchmarks/bench_allreduce.py [--ranks 2] [--largest 256] [--torch PYTHON] [--png FILE]
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

OURS = """
import json, statistics, sys, time
import numpy as np
from dist_ms.communication import get_comm, init
init()
comm = get_comm()
from mpi4py import MPI
sizes, budget = json.loads(sys.argv[1]), float(sys.argv[2])
world = MPI.COMM_WORLD.Dup()
large = 64 << 20
source, target = np.ones(large, np.float32), np.zeros(large, np.float32)
result = {}
for size in sizes:
    n = size // 4
    shared, ordinary, theirs = comm.shared_buffer(n, np.float32), np.ones(n, np.float32), np.ones(n, np.float32)
    shared[:] = 1
    at = [0]
    def copy():
        if at[0] + n > large:
            at[0] = 0
        target[at[0]:at[0] + n] = source[at[0]:at[0] + n]
        at[0] += n
    calls = {
        "shared": lambda: comm.all_reduce(shared, scale=0.5),
        "ordinary": lambda: comm.all_reduce(ordinary, scale=0.5),
        "mpi": lambda: world.Allreduce(MPI.IN_PLACE, theirs),
    }
    written = {"shared": shared, "ordinary": ordinary, "mpi": theirs}
    times, start, rounds = {name: [] for name in calls}, time.perf_counter(), 0
    while True:
        for name, call in calls.items():
            if name in written:
                written[name][:] = 1  # as backward writes gradients
            if size >= 65536:
                comm.barrier()
            t = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - t)
            if name in ("shared", "ordinary") and rounds % 50 == 0:
                assert (written[name] == comm.size / 2).all()
        rounds += 1
        going = np.array([time.perf_counter() - start < budget and rounds < 3000 or rounds < 5])
        if rounds % 10 == 0 or size > 1 << 22:
            comm.all_reduce(going, "min")
            if not going[0]:
                break
    times["limit"] = []
    for _ in range(max(4, min(200, large * 4 // size))):
        comm.barrier()
        t = time.perf_counter()
        copy()
        times["limit"].append(time.perf_counter() - t)
    result[size] = {name: t[1:] for name, t in times.items()}
    del shared
if comm.rank == 0:
    print(json.dumps(result))
"""

GLOO = """
import json, os, sys, time
import torch, torch.distributed as dist
torch.set_num_threads(1)
rank = int(os.environ["OMPI_COMM_WORLD_RANK"])
dist.init_process_group("gloo", init_method="file://" + sys.argv[3], rank=rank,
                        world_size=int(os.environ["OMPI_COMM_WORLD_SIZE"]))
sizes, budget = json.loads(sys.argv[1]), float(sys.argv[2])
result = {}
for size in sizes:
    x, times, start = torch.ones(size // 4), [], time.perf_counter()
    while True:
        x.fill_(1)
        if size >= 65536:
            dist.barrier()
        t = time.perf_counter()
        dist.all_reduce(x)
        times.append(time.perf_counter() - t)
        going = torch.tensor([float(time.perf_counter() - start < budget and len(times) < 3000 or len(times) < 5)])
        if len(times) % 10 == 0 or size > 1 << 22:
            dist.all_reduce(going, dist.ReduceOp.MIN)
            if not going[0]:
                break
    result[size] = times[1:]
if rank == 0:
    print(json.dumps(result), flush=True)
dist.barrier()
dist.destroy_process_group()
os._exit(0)  # gloo's threads may abort the interpreter's end
"""


def run(python, ranks, code, *arguments):
    """Run code on ranks bound to cores of their own; return what rank 0 prints."""
    here = Path(sys.executable).parent
    mpirun = shutil.which("mpirun", path=str(here)) or "mpirun"
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    each = max(1, len(os.sched_getaffinity(0)) // ranks)
    words = [mpirun, *root, "--map-by", f"slot:PE={each}", "--bind-to", "core", "-n", str(ranks), python, "-c", code]
    env = {"OMP_NUM_THREADS": "1", "OMPI_MCA_osc": "^ucx", "OMPI_MCA_btl": "^ofi", **os.environ}
    done = subprocess.run([*words, *arguments], env=env, stdout=subprocess.PIPE, text=True, check=True)
    return {int(size): found for size, found in json.loads(done.stdout.splitlines()[-1]).items()}


def gloo(python, ranks, sizes, budget):
    with tempfile.TemporaryDirectory() as folder:
        return run(python, ranks, GLOO, json.dumps(sizes), str(budget), f"{folder}/store")


def measure(options, sizes):
    """Medians in microseconds: size -> name -> time."""
    times = {size: {} for size in sizes}
    for _ in range(2):
        for size, found in run(sys.executable, options.ranks, OURS, json.dumps(sizes), str(options.budget)).items():
            for name, some in found.items():
                times[size].setdefault(name, []).extend(some)
        if options.torch:
            for size, some in gloo(options.torch, options.ranks, sizes, options.budget / 4).items():
                times[size].setdefault("gloo", []).extend(some)
    return {size: {name: 1e6 * statistics.median(t) for name, t in row.items()} for size, row in times.items()}


def show(rows):
    """Print the table."""
    names = ["shared", "ordinary", "mpi", *(["gloo"] if "gloo" in next(iter(rows.values())) else []), "limit"]
    print(
        f"{'bytes':>10}"
        + "".join(f"{name:>12}" for name in names)
        + "   mpi/shared  gloo/shared  shared/limit  mpi/ordinary"
    )
    for size, row in rows.items():
        peer = f"{row['gloo'] / row['shared']:13.1f}" if "gloo" in row else f"{'-':>13}"
        print(
            f"{size:10}"
            + "".join(f"{row[name]:12.1f}" for name in names)
            + f"{row['mpi'] / row['shared']:13.1f}{peer}{row['shared'] / row['limit']:14.2f}"
            + f"{row['mpi'] / row['ordinary']:14.1f}"
        )


def draw(rows, path):
    """Draw time against size."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.5))
    labels = {
        "shared": "dist_ms, shared buffer",
        "ordinary": "dist_ms, ordinary memory",
        "mpi": "Open MPI Allreduce",
        "gloo": "gloo",
        "limit": "memory limit (copy)",
    }
    for name, label in labels.items():
        if name in next(iter(rows.values())):
            style = "--" if name == "limit" else "o-"
            axes.plot(list(rows), [row[name] for row in rows.values()], style, label=label, markersize=3)
    axes.set(xscale="log", yscale="log", xlabel="bytes", ylabel="microseconds", title="All-reduce of float32")
    axes.grid(True, alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--largest", type=int, default=256, help="MB")
    parser.add_argument("--budget", type=float, default=1.0, help="seconds per size, twice")
    parser.add_argument("--torch", help="a Python that has PyTorch")
    parser.add_argument("--png", help="where to draw the figure")
    options = parser.parse_args()
    sizes = [size for size in (1 << k for k in range(10, 29, 2)) if size <= options.largest << 20]
    rows = measure(options, sizes)
    show(rows)
    if options.png:
        draw(rows, options.png)


if __name__ == "__main__":
    main()
