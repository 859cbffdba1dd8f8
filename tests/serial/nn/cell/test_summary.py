"""Cell.summary: the table of a network's cells."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn


def ones(*shape):
    return ms.Tensor(np.ones(shape, np.float32))


@pytest.mark.parametrize(
    "layer, inputs, flops",
    [
        (lambda: nn.Dense(4, 3), [ones(2, 5, 4)], 2 * 2 * 5 * 4 * 3),
        (lambda: nn.Conv2d(4, 8, 3, group=2), [ones(2, 4, 6, 6)], 2 * 2 * 8 * 36 * 2 * 9),
        (lambda: nn.Conv2dTranspose(3, 8, 3), [ones(2, 3, 6, 6)], 2 * 2 * 3 * 36 * 8 * 9),
        (lambda: nn.LSTM(4, 5), [ones(6, 2, 4)], 2 * 6 * 2 * 20 * (4 + 5)),
        (lambda: nn.MultiheadAttention(8, 2), [ones(4, 2, 8)] * 3, 2 * 8 * 8 * (24 + 8) + 4 * 2 * 4 * 4 * 8),
        (lambda: nn.ReLU(), [ones(3)], 0),
    ],
)
def test_flops_are_twice_the_multiplications(layer, inputs, flops):
    assert layer().summary(*inputs).flops == flops


class Twice(nn.Cell):
    """Runs one layer twice, has one that does not run, and a parameter of two names."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Dense(4, 4)
        self.idle = nn.Dense(4, 2)
        self.norm = nn.BatchNorm1d(4)
        self.idle.weight.requires_grad = False

    def construct(self, x):
        return self.norm(self.layer(self.layer(x))), {"again": x}


def test_rows_are_the_cells_and_those_inside():
    found = Twice().summary(ones(3, 4))
    rows = {row.name: row for row in found.rows}
    assert list(rows) == ["", "layer", "idle", "norm"]
    assert rows[""].outputs == ((3, 4), (3, 4)) and rows["layer"].outputs == ((3, 4),)
    assert rows["idle"].outputs is None
    assert rows["layer"].flops == rows[""].flops == found.flops == 2 * 2 * 3 * 16
    assert [row.parameters for row in found.rows] == [20 + 10 + 16, 20, 10, 16]
    assert (found.parameters, found.trainable) == (46, 20 + 2 + 8)
    lines = str(found).splitlines()
    assert lines[0].split() == ["cell", "output", "parameters", "FLOPs"]
    assert [line.split()[0] for line in lines[2:6]] == ["Twice", "layer:", "idle:", "norm:"]
    assert lines[-1] == "parameters 46 (trainable 30), FLOPs 192"


def test_the_network_stays_as_it_was():
    net = Twice().set_train()
    net.norm.set_train(False)
    before = [p.asnumpy().copy() for p in net.get_parameters()]
    net.summary(ones(3, 4))
    assert (net.training, net.layer.training, net.norm.training) == (True, True, False)
    assert all(np.array_equal(a, p.asnumpy()) for a, p in zip(before, net.get_parameters()))
    assert net.layer._cell_plain  # without hooks again


def test_an_error_of_the_network_leaves_nothing_behind():
    net = Twice().set_train()
    with pytest.raises(ValueError):
        net.summary(ones(3, 5))
    assert net.training and not any(net.layer._cell_hooks.values())
    assert net.summary(ones(3, 4)).flops == 192


def test_a_child_may_be_called_summary():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.summary = nn.Dense(2, 2)

        def construct(self, x):
            return self.summary(x)

    net = Net()
    assert net(ones(1, 2)).shape == (1, 2) and next(net.get_parameters()).name == "summary.weight"
    net.summary = nn.ReLU()
    assert isinstance(net.summary, nn.ReLU) and len(net.cells()) == 1
    del net.summary
    assert callable(net.summary) and not net.cells()
