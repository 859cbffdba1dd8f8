"""What an eager operation costs above its kernel, with and without a gradient recording.

For each operation on a 4 x 4 float32 tensor, the time of the dist_ms call and of the bare NumPy
kernel are measured in turns; the table shows medians in microseconds, their difference and ratio.
With --torch PYTHON the same operations are timed in that interpreter's PyTorch for comparison.

    python benchmarks/bench_overhead.py [--repeat 2000] [--torch PYTHON]
"""

import argparse
import json
import statistics
import subprocess
import time

import numpy as np

TORCH = """
import json, statistics, sys, time, torch
torch.set_num_threads(1)
x, y = torch.randn(4, 4), torch.randn(4, 4)
r = int(sys.argv[1])
ops = {"add": torch.add, "mul": torch.mul, "matmul": torch.matmul}
found = {}
for mode in (False, True):
    a = x.clone().requires_grad_(mode)
    for name, op in ops.items():
        times = []
        for _ in range(r):
            t = time.perf_counter(); op(a, y); times.append(time.perf_counter() - t)
        found[name + (" recorded" if mode else "")] = 1e6 * statistics.median(times)
print(json.dumps(found))
"""


def median_pair(ours, kernel, repeat):
    """Medians in microseconds of two calls, timed in turns."""
    a, b = [], []
    for _ in range(repeat):
        t0 = time.perf_counter()
        ours()
        t1 = time.perf_counter()
        kernel()
        t2 = time.perf_counter()
        a.append(t1 - t0)
        b.append(t2 - t1)
    return 1e6 * statistics.median(a), 1e6 * statistics.median(b)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=2000)
    parser.add_argument("--torch", help="a Python that has PyTorch")
    options = parser.parse_args()
    import dist_ms as ms

    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((4, 4)).astype(np.float32) for _ in range(2))
    x, y = ms.Tensor(a), ms.Tensor(b)
    operations = {"add": (ms.ops.add, np.add), "mul": (ms.ops.mul, np.multiply), "matmul": (ms.ops.matmul, np.matmul)}
    rows = {}
    for name, (op, kernel) in operations.items():
        rows[name] = median_pair(lambda op=op: op(x, y), lambda k=kernel: k(a, b), options.repeat)

    def inside(t):
        for name, (op, kernel) in operations.items():
            rows[name + " recorded"] = median_pair(lambda op=op: op(t, y), lambda k=kernel: k(a, b), options.repeat)
        return t

    ms.grad(inside)(x)
    peer = {}
    if options.torch:
        out = subprocess.run(
            [options.torch, "-c", TORCH, str(options.repeat)], capture_output=True, text=True, check=True
        )
        peer = json.loads(out.stdout)
    print(f"{'operation':18}{'dist_ms us':>12}{'kernel us':>12}{'above us':>12}{'ratio':>8}{'torch us':>12}")
    for name, (ours, kernel) in rows.items():
        torch_time = f"{peer[name]:12.2f}" if name in peer else f"{'-':>12}"
        print(f"{name:18}{ours:12.2f}{kernel:12.2f}{ours - kernel:12.2f}{ours / kernel:8.1f}{torch_time}")


if __name__ == "__main__":
    main()
