"""A small linear model, its data, and runs for callbacks."""

import numpy as np

import dist_ms as ms
from dist_ms import nn
from dist_ms.train import RunContext
from dist_ms.train.callback import CallbackParameters


def batches(count=2, size=4, scale=1.0):
    """Batches of x = 0, 0.1, 0.2 ... (two columns), y = 1."""
    x = scale * np.arange(count * size * 2).reshape(count, size, 2).astype(np.float32) / 10
    return [(part, np.ones((size, 1), np.float32)) for part in x]


def network():
    """y = x0 + x1 to begin with."""
    return nn.Dense(2, 1, weight_init="ones", bias_init="zeros")


def model(net=None, **kwargs):
    """The network with MSELoss and SGD."""
    net = net or network()
    return ms.train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.01), **kwargs)


def context(**facts):
    """A run with some facts."""
    return RunContext(CallbackParameters(facts))
