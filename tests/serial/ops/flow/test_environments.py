"""Environments of gradients, and J."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, nn, ops


def test_an_environment_holds_values_by_what_they_are_of():
    w, other = ms.Parameter(Tensor([1.0, 2.0]), name="w"), ms.Parameter(Tensor([1.0, 2.0]), name="w")
    empty = ops.environ_create()
    env = ops.environ_set(empty, ops.ref_to_embed(w), Tensor([3.0, 4.0]))
    assert len(empty) == 0 and len(env) == 1 and repr(env) == "Environment(Key(w))"
    assert ops.env_get(env, w).asnumpy().tolist() == [3, 4]
    assert ops.env_get(env, other).asnumpy().tolist() == [0, 0]
    assert ops.environ_get(env, ops.embed(other), "none") == "none"
    again = ops.environ_set(env, ops.embed(w), Tensor([5.0, 6.0]))
    assert ops.env_get(again, w).asnumpy().tolist() == [5, 6] and ops.env_get(env, w).asnumpy().tolist() == [3, 4]


def test_environments_are_added_by_key():
    a, b = object(), object()
    one = ops.environ_set(ops.environ_set(ops.environ_create(), ops.embed(a), 1), ops.embed(b), 2)
    two = ops.environ_set(ops.environ_create(), ops.embed(b), 5)
    total = ops.environ_add(one, two)
    assert [ops.environ_get(total, ops.embed(x), 0) for x in (a, b)] == [1, 7]
    assert ops.environ_get(one, ops.embed(b), 0) == 2


@pytest.mark.parametrize(
    "call",
    [
        lambda: ops.ref_to_embed(Tensor([1.0])),
        lambda: ops.environ_set({}, ops.embed(1), 1),
        lambda: ops.environ_set(ops.environ_create(), "key", 1),
        lambda: ops.environ_get(ops.environ_create(), "key", 1),
        lambda: ops.environ_add(ops.environ_create(), {}),
        lambda: ops.env_get(1, ms.Parameter(Tensor(1.0), name="w")),
        lambda: ops.J(lambda x: x)(1),
    ],
)
def test_other_types_are_refused(call):
    with pytest.raises(TypeError):
        call()


def test_j_gives_the_output_and_the_sweep():
    x, y = Tensor([2.0, 3.0]), Tensor([5.0, 7.0])
    out, back = ops.J(lambda a, b: a * b)(x, y)
    env, dx, dy = back(Tensor([1.0, 10.0]))
    assert out.asnumpy().tolist() == [10, 21] and len(env) == 0
    assert dx.asnumpy().tolist() == [5, 70] and dy.asnumpy().tolist() == [2, 30]
    assert ops.J(x) is x and ops.J()(3) == 3


def test_j_of_a_cell_has_the_gradients_of_its_weights():
    net, x = nn.Dense(3, 2), Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    out, back = ops.J(net)(x)
    env, dx = back(ops.ones_like(out))
    wanted = ms.grad(lambda a: net(a).sum(), 0, net.trainable_params())(x)
    np.testing.assert_allclose(dx.asnumpy(), wanted[0].asnumpy(), rtol=1e-6)
    for weight, grad in zip(net.trainable_params(), wanted[1]):
        np.testing.assert_allclose(ops.env_get(env, weight).asnumpy(), grad.asnumpy(), rtol=1e-6)
