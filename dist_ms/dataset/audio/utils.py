"""MindSpore's longer path to the choices and filter banks of audio: the names of `dist_ms.dataset.audio`."""

from dist_ms.dataset import audio as _audio
from dist_ms.dataset.declared import shown as _shown

__getattr__, __dir__, __all__ = _shown(_audio)
