"""Model over real ranks: one result, one checkpoint, one decision."""

import math
import os

import numpy as np
import pytest

import dist_ms as ms
import dist_ms.dataset as ds
from dist_ms import nn
from dist_ms.amp import DynamicLossScaleManager
from dist_ms.common import once
from dist_ms.train import (
    CheckpointConfig,
    EarlyStopping,
    LambdaCallback,
    Model,
    ModelCheckpoint,
    load_checkpoint,
)


class Own(nn.Cell):
    """A shared layer and a bias of each rank's own."""

    def __init__(self, rank):
        super().__init__()
        self.dense = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
        self.own = ms.Parameter(ms.Tensor([float(rank)]), name="own", layerwise_parallel=True)

    def construct(self, x):
        return self.dense(x) + self.own


def batches(count, seed=0):
    random = np.random.RandomState(seed)
    return [(random.rand(4, 2).astype(np.float32), random.rand(4, 1).astype(np.float32)) for _ in range(count)]


def train(net, data, callbacks=None, metrics=None, epochs=1, **kwargs):
    model = Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1), metrics=metrics, **kwargs)
    model.train(epochs, data, callbacks=callbacks)
    return model


@pytest.mark.mpi(min_size=2)
def test_ranks_that_train_alone_unasked_are_told(world, caplog, monkeypatch):
    monkeypatch.setattr(once, "_told", set())
    ms.reset_auto_parallel_context()
    for mode in ("stand_alone", None, None):
        ms.reset_auto_parallel_context()
        if mode:
            ms.set_auto_parallel_context(parallel_mode=mode)
        train(nn.Dense(2, 1), batches(1))
        said = [r.message for r in caplog.records if "each rank trains a model of its own" in r.message]
        assert len(said) == (mode is None and world.comm.rank == 0)


@pytest.mark.mpi(min_size=2)
def test_shards_of_different_orders_are_told(data_parallel, caplog, monkeypatch):
    comm = data_parallel
    monkeypatch.setattr(once, "_told", set())
    rows = [np.zeros((8 * comm.size, 2), np.float32), np.zeros((8 * comm.size, 1), np.float32)]

    def told(seed, **kwargs):
        caplog.clear()
        ms.set_seed(seed)
        train(nn.Dense(2, 1), ds.NumpySlicesDataset(tuple(rows), ["x", "y"], **kwargs).batch(4))
        ms.set_seed(1)
        return [r.message for r in caplog.records if "from the same seed" in r.message]

    shard = {"num_shards": comm.size, "shard_id": comm.rank}
    assert not told(5, **shard) and not told(comm.rank, shuffle=False, **shard) and not told(comm.rank)
    sampler = ds.DistributedSampler(comm.size, comm.rank)
    said = told(comm.rank, sampler=sampler)
    assert len(said) == (comm.rank == 0) and not told(comm.rank, **shard)
    assert comm.rank or "got rank 0: 0, rank 1: 1" in said[0]


def test_evaluation_is_that_of_one_process(data_parallel):
    comm, data = data_parallel, batches(5)
    net = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
    model = Model(net, nn.MSELoss(), metrics={"mse", "mae", "loss"})
    ms.set_auto_parallel_context(parallel_mode="stand_alone")
    expected = model.eval(data)
    ms.set_auto_parallel_context(parallel_mode="data_parallel")
    result = model.eval(data[comm.rank :: comm.size] if comm.rank < 4 else [])
    everyone = comm.gather_objects(result)
    assert all(r == everyone[0] for r in everyone)
    assert result == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("sampled", [False, True])
def test_rows_of_shards_count_once(data_parallel, sampled):
    comm = data_parallel
    x = np.arange(7, dtype=np.float32)[:, None]

    def shard(shuffle):
        options = {"num_shards": comm.size, "shard_id": comm.rank, "shuffle": shuffle}
        given = {"sampler": ds.DistributedSampler(*options.values())} if sampled else options
        return ds.NumpySlicesDataset((x, x * 0), ["x", "y"], **given).batch(2)

    net = nn.Dense(1, 1, weight_init="ones", bias_init="zeros")
    sgd = nn.SGD(net.trainable_params(), 0.01)
    model = Model(net, nn.MSELoss(), sgd, metrics={"mse"})
    assert model.eval(shard(False))["mse"] == pytest.approx(float((x**2).mean()), rel=1e-6)
    data = shard(False)
    model.fit(1, data, data, uneven="exact")
    assert data.get_dataset_size() == math.ceil(math.ceil(7 / comm.size) / 2)  # padded again
    weight = comm.gather_objects(net.weight.asnumpy().item())
    assert len(set(weight)) == 1
    # The first global batch has rows 0 ... 2 n - 1, the next the others.
    alone = nn.Dense(1, 1, weight_init="ones", bias_init="zeros")
    ms.set_auto_parallel_context(parallel_mode="stand_alone")
    step = 2 * comm.size
    parts = [(x[i : i + step], x[i : i + step] * 0) for i in range(0, 7, step)]
    Model(alone, nn.MSELoss(), nn.SGD(alone.trainable_params(), 0.01)).train(1, parts)
    assert weight[0] == pytest.approx(alone.weight.asnumpy().item(), rel=1e-6)


def test_cut_layers_are_evaluated_with_equal_numbers_of_batches(data_parallel):
    comm = data_parallel
    x = np.ones((1 + comm.size, 2), np.float32)
    data = ds.NumpySlicesDataset((x, x[:, :1]), ["x", "y"], shuffle=False, num_shards=comm.size, shard_id=comm.rank)
    steps = []
    count = LambdaCallback(on_eval_step_end=lambda context: steps.append(1))
    Model(Own(comm.rank), nn.MSELoss(), metrics={"mse"}).eval(data.batch(1), callbacks=count)
    assert comm.gather_objects(len(steps)) == [2] * comm.size


def test_one_folder_for_all_ranks(data_parallel, mpi_tmp_path):
    comm = data_parallel
    saver = ModelCheckpoint("net", str(mpi_tmp_path), CheckpointConfig(1, keep_checkpoint_max=2))
    net = Own(comm.rank)
    train(net, batches(3, comm.rank), callbacks=saver)
    comm.barrier()
    found = sorted(os.path.relpath(os.path.join(d, f), mpi_tmp_path) for d, _, fs in os.walk(mpi_tmp_path) for f in fs)
    names = ["net-1_2.ckpt", "net-1_3.ckpt"]
    wanted = [*names, *(f"rank_{r}/{n}" for r in range(comm.size) for n in names)] if comm.size > 1 else names
    assert all(comm.gather_objects(found == sorted(wanted)))
    restored = Own(99)
    ms.load_checkpoint(str(mpi_tmp_path / names[1]), net=restored)
    if comm.size > 1:
        ms.load_checkpoint(str(mpi_tmp_path / f"rank_{comm.rank}" / names[1]), net=restored)
    for name, parameter in net.parameters_dict().items():
        np.testing.assert_array_equal(restored.parameters_dict()[name].asnumpy(), parameter.asnumpy())
    own = comm.gather_objects(float(restored.own.asnumpy()[0]))
    assert len(set(own)) == comm.size
    comm.barrier()


def test_rank_0_alone_may_save(data_parallel, mpi_tmp_path):
    comm = data_parallel
    callbacks = [ModelCheckpoint("net", str(mpi_tmp_path))] if comm.rank == 0 else []
    train(nn.Dense(2, 1), batches(2, comm.rank), callbacks=callbacks)
    comm.barrier()
    assert all(comm.gather_objects(sorted(os.listdir(mpi_tmp_path)) == ["net-1_1.ckpt", "net-1_2.ckpt"]))
    assert "weight" in load_checkpoint(str(mpi_tmp_path / "net-1_2.ckpt"))
    comm.barrier()


def test_all_ranks_stop_when_one_asks(data_parallel):
    comm, steps = data_parallel, []

    def step(run_context):
        steps.append(run_context.original_args().cur_step_num)
        if comm.rank == comm.size - 1 and len(steps) == 2:
            run_context.request_stop()

    train(nn.Dense(2, 1), batches(5, comm.rank), callbacks=LambdaCallback(on_train_step_end=step))
    assert all(comm.gather_objects(steps == [1, 2]))


def test_early_stopping_decides_alike(data_parallel):
    comm = data_parallel
    stopping = EarlyStopping(monitor="loss", patience=2, mode="max")
    epochs = []
    count = LambdaCallback(on_train_epoch_end=lambda c: epochs.append(c.original_args().cur_epoch_num))
    train(nn.Dense(2, 1), batches(1, comm.rank), callbacks=[stopping, count], epochs=9)
    everyone = comm.gather_objects((epochs, stopping.best))
    assert all(e == everyone[0] for e in everyone)
    assert len(epochs) < 9


def test_an_overflow_on_one_rank_is_skipped_by_all(data_parallel):
    comm = data_parallel
    net = Own(0)
    data = batches(1)
    if comm.rank == comm.size - 1:
        data[0] = (np.full((4, 2), 1e38, np.float32), data[0][1])
    manager = DynamicLossScaleManager(2**10, 2, 100)
    model = train(net, data, loss_scale_manager=manager)
    found = comm.gather_objects((float(model.train_network.scale_sense.asnumpy()), net.dense.weight.asnumpy().tolist()))
    assert found == [(2.0**9, [[1, 1]])] * comm.size
    assert comm.gather_objects(manager.get_loss_scale()) == [2**9] * comm.size


def test_unequal_epochs_are_an_error_everywhere(data_parallel):
    comm = data_parallel
    if comm.size == 1:
        pytest.skip("one rank is equal to itself")
    for make in (list, iter):
        error = None
        try:
            train(nn.Dense(2, 1), make(batches(2 + comm.rank)))
        except ValueError as caught:
            error = str(caught)
        assert all("must be the same on all ranks" in str(e) for e in comm.gather_objects(error))


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("divided", [False, True])
def test_accumulated_and_clipped_steps_equal_one_process_on_whole_batches(data_parallel, divided):
    rank, size = data_parallel.rank, data_parallel.size
    random = np.random.RandomState(0)
    whole = [[random.rand(4 * size, n).astype(np.float32) for n in (3, 2)] for _ in range(4)]
    own = [tuple(part[4 * rank : 4 * rank + 4] for part in batch) for batch in whole]

    def trained(data, **options):
        net, losses = nn.Dense(3, 2, weight_init="ones", bias_init="zeros"), []
        keep = LambdaCallback(on_train_step_end=lambda c: losses.append(float(c.original_args().net_outputs)))
        optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
        Model(net, nn.MSELoss(), optimizer, gradient_clip_norm=0.5, **options).train(1, data, callbacks=keep)
        return [p.asnumpy() for p in net.trainable_params()], losses

    ms.set_auto_parallel_context(enable_parallel_optimizer=divided)
    found, losses = trained(own, gradient_accumulation_steps=2)
    ms.set_auto_parallel_context(parallel_mode="stand_alone", enable_parallel_optimizer=False)
    expected, whole_losses = trained([tuple(batch) for batch in whole])
    for a, b in zip(found, expected):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-6)
    mean = data_parallel.all_reduce(np.array(losses)) / size
    np.testing.assert_allclose(mean, whole_losses, rtol=1e-5)
