"""MindSpore's name for the place of `lazy_inline`, which is in `dist_ms.common.jit`."""

from dist_ms.common.jit import lazy_inline

__all__ = ["lazy_inline"]
