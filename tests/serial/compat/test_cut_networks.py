"""MindSpore's names for networks that are cut over ranks, on one rank, and the functions that change nothing here."""

import multiprocessing

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, nn
from dist_ms.parallel import AutoParallel
from dist_ms.parallel import nn as parallel_nn


@pytest.fixture
def net():
    return nn.Dense(2, 1, weight_init="ones")


@pytest.mark.parametrize("mode", ["semi_auto", "sharding_propagation", "recursive_programming"])
def test_auto_parallel_runs_the_network(net, mode):
    cut = AutoParallel(net, parallel_mode=mode)
    x = Tensor(np.ones((2, 2), np.float32))
    assert np.array_equal(cut(x).asnumpy(), net(x).asnumpy())
    assert [p.name for p in cut.get_parameters()] == ["weight", "bias"]
    assert cut.pipeline(2, scheduler="gpipe") is None and cut.get_pipeline_stages() == 2
    cut.hsdp(), cut.hsdp(2, 64, "level1"), cut.dataset_strategy("full_batch"), cut.dataset_strategy(((1, 8),))
    cut.comm_fusion({"allreduce": {"mode": "auto", "config": None}})
    cut.load_param_strategy_file("a.ckpt"), cut.set_group_ckpt_save_file("b"), cut.enable_gradients_mean()
    cut.no_init_parameters_in_compile()


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda n: AutoParallel(n, "data_parallel"), ValueError),
        (lambda n: AutoParallel(n).pipeline(stages=0), ValueError),
        (lambda n: AutoParallel(n).pipeline(2, scheduler="x"), ValueError),
        (lambda n: AutoParallel(n).pipeline(2, output_broadcast=1), TypeError),
        (lambda n: AutoParallel(n).hsdp(0), ValueError),
        (lambda n: AutoParallel(n).hsdp(2, -1), ValueError),
        (lambda n: AutoParallel(n).hsdp(2, 64, "x"), ValueError),
        (lambda n: AutoParallel(n).comm_fusion(1), TypeError),
        (lambda n: AutoParallel(n).dataset_strategy("x"), ValueError),
        (lambda n: AutoParallel(n).dataset_strategy(1), TypeError),
        (lambda n: AutoParallel(n).load_param_strategy_file(1), TypeError),
        (lambda n: parallel_nn.GradAccumulation(n, 0), ValueError),
        (lambda n: parallel_nn.GradAccumulation(n, 1.5), TypeError),
        (lambda n: parallel_nn.GradAccumulation(1, 1), TypeError),
        (lambda n: parallel_nn.Pipeline(n, 0), ValueError),
        (lambda n: ms.shard(n, ((2, 1),)), NotImplementedError),
        (lambda n: n.shard(((2, 1),)), NotImplementedError),
        (lambda n: ms.shard(n, [1]), TypeError),
        (lambda n: ms.ops.Add().shard([(1,)]), TypeError),
        (lambda n: ms.ops.Add().shard((1,)), TypeError),
        (lambda n: ms.ops.Add().shard(None, ((1,),)), ValueError),
        (lambda n: n.weight.add_pipeline_stage("a"), TypeError),
        (lambda n: ms.parameter_broadcast(n, {"weight": [1]}), NotImplementedError),
        (lambda n: ms.set_dump(1), ValueError),
        (lambda n: ms.enable_dynamic(), ValueError),
        (lambda n: ms.enable_dynamic(x=1), TypeError),
        (lambda n: ms.enable_dynamic(x=Tensor([1.0])), TypeError),
        (lambda n: ms.enable_dynamic(z=Tensor(shape=[None], dtype=ms.float32))(lambda x: x)(1), ValueError),
        (lambda n: ms.swap_tensors(1, Tensor([1.0])), TypeError),
        (lambda n: ms.data_sink(1, None), TypeError),
        (lambda n: ms.export_split_mindir("a.mindir"), NotImplementedError),
        (lambda n: ms.build_searched_strategy("a"), NotImplementedError),
    ],
)
def test_refused_as_mindspore_refuses(net, call, error):
    with pytest.raises(error):
        call(net)


def test_a_network_in_parts(net):
    x, y = Tensor(np.arange(8).reshape(4, 2).astype(np.float32)), Tensor(np.ones((4, 1), np.float32))
    with_loss = nn.WithLossCell(net, nn.MSELoss())
    whole = with_loss(x, y).asnumpy()
    for parts in (parallel_nn.MicroBatchInterleaved, parallel_nn.GradAccumulation, parallel_nn.Pipeline):
        assert np.allclose(parts(with_loss, 2)(x, y).asnumpy(), 2 * whole)
    assert ms.shard(net, ((1, 1),)) is net.shard(((1, 1),), parameter_plan={"weight": (1, 1)}) is net


def test_a_primitive_keeps_how_it_would_be_cut():
    add = ms.ops.Add()
    assert add.shard() is add and not hasattr(add, "in_strategy")
    assert add.shard(((8, 1), (8, 1)), ((8, 1),)) is add and add.in_strategy == ((8, 1), (8, 1))
    assert add(Tensor([1.0]), Tensor([2.0])).asnumpy() == [3] and add.attrs["out_strategy"] == ((8, 1),)
    laid_out = ms.parallel.Layout((2, 2), ("rows", "columns"))("rows")
    assert ms.ops.ReLU().shard((laid_out,)).in_strategy == (laid_out,)


def test_quantised_widths():
    assert [t.value() for t in (ms.QuantDtype.INT1, ms.QuantDtype.INT8, ms.QuantDtype.UINT16)] == [0, 7, 115]
    assert str(ms.QuantDtype.UINT4) == "UINT4" and len(ms.QuantDtype) == 32
    assert repr(ms.QuantDtype.INT8) == "<QuantDtype.INT8: 7>"


def test_a_function_over_the_next_batches(net):
    data = ms.dataset.NumpySlicesDataset(np.arange(5, dtype=np.float32), shuffle=False).batch(2)
    seen = ms.data_sink(lambda x: x.asnumpy().tolist(), data)
    assert [seen() for _ in range(4)] == [[0, 1], [2, 3], [4], [0, 1]]
    helper = ms.DatasetHelper(data, dataset_sink_mode=False)
    with pytest.raises(RuntimeError, match="'dataset_helper' must sink"):
        ms.connect_network_with_dataset(net, helper)


def test_tensors_change_places(net):
    a, b = ms.Parameter(Tensor([1.0]), name="a"), ms.Parameter(Tensor([2, 3]), name="b", requires_grad=False)
    ms.swap_tensors(a, b)
    assert (a.name, b.name, a.requires_grad) == ("b", "a", False) and a.dtype == ms.int64
    assert a.asnumpy().tolist() == [2, 3] and b.asnumpy().tolist() == [1]
    x = Tensor([1.0, 2.0])
    with pytest.raises(TypeError, match="swap_tensors"):
        ms.swap_tensors(x, a)


def test_what_changes_nothing(net):
    assert net.weight.add_pipeline_stage(0) is None
    handle = net.weight.register_hook(hook_fn=lambda grad: grad * 2)
    gradient = ms.grad(lambda: net(Tensor(np.ones((1, 2), np.float32))).sum(), None, (net.weight,))
    assert gradient()[0].asnumpy().tolist() == [[2, 2]]
    handle.remove()
    assert ms.mindio_preload("a.ckpt") is False and ms.set_mindio_server_info(1) is None
    assert ms.sync_pipeline_shared_parameters(net) is None and ms.parameter_broadcast(net, {}) is None
    with nn.no_init_parameters():
        assert nn.Dense(2, 3).weight.has_init


def test_multiprocessing_is_pythons():
    assert set(multiprocessing.__all__) <= set(dir(ms.multiprocessing))
    assert ms.multiprocessing.Queue.__func__ is multiprocessing.Queue.__func__
