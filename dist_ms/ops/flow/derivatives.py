"""derivative and jet: derivatives of higher order along a curve."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms.autograd.jacobian import jvp
from dist_ms.common.checks import check_positive_int
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import tensor
from dist_ms.ops.shaping.joining import stack

__all__ = ["derivative", "jet"]


def _along(fn: Callable, curve: Callable, order: int, d: np.dtype) -> tuple[Any, list]:
    """fn on a curve at time 0, and its derivatives by time up to an order."""
    zero, one = wrap(np.zeros((), d)), wrap(np.ones((), d))
    steps = [lambda t: fn(*curve(t))]
    for _ in range(order):
        steps.append(lambda t, last=steps[-1]: jvp(last, t, one)[1])
    return steps[0](zero), [step(zero) for step in steps[1:]]


def _sequence(value: Any, name: str, owner: str) -> tuple:
    """A Tensor, or a tuple of them, as a tuple of float Tensors."""
    parts = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    for part in parts:
        if not tensor(part, name, owner).array().dtype.kind == "f":
            raise TypeError(f"For '{owner}', the dtype of '{name}' must be float, but got {part.dtype}.")
    return parts


def jet(fn: Callable, primals: Any, series: Any) -> tuple:
    """Push the derivatives of a curve through a function.

    The curve is x(t) = primals + sum over k of series[k - 1] t^k / k!; the result's series holds the derivatives
    of fn(x(t)) at t = 0 (Griewank and Walther, "Evaluating Derivatives", 2008, chapter 13).

    Args:
        fn: a Cell or function of tensors.
        primals: a Tensor of floats, or a tuple of the arguments.
        series: a Tensor (order, *primals.shape) for each argument.

    Returns:
        tuple: the outputs, and a Tensor (order, *output.shape) for each.

    Raises:
        TypeError: if an argument holds no floats.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> out, series = ms.ops.jet(lambda x: x * x, ms.Tensor([3.0]), ms.Tensor([[1.0], [0.0]]))
        >>> print(out, series)
        [9.] [[6.]
         [2.]]
    """
    points, curves = _sequence(primals, "primals", "jet"), _sequence(series, "series", "jet")
    order = len(curves[0]) if curves[0].ndim else 0
    if len(points) != len(curves) or not order or any(s.shape != (order, *p.shape) for p, s in zip(points, curves)):
        raise ValueError(
            f"For 'jet', 'series' must be (order, *shape) for the shape of each of 'primals', but got "
            f"{[s.shape for s in curves]} and {[p.shape for p in points]}."
        )

    def curve(t: Tensor) -> list:
        out = []
        for point, coefficients in zip(points, curves):
            place, power = point, t
            for k in range(order):
                place = place + coefficients[k] * (power / math.factorial(k + 1))
                power = power * t
            out.append(place)
        return out

    out, found = _along(fn, curve, order, points[0].array().dtype)
    if isinstance(out, tuple):
        return out, tuple([stack([step[i] for step in found]) for i in range(len(out))])
    return out, stack(found)


def derivative(fn: Callable, primals: Any, order: int) -> tuple:
    """Compute the derivative of some order of a function by all elements of its arguments at once.

    For a function that works element by element these are the elements' own derivatives.

    Args:
        fn: a Cell or function of tensors.
        primals: a Tensor of floats, or a tuple of the arguments.
        order: above 0.

    Returns:
        tuple: the outputs, and their derivatives in the same shapes.

    Raises:
        TypeError: if `primals` hold no floats, or `order` is no int.
        ValueError: if `order` is not positive.

    Examples:
        >>> import dist_ms as ms
        >>> out, second = ms.ops.derivative(lambda x: x * x * x, ms.Tensor([1.0, 2.0]), 2)
        >>> print(out, second)
        [1. 8.] [ 6. 12.]
    """
    points = _sequence(primals, "primals", "derivative")
    order = check_positive_int(order, "order", "derivative")
    out, found = _along(fn, lambda t: [p + t for p in points], order, points[0].array().dtype)
    return out, found[-1]
