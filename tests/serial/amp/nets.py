"""A small convolutional net with fixed weights, whose outputs and losses MindSpore gave."""

import numpy as np

import dist_ms as ms
from dist_ms import nn

OUTPUT = [[-1.171, 1.100], [-0.310, 0.038]]  # in training mode, float32
LOSSES = [1.452, 0.397, 0.211, 0.142]  # of SGD(0.1) with the mean cross entropy of labels 0 and 1


class Net(nn.Cell):
    """Convolution, batch norm, ReLU, dense."""

    def __init__(self):
        super().__init__()
        r = np.random.RandomState(0)
        first, bias = r.randn(3, 2, 3, 3).astype(np.float32) * 0.3, r.randn(3).astype(np.float32)
        self.conv = nn.Conv2d(2, 3, 3, has_bias=True, weight_init=ms.Tensor(first), bias_init=ms.Tensor(bias))
        self.bn = nn.BatchNorm2d(3)
        self.relu = nn.ReLU()
        self.flat = nn.Flatten()
        weight, bias = r.randn(2, 48).astype(np.float32) * 0.1, r.randn(2).astype(np.float32)
        self.fc = nn.Dense(48, 2, weight_init=ms.Tensor(weight), bias_init=ms.Tensor(bias))

    def construct(self, x):
        return self.fc(self.flat(self.relu(self.bn(self.conv(x)))))


def batch():
    """The inputs and labels."""
    x = np.random.RandomState(0).randn(2, 2, 4, 4).astype(np.float32)
    return ms.Tensor(x), ms.Tensor(np.array([0, 1], np.int32))


def is_half(tensor):
    """Whether all values are float16 numbers."""
    array = tensor.asnumpy()
    return bool((array == array.astype(np.float16)).all())
