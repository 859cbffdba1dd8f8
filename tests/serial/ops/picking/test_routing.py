"""Tokens in the order of their experts and back, and parts of row tensors."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, ops

TOKENS = np.array([[1.0, 1], [7, 7], [2, 2], [1, 1], [2, 2], [3, 3]], np.float32)


def test_the_documented_case():
    tokens, places = ops.moe_token_permute(Tensor(TOKENS), Tensor([5, 0, 3, 1, 2, 4], ms.int32))
    np.testing.assert_array_equal(tokens.asnumpy()[:, 0], [7, 1, 2, 2, 3, 1])
    np.testing.assert_array_equal(places.asnumpy(), [5, 0, 3, 1, 2, 4])
    assert places.dtype == ms.int32
    np.testing.assert_array_equal(ops.moe_token_unpermute(tokens, places).asnumpy(), TOKENS)


def test_several_experts_of_each_token():
    experts = np.random.default_rng(3).integers(0, 4, (6, 2))
    probs = Tensor(np.full((6, 2), 0.5, np.float32))
    tokens, places = ops.moe_token_permute(Tensor(TOKENS), Tensor(experts))
    assert tokens.shape == (12, 2)
    sorted_experts = np.empty(12, np.int64)
    sorted_experts[places.asnumpy()] = experts.ravel()
    assert (np.diff(sorted_experts) >= 0).all()
    np.testing.assert_array_equal(ops.moe_token_unpermute(tokens, places, probs).asnumpy(), TOKENS)
    assert ops.moe_token_permute(Tensor(TOKENS), Tensor(experts), 5)[0].shape == (5, 2)

    def f(x, p):
        return ops.moe_token_unpermute(*ops.moe_token_permute(x, Tensor(experts)), p).sum()

    by_tokens, by_probs = ms.grad(f, (0, 1))(Tensor(TOKENS), probs)
    np.testing.assert_array_equal(by_tokens.asnumpy(), np.ones((6, 2)))
    np.testing.assert_array_equal(by_probs.asnumpy(), np.repeat(TOKENS.sum(1, keepdims=True), 2, 1))


@pytest.mark.parametrize(
    "args, error",
    [
        ((Tensor(TOKENS), Tensor([0.5] * 6)), TypeError),
        ((Tensor(TOKENS), Tensor([0] * 6), 1.5), TypeError),
        ((Tensor(TOKENS), Tensor([0] * 6), None, 1), TypeError),
        ((Tensor(TOKENS), Tensor([0] * 6), None, True), ValueError),
        ((Tensor(TOKENS[0]), Tensor([0] * 2)), ValueError),
        ((Tensor(TOKENS), Tensor([0] * 5)), RuntimeError),
    ],
)
def test_routing_refuses(args, error):
    with pytest.raises(error, match="For 'moe_token_permute'"):
        ops.moe_token_permute(*args)


def test_parts_of_row_tensors():
    x = ops.make_row_tensor(Tensor([1]), Tensor([[1.0, 2.0]]), (3, 2))
    np.testing.assert_array_equal(ops.row_tensor_get_indices(x).asnumpy(), [1])
    np.testing.assert_array_equal(ops.row_tensor_get_values(x).asnumpy(), [[1, 2]])
    assert ops.row_tensor_get_dense_shape(x) == (3, 2)
    for name in ("indices", "values", "dense_shape"):
        with pytest.raises(TypeError, match="'x' must be a RowTensor, but got Tensor"):
            getattr(ops, f"row_tensor_get_{name}")(Tensor([1]))
