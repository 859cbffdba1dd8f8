"""Compact values for comparing nested gradients."""

from dist_ms.common.tensor import Tensor


def plain(value):
    """A nesting with tensors as nested lists of numbers; tuples stay tuples, lists become ["list", ...]."""
    if isinstance(value, Tensor):
        return value.asnumpy().tolist()
    if isinstance(value, tuple):
        return tuple(plain(v) for v in value)
    if isinstance(value, list):
        return ["list", *(plain(v) for v in value)]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return value
