"""dist_ms.scipy.optimize: assignments against all orders, minima against known ones."""

import itertools

import numpy as np
import pytest

from dist_ms import Tensor
from dist_ms.scipy.optimize import line_search, linear_sum_assignment, minimize

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (5, 5), (3, 5), (5, 3), (0, 3)])
@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("whole", [False, True])
def test_assignments_are_the_best(shape, maximize, whole):
    for _ in range(10):
        cost = RNG.integers(-4, 5, shape) if whole else RNG.standard_normal(shape)
        rows, columns = (t.asnumpy() for t in linear_sum_assignment(Tensor(cost), maximize))
        small, large = sorted(shape)
        assert len(rows) == small and (np.diff(rows) > 0).all() and len(set(columns)) == small
        wide = cost if shape[0] <= shape[1] else cost.T
        sums = [wide[range(small), list(p)].sum() for p in itertools.permutations(range(large), small)]
        assert np.isclose(cost[rows, columns].sum(), max(sums) if maximize else min(sums))


def test_large_assignments_and_limits():
    cost = RNG.random((60, 80))
    rows, columns = (t.asnumpy() for t in linear_sum_assignment(Tensor(cost), False))
    for _ in range(200):
        other = columns.copy()
        i, j = RNG.integers(0, 60, 2)
        other[[i, j]] = other[[j, i]]
        assert cost[rows, columns].sum() <= cost[rows, other].sum() + 1e-12
    limited = linear_sum_assignment(Tensor([[4.0, 1.0, -9.0], [2.0, 0.0, 5.0]]), False, Tensor(2))
    assert [t.asnumpy().tolist() for t in limited] == [[0, 1], [1, 0]]


def test_assignment_errors():
    with pytest.raises(TypeError, match="'cost_matrix' must be a Tensor"):
        linear_sum_assignment([[1.0]], False)
    with pytest.raises(ValueError, match="finite"):
        linear_sum_assignment(Tensor([[np.nan]]), False)
    with pytest.raises(TypeError, match="'maximize'"):
        linear_sum_assignment(Tensor([[1.0]]), 1)
    with pytest.raises(TypeError, match="'dimension_limit'"):
        linear_sum_assignment(Tensor([[1.0]]), False, 1.5)


def rosenbrock(x):
    return ((1 - x[:-1]) ** 2 + 100 * (x[1:] - x[:-1] ** 2) ** 2).sum()


@pytest.mark.parametrize("method", ["BFGS", "LBFGS", "bfgs"])
@pytest.mark.parametrize("n", [2, 6])
def test_minima(method, n):
    start = Tensor(np.linspace(0.2, 1.5, n))
    found = minimize(rosenbrock, start, method=method, tol=1e-6)
    assert found.success and found.status == 0 and found.fun < 1e-10
    np.testing.assert_allclose(found.x.asnumpy(), 1, atol=1e-5)
    assert np.abs(found.jac.asnumpy()).max() <= 1e-6 and found.nfev == found.njev >= found.nit > 3
    assert (found.hess_inv is None) == (method == "LBFGS")


def test_options_of_minimize():
    found = minimize(lambda v, c: ((v - c) ** 2).sum(), Tensor([0.0, 5.0]), (Tensor(2.0),), "BFGS")
    assert found.x.dtype == Tensor([1.0]).dtype and np.allclose(found.x.asnumpy(), 2, atol=1e-5)
    short = minimize(rosenbrock, Tensor([-1.0, 2.0]), method="BFGS", options={"maxiter": 2})
    assert not short.success and short.status == 1 and short.nit == 2
    done = minimize(rosenbrock, Tensor(np.ones(2)), method="LBFGS")
    assert done.success and done.nit == 0
    for method in ("BFGS", "LBFGS"):
        low = minimize(lambda v: -v.sum(), Tensor([0.0]), method=method)
        assert not low.success and low.status == 2
        assert not minimize(lambda v: (v * np.nan).sum(), Tensor([0.0]), method=method).success


@pytest.mark.parametrize(
    "options, error",
    [
        ({"method": None}, ValueError),
        ({"method": "LAGRANGE"}, ValueError),
        ({"bounds": [(0, 1)]}, ValueError),
        ({"options": {"other": 1}}, ValueError),
        ({"args": 3}, TypeError),
        ({"x0": [1.0]}, TypeError),
        ({"x0": Tensor([1])}, ValueError),
        ({"x0": Tensor(np.zeros(0))}, ValueError),
        ({"func": 3}, TypeError),
    ],
)
def test_minimize_errors(options, error):
    with pytest.raises(error):
        minimize(**{"func": rosenbrock, "x0": Tensor([0.0, 1.0]), "method": "BFGS", **options})


def test_a_step_meets_the_wolfe_conditions():
    def quartic(v):
        return ((v - 3) ** 4).sum()

    for start, direction in (([1.0, 2.0], [5.0, 5.0]), ([0.0], [1e-3]), ([10.0], [-300.0])):
        x, p = np.array(start), np.array(direction)
        found = line_search(quartic, Tensor(x), Tensor(p))
        slope, there = (4 * (x - 3) ** 3) @ p, x + found.a_k * p
        assert not found.failed and found.status == 0 and found.nfev == found.ngev
        assert found.f_k <= ((x - 3) ** 4).sum() + 1e-4 * found.a_k * slope + 1e-9
        assert abs((4 * (there - 3) ** 3) @ p) <= 0.9 * abs(slope)
        np.testing.assert_allclose(found.g_k.asnumpy(), 4 * (there - 3) ** 3, rtol=1e-6)
    # The step and the counts that MindSpore 2.10 gives.
    found = line_search(quartic, Tensor([1.0, 2.0]), Tensor([5.0, 5.0]))
    assert abs(found.a_k - 0.18) < 1e-6 and (found.nit, found.nfev, found.k) == (1, 3, 2)


def test_line_search_that_fails():
    found = line_search(lambda v: -v.sum(), Tensor([0.0]), Tensor([1.0]))
    assert found.failed and found.a_k == 0.0 and found.status == 1
    with pytest.raises(ValueError, match="'pk'"):
        line_search(lambda v: v.sum(), Tensor([0.0]), Tensor([1.0, 2.0]))
