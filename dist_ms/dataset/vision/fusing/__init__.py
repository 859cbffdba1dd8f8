"""Usual chains of image transforms in one pass over memory, row by row or whole batches of small images."""

from dist_ms.dataset.vision.fusing.plan import FusedImages, fuse

__all__ = ["FusedImages", "fuse"]
