"""Steps on cores that others use too: beside busy processes, and with more ranks than cores.

    python benchmarks/bench_busy.py --peers FOLDER [--torch PYTHON] [--runs 10] [--only busy,ranks,quiet]

`busy`: lenet, mlp and gpt with 2 threads beside two processes that never rest, all on the same two cores. The slowest
of the runs is to have at least half of the median speed of one thread there, whose own slowest run is shown, too: a
thread that shares its core with a busy process all the time has half of it. PyTorch is beside it. `ranks`: the same
global batch on 2 to 16 ranks of two cores; 8 ranks are to take at most 1.5 times as long as 2, PyTorch's DDP is
beside it. `quiet`: nothing else runs; 2 threads as they are against libgomp's own way of waiting with a fixed number
(`before`): at most 3 % are to be lost. `--peers` names the folder with bench_mindspore_api.py and bench_torch.py.
"""

import argparse
import contextlib
import os
import pathlib
import statistics
import subprocess
import sys

from bench_step import run

PIN = "import os, sys; os.sched_setaffinity(0, map(int, sys.argv[1].split(',')))\nwhile True: pass"
BEFORE = {"OMP_DYNAMIC": "false", "GOMP_SPINCOUNT": "300000"}
BATCH = {"mlp": 64, "lenet": 64, "gpt": 8}


@contextlib.contextmanager
def busy_processes(count, cores):
    """Processes that never rest, on the cores that the steps run on."""
    words = [sys.executable, "-c", PIN, ",".join(map(str, cores))]
    found = [subprocess.Popen(words) for _ in range(count)]
    try:
        yield
    finally:
        for process in found:
            process.kill()
            process.wait()


def rate(options, package, model, threads, **environ):
    """Samples per second of one run; NaN if it failed."""
    script = "bench_torch.py" if package == "torch" else "bench_mindspore_api.py"
    python = options.torch if package == "torch" else sys.executable
    words = [python, str(options.peers / script), "--model", model, "--threads", str(threads)]
    with contextlib.ExitStack() as stack:
        for name, value in environ.items():
            stack.callback(os.environ.pop, name, None)
            os.environ[name] = value
        found = run([*words, "--steps", str(options.steps)], options.timeout)
    return float("nan") if found is None else found["samples_per_s"]


def beside_busy(options, model, cores):
    """A line for one model beside busy processes."""
    packages = ["dist_ms", *(["torch"] if options.torch else [])]
    two, one = ({p: [] for p in packages} for _ in range(2))
    with busy_processes(2, cores):
        for _ in range(options.runs):
            for package in packages:
                two[package].append(rate(options, package, model, 2))
                one[package].append(rate(options, package, model, 1))
    line = f"{model:8}"
    for package in packages:
        for rates in (one[package], two[package]):
            line += f"{statistics.median(rates):11.0f}{min(rates):11.0f}"
        line += f"{min(two[package]) / statistics.median(one[package]):7.2f}"
    print(line, flush=True)


def beside_nothing(options, model):
    """A line for one model on a quiet machine."""
    now, before = [], []
    for _ in range(options.runs):
        now.append(rate(options, "dist_ms", model, 2))
        before.append(rate(options, "dist_ms", model, 2, **BEFORE))
    ratio = statistics.median(a / b for a, b in zip(now, before, strict=True))
    print(f"{model:8}{statistics.median(before):12.0f}{statistics.median(now):12.0f}{ratio:8.3f}", flush=True)


def launched(options, package, n):
    """The words that start n ranks of a package's script."""
    if package == "dist_ms":
        launch = [sys.executable, "-m", "dist_ms.launch", "run", "-n", str(n)]
        return [*launch, str(options.peers / "bench_mindspore_api.py")]
    launch = [options.torch, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(n)]
    return [*launch, str(options.peers / "bench_torch.py")]


def over_ranks(options, model, counts):
    """A line for one model and package: the same global batch on several numbers of ranks."""
    packages = ["dist_ms", *(["torch"] if options.torch else [])]
    rates = {(package, n): [] for package in packages for n in counts}
    for _ in range(options.runs):
        for package, n in rates:
            each = max(1, options.batch * BATCH[model] // n)
            words = ["--parallel", "--model", model, "--threads", "1", "--batch", str(each)]
            found = run([*launched(options, package, n), *words, "--steps", str(options.steps)], options.timeout)
            rates[package, n].append(float("nan") if found is None else found["samples_per_s"])
    for package in packages:
        medians = [statistics.median(rates[package, n]) for n in counts]
        slower = "".join(f"{medians[0] / m:8.2f}" for m in medians)
        print(f"{model:8}{package:8}" + "".join(f"{m:12.0f}" for m in medians) + slower, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=pathlib.Path, required=True, help="the folder with the peers' scripts")
    parser.add_argument("--torch", help="a Python that has PyTorch")
    parser.add_argument("--models", default="lenet,mlp,gpt")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--batch", type=int, default=4, help="times the peers' batch, for the ranks")
    parser.add_argument("--timeout", type=int, default=600, help="seconds that one run may take")
    parser.add_argument("--only", default="quiet,busy,ranks")
    options = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))[:2]
    os.sched_setaffinity(0, cores)
    parts, models = options.only.split(","), options.models.split(",")
    if "quiet" in parts:
        print(f"\nquiet, 2 threads, samples/s\n{'':8}{'before':>12}{'now':>12}{'ratio':>8}")
        for model in models:
            beside_nothing(options, model)
    if "busy" in parts:
        head = f"{'1 thread':>11}{'slowest':>11}{'2 threads':>11}{'slowest':>11}{'share':>7}"
        print(f"\nbeside two busy processes, samples/s: dist_ms{', PyTorch' if options.torch else ''}")
        print(f"{'':8}{head}{head if options.torch else ''}")
        for model in models:
            beside_busy(options, model, cores)
    if "ranks" in parts:
        counts = (2, 4, 8, 16)
        print(f"\nranks on two cores, samples/s, and the time over that of {counts[0]} ranks")
        print(f"{'':16}" + "".join(f"{n:>12}" for n in counts) + "".join(f"{n:>8}" for n in counts))
        for model in models:
            over_ranks(options, model, counts)


if __name__ == "__main__":
    main()
