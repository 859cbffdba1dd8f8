"""Wide & Deep on a click log: one script, alone, data-parallel, or with parameter servers.

    python examples/wide_deep.py                                     alone
    dist-ms run -n 2 examples/wide_deep.py                           2 workers, all-reduce
    dist-ms run -n 2 --servers 2 examples/wide_deep.py               2 workers, tables on 2 servers
    dist-ms run -n 2 --servers 2 examples/wide_deep.py --staleness 2 workers may be 2 updates apart
    dist-ms run -n 2 --servers 2 examples/wide_deep.py --staleness inf
    ... --data train.txt                                             Criteo's display-advertising log

A line of the log is `label TAB 13 numbers TAB 26 categories`; numbers and categories may be missing.
Without --data a log of that form is made: categories follow Zipf's law, as in real logs, and clicks
depend on some of them, on pairs and on numbers. Source of the model: Cheng et al., Wide & Deep
Learning for Recommender Systems, 2016.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import dist_ms as ms
from dist_ms import Tensor, nn, ops
from dist_ms.communication import get_comm, get_group_size, get_rank, init

NUMBERS, CATEGORIES = 13, 26


def write_log(path: Path, lines: int, seed: int = 0) -> None:
    """Make a click log in Criteo's format."""
    random = np.random.default_rng(seed)
    sizes = np.geomspace(10, 20000, CATEGORIES).astype(int)
    taste = np.random.default_rng(99)
    weights = [taste.normal(0, 0.6, size) for size in sizes]
    pair = taste.normal(0, 0.8, (sizes[2], sizes[4]))
    with path.open("w") as file:
        for _ in range(0, lines, 10000):
            n = min(10000, lines)
            ids = np.stack([(random.zipf(1.3, n) - 1) % size for size in sizes], 1)
            numbers = random.exponential(3.0, (n, NUMBERS)).astype(int)
            score = sum(weights[f][ids[:, f]] for f in range(0, CATEGORIES, 2)) + pair[ids[:, 2], ids[:, 4]]
            score += 0.4 * (np.log1p(numbers[:, 0]) - np.log1p(numbers[:, 1])) - 1.0
            clicks = random.random(n) < 1 / (1 + np.exp(-score))
            missing = random.random((n, NUMBERS)) < 0.05
            for i in range(n):
                left = ["" if gone else str(x) for x, gone in zip(numbers[i], missing[i], strict=True)]
                right = [f"{(f * 1000003 + int(x) * 2654435761) % 2**32:08x}" for f, x in enumerate(ids[i])]
                file.write("\t".join([str(int(clicks[i])), *left, *right]) + "\n")


def read_log(path: Path, rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Read a log: row numbers of the categories, logarithms of the numbers, and clicks.

    A category becomes a row by hashing; every field has its own part of the table.
    """
    each = rows // CATEGORIES
    ids, numbers, clicks = [], [], []
    with path.open() as file:
        for line in file:
            words = line.rstrip("\n").split("\t")
            if len(words) != 1 + NUMBERS + CATEGORIES:
                raise ValueError(
                    f"a line must have {1 + NUMBERS + CATEGORIES} columns, but got {len(words)}: {line[:60]!r}"
                )
            clicks.append(int(words[0]))
            numbers.append([math.log1p(max(0, int(w))) if w else 0.0 for w in words[1 : 1 + NUMBERS]])
            ids.append([f * each + (int(w, 16) % each if w else 0) for f, w in enumerate(words[1 + NUMBERS :])])
    return np.array(ids, np.int32), np.array(numbers, np.float32), np.array(clicks, np.float32)


def made_log(lines: int, rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make a log and read it: rank 0 writes it into a folder of its own, which is gone afterwards."""
    comm = get_comm()
    with tempfile.TemporaryDirectory(prefix="dist_ms_clicks") as folder:
        path = Path(folder) / "clicks.tsv"
        if comm.rank == 0:
            write_log(path, lines)
        data = read_log(Path(comm.gather_objects(str(path))[0]), rows)
        comm.barrier()
    return data


class WideDeep(nn.Cell):
    """A linear model of the categories beside a network of their vectors."""

    def __init__(self, rows: int, columns: int) -> None:
        super().__init__()
        self.wide = nn.EmbeddingLookup(rows, 1, param_init="zeros")
        self.deep = nn.EmbeddingLookup(rows, columns)
        self.layers = nn.SequentialCell(
            nn.Dense(CATEGORIES * columns + NUMBERS, 128), nn.ReLU(), nn.Dense(128, 32), nn.ReLU(), nn.Dense(32, 1)
        )

    def construct(self, ids: Tensor, numbers: Tensor) -> Tensor:
        """The logits, one per sample."""
        vectors = self.deep(ids).reshape((ids.shape[0], -1))
        return self.layers(ops.concat((vectors, numbers), 1)).reshape((-1,)) + self.wide(ids).sum((1, 2))


class Loss(nn.Cell):
    """The mean cross entropy of the clicks."""

    def __init__(self, net: nn.Cell) -> None:
        super().__init__(auto_prefix=False)
        self.net = net
        self.loss = nn.BCEWithLogitsLoss()

    def construct(self, ids: Tensor, numbers: Tensor, clicks: Tensor) -> Tensor:
        """The loss of a batch."""
        return self.loss(self.net(ids, numbers), clicks)


def auc(scores: np.ndarray, clicks: np.ndarray) -> float:
    """The probability that a click has a higher score than a sample without one; ties count half."""
    order = np.argsort(scores, kind="stable")
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    _, groups, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.bincount(groups, ranks) / counts)[groups]
    positive = clicks > 0
    n = positive.sum()
    return float((ranks[positive].sum() - n * (n + 1) / 2) / (n * (len(clicks) - n)))


def batches(data: tuple, size: int, epochs: int) -> Iterator[tuple]:
    """Shuffled batches, the same on every worker."""
    for epoch in range(epochs):
        order = np.random.default_rng(epoch).permutation(len(data[0]))
        for start in range(0, len(order) - size + 1, size):
            yield tuple(a[order[start : start + size]] for a in data)


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="a log in Criteo's format; default: one is made")
    parser.add_argument("--lines", type=int, default=150000, help="lines of the log that is made")
    parser.add_argument("--rows", type=int, default=200_000, help="rows of the tables")
    parser.add_argument("--columns", type=int, default=8, help="length of a category's vector")
    parser.add_argument("--batch", type=int, default=256, help="samples of a step, of all workers together")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--staleness", type=float, default=0, help="0: synchronous; s; inf: asynchronous")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def main() -> None:
    """Train and report the AUC."""
    options = parse()
    ms.set_ps_context(enable_ps=True)
    init()
    rank, size = get_rank(), get_group_size()
    ms.set_seed(options.seed)
    data = read_log(options.data, options.rows) if options.data else made_log(options.lines, options.rows)
    cut = len(data[0]) * 5 // 6
    train, test = tuple(a[:cut] for a in data), tuple(a[cut:] for a in data)

    net = WideDeep(options.rows, options.columns)
    for table in (net.wide.embedding_table, net.deep.embedding_table):
        table.set_param_ps(init_in_server=True, staleness=options.staleness)
    if options.staleness:  # the dense layers too: an all-reduce would keep the workers together
        net.layers.set_param_ps(staleness=options.staleness)
    elif size > 1:
        ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    step = nn.TrainOneStepCell(Loss(net), nn.LazyAdam(net.trainable_params(), 2e-3))

    begin, seen = time.perf_counter(), 0
    for batch in batches(train, options.batch, options.epochs):
        part = slice(rank * options.batch // size, (rank + 1) * options.batch // size)
        loss = step(*(Tensor(a[part]) for a in batch))
        seen += options.batch
    seconds = time.perf_counter() - begin
    get_comm().barrier()
    if rank == 0:
        scores = [
            net(Tensor(test[0][i : i + 2000]), Tensor(test[1][i : i + 2000])) for i in range(0, len(test[0]), 2000)
        ]
        found = auc(np.concatenate([s.asnumpy() for s in scores]), test[2])
        print(f"loss {float(loss.asnumpy()):.4f}  {seen / seconds:.0f} samples/s  AUC {found:.4f}", flush=True)
    get_comm().barrier()


if __name__ == "__main__":
    main()
