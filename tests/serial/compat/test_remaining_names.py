"""Names at MindSpore's paths: collectives in one tensor, sparse tensors, arguments by name, and what says why not."""

import importlib

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, ops
from dist_ms.mint.distributed import init_process_group

GROUP = "mccl_world_group"


@pytest.fixture(scope="module", autouse=True)
def _group():
    init_process_group()


def test_collectives_of_one_rank():
    x, output = Tensor(np.arange(4, dtype=np.float32).reshape(2, 2)), Tensor(np.zeros((2, 2), np.float32))
    for call in (ops.gather_into_tensor, ops.scatter_tensor, lambda a, b: ops.all_to_all_v_c(a, b, [2])):
        output[...] = 0
        assert call(output, x) is None and np.array_equal(output.asnumpy(), x.asnumpy())
    w = Tensor(np.ones((3, 2), np.float32))
    product, rows = ops.all_gather_matmul(x, w, GROUP, 1, trans_x2=True)
    assert np.array_equal(product.asnumpy(), x.asnumpy() @ w.asnumpy().T) and np.array_equal(rows, x)
    assert ops.all_gather_matmul(x, w, GROUP, 1, gather_output=False, trans_x2=True)[1].shape == (0,)
    assert np.array_equal(ops.matmul_reduce_scatter(x, w, GROUP, 1, trans_x2=True), product)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: ops.gather_into_tensor(x, Tensor([[1.0]])),
        lambda x: ops.all_to_all_v_c(x, x, [1, 2]),
        lambda x: ops.all_gather_matmul(x, x, GROUP, 2),
        lambda x: ops.all_gather_matmul(x, x, GROUP, 1, gather_index=1),
        lambda x: ops.matmul_reduce_scatter(x, x, GROUP, 1, reduce_op="max"),
        lambda x: ops.matmul_reduce_scatter(x, x, GROUP, 1, bias=x),
    ],
)
def test_refused(call):
    with pytest.raises(ValueError, match="must be"):
        call(Tensor(np.ones((2, 2), np.float32)))


def test_sparse_tensors():
    rows = ops.make_row_tensor_inner(Tensor([0, 2]), Tensor([[1.0, 2.0], [3.0, 4.0]]), (3, 2))
    assert ops.row_tensor_add(rows, ops.ones((3, 2))).asnumpy().tolist() == [[2, 3], [1, 1], [4, 5]]
    assert ops.make_sparse_tensor(Tensor([[0, 1]]), Tensor([1.0]), (2, 2)).shape == (2, 2)


def test_arguments_of_methods_by_name():
    x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    assert x.flip(dims=(0,)).asnumpy().tolist() == x.flip(0).asnumpy().tolist() == [[3, 4], [1, 2]]
    assert x.approximate_equal(other=x, tolerance=0.1).asnumpy().all()
    assert x.float_power(other=2).asnumpy().tolist() == [[1, 4], [9, 16]]
    assert ops.ones((3, 2)).qr(some=False)[0].shape == (3, 3) and ops.ones((3, 2)).qr()[0].shape == (3, 2)
    assert Tensor([0.0, 1.0]).bernoulli().asnumpy().tolist() == [0, 1]
    drawn = [Tensor([0.5] * 20).bernoulli(generator=g).asnumpy() for g in map(_generator, (1, 1, 2))]
    assert np.array_equal(drawn[0], drawn[1]) and not np.array_equal(drawn[0], drawn[2])


def _generator(seed):
    generator = ms.Generator()
    generator.manual_seed(seed)
    return generator


@pytest.mark.parametrize(
    "path",
    [
        *("nn.GetNextSingleOp", "nn.PipelineGradReducer"),
        "tools.stress_detect",
        *("utils.stress_detect", "utils.ExitByRequest"),
        *("parallel.set_op_strategy_config", "train.restore_group_info_list", "common.hifloat8"),
    ],
)
def test_what_has_no_meaning_here_says_why(installed, path):
    module, _, name = path.rpartition(".")
    with pytest.raises(NotImplementedError, match=f"'{name}' is not available: dist_ms"):
        getattr(importlib.import_module(f"mindspore.{module}"), name)()


@pytest.fixture
def installed():
    import dist_ms.compat

    dist_ms.compat.install()
    yield
    dist_ms.compat.uninstall()


def test_paths(installed):
    from mindspore.common import DeviceCtx, QuantDtype, saved_tensors_hooks
    from mindspore.parallel import sync_pipeline_shared_parameters
    from mindspore.tools import set_dump
    from mindspore.train import ConvertModelUtils, connect_network_with_dataset
    from mindspore.train.train_thor import ConvertNetUtils
    from mindspore.utils import to_dlpack
    from mindspore.utils.dlpack import from_dlpack

    assert set_dump is ms.set_dump and from_dlpack(to_dlpack(Tensor([1.0]))).asnumpy().tolist() == [1]
    assert QuantDtype is ms.QuantDtype and DeviceCtx is ms.DeviceCtx and saved_tensors_hooks is ms.saved_tensors_hooks
    assert sync_pipeline_shared_parameters is ms.sync_pipeline_shared_parameters
    assert ConvertModelUtils is ms.ConvertModelUtils and ConvertNetUtils is ms.ConvertNetUtils
    assert connect_network_with_dataset is ms.connect_network_with_dataset
