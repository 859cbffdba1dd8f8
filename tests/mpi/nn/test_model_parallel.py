"""Layers cut over the ranks, trained beside data-parallel ones, are the whole layers of one process."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn, ops
from dist_ms.common.tensor.sparse_tensor import RowTensor
from dist_ms.nn.model_parallel import ColumnParallelDense, ParallelEmbedding, RowParallelDense

CLASSES, FEATURES, HIDDEN, ROWS, STEPS = 11, 7, 10, 9, 8


def whole_weights():
    rng = np.random.default_rng(0)
    shapes = {"table": (ROWS, 4), "first": (HIDDEN, 8), "row": (6, HIDDEN), "column": (CLASSES, 6)}
    return {name: rng.standard_normal(shape) * 0.3 for name, shape in shapes.items()}


class Net(nn.Cell):
    """An embedding, a data-parallel layer, then one cut by inputs and one cut by outputs."""

    def __init__(self, cut):
        super().__init__()
        w = {name: ms.Tensor(value) for name, value in whole_weights().items()}
        row, column = (RowParallelDense, ColumnParallelDense) if cut else (nn.Dense, nn.Dense)
        kind = {"bias_init": "zeros", "dtype": ms.float64}
        self.table = ParallelEmbedding(ROWS, 4, dtype=ms.float64) if cut else nn.Embedding(ROWS, 4, dtype=ms.float64)
        self.first = nn.Dense(8, HIDDEN, w["first"], **kind)
        self.row = row(HIDDEN, 6, w["row"], **kind)
        self.column = column(6, CLASSES, w["column"], **kind)
        shard = self.table._shards if cut else slice(0, ROWS)
        self.table.embedding_table.set_data(ms.Tensor(whole_weights()["table"][shard.start : shard.stop]))

    def construct(self, ids):
        x = ops.tanh(self.first(self.table(ids).reshape(len(ids), 8)))
        return self.column(ops.tanh(self.row(x)))


def train(cut, mine, make, sens=1.0):
    net = Net(cut)
    loss = nn.WithLossCell(net, nn.CrossEntropyLoss(reduction="sum"))
    step = nn.TrainOneStepCell(loss, make(net.trainable_params()), sens)
    step.set_train()
    rng = np.random.default_rng(1)
    losses = []
    for _ in range(STEPS):
        ids, labels = rng.integers(0, ROWS, (12, 2)), rng.integers(0, CLASSES, 12).astype(np.int32)
        losses.append(float(step(ms.Tensor(ids[mine]), ms.Tensor(labels[mine]))))
    return net, losses


@pytest.mark.parametrize("mean", [False, True])
@pytest.mark.parametrize(
    "make",
    [lambda p: nn.SGD(p, 0.05), lambda p: nn.Momentum(p, 0.02, 0.9), lambda p: nn.Adam(p, 0.01)],
    ids=["SGD", "Momentum", "Adam"],
)
def test_training_equals_one_process(make, mean):
    ms.communication.init()
    rank, size = ms.communication.get_rank(), ms.communication.get_group_size()
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=mean)
    try:
        per_rank = 12 // size
        # Batches of different sizes where that is fair: gradients are sums then.
        starts = [0, *[per_rank * (r + 1) - (r + 1) * (not mean) for r in range(size - 1)], 12]
        net, losses = train(True, slice(starts[rank], starts[rank + 1]), make)
    finally:
        ms.reset_auto_parallel_context()
    one, whole_losses = train(False, slice(None), make, 1 / size if mean else 1.0)
    total = ops.AllReduce()(ms.Tensor(np.array(losses))).asnumpy()
    np.testing.assert_allclose(total, whole_losses, rtol=1e-9)
    gather = {"table.embedding_table": 0, "row.weight": 1, "column.weight": 0, "column.bias": 0}
    comm = ms.communication.get_comm()
    for name, p in net.parameters_dict().items():
        expected = one.parameters_dict()[name].asnumpy()
        if name in gather:
            assert p.layerwise_parallel
            found = np.concatenate(comm.gather_objects(p.asnumpy()), gather[name])
            assert p.shape != expected.shape or size == 1
        else:
            found = p.asnumpy()
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10, err_msg=name)


def test_gradients_of_a_table_are_rows():
    ms.communication.init()
    rank = ms.communication.get_rank()
    layer = ParallelEmbedding(ROWS, 4)
    grads = ms.grad(lambda ids: layer(ids).sum(), None, layer.trainable_params())(ms.Tensor([rank, 8]))
    assert isinstance(grads[0] if isinstance(grads, tuple) else grads, RowTensor)


def test_one_seed_draws_the_whole():
    ms.communication.init()
    comm = ms.communication.get_comm()
    ms.set_seed(3)
    layer = ColumnParallelDense(FEATURES, CLASSES)
    ms.set_seed(3)
    whole = nn.Dense(FEATURES, CLASSES)
    np.testing.assert_array_equal(np.concatenate(comm.gather_objects(layer.weight.asnumpy())), whole.weight.asnumpy())
    np.testing.assert_array_equal(np.concatenate(comm.gather_objects(layer.bias.asnumpy())), whole.bias.asnumpy())


def test_errors_come_on_every_rank():
    ms.communication.init()
    rank, size = ms.communication.get_rank(), ms.communication.get_group_size()
    layer = ParallelEmbedding(ROWS, 4)
    ids = ms.Tensor([ROWS if rank == size - 1 else 0, 1])
    with pytest.raises(IndexError, match=f"must be in \\[0, {ROWS - 1}\\], but rank {size - 1} has {ROWS}"):
        layer(ids)
    with pytest.raises(ValueError, match="the last dimension of 'x' must be 7"):
        ColumnParallelDense(FEATURES, CLASSES)(ms.Tensor(np.zeros((2, 3), np.float32)))
    if size > 1:
        with pytest.raises(ValueError, match="'out_channels' must be at least the number of ranks"):
            ColumnParallelDense(4, size - 1)
