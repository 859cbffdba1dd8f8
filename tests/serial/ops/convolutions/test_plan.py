"""Which algorithm is chosen for a convolution and its gradients: a table."""

import ml_dtypes
import numpy as np
import pytest

from dist_ms.ops.capabilities import Capabilities
from dist_ms.ops.convolutions import plan
from dist_ms.ops.convolutions.conv_geometry import Geometry
from dist_ms.ops.convolutions.plan import Algorithm

F64, F32, BF16, F16 = map(np.dtype, (np.float64, np.float32, ml_dtypes.bfloat16, np.float16))
OLD = Capabilities()
PLAIN = Capabilities(avx2=True)
NARROW = Capabilities(bfloat16=True, float16=True, avx2=True)
AMX = Capabilities(amx=True, bfloat16=True, avx2=True)
ROUNDS = AMX._replace(rounds=True)


def images(n, channels, size, outputs, kernel, padding=0, stride=1, group=1, rank=2, dilation=1):
    """A geometry of equal sides."""
    sides = [((v,) * rank if isinstance(v, int) else v) for v in (size, kernel)]
    pairs = ((padding, padding),) * rank
    x, w = (n, channels, *sides[0]), (outputs, channels // group, *sides[1])
    return Geometry(x, w, (stride,) * rank, pairs, (dilation,) * rank, group)


WIDE = images(4, 64, 16, 64, 3, 1)
FORWARD = [
    (WIDE, F64, AMX, "WINDOWS"),
    (WIDE, F32, PLAIN, "WINOGRAD"),
    (WIDE, F32, ROUNDS, "DIRECT"),
    (WIDE, BF16, AMX, "DIRECT"),
    (images(4, 64, 16, 64, 3, 1, stride=2), F32, PLAIN, "DIRECT"),
    (images(4, 64, 16, 64, 3, 1, dilation=2), F32, PLAIN, "DIRECT"),
    (images(4, 64, 16, 64, 3, 3), F32, PLAIN, "DIRECT"),  # much padding
    (images(4, 48, 16, 64, 3, 1), F32, PLAIN, "DIRECT"),  # few channels
    (images(4, 64, 16, 72, 3, 1), F32, PLAIN, "DIRECT"),  # no whole vectors
    (images(4, 64, 8, 64, 3, 1), F32, PLAIN, "DIRECT"),  # few pixels
    (images(2, 64, 8, 512, 5, 2), F32, PLAIN, "COLUMNS"),
    (images(2, 128, 8, 512, 5, 2, group=2), F32, PLAIN, "DIRECT"),
    (images(2, 64, 8, 64, 5, 2), F32, PLAIN, "DIRECT"),  # few outputs
    (images(0, 64, 8, 512, 5, 2), F32, PLAIN, "DIRECT"),  # no pixels
    (images(2, 64, 4, 512, 3, 1, rank=3), F32, PLAIN, "DIRECT"),
    (images(64, 512, 16, 512, 5, 2), F32, AMX, "DIRECT"),  # columns of 800 MB
    (images(64, 64, 16, 512, 1), F32, PLAIN, "DIRECT"),
    (images(4, 64, 16, 64, 3, 1, stride=2), F32, OLD, "COLUMNS"),
    (images(4, 64, 16, 64, 3, 1, rank=1), F32, OLD, "COLUMNS"),
    (images(4, 64, 16, 64, 1, stride=2), F32, OLD, "COLUMNS"),
    (images(4, 64, 16, 64, 1), F32, OLD, "DIRECT"),
    (images(4, 64, 16, 63, 3, 1, stride=2), F32, OLD, "DIRECT"),  # few outputs
    (images(4, 64, 16, 64, 3, 1, stride=2), BF16, OLD, "DIRECT"),
    (images(4, 64, 16, 64, 3, 1, stride=2, group=2), F32, OLD, "DIRECT"),
    (images(4, 64, 8, 64, 3, 1, stride=2, rank=3), F32, OLD, "DIRECT"),
    (images(64, 64, 64, 64, 3, 1, dilation=2), F32, OLD, "DIRECT"),  # columns of 600 MB
    (images(64, 64, 16, 512, 1), F32, AMX, "COLUMNS"),
    (images(64, 64, 16, 512, 1), F32, ROUNDS, "DIRECT"),
    (images(64, 64, 16, 512, 1), BF16, AMX, "DIRECT"),
    (images(2, 64, 8, 512, 5, 2), BF16, PLAIN, "DIRECT"),
    (images(2, 64, 8, 512, 5, 2), BF16, NARROW, "COLUMNS"),
    (images(2, 64, 8, 512, 5, 2), BF16, AMX, "COLUMNS"),
    (images(2, 64, 8, 512, 5, 2), F16, AMX, "DIRECT"),
    (images(2, 64, 8, 512, 5, 2), F16, NARROW, "COLUMNS"),
    (images(64, 1, (50, 40), 96, (3, 40)), F32, PLAIN, "COLUMNS"),  # windows as wide as the images
    (images(64, 1, (50, 42), 96, (3, 40)), F32, PLAIN, "DIRECT"),  # pixels that share
    (images(64, 1, (50, 40), 32, (3, 40)), F32, PLAIN, "DIRECT"),  # few outputs
    (images(7, 64, 40, 96, 40), F32, PLAIN, "DIRECT"),  # few windows
    (images(64, 1, (77, 3), 96, (30, 3)), F32, PLAIN, "DIRECT"),  # a narrow window
    (images(16, 32, 40, 32, 40), F32, PLAIN, "COLUMNS"),  # one window over an image
    (images(16, 32, 40, 32, 40), BF16, PLAIN, "COLUMNS"),
    (images(16, 32, 40, 32, 40), BF16, NARROW, "DIRECT"),
    (images(7, 32, 40, 32, 40), F32, PLAIN, "DIRECT"),  # few images
    (images(8, 16, 8, 32, 8), F32, PLAIN, "DIRECT"),  # small ones
    (images(16, 32, 40, 32, 40, 1), F32, PLAIN, "DIRECT"),  # several windows
    (images(16, 32, 40, 32, 40, group=2), F32, PLAIN, "DIRECT"),
    (images(32, 64, 8, 1, 1), F32, PLAIN, "DIRECT"),  # few pixels
    (images(32, 64, 32, 1, 1), F32, PLAIN, "COLUMNS"),  # pixels with few outputs
    (images(32, 64, 32, 7, 1), BF16, PLAIN, "COLUMNS"),
    (images(32, 64, 32, 7, 1), BF16, NARROW, "DIRECT"),
    (images(32, 64, 32, 8, 1), F32, PLAIN, "DIRECT"),
    (images(32, 64, 32, 4, 1, group=2), F32, PLAIN, "DIRECT"),
    (images(32, 64, 64, 1, 1, stride=2), F32, PLAIN, "DIRECT"),
    (images(3, 18, 40, 18, 9, 4, group=18, rank=1), F32, PLAIN, "SIGNALS"),
    (images(3, 18, 6, 18, 3, 1, group=18, rank=3), F32, PLAIN, "OWN_KERNELS"),
    (images(3, 18, 9, 18, 3, 1, group=18), F32, PLAIN, "DIRECT_LAST"),
    (images(3, 18, 9, 18, 3, 1, group=18), BF16, NARROW, "DIRECT"),
    (images(8, 3, 112, 384, 16, stride=16), BF16, NARROW, "COLUMNS"),  # patches
    (images(8, 3, 112, 384, 16, stride=16), BF16, AMX, "DIRECT"),
    (images(8, 3, 112, 384, 16, stride=16), BF16, PLAIN, "DIRECT"),
    (images(8, 3, 112, 384, 16, stride=16), F32, PLAIN, "DIRECT"),
    (images(8, 3, 112, 384, 16, stride=16), F16, NARROW, "DIRECT"),
    (images(8, 3, 112, 383, 16, stride=16), BF16, NARROW, "DIRECT"),  # fewer outputs
    (images(8, 3, 112, 384, 8, stride=8), BF16, NARROW, "DIRECT"),  # smaller windows
    (images(8, 3, 112, 384, 16, stride=15), BF16, NARROW, "DIRECT"),  # that overlap
    (images(8, 3, 112, 384, 16, 8, stride=16), BF16, NARROW, "DIRECT"),
    (images(8, 6, 112, 384, 16, stride=16, group=2), BF16, NARROW, "DIRECT"),
    (images(64, 3, 224, 384, 16, stride=16), BF16, NARROW, "DIRECT"),  # columns of 40 MB
    (images(4, 8, 40, 32, 20), BF16, AMX, "ROWS"),
    (images(4, 8, 40, 32, 20), BF16, NARROW, "DIRECT"),
    (images(4, 8, 40, 32, 20), F32, AMX, "DIRECT"),
    (images(4, 11, 40, 32, 20), BF16, AMX, "DIRECT"),  # channels that fill a tile
    (images(4, 4, 40, 32, 20), BF16, AMX, "DIRECT"),
    (images(4, 8, 40, 24, 20), BF16, AMX, "DIRECT"),  # few outputs
    (images(4, 8, 40, 32, 8), BF16, AMX, "DIRECT"),  # small windows
    (images(4, 8, 40, 32, 9, stride=2), BF16, AMX, "DIRECT"),
    (images(4, 8, 60, 32, 20, dilation=2), BF16, AMX, "DIRECT"),
    (images(1, 8, 40, 32, 20), BF16, AMX, "DIRECT"),  # few pixels
    (images(4, 16, 40, 64, 20, group=2), BF16, AMX, "DIRECT"),
    (images(64, 8, 80, 32, 9), BF16, AMX, "DIRECT"),  # 50 MB of rows
    (images(3, 18, 20, 18, 7, 3, group=18), BF16, AMX, "IN_FLOAT32"),  # many products per number
    (images(3, 18, 20, 18, 7, 3, group=18), BF16, NARROW, "DIRECT"),
    (images(3, 18, 20, 18, 7, 3, group=18), BF16, PLAIN, "DIRECT"),  # in float32 anyhow
    (images(3, 18, 20, 18, 7, 3, group=18), F16, NARROW, "DIRECT"),
    (images(3, 18, 20, 18, 9, 4, group=18, stride=2), BF16, AMX, "DIRECT"),
    (images(3, 18, 9, 18, 5, group=18), BF16, AMX, "DIRECT"),
    (images(32, 1, 32, 32, 3, 1), BF16, AMX, "IN_FLOAT32"),  # a single channel
    (images(32, 1, 32, 32, 3, 1), BF16, NARROW, "DIRECT"),
    (images(64, 1, 28, 15, 5), BF16, NARROW, "IN_FLOAT32"),  # few outputs, too
    (images(64, 4, 28, 15, 5), BF16, NARROW, "IN_FLOAT32"),
    (images(64, 5, 28, 15, 5), BF16, NARROW, "DIRECT"),
    (images(64, 4, 28, 16, 5), BF16, NARROW, "DIRECT"),
    (images(32, 1, 32, 32, 3, 1), BF16, PLAIN, "DIRECT"),
    (images(32, 1, 32, 32, (9, 1)), BF16, NARROW, "DIRECT"),
    (images(2, 1, 16, 32, 3, 1), BF16, AMX, "DIRECT"),  # little to do
    (images(32, 1, 32, 32, 5, 2), BF16, AMX, "DIRECT"),  # a kernel that fills a tile
    (images(32, 1, 32, 32, 5, 2, dilation=2), BF16, AMX, "IN_FLOAT32"),
    (images(32, 4, 32, 32, 3, 1), BF16, AMX, "DIRECT"),
]
INPUT_GRADIENT = [
    (WIDE, F32, PLAIN, "WINOGRAD"),
    (WIDE, F32, ROUNDS, "DIRECT"),
    (WIDE, F64, PLAIN, "WINDOWS"),
    (images(64, 1, (50, 40), 96, (3, 40)), F32, PLAIN, "COLUMNS"),
    (images(64, 4, 106, 32, 7, rank=1), F32, PLAIN, "COLUMNS"),  # few channels: a signal
    (images(2, 1, (12, 22, 22), 16, 3, rank=3), F32, PLAIN, "COLUMNS"),  # a volume
    (images(4, 1, 64, 1, 31), F32, PLAIN, "COLUMNS"),  # a filter of images
    (images(64, 8, (50, 42), 96, 3), F32, PLAIN, "DIRECT"),  # many channels
    (images(64, 4, (50, 42), 4, 3), F32, PLAIN, "DIRECT"),  # few outputs
    (images(64, 7, (50, 42), 14, 3), F32, PLAIN, "COLUMNS"),  # no power of two
    (images(64, 7, (50, 42), 13, 3), F32, PLAIN, "DIRECT"),
    (images(64, 1, 28, 4, 5), F32, PLAIN, "COLUMNS"),  # long rows of a single channel
    (images(64, 1, 28, 3, 5), F32, PLAIN, "DIRECT"),
    (images(64, 1, (28, 9), 7, 5), F32, PLAIN, "DIRECT"),  # short ones
    (images(64, 1, 28, 7, 5, stride=2), F32, PLAIN, "DIRECT"),
    (images(64, 6, 12, 16, 5), BF16, NARROW, "COLUMNS"),
    (images(64, 6, 12, 16, 5), BF16, AMX, "DIRECT"),  # in tiles
    (images(64, 6, 12, 16, 5), F32, AMX, "COLUMNS"),
    (images(64, 6, 12, 16, 5), F16, AMX._replace(float16=True), "COLUMNS"),
    (images(4, 1, 64, 1, 31), BF16, AMX, "COLUMNS"),  # tiles for a channel, and a large kernel
    (images(16, 1, 28, 12, 5, dilation=2), BF16, AMX, "DIRECT"),
    (images(8, 3, 112, 64, 7, 3, stride=2), BF16, AMX, "DIRECT"),
    (images(8, 3, 111, 64, 7, 3, stride=2), BF16, AMX, "COLUMNS"),  # a stride that does not divide
    (images(8, 3, 112, 64, 7, 3, stride=2, dilation=2), BF16, AMX, "COLUMNS"),
    (images(64, 3, (112, 8), 64, 3, 1, stride=2), BF16, AMX, "COLUMNS"),  # short rows with a stride
    (images(64, 1, (48, 40), 96, 1), F32, PLAIN, "DIRECT"),  # no windows
    (images(64, 2, (50, 42), 96, 3, group=2), F32, PLAIN, "DIRECT"),
    (images(1, 1, 6, 96, 3), F32, PLAIN, "DIRECT"),  # little to do
    (images(1, 1, 512, 96, 13), F32, PLAIN, "DIRECT"),  # columns of 160 MB for an image
    (images(16, 32, 40, 32, 40), F32, PLAIN, "WHOLE"),
    (images(7, 32, 40, 32, 40), F32, PLAIN, "WHOLE"),
    (images(33, 32, 40, 32, 40), F32, PLAIN, "COLUMNS"),  # kernels are fewer than images
    (images(33, 32, 40, 32, 40), BF16, NARROW, "DIRECT"),
    (images(32, 64, 32, 1, 1), F32, PLAIN, "DIRECT"),
    (images(3, 18, 40, 18, 9, 4, group=18, rank=1), F32, PLAIN, "SIGNALS"),
    (images(3, 18, 6, 18, 3, 1, group=18, rank=3), F32, PLAIN, "OWN_KERNELS"),
    (images(3, 18, 6, 18, 3, 1, group=18, rank=3), BF16, AMX, "OWN_KERNELS"),
    (images(3, 18, 6, 18, 3, 3, group=18, rank=3), F32, PLAIN, "DIRECT"),  # windows of nothing but padding
    (images(3, 18, 6, 18, 3, 1, group=18, rank=3, stride=2), F32, PLAIN, "DIRECT"),
    (images(3, 18, 9, 18, 3, 1, group=18, dilation=2), F32, PLAIN, "OWN_KERNELS"),
    (images(3, 18, 9, 18, 3, 1, group=18, dilation=2), BF16, AMX, "OWN_KERNELS"),
    (images(3, 18, 9, 18, 3, 1, group=18, dilation=2, stride=2), F32, PLAIN, "DIRECT"),
    (images(3, 18, 9, 18, 3, 1, group=18), F32, PLAIN, "DIRECT"),
    (images(3, 18, 9, 18, 3, 1, group=18), BF16, AMX, "IN_FLOAT32"),
    (images(3, 18, 9, 18, 3, 1, group=18), BF16, PLAIN, "DIRECT"),
    (images(3, 18, 9, 18, 3, 1, group=18), F32, AMX, "DIRECT"),
    (images(3, 18, 9, 18, 3, group=18), BF16, AMX, "DIRECT"),  # few products per number
    (images(3, 18, 9, 18, 3, 1, group=18), BF16, NARROW, "DIRECT"),
    (images(3, 18, 9, 18, 3, group=18, stride=2), BF16, AMX, "IN_FLOAT32"),
    (images(3, 18, 9, 18, 3, group=18, stride=2), BF16, NARROW, "IN_FLOAT32"),
]
WEIGHT_GRADIENT = [
    (WIDE, F32, PLAIN, "WINOGRAD"),
    (images(64, 64, 96, 64, 3, 1), F32, PLAIN, "DIRECT"),  # more tiles than are kept at once
    (WIDE, F64, PLAIN, "WINDOWS"),
    (images(16, 32, 40, 32, 40), F32, PLAIN, "COLUMNS"),
    (images(16, 32, 40, 32, 40), BF16, NARROW, "DIRECT"),
    (images(32, 64, 32, 1, 1), BF16, PLAIN, "COLUMNS"),
    (images(32, 64, 32, 3, 3, 1), F32, PLAIN, "OUTPUT_COLUMNS"),  # few outputs
    (images(32, 64, 32, 3, 3, 1), BF16, PLAIN, "OUTPUT_COLUMNS"),
    (images(32, 64, 32, 3, 3, 1), BF16, NARROW, "DIRECT"),
    (images(32, 64, 32, 5, 3, 1), F32, PLAIN, "DIRECT"),
    (images(32, 40, 32, 3, 3, 1), F32, PLAIN, "DIRECT"),  # few channels, too
    (images(32, 64, 32, 3, 3, 1, stride=2), F32, PLAIN, "DIRECT"),
    (images(32, 64, 32, 3, 3, 3), F32, PLAIN, "DIRECT"),  # windows of nothing but padding
    (images(2, 64, 32, 3, 3, 1), F32, PLAIN, "DIRECT"),  # few pixels
    (images(64, 64, 64, 4, 5, 1), F32, PLAIN, "DIRECT"),  # columns of 100 MB
    (images(8, 96, 56, 192, 2, stride=2), F32, PLAIN, "COLUMNS"),  # patches
    (images(8, 96, 56, 192, 2, stride=2), BF16, NARROW, "COLUMNS"),
    (images(8, 96, 56, 192, 2, stride=2), BF16, AMX, "DIRECT"),
    (images(8, 96, 56, 191, 2, stride=2), F32, PLAIN, "DIRECT"),
    (images(8, 128, (8, 16), 512, 1), BF16, NARROW, "COLUMNS"),
    (images(8, 64, (8, 16), 512, 1), BF16, NARROW, "DIRECT"),
    (images(64, 128, 16, 512, 1), BF16, AMX, "DIRECT"),
    (images(3, 18, 6, 18, 3, 1, group=18, rank=3), BF16, PLAIN, "OWN_KERNELS"),
    (images(3, 18, 6, 18, 3, 1, group=18, rank=3), F32, PLAIN, "OWN_KERNELS"),
    (images(3, 18, 9, 18, 5, 2, group=18), BF16, PLAIN, "OWN_KERNELS"),
    (images(3, 18, 9, 18, (3, 5), 2, group=18), F32, PLAIN, "OWN_KERNELS"),
    (images(3, 18, 9, 18, (5, 3), 2, group=18), F32, PLAIN, "DIRECT"),  # short rows
    (images(3, 18, 9, 18, (5, 3), 2, group=18), BF16, PLAIN, "OWN_KERNELS"),
    (images(3, 18, 9, 18, 3, 1, group=18, dilation=2, stride=2), F32, PLAIN, "OWN_KERNELS"),
    (images(3, 18, 9, 18, 3, 1, group=18), BF16, PLAIN, "DIRECT"),
    (images(3, 18, 40, 18, 9, 4, group=18, rank=1), BF16, PLAIN, "SIGNALS"),
]


@pytest.mark.parametrize(
    "choose, at, dtype, cpu, wanted",
    [
        *((plan.forward, *row) for row in FORWARD),
        *((plan.input_gradient, *row) for row in INPUT_GRADIENT),
        *((plan.weight_gradient, *row) for row in WEIGHT_GRADIENT),
    ],
)
def test_what_is_chosen(choose, at, dtype, cpu, wanted):
    assert choose(at, dtype, cpu).algorithm is Algorithm[wanted]


@pytest.mark.parametrize("choose", [plan.forward, plan.input_gradient, plan.weight_gradient])
@pytest.mark.parametrize("dtype", [F32, BF16])
def test_channels_of_few_outputs_are_repeated(choose, dtype):
    for rank in (1, 2, 3):
        assert choose(images(3, 18, 9, 36, 3, 1, group=18, rank=rank), dtype, AMX).algorithm is Algorithm.REPEATED
    assert choose(images(3, 4, 9, 16, 3, 1, group=4), dtype, AMX).algorithm is Algorithm.REPEATED
    for at in (
        images(3, 18, 9, 90, 3, 1, group=18),  # five outputs
        images(3, 5, 9, 15, 3, 1, group=5),  # no vector of them
        images(3, 36, 9, 36, 3, 1, group=18),  # two channels each
    ):
        assert choose(at, dtype, AMX).algorithm is Algorithm.DIRECT


def test_one_window_over_an_image():
    at = images(3, 16, (32, 33), 5, (32, 33))
    many = images(6, 16, (32, 33), 5, (32, 33))
    for choose in (lambda *case: plan.forward(*case, True), plan.input_gradient):
        assert choose(at, F32, PLAIN).algorithm is Algorithm.WHOLE
        assert choose(at, BF16, PLAIN).algorithm is Algorithm.DIRECT
        assert choose(at, BF16, NARROW).algorithm is Algorithm.WHOLE
        assert choose(images(3, 16, 8, 5, 8), F32, PLAIN).algorithm is Algorithm.DIRECT, "a small one"
        assert choose(many, F32, PLAIN).algorithm is Algorithm.DIRECT, "kernels are fewer than images"
    assert plan.forward(at, F32, PLAIN, False).algorithm is Algorithm.DIRECT
    assert plan.forward(many, F32, PLAIN, True, True).algorithm is Algorithm.WHOLE, "all row-major"


@pytest.mark.parametrize(
    "shape, group, merged",
    [
        ((128, 8, 3, 3), 16, 2),
        ((24, 4, 3, 3), 6, 3),  # not 4, which does not divide the groups
        ((20, 3, 3, 3), 5, 1),
        ((12, 5, 3), 2, 2),
        ((64, 2, 3, 3), 8, 2),  # 8 outputs of 2 channels
        ((64, 1, 3, 3), 64, 1),  # depthwise
        ((64, 64, 3, 3), 1, 1),
        ((64, 16, 3, 3), 4, 1),
    ],
)
def test_how_many_groups_are_taken_as_one(shape, group, merged):
    rank = len(shape) - 2
    x = (2, shape[1] * group, *(9,) * rank)
    at = Geometry(x, shape, (1,) * rank, ((1, 1),) * rank, (1,) * rank, group)
    assert plan.groups_at_once(at, BF16, NARROW) == merged
    assert plan.groups_at_once(at, F32, NARROW) == plan.groups_at_once(at, BF16, PLAIN) == 1
