"""MindSpore's door to the collectives as functions; they live a floor above, in `dist_ms.collectives`."""

from dist_ms.collectives.functions import *  # noqa: F403
