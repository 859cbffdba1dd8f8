"""Networks of the usual families, small."""

import math

import numpy as np

import dist_ms as ms
from dist_ms import nn, ops


class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid", has_bias=True)
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid", has_bias=True)
        self.relu, self.pool, self.flatten = nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten()
        self.fc1, self.fc2, self.fc3 = nn.Dense(256, 120), nn.Dense(120, 84), nn.Dense(84, 10)

    def construct(self, images):
        x = self.pool(self.relu(self.conv1(images)))
        x = self.flatten(self.pool(self.relu(self.conv2(x))))
        return self.fc3(self.relu(self.fc2(self.relu(self.fc1(x)))))


class Residual(nn.Cell):
    def __init__(self, before, after, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(before, after, 3, stride, pad_mode="pad", padding=1)
        self.conv2 = nn.Conv2d(after, after, 3, 1, pad_mode="pad", padding=1)
        self.bn1, self.bn2, self.relu = nn.BatchNorm2d(after), nn.BatchNorm2d(after), nn.ReLU()
        self.down = None
        if stride != 1 or before != after:
            self.down = nn.SequentialCell(nn.Conv2d(before, after, 1, stride, pad_mode="valid"), nn.BatchNorm2d(after))

    def construct(self, x):
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.relu(y + (x if self.down is None else self.down(x)))


class ResNet18(nn.Cell):
    def __init__(self, width=8):
        super().__init__()
        self.stem = nn.SequentialCell(
            nn.Conv2d(3, width, 7, 2, pad_mode="pad", padding=3),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.MaxPool2d(3, 2, pad_mode="same"),
        )
        blocks, before = [], width
        for after, stride in ((width, 1), (2 * width, 2), (4 * width, 2), (8 * width, 2)):
            blocks += [Residual(before, after, stride), Residual(after, after, 1)]
            before = after
        self.blocks = nn.SequentialCell(*blocks)
        self.head = nn.Dense(before, 10)

    def construct(self, images):
        return self.head(ops.mean(self.blocks(self.stem(images)), (2, 3)))


class Block(nn.Cell):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm((width,)), nn.LayerNorm((width,))
        self.qkv, self.proj = nn.Dense(width, 3 * width), nn.Dense(width, width)
        self.up, self.down, self.gelu = nn.Dense(width, 4 * width), nn.Dense(4 * width, width), nn.GELU()

    def construct(self, x, mask):
        b, t, d = x.shape
        heads = [
            part.reshape(b, t, self.heads, d // self.heads).swapaxes(1, 2)
            for part in ops.split(self.qkv(self.norm1(x)), d, axis=2)
        ]
        q, k, v = heads
        scores = ops.matmul(q, k.swapaxes(2, 3)) / math.sqrt(d // self.heads)
        scores = ops.masked_fill(scores, mask, -1e9)
        x = x + self.proj(ops.matmul(ops.softmax(scores, -1), v).swapaxes(1, 2).reshape(b, t, d))
        return x + self.down(self.gelu(self.up(self.norm2(x))))


class GPT(nn.Cell):
    """A decoder whose batch and length are open."""

    def __init__(self, words=40, width=16, heads=2, layers=2, longest=64):
        super().__init__()
        self.words = words
        self.tokens, self.positions = nn.Embedding(words, width), nn.Embedding(longest, width)
        self.blocks = nn.CellList([Block(width, heads) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm((width,)), nn.Dense(width, words, has_bias=False)

    def construct(self, ids):
        length = ids.shape[1]
        mask = ops.triu(ops.ones((length, length), ms.float32), 1) > 0
        x = self.tokens(ids) + self.positions(ops.arange(length))
        for block in self.blocks:
            x = block(x, mask)
        return self.head(self.norm(x)).reshape(-1, self.words)


class Words(nn.Cell):
    """Words to a class by an LSTM."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(30, 8)
        self.lstm = nn.LSTM(8, 6, num_layers=2, batch_first=True, bidirectional=True)
        self.drop, self.head = nn.Dropout(p=0.3), nn.Dense(12, 3)

    def construct(self, ids):
        rows, _ = self.lstm(self.table(ids))
        return self.head(self.drop(rows[:, -1] + ops.mean(rows, 1)))


class WideDeep(nn.Cell):
    def __init__(self, rows=200, width=4, fields=6, numbers=5):
        super().__init__()
        self.table, self.wide = nn.Embedding(rows, width), nn.Dense(numbers, 1)
        self.deep = nn.SequentialCell(nn.Dense(fields * width + numbers, 16), nn.ReLU(), nn.Dense(16, 1))
        self.width = fields * width

    def construct(self, ids, numbers):
        rows = self.table(ids).reshape(-1, self.width)
        return ops.sigmoid(self.deep(ops.concat((rows, numbers), 1)) + self.wide(numbers)).squeeze(1)


def settled(net, seed=0):
    """The network with statistics and factors of its norms that are not 0 and 1."""
    draws = np.random.RandomState(seed)
    for parameter in net.get_parameters():
        if parameter.name.rpartition(".")[2] in ("gamma", "moving_variance"):
            parameter.set_data(ms.Tensor(draws.uniform(0.5, 1.5, parameter.shape).astype(np.float32)))
        elif parameter.name.rpartition(".")[2] in ("beta", "moving_mean"):
            parameter.set_data(ms.Tensor(draws.randn(*parameter.shape).astype(np.float32) * 0.1))
    return net
