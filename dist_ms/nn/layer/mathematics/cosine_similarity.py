"""The cosine of the angle between vectors, as a layer; `nn.CosineSimilarity` is a metric."""

from __future__ import annotations

from dist_ms import ops
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell


class CosineSimilarity(Cell):
    """x1 . x2 / (|x1| |x2|) along one dimension.

    Args:
        dim: the dimension of the vectors.
        eps: the least that a norm counts for.

    Inputs:
        x1, x2: Tensors that broadcast to one shape.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.nn.layer.mathematics.cosine_similarity import CosineSimilarity
        >>> print(CosineSimilarity()(ms.Tensor([[3.0, 4.0]]), ms.Tensor([[6.0, 8.0]])))
        [1.]
    """

    def __init__(self, dim: int = 1, eps: float = 1e-08) -> None:
        super().__init__()
        self.dim, self.eps = dim, eps

    def construct(self, x1: Tensor, x2: Tensor) -> Tensor:
        return ops.cosine_similarity(x1, x2, self.dim, self.eps)
