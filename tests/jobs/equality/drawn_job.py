"""A job with drawn settings, and the same training in one process; what test_drawn_jobs.py starts.

    python drawn_job.py SEED RANKS FOLDER

RANKS is how many the job has, also for the one process, which trains on all rows. Each process writes its weights to
FOLDER, and rank 0 the settings.
"""

import json
import random
import sys
from pathlib import Path

import numpy as np

import dist_ms as ms
from dist_ms import Tensor, nn, ops
from dist_ms.amp import FixedLossScaleManager, auto_mixed_precision
from dist_ms.communication import get_group_size, get_rank, init

ROWS, STEPS = 12, 6
# Where rounding is not made larger by dividing by the root of a gradient's square.
SMOOTH = ("SGD", "Momentum", "FTRL", "Adagrad")


def draw(seed):
    """The settings of a job."""
    one = random.Random(seed).choice
    found = {
        "loop": one(["model", "model", "step", "function", "function overlapped", "parts"]),
        "optimizer": one([*SMOOTH, "Adam", "AdamWeightDecay", "Lamb", "LazyAdam", "AdaMax"]),
        "uneven": one([False, True]),
        "fusion": one(["auto", "one bucket", "small buckets", "indices", "of parameters"]),
        "divided": one([False, False, True]),
        "amp": one(["O0", "O0", "O0", "O2"]),
        "groups": one([False, True]),
        "schedule": one([False, True]),
        "clip": one([None, 0.5]),
        "scale": one([None, 128.0]),
        "table": one([None, "dense", "sparse"]),
        "lstm": one([False, True]),
        "norm": one([None, "layer", "sync"]),
        "width": one([8, 300]),
        "own": one([False, False, True]),
    }
    if found["loop"] != "model":
        found |= {"uneven": False, "scale": None}
    if found["loop"] not in ("model", "parts"):
        found["clip"] = None
    if found["norm"] == "sync" and (found["loop"] == "parts" or found["uneven"]):
        found["norm"] = "layer"  # the rows that are together differ
    if found["optimizer"] == "Lamb":
        found["divided"] = False
    found["exact"] = found["amp"] == "O0" and found["optimizer"] in SMOOTH and not found["own"]
    return found


class Net(nn.Cell):
    """Dense layers, with a table, an LSTM, a norm, a weight that is used twice, and one that is not used."""

    def __init__(self, settings, alone):
        super().__init__()
        width, table = settings["width"], settings["table"]
        self.table = None
        if table is not None:
            self.table = nn.EmbeddingLookup(50, 6, sparse=True) if table == "sparse" else nn.Embedding(50, 6)
        self.lstm = nn.LSTM(6, 6, batch_first=True) if settings["lstm"] else None
        self.first = nn.Dense(36 + 18 * (table is not None) + 6 * settings["lstm"], width)
        self.twice = nn.Dense(width, width)
        norms = {"layer": lambda: nn.LayerNorm((width,)), "sync": lambda: nn.SyncBatchNorm(width)}
        if alone:
            norms["sync"] = lambda: nn.BatchNorm1d(width)
        self.norm = norms[settings["norm"]]() if settings["norm"] else None
        self.last = nn.Dense(width, 3)
        self.never = ms.Parameter(Tensor(np.ones((5, 7), np.float32)), name="never")
        self.first.bias.requires_grad = False
        self.last.bias.layerwise_parallel = settings["own"]
        self.loss = nn.CrossEntropyLoss()

    def construct(self, x, ids, y):
        parts = [x.reshape((x.shape[0], -1))]
        if self.table is not None:
            parts.append(self.table(ids).reshape((x.shape[0], -1)))
        if self.lstm is not None:
            parts.append(self.lstm(x)[0][:, -1])
        out = ops.tanh(self.first(ops.cat(parts, 1)))
        out = ops.tanh(self.twice(ops.relu(self.twice(out))))
        out = out if self.norm is None else self.norm(out)
        return self.loss(self.last(out), y)


def optimizer_of(settings, weights):
    """The optimizer, with groups and a schedule where they are drawn."""
    kind, rate = getattr(nn, settings["optimizer"]), 0.05 if settings["optimizer"] in SMOOTH else 0.005
    if settings["groups"] and kind is not nn.FTRL:
        of_biases = {"params": [p for p in weights if "bias" in p.name], "lr": rate / 2}
        weights = [of_biases, {"params": [p for p in weights if "bias" not in p.name], "weight_decay": 1e-3}]
    if settings["schedule"] and kind is not nn.FTRL:
        rate = [rate / (1 + 0.1 * step) for step in range(STEPS)]
    more = {"momentum": 0.9} if kind in (nn.SGD, nn.Momentum) else {}
    return kind(weights, learning_rate=rate, **more)


def batches(settings, seed, ranks, rank):
    """The rows of a rank, step by step; of all ranks for None."""
    for step in range(STEPS):
        rng = np.random.default_rng([seed, step])
        x = rng.standard_normal((ROWS, 6, 6)).astype(np.float32)
        ids, y = rng.integers(0, 50, (ROWS, 3)).astype(np.int32), rng.integers(0, 3, ROWS).astype(np.int32)
        inner = [k * ROWS // ranks for k in range(1, ranks)]
        if settings["uneven"]:
            inner = sorted(rng.choice(np.arange(1, ROWS), ranks - 1, replace=False).tolist())
        cuts = [0, *inner, ROWS]
        part = slice(None) if rank is None else slice(cuts[rank], cuts[rank + 1])
        yield x[part], ids[part], y[part]


def train(settings, net, optimizer, data, alone):
    """Train in the drawn kind of loop."""
    loop, amp = settings["loop"], settings["amp"]
    if loop in ("model", "parts"):
        more = {"gradient_accumulation_steps": 2} if loop == "parts" else {}
        if settings["scale"]:
            more["loss_scale_manager"] = FixedLossScaleManager(settings["scale"])
        model = ms.Model(net, None, optimizer, amp_level=amp, gradient_clip_norm=settings["clip"], **more)
        model.train(1, data, uneven="exact" if settings["uneven"] and not alone else None)
        return
    net = net if amp == "O0" else auto_mixed_precision(net, amp)
    net.set_train()
    if loop == "step":
        step = nn.TrainOneStepCell(net, optimizer)
        for batch in data:
            step(*map(Tensor, batch))
        return
    gradients = ms.value_and_grad(net, None, optimizer.parameters)
    divided = optimizer if settings["divided"] else None
    overlap = True if loop == "function overlapped" else None
    reduced = nn.DistributedGradReducer(optimizer.parameters, overlap=overlap, optimizer=divided)
    for batch in data:
        _, found = gradients(*map(Tensor, batch))
        optimizer(found if alone else reduced(found))


def main():
    seed, ranks, folder = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    init()
    settings, alone = draw(seed), get_group_size() < ranks
    fusion = {"one bucket": ("size", 1 << 10), "small buckets": ("size", 1), "indices": ("index", [2, 3])}
    if not alone:
        mode, config = fusion.get(settings["fusion"], ("auto", None))
        ms.set_auto_parallel_context(
            parallel_mode="hybrid_parallel" if settings["own"] else "data_parallel",
            gradients_mean=True,
            comm_fusion={"allreduce": {"mode": mode, "config": config}},
            enable_parallel_optimizer=settings["divided"],
            parallel_optimizer_config={"parallel_optimizer_threshold": 0},
        )
    ms.set_seed(seed + 1)
    net = Net(settings, alone)
    if settings["fusion"] == "of parameters":
        for i, parameter in enumerate(net.trainable_params()):
            parameter.comm_fusion = 1 + i % 3
    data = list(batches(settings, seed, ranks, None if alone else get_rank()))
    train(settings, net, optimizer_of(settings, net.trainable_params()), data, alone)
    values = {p.name: p.asnumpy() for p in net.get_parameters()}
    np.savez(folder / ("alone.npz" if alone else f"rank_{get_rank()}.npz"), **values)
    (folder / "settings.json").write_text(json.dumps(settings)) if alone else None


if __name__ == "__main__":
    main()
