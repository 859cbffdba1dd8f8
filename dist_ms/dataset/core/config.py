"""`dist_ms.dataset.config` under MindSpore's other path."""

from dist_ms.dataset.config import *  # noqa: F403
from dist_ms.dataset.config import __all__  # noqa: F401
