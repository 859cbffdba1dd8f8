"""The arrays that both sides of the survey compute with, made from a short description."""

import numpy as np


def array(description: str) -> np.ndarray:
    """Return the array of a description "kind sizes", such as "normal 512x1024"; every call gives the same numbers.

    Kinds: normal, positive, inside (between -0.9 and 0.9), unit (0 to 1), bool, index<limit> (int64),
    whole (int32), definite (a symmetric positive definite matrix), onehot and rows (0 to 1, adding up to 1).
    """
    kind, _, sizes = description.partition(" ")
    shape = tuple(int(size) for size in sizes.split("x"))
    rng = np.random.default_rng(len(description))
    if kind.startswith("index"):
        return rng.integers(0, int(kind.removeprefix("index")), shape)
    normal = rng.standard_normal(shape, np.float32)
    if kind == "definite":
        return normal @ normal.swapaxes(-1, -2) / shape[-1] + np.eye(shape[-1], dtype=np.float32)
    made = {
        "normal": lambda: normal,
        "positive": lambda: np.abs(normal) + np.float32(0.1),
        "inside": lambda: np.tanh(normal) * np.float32(0.9),
        "unit": lambda: rng.random(shape, np.float32),
        "bool": lambda: normal > 0,
        "whole": lambda: rng.integers(1, 1000, shape).astype(np.int32),
        "rows": lambda: np.exp(normal) / np.exp(normal).sum(-1, keepdims=True),
    }
    return made[kind]()
