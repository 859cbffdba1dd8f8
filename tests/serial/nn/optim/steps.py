"""Four steps from fixed weights with fixed gradients, as the pinned numbers were made."""

import numpy as np

import dist_ms as ms

WEIGHTS = {"w": np.array([1.0, -2.0, 3.0]), "m": np.array([[0.5, -1.0], [2.0, -0.25]])}


def gradients(i, dtype=np.float32):
    """The gradients of step i, from 1."""
    signs = np.array([0.1, 0.2 * (-1) ** i, -0.3], dtype)
    return signs * dtype(i), np.array([[0.5, -0.25], [0.125, 1.0]], dtype) / dtype(i)


def parameters(dtype=np.float32, names=("w", "m")):
    """The two parameters the steps begin with."""
    return [ms.Parameter(ms.Tensor(a.astype(dtype)), name=n) for n, a in zip(names, WEIGHTS.values())]


def four_steps(make, dtype=np.float32, names=("w", "m")):
    """The optimizer, what its last call returned, and all weights in one array."""
    params = parameters(dtype, names)
    optimizer = make(params)
    for i in range(1, 5):
        result = optimizer(tuple(ms.Tensor(g) for g in gradients(i, dtype)))
    return optimizer, result, np.concatenate([p.asnumpy().reshape(-1).astype(np.float64) for p in params])
