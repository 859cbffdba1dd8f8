"""What one server holds: some rows of a table, or pieces of dense tensors, with their optimizer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dist_ms.common.parameter import Parameter
from dist_ms.common.random import seed as seeds
from dist_ms.common.tensor import wrap
from dist_ms.common.tensor.sparse_tensor import RowTensor
from dist_ms.parallel.servers.partition import Piece, RowPartition


def parameter_of(array: np.ndarray, name: str) -> Parameter:
    """A Parameter around an array, which is not copied."""
    parameter = Parameter(np.zeros((0,), array.dtype), name=name)
    parameter._data = array
    return parameter


class TableShard:
    """Some rows of a table.

    Args:
        name: the table's.
        shape: the whole table's, (rows, columns).
        dtype: its type.
        partition: which rows go where.
        server: this server's number.

    Attributes:
        parameters: the rows this server holds, as one Parameter.
        changed: per row the number of the update that changed it last.
    """

    def __init__(self, name: str, shape: tuple[int, int], dtype: Any, partition: RowPartition, server: int) -> None:
        self.name, self.shape, self.dtype = name, tuple(shape), np.dtype(dtype)
        self.partition, self.server = partition, server
        array = np.zeros((partition.count(server), shape[1]), self.dtype)
        self.parameters = [parameter_of(array, name)]
        # Written now: zeros that the system only promises cost a page fault at each row's first update.
        self.changed = np.full(len(array), 0, np.int32)

    @property
    def rows(self) -> np.ndarray:
        """The values."""
        return self.parameters[0]._data

    @property
    def nbytes(self) -> int:
        """Bytes of the values."""
        return self.rows.nbytes

    def initialise(self, init: Any, seed: int) -> None:
        """Make the first values with an initializer: the same for a row, whatever the number of servers."""
        seeds.set_seed(seed)
        for low, number, mine, to in self.partition.blocks(self.server):
            block = init.create_slice(
                (number, self.shape[1]), self.dtype, low, full_shape=self.shape, start=(low, 0), name=self.name
            )
            self.rows[to] = block[mine]

    def cut(self, state: np.ndarray) -> np.ndarray:
        """This server's part of an array that has a row per row of the table."""
        return np.ascontiguousarray(state[self.partition.slice_of(self.server)])

    def state(self, fill: Any, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """Make this server's part of an optimizer state that is filled by an initializer."""
        return fill.create((len(self.rows), *shape[1:]), dtype)

    def gradients(self, frames: Sequence[tuple[np.ndarray, np.ndarray]], scale: float, update: int) -> list[Any]:
        """Put the workers' row gradients together.

        Args:
            frames: per worker, in their order, row numbers and flat values.
            scale: a factor.
            update: the number of the update these rows will be changed by.
        """
        ids = frames[0][0] if len(frames) == 1 else np.concatenate([ids for ids, _ in frames])
        values = np.empty((len(ids), self.shape[1]), np.result_type(self.dtype, np.float32))
        at = 0
        for part, given in frames:
            np.multiply(
                given.reshape(len(part), self.shape[1]), scale, out=values[at : at + len(part)], casting="same_kind"
            )
            at += len(part)
        self.changed[ids] = update
        return [RowTensor(wrap(np.array(ids)), wrap(values), self.rows.shape)]


class DenseShard:
    """Pieces of dense tensors.

    Args:
        names: of the tensors that were cut.
        shapes: theirs.
        dtype: their type.
        pieces: this server's, in order.

    Attributes:
        parameters: one per piece; a tensor that is here whole keeps its shape.
        shapes: of the tensors that were cut.
        places: per piece its part of the flat array that travels.
        size: elements of all pieces.
    """

    def __init__(
        self, names: Sequence[str], shapes: Sequence[tuple[int, ...]], dtype: Any, pieces: Sequence[Piece]
    ) -> None:
        self.name, self.dtype, self.pieces = " + ".join(names), np.dtype(dtype), list(pieces)
        self.shapes = [tuple(shape) for shape in shapes]
        self.parameters, self.places, at = [], [], 0
        for piece in self.pieces:
            size = piece.stop - piece.start
            whole = size == math.prod(shapes[piece.index])
            shape = tuple(shapes[piece.index]) if whole else (size,)
            self.parameters.append(parameter_of(np.zeros(shape, self.dtype), names[piece.index]))
            self.places.append(slice(at, at + size))
            at += size
        self.size = at

    @property
    def nbytes(self) -> int:
        """Bytes of the values."""
        return self.size * self.dtype.itemsize

    def write(self, flat: np.ndarray) -> None:
        """Overwrite the values."""
        for parameter, place in zip(self.parameters, self.places, strict=True):
            parameter._data[...] = flat[place].reshape(parameter._data.shape)

    def read(self, out: np.ndarray) -> None:
        """Copy the values, one piece after the other."""
        for parameter, place in zip(self.parameters, self.places, strict=True):
            out[place] = parameter._data.reshape(-1)

    def gradients(self, frames: Sequence[tuple[np.ndarray, np.ndarray]], scale: float, update: int) -> list[Any]:
        """Add the workers' gradients up."""
        total = frames[0][1].astype(np.result_type(self.dtype, np.float32))
        for _, values in frames[1:]:
            total += values
        if scale != 1:
            total *= scale
        return [
            wrap(total[place].astype(self.dtype, copy=False).reshape(parameter._data.shape))
            for parameter, place in zip(self.parameters, self.places, strict=True)
        ]
