"""CosineSimilarity: how alike the rows of a batch are."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_string
from dist_ms.train.metrics.metric import Metric, rearrange_inputs


class CosineSimilarity(Metric):
    r"""The similarity of every pair of rows of the latest batch (of all ranks' latest batches).

    .. math:: s_{ij} = \frac{x_i \cdot x_j}{\|x_i\| \|x_j\|}

    Args:
        similarity: "cosine", or "dot" for the products alone.
        reduction: "none" for the square matrix; "sum" or "mean" over each row.
        zero_diagonal: set each row's similarity with itself to 0.

    Raises:
        TypeError: for arguments of the wrong type.
        ValueError: for another `similarity` or `reduction`.

    Examples:
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> metric = ms.train.CosineSimilarity()
        >>> metric.update(np.array([[1.0, 0.0], [3.0, 4.0]]))
        >>> print(metric.eval())
        [[0.  0.6]
         [0.6 0. ]]
    """

    rows = ("_input",)
    largest = ("_is_update",)

    def __init__(self, similarity: str = "cosine", reduction: str = "none", zero_diagonal: bool = True) -> None:
        super().__init__()
        owner = "CosineSimilarity"
        for name, value in (("similarity", similarity), ("reduction", reduction)):
            check_string(value, name, owner)
        self.similarity = check_string(similarity, "similarity", owner, ("dot", "cosine"))
        self.reduction = check_string(reduction, "reduction", owner, ("none", "sum", "mean"))
        self.zero_diagonal = check_bool(zero_diagonal, "zero_diagonal", owner)
        self.clear()

    def clear(self) -> None:
        """Forget everything seen."""
        self._input: Any = None
        self._is_update = False

    @rearrange_inputs
    def update(self, inputs: Any) -> None:
        """See one batch, in the place of the one before.

        Args:
            inputs: (N, D), one row per sample.
        """
        self._input = self._convert_data(inputs)
        self._is_update = True

    def eval(self) -> np.ndarray:
        """Return the matrix (N, N), or its reduction (N,).

        Raises:
            RuntimeError: if nothing was seen.
        """
        self._need(self._is_update)
        x = self._input
        if self.similarity == "cosine":
            x = x / np.linalg.norm(x, ord=2, axis=1)[:, np.newaxis]
        matrix = np.dot(x, x.T)
        if self.zero_diagonal:
            np.fill_diagonal(matrix, 0)
        if self.reduction == "mean":
            return matrix.mean(axis=-1)
        return matrix.sum(axis=-1) if self.reduction == "sum" else matrix
