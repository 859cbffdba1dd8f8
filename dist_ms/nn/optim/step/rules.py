"""Update rules that are written with NumPy, once for `nn`, `experimental` and `mint`.

A rule writes blocks of flat arrays in place. It gets the weights, the gradient, which is its own to overwrite, the
states and numbers, and is run by `elementwise.run_rule`. The compiled ones stand in
`_ext/updates/optimizer_rules.pxd`.
"""

from __future__ import annotations

import numpy as np


def adadelta_rule(
    p: np.ndarray, g: np.ndarray, h: np.ndarray, d: np.ndarray, lr: float, rho: float, eps: float
) -> None:
    """One step; h and d are the running squares of gradients and of steps."""
    h += (g * g - h) * (1.0 - rho)
    g *= np.sqrt(d + eps)
    g /= np.sqrt(h + eps)
    d += (g * g - d) * (1.0 - rho)
    g *= lr
    p -= g


def asgd_rule(p: np.ndarray, g: np.ndarray, mean: np.ndarray, eta: float, mu: float, lambd: float) -> None:
    """One step of the weights and of their mean."""
    g *= eta
    p *= 1.0 - lambd * eta
    p -= g
    if mu == 1.0:
        mean[...] = p
    else:
        mean += (p - mean) * mu


def asgd_rates(step: int, lr: float, lambd: float, alpha: float, t0: float) -> tuple[float, float]:
    """The rates of the step after `step`: of the weights, and of their mean."""
    return lr / (1.0 + lambd * lr * step) ** alpha, 1.0 / max(1.0, step - t0)


def rprop_rule(
    p: np.ndarray,
    g: np.ndarray,
    prev: np.ndarray,
    size: np.ndarray,
    minus: float,
    plus: float,
    smallest: float,
    largest: float,
) -> None:
    """One step; `prev` becomes the gradient, 0 where its sign changed."""
    prev *= g
    size[prev > 0] *= plus
    turned = prev < 0
    size[turned] *= minus
    np.clip(size, smallest, largest, out=size)
    g[turned] = 0.0
    prev[...] = g
    p -= np.sign(g, out=g) * size


def adamax_rule(
    p: np.ndarray,
    g: np.ndarray,
    m: np.ndarray,
    u: np.ndarray,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    eps_in_maximum: bool,
) -> None:
    """One step; `eps` is added to the gradients of which u is the maximum, or to u where it divides."""
    m += (g - m) * (1.0 - beta1)
    np.abs(g, out=g)
    if eps_in_maximum:
        g += eps
    u *= beta2
    np.maximum(u, g, out=u)
    step = lr * m
    step /= u if eps_in_maximum else u + eps
    p -= step


def nadam_rule(
    p: np.ndarray,
    g: np.ndarray,
    m: np.ndarray,
    v: np.ndarray,
    of_gradient: float,
    of_moment: float,
    beta1: float,
    beta2: float,
    correction: float,
    eps: float,
) -> None:
    """One step of Adam with Nesterov's momentum; `correction` is that of the root."""
    m += (g - m) * (1.0 - beta1)
    v += (g * g - v) * (1.0 - beta2)
    g *= of_gradient
    g += of_moment * m
    root = np.sqrt(v)
    root /= correction
    root += eps
    g /= root
    p -= g


def radam_rule(
    p: np.ndarray,
    g: np.ndarray,
    m: np.ndarray,
    v: np.ndarray,
    rate: float,
    beta1: float,
    beta2: float,
    eps: float,
    adaptive: bool,
) -> None:
    """One step of rectified Adam; the root divides it if `adaptive`."""
    m += (g - m) * (1.0 - beta1)
    v += (g * g - v) * (1.0 - beta2)
    step = rate * m
    if adaptive:
        step /= np.sqrt(v) + eps
    p -= step


def rooted_rmsprop_rule(
    p: np.ndarray,
    g: np.ndarray,
    s: np.ndarray,
    a: np.ndarray,
    v: np.ndarray,
    lr: float,
    alpha: float,
    eps: float,
    momentum: float,
    centered: bool,
) -> None:
    """One step of RMSProp with `eps` added to the root, and lr apart from the momentum."""
    s *= alpha
    s += (1.0 - alpha) * g * g
    if centered:
        a *= alpha
        a += g * (1.0 - alpha)
    root = np.sqrt(s - a * a if centered else s)
    root += eps
    g /= root
    if momentum > 0:
        v *= momentum
        v += g
        p -= lr * v
    else:
        g *= lr
        p -= g


def amsgrad_rule(
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
    """One step of Adam by the largest v so far; the compiled rule of `nn.Adam` rounds some products later."""
    m += (g - m) * (1.0 - beta1)
    v += (g * g - v) * (1.0 - beta2)
    np.maximum(largest, v, out=largest)
    if shrink != 1.0:
        p *= shrink
    p -= lr * m / (np.sqrt(largest) + eps)
