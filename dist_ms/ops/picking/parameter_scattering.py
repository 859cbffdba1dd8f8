"""ScatterUpdate, ScatterNdAdd and their kin: values put into a Parameter's rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.dtype import from_numpy
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import boolean, index_array, not_of, tensor
from dist_ms.ops.broadcasting import promote_types
from dist_ms.ops.creating.assignment import overwrite
from dist_ms.ops.picking.nd_indexing import nd_index
from dist_ms.ops.primitive import Primitive, quiet

__all__ = [
    "ScatterAdd",
    "ScatterDiv",
    "ScatterMax",
    "ScatterMin",
    "ScatterMul",
    "ScatterNdAdd",
    "ScatterNdDiv",
    "ScatterNdMax",
    "ScatterNdMin",
    "ScatterNdMul",
    "ScatterNdSub",
    "ScatterNdUpdate",
    "ScatterNonAliasingAdd",
    "ScatterSub",
    "ScatterUpdate",
    "scatter_add",
    "scatter_div",
    "scatter_max",
    "scatter_min",
    "scatter_mul",
    "scatter_nd_add",
    "scatter_nd_div",
    "scatter_nd_max",
    "scatter_nd_min",
    "scatter_nd_mul",
    "scatter_nd_sub",
    "scatter_nd_update",
    "scatter_update",
]


class ParameterScatter(Primitive):
    """Rows of a Parameter combined with updates; it is updated, and its new values returned.

    Args:
        use_locking: accepted; updates are always in order.

    Call:
        input_x (Parameter or Tensor): what is updated.
        indices (Tensor): integers of any shape: each names a row.
        updates (Tensor): of shape indices.shape + input_x.shape[1:], and the dtype of `input_x`.

    Raises:
        TypeError: if the dtypes do not fit.
        ValueError: if the shapes do not fit.
        RuntimeError: if an index is out of range or negative.
    """

    ufunc: np.ufunc | None = None
    rows_of_indices = False

    def __init__(self, use_locking: bool = False) -> None:
        self.use_locking = boolean(use_locking, "use_locking", self.name)

    @quiet
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
        old = not_of(_elements(input_x, "input_x", self.name), "FD", "input_x", self.name)
        places = index_array(tensor(indices, "indices", self.name).array(), "indices", self.name)
        values = _elements(updates, "updates", self.name)
        if not self.rows_of_indices:
            places = places[..., None]
        index = nd_index(self.name, places, old.shape, values)
        if values.dtype != old.dtype and promote_types(values.dtype, old.dtype) == old.dtype:
            values = values.astype(old.dtype)
        if values.dtype != old.dtype:
            raise TypeError(
                f"For '{self.name}', 'updates' must have the dtype of 'input_x', {from_numpy(old.dtype)}, "
                f"but got {from_numpy(values.dtype)}."
            )
        new = old.copy()
        self.put(new, index, values)
        return overwrite(input_x, new)

    def put(self, out: np.ndarray, index: tuple, values: np.ndarray) -> None:
        """Combine updates with the values at a place, in their order."""
        if self.ufunc is None:
            out[index] = values
        else:
            self.ufunc.at(out, index, values)


def _elements(value: Any, name: str, owner: str) -> np.ndarray:
    """The array of a tensor; of a number, too, as its shape is wrong, not its type."""
    return np.asarray(value) if isinstance(value, (bool, int, float)) else tensor(value, name, owner).array()


class ScatterUpdate(ParameterScatter):
    """Rows of a Parameter replaced; of several updates of one row the last counts.

    Examples:
        >>> import dist_ms as ms
        >>> p = ms.Parameter(ms.Tensor([1.0, 2.0]), name="p")
        >>> print(ms.ops.ScatterUpdate()(p, ms.Tensor([1]), ms.Tensor([9.0])))
        [1. 9.]
    """

    def __init__(self, use_locking: bool = True) -> None:
        super().__init__(use_locking)


class ScatterAdd(ParameterScatter):
    """Rows of a Parameter with updates added.

    Examples:
        >>> import dist_ms as ms
        >>> p = ms.Parameter(ms.Tensor([1.0, 2.0]), name="p")
        >>> print(ms.ops.ScatterAdd()(p, ms.Tensor([1, 1]), ms.Tensor([9.0, 1.0])))
        [ 1. 12.]
    """

    ufunc = np.add


class ScatterSub(ParameterScatter):
    """Rows of a Parameter with updates subtracted.

    Examples:
        >>> import dist_ms as ms
        >>> p = ms.Parameter(ms.Tensor([1.0, 2.0]), name="p")
        >>> print(ms.ops.ScatterSub()(p, ms.Tensor([1]), ms.Tensor([9.0])))
        [ 1. -7.]
    """

    ufunc = np.subtract


class ScatterMul(ParameterScatter):
    """Rows of a Parameter multiplied by updates.

    Examples:
        >>> import dist_ms as ms
        >>> p = ms.Parameter(ms.Tensor([1.0, 2.0]), name="p")
        >>> print(ms.ops.ScatterMul()(p, ms.Tensor([1]), ms.Tensor([9.0])))
        [ 1. 18.]
    """

    ufunc = np.multiply


class ScatterDiv(ParameterScatter):
    """Rows of a Parameter divided by updates.

    Examples:
        >>> import dist_ms as ms
        >>> p = ms.Parameter(ms.Tensor([1.0, 2.0]), name="p")
        >>> print(ms.ops.ScatterDiv()(p, ms.Tensor([1]), ms.Tensor([4.0])))
        [1.  0.5]
    """

    def put(self, out: np.ndarray, index: tuple, values: np.ndarray) -> None:
        (np.true_divide if out.dtype.kind in "fcV" else np.floor_divide).at(out, index, values)


class ScatterMax(ParameterScatter):
    """Rows of a Parameter, or updates where they are larger.

    Examples:
        >>> import dist_ms as ms
        >>> p = ms.Parameter(ms.Tensor([1.0, 2.0]), name="p")
        >>> print(ms.ops.ScatterMax()(p, ms.Tensor([0, 1]), ms.Tensor([4.0, 1.0])))
        [4. 2.]
    """

    ufunc = np.maximum


class ScatterMin(ParameterScatter):
    """Rows of a Parameter, or updates where they are smaller.

    Examples:
        >>> import dist_ms as ms
        >>> p = ms.Parameter(ms.Tensor([1.0, 2.0]), name="p")
        >>> print(ms.ops.ScatterMin()(p, ms.Tensor([0, 1]), ms.Tensor([4.0, 1.0])))
        [1. 1.]
    """

    ufunc = np.minimum


class ScatterNdUpdate(ScatterUpdate):
    """Places of a Parameter replaced; each row of `indices` names one in its first dimensions.

    Examples:
        >>> import dist_ms as ms
        >>> p = ms.Parameter(ms.Tensor([1.0, 2.0]), name="p")
        >>> print(ms.ops.ScatterNdUpdate()(p, ms.Tensor([[1]]), ms.Tensor([9.0])))
        [1. 9.]
    """

    rows_of_indices = True


class ScatterNdAdd(ScatterAdd):
    """`scatter_nd_add` as a primitive: `ScatterNdAdd(use_locking)(input_x, indices, updates)`."""

    rows_of_indices = True


class ScatterNonAliasingAdd(ScatterNdAdd):
    """Places of a Parameter with updates added: `ScatterNdAdd` under another name.

    Examples:
        >>> import dist_ms as ms
        >>> p = ms.Parameter(ms.Tensor([1.0, 2.0]), name="p")
        >>> print(ms.ops.ScatterNonAliasingAdd()(p, ms.Tensor([[1]]), ms.Tensor([9.0])))
        [ 1. 11.]
    """


class ScatterNdSub(ScatterSub):
    """`scatter_nd_sub` as a primitive: `ScatterNdSub(use_locking)(input_x, indices, updates)`."""

    rows_of_indices = True


class ScatterNdMul(ScatterMul):
    """`scatter_nd_mul` as a primitive: `ScatterNdMul(use_locking)(input_x, indices, updates)`."""

    rows_of_indices = True


class ScatterNdDiv(ScatterDiv):
    """`scatter_nd_div` as a primitive: `ScatterNdDiv(use_locking)(input_x, indices, updates)`."""

    rows_of_indices = True


class ScatterNdMax(ScatterMax):
    """`scatter_nd_max` as a primitive: `ScatterNdMax(use_locking)(input_x, indices, updates)`."""

    rows_of_indices = True


class ScatterNdMin(ScatterMin):
    """`scatter_nd_min` as a primitive: `ScatterNdMin(use_locking)(input_x, indices, updates)`."""

    rows_of_indices = True


scatter_update, scatter_add, scatter_mul = ScatterUpdate(), ScatterAdd(), ScatterMul()
scatter_div, scatter_max, scatter_min = ScatterDiv(), ScatterMax(), ScatterMin()
scatter_nd_update, _nd_add, _nd_sub = ScatterNdUpdate(), ScatterNdAdd(), ScatterNdSub()


def _functional(primitive: ParameterScatter, what: str, operation: str, printed: str) -> Any:
    """The function of a ScatterNd primitive, which also takes `use_locking`."""

    def scatter(input_x: Tensor, indices: Tensor, updates: Tensor, use_locking: bool = False) -> Tensor:
        boolean(use_locking, "use_locking", f"scatter_nd_{operation}")
        return primitive(input_x, indices, updates)

    scatter.__doc__ = f"""{what}

    Args:
        input_x: a Parameter or Tensor; it is updated.
        indices: a Tensor of integers (..., k): each row names a place in the first k dimensions.
        updates: a Tensor of shape indices.shape[:-1] + input_x.shape[k:].
        use_locking: accepted; updates are always in order.

    Returns:
        Tensor: the new values.

    Raises:
        TypeError: if the dtypes do not fit, or `use_locking` is no bool.
        ValueError: if the shapes do not fit.
        RuntimeError: if an index is out of range or negative.

    Examples:
        >>> import dist_ms as ms
        >>> p = ms.Parameter(ms.Tensor([1.0, 2.0]), name="p")
        >>> print(ms.ops.scatter_nd_{operation}(p, ms.Tensor([[1]]), ms.Tensor([4.0])))
        {printed}
    """
    scatter.__name__ = scatter.__qualname__ = f"scatter_nd_{operation}"
    return scatter


scatter_nd_add = _functional(_nd_add, "Add updates to places of a Parameter.", "add", "[1. 6.]")
scatter_nd_sub = _functional(_nd_sub, "Subtract updates from places of a Parameter.", "sub", "[ 1. -2.]")
scatter_nd_mul = _functional(ScatterNdMul(), "Multiply places of a Parameter by updates.", "mul", "[1. 8.]")
scatter_nd_div = _functional(ScatterNdDiv(), "Divide places of a Parameter by updates.", "div", "[1.  0.5]")
scatter_nd_max = _functional(ScatterNdMax(), "Replace places of a Parameter by larger updates.", "max", "[1. 4.]")
scatter_nd_min = _functional(ScatterNdMin(), "Replace places of a Parameter by smaller updates.", "min", "[1. 2.]")
