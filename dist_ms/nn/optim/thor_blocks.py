"""The blocks on the diagonals of THOR's matrices: their inverses, and gradients between them."""

from __future__ import annotations

import math

import numpy as np

SIDE = 128  # of the largest block


def block_shapes(inputs: int, outputs: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shapes of the inverses for a weight of `outputs` rows and `inputs` columns.

    Those of the inputs are kept once for each block of outputs.

    Examples:
        >>> from dist_ms.nn.optim.thor_blocks import block_shapes
        >>> block_shapes(400, 120)
        ((1, 4, 128, 128), (1, 120, 120))
    """
    columns, rows = math.ceil(inputs / SIDE), math.ceil(outputs / SIDE)
    width, height = min(inputs, SIDE), min(outputs, SIDE)
    return (rows, columns, width, width), (rows, height, height)


def inverse(matrix: np.ndarray, damping: float) -> np.ndarray:
    """The inverse of a positive matrix with more on the diagonal.

    Raises:
        numpy.linalg.LinAlgError: if it is not positive definite.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.nn.optim.thor_blocks import inverse
        >>> inverse(np.array([[1.0]]), 1.0).tolist()
        [[0.5]]
    """
    from scipy.linalg import cho_factor, cho_solve

    factor = cho_factor(matrix.astype(np.float64) + damping * np.eye(len(matrix)))
    return cho_solve(factor, np.eye(len(matrix))).astype(np.float32)


def inverse_blocks(matrix: np.ndarray, damping: float) -> np.ndarray:
    """The inverses of the blocks on the diagonal of a positive matrix, with more on the diagonal.

    The last block is made as large as the others by an identity.

    Raises:
        numpy.linalg.LinAlgError: if a block is not positive definite.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.nn.optim.thor_blocks import inverse_blocks
        >>> inverse_blocks(np.array([[1.0, 0.0], [0.0, 3.0]]), 1.0).tolist()
        [[[0.5, 0.0], [0.0, 0.25]]]
    """
    side = min(len(matrix), SIDE)
    found = np.empty((math.ceil(len(matrix) / side), side, side), np.float32)
    for place, start in enumerate(range(0, len(matrix), side)):
        part = matrix[start : start + side, start : start + side]
        found[place] = np.eye(side)
        found[place, : len(part), : len(part)] = inverse(part, damping)
    return found


def between(gradient: np.ndarray, a: np.ndarray, g: np.ndarray) -> np.ndarray:
    """A gradient of two dimensions, each of its blocks between those of the outputs' and the inputs' inverses.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.nn.optim.thor_blocks import between
        >>> between(np.ones((1, 2)), np.diag([2.0, 3.0])[None, None], np.array([[[5.0]]])).tolist()
        [[10.0, 15.0]]
    """
    rows, columns, width, _ = a.shape
    height = g.shape[1]
    outputs, inputs = gradient.shape
    padded = np.zeros((rows * height, columns * width), gradient.dtype)
    padded[:outputs, :inputs] = gradient
    blocks = padded.reshape(rows, height, columns, width).swapaxes(1, 2)
    changed = g[:, None] @ blocks @ a
    return changed.swapaxes(1, 2).reshape(padded.shape)[:outputs, :inputs]
