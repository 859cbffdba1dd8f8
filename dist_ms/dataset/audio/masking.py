"""Bands of a spectrogram that are overwritten."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_int_range, complaint
from dist_ms.dataset import draws
from dist_ms.dataset.audio.operation import AudioOperation, any_float, float_from_0, int_from_0, positive_int

__all__ = ["FrequencyMasking", "MaskAlongAxis", "MaskAlongAxisIID", "TimeMasking"]


class _Masking(AudioOperation):
    """A mask of (..., frequency, frame); `axis` is 1 for frequencies and 2 for frames."""

    axes = 2

    def _along(self, mask_value: Any, axis: Any) -> None:
        owner = type(self).__name__
        self.mask_value = any_float(mask_value, "mask_value", owner)
        self.axis = check_int_range(axis, "axis", owner, 1, 2)

    def _masked(self, audio: np.ndarray, start: int, width: int) -> np.ndarray:
        """The same mask in all spectrograms."""
        size = audio.shape[self.axis - 3]
        if width and (start < 0 or start + width > size):
            wanted = f"within the {size} places of the axis"
            raise RuntimeError(complaint("mask_start", type(self).__name__, wanted, f"{start} with a width of {width}"))
        result = audio.copy()
        np.moveaxis(result, self.axis - 3, -1)[..., start : start + width] = self.mask_value
        return result

    def _masked_apart(self, audio: np.ndarray, limit: int) -> np.ndarray:
        """A mask of its own in each spectrogram: its width is below `limit`, its start anywhere."""
        size = audio.shape[self.axis - 3]
        if limit > size:
            raise RuntimeError(complaint("mask_param", type(self).__name__, f"at most the axis' {size} places", limit))
        result = audio.copy()
        numbers = draws.generator()
        for block in result.reshape(-1, *audio.shape[-2:]):
            width = numbers.random() * limit
            start = numbers.random() * (size - width)
            block[(slice(None),) * (self.axis - 1) + (slice(int(start), int(start) + int(width)),)] = self.mask_value
        return result


class MaskAlongAxis(_Masking):
    """One band of all spectrograms set to a value.

    Args:
        mask_start: the band's first place.
        mask_width: its places, 1 or more.
        mask_value: the value.
        axis: 1 for frequencies, 2 for frames.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.MaskAlongAxis(1, 1, 9.0, 2)(np.ones((2, 3))))
        [[1. 9. 1.]
         [1. 9. 1.]]
    """

    def __init__(self, mask_start: int, mask_width: int, mask_value: float, axis: int) -> None:
        self.mask_start = int_from_0(mask_start, "mask_start", "MaskAlongAxis")
        self.mask_width = positive_int(mask_width, "mask_width", "MaskAlongAxis")
        self._along(mask_value, axis)

    def transform(self, audio: np.ndarray) -> np.ndarray:
        """Mask an array."""
        return self._masked(audio, self.mask_start, self.mask_width)


class MaskAlongAxisIID(_Masking):
    """A drawn band of each spectrogram set to a value.

    Args:
        mask_param: the band is narrower than this.
        mask_value: the value.
        axis: 1 for frequencies, 2 for frames.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print((audio.MaskAlongAxisIID(3, 9.0, 2)(np.ones((2, 8)))[0] == 9).sum() < 3)
        True
    """

    random = True

    def __init__(self, mask_param: int, mask_value: float, axis: int) -> None:
        self.mask_param = int_from_0(mask_param, "mask_param", "MaskAlongAxisIID")
        self._along(mask_value, axis)

    def transform(self, audio: np.ndarray) -> np.ndarray:
        """Mask an array."""
        return self._masked_apart(audio, self.mask_param)


class _Band(_Masking):
    """A mask of drawn width at a given or a drawn start."""

    random = True

    def _choose(self, iid_masks: Any, width: Any, name: str, mask_start: Any, mask_value: Any, axis: int) -> None:
        owner = type(self).__name__
        self.iid_masks = check_bool(iid_masks, "iid_masks", owner)
        self.mask_param = int_from_0(width, name, owner)
        self.mask_start = int_from_0(mask_start, "mask_start", owner)
        self._along(float_from_0(mask_value, "mask_value", owner), axis)

    def transform(self, audio: np.ndarray) -> np.ndarray:
        """Mask an array."""
        if self.iid_masks:
            return self._masked_apart(audio, self.mask_param)
        return self._masked(audio, self.mask_start, self.mask_param)


class FrequencyMasking(_Band):
    """A band of frequencies set to a value.

    Args:
        iid_masks: draw a band for each spectrogram; else it is a given one.
        freq_mask_param: how many frequencies; a drawn band has fewer.
        mask_start: the given band's first frequency.
        mask_value: the value, 0 or more.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.FrequencyMasking(False, 1, 1)(np.ones((3, 2))))
        [[1. 1.]
         [0. 0.]
         [1. 1.]]
    """

    def __init__(
        self, iid_masks: bool = False, freq_mask_param: int = 0, mask_start: int = 0, mask_value: float = 0.0
    ) -> None:
        self._choose(iid_masks, freq_mask_param, "freq_mask_param", mask_start, mask_value, 1)


class TimeMasking(_Band):
    """Some successive frames set to a value.

    Args:
        iid_masks: draw them for each spectrogram; else they are given.
        time_mask_param: how many frames; drawn ones are fewer.
        mask_start: the first given frame.
        mask_value: the value, 0 or more.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import audio
        >>> print(audio.TimeMasking(False, 1, 1)(np.ones((2, 3))))
        [[1. 0. 1.]
         [1. 0. 1.]]
    """

    def __init__(
        self, iid_masks: bool = False, time_mask_param: int = 0, mask_start: int = 0, mask_value: float = 0.0
    ) -> None:
        self._choose(iid_masks, time_mask_param, "time_mask_param", mask_start, mask_value, 2)
