"""Losses, by subject."""

import typing as _typing

from dist_ms.common.late_names import late_names as _late_names

if _typing.TYPE_CHECKING:
    from dist_ms.nn.loss.cross_entropy import *
    from dist_ms.nn.loss.ctc import *
    from dist_ms.nn.loss.likelihood import *
    from dist_ms.nn.loss.loss import *
    from dist_ms.nn.loss.margin import *
    from dist_ms.nn.loss.sampled_softmax import *
    from dist_ms.nn.loss.triplet_distance import *

_late_names(__name__)
