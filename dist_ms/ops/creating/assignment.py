"""Assign, AssignAdd, AssignSub: writing into Parameters and tensors.

The object keeps its memory, so that views and flat storage of several parameters see the
new values; values that a graph saved are not touched. An assignment is no part of the
graph: what is assigned counts as the variable's value, and no gradient goes back from it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.autograd.tape import recording
from dist_ms.common.dtype import from_numpy
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import same_rank, tensor
from dist_ms.ops.broadcasting import promote_types
from dist_ms.ops.picking.indexing import writable
from dist_ms.ops.primitive import Primitive, as_tensor, quiet

__all__ = ["Assign", "AssignAdd", "AssignSub", "assign", "assign_add", "assign_sub"]


def overwrite(variable: Tensor, value: Any) -> Tensor:
    """Write an array (or tensor) of the variable's shape into it, and return its values as a Tensor.

    Under a gradient the result counts as the variable itself.
    """
    array = value.array() if isinstance(value, Tensor) else value
    if isinstance(variable, Parameter):
        variable.overwrite(array)
    elif recording.on:
        variable._data = array.copy(order="K")
    else:
        writable(variable)[...] = array
    if not recording.on:
        return wrap(variable._data)
    # A value of its own, which a later assignment does not change under the graph.
    out = wrap(variable._data.copy(order="K"))
    out._node, out._index = variable._node, variable._index
    return out


class Assign(Primitive):
    """The value written into a variable.

    Call:
        variable (Parameter or Tensor): what is written into.
        value (Tensor): of the same shape, and of a dtype that does not need a wider one.

    Raises:
        TypeError: if an argument has the wrong type, or `value` a wider dtype.
        ValueError: if the shapes differ.

    Examples:
        >>> import dist_ms as ms
        >>> p = ms.Parameter(ms.Tensor([1.0]), name="p")
        >>> print(ms.ops.Assign()(p, ms.Tensor([2.0])), p.asnumpy())
        [2.] [2.]
    """

    def __call__(self, variable: Tensor, value: Any) -> Tensor:
        value = checked(self.name, variable, value)
        return overwrite(variable, self.combine(variable.array(), value))

    @staticmethod
    def combine(old: np.ndarray, value: np.ndarray) -> np.ndarray:
        """The new values."""
        return value


class AssignAdd(Assign):
    """`Assign` of the sum with the value.

    Examples:
        >>> import dist_ms as ms
        >>> p = ms.Parameter(ms.Tensor([1.0]), name="p")
        >>> print(ms.ops.AssignAdd()(p, ms.Tensor([2.0])))
        [3.]
    """

    @staticmethod
    @quiet
    def combine(old: np.ndarray, value: np.ndarray) -> np.ndarray:
        """The new values."""
        return np.add(old, value)


class AssignSub(Assign):
    """`Assign` of the variable less the value.

    Examples:
        >>> import dist_ms as ms
        >>> p = ms.Parameter(ms.Tensor([1.0]), name="p")
        >>> print(ms.ops.AssignSub()(p, ms.Tensor([2.0])))
        [-1.]
    """

    @staticmethod
    @quiet
    def combine(old: np.ndarray, value: np.ndarray) -> np.ndarray:
        """The new values."""
        return np.subtract(old, value)


def checked(name: str, variable: Tensor, value: Any) -> np.ndarray:
    """The array to combine with a variable's, in its dtype.

    Raises:
        TypeError: if an argument has the wrong type, or `value` a wider dtype.
        ValueError: if the shapes differ.
    """
    d = tensor(variable, "variable", name).array().dtype
    if not isinstance(value, (Tensor, bool, int, float, np.generic)):
        raise TypeError(f"For '{name}', 'value' must be a Tensor or a number, but got {type(value).__name__}.")
    array = as_tensor(value).array()
    if promote_types(d, array.dtype) != d if isinstance(value, Tensor) else array.dtype.kind == "f" and d.kind in "biu":
        raise TypeError(
            f"For '{name}', 'value' must fit the dtype {from_numpy(d)} of 'variable', "
            f"but got {from_numpy(array.dtype)}; cast it first."
        )
    if isinstance(value, Tensor) and value.ndim and variable.ndim:
        same_rank(variable, value, name)
    one = array.size == variable.size == 1
    if array.shape != variable.shape and (not one or name == "Assign"):
        raise (RuntimeError if one else ValueError)(
            f"For '{name}', 'value' must have the shape of 'variable', {variable.shape}, but got {array.shape}."
        )
    with np.errstate(all="ignore"):
        return array.reshape(variable.shape).astype(d, copy=False)


assign, assign_add, assign_sub = Assign(), AssignAdd(), AssignSub()
