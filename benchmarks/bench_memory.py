"""Peak memory of training steps on dist_ms over PyTorch, for the peers' models.

`--peers` names the folder with bench_mindspore_api.py and bench_torch.py, the same models on both
interfaces. Each package trains a model for some steps in a process of its own. Counted is the peak of
resident memory above what the process had after importing the package, in MiB; for dist_ms also the
most that arrays had at once, by `ms.runtime.max_memory_allocated`. Below 1 dist_ms needs less.

    python benchmarks/bench_memory.py --peers FOLDER --torch PYTHON [--models resnet18,gpt] [--bf16]
"""

import argparse
import json
import pathlib
import subprocess
import sys

MIB = 2**20
# Runs a peer's script in this process and prints the figures after it.
MEASURED = """
import json, os, runpy, sys
folder, script, package = sys.argv[1:4]
os.environ["OMP_NUM_THREADS"] = sys.argv[4]
sys.path.insert(0, folder)
sys.argv = [script, *sys.argv[5:]]
def status(key):
    with open("/proc/self/status") as file:
        return next(1024 * int(line.split()[1]) for line in file if line.startswith(key + ":"))
if package == "torch":
    import torch, numpy
else:
    import dist_ms, dist_ms.nn, dist_ms.amp, dist_ms.communication, dist_ms._ext.dnnl
before = status("VmRSS")
runpy.run_path(os.path.join(folder, script), run_name="__main__")
found = {"peak": status("VmHWM") - before}
if package == "dist_ms":
    found["arrays"] = dist_ms.runtime.max_memory_allocated()
print(json.dumps(found))
"""


def measure(python, package, options, model):
    """The figures of one package and model, in bytes."""
    script = "bench_torch.py" if package == "torch" else "bench_mindspore_api.py"
    arguments = ["--model", model, "--threads", str(options.threads), "--steps", str(options.steps), "--warmup", "2"]
    arguments += ["--bf16"] if options.bf16 else []
    arguments += ["--package", "dist_ms"] if package == "dist_ms" else []
    command = [python, "-c", MEASURED, str(options.peers), script, package, str(options.threads), *arguments]
    out = subprocess.run(command, capture_output=True, text=True, timeout=options.timeout, check=False)
    if out.returncode:
        raise SystemExit(f"{package}, {model}: {out.stderr.strip()[-800:]}")
    return json.loads(out.stdout.splitlines()[-1])


def draw(rows, path):
    """Bars side by side: both packages' peaks, and dist_ms's arrays."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for i, (label, key) in enumerate((("PyTorch", 1), ("dist_ms", 0), ("dist_ms, arrays alone", 2))):
        axes.bar([n + 0.27 * i for n in range(len(rows))], [row[key] for row in rows.values()], 0.25, label=label)
    axes.set_xticks([n + 0.27 for n in range(len(rows))], list(rows))
    axes.set_ylabel("peak memory above the import, MiB")
    axes.legend()
    figure.savefig(path, dpi=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=pathlib.Path, required=True, help="the folder with the peers' scripts")
    parser.add_argument("--torch", required=True, help="a Python that has PyTorch")
    parser.add_argument("--models", default="resnet18,gpt")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--timeout", type=int, default=600, help="seconds that one run may take")
    parser.add_argument("--bf16", action="store_true", help="mixed precision on both sides")
    parser.add_argument("--png", default="bench_memory.png", help="where the chart goes")
    options = parser.parse_args()

    print(f"{'model':10}{'dist_ms MiB':>13}{'torch MiB':>12}{'ratio':>8}{'arrays MiB':>13}")
    rows = {}
    for model in options.models.split(","):
        ours = measure(sys.executable, "dist_ms", options, model)
        theirs = measure(options.torch, "torch", options, model)
        rows[model] = ours["peak"] / MIB, theirs["peak"] / MIB, ours["arrays"] / MIB
        a, b, arrays = rows[model]
        print(f"{model:10}{a:13.0f}{b:12.0f}{a / b:8.2f}{arrays:13.0f}", flush=True)
    draw(rows, options.png)


if __name__ == "__main__":
    main()
