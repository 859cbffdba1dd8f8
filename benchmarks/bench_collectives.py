"""Collectives on 2 bound ranks of one node: dist_ms's operations against MPI's own on the same arrays.

Ours return new Tensors and meet first, so that ranks that differ are told; MPI's write into memory that is there
already. Each pair runs in turns in one job, after a barrier. Before each call a rank writes its input. The tables
have medians in microseconds and the ratio of MPI's time to ours (above 1: ours is faster).

    python benchmarks/bench_collectives.py [--ranks 2] [--largest 64] [--budget 0.3]
"""

import argparse
import json
import statistics
import sys

from bench_allreduce import run

CODE = """
import json, sys, time
import numpy as np
import dist_ms as ms
from dist_ms import ops
from dist_ms.communication import get_comm, init
init()
comm = get_comm()
from mpi4py import MPI
sizes, budget = json.loads(sys.argv[1]), float(sys.argv[2])
world = MPI.COMM_WORLD.Dup()
rank, ranks = comm.rank, comm.size
result = {}
for size in sizes:
    n = size // 4 // ranks * ranks
    tensor = ms.Tensor(np.ones(n, np.float32))
    theirs, whole, many = np.ones(n, np.float32), np.empty(n, np.float32), np.empty(n * ranks, np.float32)
    part = np.empty(n // ranks, np.float32)
    all_reduce, all_gather, reduce_scatter = ops.AllReduce(), ops.AllGather(), ops.ReduceScatter()
    broadcast, reduce, all_to_all = ops.Broadcast(0), ops.Reduce(0), ops.AlltoAll(ranks, 0, 0)
    calls = {
        "AllReduce": (lambda: all_reduce(tensor), lambda: world.Allreduce(theirs, whole)),
        "AllGather": (lambda: all_gather(tensor), lambda: world.Allgather(theirs, many)),
        "ReduceScatter": (lambda: reduce_scatter(tensor), lambda: world.Reduce_scatter_block(theirs, part)),
        "Broadcast": (lambda: broadcast(tensor), lambda: world.Bcast(theirs)),
        "Reduce": (lambda: reduce(tensor), lambda: world.Reduce(theirs, whole)),
        "AlltoAll": (lambda: all_to_all(tensor), lambda: world.Alltoall(theirs, whole)),
    }
    found = {}
    for name, pair in calls.items():
        times, start, rounds = ([], []), time.perf_counter(), 0
        while True:
            for written, call, some in zip((tensor.asnumpy(), theirs), pair, times):
                written[:] = 1
                comm.barrier()
                t = time.perf_counter()
                kept = call()
                some.append(time.perf_counter() - t)
            rounds += 1
            if rounds % 5 == 0:
                going = np.array([time.perf_counter() - start < budget and rounds < 2000])
                comm.all_reduce(going, "min")
                if not going[0]:
                    break
        every = [np.array(comm.gather_objects(some)).max(0)[1:].tolist() for some in times]
        found[name] = every
    result[size] = found
if rank == 0:
    print(json.dumps(result))
"""


def show(found):
    """Print a table per collective."""
    for name in next(iter(found.values())):
        print(f"\n{name}\n{'bytes':>10}{'dist_ms':>12}{'MPI':>12}{'MPI/dist_ms':>14}")
        for size, row in found.items():
            ours, theirs = (1e6 * statistics.median(times) for times in row[name])
            print(f"{size:10}{ours:12.1f}{theirs:12.1f}{theirs / ours:14.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--largest", type=int, default=64, help="MB")
    parser.add_argument("--budget", type=float, default=0.3, help="seconds per size and collective")
    options = parser.parse_args()
    sizes = [size for size in (1 << k for k in range(10, 31, 2)) if size <= options.largest << 20]
    show(run(sys.executable, options.ranks, CODE, json.dumps(sizes), str(options.budget)))


if __name__ == "__main__":
    main()
