"""Train a small CNN on 1,797 real scans of handwritten digits (scikit-learn's `digits`).

Alone: python examples/train_digits.py     On 2 ranks: mpirun -n 2 python ..., or dist-ms run -n 2 ...
"""

import argparse

import numpy as np
from sklearn.datasets import load_digits

import dist_ms as ms
import dist_ms.dataset as ds
from dist_ms import nn, train
from dist_ms.communication import get_group_size, get_rank, init


def make_net():
    """Two convolutions and two dense layers for 8 x 8 images."""
    convs = [nn.Conv2d(1, 32, 3), nn.BatchNorm2d(32), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.BatchNorm2d(64), nn.ReLU()]
    head = [nn.MaxPool2d(2, 2), nn.Flatten(), nn.Dense(64 * 4 * 4, 128), nn.ReLU(), nn.Dense(128, 10)]
    return nn.SequentialCell(convs + head)


def digits(part, batch):
    """This rank's shard of the training images (the first 80 %) or of the test images, in batches."""
    pixels, labels = load_digits(return_X_y=True)
    order = np.random.RandomState(0).permutation(len(labels))
    order = order[: len(order) * 4 // 5] if part == "train" else order[len(order) * 4 // 5 :]
    columns = (pixels[order] / 16.0).astype(np.float32).reshape(-1, 1, 8, 8), labels[order].astype(np.int32)
    training = part == "train"
    shard = {"num_shards": get_group_size(), "shard_id": get_rank(), "shuffle": training}
    return ds.NumpySlicesDataset(columns, ["image", "label"], **shard).batch(batch, drop_remainder=training)


def make_model(net, level="O0"):
    """The network with loss and optimizer; mixed precision leaves its weights float32."""
    adam, mixed = nn.Adam(net.trainable_params(), 2e-3), ms.amp.auto_mixed_precision(net, level, ms.bfloat16)
    return train.Model(mixed, nn.CrossEntropyLoss(), adam, metrics={"accuracy"})


def main():
    """Train, evaluate, save and draw."""
    parser = argparse.ArgumentParser(description="Train a small CNN on scans of handwritten digits.")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch", type=int, default=48, help="images per step over all ranks")
    parser.add_argument("--amp", default="O0", help="mixed precision with bfloat16: O1, O2, O3 or auto")
    parser.add_argument("--out", default="digits", help="name of the .ckpt and .png files")
    args = parser.parse_args()
    init()
    ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)
    ms.set_seed(1)
    net, history = make_net(), train.History()
    model = make_model(net, args.amp)
    batch = args.batch // get_group_size()
    model.fit(args.epochs, digits("train", batch), digits("test", 60), callbacks=[train.ProgressBar(), history])
    accuracy = model.eval(digits("test", 60))["accuracy"]
    if get_rank() == 0:
        ms.save_checkpoint(net, f"{args.out}.ckpt")
        history.plot(f"{args.out}.png")  # the mean loss of each epoch, and what was evaluated
        print(f"test accuracy {accuracy:.2%} on {get_group_size()} rank(s); saved {args.out}.ckpt and {args.out}.png")


if __name__ == "__main__":
    main()
