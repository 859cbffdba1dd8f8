"""Gradients of fused operations: which are wanted, and those of a formula made of operations.

A fused gradient is an operation of its own. Its gradient, the second-order one, is that of
a formula in plain operations with the same value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dist_ms.autograd.differentiate import Graph
from dist_ms.common.tensor import Tensor


def formula_gradient(formula: Callable, inputs: Sequence[Tensor], dout: Any) -> list[Tensor]:
    """The gradients of `formula(*inputs)` with respect to each input, for this `dout`."""
    graph = Graph(formula, list(inputs), positions=range(len(inputs)))
    return graph.sweep(graph.outputs, dout)[0]
