"""The step that the forms of Adam share, by the compiled kernel or with a running maximum."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.nn.optim.hyper_parameters.arguments import float32_value
from dist_ms.nn.optim.step.elementwise import run_kernel, run_rule


def adam_step(
    param: Parameter,
    grad: Tensor,
    moments: list[Parameter],
    lr: float,
    betas: tuple[float, float],
    eps: float,
    step: int,
    *,
    sign: float = 1.0,
    decay: float = 0.0,
    shrink: float = 1.0,
    eps_after: bool = True,
) -> None:
    r"""Make one step of Adam, in place.

    .. math::
        w \leftarrow s\, w - \frac{\eta}{1-\beta_1^t}
        \frac{m}{\sqrt{v} / \sqrt{1-\beta_2^t} + \epsilon}

    Args:
        param: the parameter.
        grad: its gradient.
        moments: m and v; with a third, the running maximum of v, which then stands for v in the root.
        lr: the learning rate.
        betas: the decay rates of m and v.
        eps: the stabiliser.
        step: t, from 1.
        sign: a factor of the gradient.
        decay: the weight decay that goes into the gradient.
        shrink: s, what decoupled weight decay leaves of the weights.
        eps_after: eps is added to the corrected root, as above; else to the root itself.
    """
    from dist_ms._ext import optimizer as kernels

    beta1, beta2 = (float32_value(beta) for beta in betas)
    correction = math.sqrt(1.0 - beta2**step)
    rate = lr * correction / (1.0 - beta1**step)
    settings = (rate, beta1, beta2, eps * correction if eps_after else eps)
    if len(moments) > 2:
        run_rule(_with_maximum, param, grad, moments, *settings, shrink, scale=sign, decay=decay)
    elif shrink == 1.0:
        run_kernel(kernels.adam, param, grad, moments, *settings, decay, False, sign)
    else:
        run_kernel(_shrinking, param, grad, moments, kernels.adam, shrink, *settings, decay, False, sign)


def _shrinking(
    p: np.ndarray, g: np.ndarray, m: np.ndarray, v: np.ndarray, adam: Any, shrink: float, *rest: Any
) -> None:
    p *= shrink
    adam(p, g, m, v, *rest)


def _with_maximum(
    p: np.ndarray,
    g: np.ndarray,
    m: np.ndarray,
    v: np.ndarray,
    largest: np.ndarray,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    shrink: float,
) -> None:
    """Source: Reddi et al., On the Convergence of Adam and Beyond, 2018."""
    m += (g - m) * (1.0 - beta1)
    v += (g * g - v) * (1.0 - beta2)
    np.maximum(largest, v, out=largest)
    if shrink != 1.0:
        p *= shrink
    p -= lr * m / (np.sqrt(largest) + eps)
