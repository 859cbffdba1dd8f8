"""MindSpore's longer path to the transforms of audio: the names of `dist_ms.dataset.audio`."""

from dist_ms.common.late_names import names_of
from dist_ms.dataset import audio

__getattr__, __dir__ = names_of(audio, lambda name: not name.startswith("_"))
