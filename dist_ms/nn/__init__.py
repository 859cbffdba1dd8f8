"""Cells: the base class, layers, losses, optimizers, schedules, wrap cells; and the metrics' older names."""

import typing as _typing

from dist_ms.common.late_names import late_names as _late_names

if _typing.TYPE_CHECKING:
    from dist_ms.common.parameter.postponing import no_init_parameters

    # MindSpore's metrics have their names here too. They are of the floor `train`.
    from dist_ms.nn import probability
    from dist_ms.nn.cell import *
    from dist_ms.nn.dynamic_lr import *
    from dist_ms.nn.layer import *
    from dist_ms.nn.learning_rate_schedule import *
    from dist_ms.nn.loss import *
    from dist_ms.nn.optim import *
    from dist_ms.nn.wrap import *
    from dist_ms.train.metrics import *

_late_names(__name__)
