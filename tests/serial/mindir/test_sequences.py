"""Recurrent layers over sequences of several lengths, step by step in the file."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn
from tests.serial.mindir.networks import flat

ROWS = np.random.RandomState(0).randn(3, 4, 4).astype(np.float32)


class Layer(nn.Cell):
    def __init__(self, kind, lengths=None):
        super().__init__()
        self.layer = getattr(nn, kind)(4, 5, num_layers=2, bidirectional=True, batch_first=True)
        self.lengths = lengths

    def construct(self, x, lengths=None):
        return self.layer(x, None, self.lengths if lengths is None else lengths)


def again(net, *inputs, folder):
    path = str(folder / "net.mindir")
    ms.export(net, *inputs, file_name=path, file_format="MINDIR")
    return nn.GraphCell(ms.load(path))


def same(found, wanted):
    for a, b in zip(flat(found), flat(wanted)):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_lengths_that_are_an_input(kind, tmp_path):
    net, x, lengths = Layer(kind), ms.Tensor(ROWS), ms.Tensor([4, 1, 2], ms.int32)
    found = again(net, x, lengths, folder=tmp_path)
    for given in (lengths, ms.Tensor([2, 4, 1], ms.int32)):
        same(found(x, given), net(x, given))


def test_lengths_that_are_fixed(tmp_path):
    net, x = Layer("GRU", ms.Tensor([4, 1, 2], ms.int32)), ms.Tensor(ROWS)
    same(again(net, x, folder=tmp_path)(x), net(x))


@pytest.mark.parametrize(
    "shape, lengths, text",
    [
        ([None, 4, 4], [None], "'GetItem' .*computed from the inputs outside of operations"),
        ([3, None, 4], [3], "'Recurrence' .*sequences of open length"),
    ],
)
def test_what_must_be_fixed(shape, lengths, text, tmp_path):
    x, lengths = ms.Tensor(shape=shape, dtype=ms.float32), ms.Tensor(shape=lengths, dtype=ms.int32)
    with pytest.raises(RuntimeError, match=text):
        again(Layer("GRU"), x, lengths, folder=tmp_path)
