"""Metrics over ranks are those of one process that saw every rank's batches."""

import logging

import numpy as np
import pytest

import dist_ms.train as train
from dist_ms.common import once
from dist_ms.train.metrics.merging import merge_metrics
from tests.serial.train.metrics.metric_cases import one_hot, scores
from tests.serial.train.rank_threads import run_ranks, run_ranks_all

RANDOM = np.random.RandomState(5)
LABELS = [(scores(RANDOM, 6, 3, np.float64), RANDOM.randint(0, 3, 6)) for _ in range(4)]
BINARY = [(RANDOM.randint(0, 2, (5, 3)), RANDOM.randint(0, 2, (5, 3))) for _ in range(4)]
NUMBERS = [(RANDOM.randn(5, 2), RANDOM.randn(5, 2)) for _ in range(4)]
IMAGES = [(one_hot(RANDOM, 2, 4, 4), one_hot(RANDOM, 2, 4, 4)) for _ in range(4)]
TEXTS = [([list("abcab")], [[list("abcba"), list("aabbc")]]) for _ in range(4)]
MASKS = [(RANDOM.randint(0, 2, (5, 5)), RANDOM.randint(0, 2, (5, 5)), 1) for _ in range(4)]

ADDED = {
    "accuracy": (train.Accuracy, LABELS),
    "accuracy multilabel": (lambda: train.Accuracy("multilabel"), BINARY),
    "loss": (train.Loss, [(np.array(x),) for x in (0.1, 0.5, 0.25, 2.0)]),
    "mae": (train.MAE, NUMBERS),
    "mse": (train.MSE, NUMBERS),
    "dice": (train.Dice, NUMBERS),
    "precision": (train.Precision, LABELS),
    "recall": (train.Recall, LABELS),
    "precision multilabel": (lambda: train.Precision("multilabel"), BINARY),
    "fbeta": (lambda: train.Fbeta(2), LABELS),
    "top2": (lambda: train.TopKCategoricalAccuracy(2), LABELS),
    "perplexity": (lambda: train.Perplexity(1), LABELS),
    "matrix": (lambda: train.ConfusionMatrix(3, "target"), LABELS),
    "rate": (lambda: train.ConfusionMatrixMetric(metric_name="f1"), IMAGES),
    "rate of images": (lambda: train.ConfusionMatrixMetric(metric_name="tpr", calculation_method=True), IMAGES),
    "bleu": (train.BleuScore, TEXTS),
}


def merged(make, shards):
    """The value on every rank, each having seen its shard."""

    def work(comm):
        metric = make()
        metric.clear()
        for batch in shards[comm.rank]:
            metric.update(*batch)
        merge_metrics({"m": metric}, comm.all_reduce, comm.gather_objects)
        return metric.eval()

    return run_ranks(len(shards), work)


def seen_by_one(make, batches):
    metric = make()
    metric.clear()
    for batch in batches:
        metric.update(*batch)
    return metric.eval()


@pytest.mark.parametrize("name", ADDED)
def test_counters_are_added(name):
    make, batches = ADDED[name]
    expected = seen_by_one(make, batches)
    for value in merged(make, [batches[:1], [], batches[1:]]):  # the second rank has no batch
        np.testing.assert_allclose(value, expected, rtol=1e-12)


def test_all_metrics_meet_once():
    meetings = []

    def work(comm):
        metrics = {"b": train.MAE(), "a": train.ConfusionMatrix(3), "c": train.ROC(class_num=3)}
        metrics["b"].update(*NUMBERS[comm.rank])
        metrics["a"].update(*LABELS[comm.rank])
        metrics["c"].update(*LABELS[comm.rank])
        gathers = []
        merge_metrics(metrics, lambda a: comm.all_reduce(gathers.append("add") or a), comm.gather_objects)
        meetings.append(gathers)
        return metrics["b"].eval(), metrics["a"].eval().sum()

    results = run_ranks(2, work)
    assert meetings == [["add"], ["add"]]
    assert results[0] == results[1]
    assert results[0][1] == 12


def test_roc_is_over_the_rows_of_all_ranks():
    together = tuple(np.concatenate(column) for column in zip(*LABELS, strict=True))
    expected = train.ROC(class_num=3)(*together)
    for curves in merged(lambda: train.ROC(class_num=3), [[b] for b in LABELS]):
        for found, wanted in zip(curves, expected, strict=True):
            for a, b in zip(found, wanted, strict=True):
                np.testing.assert_allclose(a, b)


def test_similarity_is_between_the_rows_of_all_ranks():
    rows = [(x,) for x, _ in NUMBERS[:2]]
    expected = train.CosineSimilarity()(np.concatenate([x for (x,) in rows]))
    for matrix in merged(train.CosineSimilarity, [[rows[0]], [], [rows[1]]]):
        np.testing.assert_allclose(matrix, expected)


@pytest.mark.parametrize("make", [train.HausdorffDistance, train.MeanSurfaceDistance, train.RootMeanSquareDistance])
def test_distances_are_those_of_the_last_rank_that_saw_an_image(make):
    expected = make()(*MASKS[2])
    assert merged(make, [[MASKS[0]], [MASKS[2]], []]) == [expected] * 3


def test_ranks_with_other_class_numbers_all_fail():
    shards = [LABELS[0], (np.eye(4), np.arange(4))]

    def work(comm):
        metric = train.Recall()
        metric.update(*shards[comm.rank])
        merge_metrics({"recall": metric}, comm.all_reduce, comm.gather_objects)

    for error in run_ranks_all(2, work):
        assert isinstance(error, ValueError)
        assert "rank 0: (3,), rank 1: (4,)" in str(error)


def test_nothing_seen_anywhere_is_an_error_everywhere():
    def work(comm):
        metric = train.Accuracy()
        merge_metrics({"acc": metric}, comm.all_reduce, comm.gather_objects)
        metric.eval()

    assert [type(e) for e in run_ranks_all(2, work)] == [RuntimeError] * 2


class Counting(train.Metric):
    """A metric of a user who says nothing about ranks."""

    def __init__(self):
        super().__init__()
        self.clear()

    def clear(self):
        self.count = 0

    def update(self, *inputs):
        self.count += 1

    def eval(self):
        return self.count


class CountingAll(Counting):
    sums = ("count",)


def test_a_metric_of_ones_own_can_be_added_up():
    assert merged(CountingAll, [[(1,)], [(1,), (1,)]]) == [3, 3]


def test_a_metric_that_does_not_say_how_stays_apart_and_this_is_told(caplog, monkeypatch):
    monkeypatch.setattr(once, "_told", set())
    with caplog.at_level(logging.WARNING, "dist_ms"):
        assert merged(Counting, [[(1,)], [(1,), (1,)]]) == [1, 2]
    assert "each rank evaluates it on its own batches" in caplog.text
