"""Lookups in a table that parameter servers hold: the batch's rows are pulled, and their gradient is by rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.autograd.tape import alias, call_node, recording, tied, wanted
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.common.tensor.sparse_tensor import row_tensor
from dist_ms.ops.layers.embedding import AddRows, TakeRows


class PulledRows:
    """The primitive of a lookup whose rows came from a server.

    Args:
        owner: the name in errors.
        ids: the row numbers that were pulled, each once.
        places: per index looked up the place of its row among them; -1 for an index outside the table.
        shape: the table's.
    """

    differentiable = True
    keeps = ()
    keeps_output = False

    def __init__(self, owner: str, ids: np.ndarray, places: np.ndarray, shape: tuple[int, ...]) -> None:
        self.name, self.ids, self.places, self.shape = owner, ids, places, shape

    def forward(self, rows: np.ndarray) -> np.ndarray:
        """Give every index its row, zeros outside the table."""
        return _inside(self.name, rows, self.places)

    def gradient(self, inputs: tuple, output: Any, dout: tuple) -> tuple:
        """Add up what each row got."""
        if recording.tape is not None:
            raise NotImplementedError(
                f"For '{self.name}', a gradient of a gradient is not possible where the table is on parameter servers."
            )
        places, values = self.places, dout[0].array().reshape(self.places.size, self.shape[1])
        if self.places.size and self.places.min() < 0:
            inside = places >= 0
            places, values = places[inside], values[inside]
        summed = AddRows(self.name).forward(values, places, (len(self.ids), self.shape[1]))
        return (row_tensor(self.ids, summed, self.shape),)


def _inside(owner: str, rows: np.ndarray, places: np.ndarray) -> np.ndarray:
    if not places.size or places.min() >= 0:
        return TakeRows(owner).forward(rows, places)
    out = np.zeros((places.size, rows.shape[1]), rows.dtype)
    out[places >= 0] = rows[places[places >= 0]]
    return out


def unique_rows(ids: np.ndarray, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """The row numbers in `ids`, each once, and the place of every index among them (-1 outside the table)."""
    flat = ids.reshape(-1).astype(np.int64, copy=False)
    inside = (flat >= 0) & (flat < rows)
    if inside.all():
        once, places = np.unique(flat, return_inverse=True)
        return once, places.reshape(-1)
    once, found = np.unique(flat[inside], return_inverse=True)
    places = np.full(flat.size, -1, np.int64)
    places[inside] = found.reshape(-1)
    return once, places


def look_up(owner: str, link: Any, table: Tensor, indices: Tensor) -> Tensor:
    """Return rows of a table on servers, zeros for indices outside of it.

    Args:
        owner: the name in errors.
        link: this worker's end of the table.
        table: the Parameter.
        indices: int32 or int64, any shape.
    """
    array = indices.array()
    ids, places = unique_rows(array, table.shape[0])
    primitive = PulledRows(owner, ids, places, table.shape)
    out = wrap(primitive.forward(link.pull(ids)).reshape(*array.shape, table.shape[1]))
    if wanted((table,)):
        node = call_node(primitive, [alias(table, keep_data=False)], [out], recording.tape, special=False)
        return tied([out], node)[0]
    return out
