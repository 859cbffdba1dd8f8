"""Optimisation in SciPy's form: minima of functions of tensors, by their gradients."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dist_ms.autograd.grad import value_and_grad
from dist_ms.common.checks import check_callable, check_type, complaint
from dist_ms.common.tensor import Tensor
from dist_ms.ops.kernels import optimize
from dist_ms.ops.linear_algebra.lapack import one_thread
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
        if x.ndim != 1 or not x.size or x.array().dtype.kind != "f":
            raise ValueError(complaint("x0", owner, "a row of floats", f"{x.dtype}, shape {x.shape}"))
        self.dtype = x.array().dtype
        self._both = value_and_grad(lambda v: f(v, *args))
        self._last: tuple = (None, None)
        self.calls = 0

    def __call__(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """Value and gradient; asked again for the same place, those of the last call."""
        if not np.array_equal(x, self._last[0]):
            self.calls += 1
            value, slope = self._both(self.tensor(x))
            self._last = x.copy(), (float(value.asnumpy()), slope.asnumpy().astype(np.float64))
        return self._last[1]

    def tensor(self, x: np.ndarray) -> Tensor:
        """An array as a tensor of the type of the start."""
        with np.errstate(over="ignore"):
            return Tensor(np.asarray(x).astype(self.dtype))


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
    tried = 0

    def counted(there: np.ndarray) -> float:
        nonlocal tried
        # The steps 1, 2, 4 ... are the tries; what follows lies between two of them.
        tried += np.array_equal(there, x + 2.0**tried * p)
        return function(there)[0]

    def slope(there: np.ndarray) -> np.ndarray:
        return function(there)[1]

    with one_thread, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Without a step there is no slope at its end, which `failed` tells.
        step, *_, rest = optimize.line_search(counted, slope, x, p, gradient, value, c1=c1, c2=c2, maxiter=maxiter)
    failed, tried = step is None or rest is None, min(tried, maxiter)
    step = 0.0 if failed else float(step)
    there, g = function(x + step * p)
    count = function.calls
    return LineSearchResults(failed, tried, count, count, tried + 1, step, there, function.tensor(g), int(failed))


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
    check_type(args, "args", "minimize", tuple)
    function = _Function("minimize", func, x0, args)
    chosen = {"gtol": 1e-5 if tol is None else tol, "maxiter": 200 * x0.size, "maxcor": 10}
    for name in options or {}:
        if name not in chosen:
            raise ValueError(complaint("options", "minimize", f"of {', '.join(chosen)}", repr(name)))
    chosen.update(options or {})
    full = method.upper() == "BFGS"
    if full:
        bounds_of_search = {"gtol": chosen["gtol"], "maxiter": chosen["maxiter"]}
    else:
        # Only the gradient ends the search.
        bounds_of_search = {**chosen, "ftol": 0.0, "maxfun": sys.maxsize}
    start = x0.asnumpy().astype(np.float64)
    way = "BFGS" if full else "L-BFGS-B"
    with one_thread:
        found = optimize.minimize(function, start, method=way, jac=True, options=bounds_of_search)
    # L-BFGS-B also ends where the function has no lower bound.
    steep = found.success and not np.abs(found.jac).max() <= chosen["gtol"]
    return OptimizeResults(
        function.tensor(found.x),
        bool(found.success) and not steep,
        2 if steep else int(found.status),
        float(found.fun),
        function.tensor(found.jac),
        function.tensor(found.hess_inv) if full else None,
        function.calls,
        function.calls,
        int(found.nit),
    )
