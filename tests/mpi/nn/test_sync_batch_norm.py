"""SyncBatchNorm on parts of a batch is BatchNorm on the whole: values, gradients and moving statistics."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn, ops


def parts(size, shape, even):
    """The lengths of the ranks' parts."""
    return [4] * size if even else [r * 2 + 1 for r in range(size)]


@pytest.mark.parametrize("even", [True, False])
@pytest.mark.parametrize("shape", [(3,), (3, 5), (3, 4, 5), (3, 2, 3, 4)])
@pytest.mark.parametrize("form", ["nn", "mint"])
def test_parts_are_the_whole(shape, even, form):
    ms.communication.init()
    rank, size = ms.communication.get_rank(), ms.communication.get_group_size()
    lengths = parts(size, shape, even)
    rng = np.random.default_rng(0)
    x, dy = rng.standard_normal((2, sum(lengths), *shape))
    start = sum(lengths[:rank])
    mine = slice(start, start + lengths[rank])
    if form == "nn":
        kinds = {1: nn.BatchNorm1d, 2: nn.BatchNorm1d, 3: nn.BatchNorm2d, 4: nn.BatchNorm3d}
        layers = nn.SyncBatchNorm(3, dtype=ms.float64), kinds[len(shape)](3, dtype=ms.float64)
    else:
        kinds = {1: "BatchNorm1d", 2: "BatchNorm1d", 3: "BatchNorm2d", 4: "BatchNorm3d"}
        kind = getattr(ms.mint.nn, kinds[len(shape)])
        layers = ms.mint.nn.SyncBatchNorm(3, dtype=ms.float64), kind(3, dtype=ms.float64)
    found = []
    for layer, where in zip(layers, (mine, slice(None))):
        layer.set_train()
        trained = layer.trainable_params()
        trained[0].set_data(ms.Tensor([1.0, 2.0, 3.0], ms.float64))
        gradients = ms.value_and_grad(lambda a, b, layer=layer: (layer(a) * b).sum(), 0, trained)
        _, (dx, dw) = gradients(ms.Tensor(x[where]), ms.Tensor(dy[where]))
        statistics = [p.asnumpy() for p in layer.get_parameters() if not p.requires_grad]
        found.append((layer(ms.Tensor(x[where])).asnumpy(), dx.asnumpy(), dw, statistics))
    np.testing.assert_allclose(found[0][0], found[1][0][mine], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found[0][1], found[1][1][mine], rtol=1e-9, atol=1e-11)
    for one, whole in zip(found[0][2], found[1][2]):
        np.testing.assert_allclose(ops.AllReduce()(one).asnumpy(), whole.asnumpy(), rtol=1e-10)
    for one, whole in zip(found[0][3], found[1][3]):
        np.testing.assert_allclose(one, whole, rtol=1e-10)


def test_groups_of_ranks_and_evaluation():
    ms.communication.init()
    rank, size = ms.communication.get_rank(), ms.communication.get_group_size()
    if size < 2:
        return
    x = ms.Tensor(np.full((2, 1), float(rank), np.float32) + np.array([[0], [1]], np.float32))
    pair = nn.SyncBatchNorm(1, process_groups=[[0, 1]]).set_train()
    alone = nn.BatchNorm1d(1).set_train()
    found = pair(x).asnumpy()
    if rank < 2:
        both = alone(ms.Tensor(np.array([[0], [1], [1], [2]], np.float32))).asnumpy()
        np.testing.assert_allclose(found, both[2 * rank : 2 * rank + 2], rtol=1e-5)
    else:
        np.testing.assert_allclose(found, alone(x).asnumpy(), rtol=1e-6)
    pair.set_train(False)
    assert pair(x).shape == (2, 1)


def test_bad_groups():
    ms.communication.init()
    size = ms.communication.get_group_size()
    with pytest.raises(TypeError, match="'process_groups' must be a list of lists"):
        nn.SyncBatchNorm(1, process_groups=[0, 1])
    with pytest.raises(ValueError, match="at most once"):
        nn.SyncBatchNorm(1, process_groups=[[0], [0]])
    with pytest.raises(ValueError, match="each rank of"):
        nn.SyncBatchNorm(1, process_groups=[[size]])
