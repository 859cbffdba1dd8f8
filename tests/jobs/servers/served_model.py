"""A model with a table and dense layers, trained alone, data-parallel or with servers; what test_servers.py starts.

python served_model.py OPTIMIZER OUT.npz [key=value ...]
"""

import ast
import itertools
import math
import sys

import numpy as np

import dist_ms as ms
from dist_ms import Tensor, nn, ops
from dist_ms.communication import get_group_size, get_rank, init
from dist_ms.parallel import load_servers, save_servers

ROWS, COLUMNS, BATCH = 50, 8, 12


class Net(nn.Cell):
    """Four looked-up rows and three numbers to two classes."""

    def __init__(self):
        super().__init__()
        self.emb = nn.EmbeddingLookup(ROWS, COLUMNS, param_init="ones")
        self.fc1, self.fc2 = nn.Dense(4 * COLUMNS + 3, 130), nn.Dense(130, 2)
        self.loss = nn.CrossEntropyLoss()

    def construct(self, ids, x, y):
        rows = self.emb(ids)
        x = ops.concat((rows.reshape((rows.shape[0], -1)), x), 1)
        return self.loss(self.fc2(ops.tanh(self.fc1(x))), y)


class Halving(nn.learning_rate_schedule.LearningRateSchedule):
    """A schedule that the servers know only from this script."""

    def construct(self, step):
        return Tensor(np.float32(0.05)) * ops.pow(Tensor(np.float32(0.9)), step.astype(ms.float32))


OPTIMIZERS = {
    "SGD": lambda p: nn.SGD(p, Halving()),
    "Momentum": lambda p: nn.Momentum(p, [0.05 * 0.9**i for i in range(60)], 0.9, weight_decay=1e-3),
    # A gradient that is rounding noise alone, as cancelled ones are, must not become a step of full length.
    "Adam": lambda p: nn.Adam(p, 2e-3, eps=1e-6),
    "LazyAdam": lambda p: nn.LazyAdam(
        [{"params": [q for q in p if "fc" in q.name], "lr": 2e-3}, {"params": [q for q in p if "fc" not in q.name]}],
        1e-3,
    ),
    "FTRL": lambda p: nn.FTRL(p, learning_rate=0.05, l1=1e-4),
    "Adagrad": lambda p: nn.Adagrad(p, learning_rate=0.05),
    "Lamb": lambda p: nn.Lamb(p, 1e-2),
}


def batches(steps):
    """The same batches everywhere; some row numbers lie outside the table."""
    data = np.random.default_rng(5)
    for i in range(steps):
        ids = data.integers(0, ROWS, (BATCH, 4)).astype(np.int32)
        ids[0, 0] = ROWS + 7 if i % 3 == 1 else ids[0, 0]
        yield ids, data.standard_normal((BATCH, 3)).astype(np.float32), data.integers(0, 2, BATCH).astype(np.int32)


def main(
    which,
    out,
    steps=20,
    served=("emb", "fc1.weight", "fc2"),
    mode="data_parallel",
    first=0,
    folder="",
    ahead=False,
    cache=0,
    **how,
):
    """Train and write the weights."""
    ms.set_ps_context(enable_ps=True)
    init()
    rank, size = get_rank(), get_group_size()
    ms.set_seed(11)
    net = Net()
    net.emb.embedding_table.set_data(Tensor(np.random.default_rng(1).standard_normal((ROWS, COLUMNS)), ms.float32))
    for p in net.trainable_params():
        p.cached_rows = cache if p.looked_up else 0
        if p.name.startswith(served):
            p.set_param_ps(**how)
    if size > 1 and mode:
        ms.set_auto_parallel_context(parallel_mode=mode, gradients_mean=True)
    step = nn.TrainOneStepCell(net, OPTIMIZERS[which](net.trainable_params()))
    optimizer, following = step.optimizer, itertools.islice(batches(steps), first + 1, None)
    if first:
        load_servers(folder, optimizer)
        optimizer.global_step.set_data(Tensor([first], ms.int32))
    for batch in itertools.islice(batches(steps), first, None):
        part = slice(rank * BATCH // size, (rank + 1) * BATCH // size)
        if ahead:
            coming = next(following, None)
            if coming is not None:
                net.emb.prefetch(Tensor(coming[0][part]))
        loss = step(*(Tensor(a[part]) for a in batch))
    if folder and not first:
        save_servers(folder, optimizer)
    if rank == 0:
        np.savez(out, **{p.name: p.asnumpy() for p in net.get_parameters()}, loss=loss.asnumpy())


if __name__ == "__main__":
    pairs = [word.split("=", 1) for word in sys.argv[3:]]
    main(*sys.argv[1:3], **{k: math.inf if v == "inf" else ast.literal_eval(v) for k, v in pairs})
