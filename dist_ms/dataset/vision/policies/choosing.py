"""Drawn transforms out of the user's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dist_ms.common.checks import check_int, check_number_range, check_type, complaint
from dist_ms.dataset.draws import generator
from dist_ms.dataset.vision.libraries import is_pil


def _in_turn(transforms: list[Callable], values: tuple) -> Any:
    """The last transform's result; each gets what the one before returned."""
    for transform in transforms:
        result = transform(*values)
        values = result if isinstance(result, tuple) else (result,)
    return values if len(values) != 1 else values[0]


class RandomSelectSubpolicy:
    """One of several lists of transforms, each of which is run with its own probability.

    Args:
        policy: a list of lists of tuples (transform, probability).

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> policy = [[(vision.Invert(), 1.0), (vision.Posterize(1), 1.0)]]
        >>> print(vision.RandomSelectSubpolicy(policy)(np.array([[[0, 100, 200]]], np.uint8)))
        [[[128 128   0]]]
    """

    random = True

    def __init__(self, policy: list[list[tuple[Callable, float]]]) -> None:
        owner = "RandomSelectSubpolicy"
        for steps in [check_type(policy, "policy", owner, list), *policy]:
            if not check_type(steps, "policy", owner, list):
                raise ValueError(complaint("policy", owner, "lists that are not empty", repr(policy)))
        for step in (step for steps in policy for step in steps):
            if not isinstance(step, tuple) or len(step) != 2:
                raise ValueError(complaint("policy", owner, "made of tuples (transform, probability)", repr(step)))
            if not callable(step[0]):
                raise TypeError(complaint("policy", owner, "made of transforms", repr(step[0])))
            check_number_range(step[1], "policy", owner, 0, 1)
        self.policy = policy

    def parameters(self) -> list[Callable]:
        """Draw the transforms that are run."""
        draw = generator()
        steps = self.policy[int(draw.integers(len(self.policy)))]
        return [transform for transform, prob in steps if draw.random() < prob]

    def __call__(self, *images: Any) -> Any:
        """Transform one image, or an image with its boxes."""
        return _in_turn(self.parameters(), images)


class UniformAugment:
    """A few of the transforms, drawn, each of which is then run or not.

    Args:
        transforms: a list of them.
        num_ops: how many are drawn.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> augment = vision.UniformAugment([vision.Invert(), vision.Posterize(1)], num_ops=1)
        >>> augment(np.zeros((4, 5, 3), np.uint8)).shape
        (4, 5, 3)
    """

    random = True

    def __init__(self, transforms: list[Callable], num_ops: int = 2) -> None:
        owner = "UniformAugment"
        if check_int(num_ops, "num_ops", owner) <= 0 or num_ops > len(transforms):
            raise ValueError(complaint("num_ops", owner, f"from 1 to the {len(transforms)} 'transforms'", num_ops))
        for transform in check_type(transforms, "transforms", owner, (list, tuple)):
            if isinstance(transform, type):
                raise ValueError(complaint("transforms", owner, "instances", repr(transform)))
            if not callable(transform):
                raise TypeError(complaint("transforms", owner, "transforms", repr(transform)))
        self.transforms, self.num_ops = list(transforms), num_ops

    def parameters(self, in_order: bool = True) -> list[Callable]:
        """Draw the transforms that are run, in their own order or a drawn one."""
        draw = generator()
        chosen = [int(i) for i in draw.choice(len(self.transforms), size=self.num_ops, replace=False)]
        chosen = sorted(chosen) if in_order else chosen
        return [self.transforms[i] for i in chosen if draw.random() < 0.5]

    def __call__(self, *images: Any) -> Any:
        """Transform one image, or an image with its boxes."""
        return _in_turn(self.parameters(not is_pil(images[0])), images)
