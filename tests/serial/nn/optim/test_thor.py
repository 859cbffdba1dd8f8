"""THOR: its steps against the formula, what it does to a network, and that it learns."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, nn, ops
from tests.parity import thor_steps

F = np.float32
# What `tests/parity/thor_steps.py` printed for MindSpore 2.10.0.
MINDSPORE = {
    "plain": [2.499, 2.09118, 2.01836, 2.59364, 2.61174],
    "decayed": [2.499, 2.08248, 2.00214, 2.53434, 2.52417],
    "filtered": [2.499, 2.08248, 2.00216, 2.53434, 2.5243],
    "clipped": [2.499, 2.08798, 1.84708, 2.40638, 2.70657],
}
RNG = np.random.default_rng(0)


def trained(net, steps=3, batch=4, **options):
    x, y = RNG.normal(size=(batch, 3)).astype(F), RNG.normal(size=(batch, 2)).astype(F)
    options = {"momentum": 0.0, "batch_size": batch, "frequency": 2, **options}
    optimizer = nn.thor(net, Tensor([0.1] * steps), Tensor([0.04] * steps), **options)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer)
    return x, y, step


def test_a_step_is_the_formula():
    net = nn.DenseThor(3, 2, has_bias=False)
    x, y, step = trained(net)
    w = net.weight.asnumpy().copy()
    dout = (x @ w.T - y) * 2 / y.size
    a, g = x.T @ x / 3, dout.T @ dout / 4 * 16
    wanted = np.linalg.inv(g + 0.2 * np.eye(2)) @ (dout.T @ x) @ np.linalg.inv(a + 0.2 * np.eye(3))
    step(Tensor(x), Tensor(y))
    assert np.allclose(net.weight.asnumpy(), w - 0.1 * wanted, atol=1e-6)
    assert net.thor is False  # the next step uses the same inverses
    step(Tensor(x), Tensor(y))
    assert net.thor is True


def test_matrices_of_more_than_128_rows_are_taken_by_blocks():
    net = nn.DenseThor(150, 130, has_bias=False)
    x, y = RNG.normal(size=(4, 150)).astype(F), RNG.normal(size=(4, 130)).astype(F)
    optimizer = nn.thor(net, Tensor([0.1] * 2), Tensor([0.04] * 2), 0.0, batch_size=4, frequency=2)
    w = net.weight.asnumpy().copy()
    dout = (x @ w.T - y) * 2 / y.size
    matrices = x.T @ x / 150 + 0.2 * np.eye(150), dout.T @ dout / 4 * 16 + 0.2 * np.eye(130)
    for matrix in matrices:
        matrix[128:, :128] = matrix[:128, 128:] = 0
    a, g = (np.linalg.inv(matrix) for matrix in matrices)
    nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer)(Tensor(x), Tensor(y))
    assert np.allclose(net.weight.asnumpy(), w - 0.1 * (g @ dout.T @ x @ a), atol=1e-5)
    kept = {p.name: p.asnumpy() for p in optimizer.get_parameters()}
    assert kept["matrix_a_inv_0"].shape == (2, 2, 128, 128) and kept["matrix_g_inv_0"].shape == (2, 128, 128)
    assert np.allclose(kept["matrix_a_inv_0"][1, 1, :22, :22], a[128:, 128:], atol=1e-5)
    assert np.allclose(kept["matrix_g_inv_0"][0], g[:128, :128], atol=1e-5)


@pytest.mark.parametrize("way", MINDSPORE)
def test_steps_are_mindspores(way):
    """A table, layers of more than 128 rows and a LayerNorm, with weight decay and clipped."""
    assert np.allclose(thor_steps.run("dist_ms", way)[0], MINDSPORE[way], rtol=0, atol=3e-5)


def test_scales_of_a_layer_norm_are_divided_by_their_squares():
    net = nn.SequentialCell(nn.LayerNorm((3,)), nn.Dense(3, 2))
    optimizer = nn.thor(net, Tensor([1.0]), Tensor([0.04]), 0.0, batch_size=4, loss_scale=2.0)
    grads = [ops.zeros(p.shape) for p in optimizer.parameters]
    grads[0] = Tensor([1.0, -2.0, 0.0])
    before = net[0].gamma.asnumpy().copy()
    optimizer(tuple(grads))
    halves = np.array([0.5, -1, 0])
    assert np.allclose(before - net[0].gamma.asnumpy(), halves / (halves**2 / 4 + 0.2), atol=1e-6)


def test_each_gradient_is_clipped_with_its_decay():
    net = nn.SequentialCell(nn.LayerNorm((4,)), nn.Flatten())
    optimizer = nn.thor(net, Tensor([1.0]), Tensor([1.0]), 0.0, weight_decay=2.0, loss_scale=8.0, enable_clip_grad=True)
    optimizer((ops.zeros(4), Tensor([0.8, 0.0, 0.0, 0.0])))
    assert np.allclose(net[0].gamma.asnumpy(), 0.5, atol=1e-6)  # 2, 2, 2, 2 has a norm of 4
    assert np.allclose(net[0].beta.asnumpy(), [-0.1, 0, 0, 0], atol=1e-3)  # shorter than 1


def test_frozen_layers_stay():
    net = nn.SequentialCell(nn.Dense(3, 3), nn.Conv2d(1, 1, 1), nn.Embedding(3, 3), nn.Dense(3, 2))
    for p in (net[0].weight, net[1].weight, net[2].embedding_table):
        p.requires_grad = False
    ms.ConvertNetUtils().convert_to_thor_net(net)
    assert [type(cell).__name__ for cell in net] == ["Dense", "Conv2d", "Embedding", "DenseThor"]
    assert net.cell_type == "second-order"


def test_what_the_optimizer_keeps():
    net = Mixed()
    optimizer = nn.thor(net, Tensor([0.1]), Tensor([0.1]), 0.9)
    assert optimizer.get_frequency() == 100
    collected = ["table.matrix_a", "conv.matrix_a_cov", "head.0.matrix_a"]
    collected += [name.replace("_a", "_g") for name in collected]
    inverses = {"matrix_a_inv_0": (10,), "matrix_a_inv_1": (1, 1, 18, 18), "matrix_a_inv_2": (1, 1, 3, 3)}
    inverses |= {"matrix_g_inv_0": (4, 4), "matrix_g_inv_1": (1, 3, 3), "matrix_g_inv_2": (1, 2, 2)}
    kept = {p.name: p.shape for p in optimizer.get_parameters() if not p.requires_grad}
    assert list(kept) == [*collected, "conv.a_normalizer", "conv.g_normalizer", "cov_step", *inverses]
    assert {name: kept[name] for name in inverses} == inverses


def test_a_saved_optimizer_goes_on(tmp_path):
    """The inverses of the first step are used in the second, by an optimizer that did not find them."""
    net = nn.DenseThor(3, 2)
    x, y, step = trained(net)
    step(Tensor(x), Tensor(y))
    for part, name in ((net, "net"), (step.optimizer, "optimizer")):
        ms.save_checkpoint(part, str(tmp_path / f"{name}.ckpt"))
    step(Tensor(x), Tensor(y))
    other = nn.DenseThor(3, 2)
    _, _, again = trained(other)
    for part, name in ((other, "net"), (again.optimizer, "optimizer")):
        assert ms.load_param_into_net(part, ms.load_checkpoint(str(tmp_path / f"{name}.ckpt"))) == ([], [])
    again(Tensor(x), Tensor(y))
    assert np.array_equal(other.weight.asnumpy(), net.weight.asnumpy())


def test_clipping_is_of_gradients_without_the_loss_scale():
    changes = []
    for scale in (1.0, 128.0):
        ms.set_seed(1)
        net = nn.DenseThor(3, 2, weight_init="ones")
        optimizer = nn.thor(
            net, Tensor([1.0]), Tensor([1e-4]), 0.0, loss_scale=scale, batch_size=4, enable_clip_grad=True
        )
        step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer, sens=scale)
        step(Tensor(np.eye(4, 3, dtype=F) * 0.1), Tensor(np.zeros((4, 2), F)))
        changes.append(net.weight.asnumpy() - 1)
    assert np.allclose(changes[0], changes[1], rtol=1e-3) and 0.9 < np.linalg.norm(changes[0]) <= 1 + 1e-5


def test_decay_and_clipping():
    for options in ({"weight_decay": 0.1, "decay_filter": lambda p: "bias" not in p.name}, {"enable_clip_grad": True}):
        net = nn.DenseThor(3, 2)
        x, y, step = trained(net, **options)
        before, first = net.weight.asnumpy().copy(), step(Tensor(x), Tensor(y))
        assert np.abs(net.weight.asnumpy() - before).sum() > 0 and first > step(Tensor(x), Tensor(y))
        if "enable_clip_grad" in options:
            assert np.linalg.norm(net.weight.asnumpy() - before) <= 0.2 + 1e-6


def test_a_network_is_converted_and_learns():
    ms.set_seed(0)
    net = nn.SequentialCell(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Dense(8, 2, activation="tanh"), nn.Dense(2, 2))
    shapes = {p.name: p.shape for p in net.trainable_params()}
    x = Tensor(np.random.default_rng(1).normal(size=(6, 1, 2, 2)).astype(F))
    y = Tensor(np.array([0, 1] * 3, np.int32))
    before = net(x).asnumpy()
    ms.ConvertNetUtils().convert_to_thor_net(net)
    assert [type(cell).__name__ for cell in net] == ["Conv2dThor", "Flatten", "DenseThor", "DenseThor"]
    assert {p.name: p.shape for p in net.trainable_params()} == shapes
    assert {"0.matrix_a_cov", "0.g_normalizer", "2.matrix_g"} <= {p.name for p in net.get_parameters()}
    assert np.allclose(net(x).asnumpy(), before, atol=1e-6)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.thor(net, Tensor([0.05] * 30), Tensor([0.3] * 30), 0.9, batch_size=6, frequency=5)
    model = ms.Model(net, loss, optimizer)
    thorough = ms.ConvertModelUtils.convert_to_thor_model(model, net, loss, optimizer)
    assert type(thorough).__name__ == "ModelThor"
    assert ms.ConvertModelUtils.convert_to_thor_model(model, net, loss, nn.SGD(net.trainable_params())) is model
    first = float(loss(net(x), y).asnumpy())
    data = ms.dataset.NumpySlicesDataset((x.asnumpy(), y.asnumpy()), shuffle=False).batch(6)
    thorough.train(30, data)
    assert float(loss(net(x), y).asnumpy()) < 0.9 * first


class Mixed(nn.Cell):
    def __init__(self):
        super().__init__()
        self.table, self.conv = nn.Embedding(10, 4), nn.Conv2d(2, 3, 3, has_bias=True)
        self.grouped, self.head = nn.Conv2d(4, 4, 3, group=2), nn.SequentialCell(nn.Dense(3, 2))


def test_the_optimizer_converts_the_network_in_place():
    net = Mixed()
    weights = list(net.trainable_params())
    optimizer = nn.thor(net, Tensor([0.1]), Tensor([0.1]), 0.9)
    kinds = [type(cell).__name__ for cell in (net.table, net.conv, net.grouped, net.head[0])]
    assert kinds == ["EmbeddingThor", "Conv2dThor", "Conv2d", "DenseThor"]
    assert all(a is b for a, b in zip(optimizer.parameters, weights, strict=True))
    collected = {name: p.shape for name, p in net.parameters_and_names() if not p.requires_grad}
    assert collected == {
        "table.matrix_a": (10,),
        "table.matrix_g": (4, 4),
        "conv.a_normalizer": (1,),
        "conv.g_normalizer": (1,),
        "conv.matrix_a_cov": (18, 18),
        "conv.matrix_g_cov": (3, 3),
        "head.0.matrix_a": (3, 3),
        "head.0.matrix_g": (2, 2),
    }
    assert [p.name for p in net.get_parameters()] == [name for name, _ in net.parameters_and_names()]


def test_what_a_convolution_collects():
    layer, x = nn.Conv2dThor(2, 3, 2, pad_mode="valid"), RNG.normal(size=(2, 2, 3, 3)).astype(F)
    ms.grad(lambda x: ops.sum(layer(x)))(Tensor(x))
    rows = np.stack([x[:, :, i : i + 2, j : j + 2].reshape(2, -1) for i in range(2) for j in range(2)]).reshape(8, -1)
    assert np.allclose(layer.matrix_a_cov.asnumpy(), rows.T @ rows / 2, atol=1e-5)
    assert np.allclose(layer.matrix_g_cov.asnumpy(), np.ones((3, 3)))


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"momentum": -1.0}, ValueError),
        ({"frequency": 1}, ValueError),
        ({"use_nesterov": 1}, TypeError),
        ({"learning_rate": 0.1}, TypeError),
        ({"net": 1}, TypeError),
    ],
)
def test_refused(options, error):
    given = {"net": nn.DenseThor(2, 1), "learning_rate": Tensor([0.1]), "damping": Tensor([0.1]), "momentum": 0.9}
    with pytest.raises(error):
        nn.thor(**{**given, **options})
