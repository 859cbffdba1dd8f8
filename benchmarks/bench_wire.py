"""A training step on machines joined by a network: overlap against blocking, 16-bit gradients against float32.

The same network is trained in four ways in turns, in one job: gradients are all-reduced after backward, or bucket by
bucket while it goes on; as float32, or as float16. Per way the median step of the slowest rank, and the bytes that
this machine sent in a step, as the kernel counts them, against what the plan's buckets need: of n machines each sends
2 (n - 1) / n times the gradients' bytes.

With `--buckets` it is bucket sizes that are compared, in one job as well; on one machine without the bytes.

    hosts.sh up 2 1gbit; hosts.sh mpirun 2 1 -x OMP_NUM_THREADS=1 python benchmarks/bench_wire.py [--rounds 12]
    hosts.sh mpirun 2 1 -x OMP_NUM_THREADS=1 python benchmarks/bench_wire.py --buckets 1,2,4,8,25 --width 512 --layers 9
"""

import argparse
import statistics
import time
from pathlib import Path

import numpy as np

import dist_ms as ms
from dist_ms import Tensor, nn
from dist_ms.communication import current, get_comm, init
from dist_ms.parallel.compression import BFloat16Wire, Float16Wire

WAYS = {
    "blocking float32": (False, None),
    "overlap float32": (True, None),
    "blocking float16": (False, Float16Wire),
    "overlap float16": (True, Float16Wire),
    "blocking bfloat16": (False, BFloat16Wire),
    "overlap bfloat16": (True, BFloat16Wire),
}


def bytes_sent(interface):
    """How many bytes an interface of this machine has sent."""
    for line in Path("/proc/self/net/dev").read_text().splitlines():
        name, _, numbers = line.partition(":")
        if name.strip() == interface:
            return int(numbers.split()[8])
    raise SystemExit(f"there is no network interface {interface}")


def make(overlap, wire, bucket, width, layers):
    """A training step of dense layers; 0 MB stand for the default bucket."""
    ms.set_seed(1)
    fusion = {"mode": "size", "config": bucket} if bucket else {"mode": "auto", "config": None}
    ms.set_auto_parallel_context(comm_fusion={"allreduce": fusion})
    body = [cell for _ in range(layers) for cell in (nn.Dense(width, width), nn.ReLU())]
    net = nn.SequentialCell(*body, nn.Dense(width, 10))
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), nn.Momentum(net.trainable_params(), 0.01, 0.9))
    if wire is not None:
        step.grad_reducer.register_comm_hook(wire())
    step.grad_reducer.start()
    step.grad_reducer.overlap = overlap
    return step


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--batch", type=int, default=256, help="samples per rank")
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--bucket", type=int, default=0, help="MB of gradients that travel together; 0: the default")
    parser.add_argument("--buckets", help="compare these sizes, in MB, with overlap")
    parser.add_argument("--interface", default="eth0")
    options = parser.parse_args()
    init()
    comm = get_comm()
    nodes = len(set(current().nodes))
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    if options.buckets:
        sizes = [int(size) for size in options.buckets.split(",")]
        kinds = {"float32": None, "bfloat16": BFloat16Wire} if nodes > 1 else {"float32": None}
        ways = {f"{kind}, {size} MB": (nodes > 1, wire, size) for kind, wire in kinds.items() for size in sizes}
        ways = {f"blocking, {sizes[0]} MB": (False, None, sizes[0]), **ways}
    else:
        ways = {name: (*way, options.bucket) for name, way in WAYS.items()}
    first = next(iter(ways))
    steps = {name: make(*way, options.width, options.layers) for name, way in ways.items()}
    random = np.random.default_rng(comm.rank)
    x = Tensor(random.standard_normal((options.batch, options.width), np.float32))
    y = Tensor(random.integers(0, 10, options.batch).astype(np.int32))
    seconds, sent = {name: [] for name in steps}, {name: [] for name in steps}
    for turn in range(options.rounds + 2):
        for name, step in steps.items():
            comm.barrier()
            before, begin = bytes_sent(options.interface) if nodes > 1 else 0, time.perf_counter()
            step(x, y).asnumpy()
            taken = np.array([time.perf_counter() - begin])
            comm.all_reduce(taken, "max")
            if turn >= 2:
                seconds[name].append(float(taken[0]))
                sent[name].append(bytes_sent(options.interface) - before if nodes > 1 else 0)
    if comm.rank:
        return
    whole = sum(p.nbytes for p in steps[first].weights)
    print(f"{comm.size} ranks on {nodes} machines, {whole / 1e6:.2f} MB of gradients, {options.batch} samples per rank")
    base = statistics.median(seconds[first])
    for name, times in seconds.items():
        planned = whole * 2 * (nodes - 1) / nodes / (2 if "16" in name else 1)
        median, found, of_plan = statistics.median(times), statistics.median(sent[name]), ""
        if planned:
            of_plan = f", {found / 1e6:6.2f} MB sent, {found / planned:.3f} of the plan's {planned / 1e6:.2f} MB"
        print(
            f"{name:18}{median * 1e3:8.1f} ms a step ({base / median:.2f} x {first}), "
            f"{len(steps[name].grad_reducer.plan.buckets)} buckets{of_plan}"
        )


if __name__ == "__main__":
    main()
