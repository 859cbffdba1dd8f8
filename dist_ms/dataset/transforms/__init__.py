"""Transforms of any column, for `Dataset.map`."""

from dist_ms.common.refusing import refused as _refused
from dist_ms.dataset.transforms.chains import Compose, RandomApply, RandomChoice, RandomOrder
from dist_ms.dataset.transforms.values import Duplicate, Fill, OneHot, TypeCast

_LACKS = {
    name: _refused(name, "has not built this transform", "Give 'map' a Python function instead.")
    for name in "Concatenate Mask PadEnd Plugin Slice Unique".split()
}
globals().update(_LACKS)

__all__ = [
    "Compose",
    "Duplicate",
    "Fill",
    "OneHot",
    "RandomApply",
    "RandomChoice",
    "RandomOrder",
    "TypeCast",
    *_LACKS,
]
