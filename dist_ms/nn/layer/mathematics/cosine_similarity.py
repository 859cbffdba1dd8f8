"""The cosine of the angle between vectors, as a layer; `nn.CosineSimilarity` is a metric."""

from __future__ import annotations

from dist_ms import ops
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell


class CosineSimilarity(Cell):
    """`ops.cosine_similarity` as a layer: `CosineSimilarity(dim, eps)(x1, x2)`."""

    def __init__(self, dim: int = 1, eps: float = 1e-08) -> None:
        super().__init__()
        self.dim, self.eps = dim, eps

    def construct(self, x1: Tensor, x2: Tensor) -> Tensor:
        return ops.cosine_similarity(x1, x2, self.dim, self.eps)
