"""Every metric: values and errors as MindSpore gave them; see metric_cases.py."""

import json
from pathlib import Path

import numpy as np
import pytest

import dist_ms as ms
import dist_ms.train as train
from dist_ms import nn
from tests.serial.train.metrics import metric_cases

PINNED = json.loads(Path(__file__).with_name("metric_values.json").read_text())


@pytest.fixture(scope="module")
def found():
    return metric_cases.results(train)


def close(a, b):
    if isinstance(a, str) or isinstance(b, str):
        return a == b
    if isinstance(a, list) and a and isinstance(a[0], list) and len({len(x) for x in a if isinstance(x, list)}) > 1:
        return len(a) == len(b) and all(close(x, y) for x, y in zip(a, b, strict=True))
    return np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=2e-6, atol=1e-12, equal_nan=True)


@pytest.mark.parametrize("group", sorted({name.split()[0] for name in PINNED}))
def test_values_are_mindspores(found, group):
    names = [name for name in PINNED if name.split()[0] == group]
    assert [(n, PINNED[n], found[n]) for n in names if not close(PINNED[n], found[n])] == []


def test_every_pinned_case_ran(found):
    assert found.keys() == PINNED.keys()
    assert len(PINNED) > 600


def test_roc_of_more_samples_than_classes_is_one_against_the_rest():
    # MindSpore takes scores apart wrongly unless there are as many samples as classes.
    scores = np.array([[0.9, 0.1], [0.4, 0.6], [0.35, 0.65], [0.8, 0.2]])
    fpr, tpr, thresholds = train.ROC(class_num=2)(scores, np.array([0, 0, 1, 1]))
    np.testing.assert_allclose(fpr[0], [0, 0, 0.5, 0.5, 1])
    np.testing.assert_allclose(tpr[0], [0, 0.5, 0.5, 1, 1])
    np.testing.assert_allclose(thresholds[0], [1.9, 0.9, 0.8, 0.4, 0.35])


def test_metrics_take_tensors_and_lists():
    x, y = [[0.2, 0.8], [0.9, 0.1]], [1, 1]
    assert train.Accuracy()(ms.Tensor(x), ms.Tensor(y, ms.int32)) == train.Accuracy()(x, y) == 0.5
    assert train.MAE()(ms.Tensor([1.0], ms.bfloat16), ms.Tensor([3.0])) == 2.0


def test_scalar_results_are_python_numbers():
    # So that a dict of them prints the same with every NumPy.
    assert type(train.Accuracy()(np.eye(2), np.array([0, 0]))) is float
    assert type(train.Loss()(np.float32([0.5]))) is float
    assert type(train.BleuScore(1)([["a"]], [[["a"]]])) is float


def test_indexes_choose_inputs():
    metric = train.MAE().set_indexes([0, 2])
    metric.update(np.array([1.0]), np.array([100.0]), np.array([3.0]))
    assert (metric.eval(), metric.indexes) == (2.0, [0, 2])


def test_cosine_similarity_can_be_evaluated_twice():
    metric = train.CosineSimilarity(reduction="sum")
    metric.update(np.eye(2) + 1)
    np.testing.assert_array_equal(metric.eval(), metric.eval())


def test_confusion_matrix_refuses_classes_beyond_the_matrix():
    with pytest.raises(ValueError, match="below 'num_classes' 2, but got 3"):
        train.ConfusionMatrix(2)(np.array([1, 3]), np.array([1, 0]))


@pytest.mark.parametrize("how", ["mean_batch", "mean_channel", "none"])
def test_rates_of_several_images_and_channels_are_averaged(how):
    # MindSpore fails for these unless one number comes out.
    y = np.array([[[0, 1], [1, 0]], [[1, 1], [0, 0]]])
    metric = train.ConfusionMatrixMetric(True, "tpr", True, how)
    assert metric(np.ones_like(y), y) == 1.0


def test_distances_of_masks_that_are_far_apart():
    a, b = np.zeros((40, 30), int), np.zeros((40, 30), int)
    a[0, 0] = b[39, 29] = 1
    for kind, distance in (("euclidean", np.hypot(39, 29)), ("chessboard", 39), ("taxicab", 68)):
        assert train.HausdorffDistance(kind, crop=False)(a, b, 1) == pytest.approx(distance)


def test_occlusion_sensitivity_is_mindspores():
    w = np.array([[0.1, 0.8, 0.1, 0.1], [1, 1, 1, 1]], np.float32)
    net = nn.Dense(4, 2, weight_init=ms.Tensor(w), bias_init=ms.Tensor(np.array([0.3, 0.6], np.float32)))
    image = np.array([[0.1, 0.2, 0.3, 0.4]], np.float32)
    for options in ({}, {"n_batch": 3}):
        value = train.OcclusionSensitivity(**options)(net, image, np.array(1, np.int32))
        np.testing.assert_allclose(value, [0.3, 0.6, 1.0, 0.9], rtol=1e-6)
    part = train.OcclusionSensitivity(margin=1, b_box=[1, 2])(net, image, np.array(1))
    np.testing.assert_allclose(part, [0.3, 0.5], rtol=1e-6)
    with pytest.raises(ValueError, match="b_box"):
        train.OcclusionSensitivity(b_box=[0, 9])(net, image, np.array(1))


def test_names_and_making_by_name():
    assert len(train.names()) == 23
    assert "top_5_accuracy" in train.names()
    assert train.get_metric_fn("topk", 3).k == 3
    with pytest.raises(TypeError):
        train.get_metric_fn("topk")


def test_metrics_of_a_set_have_one_order_on_all_ranks():
    from dist_ms.train.metrics import get_metrics

    assert list(get_metrics({"mse", "acc", "loss", "mae"})) == ["acc", "loss", "mae", "mse"]
    assert get_metrics(None) == {}
    for wrong in (["acc"], {"a": None}, {1: train.Accuracy()}):
        with pytest.raises(TypeError):
            get_metrics(wrong)
