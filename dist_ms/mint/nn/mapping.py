"""Linear, Embedding, Flatten and Dropout in PyTorch's form."""

from __future__ import annotations

from typing import Any

from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_positive_int
from dist_ms.common.initializer import Normal, initializer
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.mint.nn import functional
from dist_ms.mint.nn.function_layer import FunctionLayer
from dist_ms.nn.cell import Cell
from dist_ms.nn.layer.extended.layers import Dropout2dExt as Dropout2d
from dist_ms.nn.layer.extended.layers import DropoutExt as Dropout
from dist_ms.nn.layer.extended.linear import Linear

__all__ = ["Dropout", "Dropout2d", "Embedding", "Flatten", "Linear"]


class Embedding(Cell):
    """Rows of a learned table; see `dist_ms.ops.embedding`.

    Parameters: `weight` (num_embeddings, embedding_dim), drawn from the normal distribution.

    Args:
        num_embeddings, embedding_dim: how many rows, and their length.
        padding_idx: a row that is 0 at first and gets no gradient.
        max_norm: rows with a greater norm are scaled down to it when they are used.
        norm_type: the norm's order.
        scale_grad_by_freq: divide a row's gradient by how often it was used.
        sparse: taken for scripts that give it; gradients are dense.
        _weight: the table.
        _freeze: whether it is left as it is.
        dtype: its type; None for float32.

    Examples:
        >>> import dist_ms as ms
        >>> ms.mint.nn.Embedding(4, 2)(ms.Tensor([0, 3])).shape
        (2, 2)
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = check_positive_int(num_embeddings, "num_embeddings", self.cls_name)
        self.embedding_dim = check_positive_int(embedding_dim, "embedding_dim", self.cls_name)
        self.padding_idx, self.max_norm, self.norm_type = padding_idx, max_norm, norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.dtype = mstype.float32 if dtype is None else dtype
        shape = (num_embeddings, embedding_dim)
        if _weight is None:
            table = initializer(Normal(1.0), shape, self.dtype).init_data()
            if padding_idx is not None:
                table[padding_idx] = 0
        elif _weight.shape != shape:
            raise ValueError(f"For 'Embedding', '_weight' must have the shape {shape}, but got {_weight.shape}.")
        else:
            table = _weight
        self.weight = Parameter(table, name="weight", requires_grad=not _freeze)

    def construct(self, input: Tensor) -> Tensor:
        return functional.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq
        )

    def extend_repr(self) -> str:
        return (
            f"num_embeddings={self.num_embeddings}, embedding_dim={self.embedding_dim}, "
            f"padding_idx={self.padding_idx}, max_norm={self.max_norm}, norm_type={self.norm_type}, "
            f"scale_grad_by_freq={self.scale_grad_by_freq}, dtype={self.dtype}"
        )


class Flatten(FunctionLayer):
    """`functional.flatten` as a layer: `Flatten(start_dim, end_dim)(input)`; the first dimension stays by default."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__(start_dim=start_dim, end_dim=end_dim)
