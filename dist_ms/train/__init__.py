"""Training: Model, callbacks, metrics, checkpoints; loss-scale managers by their other name."""

import typing as _typing

from dist_ms.common.late_names import late_names as _late_names

if _typing.TYPE_CHECKING:
    from dist_ms.amp.loss_scale import DynamicLossScaleManager, FixedLossScaleManager, LossScaleManager
    from dist_ms.amp.train_network import build_train_network
    from dist_ms.train.averaging import ExponentialMovingAverage
    from dist_ms.train.callback import *
    from dist_ms.train.dataset_steps import DatasetHelper
    from dist_ms.train.metrics import *
    from dist_ms.train.model import Model
    from dist_ms.train.rate_finder import LearningRates, find_learning_rate
    from dist_ms.train.serialization import *
    from dist_ms.train.state import load_run, save_run
    from dist_ms.train.summary import *
    from dist_ms.train.thor import ConvertModelUtils, ConvertNetUtils

_late_names(__name__)
