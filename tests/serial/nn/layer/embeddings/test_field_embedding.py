"""MultiFieldEmbeddingLookup against a loop, its gradients, errors."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, ops
from dist_ms.nn.layer.embeddings.field_embedding import MultiFieldEmbeddingLookup

F = np.float32
IDS = np.array([[2, 4, 6, 0, 0], [1, 3, 5, 0, 12]], np.int32)
VALUES = np.array([[1, 2, 1, 0, 0], [1, -1, 0.5, 0, 0]], F)
FIELDS = np.array([[0, 1, 1, 0, 0], [0, 0, 1, 0, 0]], np.int32)
TABLE = np.random.RandomState(0).uniform(0.1, 0.7, (10, 3)).astype(F)


def make(**options):
    return MultiFieldEmbeddingLookup(**{"vocab_size": 10, "embedding_size": 3, "field_size": 2, **options})


def inputs():
    return Tensor(IDS), Tensor(VALUES), Tensor(FIELDS)


@pytest.mark.parametrize("operator", ["SUM", "MEAN", "MAX"])
def test_is_the_loop(operator):
    net = make(operator=operator, param_init=Tensor(TABLE))
    wanted = np.zeros((2, 2, 3), F)
    for row in range(2):
        for field in range(2):
            entries = [(i, v) for i, v, f in zip(IDS[row], VALUES[row], FIELDS[row]) if f == field and v]
            vectors = np.array([TABLE[i] * v if i < 10 else np.zeros(3) for i, v in entries])
            merged = vectors.max(0) if operator == "MAX" else vectors.sum(0)
            wanted[row, field] = merged / (sum(abs(v) for _, v in entries) if operator == "MEAN" else 1)
    np.testing.assert_allclose(net(*inputs()).asnumpy(), wanted, rtol=1e-6)


def test_gradients():
    net = make(param_init=Tensor(TABLE))
    ids, values, fields = inputs()

    def loss(values):
        out = net(ids, values, fields)
        return ops.sum(out * out)

    found, (dvalues, (dtable,)) = ms.value_and_grad(loss, 0, net.trainable_params())(values)
    assert [p.name for p in net.get_parameters()] == ["embedding_table"]
    out = net(*inputs()).asnumpy()
    np.testing.assert_allclose(found.asnumpy(), (out**2).sum(), rtol=1e-6)
    wanted = np.array(
        [
            [2 * (out[r, FIELDS[r, e]] * TABLE[IDS[r, e]]).sum() if IDS[r, e] < 10 else 0 for e in range(5)]
            for r in range(2)
        ]
    )
    np.testing.assert_allclose(dvalues.asnumpy(), wanted, rtol=1e-5)
    np.testing.assert_allclose(dtable.asnumpy()[4], 2 * out[0, 1] * 2, rtol=1e-6)
    assert (dtable.asnumpy()[7:] == 0).all()


def test_vectors_are_clipped():
    net = make(param_init=Tensor(TABLE), max_norm=0.5)
    one = np.array([[1.0]], F)
    found = net(Tensor([[2]], ms.int32), Tensor(one), Tensor([[1]], ms.int32)).asnumpy()
    assert (found[0, 0] == 0).all() and abs(np.linalg.norm(found[0, 1]) - 0.5) < 1e-6


def test_errors():
    for error, options in [
        (ValueError, {"field_size": 0}),
        (TypeError, {"field_size": "a"}),
        (ValueError, {"operator": "x"}),
        (ValueError, {"vocab_size": 0}),
        (ValueError, {"target": "g"}),
        (ValueError, {"sparse": False}),
        (TypeError, {"max_norm": "q"}),
    ]:
        with pytest.raises(error, match=next(iter(options))):
            make(**options)
    ids, values, fields = inputs()
    for error, text, given in [
        (TypeError, "field_ids", (ids, values, ops.cast(fields, ms.int64))),
        (TypeError, "input_values", (ids, ops.cast(values, ms.float16), fields)),
        (TypeError, "input_indices", (ops.cast(ids, ms.float32), values, fields)),
        (ValueError, "input_indices", (ids[0], values, fields)),
        (ValueError, "input_values", (ids, values[0], fields)),
        (ValueError, "field_ids", (ids, values, fields[0])),
    ]:
        with pytest.raises(error, match=text):
            make()(*given)
