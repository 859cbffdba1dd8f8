"""What is done to one weight: multiplied, reordered or mixed with metadata, and undone again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.tensor import Tensor


@dataclass(frozen=True)
class Step:
    """One change of a weight.

    Args:
        kind: "mul" multiplies by the metadata; "permuate", as MindSpore spells it, takes the rows in its order;
            "matmul" multiplies by it as a matrix.
        metadata: the name of what the weight is changed with.
        first: for "matmul", whether the metadata is the first factor.
        transpose_metadata: whether the metadata is transposed before.
        transpose_weight: whether the weight is.
    """

    kind: str
    metadata: str
    first: bool = False
    transpose_metadata: bool = False
    transpose_weight: bool = False

    def apply(self, weight: Tensor, metadata: Mapping[str, np.ndarray]) -> Tensor:
        """Return the changed weight.

        Examples:
            >>> import numpy as np
            >>> import dist_ms as ms
            >>> from dist_ms.train.obfuscation.steps import Step
            >>> print(Step("mul", "k").apply(ms.Tensor([1.0, 2.0]), {"k": np.array([3])}))
            [3. 6.]
        """
        value = metadata[self.metadata]
        if self.kind == "permuate":
            return ops.gather(weight, Tensor(value.astype(np.int32)), 0)
        factor = ops.cast(Tensor(self._turned(value)), weight.dtype)
        if self.kind == "mul":
            return ops.mul(weight, factor)
        turned = _transposed(weight) if self.transpose_weight else weight
        return ops.matmul(factor, turned) if self.first else ops.matmul(turned, factor)

    def undo(self, weight: Tensor, metadata: Mapping[str, np.ndarray]) -> Tensor:
        """Return the weight that `apply` was given, by operations with gradients.

        Raises:
            ValueError: if a matrix has no inverse.
        """
        value = metadata[self.metadata]
        if self.kind == "permuate":
            return ops.gather(weight, Tensor(np.argsort(value).astype(np.int32)), 0)
        if self.kind == "mul":
            return ops.div(weight, ops.cast(Tensor(value), weight.dtype))
        try:
            inverse = np.linalg.inv(self._turned(value).astype(np.float64)).astype(np.float32)
        except np.linalg.LinAlgError as error:
            raise ValueError(
                f"For 'load_obf_params_into_net', the metadata '{self.metadata}' must be a square matrix with an "
                f"inverse, but got shape {value.shape}: {error}."
            ) from error
        factor = ops.cast(Tensor(inverse), weight.dtype)
        found = ops.matmul(factor, weight) if self.first else ops.matmul(weight, factor)
        return _transposed(found) if self.transpose_weight else found

    def _turned(self, value: np.ndarray) -> Any:
        return value.T if self.transpose_metadata else value


def _transposed(weight: Tensor) -> Tensor:
    return ops.transpose(weight, (1, 0))
