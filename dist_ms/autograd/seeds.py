"""Checking the gradients and directions that a user gives."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.autograd.tree import tensors
from dist_ms.common.jit import within_graph
from dist_ms.common.tensor import Tensor


def fitting_seed(outputs: Any, seed: Any) -> Any:
    """The gradients that a user gives for outputs.

    Where MindSpore compiles, it takes what broadcasts to an output, as losses of shape (1,) with a scale of shape ();
    elsewhere a gradient of shape (1,) for a scalar alone.

    Args:
        outputs: nested or not.
        seed: as many gradients, nested alike.

    Raises:
        RuntimeError: for another number of tensors.
        ValueError: for another shape.
        TypeError: for another type.
    """
    if _is_fitting(outputs, seed):
        return seed
    wanted, given = tensors(outputs), tensors(seed)
    if len(wanted) == len(given) and any(value.shape != g.shape for value, g in zip(wanted, given)):
        compiled = within_graph()
        seed = [
            _stretched(g, v.shape) if compiled or (v.shape, g.shape) == ((), (1,)) else g for v, g in zip(wanted, given)
        ]
    check_seed(outputs, seed)
    return seed


def _is_fitting(value: Any, seed: Any) -> bool:
    """Whether both are single tensors of one shape and type: most are."""
    if not (isinstance(value, Tensor) and isinstance(seed, Tensor)):
        return False
    return value.shape == seed.shape and value._element is seed._element


def _stretched(gradient: Tensor, shape: tuple[int, ...]) -> Tensor:
    """A gradient broadcast to a shape, where it can be; of one number it has any count of dimensions."""
    if gradient.size == 1:
        return gradient.reshape((1,) * len(shape)).broadcast_to(shape) if shape else gradient.reshape(())
    try:
        fits = np.broadcast_shapes(gradient.shape, shape) == shape
    except ValueError:
        fits = False
    return gradient.broadcast_to(shape) if fits else gradient


def check_seed(values: Any, seed: Any, what: str = "sens gradient", of: str = "output") -> None:
    """Refuse tensors whose number, shapes or types are not those of the values they belong to.

    Args:
        values: the outputs (or inputs), nested.
        seed: the gradient (or direction) given for them, nested alike.
        what, of: how messages call the seed and a value.

    Raises:
        RuntimeError: for another number of tensors.
        ValueError: for another shape.
        TypeError: for another type.
    """
    if _is_fitting(values, seed):
        return
    wanted, given = tensors(values), tensors(seed)
    if len(wanted) != len(given):
        raise RuntimeError(
            f"The given {what}'s size should be same as "
            f"{'out of network' if of == 'output' else of}: {len(wanted)} tensors, but got "
            f"{len(given)}."
        )
    for value, g in zip(wanted, given):
        if value.shape != g.shape:
            raise ValueError(f"The shape of the {what} should be that of the {of}, {value.shape}, but got {g.shape}.")
        if value._element is not g._element and value.dtype != g.dtype:
            raise TypeError(f"The dtype of the {what} should be that of the {of}, {value.dtype}, but got {g.dtype}.")
