"""Ways to train with less work: fewer normalisations, frozen layers, sums that adapt, few dimensions.

The names are MindSpore's. `AutoBoost` chooses among them, and `train.Model(boost_level=...)` asks it.
"""

from dist_ms.boost.accumulation import GradientAccumulation
from dist_ms.boost.adaptive_sum import AdaSum
from dist_ms.boost.choice import AutoBoost
from dist_ms.boost.few_dimensions import DimReduce
from dist_ms.boost.freezing import FreezeOpt, GradientFreeze, freeze_cell
from dist_ms.boost.group_loss_scale import GroupLossScaleManager
from dist_ms.boost.normalization import CommonHeadLastFN, LessBN
from dist_ms.boost.parameter_groups import OptimizerProcess, ParameterProcess
from dist_ms.boost.steps import BoostTrainOneStepCell, BoostTrainOneStepWithLossScaleCell

__all__ = [
    "AdaSum",
    "AutoBoost",
    "BoostTrainOneStepCell",
    "BoostTrainOneStepWithLossScaleCell",
    "CommonHeadLastFN",
    "DimReduce",
    "FreezeOpt",
    "GradientAccumulation",
    "GradientFreeze",
    "GroupLossScaleManager",
    "LessBN",
    "OptimizerProcess",
    "ParameterProcess",
    "freeze_cell",
]
