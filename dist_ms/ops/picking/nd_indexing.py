"""GatherNd and ScatterNd: slices picked and added up by rows of indices; each is the other's gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.error_classes import scalars
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import array, index_array, integers, tensor
from dist_ms.ops.picking.along import add_at_places
from dist_ms.ops.primitive import Primitive, quiet

__all__ = ["GatherNd", "ScatterNd", "gather_nd", "scatter_nd"]


class GatherNd(Primitive):
    """`gather_nd` as a primitive: `GatherNd()(input_x, indices)`."""

    keeps = (1,)

    def forward(self, input_x: np.ndarray, indices: np.ndarray) -> np.ndarray:
        return np.asarray(array(input_x, "input_x", self.name)[nd_index(self.name, indices, input_x.shape)])

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return ScatterNd()(inputs[1], dout, inputs[0].shape), None


def nd_index(name: str, indices: np.ndarray, shape: tuple, updates: np.ndarray | None = None) -> tuple:
    """The NumPy index of rows of indices, checked.

    Raises:
        TypeError: if they are neither int32 nor int64.
        ValueError: if the rows are longer than the shape, or there is not one of the updates per row.
        RuntimeError: if one is out of range.
    """
    if not index_array(indices, "indices", name).ndim and updates is None:
        indices = indices.reshape(1)
    width = indices.shape[-1] if indices.ndim else 0
    if not indices.ndim or width > len(shape):
        raise ValueError(
            f"For '{name}', the last dimension of 'indices' must be at most {len(shape)}, "
            f"but got the shape {indices.shape}."
        )
    if updates is not None:
        check_updates(name, indices, updates, shape)
    bounds = np.array(shape[:width])
    if indices.size:
        wrong = (indices < 0) | (indices >= bounds)
        if wrong.any():
            row = indices[wrong.any(-1)][0]
            raise RuntimeError(f"For '{name}', 'indices' must lie in {shape[:width]}, but got {row.tolist()}.")
    return tuple(np.moveaxis(indices, -1, 0))


@scalars("shape")
class ScatterNd(Primitive):
    """`scatter_nd` as a primitive: `ScatterNd()(indices, updates, shape)`."""

    keeps = (0,)

    def __call__(self, indices: Tensor, updates: Tensor, shape: Any) -> Tensor:
        if not isinstance(shape, tuple):
            raise TypeError(f"For '{self.name}', 'shape' must be a tuple of ints, but got {type(shape).__name__}.")
        return super().__call__(indices, updates, integers(shape, "shape", self.name))

    @quiet
    def forward(self, indices: np.ndarray, updates: np.ndarray, shape: tuple) -> np.ndarray:
        out = np.zeros(shape, array(updates, "updates", self.name).dtype)
        place = nd_index(self.name, indices, shape, updates)
        add_at_places(out, place, updates)
        return out

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return None, GatherNd()(dout, inputs[0]), None


def check_updates(name: str, indices: np.ndarray, updates: np.ndarray, shape: tuple) -> None:
    """Raise ValueError unless there is one update per row of indices."""
    wanted = indices.shape[:-1] + tuple(shape[indices.shape[-1] :])
    if updates.shape != wanted:
        raise ValueError(f"For '{name}', 'updates' must have the shape {wanted}, but got {updates.shape}.")


_gather_nd, _scatter_nd = GatherNd(), ScatterNd()


def gather_nd(input_x: Tensor, indices: Tensor) -> Tensor:
    """Pick elements or slices by rows of indices.

    Args:
        input_x: a Tensor.
        indices: a Tensor of integers (..., k): each row names a place in the first k dimensions.

    Returns:
        Tensor of shape indices.shape[:-1] + input_x.shape[k:].

    Raises:
        TypeError: if `indices` holds no integers.
        ValueError: if the rows are longer than the dimensions.
        RuntimeError: if an index is out of range or negative.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.gather_nd(ms.Tensor([[1, 2], [3, 4]]), ms.Tensor([[0, 1], [1, 0]])))
        [2 3]
    """
    return _gather_nd(input_x, tensor(indices, "indices", "gather_nd"))


def scatter_nd(indices: Tensor, updates: Tensor, shape: Any) -> Tensor:
    """Add values up at rows of indices, into zeros.

    Args:
        indices: a Tensor of integers (..., k): each row names a place in the first k dimensions.
        updates: a Tensor of shape indices.shape[:-1] + shape[k:].
        shape: the shape of the result.

    Returns:
        Tensor of that shape.

    Raises:
        TypeError: if `indices` holds no integers.
        ValueError: if the shapes do not fit.
        RuntimeError: if an index is out of range or negative.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.scatter_nd(ms.Tensor([[0], [2], [0]]), ms.Tensor([1.0, 2.0, 3.0]), (4,)))
        [4. 0. 2. 0.]
    """
    if isinstance(shape, tuple) and any(isinstance(n, int) and n < 1 for n in shape):
        raise ValueError(f"For 'scatter_nd', 'shape' must hold positive lengths, but got {shape}.")
    return _scatter_nd(tensor(indices, "indices", "scatter_nd"), tensor(updates, "updates", "scatter_nd"), shape)
