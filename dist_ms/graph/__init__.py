"""MindSpore's name for the place of `jit` and its kin; they are in `dist_ms.common.jit`."""

from dist_ms.common.jit import JitConfig, jit, jit_class, lazy_inline, no_inline
from dist_ms.common.mutables import mutable

__all__ = ["JitConfig", "jit", "jit_class", "lazy_inline", "mutable", "no_inline"]
