"""Servers forget what no worker holds any more: models come and go under the same names."""

import pytest

CODE = """
import gc, sys, weakref
import numpy as np
import dist_ms as ms
from dist_ms import nn, Tensor
from dist_ms.communication import get_group_size, get_rank, init
from dist_ms.parallel.servers.client import client
ms.set_ps_context(enable_ps=True)
init()
rank, size = get_rank(), get_group_size()
gc.disable() if "late" in sys.argv and rank == 1 else None  # a worker that frees nothing by itself

class Net(nn.Cell):
    def __init__(self, rows, width):
        super().__init__()
        self.emb = nn.EmbeddingLookup(rows, 4)
        self.fc = nn.Dense(8, width)
        self.loss = nn.MSELoss()
        self.__dict__["cycle"] = (self,)  # freed by the collector alone
    def construct(self, ids, y):
        x = self.emb(ids)
        return self.loss(self.fc(x.reshape((x.shape[0], -1))), y)

def train(rows, width, optimizer=nn.Momentum, steps=4, net=None):
    ms.set_seed(7)
    fresh = net is None
    net = Net(rows, width) if fresh else net
    if fresh:
        for p in net.trainable_params():
            p.cached_rows = 5 if p.looked_up and "cache" in sys.argv else 0
            p.set_param_ps()
    step = nn.TrainOneStepCell(net, optimizer(net.trainable_params(), 0.1, 0.9))
    data = np.random.default_rng(3)
    for _ in range(steps):
        ids, y = data.integers(0, rows, (6, 2)), data.standard_normal((6, width))
        part = slice(rank * 6 // size, (rank + 1) * 6 // size)
        if "cache" in sys.argv:
            net.emb.prefetch(Tensor(ids[part], ms.int32))  # asked for ahead, and never fetched by the last step
        step(Tensor(ids[part], ms.int32), Tensor(y[part], ms.float32))
    values = {p.name: p.asnumpy().copy() for p in net.get_parameters() if not getattr(p, "saved_by_servers", False)}
    return net, step, values

def names():
    return sorted((row["name"], row["updates"]) for row in client().report() if row["server"] == 0)
"""


@pytest.mark.parametrize("way", ["", "late", "cache"])
@pytest.mark.parametrize("servers", [1, 2])
def test_a_second_model_of_the_same_names_trains_as_if_it_were_alone(run, servers, way):
    options = ("--servers", str(servers))
    alone = CODE + "wanted = train(9, 3)[2]\n"
    code = (
        CODE + "for rows, width in ((20, 5), (20, 5), (7, 2)):\n    train(rows, width)\n"
        "found = train(9, 3)[2]\n"
        "assert names() == [('emb.embedding_table', 4), ('fc.weight + fc.bias', 4)], names()\n"
    )
    show = "for name in sorted({0}):\n    print(rank, name, {0}[name].tobytes().hex())\n"
    first = run(alone + show.format("wanted"), way, options=options, DIST_MS_TIMEOUT="20")
    assert first.code == 0, first.err
    second = run(code + show.format("found"), way, options=options, DIST_MS_TIMEOUT="20")
    assert second.code == 0, second.err
    assert "embedding_table" in first.out and sorted(second.out.splitlines()) == sorted(first.out.splitlines())


def test_servers_forget_without_a_second_model_of_those_names(run):
    code = """
    kept = train(9, 3)
    assert len(names()) == 2
    ms.communication.comm_func.barrier()  # or the other worker's next step is the server's third name already
    gone = weakref.ref(kept[0].emb.embedding_table)
    other = nn.Dense(3, 2)
    for i, p in enumerate(other.trainable_params()):
        p.name = f"other{i}"
        p.set_param_ps()
    step = nn.TrainOneStepCell(nn.WithLossCell(other, nn.MSELoss()), nn.SGD(other.trainable_params(), 0.1))
    batch = Tensor(np.ones((2, 3), np.float32)), Tensor(np.ones((2, 2), np.float32))
    step(*batch)
    assert len(names()) == 3, names()
    del kept
    gc.collect()
    assert gone() is None
    for _ in range(3):  # a worker may be a step ahead of the other's word
        step(*batch)
    assert names() == [("other0 + other1", 4)], names()
    """
    done = run(CODE + "\n".join(line[4:] for line in code.splitlines()), options=("--servers", "1"))
    assert done.code == 0, done.err


def test_a_network_goes_on_with_another_optimizer(run):
    code = """
    net, step, before = train(9, 3)
    del step
    net, step, after = train(9, 3, net=net)
    assert all((before[name] != after[name]).any() for name in ("emb.embedding_table", "fc.weight", "fc.bias"))
    assert [n for n, _ in names()] == ["emb.embedding_table", "fc.weight + fc.bias"], names()
    """
    done = run(CODE + "\n".join(line[4:] for line in code.splitlines()), options=("--servers", "2"))
    assert done.code == 0, done.err


def test_a_model_that_is_still_held_keeps_its_names(run):
    done = run(CODE + "kept = train(9, 3)\ntrain(7, 2)", options=("--servers", "1"))
    assert done.code == 1
    assert "'emb.embedding_table' is the name of two, of shapes (9, 4) and (7, 4)" in done.err
