"""What `mindspore.version` shows."""

from dist_ms.compat.modules import MINDSPORE_VERSION

__version__ = version = MINDSPORE_VERSION
