"""Training: Model, callbacks, metrics, checkpoints; loss-scale managers by their other name."""

from dist_ms.amp.loss_scale import DynamicLossScaleManager, FixedLossScaleManager, LossScaleManager
from dist_ms.amp.train_network import build_train_network
from dist_ms.train.averaging import ExponentialMovingAverage
from dist_ms.train.callback import *
from dist_ms.train.callback import __all__ as _callbacks
from dist_ms.train.dataset_steps import DatasetHelper
from dist_ms.train.metrics import *
from dist_ms.train.metrics import __all__ as _metrics
from dist_ms.train.model import Model
from dist_ms.train.rate_finder import LearningRates, find_learning_rate
from dist_ms.train.serialization import *
from dist_ms.train.serialization import __all__ as _checkpoints
from dist_ms.train.state import load_run, save_run
from dist_ms.train.summary import *
from dist_ms.train.summary import __all__ as _summaries
from dist_ms.train.thor import ConvertModelUtils, ConvertNetUtils

__all__ = [
    "ConvertModelUtils",
    "ConvertNetUtils",
    "DatasetHelper",
    "DynamicLossScaleManager",
    "ExponentialMovingAverage",
    "FixedLossScaleManager",
    "LearningRates",
    "LossScaleManager",
    "Model",
    "build_train_network",
    "find_learning_rate",
    "load_run",
    "save_run",
    *_callbacks,
    *_checkpoints,
    *_metrics,
    *_summaries,
]
