"""Metrics, by class and by name."""

from __future__ import annotations

from typing import Any

from dist_ms.train.metrics.accuracy import Accuracy
from dist_ms.train.metrics.auc import auc
from dist_ms.train.metrics.bleu_score import BleuScore
from dist_ms.train.metrics.confusion.confusion_matrix import ConfusionMatrix
from dist_ms.train.metrics.confusion.confusion_matrix_metric import ConfusionMatrixMetric
from dist_ms.train.metrics.cosine_similarity import CosineSimilarity
from dist_ms.train.metrics.error import MAE, MSE
from dist_ms.train.metrics.fbeta import F1, Fbeta
from dist_ms.train.metrics.loss import Loss
from dist_ms.train.metrics.masks.dice import Dice
from dist_ms.train.metrics.masks.hausdorff_distance import HausdorffDistance
from dist_ms.train.metrics.masks.surface_distance import MeanSurfaceDistance, RootMeanSquareDistance
from dist_ms.train.metrics.metric import Metric, rearrange_inputs
from dist_ms.train.metrics.occlusion_sensitivity import OcclusionSensitivity
from dist_ms.train.metrics.perplexity import Perplexity
from dist_ms.train.metrics.precision_recall import Precision, Recall
from dist_ms.train.metrics.roc import ROC
from dist_ms.train.metrics.topk import (
    Top1CategoricalAccuracy,
    Top5CategoricalAccuracy,
    TopKCategoricalAccuracy,
)

__all__ = [
    "Accuracy",
    "BleuScore",
    "ConfusionMatrix",
    "ConfusionMatrixMetric",
    "CosineSimilarity",
    "Dice",
    "F1",
    "Fbeta",
    "HausdorffDistance",
    "Loss",
    "MAE",
    "MSE",
    "MeanSurfaceDistance",
    "Metric",
    "OcclusionSensitivity",
    "Perplexity",
    "Precision",
    "ROC",
    "Recall",
    "RootMeanSquareDistance",
    "Top1CategoricalAccuracy",
    "Top5CategoricalAccuracy",
    "TopKCategoricalAccuracy",
    "auc",
    "get_metric_fn",
    "names",
    "rearrange_inputs",
]

_BY_NAME: dict[str, Any] = {
    "accuracy": Accuracy,
    "acc": Accuracy,
    "precision": Precision,
    "recall": Recall,
    "F1": F1,
    "dice": Dice,
    "roc": ROC,
    "auc": auc,
    "bleu_score": BleuScore,
    "cosine_similarity": CosineSimilarity,
    "occlusion_sensitivity": OcclusionSensitivity,
    "topk": TopKCategoricalAccuracy,
    "hausdorff_distance": HausdorffDistance,
    "top_1_accuracy": Top1CategoricalAccuracy,
    "top_5_accuracy": Top5CategoricalAccuracy,
    "mae": MAE,
    "mse": MSE,
    "loss": Loss,
    "mean_surface_distance": MeanSurfaceDistance,
    "root_mean_square_distance": RootMeanSquareDistance,
    "perplexity": Perplexity,
    "confusion_matrix": ConfusionMatrix,
    "confusion_matrix_metric": ConfusionMatrixMetric,
}


def names() -> list[str]:
    """Return the names that `get_metric_fn` knows.

    Examples:
        >>> import dist_ms as ms
        >>> ms.train.names()[:3]
        ['F1', 'acc', 'accuracy']
    """
    return sorted(_BY_NAME)


def get_metric_fn(name: str, *args: Any, **kwargs: Any) -> Any:
    """Make a metric by name.

    Args:
        name: one of `names()`.
        args: passed to the metric's class (or to the function `auc`).
        kwargs: likewise.

    Returns:
        The metric.

    Raises:
        KeyError: for an unknown name.

    Examples:
        >>> import dist_ms as ms
        >>> type(ms.train.get_metric_fn("acc")).__name__
        'Accuracy'
    """
    if name not in _BY_NAME:
        raise KeyError(f"For 'get_metric_fn', unsupported metric {name}: it must be one of {names()}.")
    return _BY_NAME[name](*args, **kwargs)


def get_metrics(metrics: Any) -> dict[str, Metric]:
    """Make the metrics of a Model.

    Args:
        metrics: None, a set of names, or a dict name -> Metric.

    Returns:
        The metrics by name; those of a set in the order of their names, on every rank alike.

    Raises:
        TypeError: for anything else.
        KeyError: for an unknown name.
    """
    if metrics is None:
        return {}
    if isinstance(metrics, dict):
        for name, metric in metrics.items():
            if not isinstance(name, str) or not isinstance(metric, Metric):
                raise TypeError(
                    "For 'get_metrics', if 'metrics' is a dict, it must map str to Metric, but got "
                    f"{name!r}: {type(metric).__name__}."
                )
        return metrics
    if isinstance(metrics, set):
        return {name: get_metric_fn(name) for name in sorted(metrics, key=str)}
    raise TypeError(
        f"For 'get_metrics', the argument 'metrics' must be None, dict or set, but got {type(metrics).__name__}."
    )
