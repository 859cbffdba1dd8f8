"""Start to finish of a job that only initialises, meets in one barrier and exits: 2 ranks.

`dist-ms run -n 2` against `torchrun --nproc-per-node 2` with gloo, in turns; the first round warms
the disk's cache and does not count. The parts of our time are shown as well.

    python benchmarks/bench_start.py [--rounds 5] [--torchrun PROGRAM]
"""

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

OURS = "from dist_ms.communication import get_comm, init\ninit()\nget_comm().barrier()\n"
THEIRS = "import torch.distributed as d\nd.init_process_group('gloo')\nd.barrier()\nd.destroy_process_group()\n"


def seconds(words):
    """How long a command takes."""
    start = time.perf_counter()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--torchrun", help="PyTorch's launcher")
    options = parser.parse_args()
    python, launch = sys.executable, [sys.executable, "-m", "dist_ms.launch", "run", "-n", "2"]
    mpirun = shutil.which("mpirun", path=str(Path(python).parent)) or "mpirun"
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs, nothing = (Path(folder) / name for name in ("ours.py", "theirs.py", "nothing.py"))
        ours.write_text(OURS)
        theirs.write_text(THEIRS)
        nothing.write_text("")
        contest = {"dist-ms run": [*launch, str(ours)]}
        if options.torchrun:
            contest["torchrun, gloo"] = [options.torchrun, "--nproc-per-node", "2", str(theirs)]
        contest |= {
            "  a script that does nothing, on 2 ranks": [*launch, str(nothing)],
            "  python": [python, str(nothing)],
            "  import dist_ms": [python, "-c", "import dist_ms"],
            "  mpirun --version": [mpirun, "--version"],
        }
        times = {name: [] for name in contest}
        for turn in range(options.rounds + 1):
            for name, words in contest.items():
                taken = seconds(words)
                if turn:
                    times[name].append(taken)
    medians = {name: statistics.median(some) for name, some in times.items()}
    for name, median in medians.items():
        print(f"{name:42}{median:8.3f} s")
    if options.torchrun:
        print(f"{'ratio':42}{medians['dist-ms run'] / medians['torchrun, gloo']:8.2f}")


if __name__ == "__main__":
    main()
