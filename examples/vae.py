"""Train a variational autoencoder on scans of handwritten digits, and let it draw new ones.

Alone: python examples/vae.py     On 2 ranks: dist-ms run -n 2 examples/vae.py
On 2 ranks of one core: a bound of 24.3 nats per image that it has not seen, after 60 epochs (5 seconds).
Kingma and Welling, Auto-encoding variational Bayes, 2013.
"""

import argparse

import numpy as np
from sklearn.datasets import load_digits

import dist_ms as ms
import dist_ms.dataset as ds
from dist_ms import nn, ops, train
from dist_ms.communication import get_group_size, get_rank, init


class VAE(nn.Cell):
    """Minus the evidence lower bound of each image: its cross entropy and the divergence of its code from N(0, 1)."""

    def __init__(self, width=256, codes=8):
        super().__init__()
        self.codes = codes
        self.encoder = nn.SequentialCell(nn.Dense(64, width), nn.ReLU(), nn.Dense(width, 2 * codes))
        self.decoder = nn.SequentialCell(nn.Dense(codes, width), nn.ReLU(), nn.Dense(width, 64))

    def construct(self, image, noise):
        """`image` (N, 64) in [0, 1]; `noise` (N, codes), standard normal."""
        mean, log_variance = ops.split(self.encoder(image), self.codes, axis=1)
        logits = self.decoder(mean + ops.exp(log_variance / 2) * noise)
        likeness = ops.binary_cross_entropy_with_logits(
            logits, image, ops.ones_like(image), ops.ones_like(image), "none"
        ).sum(axis=1)
        divergence = (ops.exp(log_variance) + mean**2 - 1 - log_variance).sum(axis=1) / 2
        return (likeness + divergence).mean()


def images(part, batch, codes):
    """This rank's rows of the training images (the first 80 %), or all test images; each with noise of its own."""
    pixels = load_digits().data
    order = np.random.RandomState(0).permutation(len(pixels))
    order = order[: len(order) * 4 // 5] if part == "train" else order[len(order) * 4 // 5 :]
    noise = np.random.RandomState(1).standard_normal((len(order), codes)).astype(np.float32)
    columns = (pixels[order] / 16).astype(np.float32), noise
    if part == "test":
        return ds.NumpySlicesDataset(columns, ["image", "noise"], shuffle=False).batch(batch)
    rows = ds.NumpySlicesDataset(columns, ["image", "noise"], num_shards=get_group_size(), shard_id=get_rank())
    # Other noise in each epoch.
    rows = rows.map(lambda noise: np.random.standard_normal(noise.shape).astype(np.float32), ["noise"])
    return rows.batch(batch, drop_remainder=True)


def draw(net, path, side=8):
    """A picture of side * side images that the decoder makes of drawn codes."""
    from matplotlib.figure import Figure

    codes = np.random.RandomState(2).standard_normal((side * side, net.codes)).astype(np.float32)
    made = ops.sigmoid(net.decoder(ms.Tensor(codes))).asnumpy().reshape(side, side, 8, 8)
    figure = Figure(figsize=(5, 5))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.imshow(
        np.pad(made, ((0, 0), (0, 0), (1, 1), (1, 1))).transpose(0, 2, 1, 3).reshape(10 * side, -1), cmap="gray"
    )
    axes.set_axis_off()
    figure.savefig(path)


def main():
    """Train, tell the bound on images that were not trained on, and draw."""
    parser = argparse.ArgumentParser(description="Train a variational autoencoder on scans of handwritten digits.")
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--batch", type=int, default=64, help="images per step over all ranks")
    parser.add_argument("--out", default="vae.png", help="the picture of drawn digits")
    args = parser.parse_args()
    init()
    ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)
    ms.set_seed(1)
    net, batch = VAE(), args.batch // get_group_size()
    adam = nn.Adam(net.trainable_params(), 1e-3)
    model = train.Model(net, optimizer=adam)
    model.train(args.epochs, images("train", batch, net.codes), callbacks=[train.ProgressBar()])
    if get_rank() == 0:
        net.set_train(False)
        bound = np.mean([float(net(*rows)) for rows in images("test", 60, net.codes).create_tuple_iterator()])
        draw(net, args.out)
        print(f"test bound {bound:.2f} nats per image on {get_group_size()} rank(s); drew {args.out}")


if __name__ == "__main__":
    main()
