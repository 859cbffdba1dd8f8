"""The optimizer rules on many parameters, on rows, and with bfloat16 copies, against their twins."""

import ml_dtypes
import numpy as np
import pytest

from dist_ms._ext import optimizer, threads
from tests import reference, reference_rules
from tests.serial.kernels.calls import DTYPES, TOLERANCE, wide


def sgd(p, g, accum, lr, decay, scale, momentum, taken, nesterov, first):
    return reference.sgd(p, g, accum, lr, momentum, 1 - taken, decay, nesterov, first, scale)


def adam(p, g, m, v, lr, decay, scale, beta1, new1, new2, eps, nesterov):
    return reference.adam(p, g, m, v, lr, 1 - new1, 1 - new2, eps, decay, nesterov, scale)


def adam_weight_decay(p, g, m, v, lr, decay, scale, unused, new1, new2, eps):
    return reference.adam_weight_decay(p, g, m, v, lr, 1 - new1, 1 - new2, eps, decay, scale)


# rule: number of states, twin, sets of numbers
RULES = {
    "sgd": (1, sgd, [(0.1, 0.01, 0.5, 0.9, 0.7, n, f) for n in (False, True) for f in (False, True)]),
    "adam": (2, adam, [(0.01, 0.1, 0.5, 0.9, 0.1, 0.01, 1e-3, n) for n in (False, True)]),
    "amsgrad": (3, reference_rules.amsgrad, [(0.01, 0.1, 0.5, 0.9, 0.1, 0.01, 1e-3, n) for n in (False, True)]),
    "adam_weight_decay": (2, adam_weight_decay, [(0.01, 0.1, 0.5, 0.0, 0.1, 0.01, 1e-3)]),
    "adagrad": (1, reference_rules.adagrad, [(0.1, 0.01, 0.5, e, u) for e, u in ((0.0, True), (1e-3, False))]),
    "proximal_adagrad": (1, reference_rules.proximal_adagrad, [(0.1, 0.0, 0.5, 0.3, 0.2), (0.1, 0.1, 1.0, 0.0, 0.0)]),
    "rmsprop": (2, reference_rules.rmsprop, [(0.1, 0.01, 0.5, 0.1, 0.9, 1e-3)]),
    "centered_rmsprop": (3, reference_rules.centered_rmsprop, [(0.1, 0.01, 0.5, 0.1, 0.9, 9.0)]),
    "ftrl": (2, reference_rules.ftrl, [(0.1, 0.01, 0.5, -p, l1, 0.1) for p in (0.5, 0.3, 0.0) for l1 in (0.0, 0.5)]),
    "lamb": (2, reference_rules.lamb, [(0.1, d, 0.5, 0.1, 0.01, 2.0, 3.0, 1e-3) for d in (0.0, 0.1)]),
}
CASES = [(rule, numbers) for rule, (_, _, sets) in RULES.items() for numbers in sets]
SHAPES = [(0,), (), (1,), (37,), (3, 5), (70, 501), (0, 4)]


def arrays_of(rule, shape, dtype, seed=0):
    """p, g and states, which are positive so that any of them can be a sum of squares."""
    random = np.random.default_rng(seed)
    states = [random.uniform(0.5, 2, shape).astype(dtype) for _ in range(RULES[rule][0])]
    return [random.standard_normal(shape).astype(dtype) for _ in range(2)] + states


def run(rule, parameters, numbers, **options):
    """Run a rule on copies with 1 and 2 threads; the bits must be the same."""
    results = []
    before = threads.get_num_threads()
    for count in (1, 2):
        threads.set_num_threads(count)
        copies = [[a.copy() for a in arrays] for arrays in parameters]
        call = optimizer.lamb if rule == "lamb" else lambda *a, **k: optimizer.update(rule, *a, **k)
        call([tuple(c) for c in copies], numbers, **options)
        results.append(copies)
    threads.set_num_threads(before)
    for one, two in zip(*results, strict=True):
        for a, b in zip(one, two, strict=True):
            assert a.tobytes() == b.tobytes()
    return results[0]


def check(rule, found, arrays, numbers):
    """Compare what a rule made of one parameter with its twin; the gradient stays."""
    wanted = RULES[rule][1](*map(wide, arrays), *numbers)
    assert found[1].tobytes() == arrays[1].tobytes()
    tolerance = 4 * TOLERANCE[arrays[0].dtype]
    for a, b in zip([found[0], *found[2:]], wanted, strict=True):
        np.testing.assert_allclose(wide(a), b, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rule, numbers", CASES)
def test_many_parameters_in_one_call(rule, numbers, dtype):
    parameters = [arrays_of(rule, shape, dtype, i) for i, shape in enumerate(SHAPES)]
    found = run(rule, parameters, [numbers] * len(SHAPES))
    for arrays, new in zip(parameters, found, strict=True):
        check(rule, new, arrays, numbers)


def test_each_parameter_has_its_own_numbers():
    parameters = [arrays_of("adagrad", (5,), np.float32, i) for i in range(3)]
    numbers = [(lr, 0.0, 1.0, 0.0, True) for lr in (0.0, 0.5, 1.0)]
    for arrays, new, own in zip(parameters, run("adagrad", parameters, numbers), numbers, strict=True):
        check("adagrad", new, arrays, own)


BY_ROWS = [case for case in CASES if case[0] != "lamb"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("columns", [1, 3, 16, 700])
@pytest.mark.parametrize("rule, numbers", BY_ROWS[::2])
def test_gradients_by_rows(rule, numbers, columns, dtype):
    arrays = arrays_of(rule, (97, columns), dtype)
    for rows in (np.array([], np.int64), np.array([0]), np.array([96]), np.arange(97), np.array([2, 3, 40, 95])):
        part = arrays[1][rows]
        given = [[arrays[0], part, *arrays[2:]]]
        dense = [a.copy() for a in arrays]
        dense[1][:] = 0
        dense[1][rows] = part
        whole = run(rule, given, [numbers], rows=[(rows, True)])[0]
        every = run(rule, [dense], [numbers])[0]
        for a, b in zip([whole[0], *whole[2:]], [every[0], *every[2:]], strict=True):
            assert a.tobytes() == b.tobytes(), "rows that are not there have a gradient of zeros"
        some = run(rule, given, [numbers], rows=[(rows, False)])[0]
        for a, b, old in zip([some[0], *some[2:]], [every[0], *every[2:]], [arrays[0], *arrays[2:]], strict=True):
            assert a[rows].tobytes() == b[rows].tobytes()
            left = np.delete(np.arange(97), rows)
            assert a[left].tobytes() == old[left].tobytes(), "the other rows stay as they are"


def test_rows_among_dense_parameters():
    dense, table = arrays_of("adam", (40_000,), np.float32, 1), arrays_of("adam", (5000, 16), np.float32, 2)
    numbers = RULES["adam"][2][0]
    rows = np.arange(0, 5000, 7)
    given = [dense, [table[0], np.ascontiguousarray(table[1][rows]), *table[2:]], dense]
    found = run("adam", given, [numbers] * 3, rows=[None, (rows, False), None])
    check("adam", found[0], dense, numbers)
    assert found[2][0].tobytes() == found[0][0].tobytes()
    wanted = adam(*[wide(a[rows]) for a in table], *numbers)[0]
    np.testing.assert_allclose(found[1][0][rows], wanted, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("rule", ["adam", "lamb"])
@pytest.mark.parametrize("low", [ml_dtypes.bfloat16, np.float16])
@pytest.mark.parametrize("dtype", DTYPES)
def test_copies_in_16_bits(rule, low, dtype):
    arrays = arrays_of(rule, (33, 1001), dtype)
    numbers = RULES[rule][2][0]
    copy = np.zeros((33, 1001), low)
    found = run(rule, [arrays], [numbers], copies=[copy])[0]
    assert np.array_equal(copy.view(np.uint16), found[0].astype(np.float32).astype(low).view(np.uint16))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rule", RULES)
def test_factors_have_the_bits_of_products(rule, dtype):
    several = [arrays_of(rule, shape, dtype, seed) for seed, shape in enumerate(SHAPES)]
    factors = [0.3 + seed for seed in range(len(SHAPES))]
    numbers = [RULES[rule][2][0]] * len(SHAPES)
    found = run(rule, several, numbers, factors=factors)
    first = [[p, np.asarray(g * dtype(f)), *states] for (p, g, *states), f in zip(several, factors)]
    for a, b, given in zip(found, run(rule, first, numbers), several):
        assert a[1].tobytes() == given[1].tobytes()
        assert [x.tobytes() for x in (a[0], *a[2:])] == [x.tobytes() for x in (b[0], *b[2:])]


@pytest.mark.parametrize("dtype", DTYPES)
def test_moments_do_not_fade_among_the_subnormal_numbers(dtype):
    p, g, m, v = (np.full(100, x, dtype) for x in (1, 0, 3 * np.finfo(dtype).tiny, 1))
    numbers = [(0.01, 0.0, 1.0, 0.9, 0.1, 0.01, 1e-3, False)]
    for _ in range(20):
        optimizer.update("adam", [(p, g, m, v)], numbers)
    assert (m[0] == 0 or np.finfo(dtype).tiny <= m[0] <= 3 * np.finfo(dtype).tiny) and (p > 0.9).all()
    assert (np.full(1, np.finfo(dtype).tiny, dtype) / 2 > 0).all(), "elsewhere subnormal numbers are what they were"


def test_wrong_arguments():
    p, g, h = arrays_of("adagrad", (4, 2), np.float32)
    numbers = RULES["adagrad"][2][0]
    with pytest.raises(ValueError, match="'rule' must be one of"):
        optimizer.update("sorcery", [(p, g, h)], [numbers])
    with pytest.raises(ValueError, match="'numbers' must have 1 entries"):
        optimizer.update("adagrad", [(p, g, h)], [])
    with pytest.raises(ValueError, match="the arrays of a parameter must be"):
        optimizer.update("adagrad", [(p, g)], [numbers])
    with pytest.raises(TypeError, match="'h' must be float32, but got float64"):
        optimizer.update("adagrad", [(p, g, wide(h))], [numbers])
    for rows, error in (([0, 0], IndexError), ([4], IndexError), ([-1], IndexError), ([0, 1, 2], ValueError)):
        part = np.ones((min(len(rows), 2), 2), np.float32)
        with pytest.raises(error, match="For 'update'"):
            optimizer.update("adagrad", [(p, part, h)], [numbers], rows=[(np.array(rows), False)])
    with pytest.raises(ValueError, match="'factors' must be 1 for a gradient by rows, but got 0.5"):
        optimizer.update(
            "adagrad", [(p, np.ones((1, 2), np.float32), h)], [numbers], rows=[(np.array([0]), False)], factors=[0.5]
        )
    with pytest.raises(TypeError, match="'copy' must be contiguous bfloat16"):
        optimizer.update("adagrad", [(p, g, h)], [numbers], copies=[np.zeros((4, 2), np.float32)])
    assert np.array_equal(p, arrays_of("adagrad", (4, 2), np.float32)[0]), "nothing is written before all is checked"
