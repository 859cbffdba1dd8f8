"""Training: Model, callbacks, metrics, checkpoints."""

from dist_ms.train.callback import *
from dist_ms.train.metrics import *
from dist_ms.train.model import *
from dist_ms.train.serialization import *
