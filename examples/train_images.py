"""Train a small CNN on a folder of JPEG files per class, with crops and flips, and tell how long steps wait for data.

Without --data it cuts scikit-learn's two photographs into 600 pieces, and learns which of the two a piece is from.

Alone: python examples/train_images.py     On 2 ranks: mpirun -n 2 python ..., or dist-ms run -n 2 ...
"""

import argparse
import time
from pathlib import Path

import numpy as np

import dist_ms as ms
import dist_ms.dataset as ds
from dist_ms import nn, train
from dist_ms.communication import get_group_size, get_rank, init
from dist_ms.communication.comm_func import barrier
from dist_ms.dataset import vision

MEAN, STD = [123.675, 116.28, 103.53], [58.395, 57.12, 57.375]


def write_pieces(folder):
    """Cut pieces of two photographs: the left four fifths for training, the rest for tests."""
    from PIL import Image
    from sklearn.datasets import load_sample_images

    rng = np.random.default_rng(0)
    for name, photo in zip(("china", "flower"), load_sample_images().images):
        edge = photo.shape[1] * 4 // 5
        for part, left, right, count in (("train", 0, edge, 250), ("test", edge, photo.shape[1], 50)):
            place = folder / part / name
            place.mkdir(parents=True)
            for i in range(count):
                size = int(rng.integers(80, 120))
                y, x = rng.integers(0, photo.shape[0] - size), rng.integers(left, right - size)
                Image.fromarray(photo[y : y + size, x : x + size]).save(place / f"{i}.jpg", quality=90)


def images(folder, part, batch, size, workers):
    """Batches of one part; ranks that train together read their shards."""
    data = ds.ImageFolderDataset(str(folder / part), shuffle=part == "train", num_parallel_workers=workers)
    if part == "train":
        shape = [vision.RandomCropDecodeResize(size, scale=(0.5, 1.0)), vision.RandomHorizontalFlip()]
    else:
        shape = [vision.Decode(), vision.Resize((size, size))]
    data = data.map([*shape, vision.Normalize(MEAN, STD), vision.HWC2CHW()], "image", num_parallel_workers=workers)
    return data.batch(batch, drop_remainder=part == "train", num_parallel_workers=workers)


def make_net(classes):
    """Four convolutions that halve the image, and one dense layer."""
    cells, before = [], 3
    for channels in (16, 32, 64, 64):
        cells += [nn.Conv2d(before, channels, 3, stride=2), nn.BatchNorm2d(channels), nn.ReLU()]
        before = channels
    return nn.SequentialCell([*cells, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dense(before, classes)])


class Waiting(train.Callback):
    """The share of the training's time that goes by between one step and the next: waiting for data.

    The first batch, for which workers start and libraries are loaded, is timed by itself.
    """

    def __init__(self):
        self.first, self.waited, self.whole = None, 0.0, 0.0

    def on_train_epoch_begin(self, run_context):
        """Waiting for the epoch's first batch begins."""
        self.last = time.perf_counter()

    def on_train_step_begin(self, run_context):
        """The batch is there."""
        now = time.perf_counter()
        if self.first is None:
            self.first, self.last = now - self.last, now
        else:
            self.waited += now - self.last

    def on_train_step_end(self, run_context):
        """The step is over."""
        now = time.perf_counter()
        self.whole, self.last = self.whole + now - self.last, now


def main():
    """Train, evaluate, and tell how long steps waited for data."""
    parser = argparse.ArgumentParser(description="Train a small CNN on a folder of images per class.")
    parser.add_argument("--data", type=Path, help="a folder with train/CLASS/*.jpg and test/CLASS/*.jpg")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch", type=int, default=50, help="images per step over all ranks")
    parser.add_argument("--size", type=int, default=64, help="height and width of the images that are trained on")
    parser.add_argument("--workers", type=int, default=1, help="threads per rank that make batches")
    args = parser.parse_args()
    init()
    ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)
    ms.set_seed(1)
    folder = args.data or Path("pieces")
    if get_rank() == 0 and not folder.exists():
        write_pieces(folder)
    barrier()
    training = images(folder, "train", args.batch // get_group_size(), args.size, args.workers)
    net, waiting = make_net(training.num_classes()), Waiting()
    adam = nn.Adam(net.trainable_params(), 2e-3)
    model = train.Model(net, nn.CrossEntropyLoss(), adam, metrics={"accuracy"})
    model.train(args.epochs, training, callbacks=[train.ProgressBar(), waiting])
    accuracy = model.eval(images(folder, "test", 20, args.size, args.workers))["accuracy"]
    if get_rank() == 0:
        print(f"test accuracy {accuracy:.2%} on {get_group_size()} rank(s)")
        print(f"the first batch came after {waiting.first:.2f} s")
        print(f"steps waited {waiting.waited / waiting.whole:.2%} of their time for data")


if __name__ == "__main__":
    main()
