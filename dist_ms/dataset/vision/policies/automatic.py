"""AutoAugment, RandAugment and TrivialAugment: drawn steps of found or drawn magnitudes, for RGB images of uint8."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_int_range, check_type, complaint
from dist_ms.dataset.draws import generator
from dist_ms.dataset.vision.arguments import LARGEST, colour, interpolation_of
from dist_ms.dataset.vision.enums import AutoAugmentPolicy, Inter
from dist_ms.dataset.vision.images import rgb
from dist_ms.dataset.vision.operation import RandomImageOperation
from dist_ms.dataset.vision.policies.found import pairs
from dist_ms.dataset.vision.policies.steps import STEPS, magnitudes

_MOVE = np.float32(150.0) / np.float32(331.0)  # of the side, as in the paper's 331 pixels


class _Policy(RandomImageOperation):
    """Drawn steps run one after another."""

    def __init__(self, interpolation: Inter, fill_value: Any) -> None:
        owner = type(self).__name__
        self.kind, self.fill = interpolation_of(interpolation, "interpolation", owner), colour(fill_value, owner)

    def apply(self, array: np.ndarray, parameters: list[tuple[str, float]]) -> np.ndarray:
        owner = type(self).__name__
        array = rgb(array, owner)
        if array.dtype != np.uint8:
            raise RuntimeError(complaint("image", owner, "of uint8", array.dtype))
        for name, magnitude in parameters:
            array = STEPS[name](array, magnitude, self.kind, self.fill, owner)
        return array


class AutoAugment(_Policy):
    """One of 25 found pairs of steps, each of which is run with the probability found.

    Args:
        policy: the data it was found for: AutoAugmentPolicy.IMAGENET, CIFAR10 or SVHN.
        interpolation: of turned and moved images.
        fill_value: what is put around them: an int from 0 to 255, or a tuple of three.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> vision.AutoAugment()(np.zeros((4, 5, 3), np.uint8)).shape
        (4, 5, 3)
    """

    def __init__(
        self,
        policy: AutoAugmentPolicy = AutoAugmentPolicy.IMAGENET,
        interpolation: Inter = Inter.NEAREST,
        fill_value: Any = 0,
    ) -> None:
        self.policy = check_type(policy, "policy", "AutoAugment", AutoAugmentPolicy)
        super().__init__(interpolation, fill_value)
        self.pairs = pairs(policy)

    def parameters(self, height: int, width: int) -> list[tuple[str, float]]:
        """Draw the steps: a name and a magnitude each."""
        draw = generator()
        pair = self.pairs[int(draw.integers(len(self.pairs)))]
        chances, signs = draw.random(2), draw.integers(2, size=2)
        table = magnitudes(10, 0.9, 0.3, 30.0, _MOVE * width, _MOVE * height, 4.0, 256.0)
        found = []
        for (name, prob, level), chance, sign in zip(pair, chances, signs):
            values, signed = table[name]
            if chance <= prob:
                value = float(values[level if len(values) > 1 else 0])
                found.append((name, -value if signed and sign == 0 else value))
        return found


class _Drawn(_Policy):
    """Steps drawn from all, evenly."""

    def _step(self, table: dict, level: int | None) -> tuple[str, float]:
        """Draw a step, its magnitude if there is no `level`, and its sign."""
        draw, names = generator(), [name for name in table if name != "Invert"]
        name = names[int(draw.integers(len(names)))]
        values, signed = table[name]
        if len(values) == 1:
            level = 0
        elif level is None:
            level = int(draw.integers(len(values)))
        value, sign = float(values[level]), int(draw.integers(2))
        return name, -value if signed and sign else value


class RandAugment(_Drawn):
    """A few steps drawn from fourteen, all of the same magnitude.

    Args:
        num_ops: how many.
        magnitude: which of the parts that each step's magnitudes are cut into, from 0.
        num_magnitude_bins: how many parts there are, at least 2.
        interpolation, fill_value: as in AutoAugment.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> vision.RandAugment()(np.zeros((4, 5, 3), np.uint8)).shape
        (4, 5, 3)
    """

    def __init__(
        self,
        num_ops: int = 2,
        magnitude: int = 9,
        num_magnitude_bins: int = 31,
        interpolation: Inter = Inter.NEAREST,
        fill_value: Any = 0,
    ) -> None:
        self.num_ops = check_int_range(num_ops, "num_ops", "RandAugment", 0, LARGEST)
        self.bins = check_int_range(num_magnitude_bins, "num_magnitude_bins", "RandAugment", 2, LARGEST)
        self.magnitude = check_int_range(magnitude, "magnitude", "RandAugment", 0, self.bins, "[)")
        super().__init__(interpolation, fill_value)

    def parameters(self, height: int, width: int) -> list[tuple[str, float]]:
        """Draw the steps: a name and a magnitude each."""
        table = magnitudes(self.bins, 0.9, 0.3, 30.0, _MOVE * width, _MOVE * height, 4.0, 255.0)
        return [self._step(table, self.magnitude) for _ in range(self.num_ops)]


class TrivialAugmentWide(_Drawn):
    """One step drawn from fourteen, of a drawn magnitude.

    Args:
        num_magnitude_bins: how many magnitudes there are, at least 2.
        interpolation, fill_value: as in AutoAugment.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> vision.TrivialAugmentWide()(np.zeros((4, 5, 3), np.uint8)).shape
        (4, 5, 3)
    """

    def __init__(self, num_magnitude_bins: int = 31, interpolation: Inter = Inter.NEAREST, fill_value: Any = 0) -> None:
        self.bins = check_int_range(num_magnitude_bins, "num_magnitude_bins", "TrivialAugmentWide", 2, LARGEST)
        super().__init__(interpolation, fill_value)
        self.table = magnitudes(self.bins, 0.99, 0.99, 135.0, 32.0, 32.0, 6.0, 255.0)

    def parameters(self, height: int, width: int) -> list[tuple[str, float]]:
        """Draw the step: a name and a magnitude."""
        return [self._step(self.table, None)]
