"""Cells: the base class, layers, losses, optimizers, schedules, wrap cells; and the metrics' older names."""

import importlib as _importlib

from dist_ms.nn.cell import *
from dist_ms.nn.dynamic_lr import *
from dist_ms.nn.layer import *
from dist_ms.nn.learning_rate_schedule import *
from dist_ms.nn.loss import *
from dist_ms.nn.optim import *
from dist_ms.nn.wrap import *

# MindSpore's metrics have their names here too. They are of the floor `train`, and load when one is first used.
_METRICS = """
Accuracy BleuScore ConfusionMatrix ConfusionMatrixMetric CosineSimilarity Dice F1 Fbeta HausdorffDistance Loss MAE MSE
MeanSurfaceDistance Metric OcclusionSensitivity Perplexity Precision ROC Recall RootMeanSquareDistance
Top1CategoricalAccuracy Top5CategoricalAccuracy TopKCategoricalAccuracy auc get_metric_fn names rearrange_inputs
""".split()


def __getattr__(name: str) -> object:
    """Load a metric when it is first used."""
    if name not in _METRICS:
        raise AttributeError(f"module 'dist_ms.nn' has no attribute {name!r}")
    value = getattr(_importlib.import_module("dist_ms.train.metrics"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_METRICS})
