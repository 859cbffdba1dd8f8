"""Convolutions and products of random shapes: which take far longer per multiplication than most of their kind.

    python benchmarks/bench_cliffs.py [--seconds 100] [--seed 0] [--type float32 bfloat16] [--level LEVEL] [--times 20]

A table of cases, as `bench_kernels.py` has them, misses what lies between its shapes. Here every call, forward and
each gradient, is of another shape; its time, less what a call costs however small, over its multiplications (channels
that do not fill a vector counted as if they did) is compared with the median of its kind in the same run. Those that
take `--times` as long are timed again, three times, and shown if they still do.
"""

import argparse
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

from survey.comparison import LEVELS

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--seconds", type=float, default=100)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--type", nargs="+", choices=("float32", "bfloat16"), default=("float32", "bfloat16"))
parser.add_argument("--level", choices=LEVELS, default="native", help="limit of the instructions")
parser.add_argument("--times", type=float, default=20, help="how much longer than the median is a cliff")
parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)

LANES, MOST = 8, 30_000_000  # numbers of a vector; multiplications of a case
OF_CALL = 0.0003  # seconds that a call may take however little it multiplies

Case = tuple[str, int, Callable[[], object]]  # what it is, its multiplications, and the call


def filled(channels: int) -> int:
    """A number of channels in whole vectors."""
    return -(-channels // LANES) * LANES


def convolution(draw: random.Random, dtype: str) -> Iterator[Case]:
    """A convolution and its gradients; none if the draw gives no output or is too large."""
    import numpy as np

    import dist_ms as ms
    from dist_ms import ops

    rank = draw.choice((1, 2, 2, 2, 3))
    groups = draw.choice((1, 1, 1, 1, 2, 4, 0))
    channels, outputs = (draw.choice((1, 2, 3, 4, 5, 8, 12, 16, 17, 24, 32, 33, 64)) for _ in range(2))
    if groups == 0:  # depthwise
        groups = outputs = channels
    elif channels % groups or outputs % groups:
        groups = 1
    images, kernel = draw.choice((1, 2, 4, 16)), draw.choice((1, 2, 3, 4, 5, 7, 9))
    stride, dilation = draw.choice((1, 1, 1, 2, 3)), draw.choice((1, 1, 1, 2))
    padding = draw.choice((0, kernel // 2))
    sides = [draw.randint(3, (300, 70, 20)[rank - 1]) for _ in range(rank)]
    places = [(side + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1 for side in sides]
    work = images * kernel**rank * filled(channels // groups) * filled(outputs)
    for size in places:
        work *= max(size, 0)
    if not 0 < work <= MOST:
        return
    run = (ops.conv1d, ops.conv2d, ops.conv3d)[rank - 1]
    words = {"stride": stride, "pad_mode": "pad", "padding": padding, "dilation": dilation}
    x, w = (
        ms.Tensor(np.ones(shape, np.float32)).astype(getattr(ms, dtype))
        for shape in ((images, channels, *sides), (outputs, channels // groups, *[kernel] * rank))
    )
    text = f"{tuple(x.shape)} to {outputs}, kernel {kernel}, {words}, groups {groups}, {dtype}"

    def forward(x: ms.Tensor, w: ms.Tensor) -> ms.Tensor:
        return run(x, w, groups=groups, **words)

    yield f"convolution {text}", work, lambda: forward(x, w)
    dout = ops.ones_like(forward(x, w))
    for place, name in ((0, "input"), (1, "weight")):
        _, back = ms.vjp((lambda x: forward(x, w)) if place == 0 else (lambda w: forward(x, w)), (x, w)[place])
        yield f"gradient of its {name}, convolution {text}", work, lambda back=back: back(dout)


def product(draw: random.Random, dtype: str) -> Iterator[Case]:
    """A product of matrices, or of several."""
    import numpy as np

    import dist_ms as ms
    from dist_ms import ops

    m, k, n = (round(2 ** draw.uniform(0, 11)) for _ in range(3))
    lead = draw.choice(((), (), (), (2,), (16,)))
    work = filled(m) * filled(k) * filled(n) * (lead[0] if lead else 1)
    if work > MOST:
        return
    first, second = (draw.random() < 0.3 for _ in range(2))
    a, b = (
        ms.Tensor(np.ones((*lead, *(shape[::-1] if turned else shape)), np.float32)).astype(getattr(ms, dtype))
        for shape, turned in (((m, k), first), ((k, n), second))
    )
    a, b = (t.swapaxes(-1, -2) if turned else t for t, turned in ((a, first), (b, second)))
    turned = " ".join(name for name, is_turned in (("first", first), ("second", second)) if is_turned)
    yield f"product {lead} {m} x {k} x {n}, turned: {turned or 'none'}, {dtype}", work, lambda: ops.matmul(a, b)


def timed(call: Callable[[], object]) -> float:
    """Seconds of a call after one that is not timed."""
    call()
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def look(options: argparse.Namespace) -> None:
    """Print what takes far longer than most."""
    draw, end = random.Random(options.seed), time.monotonic() + options.seconds
    costs: dict[str, list[float]] = {}
    found = []
    calls = 0
    while time.monotonic() < end:
        dtype = draw.choice(options.type)
        for name, work, call in draw.choice((convolution, product))(draw, dtype):
            cost = max(0.0, timed(call) - OF_CALL) / work
            kind = f"{name.split()[0]} {dtype}"
            costs.setdefault(kind, []).append(cost or OF_CALL / work)
            calls += 1
            if len(costs[kind]) > 20 and cost > options.times * statistics.median(costs[kind]):
                seconds = min(timed(call) for _ in range(3))
                cost = max(0.0, seconds - OF_CALL) / work
                found.append((kind, cost, seconds, name))
    usual = {kind: statistics.median(values) for kind, values in costs.items()}
    cliffs = sorted(
        (cost / usual[kind], seconds, name) for kind, cost, seconds, name in found if cost > options.times * usual[kind]
    )
    for ratio, seconds, name in reversed(cliffs):
        print(f"{ratio:8.0f} x {seconds * 1e3:9.2f} ms  {name}")
    print(f"{len(cliffs)} of {calls} calls take {options.times:g} times as long as the median of their kind")


def main() -> None:
    """Look in a process with the limits of the level."""
    options = parser.parse_args()
    if options.here:
        look(options)
        return
    limits = {**os.environ, "OMP_NUM_THREADS": "1", **LEVELS[options.level]}
    sys.exit(subprocess.run([sys.executable, __file__, "--here", *sys.argv[1:]], env=limits).returncode)


if __name__ == "__main__":
    main()
