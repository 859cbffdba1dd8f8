"""The transforms that found policies are made of, by name and magnitude."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dist_ms.dataset.vision.colour.factors import brightness, contrast, saturation
from dist_ms.dataset.vision.colour.histograms import auto_contrast, equalize
from dist_ms.dataset.vision.colour.levels import inverted, posterized, solarized
from dist_ms.dataset.vision.colour.sharpness import sharpened
from dist_ms.dataset.vision.enums import Inter
from dist_ms.dataset.vision.geometry.affine import affine
from dist_ms.dataset.vision.geometry.rotation import rotated

Magnitudes = tuple[np.ndarray, bool]  # from none to most, and whether a drawn sign goes before


def moved(
    array: np.ndarray,
    kind: Inter,
    fill: tuple[int, int, int],
    owner: str,
    by: tuple[float, float] = (0, 0),
    shear: tuple[float, float] = (0, 0),
) -> np.ndarray:
    """The image moved by pixels and sheared by radians.

    MindSpore 2.10's policies move by that many widths or heights, which leaves nothing of the image but the fill value;
    here it is pixels, as AutoAugment's authors have it.
    """
    return affine(array, 0.0, by, 1.0, tuple(math.degrees(s) for s in shear), kind, fill, owner)


STEPS: dict[str, Callable] = {
    "ShearX": lambda a, m, kind, fill, owner: moved(a, kind, fill, owner, shear=(m, 0)),
    "ShearY": lambda a, m, kind, fill, owner: moved(a, kind, fill, owner, shear=(0, m)),
    "TranslateX": lambda a, m, kind, fill, owner: moved(a, kind, fill, owner, by=(m, 0)),
    "TranslateY": lambda a, m, kind, fill, owner: moved(a, kind, fill, owner, by=(0, m)),
    "Rotate": lambda a, m, kind, fill, owner: rotated(a, m, kind, False, None, (fill[0], fill[2], fill[1]), owner),
    "Brightness": lambda a, m, kind, fill, owner: brightness(a, 1 + m, owner),
    "Color": lambda a, m, kind, fill, owner: saturation(a, 1 + m, owner),
    "Contrast": lambda a, m, kind, fill, owner: contrast(a, 1 + m, owner),
    "Sharpness": lambda a, m, kind, fill, owner: sharpened(a, 1 + m, owner),
    "Posterize": lambda a, m, kind, fill, owner: posterized(a, int(m), owner),
    "Solarize": lambda a, m, kind, fill, owner: solarized(a, m, m, owner),
    "AutoContrast": lambda a, m, kind, fill, owner: auto_contrast(a, 0.0, [], owner),
    "Equalize": lambda a, m, kind, fill, owner: equalize(a, owner),
    "Identity": lambda a, m, kind, fill, owner: a,
    "Invert": lambda a, m, kind, fill, owner: inverted(a),
}


def magnitudes(
    bins: int, most: float, shear: float, degrees: float, across: float, down: float, bits: float, solarize: float
) -> dict[str, Magnitudes]:
    """The steps' magnitudes in `bins` equal parts.

    Args:
        bins: how many there are.
        most: the most that a factor of brightness, colour, contrast or sharpness differs from 1.
        shear: the most of a shear, in radians.
        degrees: the most of an angle.
        across, down: the most of a move, in pixels.
        bits: how many are dropped at most.
        solarize: the threshold of no magnitude.
    """
    numbers = np.arange(bins, dtype=np.float32)

    def rising(end: float) -> Magnitudes:
        return numbers * (np.float32(end) / np.float32(bins - 1)), True

    nothing = np.zeros(1), False
    return {
        "ShearX": rising(shear),
        "ShearY": rising(shear),
        "TranslateX": rising(across),
        "TranslateY": rising(down),
        "Rotate": rising(degrees),
        **{name: rising(most) for name in ("Brightness", "Color", "Contrast", "Sharpness")},
        "Posterize": (np.rint(8 - np.arange(bins) * bits / (bins - 1)), False),
        "Solarize": (np.float32(solarize) - numbers * (np.float32(solarize) / np.float32(bins - 1)), False),
        "AutoContrast": nothing,
        "Equalize": nothing,
        "Identity": nothing,
        "Invert": nothing,
    }
