"""Functions that say of themselves that they draw no random numbers."""

from __future__ import annotations

from collections.abc import Callable


def not_random(function: Callable) -> Callable:
    """Mark a function, or a class of transforms, as one without random numbers.

    Examples:
        >>> from dist_ms.dataset import transforms
        >>> transforms.not_random(lambda x: x + 1).random
        False
    """
    function.random = False
    return function
