"""The desync detector's share of a training step, for the peers' models on 2 ranks.

`--peers` names the folder with bench_mindspore_api.py. The share is the time in `DesyncDetector.step`, comparisons and
the wait for the other rank in them included, over the time from its first call to its last.

    python benchmarks/bench_desync.py --peers FOLDER [--models mlp,resnet18,gpt] [--ranks 2] [--steps 60]
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

TIMED = """
import json, runpy, sys, time
from dist_ms.parallel.replicas.desync import DesyncDetector
step, spent, begun = DesyncDetector.step, [], []
def timed(self):
    begun.append(time.perf_counter())
    step(self)
    spent.append(time.perf_counter() - begun[-1])
DesyncDetector.step = timed
sys.argv = sys.argv[1:]
sys.path.insert(0, sys.argv[0].rpartition("/")[0])
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    from dist_ms.communication import get_rank
    if get_rank() == 0:
        whole = begun[-1] - begun[0]
        print(json.dumps({"steps": len(begun), "step": whole / (len(begun) - 1), "share": sum(spent[:-1]) / whole}))
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, required=True)
    parser.add_argument("--models", default="mlp,resnet18,gpt")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--steps", type=int, default=60)
    options = parser.parse_args()
    mpirun = shutil.which("mpirun", path=str(Path(sys.executable).parent)) or "mpirun"
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    each = max(1, len(os.sched_getaffinity(0)) // options.ranks)
    start = [mpirun, *root, "--map-by", f"slot:PE={each}", "--bind-to", "core", "-n", str(options.ranks)]
    for model in options.models.split(","):
        words = [sys.executable, "-c", TIMED, str(options.peers / "bench_mindspore_api.py"), "--package", "dist_ms"]
        words += ["--parallel", "--model", model, "--threads", str(each), "--steps", str(options.steps)]
        done = subprocess.run([*start, *words], stdout=subprocess.PIPE, text=True, check=True)
        found = json.loads(next(line for line in done.stdout.splitlines() if '"share"' in line))
        print(
            f"{model:10} {found['steps']:4} steps of {1e3 * found['step']:8.2f} ms, "
            f"{100 * found['share']:.3f} % of it in the detector"
        )


if __name__ == "__main__":
    main()
