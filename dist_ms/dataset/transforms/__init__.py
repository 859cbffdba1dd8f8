"""Transforms of any column, for `Dataset.map`."""

from dist_ms.dataset import vision
from dist_ms.dataset.declared import declared as _declared
from dist_ms.dataset.transforms.chains import Compose, RandomApply, RandomChoice, RandomOrder
from dist_ms.dataset.transforms.values import Duplicate, Fill, OneHot, TypeCast

__getattr__, __dir__, _LATER = _declared(
    __name__,
    {
        "joining": "Concatenate PadEnd Plugin Slice Unique",
        "comparing": "Mask Relational",
        "purity": "not_random",
    },
    modules="transforms",
)

__all__ = [
    "Compose",
    "Duplicate",
    "Fill",
    "OneHot",
    "RandomApply",
    "RandomChoice",
    "RandomOrder",
    "TypeCast",
    *_LATER,
]
