"""Modules of MindSpore whose names lie elsewhere here: the same objects under their paths."""

import importlib

import pytest

import dist_ms as ms


@pytest.mark.parametrize(
    ("path", "name", "here"),
    [
        ("nn.probability.bnn_layers.bnn_cell_wrapper", "WithBNNLossCell", "nn.probability.bnn_layers"),
        ("nn.probability.bnn_layers.conv_variational", "ConvReparam", "nn.probability.bnn_layers"),
        ("nn.probability.bnn_layers.dense_variational", "DenseReparam", "nn.probability.bnn_layers"),
        ("nn.probability.bnn_layers.dense_variational", "DenseLocalReparam", "nn.probability.bnn_layers"),
        ("nn.probability.bnn_layers.layer_distribution", "NormalPrior", "nn.probability.bnn_layers"),
        ("nn.probability.bnn_layers.layer_distribution", "NormalPosterior", "nn.probability.bnn_layers"),
        ("profiler.schedule", "ProfilerAction", "profiler.scheduling"),
        ("parallel.function.reshard_func", "reshard", "ops"),
    ],
)
def test_the_same_object(path, name, here):
    found = getattr(importlib.import_module(f"dist_ms.{path}"), name)
    assert found is getattr(importlib.import_module(f"dist_ms.{here}"), name)


def test_a_function_stays_callable_when_the_module_of_its_name_is_imported(capsys):
    importlib.import_module("dist_ms.run_check")
    ms.run_check()
    assert "dist_ms" in capsys.readouterr().out


def test_schedule_is_a_class_and_the_module_of_its_name():
    module = importlib.import_module("dist_ms.profiler.schedule")
    assert module.Schedule is importlib.import_module("dist_ms.profiler.scheduling").schedule
    assert module.Schedule(wait=1, active=1)(1) is module.ProfilerAction.RECORD_AND_SAVE
    assert ms.profiler.schedule(wait=0, active=1)(0) is module.ProfilerAction.RECORD_AND_SAVE


def test_rows_of_a_tensor():
    from dist_ms.common.sparse_tensor import RowTensorInner

    rows = RowTensorInner(ms.Tensor([0]), ms.Tensor([[1.0, 2.0]]), (3, 2))
    assert rows.dense_shape == (3, 2) and isinstance(rows, ms.RowTensor)
