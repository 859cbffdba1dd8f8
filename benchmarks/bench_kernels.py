"""Survey every operation, layer, convolution, pooling and product against PyTorch; with --detail, kernels alone.

    python benchmarks/bench_kernels.py --torch PYTHON [--part NAME ...] [--only TEXT] [--level LEVEL] [--threads N]
    python benchmarks/bench_kernels.py --detail [--torch PYTHON] [--only TEXT] [--png FILE] [--table FILE]

The survey (benchmarks/survey/, tables of cases) has a process per side; both run a case in turns before the next one
comes, and a ratio is PyTorch's least time over ours (in brackets that of the medians). Low ones are timed once more,
in --again rounds, and only these new figures of theirs count. It ends with the geometric mean and the list of the low
ones. --level limits the instructions of both sides.

The details (benchmarks/kernels/) time each side in a process of its own, in turns; a figure is the median over the
rounds of the median time of a call, and a ratio is taken round by round. GB/s count every byte that must move once;
"copy" is that speed over that of copies that move as many bytes with as many threads.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from survey import FAMILIES, TYPES, rows
from survey.comparison import LEVELS, Figures, compare, summary

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--torch", help="a Python that has PyTorch")
parser.add_argument("--only", default="", help="run the cases whose names contain this")
parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
parser.add_argument("--rounds", type=int, help="turns of each case (survey: 3, details: 1)")
survey = parser.add_argument_group("survey")
survey.add_argument("--part", nargs="+", choices=FAMILIES, default=FAMILIES, help="families of cases")
survey.add_argument("--type", nargs="+", choices=TYPES, default=TYPES, help="floating types")
survey.add_argument("--level", choices=LEVELS, default="native", help="limit of the instructions of both sides")
survey.add_argument("--again", type=int, default=9, help="turns of a low case's second time; 0: it has none")
survey.add_argument("--seconds", type=float, default=0.03, help="time of a turn of a case on a side")
parser.add_argument("--detail", action="store_true", help="time kernels alone, beside the memory's speed")
parser.add_argument("--repeats", type=int, default=20, help="calls of a case, at most half a second of them")
parser.add_argument("--png", help="file for a chart of the ratios")
parser.add_argument("--table", help="Markdown file whose table, from its first line with a bar on, is replaced")
parser.add_argument("--side", choices=("ours", "torch", "theirs"), help=argparse.SUPPRESS)


def median_time(run: Callable[[], object], repeats: int) -> float:
    """The median time of a call in seconds."""
    run()
    run()
    times: list[float] = []
    while len(times) < repeats and (len(times) < 5 or sum(times) < 0.5):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def copy_speed(threads: int, traffic: int) -> float:
    """Bytes read and written per second when all threads copy as many at once, again and again."""
    import threading

    import numpy as np

    size = max(1, traffic // (8 * threads))
    pairs = [(np.ones(size, np.float32), np.ones(size, np.float32)) for _ in range(threads)]
    # A round has so many copies that the threads' meeting does not count.
    copies, rounds = -(-100_000_000 // traffic), 5
    ready = threading.Barrier(threads + 1)

    def copy(source: np.ndarray, target: np.ndarray) -> None:
        for _ in range(rounds):
            ready.wait()
            for _ in range(copies):
                np.copyto(target, source)
            ready.wait()

    workers = [threading.Thread(target=copy, args=pair) for pair in pairs]
    for worker in workers:
        worker.start()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        ready.wait()
        ready.wait()
        times.append(time.perf_counter() - start)
    for worker in workers:
        worker.join()
    return 8 * size * threads * copies / statistics.median(times)


def measure(side: str, only: str, threads: int, repeats: int) -> None:
    """Print a JSON line per case of one side: what a second process is started for."""
    from kernels import cases

    if side == "torch":
        import torch

        torch.set_num_threads(threads)
    for case in cases(side, only):
        copy = copy_speed(threads, case.traffic) if side == "ours" and not case.work else 0
        print(json.dumps([case.name, median_time(case.run, repeats), case.traffic, case.work, copy]), flush=True)


def collect(python: str, side: str, options: argparse.Namespace) -> dict[str, list[float]]:
    """Run `measure` in another process and return its rows by name."""
    numbers = ("--threads", str(options.threads), "--repeats", str(options.repeats))
    command = [python, __file__, "--detail", "--side", side, "--only", options.only, *numbers]
    environment = {**os.environ, "OMP_NUM_THREADS": str(options.threads)}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return {name: rest for name, *rest in map(json.loads, done.stdout.splitlines())}


def draw(ratios: dict[str, float], file: str) -> None:
    """Write a bar chart of PyTorch's time over ours."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 1 + 0.25 * len(ratios)), layout="constrained")
    axes = figure.subplots()
    axes.barh(list(ratios), list(ratios.values()), color=["C0" if r >= 1 else "C3" for r in ratios.values()])
    axes.axvline(1, color="black", linewidth=1)
    axes.set(xscale="log", xlabel="PyTorch's time over ours", ylim=(len(ratios) - 0.5, -0.5))
    figure.savefig(file)


def write_table(rows: list[tuple], file: str) -> None:
    """Put the figures in the place of the table that ends a file, or into a new file."""
    path = Path(file)
    text = path.read_text().partition("\n|")[0] + "\n" if path.exists() else ""
    text += "| case | ms | GFLOP/s or GB/s | PyTorch, ms | its time over ours |\n|---|---|---|---|---|\n"
    for name, seconds, speed, other in rows:
        compared = f"{other * 1e3:.2f} | {other / seconds:.2f}" if other else " | "
        text += f"| {name} | {seconds * 1e3:.2f} | {speed} | {compared} |\n"
    path.write_text(text)


def main() -> None:
    """Serve a side, or do the survey, or the details."""
    options = parser.parse_args()
    if options.side and options.detail:
        measure(options.side, options.only, options.threads, options.repeats)
    elif options.side:
        from survey.sides import serve

        serve(options.side, options.threads)
    elif options.detail:
        detail(options)
    else:
        look_over(options)


def look_over(options: argparse.Namespace) -> None:
    """Print a line per case of the survey, and what the ratios come to."""
    rounds = options.rounds or 3
    print(f"{options.threads} threads, level {options.level}")
    print(f"{'case':100} {'ours, ms':>10} {'PyTorch':>10} {'ratio (medians)':>16}")
    chosen = list(rows(tuple(options.part), options.only, tuple(options.type)))
    figures: dict[str, Figures] = {}
    for turns in (rounds, options.again):
        if turns and chosen:
            print(f"{turns} rounds")
            for found in compare(chosen, options.torch, options.threads, turns, options.seconds, options.level):
                print(found.line, flush=True)
                figures[found.name] = found
            chosen = [row for row in chosen if figures[row.name].low]
    print(summary(list(figures.values())))


def detail(options: argparse.Namespace) -> None:
    """Print a line per case of the details and the geometric mean of the ratios."""
    options.rounds = options.rounds or 1
    ours, theirs = [], []
    for _ in range(options.rounds):
        ours.append(collect(sys.executable, "ours", options))
        theirs.append(collect(options.torch, "torch", options) if options.torch else {})
    print(f"{options.threads} threads, {options.rounds} rounds")
    ratios, table = {}, []
    for name, (_, traffic, work, _) in ours[0].items():
        seconds = statistics.median(rows[name][0] for rows in ours)
        speed = f"{work / seconds / 1e9:.0f} GFLOP/s" if work else f"{traffic / seconds / 1e9:.1f} GB/s"
        table.append((name, seconds, speed, statistics.median(rows[name][0] if name in rows else 0 for rows in theirs)))
        line = f"{name:48} {seconds * 1e3:9.3f} ms"
        line += f" {work / seconds / 1e9:8.0f} GFLOP/s" if work else f" {traffic / seconds / 1e9:8.1f} GB/s    "
        copy = statistics.median(rows[name][3] for rows in ours)
        line += "            " if work else f"  copy {traffic / seconds / copy:5.2f}"
        if name in theirs[0]:
            both = [(a[name][0], b[name][0]) for a, b in zip(ours, theirs, strict=True)]
            ratios[name] = statistics.median(b / a for a, b in both)
            line += f"  PyTorch {statistics.median(b for _, b in both) * 1e3:9.3f} ms  ratio {ratios[name]:5.2f}"
        print(line)
    if ratios:
        print(
            f"geometric mean of {len(ratios)} ratios {math.exp(sum(map(math.log, ratios.values())) / len(ratios)):.2f}"
        )
    if options.table:
        write_table(table, options.table)
    if ratios and options.png:
        draw(ratios, options.png)
        print(f"chart in {Path(options.png).resolve()}")


if __name__ == "__main__":
    main()
