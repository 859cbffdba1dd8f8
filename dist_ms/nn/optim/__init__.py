"""Optimizers."""

import typing as _typing

from dist_ms.common.late_names import late_names as _late_names

if _typing.TYPE_CHECKING:
    from dist_ms.nn.optim.ada_grad import Adagrad
    from dist_ms.nn.optim.adadelta import Adadelta
    from dist_ms.nn.optim.adafactor import AdaFactor
    from dist_ms.nn.optim.adam import Adam, AdamOffload
    from dist_ms.nn.optim.adam_weight_decay import AdamWeightDecay
    from dist_ms.nn.optim.adamax import AdaMax
    from dist_ms.nn.optim.asgd import ASGD
    from dist_ms.nn.optim.ftrl import FTRL
    from dist_ms.nn.optim.lamb import Lamb
    from dist_ms.nn.optim.lazyadam import LazyAdam
    from dist_ms.nn.optim.momentum import Momentum
    from dist_ms.nn.optim.optimizer import Optimizer
    from dist_ms.nn.optim.proximal_ada_grad import ProximalAdagrad
    from dist_ms.nn.optim.rmsprop import RMSProp
    from dist_ms.nn.optim.rprop import Rprop
    from dist_ms.nn.optim.sgd import SGD
    from dist_ms.nn.optim.thor import thor
    from dist_ms.nn.optim.wrapping.adaptive_sum import AdaSumByDeltaWeightWrapCell, AdaSumByGradWrapCell
    from dist_ms.nn.optim.wrapping.lars import LARS
    from dist_ms.nn.optim.wrapping.refused import OptTFTWrapper

__all__ = [
    *("ASGD", "FTRL", "LARS", "SGD", "AdaFactor", "AdaMax", "Adadelta", "Adagrad", "Adam", "AdamOffload"),
    *("AdamWeightDecay", "Lamb", "LazyAdam", "Momentum", "OptTFTWrapper", "Optimizer", "ProximalAdagrad"),
    *("AdaSumByDeltaWeightWrapCell", "AdaSumByGradWrapCell", "RMSProp", "Rprop", "thor"),
]

_late_names(__name__)
