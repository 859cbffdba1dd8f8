"""Transforms of any column, for `Dataset.map`."""

import typing as _typing

from dist_ms.common.late_names import declared as _declared
from dist_ms.common.late_names import late_names as _late_names
from dist_ms.dataset import vision
from dist_ms.dataset.transforms.chains import Compose, RandomApply, RandomChoice, RandomOrder
from dist_ms.dataset.transforms.values import Duplicate, Fill, OneHot, TypeCast

# What loads when it is first used.
if _typing.TYPE_CHECKING:
    from dist_ms.dataset.transforms import transforms
    from dist_ms.dataset.transforms.comparing import Mask, Relational
    from dist_ms.dataset.transforms.joining import Concatenate, PadEnd, Plugin, Slice, Unique
    from dist_ms.dataset.transforms.purity import not_random

__all__ = [
    "Compose",
    "Duplicate",
    "Fill",
    "OneHot",
    "RandomApply",
    "RandomChoice",
    "RandomOrder",
    "TypeCast",
    *sorted(set(_declared(__name__)) - {"transforms"}),
]

_late_names(__name__)
