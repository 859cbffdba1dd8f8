"""Samples per second of a training step on dist_ms over PyTorch, for the peers' five models.

`--peers` names the folder with bench_mindspore_api.py and bench_torch.py, the same models on both
interfaces. Each round runs both packages once on a model, each in a process of its own and with
`--threads` threads; the table shows the median rates and the median of the rounds' ratios, and last
their geometric mean. Above 1 dist_ms is faster. A run whose loss does not fall is marked.

    python benchmarks/bench_step.py --peers FOLDER --torch PYTHON [--bf16] [--channels-last] [--fused]
        [--compile] [--models lenet,mlp,resnet18,gpt,widedeep] [--rounds 3] [--png FILE]
"""

import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys

MODELS = "lenet,mlp,resnet18,gpt,widedeep"
TORCH_ONLY = ("channels_last", "fused", "compile")


def run(command, timeout):
    """The figures that a peer's script prints last, or None with its error shown."""
    try:
        out = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        print(f"{' '.join(command)}: no end after {timeout} s", file=sys.stderr)
        return None
    rows = [line[line.index("{") :] for line in out.stdout.splitlines() if '"samples_per_s"' in line]
    if not rows:
        print(f"{' '.join(command)}: {out.stderr.strip()[-400:]}", file=sys.stderr)
        return None
    return json.loads(rows[-1])


def commands(options, model):
    """What to run for one model, by package."""
    common = ["--model", model, "--threads", str(options.threads), "--steps", str(options.steps)]
    common += ["--bf16"] if options.bf16 else []
    flags = [f"--{name.replace('_', '-')}" for name in TORCH_ONLY if getattr(options, name)]
    ours = options.peers / "bench_mindspore_api.py"
    return {
        "dist_ms": [sys.executable, str(ours), "--package", "dist_ms", *common],
        "torch": [options.torch, str(options.peers / "bench_torch.py"), *common, *flags],
    }


def compare(options, model):
    """Median rates by package, the median ratio, and whether every run learned."""
    rates, ratios, learned = {"dist_ms": [], "torch": []}, [], True
    for _ in range(options.rounds):
        found = {package: run(command, options.timeout) for package, command in commands(options, model).items()}
        for package, row in found.items():
            if row is not None:
                rates[package].append(row["samples_per_s"])
                learned = learned and row["last_loss"] < row["first_loss"]
        if all(found.values()):
            ratios.append(found["dist_ms"]["samples_per_s"] / found["torch"]["samples_per_s"])
    middle = {package: statistics.median(values) if values else math.nan for package, values in rates.items()}
    return middle, statistics.median(ratios) if ratios else math.nan, learned


def draw(rows, title, path):
    """A bar per model: its ratio, with the line at 1."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    bars = axes.bar(list(rows), [ratio for _, ratio, _ in rows.values()])
    axes.bar_label(bars, fmt="%.2f")
    axes.axhline(1, color="black", linewidth=1)
    axes.set_ylabel("samples per second, dist_ms / PyTorch")
    axes.set_title(title)
    figure.savefig(path, dpi=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=pathlib.Path, required=True, help="the folder with the peers' scripts")
    parser.add_argument("--torch", required=True, help="a Python that has PyTorch")
    parser.add_argument("--models", default=MODELS)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--timeout", type=int, default=600, help="seconds that one run may take")
    parser.add_argument("--bf16", action="store_true", help="mixed precision on both sides")
    for name in TORCH_ONLY:
        parser.add_argument(f"--{name.replace('_', '-')}", action="store_true", help="PyTorch's setting")
    parser.add_argument("--png", default="bench_step.png", help="where the chart goes")
    options = parser.parse_args()

    chosen = [f"--{name.replace('_', '-')}" for name in ("bf16", *TORCH_ONLY) if getattr(options, name)]
    title = f"{options.threads} threads {' '.join(chosen)}".strip()
    print(f"training step, {title}\n{'model':10}{'dist_ms /s':>13}{'torch /s':>13}{'ratio':>8}")
    rows = {}
    for model in options.models.split(","):
        rows[model] = middle, ratio, learned = compare(options, model)
        note = "" if learned else "  a loss did not fall"
        print(f"{model:10}{middle['dist_ms']:13.1f}{middle['torch']:13.1f}{ratio:8.2f}{note}", flush=True)
    mean = math.exp(statistics.fmean([math.log(ratio) for _, ratio, _ in rows.values()]))
    print(f"{'geometric mean':36}{mean:8.2f}")
    draw(rows, title, options.png)


if __name__ == "__main__":
    main()
