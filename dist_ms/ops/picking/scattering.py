"""ScatterNd, TensorScatterAdd and their kin: new tensors with values put at rows of indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.dtype import from_numpy
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import array
from dist_ms.ops.elementwise.arithmetic import mul, neg
from dist_ms.ops.elementwise.division import true_divide
from dist_ms.ops.picking.indexing import survivors
from dist_ms.ops.picking.nd_indexing import GatherNd, nd_index
from dist_ms.ops.primitive import OfTensors, numpy_dtype, quiet

__all__ = [
    "TensorScatterAdd",
    "TensorScatterDiv",
    "TensorScatterMax",
    "TensorScatterMin",
    "TensorScatterMul",
    "TensorScatterSub",
    "TensorScatterUpdate",
    "tensor_scatter_add",
    "tensor_scatter_div",
    "tensor_scatter_max",
    "tensor_scatter_min",
    "tensor_scatter_mul",
    "tensor_scatter_sub",
    "tensor_scatter_update",
]


class _TensorScatter(OfTensors):
    """A copy of a tensor with `combine(old, update)` at rows of indices."""

    tensors = 3
    combine: np.ufunc

    @quiet
    def forward(self, input_x: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> np.ndarray:
        array(input_x, "input_x", self.name)
        if array(updates, "updates", self.name).dtype != input_x.dtype:
            raise TypeError(
                f"For '{self.name}', 'updates' must have the dtype of 'input_x', "
                f"{from_numpy(input_x.dtype)}, "
                f"but got {from_numpy(updates.dtype)}."
            )
        place = nd_index(self.name, indices, input_x.shape, updates)
        out = input_x.copy(order="K")
        self.put(out, place, updates)
        return out

    def put(self, out: np.ndarray, place: tuple, updates: np.ndarray) -> None:
        """Combine updates with the values at a place, in their order."""
        self.combine.at(out, place, updates)


class TensorScatterUpdate(_TensorScatter):
    """A copy of a tensor with other values at rows of indices; of several the last one counts.

    Call:
        input_x (Tensor): the values.
        indices (Tensor): integers (..., k): each row names a place in the first k dimensions.
        updates (Tensor): the new values, of shape indices.shape[:-1] + input_x.shape[k:].

    Raises:
        TypeError: if the dtypes do not fit.
        ValueError: if the shapes do not fit.
        RuntimeError: if an index is out of range or negative.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([1.0, 2.0, 3.0])
        >>> print(ms.ops.TensorScatterUpdate()(x, ms.Tensor([[1]]), ms.Tensor([9.0])))
        [1. 9. 3.]
    """

    keeps = (1,)

    def put(self, out: np.ndarray, place: tuple, updates: np.ndarray) -> None:
        out[place] = updates

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        _x, i, updates = inputs
        dupdates = survivors(GatherNd()(dout, i), tuple(np.moveaxis(i.array(), -1, 0)), dout.shape)
        return TensorScatterUpdate()(dout, i, ops.zeros(updates.shape, updates.dtype)), None, dupdates


class TensorScatterAdd(_TensorScatter):
    """`TensorScatterUpdate` that adds to the values; of several updates of a place each one counts.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([1.0, 2.0])
        >>> print(ms.ops.TensorScatterAdd()(x, ms.Tensor([[1], [1]]), ms.Tensor([3.0, 4.0])))
        [1. 9.]
    """

    keeps = (1,)
    combine = np.add

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return dout, None, GatherNd()(dout, inputs[1])


class TensorScatterSub(_TensorScatter):
    """`TensorScatterAdd` for differences.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([1.0, 9.0])
        >>> print(ms.ops.TensorScatterSub()(x, ms.Tensor([[1], [1]]), ms.Tensor([3.0, 4.0])))
        [1. 2.]
    """

    keeps = (1,)
    combine = np.subtract

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return dout, None, neg(GatherNd()(dout, inputs[1]))


class TensorScatterMul(_TensorScatter):
    """`TensorScatterAdd` for products.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([1.0, 2.0])
        >>> print(ms.ops.TensorScatterMul()(x, ms.Tensor([[1], [1]]), ms.Tensor([3.0, 4.0])))
        [ 1. 24.]
    """

    combine = np.multiply

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, i, updates = inputs
        # Right for factors other than 0 where several meet, as d(out)/d(update) = out / update.
        out = self(x, i, updates)
        return (self(dout, i, updates), None, true_divide(GatherNd()(mul(dout, out), i), updates))


class TensorScatterDiv(_TensorScatter):
    """`TensorScatterAdd` for quotients.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([1.0, 24.0])
        >>> print(ms.ops.TensorScatterDiv()(x, ms.Tensor([[1], [1]]), ms.Tensor([3.0, 4.0])))
        [1. 2.]
    """

    def put(self, out: np.ndarray, place: tuple, updates: np.ndarray) -> None:
        (np.true_divide if out.dtype.kind in "fcV" else np.floor_divide).at(out, place, updates)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, i, updates = inputs
        out = self(x, i, updates)
        return (self(dout, i, updates), None, neg(true_divide(GatherNd()(mul(dout, out), i), updates)))


class TensorScatterMax(_TensorScatter):
    """`TensorScatterAdd` for the larger of the old value and the updates; equal ones share the gradient.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([1.0, 5.0])
        >>> print(ms.ops.TensorScatterMax()(x, ms.Tensor([[0], [1]]), ms.Tensor([3.0, 4.0])))
        [3. 5.]
    """

    keeps_output = True
    combine = np.maximum

    def gradient(self, inputs: tuple, output: Tensor, dout: Tensor) -> tuple:
        x, i, updates = inputs
        dtype = from_numpy(numpy_dtype(dout))
        kept = ops.cast(ops.equal(x, output), dtype)
        chosen = ops.cast(ops.equal(updates, GatherNd()(output, i)), dtype)
        share = true_divide(dout, TensorScatterAdd()(kept, i, chosen))
        return mul(kept, share), None, mul(chosen, GatherNd()(share, i))


class TensorScatterMin(TensorScatterMax):
    """`TensorScatterMax` for the smaller one.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([1.0, 5.0])
        >>> print(ms.ops.TensorScatterMin()(x, ms.Tensor([[0], [1]]), ms.Tensor([3.0, 4.0])))
        [1. 4.]
    """

    combine = np.minimum


tensor_scatter_update, tensor_scatter_add = TensorScatterUpdate(), TensorScatterAdd()
tensor_scatter_sub, tensor_scatter_mul = TensorScatterSub(), TensorScatterMul()
tensor_scatter_div, tensor_scatter_max = TensorScatterDiv(), TensorScatterMax()
tensor_scatter_min = TensorScatterMin()
