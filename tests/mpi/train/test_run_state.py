"""The state of a run over ranks: slices, each rank's own parameters, random streams and positions come back."""

import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest

import dist_ms as ms
import dist_ms.dataset as ds
from dist_ms import nn
from dist_ms.train.state import loading
from dist_ms.train.state.collecting import Stateful
from dist_ms.train.state.folder import Folder

STEPS = 6


@pytest.fixture
def comm(world):
    """The ranks of a data-parallel job."""
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    yield world.comm
    ms.reset_auto_parallel_context()


@pytest.fixture
def folder(comm):
    """A folder that all ranks share."""
    path = comm.gather_objects(tempfile.mkdtemp() if comm.rank == 0 else None)[0]
    yield path
    comm.barrier()
    if comm.rank == 0:
        shutil.rmtree(path)


class Net(nn.Cell):
    def __init__(self, own):
        super().__init__()
        self.a, self.b, self.drop = nn.Dense(6, 16), nn.Dense(16, 1), nn.Dropout(p=0.4)
        if own:
            self.a.weight.layerwise_parallel = True

    def construct(self, x):
        return self.b(self.drop(self.a(x)))


def make(comm, own=False):
    ms.set_seed(11)
    net = Net(own)
    np.random.seed(100 + comm.rank)  # every rank drops others
    model = ms.train.Model(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 0.05))
    ds.config.set_seed(4)
    rows = np.random.RandomState(0).rand(8 * STEPS, 6).astype(np.float32)
    data = ds.NumpySlicesDataset(
        (rows, rows.sum(1, keepdims=True)), ["x", "y"], shuffle=True, num_shards=comm.size, shard_id=comm.rank
    )
    return model, data.batch(2, drop_remainder=True)


def values(model):
    return {p.name: p.asnumpy().copy() for p in model.train_network.get_parameters()}


@pytest.mark.parametrize("kind", ["plain", "own", "slices"])
def test_resumed_bits(comm, folder, kind):
    """Two epochs at once, and one epoch, a new model, and the rest of both."""
    if kind == "slices":
        ms.set_auto_parallel_context(
            enable_parallel_optimizer=True, parallel_optimizer_config={"parallel_optimizer_threshold": 0}
        )
    whole, data = make(comm, kind == "own")
    whole.train(2, data)
    first, data = make(comm, kind == "own")
    first.train(1, data, callbacks=ms.train.RunCheckpoint(folder, every_steps=5, keep=None))
    again, data = make(comm, kind == "own")
    again.train(2, data, resume=folder)
    found, wanted = values(again), values(whole)
    assert found.keys() == wanted.keys()
    for name, array in wanted.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)
    manifest = Folder(folder).verify(5)
    assert manifest.ranks == comm.size
    assert len({part.name for w in manifest.writers for part in w.parts if not part.name.startswith("values")}) >= 13


def test_slices_are_put_together(comm, folder):
    """What several ranks saved in slices is whole to one process, and the other way round."""
    ms.set_auto_parallel_context(
        enable_parallel_optimizer=True, parallel_optimizer_config={"parallel_optimizer_threshold": 0}
    )
    model, data = make(comm)
    model.train(1, data, callbacks=ms.train.RunCheckpoint(folder))
    step = model.train_network
    states = step.grad_reducer.gathered_states() if comm.size > 1 else values(model)
    ms.reset_auto_parallel_context()
    alone, _ = make(comm)
    assert (
        loading.load(Folder(folder), Stateful({"model": alone.train_network}, "load_run"), None)["ranks"] == comm.size
    )
    found = values(alone)
    for name, array in states.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)
    for parameter in step.network.get_parameters():
        np.testing.assert_array_equal(found[parameter.name], parameter.asnumpy(), err_msg=parameter.name)


def test_all_ranks_must_save(comm, folder):
    if comm.size == 1:
        pytest.skip("needs ranks")
    model, data = make(comm)
    callbacks = ms.train.RunCheckpoint(folder, every_steps=1 + comm.rank)
    with pytest.raises(ValueError, match="all ranks must have the same callbacks"):
        model.train(1, data, callbacks=callbacks)


def test_a_folder_that_is_not_shared_is_refused(comm, tmp_path):
    if comm.size == 1:
        pytest.skip("needs ranks")
    net = Net(False)
    with pytest.raises(RuntimeError, match="must be one that all ranks share"):
        ms.train.save_run(f"{tmp_path}/rank{comm.rank}", step=1, net=net)


def test_damage_seen_by_one_rank_is_passed_over_by_all(comm, folder):
    net = Net(False)
    for step in (1, 2):
        net.a.bias.set_data(ms.Tensor(np.full(16, step, np.float32)))
        ms.train.save_run(folder, step=step, net=net)
    comm.barrier()
    if comm.rank == 0:
        path = Path(folder, "step-00000002", f"rank-{comm.size - 1:05d}.safetensors")
        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        path.write_bytes(content)
    comm.barrier()
    assert ms.train.load_run(folder, net=net)["step"] == 1
    assert net.a.bias.asnumpy()[0] == 1
