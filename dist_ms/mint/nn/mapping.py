"""Linear, Embedding, Flatten and Dropout in PyTorch's form."""

from __future__ import annotations

import math
from typing import Any

from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_positive_int
from dist_ms.common.initializer import HeUniform, Normal, Uniform, initializer
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.mint.nn import functional
from dist_ms.nn.cell import Cell

__all__ = ["Dropout", "Dropout2d", "Embedding", "Flatten", "Linear"]


class Linear(Cell):
    """input weight^T + bias.

    Parameters: `weight` (out_features, in_features) and `bias` (out_features,).

    Args:
        in_features, out_features: lengths of the input's and the output's last dimension.
        bias: whether there is one.
        weight_init, bias_init: Tensor, name, Initializer or number; None for uniform in
            +-1 / sqrt(in_features).
        dtype: the parameters' type; None for float32.

    Examples:
        >>> import dist_ms as ms
        >>> layer = ms.mint.nn.Linear(3, 2, weight_init="ones", bias_init="zeros")
        >>> print(layer(ms.Tensor([[1.0, 2.0, 3.0]])))
        [[6. 6.]]
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        weight_init: Any = None,
        bias_init: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.in_features = check_positive_int(in_features, "in_features", self.cls_name)
        self.out_features = check_positive_int(out_features, "out_features", self.cls_name)
        kind = mstype.float32 if dtype is None else dtype
        weight_init = HeUniform(math.sqrt(5)) if weight_init is None else weight_init
        self.weight = Parameter(initializer(weight_init, (out_features, in_features), kind), name="weight")
        self.bias = None
        if bias:
            bias_init = Uniform(1 / math.sqrt(in_features)) if bias_init is None else bias_init
            self.bias = Parameter(initializer(bias_init, (out_features,), kind), name="bias")

    def construct(self, input: Tensor) -> Tensor:
        return functional.linear(input, self.weight, self.bias)

    def extend_repr(self) -> str:
        text = f"input_features={self.in_features}, output_features={self.out_features}"
        return text if self.bias is None else f"{text}, has_bias=True"


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


class Flatten(Cell):
    """Makes one dimension of those from `start_dim` to `end_dim`.

    Examples:
        >>> import dist_ms as ms
        >>> ms.mint.nn.Flatten()(ms.ops.ones((2, 3, 4))).shape
        (2, 12)
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def construct(self, input: Tensor) -> Tensor:
        return functional.flatten(input, self.start_dim, self.end_dim)


class Dropout(Cell):
    """Applies `functional.dropout` in training.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.Dropout(0.5)(ms.Tensor([1.0, 2.0])))
        [1. 2.]
    """

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        self.p, self.inplace = p, inplace

    def construct(self, input: Tensor) -> Tensor:
        return functional.dropout(input, self.p, self.training, self.inplace)


class Dropout2d(Dropout):
    """Applies `functional.dropout2d` in training.

    Examples:
        >>> import dist_ms as ms
        >>> ms.mint.nn.Dropout2d(0.5)(ms.ops.ones((1, 2, 2, 2))).shape
        (1, 2, 2, 2)
    """

    def construct(self, input: Tensor) -> Tensor:
        return functional.dropout2d(input, self.p, self.training, self.inplace)
