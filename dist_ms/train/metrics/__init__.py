"""Metrics, by class and by name."""

import typing as _typing

from dist_ms.common.late_names import late_names as _late_names

if _typing.TYPE_CHECKING:
    from dist_ms.train.metrics.accuracy import Accuracy
    from dist_ms.train.metrics.auc import auc
    from dist_ms.train.metrics.bleu_score import BleuScore
    from dist_ms.train.metrics.by_name import get_metric_fn, get_metrics, names
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

_late_names(__name__)
