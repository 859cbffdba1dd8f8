"""Transforms of audio, for `Dataset.map` or called by themselves, on arrays whose last axis is time."""

import typing as _typing

from dist_ms.common.late_names import declared as _declared
from dist_ms.common.late_names import late_names as _late_names

if _typing.TYPE_CHECKING:
    from dist_ms.dataset.audio import transforms
    from dist_ms.dataset.audio.biquads import *
    from dist_ms.dataset.audio.cepstra import *
    from dist_ms.dataset.audio.complex_spectra import *
    from dist_ms.dataset.audio.enums import *
    from dist_ms.dataset.audio.filterbanks import *
    from dist_ms.dataset.audio.filtering import *
    from dist_ms.dataset.audio.levels import *
    from dist_ms.dataset.audio.masking import *
    from dist_ms.dataset.audio.mel import *
    from dist_ms.dataset.audio.modulation import *
    from dist_ms.dataset.audio.resampling import *
    from dist_ms.dataset.audio.spectrograms import *
    from dist_ms.dataset.audio.speech import *
    from dist_ms.dataset.audio.vocoding import *
    from dist_ms.dataset.audio.voices import *

__all__ = sorted(set(_declared(__name__)) - {"transforms"})

_late_names(__name__)
