"""`initializer`: a tensor whose values are made later, and the classes that make them."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from dist_ms.common import dtype as mstype
from dist_ms.common.initializers.base import (
    Initializer,
    find,
)

# Initializers of users are written with these.
from dist_ms.common.initializers.base import _assignment as _assignment
from dist_ms.common.initializers.base import _calculate_correct_fan as _calculate_correct_fan
from dist_ms.common.initializers.base import (
    _calculate_fan_in_and_fan_out as _calculate_fan_in_and_fan_out,
)
from dist_ms.common.initializers.base import _calculate_gain as _calculate_gain
from dist_ms.common.initializers.base import _calculate_in_and_out as _calculate_in_and_out
from dist_ms.common.initializers.base import _register as _register
from dist_ms.common.initializers.constant import Constant, Dirac, Identity, One, Zero
from dist_ms.common.initializers.normal import Normal, Orthogonal, Sparse, TruncatedNormal
from dist_ms.common.initializers.scaled import (
    HeNormal,
    HeUniform,
    Uniform,
    VarianceScaling,
    XavierNormal,
    XavierUniform,
)
from dist_ms.common.random.seed import generator
from dist_ms.common.tensor import Tensor

__all__ = [
    "Constant",
    "Dirac",
    "HeNormal",
    "HeUniform",
    "Identity",
    "Initializer",
    "Normal",
    "One",
    "Orthogonal",
    "Sparse",
    "TruncatedNormal",
    "Uniform",
    "VarianceScaling",
    "XavierNormal",
    "XavierUniform",
    "Zero",
    "initializer",
]


def initializer(init: Tensor | str | Initializer | float, shape: Any = None, dtype: Any = mstype.float32) -> Tensor:
    """Make a tensor that knows its shape and type and how to make its values.

    Args:
        init: an Initializer; a class's name or alias in any case ("normal",
            "xavier_uniform", "zeros"); a number, which becomes a constant; or a Tensor of
            the same shape, which is returned itself.
        shape: an int or a tuple or list of positive ints.
        dtype: the element type.

    Returns:
        A lazy Tensor: `has_init` is True until `init_data`, a Parameter, or a read makes
        the values.

    Raises:
        TypeError: for another kind of `init`.
        ValueError: for an unknown name, a shape that is not positive, or a Tensor of
            another shape.

    Examples:
        >>> from dist_ms.common.initializer import initializer
        >>> x = initializer("ones", [1, 2])
        >>> x.has_init
        True
        >>> print(x.init_data())
        [[1. 1.]]
    """
    if not isinstance(init, (Tensor, str, Initializer, numbers.Number)):
        raise TypeError(
            f"For 'initializer', 'init' must be a Tensor, number, str or Initializer, but got {type(init).__name__}."
        )
    if isinstance(init, Tensor):
        wanted = _lengths(shape) if shape is not None else None
        if init.shape != wanted:
            raise ValueError(
                f"For 'initializer', 'shape' must be that of the Tensor 'init', {init.shape}, but got {shape}."
            )
        return init
    if shape is None:
        raise ValueError("For 'initializer', 'shape' must be given unless 'init' is a Tensor, but got None.")
    if isinstance(init, str):
        init = find(init)
    elif not isinstance(init, Initializer):
        init = Constant(init)
    return Tensor(shape=_lengths(shape), dtype=dtype, init=init)


def _lengths(shape: Any) -> tuple[int, ...]:
    """Require positive lengths and return them as a tuple."""
    lengths = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    if not all(isinstance(n, int) and n > 0 for n in lengths):
        raise ValueError(
            f"For 'initializer', 'shape' must be a positive int or a tuple or list of them, but got {shape}."
        )
    return tuple(int(n) for n in lengths)


def _init_random_normal(mean: float, sigma: float, shape: Any) -> np.ndarray:
    """A float32 array from N(mean, sigma**2), for initializers of users."""
    return generator().normal(mean, sigma, shape).astype(np.float32)


def _init_random_uniform(a: float, b: float, shape: Any) -> np.ndarray:
    """A float32 array spread evenly over [a, b), for initializers of users."""
    return generator().uniform(a, b, shape).astype(np.float32)


# Their public place, as MindSpore prints it in a layer's representation.
for _kind in (
    *(Constant, Dirac, HeNormal, HeUniform, Identity, Initializer, Normal, One, Orthogonal, Sparse),
    *(TruncatedNormal, Uniform, VarianceScaling, XavierNormal, XavierUniform, Zero),
):
    _kind.__module__ = __name__
