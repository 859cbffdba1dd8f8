"""Transforms made of other transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dist_ms.common.checks import check_number_range, complaint
from dist_ms.dataset.draws import generator


def _checked(transforms: Any, owner: str) -> list[Callable]:
    """A list of functions that is not empty."""
    wanted = complaint("transforms", owner, "a list of functions", repr(transforms))
    if not isinstance(transforms, list) or not all(callable(t) for t in transforms):
        raise TypeError(wanted)
    if not transforms or any(isinstance(t, type) for t in transforms):
        raise ValueError(wanted)
    return list(transforms)


def _in_turn(transforms: list[Callable], values: tuple) -> Any:
    """The last function's result; each gets what the one before returned."""
    for transform in transforms:
        result = transform(*values)
        values = result if isinstance(result, tuple) else (result,)
    return values if len(values) != 1 else values[0]


class Compose:
    """Functions run one after another.

    Args:
        transforms: a list of functions.

    Returns:
        when called, the last function's result; a tuple of it where one of them works on PIL images or in NumPy only,
        such as `vision.Decode(to_pil=True)` and `vision.ToPIL()`, as MindSpore's does.

    Raises:
        TypeError: if it is not one.
        ValueError: if it is empty, or has classes instead of their instances.

    Examples:
        >>> from dist_ms.dataset import transforms
        >>> transforms.Compose([lambda x: x + 1, lambda x: x * 2])(3)
        8
    """

    def __init__(self, transforms: list[Callable]) -> None:
        self.transforms = _checked(transforms, type(self).__name__)

    @property
    def python_only(self) -> bool:
        """Whether one of the functions is such a transform."""
        return any(getattr(transform, "python_only", False) for transform in self.transforms)

    def __call__(self, *values: Any) -> Any:
        if not values:
            raise TypeError(complaint("image", type(self).__name__, "given", "nothing"))
        result = _in_turn(self.transforms, values)
        return (result,) if type(self) is Compose and self.python_only and not isinstance(result, tuple) else result


class RandomApply(Compose):
    """All of the functions, or with probability 1 - `prob` none.

    Args:
        transforms: a list of functions.
        prob: between 0 and 1.

    Examples:
        >>> from dist_ms.dataset import transforms
        >>> transforms.RandomApply([lambda x: x + 1], prob=1.0)(3)
        4
    """

    def __init__(self, transforms: list[Callable], prob: float = 0.5) -> None:
        super().__init__(transforms)
        self.prob = check_number_range(prob, "prob", "RandomApply", 0, 1)

    def __call__(self, *values: Any) -> Any:
        return _in_turn(self.transforms if generator().random() < self.prob else [], values)


class RandomChoice(Compose):
    """One of the functions, each as likely.

    Examples:
        >>> from dist_ms.dataset import transforms
        >>> transforms.RandomChoice([abs])(-3)
        3
    """

    def __call__(self, *values: Any) -> Any:
        return _in_turn([self.transforms[generator().integers(len(self.transforms))]], values)


class RandomOrder(Compose):
    """All of the functions, in a drawn order.

    Examples:
        >>> from dist_ms.dataset import transforms
        >>> transforms.RandomOrder([abs, lambda x: 2 * x])(-3)
        6
    """

    def __call__(self, *values: Any) -> Any:
        return _in_turn([self.transforms[i] for i in generator().permutation(len(self.transforms))], values)
