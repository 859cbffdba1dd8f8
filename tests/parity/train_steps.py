"""Train twenty steps in MindSpore and in dist_ms from the same weights and data; run by hand.

    python tests/parity/train_steps.py --oracle MINDSPORE_VENV/bin/python --peers PEERS --results RESULTS --models mlp

Every model is trained with every optimizer on four batches in turn, in float32. The table shows, for each pair, the
largest difference of the twenty losses relative to MindSpore's. In brackets: how far dist_ms' own losses move when the
first weights change by 1e-7 of their value, the rounding of float32, which no two programs can undercut.
Results are kept in --results, one file per package and model: MindSpore's are computed once.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import zlib
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

LIMIT = 1e-4
STEPS = 20
MODELS = "mlp lenet resnet18 lstm transformer".split()
SHAPES = {"mlp": (784,), "lenet": (1, 28, 28), "resnet18": (3, 32, 32), "lstm": (12, 16), "transformer": (12, 32)}
BATCH = {"resnet18": 8}
# At the others' rates rounding alone moves this model's losses by percents.
RATE = {"resnet18": 0.01}
OPTIMIZERS: dict[str, dict[str, Any]] = {
    "nn.SGD": {"learning_rate": 0.02},
    "nn.SGD momentum": {"learning_rate": 0.02, "momentum": 0.9, "dampening": 0.1, "weight_decay": 1e-3},
    "nn.SGD nesterov": {"learning_rate": 0.01, "momentum": 0.9, "nesterov": True},
    "nn.Momentum": {"learning_rate": 0.01, "momentum": 0.9, "weight_decay": 1e-3},
    "nn.Momentum nesterov": {"learning_rate": 0.01, "momentum": 0.9, "use_nesterov": True},
    "nn.Adam": {"learning_rate": 1e-3, "weight_decay": 1e-3},
    "nn.Adam nesterov": {"learning_rate": 1e-3, "use_nesterov": True},
    "nn.Adam amsgrad": {"learning_rate": 1e-3, "use_amsgrad": True},
    "nn.Adam lazy": {"learning_rate": 1e-3, "use_lazy": True},
    "nn.Adam offload": {"learning_rate": 1e-3, "use_offload": True},
    "nn.AdamWeightDecay": {"learning_rate": 1e-3, "weight_decay": 1e-2},
    "nn.AdamOffload": {"learning_rate": 1e-3, "weight_decay": 1e-3},
    "nn.Adagrad": {"learning_rate": 1e-2, "weight_decay": 1e-3},
    "nn.Adadelta": {"learning_rate": 0.1},
    "nn.AdaMax": {"learning_rate": 1e-3},
    "nn.ASGD": {"learning_rate": 1e-2},
    "nn.FTRL": {"learning_rate": 1e-2, "l1": 1e-4, "l2": 1e-4},
    "nn.LARS": {"epsilon": 1e-5, "coefficient": 0.02},
    "nn.LARS clip": {"epsilon": 1e-5, "coefficient": 0.02, "use_clip": True},
    "nn.LazyAdam": {"learning_rate": 1e-3},
    "nn.Lamb": {"learning_rate": 1e-3, "weight_decay": 1e-2},
    "nn.ProximalAdagrad": {"learning_rate": 1e-2, "l1": 1e-4, "l2": 1e-4},
    "nn.RMSProp": {"learning_rate": 1e-3},
    "nn.RMSProp centered": {"learning_rate": 1e-3, "momentum": 0.5, "centered": True},
    "nn.Rprop": {"learning_rate": 1e-4},
    "nn.AdaFactor": {},
    "nn.AdaFactor fixed": {"learning_rate": 1e-3, "scale_parameter": False, "relative_step": False, "beta1": 0.9},
    "mint.optim.SGD": {"lr": 0.02, "momentum": 0.9},
    "mint.optim.Adam": {"lr": 1e-3},
    "mint.optim.AdamW": {"lr": 1e-3},
    "mint.optim.FusedAdamW": {"lr": 1e-3},
    "experimental.optim.Adadelta": {"lr": 0.1},
    "experimental.optim.Adagrad": {"lr": 1e-2, "lr_decay": 0.1},
    "experimental.optim.Adam": {"lr": 1e-3, "weight_decay": 1e-3},
    "experimental.optim.Adam amsgrad": {"lr": 1e-3, "amsgrad": True},
    "experimental.optim.Adamax": {"lr": 1e-3},
    "experimental.optim.AdamW": {"lr": 1e-3},
    "experimental.optim.AdamW amsgrad": {"lr": 1e-3, "amsgrad": True},
    "experimental.optim.AdamW no decay": {"lr": 1e-3, "weight_decay": 0.0},
    "experimental.optim.ASGD": {"lr": 1e-2},
    "experimental.optim.NAdam": {"lr": 1e-3},
    "experimental.optim.RAdam": {"lr": 1e-3},
    "experimental.optim.RMSprop": {"lr": 1e-3},
    "experimental.optim.RMSprop centered": {"lr": 3e-4, "momentum": 0.5, "centered": True},
    "experimental.optim.Rprop": {"lr": 1e-4},
    "experimental.optim.SGD": {"lr": 0.02, "momentum": 0.9},
    "experimental.optim.SGD nesterov": {"lr": 0.02, "momentum": 0.9, "nesterov": True},
}
# What MindSpore 2.10 does not do on a CPU, and MindSpore's row of the same formula: its Momentum leaves use_nesterov
# out, its mint.optim SGD and Adam leave the parameters as they were, AdamW and FusedAdamW have no kernel.
SAME_FORMULA = {
    "nn.Momentum nesterov": "nn.SGD nesterov",
    "mint.optim.SGD": "experimental.optim.SGD",
    "mint.optim.Adam": "experimental.optim.AdamW no decay",
    "mint.optim.AdamW": "experimental.optim.AdamW",
    "mint.optim.FusedAdamW": "experimental.optim.AdamW",
}


def mlp(ms: ModuleType) -> Any:
    """784 - 128 - 64 - 10."""
    nn = ms.nn
    return nn.SequentialCell(nn.Dense(784, 128), nn.ReLU(), nn.Dense(128, 64), nn.ReLU(), nn.Dense(64, 10))


def lstm(ms: ModuleType) -> Any:
    """A two-layer bidirectional LSTM and a linear head on its last step."""
    nn = ms.nn

    class Lstm(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.recurrent = nn.LSTM(16, 24, num_layers=2, batch_first=True, bidirectional=True)
            self.head = nn.Dense(48, 10)

        def construct(self, x: Any) -> Any:
            return self.head(self.recurrent(x)[0][:, -1])

    return Lstm()


def transformer(ms: ModuleType) -> Any:
    """One encoder layer of four heads, its mean over the sequence, a linear head."""
    nn = ms.nn

    class Transformer(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.block = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
            self.head = nn.Dense(32, 10)

        def construct(self, x: Any) -> Any:
            return self.head(self.block(x).mean(1))

    return Transformer()


def weights(name: str, shape: tuple[int, ...], move: float) -> np.ndarray:
    """A parameter's first values, drawn from its name and scaled by its fan-in."""
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    drawn = generator.standard_normal(shape) / np.sqrt(np.prod(shape[1:]) if len(shape) > 1 else 100)
    if "gamma" in name:
        drawn = drawn + 1
    return (drawn * (1 + move * generator.standard_normal(shape))).astype(np.float32)


def optimizer(ms: ModuleType, label: str, parameters: list, rate: float) -> Any:
    """The optimizer of a row: its class by name, its learning rate times `rate`; LARS around a Momentum."""
    kind, name = label.split()[0].rsplit(".", 1)
    found = getattr(import_module(f"{ms.__name__}.{kind}"), name)
    if name == "LARS":
        return found(ms.nn.Momentum(parameters, 0.1 * rate, 0.9), **OPTIMIZERS[label])
    settings = {k: v * rate if k in ("lr", "learning_rate") else v for k, v in OPTIMIZERS[label].items()}
    return found(parameters, **settings)


def losses(ms: ModuleType, build: Any, model: str, label: str, move: float = 0.0) -> list[float]:
    """The losses of the twenty steps."""
    own = {"mlp": mlp, "lstm": lstm, "transformer": transformer}
    network = own[model](ms) if model in own else build(model, ms)[0]
    network.set_train()
    for name, p in network.parameters_and_names():
        if p.requires_grad:
            p.set_data(ms.Tensor(weights(name, p.shape, move)))
    update = optimizer(ms, label, network.trainable_params(), RATE.get(model, 1.0))
    generator = np.random.default_rng(5)
    rows = BATCH.get(model, 32)
    batches = [
        (
            ms.Tensor(generator.standard_normal((rows, *SHAPES[model])).astype(np.float32)),
            ms.Tensor(generator.integers(0, 10, rows).astype(np.int32)),
        )
        for _ in range(4)
    ]
    criterion = ms.nn.CrossEntropyLoss()
    if label.startswith("nn."):
        step = ms.nn.TrainOneStepCell(ms.nn.WithLossCell(network, criterion), update)
        step.set_train()
    else:
        both = ms.value_and_grad(lambda x, y: criterion(network(x), y), None, network.trainable_params())

        def step(x: Any, y: Any) -> Any:
            loss, gradients = both(x, y)
            update(gradients)
            return loss

    return [float(step(*batches[i % 4]).asnumpy()) for i in range(STEPS)]


def run(package: str, models: list[str], labels: list[str], results: Path, peers: str) -> None:
    """Run rows with one package; an error's text stands for the losses."""
    sys.path.insert(0, peers)
    build = import_module("models_mindspore").build
    ms = import_module(package)
    for model in models:
        file = results / f"{package}-{model}.json"
        kept = json.loads(file.read_text()) if file.exists() else {}
        for label in labels:
            start = time.time()
            try:
                kept[label] = losses(ms, build, model, label)
                if package == "dist_ms":
                    kept[f"{label} moved"] = losses(ms, build, model, label, 1e-7)
            except Exception as error:  # whatever an optimizer raises is a row of the table
                kept[label] = " ".join(f"{type(error).__name__}: {error}".split())[:160]
            print(f"{package} {model} {label} {time.time() - start:.1f} s", file=sys.stderr, flush=True)
            file.write_text(json.dumps(kept))


def far(found: list[float], wanted: list[float]) -> float:
    """The largest relative difference; a NaN is infinitely far, unless both have it in the same steps."""
    a, b = np.asarray(found), np.asarray(wanted)
    if not np.array_equal(np.isfinite(a), np.isfinite(b)):
        return float("inf")
    ok = np.isfinite(b)
    return float((np.abs(a - b)[ok] / np.abs(b)[ok]).max()) if ok.any() else 0.0


def row(label: str, wanted: dict, found: dict) -> tuple[bool | None, str]:
    """One cell of the table and whether it agrees; None where MindSpore itself refuses."""
    referee = SAME_FORMULA.get(label, label)
    if isinstance(wanted.get(referee), str) or referee not in wanted:
        also = "" if isinstance(found.get(label), str) else ", dist_ms runs"
        return None, f"MindSpore: {wanted.get(referee, 'no result')}{also}"
    if isinstance(found.get(label), str) or label not in found:
        return False, f"dist_ms: {found.get(label, 'no result')}"
    difference, moved = far(found[label], wanted[referee]), far(found[f"{label} moved"], found[label])
    ends = f"loss {found[label][0]:.3f} -> {found[label][-1]:.3f}"
    if referee != label:
        ends += f", against {referee}"
    return difference <= LIMIT, f"{difference:.1e} ({moved:.1e})  {ends}"


def main() -> int:
    """Run both packages, each in its own interpreter, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", default=MODELS, choices=MODELS)
    parser.add_argument("--optimizers", nargs="+", default=list(OPTIMIZERS), help="parts of the rows' names")
    parser.add_argument("--oracle", help="a Python that has MindSpore; not needed with --package")
    parser.add_argument("--peers", required=True, help="the folder of models_mindspore.py")
    parser.add_argument("--results", type=Path, required=True, help="a folder to keep results in")
    parser.add_argument("--package", choices=["mindspore", "dist_ms"], help="only run this one, in this interpreter")
    options = parser.parse_args()
    options.results.mkdir(parents=True, exist_ok=True)
    labels = [known for known in OPTIMIZERS if any(part in known for part in options.optimizers)]
    if options.package:
        run(options.package, options.models, labels, options.results, options.peers)
        return 0
    if not options.oracle:
        parser.error("--oracle is needed to compare")
    common = ["--results", str(options.results), "--peers", options.peers]
    agreed: list[bool] = []
    for model in options.models:
        for package, python in (("mindspore", options.oracle), ("dist_ms", sys.executable)):
            file = options.results / f"{package}-{model}.json"
            known = json.loads(file.read_text()) if package == "mindspore" and file.exists() else {}
            todo = [label for label in labels if label not in known]
            if todo:
                arguments = ["--package", package, "--models", model, "--optimizers", *todo]
                subprocess.run([python, __file__, *common, *arguments], check=False, cwd=options.results)
        wanted, found = (
            json.loads((options.results / f"{p}-{model}.json").read_text()) for p in ("mindspore", "dist_ms")
        )
        for label in labels:
            agrees, text = row(label, wanted, found)
            agreed += [] if agrees is None else [agrees]
            print(f"{model:12} {label:36} {'--' if agrees is None else 'ok' if agrees else 'NO':3} {text}", flush=True)
    print(f"{sum(agreed)} of {len(agreed)} rows agree to {LIMIT:g}.")
    return 0 if all(agreed) else 1


if __name__ == "__main__":
    sys.exit(main())
