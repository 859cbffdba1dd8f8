"""What weights are obfuscated with: numbers and orders drawn at random, and the form in which users keep them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_LARGEST = 65504  # of float16


@dataclass(frozen=True)
class Metadata:
    """One drawn array.

    Args:
        name: its name.
        shape: of it.
        kind: "random", integers as float16; "rearrange", an order of rows, or its matrix.
        saved: whether the user is given it.
        inverted: whether its reciprocals are given.
    """

    name: str
    shape: tuple[int, ...]
    kind: str
    saved: bool
    inverted: bool

    def draw(self, scale: int) -> np.ndarray:
        """Draw it, by NumPy's global generator, as MindSpore does.

        Examples:
            >>> from dist_ms.train.obfuscation.metadata import Metadata
            >>> Metadata("k", (2,), "random", True, True).draw(2)
            array([1., 1.], dtype=float16)
        """
        if self.kind == "random":
            return np.random.randint(1, scale, size=self.shape).astype(np.float16)
        order = np.random.permutation(self.shape[-1]).astype(np.int32)
        return order if len(self.shape) == 1 else np.identity(self.shape[0], np.int32)[:, order]

    def kept(self, drawn: np.ndarray) -> np.ndarray:
        """The form that the user keeps."""
        return np.reciprocal(drawn) if self.inverted else drawn

    def drawn_again(self, kept: np.ndarray) -> np.ndarray:
        """What was drawn, of what the user kept.

        Reciprocals in float16 are off by up to 2**-11: the integer that gives them is taken.

        Examples:
            >>> import numpy as np
            >>> from dist_ms.train.obfuscation.metadata import Metadata
            >>> Metadata("k", (1,), "random", True, True).drawn_again(np.array([1 / 97], np.float16))
            array([97.], dtype=float32)
        """
        if not self.inverted:
            return kept
        reciprocals = kept.astype(np.float64)
        found = 1.0 / reciprocals
        whole = np.rint(found)
        return np.where(np.abs(reciprocals * whole - 1.0) <= 2.0**-11, whole, found).astype(np.float32)


def check_scale(scale: object) -> int:
    """Return the bound below which numbers are drawn.

    Raises:
        ValueError: if it is no number from 2 to 65504, what float16 holds.

    Examples:
        >>> from dist_ms.train.obfuscation.metadata import check_scale
        >>> check_scale(20.7)
        20
    """
    if isinstance(scale, bool) or not isinstance(scale, (int, float)) or not 2 <= scale <= _LARGEST:
        raise ValueError(
            f"For 'obfuscate_ckpt', 'obfuscate_scale' must be an int or float from 2 to {_LARGEST}, but got {scale!r}."
        )
    return int(scale)
