"""Gradients against finite differences: one random inner product per order, any shapes.

For y = f(x), random w and u of the shapes of y and x:

    <w, (f(x + h u) - f(x - h u)) / 2h>  =  <gradient of <w, f> at x, u>  +  O(h^2)

The left side knows nothing of gradients. With order 2 the gradient function is checked
in the same way.
"""

import numpy as np

from dist_ms.autograd.differentiate import Graph
from dist_ms.autograd.tree import tensors
from dist_ms.common.tensor import Tensor


def check_gradient(fn, *inputs, order=2, seed=0, step=1e-5, tolerance=1e-6):
    """Check the gradient of `fn` with respect to all its inputs.

    Args:
        fn: takes Tensors and returns a Tensor or a nesting of them.
        inputs: float64 arrays, away from kinks.
        order: how many times to differentiate.
        seed: of the random directions.
        step: h.
        tolerance: allowed difference, relative to the terms of the inner products.
    """
    rng = np.random.default_rng(seed)
    inputs = [np.asarray(x, np.float64) for x in inputs]
    check_level(fn, inputs, order, rng, step, tolerance)


def check_level(fn, inputs, order, rng, step, tolerance):
    directions = [rng.standard_normal(x.shape) for x in inputs]
    outputs = values(fn, inputs)
    weights = [rng.standard_normal(y.shape) for y in outputs]
    grads = weighted_gradient(fn, weights)
    left = right = 0.0
    for sign in (1, -1):
        moved = values(fn, [x + sign * step * u for x, u in zip(inputs, directions)])
        left += sign * sum(np.sum(w * y) for w, y in zip(weights, moved)) / (2 * step)
    found = values(grads, inputs)
    assert [g.shape for g in found] == [x.shape for x in inputs]
    right = sum(np.sum(g * u) for g, u in zip(found, directions))
    scale = sum(np.sum(np.abs(g * u)) for g, u in zip(found, directions)) + 1
    assert abs(left - right) <= tolerance * scale, (order, left, right)
    if order > 1:
        check_level(grads, inputs, order - 1, rng, step, tolerance)


def values(fn, inputs):
    """The outputs of a call as arrays."""
    return [y.asnumpy() for y in tensors(fn(*[Tensor(x) for x in inputs]))]


def weighted_gradient(fn, weights):
    """The gradient function of the outputs of `fn`, weighted."""

    def gradient(*xs):
        graph = Graph(fn, xs, targets=xs)
        return graph.sweep(graph.outputs, [Tensor(w) for w in weights])[0]

    return gradient
