"""Optimisation in SciPy's form: minima of functions of tensors, by their gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dist_ms.autograd.grad import value_and_grad
from dist_ms.common.checks import check_callable, complaint
from dist_ms.common.tensor import Tensor
from dist_ms.scipy.assignment import linear_sum_assignment

__all__ = ["line_search", "linear_sum_assignment", "minimize"]


class OptimizeResults(NamedTuple):
    """What `minimize` found."""

    x: Tensor
    success: bool
    status: int
    fun: float
    jac: Tensor
    hess_inv: Tensor | None
    nfev: int
    njev: int
    nit: int


class LineSearchResults(NamedTuple):
    """What `line_search` found."""

    failed: bool
    nit: int
    nfev: int
    ngev: int
    k: int
    a_k: float
    f_k: float
    g_k: Tensor
    status: int


class _Function:
    """A function of a tensor, with its gradient, on arrays of float64; it counts its calls."""

    def __init__(self, owner: str, f: Callable, x: Any, args: tuple = ()) -> None:
        check_callable(f, "f", owner)
        if not isinstance(x, Tensor):
            raise TypeError(complaint("x0", owner, "a Tensor", type(x).__name__))
        if x.ndim != 1 or x.array().dtype.kind != "f":
            raise ValueError(complaint("x0", owner, "a row of floats", f"{x.dtype}, shape {x.shape}"))
        self.dtype = x.array().dtype
        self._both = value_and_grad(lambda v: f(v, *args))
        self.calls = 0

    def __call__(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        self.calls += 1
        value, slope = self._both(self.tensor(x))
        return float(value.asnumpy()), slope.asnumpy().astype(np.float64)

    def tensor(self, x: np.ndarray) -> Tensor:
        """An array as a tensor of the type of the start."""
        return Tensor(np.asarray(x).astype(self.dtype))


def _inner(low: tuple, high: tuple, last: tuple | None) -> float:
    """A step between two, from a cubic through three values, else a parabola, else the middle."""
    (a, fa, da), (b, fb, _) = low[:3], high[:3]
    near, far = sorted((a, b))
    with np.errstate(all="ignore"):
        if last is not None:
            c, fc = last[:2]
            u, v = b - a, c - a
            r, s = fb - fa - da * u, fc - fa - da * v
            scale = u * u * v * v * (u - v)
            p, q = (v * v * r - u * u * s) / scale, (u**3 * s - v**3 * r) / scale
            step = a + (-q + np.sqrt(q * q - 3 * p * da)) / (3 * p)
            if near + 0.2 * (far - near) < step < far - 0.2 * (far - near):
                return float(step)
        step = a - da * (b - a) ** 2 / (2 * (fb - fa - da * (b - a)))
    if near + 0.1 * (far - near) < step < far - 0.1 * (far - near):
        return float(step)
    return (a + b) / 2


def _search(
    call: Callable, start: tuple, slope: float, c1: float, c2: float, maxiter: int, first: float = 1.0
) -> tuple[tuple | None, int]:
    """A step with the strong Wolfe conditions (Nocedal and Wright, algorithms 3.5 and 3.6), and how many were tried.

    Args:
        call: step -> (step, value, slope along the direction, gradient).
        start: that of step 0.
    """
    f0 = start[1]
    previous, step = start, first
    low = high = None
    for i in range(1, maxiter + 1):
        here = call(step)
        if here[1] > f0 + c1 * step * slope or (i > 1 and here[1] >= previous[1]):
            low, high = previous, here
            break
        if abs(here[2]) <= -c2 * slope:
            return here, i
        if here[2] >= 0:
            low, high = here, previous
            break
        previous, step = here, step * 2
    if low is None:
        return None, maxiter
    tries, last = i, None
    for _ in range(maxiter):
        here = call(_inner(low, high, last))
        if here[1] > f0 + c1 * here[0] * slope or here[1] >= low[1]:
            last, high = high, here
            continue
        if abs(here[2]) <= -c2 * slope:
            return here, tries
        if here[2] * (high[0] - low[0]) >= 0:
            last, high = high, low
        else:
            last = low
        low = here
    return (low, tries) if low[0] > 0 else (None, tries)


def line_search(
    f: Callable,
    xk: Tensor,
    pk: Tensor,
    jac: Callable | None = None,
    gfk: Tensor | None = None,
    old_fval: Any = None,
    old_old_fval: Any = None,
    c1: float = 1e-4,
    c2: float = 0.9,
    maxiter: int = 20,
) -> LineSearchResults:
    """Find a step along a direction that meets the strong Wolfe conditions.

    Args:
        f: a function of a Tensor (n,) that returns one number.
        xk: where to start.
        pk: the direction, of which `f` falls.
        jac, gfk, old_fval, old_old_fval: accepted; value and gradient are computed.
        c1: how much of the fall that the slope promises the step must bring.
        c2: what part of the slope may be left.
        maxiter: how often to try.

    Returns:
        A tuple with the names failed, nit, nfev, ngev, k, a_k (the step), f_k, g_k (value and gradient there), status.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a shape does not fit.

    Examples:
        >>> import dist_ms as ms
        >>> found = ms.scipy.optimize.line_search(lambda v: (v * v).sum(), ms.Tensor([2.0]), ms.Tensor([-2.0]))
        >>> found.a_k, found.f_k
        (1.0, 0.0)
    """
    function = _Function("line_search", f, xk)
    if not isinstance(pk, Tensor) or pk.shape != xk.shape:
        raise ValueError(complaint("pk", "line_search", f"a Tensor of shape {xk.shape}", pk))
    x, p = xk.asnumpy().astype(np.float64), pk.asnumpy().astype(np.float64)
    value, gradient = function(x)
    slope = float(gradient @ p)

    def along(step: float) -> tuple:
        there, g = function(x + step * p)
        return step, there, float(g @ p), g

    found, tries = _search(along, (0.0, value, slope, gradient), slope, c1, c2, maxiter)
    step, there, _, g = found or (0.0, value, slope, gradient)
    count = function.calls
    status = 0 if found else 1
    return LineSearchResults(not found, tries, count, count, tries + 1, step, there, function.tensor(g), status)


def minimize(
    func: Callable,
    x0: Tensor,
    args: tuple = (),
    method: str | None = None,
    jac: Any = None,
    hess: Any = None,
    hessp: Any = None,
    bounds: Any = None,
    constraints: Any = (),
    tol: float | None = None,
    callback: Any = None,
    options: dict | None = None,
) -> OptimizeResults:
    """Find a minimum near a point.

    Nocedal and Wright, "Numerical Optimization", 2006, chapters 6 and 7.

    Args:
        func: a function of a Tensor (n,), and of `args`, that returns one number.
        x0: where to start, floats.
        args: further arguments of `func`.
        method: "BFGS" or "LBFGS".
        jac, hess, hessp, bounds, constraints, callback: must be left out; gradients are computed.
        tol: the same as the option gtol.
        options: gtol, the largest element of the gradient at the end (1e-5); maxiter (200 n); maxcor, how many
            pairs LBFGS keeps (10).

    Returns:
        A tuple with the names x, success, status, fun, jac, hess_inv (None for LBFGS), nfev, njev, nit.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if `method` is another, something is given that must not be, or an option is unknown.

    Examples:
        >>> import dist_ms as ms
        >>> found = ms.scipy.optimize.minimize(lambda v: ((v - 3) ** 2).sum(), ms.Tensor([0.0, 1.0]), method="BFGS")
        >>> print(found.x.asnumpy().round(4), found.success)
        [3. 3.] True
    """
    if method is None or not isinstance(method, str) or method.upper() not in ("BFGS", "LBFGS"):
        raise ValueError(complaint("method", "minimize", "'BFGS' or 'LBFGS'", repr(method)))
    others = {"jac": jac, "hess": hess, "hessp": hessp, "bounds": bounds, "callback": callback}
    for name, value in {**others, "constraints": constraints or None}.items():
        if value is not None:
            raise ValueError(complaint(name, "minimize", "left out", value, "gradients are computed"))
    if not isinstance(args, tuple):
        raise TypeError(complaint("args", "minimize", "a tuple", type(args).__name__))
    function = _Function("minimize", func, x0, args)
    chosen = {"gtol": 1e-5 if tol is None else tol, "maxiter": 200 * x0.size, "maxcor": 10}
    for name in options or {}:
        if name not in chosen:
            raise ValueError(complaint("options", "minimize", f"of {', '.join(chosen)}", repr(name)))
    chosen.update(options or {})
    full = method.upper() == "BFGS"
    x = x0.asnumpy().astype(np.float64)
    value, g = function(x)
    inverse, pairs = np.eye(x.size), []
    steps, status = 0, 0
    while np.abs(g).max(initial=0) > chosen["gtol"]:
        if steps >= chosen["maxiter"]:
            status = 1
            break
        p = -inverse @ g if full else -_two_loops(g, pairs)
        slope = float(g @ p)

        def along(step: float, x: np.ndarray = x, p: np.ndarray = p) -> tuple:
            there, h = function(x + step * p)
            return step, there, float(h @ p), h

        first = 1.0 if steps else min(1.0, 1.01 / max(np.abs(g).sum(), 1e-30))
        found, _ = _search(along, (0.0, value, slope, g), slope, 1e-4, 0.9, 20, first)
        if found is None:
            status = 2
            break
        s, y = found[0] * p, found[3] - g
        x, value, g = x + s, found[1], found[3]
        if s @ y > 0:
            rho = 1 / (s @ y)
            if full:
                turn = np.eye(x.size) - rho * np.outer(s, y)
                inverse = turn @ inverse @ turn.T + rho * np.outer(s, s)
            else:
                pairs = [*pairs, (s, y, rho)][-chosen["maxcor"] :]
        steps += 1
    done = status == 0
    found_inverse = function.tensor(inverse) if full else None
    count = function.calls
    return OptimizeResults(
        function.tensor(x), done, status, value, function.tensor(g), found_inverse, count, count, steps
    )


def _two_loops(g: np.ndarray, pairs: list) -> np.ndarray:
    """The inverse Hessian that the pairs stand for, times g."""
    q, kept = g.copy(), []
    for s, y, rho in reversed(pairs):
        kept.append(rho * (s @ q))
        q -= kept[-1] * y
    if pairs:
        s, y, _ = pairs[-1]
        q *= (s @ y) / (y @ y)
    for (s, y, rho), a in zip(pairs, reversed(kept)):
        q += s * (a - rho * (y @ q))
    return q
