"""Convolutions in groups of few channels: several groups as one, with zeros between them.

oneDNN's 16-bit convolutions fill a vector from one group, so narrow groups waste most of it.
"""

from __future__ import annotations

import numpy as np


def spread(w: np.ndarray, group: int, at_once: int) -> np.ndarray:
    """The weight of the merged groups: zero where an output does not see a channel."""
    outputs, channels, *kernel = w.shape
    wide = np.zeros((outputs, at_once * channels, *kernel), w.dtype)
    _own(wide, group, at_once)[...] = _split(w, group, at_once)
    return wide


def gathered(wide: np.ndarray, group: int, at_once: int, dw: np.ndarray) -> None:
    """Write the gradient of the groups' own weight into `dw`, given that of the merged ones."""
    _split(dw, group, at_once)[...] = _own(wide, group, at_once)


def _split(w: np.ndarray, group: int, at_once: int) -> np.ndarray:
    """A view (merged group, group in it, output, channel, *kernel)."""
    return w.reshape(group // at_once, at_once, w.shape[0] // group, *w.shape[1:])


def _own(wide: np.ndarray, group: int, at_once: int) -> np.ndarray:
    """The same view of a weight of merged groups: of each output the channels of its own group."""
    split = _split(wide, group, at_once)
    channels = wide.shape[1] // at_once
    shape = (*split.shape[:3], channels, *split.shape[4:])
    to_next = split.strides[1] + channels * split.strides[3]  # down the diagonal
    return np.lib.stride_tricks.as_strided(split, shape, (split.strides[0], to_next, *split.strides[2:]))
