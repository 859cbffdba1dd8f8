"""Let two networks play: one draws digits, the other tells drawn ones from scans; with a training loop of one's own.

Alone: python examples/dcgan.py     On 2 ranks: dist-ms run -n 2 examples/dcgan.py
On 2 ranks of one core: each digit drawn, 8 to 12 % each, 1.38 from a scan, where scans are 1.01 apart (16 seconds).
Radford, Metz and Chintala, Unsupervised representation learning with deep convolutional GANs, 2016.
"""

import argparse

import numpy as np
from sklearn.datasets import load_digits

import dist_ms as ms
from dist_ms import nn, ops
from dist_ms.common.initializer import Normal
from dist_ms.communication import get_group_size, get_rank, init

CODES = 16


def layer(kind, inputs, outputs, size, **options):
    """A convolution whose weights are drawn as the paper says, without a bias."""
    return kind(inputs, outputs, size, pad_mode="pad", weight_init=Normal(0.02), has_bias=False, **options)


def painter(width=64):
    """Images (N, 1, 8, 8) in [-1, 1] from codes (N, CODES, 1, 1)."""
    up = {"stride": 2, "padding": 1}
    return nn.SequentialCell(
        layer(nn.Conv2dTranspose, CODES, 2 * width, 2), nn.BatchNorm2d(2 * width), nn.ReLU(),
        layer(nn.Conv2dTranspose, 2 * width, width, 4, **up), nn.BatchNorm2d(width), nn.ReLU(),
        layer(nn.Conv2dTranspose, width, 1, 4, **up), nn.Tanh(),
    )  # fmt: skip


def critic(width=32):
    """Logits (N, 1): whether an image (N, 1, 8, 8) is a scan."""
    return nn.SequentialCell(
        layer(nn.Conv2d, 1, width, 4, stride=2, padding=1), nn.LeakyReLU(0.2),
        layer(nn.Conv2d, width, 2 * width, 4, stride=2, padding=1), nn.BatchNorm2d(2 * width), nn.LeakyReLU(0.2),
        nn.Flatten(), nn.Dropout(p=0.3), nn.Dense(2 * width * 4, 1),
    )  # fmt: skip


class Player:
    """A network with its optimizer, and the step that lowers a loss of it on all ranks."""

    def __init__(self, net, loss, rate):
        self.net, self.adam = net, nn.Adam(net.trainable_params(), rate, beta1=0.5)
        self.value_and_grad = ms.value_and_grad(loss, None, self.adam.parameters)
        self.reduce = nn.DistributedGradReducer(self.adam.parameters)

    def step(self, *rows):
        """Return the loss before the step: the mean of this rank's rows."""
        value, gradients = self.value_and_grad(*rows)
        self.adam(self.reduce(gradients))
        return float(value)


def train(scans, steps, batch, rate):
    """Return the painter after so many steps of both players; the batch is of all ranks."""
    paint, tell = painter().set_train(), critic().set_train()

    def likely(images, real):
        logits = tell(images)
        wanted = ops.full_like(logits, 0.9 if real else 0.0)  # 0.9, so that the critic is never sure
        return nn.BCEWithLogitsLoss()(logits, wanted)

    critics = Player(tell, lambda real, drawn: likely(real, True) + likely(drawn, False), rate)
    painters = Player(paint, lambda codes: likely(paint(codes), True), rate)
    draw, rank, size = np.random.RandomState(0), get_rank(), get_group_size()
    for step in range(1, steps + 1):
        # All ranks draw the same numbers and take their own rows.
        real = ms.Tensor(scans[draw.randint(0, len(scans), batch)[rank::size]])
        codes = ms.Tensor(draw.standard_normal((batch, CODES, 1, 1)).astype(np.float32)[rank::size])
        losses = critics.step(real, ops.stop_gradient(paint(codes))), painters.step(codes)
        if rank == 0 and step % 100 == 0:
            print(f"step {step}: the critic's loss is {losses[0]:.3f}, the painter's {losses[1]:.3f}", flush=True)
    return paint


def picture(images, path, side=12):
    """Write the first side * side images."""
    from matplotlib.image import imsave

    tiles = np.pad(images[: side * side].reshape(side, side, 8, 8), ((0, 0), (0, 0), (1, 1), (1, 1)))
    tiles = tiles.transpose(0, 2, 1, 3).reshape(10 * side, -1)
    imsave(path, np.kron(tiles, np.ones((4, 4))), cmap="gray")


def main():
    """Play, draw, and tell which digits the drawn images look like."""
    parser = argparse.ArgumentParser(description="Train a generative adversarial network on scans of digits.")
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--batch", type=int, default=64, help="images per step over all ranks")
    parser.add_argument("--out", default="dcgan.png", help="the picture of drawn digits")
    args = parser.parse_args()
    init()
    ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)
    ms.set_seed(1)
    pixels, labels = load_digits(return_X_y=True)
    paint = train((pixels / 8 - 1).astype(np.float32).reshape(-1, 1, 8, 8), args.steps, args.batch, 5e-4)
    paint.set_train(False)
    codes = np.random.RandomState(2).standard_normal((500, CODES, 1, 1)).astype(np.float32)
    drawn = (paint(ms.Tensor(codes)).asnumpy().reshape(500, 64) + 1) / 2
    if get_rank() == 0:
        picture(drawn, args.out)
        # The scan that is nearest to each drawn image, and the other scan that is nearest to each of 500 scans.
        scans = pixels / 16
        apart = np.sqrt(((drawn[:, None] - scans[None]) ** 2).sum(-1))
        among = np.sqrt(((scans[:500, None] - scans[None]) ** 2).sum(-1)) + np.eye(500, len(scans)) * 99
        shares = np.bincount(labels[apart.argmin(1)], minlength=10) / 5
        print("drawn of each digit, in %: " + " ".join(f"{share:.0f}" for share in shares))
        distances = f"{np.median(apart.min(1)):.2f} to the nearest scan ({np.median(among.min(1)):.2f} among scans)"
        print(f"{distances} on {get_group_size()} rank(s); drew {args.out}")


if __name__ == "__main__":
    main()
