"""What an optimizer does to gradients before its rule: scale, decay, centralize. Each returns a new Tensor."""

from __future__ import annotations

import numpy as np

from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor, from_array
from dist_ms.nn.optim.step.elementwise import work_type


def scaled(grad: Tensor, factor: float) -> Tensor:
    """The gradient times a factor."""
    return from_array(_times(grad.asnumpy(), factor))


def decayed(grad: Tensor, param: Parameter, decay: float) -> Tensor:
    r"""The gradient with the weight decay in it, :math:`g + \lambda w`, in the gradient's type."""
    g, p = grad.asnumpy(), param.asnumpy()
    total = p.astype(np.result_type(work_type(g), work_type(p)))
    total *= decay
    total += g
    return from_array(total.astype(g.dtype, copy=False))


def centralized(grad: Tensor) -> Tensor:
    """The gradient less its mean over all dimensions but the first; vectors are returned as they are.

    Source: Yong et al., Gradient Centralization: A New Optimization Technique for Deep Neural Networks, 2020.
    """
    g = grad.asnumpy()
    if g.ndim < 2:
        return grad
    mean = g.mean(axis=tuple(range(1, g.ndim)), keepdims=True, dtype=work_type(g))
    return from_array((g - mean).astype(g.dtype, copy=False))


def _times(array: np.ndarray, factor: float) -> np.ndarray:
    return (array.astype(work_type(array)) * factor).astype(array.dtype, copy=False)
