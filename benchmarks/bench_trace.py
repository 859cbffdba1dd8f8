"""What a trace costs, for the peers' models on 2 ranks: the step with `dist-ms run --trace` over that without.

`--peers` names the folder with bench_mindspore_api.py. Runs with and without alternate; a ratio is that of the medians.
The steps in which operations are recorded fall into the script's warm-up. "unlabelled" is the share of the steps' time
that no lane covers, on the rank with the most of it.

    python benchmarks/bench_trace.py --peers FOLDER [--models lenet,mlp,resnet18,gpt,widedeep] [--ranks 2] [--rounds 5]
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from dist_ms.launch.reporting.phases import phases
from dist_ms.launch.reporting.reading import read_ranks


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, required=True)
    parser.add_argument("--models", default="lenet,mlp,resnet18,gpt,widedeep")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=60)
    options = parser.parse_args()
    start = [sys.executable, "-m", "dist_ms.launch", "run", "-n", str(options.ranks)]
    for model in options.models.split(","):
        words = [str(options.peers / "bench_mindspore_api.py"), "--package", "dist_ms", "--parallel"]
        words += ["--model", model, "--steps", str(options.steps)]
        plain, traced, bare = [], [], 0.0
        for _ in range(options.rounds):
            with tempfile.TemporaryDirectory() as folder:
                for times, trace in ((plain, []), (traced, ["--trace", folder])):
                    done = subprocess.run([*start, *trace, *words], stdout=subprocess.PIPE, text=True, check=True)
                    found = json.loads(next(line for line in done.stdout.splitlines() if '"step_ms"' in line))
                    times.append(found["step_ms"])
                bare = max(bare, *(rank.share("unlabelled") for rank in phases(read_ranks(folder))))
        without, with_trace = map(statistics.median, (plain, traced))
        print(
            f"{model:10} {without:8.2f} ms without, {with_trace:8.2f} ms with a trace: {with_trace / without:.3f}; "
            f"at most {bare:.1%} of a rank's time unlabelled",
            flush=True,
        )


if __name__ == "__main__":
    main()
