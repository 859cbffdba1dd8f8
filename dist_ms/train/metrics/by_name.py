"""Metrics by name, as Model takes them."""

from __future__ import annotations

from typing import Any

from dist_ms.train import metrics
from dist_ms.train.metrics.metric import Metric

_BY_NAME = {
    "accuracy": "Accuracy",
    "acc": "Accuracy",
    "precision": "Precision",
    "recall": "Recall",
    "F1": "F1",
    "dice": "Dice",
    "roc": "ROC",
    "auc": "auc",
    "bleu_score": "BleuScore",
    "cosine_similarity": "CosineSimilarity",
    "occlusion_sensitivity": "OcclusionSensitivity",
    "topk": "TopKCategoricalAccuracy",
    "hausdorff_distance": "HausdorffDistance",
    "top_1_accuracy": "Top1CategoricalAccuracy",
    "top_5_accuracy": "Top5CategoricalAccuracy",
    "mae": "MAE",
    "mse": "MSE",
    "loss": "Loss",
    "mean_surface_distance": "MeanSurfaceDistance",
    "root_mean_square_distance": "RootMeanSquareDistance",
    "perplexity": "Perplexity",
    "confusion_matrix": "ConfusionMatrix",
    "confusion_matrix_metric": "ConfusionMatrixMetric",
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
    return getattr(metrics, _BY_NAME[name])(*args, **kwargs)


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
