"""Embedding layers."""

import numpy as np
import pytest

from dist_ms import grad, nn
from dist_ms.common.tensor import Tensor
from tests.precisions import normal, tensor

TABLE = normal(4, 3).astype(np.float32)
IDS = Tensor(np.array([[0, 3], [3, 1]], np.int32))


class TestEmbedding:
    def test_parameter(self):
        layer = nn.Embedding(1000, 64)
        assert [(p.name, p.shape) for p in layer.get_parameters()] == [("embedding_table", (1000, 64))]
        assert layer.embedding_table.asnumpy().std() == pytest.approx(0.01, rel=0.02)

    @pytest.mark.parametrize("one_hot", [False, True])
    def test_values_and_gradient(self, one_hot):
        layer = nn.Embedding(4, 3, one_hot, Tensor(TABLE))
        np.testing.assert_allclose(layer(IDS).asnumpy(), TABLE[IDS.asnumpy()], atol=1e-6)
        found = grad(lambda ids: layer(ids).sum(), None, layer.trainable_params())(IDS)
        assert found[0].asnumpy()[:, 0].tolist() == [1, 1, 0, 2]

    def test_padding_row_starts_as_zeros(self):
        table = nn.Embedding(4, 3, embedding_table=Tensor(TABLE), padding_idx=1).embedding_table.asnumpy()
        assert table[1].tolist() == [0, 0, 0] and np.array_equal(table[0], TABLE[0])
        assert TABLE[1].any()
        assert nn.Embedding(4, 3, padding_idx=0).embedding_table.asnumpy()[0].tolist() == [0, 0, 0]

    def test_indices(self):
        layer = nn.Embedding(4, 3, embedding_table=Tensor(TABLE))
        assert np.array_equal(layer(Tensor([-1])).asnumpy()[0], TABLE[3])
        assert layer(Tensor(2)).shape == (3,)
        assert layer(Tensor(np.zeros((0,), np.int32))).shape == (0, 3)

    def test_text(self):
        assert repr(nn.Embedding(10, 3)) == (
            "Embedding(vocab_size=10, embedding_size=3, use_one_hot=False, embedding_table=Parameter "
            "(name=embedding_table, shape=(10, 3), dtype=Float32, requires_grad=True), dtype=Float32, "
            "padding_idx=None)"
        )

    @pytest.mark.parametrize(
        "call, error",
        [
            (lambda: nn.Embedding(0, 3), ValueError),
            (lambda: nn.Embedding(3.0, 3), TypeError),
            (lambda: nn.Embedding(3, 3, use_one_hot=1), TypeError),
            (lambda: nn.Embedding(3, 3, padding_idx=3), ValueError),
            (lambda: nn.Embedding(3, 3, padding_idx=-1), ValueError),
            (lambda: nn.Embedding(3, 3, embedding_table="foo"), ValueError),
            (lambda: nn.Embedding(3, 3, embedding_table=Tensor(TABLE)), ValueError),
            (lambda: nn.Embedding(3, 3)(Tensor([5])), RuntimeError),
            (lambda: nn.Embedding(3, 3)(tensor([1.0])), TypeError),
            (lambda: nn.Embedding(3, 3)(3), TypeError),
        ],
    )
    def test_errors(self, call, error):
        with pytest.raises(error):
            call()


class TestEmbeddingLookup:
    def test_values_and_gradient(self):
        layer = nn.EmbeddingLookup(4, 3, param_init=Tensor(TABLE))
        found = layer(Tensor([[0, 7], [-1, 3]])).asnumpy()
        assert np.array_equal(found[[0, 1], [0, 1]], TABLE[[0, 3]])
        assert not found[[0, 1], [1, 0]].any()
        gradient = grad(lambda ids: layer(ids).sum(), None, layer.trainable_params())(Tensor([0, 3, 9, -2]))
        assert gradient[0].asnumpy()[:, 0].tolist() == [1, 0, 0, 1]

    def test_max_norm(self):
        layer = nn.EmbeddingLookup(2, 2, param_init=tensor([[3, 4], [0.3, 0.4]]), max_norm=1.0)
        np.testing.assert_allclose(layer(Tensor([0, 1])).asnumpy(), [[0.6, 0.8], [0.3, 0.4]], rtol=1e-6)

    @pytest.mark.parametrize(
        "arguments",
        [
            {"target": "GPU"},
            {"slice_mode": "foo"},
            {"slice_mode": "table_row_slice"},
            {"sparse": False},
            {"manual_shapes": (1, 2)},
            {"max_norm": -1.0},
            {"vocab_size": 0},
        ],
    )
    def test_errors(self, arguments):
        with pytest.raises(ValueError, match="For 'EmbeddingLookup'"):
            nn.EmbeddingLookup(**{"vocab_size": 3, "embedding_size": 2, **arguments})
