"""MatMul under the level "auto" in 16 bits on AMX: the values and gradients of casts, without them."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, ops
from dist_ms._ext import amx
from dist_ms.amp import autocast

pytestmark = pytest.mark.skipif(not amx.available(), reason="this CPU, or its owner, has no AMX to give")


needs_float16 = pytest.mark.skipif(not amx.has_float16(), reason="this CPU, or its owner, has no float16 tiles to give")
LOW = pytest.mark.parametrize("low_type", (ms.bfloat16, pytest.param(ms.float16, marks=needs_float16)), ids=str)


def heads(x):
    return x.reshape(2, 48, 2, 32).swapaxes(1, 2)


FORMS = {
    "matrices": (lambda a, b: ops.matmul(a, b), (130, 40), (40, 36)),
    "scores of heads": (lambda a, b: ops.matmul(heads(a), heads(b).swapaxes(2, 3)), (2, 48, 64), (2, 48, 64)),
    "values of heads": (lambda a, b: ops.matmul(a, heads(b)).swapaxes(1, 2), (2, 2, 48, 48), (2, 48, 64)),
    "BatchMatMul": (lambda a, b: ops.BatchMatMul()(a, b), (3, 40, 33), (3, 33, 50)),
}


def outcome(function, a, b, low_type):
    network = ms.amp.auto_mixed_precision(function, "auto", low_type)
    out = network(a, b)
    weights = ops.cos(out.astype(ms.float32))
    return out, *ms.grad(lambda a, b: (network(a, b).astype(ms.float32) * weights).sum(), (0, 1))(a, b)


@pytest.fixture
def taken(monkeypatch):
    """How often the mixed form was made."""
    found, before = [], autocast.mixed_matmul

    def counting(*arguments):
        out = before(*arguments)
        found.append(out is not None)
        return out

    monkeypatch.setattr(autocast, "mixed_matmul", counting)
    return found


@LOW
@pytest.mark.parametrize("name", FORMS)
def test_values_and_gradients_are_those_of_casts(name, low_type, taken, monkeypatch):
    function, first, second = FORMS[name]
    rng = np.random.default_rng(1)
    a, b = (Tensor(rng.standard_normal(shape).astype(np.float32)) for shape in (first, second))
    found = outcome(function, a, b, low_type)
    assert taken and all(taken)
    monkeypatch.setattr(autocast, "mixed_matmul", lambda *arguments: None)
    wanted = outcome(function, a, b, low_type)
    for ours, theirs in zip(found, wanted):
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
        ours, theirs = (x.astype(ms.float32).asnumpy() for x in (ours, theirs))
        assert np.abs(ours - theirs).max() <= 2**-7 * np.abs(theirs).max()
    assert found[0].dtype == low_type and found[1].dtype == ms.float32


def test_the_gradient_has_a_gradient(taken):
    rng = np.random.default_rng(2)
    a, b = (Tensor(rng.standard_normal(shape).astype(np.float32)) for shape in ((2, 40, 40), (2, 40, 40)))
    network = ms.amp.auto_mixed_precision(lambda a: ops.matmul(a, b), "auto", ms.bfloat16)
    first = ms.grad(lambda a: (network(a).astype(ms.float32) ** 2).sum())
    second = ms.grad(lambda a: first(a).sum())(a).asnumpy()
    low = b.asnumpy()
    wanted = np.broadcast_to(2 * (np.ones((2, 40, 40)) @ low) @ low.swapaxes(1, 2), second.shape)
    assert all(taken) and np.abs(second - wanted).max() <= 2**-5 * np.abs(wanted).max()


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: ops.matmul(a[:8], b),
        lambda a, b: ops.MatMul(transpose_b=True)(a, b.T),
        lambda a, b: ops.matmul(a[0], b),
        lambda a, b: ops.matmul(a.reshape(2, 80, 40), b.reshape(1, 40, 50)),
        lambda a, b: ops.matmul(a.astype(ms.float64), b.astype(ms.float64)),
    ],
)
def test_what_it_has_no_form_for_is_cast(function, taken):
    rng = np.random.default_rng(3)
    a, b = (Tensor(rng.standard_normal(shape).astype(np.float32)) for shape in ((160, 40), (40, 50)))
    out = ms.amp.auto_mixed_precision(function, "auto", ms.bfloat16)(a, b)
    assert out.dtype == ms.bfloat16 and not any(taken)
    wanted = function(a, b).astype(ms.float32).asnumpy()
    assert np.abs(out.astype(ms.float32).asnumpy() - wanted).max() <= 2**-6 * np.abs(wanted).max()
