"""Cells: the base class, layers, losses, optimizers, schedules, wrap cells."""

from dist_ms.nn.cell import *
from dist_ms.nn.dynamic_lr import *
from dist_ms.nn.layer import *
from dist_ms.nn.learning_rate_schedule import *
from dist_ms.nn.loss import *
from dist_ms.nn.optim import *
from dist_ms.nn.wrap import *
