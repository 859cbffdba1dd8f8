"""What saving a run costs: bytes per second over the disk's own, and the share of training time.

The model is a ResNet-18 with Momentum. First its state is saved and waited for, and as many bytes are written
and synced by `dd`, in turn; printed are the medians' ratio (1: as fast as the disk) and, as saving checks sums, the
speed of CRC-32 alone. Then steps are trained without saving and with a RunCheckpoint every `--every` steps, in turn,
and for half as many steps after the last save, so that training's end waits for none; printed is the share of time that
saving takes (less than 0.02 is wanted).

    python benchmarks/bench_saving.py [--folder FOLDER] [--saves 2] [--every 50] [--rounds 3] [--batch 16]
"""

import argparse
import itertools
import os
import shutil
import statistics
import subprocess
import tempfile
import time
import zlib

import numpy as np

import dist_ms as ms
from dist_ms import nn
from dist_ms.train.state.folder import Folder


class Block(nn.Cell):
    def __init__(self, before, after, stride):
        super().__init__()
        self.first = nn.Conv2d(before, after, 3, stride, pad_mode="same")
        self.second = nn.Conv2d(after, after, 3, pad_mode="same")
        self.norms = nn.CellList([nn.BatchNorm2d(after), nn.BatchNorm2d(after)])
        self.short = nn.Conv2d(before, after, 1, stride) if stride > 1 or before != after else None
        self.relu = nn.ReLU()

    def construct(self, x):
        y = self.norms[1](self.second(self.relu(self.norms[0](self.first(x)))))
        return self.relu(y + (x if self.short is None else self.short(x)))


def resnet18():
    widths = [64, 64, 64, 128, 128, 256, 256, 512, 512]
    blocks = [Block(a, b, 2 if b > a else 1) for a, b in itertools.pairwise(widths)]
    first = [nn.Conv2d(3, 64, 3, pad_mode="same"), nn.BatchNorm2d(64), nn.ReLU()]
    return nn.SequentialCell(*first, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dense(512, 10))


def timed(job):
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", help="where to save; by default a temporary folder")
    parser.add_argument("--saves", type=int, default=2)
    parser.add_argument("--every", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batch", type=int, default=16)
    options = parser.parse_args()
    ms.set_seed(1)
    net = resnet18()
    optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    model = ms.train.Model(net, nn.CrossEntropyLoss(), optimizer)
    draw = np.random.default_rng(1)
    batch = draw.random((options.batch, 3, 32, 32), np.float32), draw.integers(0, 10, options.batch).astype(np.int32)
    model.train(1, [batch] * 3)
    folder = tempfile.mkdtemp(dir=options.folder)
    try:
        size = sum(p.nbytes for p in optimizer.get_parameters())
        ours, disk, sums = [], [], []
        content = bytes(size)
        for turn in range(options.rounds):
            save = lambda turn=turn: ms.train.save_run(folder, turn, keep=1, net=net, optimizer=optimizer)  # noqa: E731
            ours.append(timed(save))
            words = ["dd", "if=/dev/zero", f"of={folder}/dd", f"bs={size}", "count=1", "conv=fsync", "status=none"]
            disk.append(timed(lambda words=words: subprocess.run(words, check=True)))
            os.unlink(f"{folder}/dd")
            sums.append(timed(lambda: zlib.crc32(content)))
        mib = size / 2**20
        own, other = statistics.median(ours), statistics.median(disk)
        print(
            f"saving {mib:.0f} MiB: {mib / own:.0f} MiB/s, dd with fsync {mib / other:.0f} MiB/s, ratio "
            f"{other / own:.2f}; CRC-32 alone {mib / statistics.median(sums):.0f} MiB/s"
        )
        Folder(folder).verify(options.rounds - 1)
        steps = options.saves * options.every + options.every // 2
        plain, saving = [], []
        for _ in range(options.rounds):
            plain.append(timed(lambda: model.train(1, [batch] * steps)))
            checkpoint = ms.train.RunCheckpoint(folder, every_steps=options.every, keep=1)
            saving.append(timed(lambda c=checkpoint: model.train(1, [batch] * steps, callbacks=c)))
        step = statistics.median(plain) / steps
        one = (statistics.median(saving) - statistics.median(plain)) / options.saves
        share = one / (options.every * step)
        print(f"steps of {1000 * step:.1f} ms, saved every {options.every}: saving takes {share:.3f} of the time")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
