"""A table of vectors whose rows are cut over the ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.collectives.gathering_scattering import AllGatherV, ReduceScatterV
from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_positive_int
from dist_ms.common.initializer import initializer
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.nn.model_parallel.shards import (
    ScaleGradient,
    Shards,
    batch_lengths,
    check_features,
    gradient_scale,
    world_comm,
)
from dist_ms.ops.picking.gathering import EmbeddingLookup

__all__ = ["ParallelEmbedding"]


class ParallelEmbedding(Cell):
    """A table of vectors looked up by index, where each rank holds some rows: no rank ever holds the whole.

    A step gathers every rank's indices, looks up those this rank has, and adds up what the ranks found. The table's
    gradient has only the touched rows (RowTensor): optimizers such as `nn.LazyAdam` update no others.

    The parameter is `embedding_table` (this rank's rows, embedding_size), `layerwise_parallel`. Under `gradients_mean`
    its gradient is the mean over the ranks' losses, as the reducer makes those of other parameters.

    Args:
        vocab_size: number of rows of the whole, at least the number of ranks.
        embedding_size: length of a row.
        embedding_table: initial values: name, Initializer or number; "normal" has sigma 0.01. Each rank draws every
            shard and keeps its own.
        dtype: element type of the parameter.

    Inputs:
        ids (Tensor): int32 or int64 in [0, vocab_size), any shape; every rank its own batch, of any size.

    Outputs:
        Tensor of the shape of `ids` with `embedding_size` appended.

    Raises:
        TypeError: if an argument has the wrong type, or `ids` holds no int32 or int64.
        ValueError: if a number is out of range.
        IndexError: on every rank, if an index of any rank is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.nn.model_parallel import ParallelEmbedding
        >>> layer = ParallelEmbedding(4, 2, embedding_table="ones")
        >>> print(layer(ms.Tensor([1, 3])))
        [[1. 1.]
         [1. 1.]]
    """

    def __init__(
        self, vocab_size: int, embedding_size: int, embedding_table: Any = "normal", dtype: Any = mstype.float32
    ) -> None:
        super().__init__()
        self.vocab_size = check_positive_int(vocab_size, "vocab_size", self.cls_name)
        self.embedding_size = check_positive_int(embedding_size, "embedding_size", self.cls_name)
        self._comm = world_comm()
        check_features(vocab_size, "vocab_size", self.cls_name, self._comm.size)
        self._shards = Shards(vocab_size, self._comm.size, self._comm.rank)
        if isinstance(embedding_table, Tensor):
            raise TypeError(
                f"For '{self.cls_name}', 'embedding_table' must be a name, Initializer or number, but got a Tensor: "
                "no rank holds the whole. Set a shard with 'embedding_table.set_data'."
            )
        table = None
        for rank, rows in enumerate(self._shards.lengths):
            drawn = initializer(embedding_table, (rows, embedding_size), dtype)
            drawn = drawn.init_data() if drawn.has_init else drawn
            table = drawn if rank == self._comm.rank else table
        self.embedding_table = Parameter(table, name="embedding_table", layerwise_parallel=True)
        self._look_up = EmbeddingLookup()
        # There is no gradient but the table's, so the output's is scaled and the table's rows stay rows.
        self._scale = ScaleGradient(gradient_scale(self._comm.size))

    def construct(self, ids: Tensor) -> Tensor:
        if ids.dtype not in (mstype.int32, mstype.int64):
            raise TypeError(f"For '{self.cls_name}', 'ids' must be int32 or int64, but got {ids.dtype}.")
        flat = ids.reshape(-1)
        batches = batch_lengths(len(flat), self._comm)
        everybody = AllGatherV()(flat, batches)
        self._check_range(everybody.asnumpy(), batches)
        found = self._scale(self._look_up(self.embedding_table, everybody, self._shards.start))
        return ReduceScatterV()(found, batches).reshape(*ids.shape, self.embedding_size)

    def _check_range(self, ids: np.ndarray, batches: list[int]) -> None:
        wrong = np.flatnonzero((ids < 0) | (ids >= self.vocab_size))
        if len(wrong):
            rank = int(np.searchsorted(np.cumsum(batches), wrong[0], "right"))
            raise IndexError(
                f"For '{self.cls_name}', 'ids' must be in [0, {self.vocab_size - 1}], but rank {rank} has "
                f"{ids[wrong[0]]}."
            )

    def extend_repr(self) -> str:
        return (
            f"vocab_size={self.vocab_size}, embedding_size={self.embedding_size}, "
            f"rows={self._shards.start}..{self._shards.stop - 1}, ranks={self._comm.size}"
        )
