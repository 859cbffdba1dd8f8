"""MultiFieldEmbeddingLookup: embedding vectors merged by field."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_dimensions, check_positive_int, check_string, check_type
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.nn.layer.embedding import EmbeddingLookup

__all__ = ["MultiFieldEmbeddingLookup"]

_LOWEST = float(np.finfo(np.float32).min)


class MultiFieldEmbeddingLookup(EmbeddingLookup):
    """Embedding vectors times given values, merged over the entries of each field.

    The parameter is `embedding_table` (vocab_size, embedding_size).

    Args:
        vocab_size, embedding_size: of the table.
        field_size: number of fields.
        param_init, target, slice_mode, max_norm, sparse, dtype: as in `EmbeddingLookup`.
        feature_num_list: unused without slices, must be None.
        operator: "SUM" adds a field's vectors; "MEAN" divides that by the sum of the values; "MAX"
            takes the largest of the vectors whose value is not 0.

    Inputs:
        input_indices (Tensor): (N, entries) int32 or int64.
        input_values (Tensor): (N, entries) float32.
        field_ids (Tensor): (N, entries) int32, in [0, field_size).

    Outputs:
        Tensor (N, field_size, embedding_size), 0 for a field without entries.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number is out of range, `operator` another string, or an input has no 2
            dimensions.

    Examples:
        >>> import dist_ms as ms
        >>> layer = ms.nn.MultiFieldEmbeddingLookup(10, 2, field_size=2, param_init="ones")
        >>> ids, fields = ms.Tensor([[1, 2, 5]], ms.int32), ms.Tensor([[0, 1, 1]], ms.int32)
        >>> print(layer(ids, ms.Tensor([[1.0, 1.0, 3.0]]), fields))
        [[[1. 1.]
          [4. 4.]]]
    """

    OPERATOR_SUM = "SUM"
    OPERATOR_MEAN = "MEAN"
    OPERATOR_MAX = "MAX"

    def __init__(
        self,
        vocab_size: int,
        embedding_size: int,
        field_size: int,
        param_init: Any = "normal",
        target: str = "CPU",
        slice_mode: str = "batch_slice",
        feature_num_list: Any = None,
        max_norm: float | None = None,
        sparse: bool = True,
        operator: str = "SUM",
        dtype: Any = mstype.float32,
    ) -> None:
        super().__init__(
            vocab_size, embedding_size, param_init, target, slice_mode, feature_num_list, max_norm, sparse, dtype
        )
        self.field_size = check_positive_int(field_size, "field_size", self.cls_name)
        self.operator = check_string(operator, "operator", self.cls_name, ["SUM", "MAX", "MEAN"])

    def construct(self, input_indices: Tensor, input_values: Tensor, field_ids: Tensor) -> Tensor:
        self._check(input_indices, "input_indices", (mstype.int32, mstype.int64))
        self._check(input_values, "input_values", (mstype.float32,))
        self._check(field_ids, "field_ids", (mstype.int32,))
        rows, count = input_indices.shape[0], input_indices.shape[0] * self.field_size
        segments = field_ids + wrap(np.arange(0, count, self.field_size, dtype=np.int32)[:, None])
        weights = ops.expand_dims(input_values, -1)
        vectors = super().construct(input_indices) * weights
        if self.operator == "MAX":
            unused = wrap((input_values.array() == 0)[..., None].astype(np.float32) * np.float32(_LOWEST))
            merged = ops.unsorted_segment_max(
                ops.reshape(vectors + unused, (-1, self.embedding_size)), ops.reshape(segments, (-1,)), count
            )
            merged = merged * ops.cast(
                ops.expand_dims(self._sizes(input_values, segments, count), -1) != 0, merged.dtype
            )
        else:
            merged = ops.unsorted_segment_sum(vectors, segments, count)
        if self.operator == "MEAN":
            merged = ops.div_no_nan(merged, ops.expand_dims(self._sizes(input_values, segments, count), -1))
        return ops.reshape(merged, (rows, self.field_size, -1))

    def _sizes(self, values: Tensor, segments: Tensor, count: int) -> Tensor:
        """The sum of each field's absolute values."""
        return ops.unsorted_segment_sum(ops.abs(values), segments, count)

    def _check(self, value: Tensor, name: str, dtypes: tuple) -> None:
        check_dimensions(check_type(value, name, self.cls_name, Tensor), name, self.cls_name, 2)
        if value.dtype not in dtypes:
            raise TypeError(
                f"For '{self.cls_name}', the dtype of '{name}' must be one of {[str(d) for d in dtypes]}, but "
                f"got {value.dtype}."
            )
