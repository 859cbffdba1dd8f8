"""Images and rows per second that data pipelines deliver, against MindSpore's and PyTorch's, interleaved.

    python benchmarks/bench_data.py --peers FOLDER --data FOLDER [--mindspore PYTHON] [--torch PYTHON] [--rounds 3]

`--peers` holds bench_data.py, which runs six tasks in one package; `--data` what it made with --make. Prints medians,
the ratio to the quicker peer, and the geometric mean; and how fast the JPEG files are decoded and nothing else.
"""

import argparse
import json
import math
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TASKS = ("folder", "evaluate", "mnist", "cifar", "mindrecord", "csv")


def rates(python, package, options):
    """The rate of each task in one process; tasks that fail are left out, and told."""
    command = [python, options.peers / "bench_data.py", "--package", package, "--data", options.data]
    command += ["--workers", str(options.workers), "--tasks", ",".join(options.tasks)]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    found = {}
    for line in done.stdout.splitlines():
        entry = json.loads(line) if line.startswith("{") else {}
        if "per_s" in entry:
            found[entry["task"]] = entry["per_s"]
        elif "error" in entry:
            print(f"{package} {entry['task']}: {entry['error'][:120]}", file=sys.stderr)
    return found


def decoding(folder, workers):
    """Images per second that libjpeg-turbo alone decodes from memory."""
    import numpy as np

    from dist_ms.dataset.vision.decoding import decode

    files = [np.fromfile(path, np.uint8) for path in sorted((folder / "images").rglob("*.jpg"))]
    with ThreadPoolExecutor(workers) as pool:
        start = time.perf_counter()
        list(pool.map(lambda data: decode(data, "bench"), files))
        return len(files) / (time.perf_counter() - start)


def main():
    """Run the rounds and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--mindspore")
    parser.add_argument("--torch")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tasks", type=lambda text: text.split(","), default=list(TASKS))
    options = parser.parse_args()
    pythons = {"dist_ms": sys.executable, "mindspore": options.mindspore, "torch": options.torch}
    found = {package: defaultdict(list) for package, python in pythons.items() if python}
    for _ in range(options.rounds):
        for package in found:
            for task, rate in rates(pythons[package], package, options).items():
                found[package][task].append(rate)
    print(f"{'task':12}" + "".join(f"{package:>12}" for package in found) + f"{'ratio':>8}")
    ratios = []
    for task in options.tasks:
        medians = {package: statistics.median(rows[task]) for package, rows in found.items() if rows[task]}
        best = max((rate for package, rate in medians.items() if package != "dist_ms"), default=None)
        ratio = medians["dist_ms"] / best if best and "dist_ms" in medians else math.nan
        ratios += [] if math.isnan(ratio) else [ratio]
        cells = "".join(f"{medians.get(package, math.nan):12.0f}" for package in found)
        print(f"{task:12}{cells}{ratio:8.2f}")
    if ratios:
        print(f"geometric mean of {len(ratios)}: {math.exp(statistics.mean(map(math.log, ratios))):.2f}")
    print(f"decoding alone, {options.workers} threads: {decoding(options.data, options.workers):.0f} images/s")


if __name__ == "__main__":
    main()
