"""Paths of MindSpore that lead to what dist_ms has elsewhere."""

import importlib

import pytest

import dist_ms as ms
import dist_ms.compat
import dist_ms.parallel.nn as parallel_cells
from dist_ms import allocator, mint, nn, ops
from dist_ms.common.tensor.symbol import Symbol
from dist_ms.train.flops import flops_collection


@pytest.fixture(autouse=True)
def installed():
    dist_ms.compat.install()
    yield
    dist_ms.compat.uninstall()


@pytest.mark.parametrize(
    ("path", "name", "wanted"),
    [
        ("nn.sparse", "SparseToDense", nn.SparseToDense),
        ("nn.sparse", "SparseTensorDenseMatmul", nn.SparseTensorDenseMatmul),
        ("nn.loss", "L1LossExt", mint.nn.L1Loss),
        ("common", "mutable", ms.mutable),
        ("common", "jit", ms.jit),
        ("common", "seed", ms.seed),
        ("common.seed", "get_seed", ms.get_seed),
        ("common.mutable", "mutable", ms.mutable),
        ("graph.mutable", "mutable", ms.mutable),
        ("graph.api", "flops_collection", flops_collection),
        ("graph.api", "ms_memory_recycle", allocator.ms_memory_recycle),
        ("graph.symbol", "Symbol", Symbol),
        ("parallel.nn.parallel_cell_wrapper", "Pipeline", parallel_cells.Pipeline),
        ("parallel.nn.parallel_cell_wrapper", "PipelineCell", nn.PipelineCell),
        ("parallel.nn.parallel_cell_wrapper", "GradAccumulation", parallel_cells.GradAccumulation),
        ("parallel.nn.parallel_cell_wrapper", "MicroBatchInterleaved", nn.MicroBatchInterleaved),
        ("parallel.nn.parallel_grad_reducer", "PipelineGradReducer", nn.PipelineGradReducer),
        ("parallel.function", "reshard", ops.reshard),
        ("ops.function.reshard_func", "reshard", ops.reshard),
    ],
)
def test_a_path_gives_the_same_object(path, name, wanted):
    assert getattr(importlib.import_module(f"mindspore.{path}"), name) is wanted


def test_the_public_doors_stay():
    import mindspore

    assert mindspore.parallel.nn.Pipeline is parallel_cells.Pipeline
    assert mindspore.nn.L1Loss is nn.L1Loss and mindspore.nn.loss.L1Loss is nn.L1Loss
