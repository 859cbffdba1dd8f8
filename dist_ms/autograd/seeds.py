"""Checking the gradients and directions that a user gives."""

from __future__ import annotations

from typing import Any

from dist_ms.autograd.tree import tensors


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
