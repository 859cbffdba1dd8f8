"""Embedding layers: tables whose rows are looked up by index."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common import dtype as mstype
from dist_ms.common.checks import (
    check_bool,
    check_int_range,
    check_positive_float,
    check_positive_int,
    check_string,
    check_type,
    complaint,
)
from dist_ms.common.initializer import initializer
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.nn.layer.embeddings.served_rows import look_up, unique_rows
from dist_ms.ops.arguments import not_of, tensor
from dist_ms.ops.layers.embedding import TakeKnownRows, TakeRows, check_ids
from dist_ms.parallel.servers import served

__all__ = ["Embedding", "EmbeddingLookup"]


class Embedding(Cell):
    """A table of vectors, looked up by index.

    The parameter is `embedding_table` (vocab_size, embedding_size).

    Args:
        vocab_size: number of rows.
        embedding_size: length of a row.
        use_one_hot: compute by a product with one-hot vectors; indices out of range give zeros then.
        embedding_table: initial values: Tensor, name, Initializer or number; "normal" has sigma 0.01.
        dtype: element type of the parameter.
        padding_idx: a row that starts as zeros.

    Inputs:
        ids (Tensor): int32 or int64, any shape; negative ones count from the end.

    Outputs:
        Tensor of the shape of `ids` with `embedding_size` appended.

    Raises:
        TypeError: if an argument has the wrong type, or `ids` holds no int32 or int64.
        ValueError: if a number is out of range.
        RuntimeError: if an index is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> layer = ms.nn.Embedding(4, 2, embedding_table="ones")
        >>> print(layer(ms.Tensor([1, 3])))
        [[1. 1.]
         [1. 1.]]
    """

    def __init__(
        self,
        vocab_size: int,
        embedding_size: int,
        use_one_hot: bool = False,
        embedding_table: Any = "normal",
        dtype: Any = mstype.float32,
        padding_idx: int | None = None,
    ) -> None:
        super().__init__()
        self.vocab_size = check_type(vocab_size, "vocab_size", "Embedding", int)
        self.embedding_size = check_type(embedding_size, "embedding_size", "Embedding", int)
        self.use_one_hot = check_bool(use_one_hot, "use_one_hot", "Embedding")
        mstype.to_type(dtype)
        self.dtype = dtype
        self.padding_idx = padding_idx
        values = initializer(embedding_table, (vocab_size, embedding_size), dtype)
        if padding_idx is not None:
            check_int_range(padding_idx, "padding_idx", "Embedding", 0, vocab_size, "[)")
            values = Tensor(values.init_data() if values.has_init else values)
            values.asnumpy()[padding_idx] = 0
        self.embedding_table = Parameter(values, name="embedding_table")
        self._take = TakeRows("Embedding")

    def construct(self, ids: Tensor) -> Tensor:
        not_of(ids, "BHIL", "ids", "Embedding")
        tensor(ids, "ids", "Embedding")
        if not self.use_one_hot:
            return self._take(self.embedding_table, ids)
        flat = ops.one_hot(ops.reshape(ids, (-1,)), self.vocab_size, Tensor(1.0, self.dtype), Tensor(0.0, self.dtype))
        rows = ops.matmul(flat, self.embedding_table)
        return ops.reshape(rows, (*ids.shape, self.embedding_size))

    def extend_repr(self) -> str:
        return (
            f"vocab_size={self.vocab_size}, embedding_size={self.embedding_size}, use_one_hot={self.use_one_hot}, "
            f"embedding_table={self.embedding_table}, dtype={self.dtype}, padding_idx={self.padding_idx}"
        )


class EmbeddingLookup(Cell):
    """A table of vectors, looked up by index; indices out of range give zeros.

    The parameter is `embedding_table` (vocab_size, embedding_size).

    Args:
        vocab_size: number of rows.
        embedding_size: length of a row.
        param_init: initial values: Tensor, name, Initializer or number; "normal" has sigma 0.01.
        target: "CPU" or "DEVICE", the same here.
        slice_mode: "batch_slice"; MindSpore's other modes slice the table over devices.
        manual_shapes: unused without slices, must be None.
        max_norm: vectors longer than this are scaled down to it, or None.
        sparse: the gradient of the table is a RowTensor of the rows that were looked up; must be True
            with target "CPU".
        dtype: element type of the parameter.
        vocab_cache_size: where parameter servers hold the table, how many rows this worker keeps.
            Kept rows are never older than the table's `staleness` allows.

    Inputs:
        indices (Tensor): int32 or int64, any shape.

    Outputs:
        Tensor of the shape of `indices` with `embedding_size` appended.

    Raises:
        TypeError: if an argument has the wrong type, or `indices` holds no int32 or int64.
        ValueError: if an argument is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> layer = ms.nn.EmbeddingLookup(4, 2, param_init="ones")
        >>> print(layer(ms.Tensor([1, 7])))
        [[1. 1.]
         [0. 0.]]
    """

    BATCH_SLICE = "batch_slice"
    FIELD_SLICE = "field_slice"
    TABLE_ROW_SLICE = "table_row_slice"
    TABLE_COLUMN_SLICE = "table_column_slice"

    def __init__(
        self,
        vocab_size: int,
        embedding_size: int,
        param_init: Any = "normal",
        target: str = "CPU",
        slice_mode: str = "batch_slice",
        manual_shapes: Any = None,
        max_norm: float | None = None,
        sparse: bool = True,
        dtype: Any = mstype.float32,
        vocab_cache_size: int = 0,
    ) -> None:
        super().__init__()
        owner = "EmbeddingLookup"
        self.vocab_size = check_positive_int(vocab_size, "vocab_size", owner)
        self.embedding_size = check_positive_int(embedding_size, "embedding_size", owner)
        self.target = check_string(target, "target", owner, ["CPU", "DEVICE"])
        self.sparse = check_bool(sparse, "sparse", owner)
        if not sparse and target == "CPU":
            raise ValueError(complaint("sparse", owner, "True when 'target' is 'CPU'", sparse))
        self.slice_mode = check_string(
            slice_mode,
            "slice_mode",
            owner,
            [self.BATCH_SLICE, self.FIELD_SLICE, self.TABLE_ROW_SLICE, self.TABLE_COLUMN_SLICE],
        )
        if slice_mode != self.BATCH_SLICE:
            raise ValueError(
                complaint(
                    "slice_mode",
                    owner,
                    "'batch_slice'",
                    repr(slice_mode),
                    "dist_ms does not slice a table over ranks; use parameter servers instead.",
                )
            )
        if manual_shapes is not None:
            raise ValueError(complaint("manual_shapes", owner, "None without slices", manual_shapes))
        self.max_norm = None if max_norm is None else check_positive_float(max_norm, "max_norm", owner)
        # A worker that has servers makes no table before it is known whether they hold it.
        with served.tables_made_late():
            self.embedding_table = Parameter(
                initializer(param_init, (vocab_size, embedding_size), dtype), name="embedding_table"
            )
        self.embedding_table.looked_up = True
        if check_type(vocab_cache_size, "vocab_cache_size", owner, int) < 0:
            raise ValueError(complaint("vocab_cache_size", owner, "an int of 0 or more", vocab_cache_size))
        self.vocab_cache_size = self.embedding_table.cached_rows = vocab_cache_size
        self._take = TakeKnownRows(owner, sparse)

    def construct(self, indices: Tensor) -> Tensor:
        check_ids(tensor(indices, "indices", "EmbeddingLookup").array(), "EmbeddingLookup")
        link = served.table(self.embedding_table)
        if link is None:
            rows = self._take(self.embedding_table, indices)
        else:
            rows = look_up("EmbeddingLookup", link, self.embedding_table, indices)
        if self.max_norm is None:
            return rows
        norm = ops.sqrt(ops.ReduceSum(keep_dims=True)(rows * rows, -1))
        return rows * (self.max_norm / ops.maximum(norm, self.max_norm))

    def prefetch(self, indices: Tensor) -> None:
        """Fetch the rows of the next batch from the servers while this one is computed; nothing without servers.

        The next lookup of these rows gives what it would have given: rows that other workers, or this one,
        change in between are fetched again.

        Args:
            indices: of the next batch.
        """
        link = served.table(self.embedding_table)
        if link is not None:
            array = check_ids(tensor(indices, "indices", "EmbeddingLookup").array(), "EmbeddingLookup")
            link.prefetch(unique_rows(array, self.vocab_size)[0])
