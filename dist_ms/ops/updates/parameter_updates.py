"""What the primitives that update Parameters share: arguments, formula, writing.

They are steps of optimizers: no part of a graph, and no gradient goes through them.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_dimensions
from dist_ms.common.dtype import from_numpy
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import integral, tensor
from dist_ms.ops.creating.assignment import overwrite
from dist_ms.ops.primitive import Primitive, quiet


class ParameterUpdate(Primitive):
    """A formula over Parameters, numbers and a gradient; the Parameters get the new values.

    A subclass gives `update`, whose first `states` parameters are arrays to update, whose
    parameters in `arrays` are arrays to read, and whose others are numbers. It returns the
    new arrays in order; the first `outputs` of them (all: None) are what the call returns.
    """

    states = 1
    outputs: int | None = None
    arrays: tuple[str, ...] = ("grad",)
    differentiable = False

    def __init__(self, use_locking: bool = False) -> None:
        self.use_locking = self.flag(use_locking, "use_locking")

    def flag(self, value: Any, argument: str) -> bool:
        """Return a bool attribute.

        Raises:
            TypeError: if it is none.
        """
        check_bool(value, argument, self.name)
        return value

    def number(self, value: Any, argument: str) -> float:
        """Return a number attribute as a float.

        Raises:
            TypeError: if it is none.
        """
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TypeError(f"For '{self.name}', '{argument}' must be a float, but got {type(value).__name__}.")
        return float(value)

    def update(self, *arguments: Any) -> tuple[np.ndarray, ...]:
        """The new values of the Parameters."""
        raise NotImplementedError(f"For '{self.name}', update is not defined.")

    @quiet
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            bound = inspect.signature(self.update).bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"For '{self.name}', {error}.") from None
        bound.apply_defaults()
        values, variables = [], []
        for place, (argument, value) in enumerate(bound.arguments.items()):
            if place < self.states:
                variables.append(tensor(value, argument, self.name))
                values.append(self.floats(value, argument, variables[0].shape))
            elif argument == "indices":
                values.append(integral(tensor(value, argument, self.name).array(), argument, self.name))
            elif argument in self.arrays:
                d = values[0].dtype
                values.append(
                    self.floats(value, argument, self.wanted_shape(variables[0], bound)).astype(d, copy=False)
                )
            else:
                values.append(self.scalar(value, argument, values[0].dtype))
        new = self.update(*values)
        results = [overwrite(variable, array) for variable, array in zip(variables, new)]
        results.extend(new[len(variables) :])
        count = len(results) if self.outputs is None else self.outputs
        return results[0] if count == 1 else tuple(results[:count])

    def wanted_shape(self, variable: Tensor, bound: inspect.BoundArguments) -> tuple[int, ...]:
        """The shape of the gradient: the variable's, or that of the rows which the indices name."""
        indices = bound.arguments.get("indices")
        return (
            variable.shape if indices is None else (*tensor(indices, "indices", self.name).shape, *variable.shape[1:])
        )

    def floats(self, value: Any, argument: str, shape: tuple[int, ...]) -> np.ndarray:
        """The array of floats of an argument of a shape.

        Raises:
            TypeError: if it is no Tensor, or holds no floats.
            ValueError: if the shape is another.
        """
        array = tensor(value, argument, self.name).array()
        if array.dtype.kind not in "fV":
            raise TypeError(f"For '{self.name}', '{argument}' must hold floats, but got {from_numpy(array.dtype)}.")
        if array.shape != shape:
            raise ValueError(f"For '{self.name}', '{argument}' must have shape {shape}, but got {array.shape}.")
        return array

    def scalar(self, value: Any, argument: str, d: np.dtype) -> Any:
        """A number in the variable's dtype.

        Raises:
            TypeError: if it is neither a number nor a Tensor of one.
        """
        plain = value.array() if isinstance(value, Tensor) else value
        if isinstance(plain, (bool, str)) or np.ndim(plain) > 1 or np.size(plain) != 1:
            raise TypeError(f"For '{self.name}', '{argument}' must be a number or a Tensor of one, but got {value!r}.")
        try:
            return np.asarray(plain, d).reshape(())[()]
        except (TypeError, ValueError):
            raise TypeError(
                f"For '{self.name}', '{argument}' must be a number or a Tensor of one, but got {type(value).__name__}."
            ) from None


def rows_once(indices: np.ndarray, grad: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each row number once, in order, and the sum of its gradients."""
    rows, group = np.unique(indices, return_inverse=True)
    sums = np.zeros((len(rows), *grad.shape[1:]), grad.dtype)
    np.add.at(sums, group.reshape(-1), grad)
    return rows, sums


def present_rows_once(indices: np.ndarray, grad: np.ndarray, owner: str, count: int) -> tuple[np.ndarray, np.ndarray]:
    """`rows_once` of the rows below `count`; gradients of rows beyond are left out, as in MindSpore's fused updates.

    Raises:
        ValueError: if `indices` has other than one dimension.
        IndexError: if a row is negative.
    """
    check_dimensions(indices, "indices", owner, 1)
    if indices.size and indices.min() < 0:
        raise IndexError(f"For '{owner}', 'indices' must be 0 or more, but got {indices.tolist()}.")
    there = indices < count
    return rows_once(indices, grad) if there.all() else rows_once(indices[there], grad[there])


def in_turn(indices: np.ndarray, grad: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Row numbers and their gradients, in parts without a number twice; equal numbers keep their order."""
    order = np.argsort(indices, kind="stable")
    ordered = indices[order]
    turn = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    for number in range(turn.max(initial=-1) + 1):
        part = order[turn == number]
        yield indices[part], grad[part]


def shrunk(x: np.ndarray, l1: Any) -> np.ndarray:
    """x moved towards zero by l1, and no further."""
    return np.sign(x) * np.maximum(np.abs(x) - l1, 0)


def check_rows(indices: np.ndarray, owner: str, count: int) -> None:
    """Refuse rows that are not there.

    Raises:
        ValueError: if `indices` has other than one dimension.
        IndexError: if a row is out of range.
    """
    check_dimensions(indices, "indices", owner, 1)
    if indices.size and (indices.min() < 0 or indices.max() >= count):
        raise IndexError(f"For '{owner}', 'indices' must be in [0, {count}), but got {indices.tolist()}.")
