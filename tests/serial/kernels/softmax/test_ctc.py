"""Connectionist temporal classification against a twin, state by state."""

import numpy as np
import pytest

from dist_ms._ext import ctc
from tests.serial.kernels.calls import DTYPES, assert_close, call, wide


def states_of(targets, length, blank):
    """The labels of a sequence with blanks around each."""
    states = np.full(2 * length + 1, blank)
    states[1::2] = targets[:length]
    return states


def variables(log_probs, states, blank):
    """The logarithms of the forward variables (T, states) of one sequence."""
    alpha = np.full((len(log_probs), len(states)), -np.inf)
    for t, row in enumerate(log_probs):
        for s, state in enumerate(states):
            if t == 0:
                alpha[t, s] = row[state] if s < 2 else -np.inf
                continue
            before = list(alpha[t - 1, max(s - 1, 0) : s + 1])
            if s > 1 and state not in (blank, states[s - 2]):
                before.append(alpha[t - 1, s - 2])
            alpha[t, s] = np.logaddexp.reduce(before) + row[state]
    return alpha


def log_likelihood(log_probs, states, blank):
    if not len(log_probs):
        return -np.inf
    return np.logaddexp.reduce(variables(log_probs, states, blank)[-1, -2:])


def twin(log_probs, targets, lengths, counts, blank, zero_infinity):
    """The losses, the forward variables and the slope, whose posterior is a difference quotient's limit."""
    steps, rows, classes = log_probs.shape
    loss, slope = np.empty(rows), np.zeros(log_probs.shape)
    alpha = np.full((rows, steps, 2 * targets.shape[1] + 1), -np.inf)
    for n in range(rows):
        own = log_probs[: lengths[n], n]
        alpha[n, : lengths[n]] = variables(own, states_of(targets[n], targets.shape[1], blank), blank)
        states = states_of(targets[n], counts[n], blank)
        total = log_likelihood(own, states, blank)
        loss[n] = 0 if zero_infinity and np.isinf(total) else -total
        if np.isinf(total):
            slope[:, n] = 0 if zero_infinity else np.nan
            continue
        for t in range(lengths[n]):
            for c in range(classes):
                # The likelihood is linear in each probability: what it loses without one is the posterior.
                without = own.copy()
                without[t, c] = -np.inf
                slope[t, n, c] = np.exp(own[t, c]) + np.expm1(log_likelihood(without, states, blank) - total)
    return loss, alpha, slope


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("zero_infinity", [False, True])
@pytest.mark.parametrize(
    "steps, rows, classes, labels, blank",
    [(1, 1, 1, 0, 0), (6, 0, 3, 2, 1), (5, 4, 3, 2, 0), (9, 7, 5, 4, 4), (1, 3, 2, 1, 1), (24, 6, 4, 9, 2)],
)
def test_against_the_twin(steps, rows, classes, labels, blank, zero_infinity, dtype):
    rng = np.random.default_rng(steps)
    scores = 2 * rng.standard_normal((steps, rows, classes))
    log_probs = (scores - np.log(np.exp(scores).sum(-1, keepdims=True))).astype(dtype)
    targets = rng.integers(0, classes, (rows, labels))
    lengths, counts = rng.integers(0, steps + 1, rows), rng.integers(0, labels + 1, rows)
    lengths[:1], counts[:1] = steps, labels
    given = (log_probs, targets, lengths, counts, blank, zero_infinity)
    wanted = twin(wide(log_probs), *given[1:])
    loss, alpha = np.empty(rows, dtype), np.empty((rows, steps, 2 * labels + 1), dtype)
    call(ctc.forward, (*given, loss, alpha), [loss, alpha])
    slope = np.empty_like(log_probs)
    call(ctc.gradient, (*given, slope), [slope])
    for found, right in zip((loss, alpha, slope), wanted, strict=True):
        assert_close(found, right, 50)


def test_many_sequences_are_divided_among_threads():
    rng = np.random.default_rng(0)
    log_probs = np.log(rng.dirichlet(np.ones(9), (40, 33)))
    given = (log_probs, rng.integers(1, 9, (33, 12)), rng.integers(25, 41, 33), rng.integers(0, 13, 33), 0, False)
    loss, alpha, slope = np.empty(33), np.empty((33, 40, 25)), np.empty_like(log_probs)
    call(ctc.forward, (*given, loss, alpha), [loss, alpha])
    call(ctc.gradient, (*given, slope), [slope])
    for n in (0, 17, 32):
        states = states_of(given[1][n], given[3][n], 0)
        assert_close(loss[n], -log_likelihood(log_probs[: given[2][n], n], states, 0))
    # Posteriors add up to 1 in each step that counts.
    np.testing.assert_allclose(slope.sum(-1), 0, atol=1e-10)


def test_improbable_alignments_are_not_lost():
    log_probs = np.full((3, 1, 2), -2000.0)
    loss, alpha = np.empty(1), np.empty((1, 3, 3))
    ctc.forward(log_probs, np.array([[1]]), np.array([3]), np.array([1]), 0, False, loss, alpha)
    np.testing.assert_allclose(loss, 6000 - np.log(6))


@pytest.mark.parametrize(
    "place, value, error",
    [
        (0, np.zeros((2, 1, 3), np.float16), TypeError),
        (0, np.zeros((2, 3)), ValueError),
        (1, np.array([[3]]), ValueError),
        (1, np.array([[1], [1]]), ValueError),
        (1, np.array([[1]], np.int32), TypeError),
        (2, np.array([3]), ValueError),
        (2, np.array([-1]), ValueError),
        (3, np.array([2]), ValueError),
        (3, np.array([1, 1]), ValueError),
        (4, 3, ValueError),
        (6, np.zeros(2), ValueError),
        (7, np.zeros((1, 2, 2)), ValueError),
    ],
)
def test_errors(place, value, error):
    arguments = [np.zeros((2, 1, 3)), np.array([[1]]), np.array([2]), np.array([1]), 0, False, np.zeros(1)]
    arguments.append(np.zeros((1, 2, 3)))
    arguments[place] = value
    with pytest.raises(error, match="For 'forward'"):
        ctc.forward(*arguments)
