"""Which algorithm makes a convolution or one of its gradients: a function of shapes, the type and the CPU.

Nothing is computed here; `conv_arrays` runs what is chosen.
"""

from __future__ import annotations

import math
from enum import Enum, auto
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dist_ms.common.settings.environment import value_of
from dist_ms.ops.capabilities import Capabilities
from dist_ms.ops.convolutions.conv_geometry import Geometry

_F16, _F32, _F64 = np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)

# Winograd: below these oneDNN's direct convolution is as fast (measured on 2 cores with AVX-512). A tile of the result
# has 4 x 4 pixels and 36 numbers; the gradient of the weight needs all tiles at once, so many numbers at most.
TILE = 4
_LANES, _LEAST_CHANNELS, _LEAST_IMAGE_PIXELS, _MOST_TILES = 16, 64, 512, 1 << 25
_choice = value_of("DIST_MS_WINOGRAD")
if _choice not in ("0", "1"):
    raise ImportError(f"DIST_MS_WINOGRAD must be 0 or 1, but got '{_choice}'.")
_winograd_allowed = _choice == "1"

# Columns, where the products win, measured on 2 cores with AVX2, AVX-512 and AMX.
_FEW_PIXELS, _FEW_FOR_GRADIENT = 512, 2048
_LEAST_OUTPUTS, _LEAST_ON_AMX, _LEAST_FOR_GRADIENT = 512, 256, 128
_MOST_COLUMNS = 1 << 23  # numbers: 32 MB of float32
# oneDNN's gradient of the input has a vector's lanes for the channels, and its kernels share what neighbouring
# pixels of a row read: both are idle where these are few (1.1 to 300 x on AVX-512), and where they are no power of two
# (1.1 to 2 x on AVX2).
FEW_CHANNELS = 7
_OUTPUTS_PER_CHANNEL, _PER_ODD_CHANNEL, _PER_PLANE, _LONG, _LEAST_COLUMNS = 8, 2, 4, 16, 1 << 16
_FEW_IN_ROW, _LEAST_LENGTH, _LEAST_PIXELS, _LEAST_WIDE, _LEAST_WIDE_COLUMNS = 2, 4, 32, 64, 1 << 14
_LEAST_WINDOW = 1 << 14  # numbers of a window over the whole image
_LEAST_PATCH = 384  # numbers of a window, and outputs, from which on patches are quicker (1.2 to 2.5 x on AMD)
# oneDNN's bfloat16 gradient of the input in AMX tiles, beside a number of such a column: what a pixel and 32 outputs
# cost for each place of the kernel, in tiles of 16 pixels of a row, and a row where there is a stride (fitted to 660
# random shapes).
_PIXEL_OF_TILE, _ROW_WITH_STRIDE, _TILE_PIXELS, _TILE_OUTPUTS = 0.4, 128, 16, 32
# Windows over whole images, and single pixels with few outputs, have nothing to share: measured on 2 cores with AVX2
# (1.1 to 20 x, and 1.2 to 5 x).
_LEAST_BATCH, _LEAST_WHOLE = 8, 1 << 14
_LANES_OF_OUTPUTS, _LEAST_THIN = 8, 1 << 18
# oneDNN's gradient of the weight has a vector's lanes for the outputs, too (1.2 to 3 x on AVX2).
FEW_OUTPUTS, _LEAST_PER_FEW = 4, 48

# Channels of a group from which on merging no longer gains, measured on AMX.
_ENOUGH_PER_GROUP = 16
# Channels, sides of the windows and pixels for which rows of windows as channels are quicker (1.3 x).
_FEWEST_IN_ROWS, _MOST_IN_ROWS, _LEAST_ROW, _LEAST_ROW_PIXELS = 5, 10, 9, 1 << 10
# Products per number cast from which on float32 is quicker for channels with a kernel each; results, and places of the
# kernel of a single channel without and with AMX tiles, and the most channels (measured with AMX and without).
_LEAST_DEPTHWISE, _LEAST_DEPTHWISE_GRADIENT, _LEAST_WIDENED, _LEAST_IN_TILES, _FEWEST_CHANNELS = 12, 4, 1 << 15, 16, 4
# Outputs of a channel up to which it is quicker to repeat it (1.3 to 20 x).
_MOST_OF_CHANNEL = 4
# Pixels of a window's row, in 16 bits of any side, up to which oneDNN's gradients of a depthwise weight are the quicker
# ones (longer: 1.4 to 35 x).
_NARROW = 3


class Algorithm(Enum):
    """How a convolution, or a gradient of one, is made.

    Attributes:
        WINDOWS: NumPy's products of windows, of float64.
        WINOGRAD: F(4x4, 3x3), a quarter of the multiplications.
        COLUMNS: a product of written columns.
        OUTPUT_COLUMNS: a product of those of the result's gradient.
        WHOLE: a product of the arrays as they lie: one window covers an image.
        SIGNALS: as images of one row.
        OWN_KERNELS: code of ours, where channels have a kernel each.
        REPEATED: as of channels that have a kernel each, of which there are as many as outputs.
        ROWS: oneDNN's over signals, whose channels are the rows of the windows.
        IN_FLOAT32: in float32, rounded.
        DIRECT: oneDNN's; some groups may be taken as one.
        DIRECT_LAST: oneDNN's over channels-last memory, whatever memory the input has.
    """

    WINDOWS = auto()
    WINOGRAD = auto()
    COLUMNS = auto()
    OUTPUT_COLUMNS = auto()
    WHOLE = auto()
    SIGNALS = auto()
    OWN_KERNELS = auto()
    REPEATED = auto()
    ROWS = auto()
    IN_FLOAT32 = auto()
    DIRECT = auto()
    DIRECT_LAST = auto()


class Plan(NamedTuple):
    """What is run.

    Attributes:
        algorithm: how.
        merged: how many groups are taken as one.
    """

    algorithm: Algorithm
    merged: int = 1


@lru_cache(4096)
def forward(at: Geometry, dtype: np.dtype, cpu: Capabilities, covered: bool = False, in_rows: bool = False) -> Plan:
    """Choose for a convolution.

    Args:
        at: its geometry.
        dtype: in which it is computed.
        cpu: what that can do.
        covered: one window covers an image, the result has the inputs' type, and no ReLU is asked for.
        in_rows: input and weight are row-major.
    """
    if dtype == _F64:
        return Plan(Algorithm.WINDOWS)
    if dtype == _F32 and suits_winograd(at, cpu):
        return Plan(Algorithm.WINOGRAD)
    if has_repeated(at):
        return Plan(Algorithm.REPEATED)
    if at.is_depthwise(1):
        return Plan(Algorithm.SIGNALS)
    if at.is_depthwise(3):
        return Plan(Algorithm.OWN_KERNELS)
    if covered and is_whole(at, dtype, cpu) and (in_rows or has_fewer_images(at)):
        return Plan(Algorithm.WHOLE)
    columns = suits_columns(at, dtype, cpu) or has_patches(at, dtype, cpu) or suits_old_cpu(at, dtype, cpu)
    if columns or is_wide(at) or has_plain_product(at, dtype, cpu):
        return Plan(Algorithm.COLUMNS)
    if suits_rows(at, dtype, cpu):
        return Plan(Algorithm.ROWS)
    if suits_float32(at, dtype, cpu):
        return Plan(Algorithm.IN_FLOAT32)
    if dtype == _F32 and at.is_depthwise(2):
        return Plan(Algorithm.DIRECT_LAST)
    return Plan(Algorithm.DIRECT, groups_at_once(at, dtype, cpu))


@lru_cache(4096)
def input_gradient(at: Geometry, dtype: np.dtype, cpu: Capabilities) -> Plan:
    """Choose for the gradient of a convolution's input, which is a transposed convolution.

    Args:
        at: the convolution's geometry.
        dtype: in which it is computed.
        cpu: what that can do.
    """
    if dtype == _F64:
        return Plan(Algorithm.WINDOWS)
    if dtype == _F32 and suits_winograd(at, cpu):
        return Plan(Algorithm.WINOGRAD)
    if has_repeated(at):
        return Plan(Algorithm.REPEATED)
    if at.is_depthwise(1):
        return Plan(Algorithm.SIGNALS)
    if suits_turned_kernels(at):
        return Plan(Algorithm.OWN_KERNELS)
    if is_whole(at, dtype, cpu) and has_fewer_images(at):
        return Plan(Algorithm.WHOLE)
    few = has_few_channels(at) and not suits_tiles(at, dtype, cpu)
    if covers_images(at, dtype, cpu) or suits_columns(at, dtype, cpu) or few or is_wide(at):
        return Plan(Algorithm.COLUMNS)
    if suits_float32_gradient(at, dtype, cpu):
        return Plan(Algorithm.IN_FLOAT32)
    return Plan(Algorithm.DIRECT, groups_at_once(at, dtype, cpu))


@lru_cache(4096)
def weight_gradient(at: Geometry, dtype: np.dtype, cpu: Capabilities) -> Plan:
    """Choose for the gradient of a convolution's weight.

    Args:
        at: the convolution's geometry.
        dtype: in which it is computed.
        cpu: what that can do.
    """
    if dtype == _F64:
        return Plan(Algorithm.WINDOWS)
    if dtype == _F32 and suits_winograd(at, cpu) and tiles(at.x, at.y) <= _MOST_TILES:
        return Plan(Algorithm.WINOGRAD)
    if has_repeated(at):
        return Plan(Algorithm.REPEATED)
    if at.is_depthwise(1):
        return Plan(Algorithm.SIGNALS)
    if suits_own_weights(at, dtype):
        return Plan(Algorithm.OWN_KERNELS)
    columns = suits_columns(at, dtype, cpu, of_weight=True) or has_patches(at, dtype, cpu, of_weight=True)
    if columns or has_plain_product(at, dtype, cpu) or is_wide(at):
        return Plan(Algorithm.COLUMNS)
    if has_few_outputs(at, dtype, cpu):
        return Plan(Algorithm.OUTPUT_COLUMNS)
    return Plan(Algorithm.DIRECT, groups_at_once(at, dtype, cpu))


def suits_winograd(at: Geometry, cpu: Capabilities) -> bool:
    """Whether a float32 convolution gains: 3 x 3 with stride 1, wide, in whole vectors, of many pixels.

    None does where oneDNN may round the factors to bfloat16.
    """
    x, w = at.x, at.w
    return (
        w[2:] == (3, 3)
        and at.stride == (1, 1) == at.dilation
        and at.group == 1
        and min(w[:2]) >= _LEAST_CHANNELS
        and not (w[0] % _LANES or w[1] % _LANES)
        and x[0] * x[2] * x[3] >= _LEAST_IMAGE_PIXELS
        and min(x[2:]) >= TILE - 1
        and max(max(pair) for pair in at.padding) <= 2
        and _winograd_allowed
        and not cpu.rounds
    )


def has_repeated(at: Geometry) -> bool:
    """Whether channels have several outputs each, but few."""
    return 1 < at.outputs_of_channel <= _MOST_OF_CHANNEL and at.w[0] >= _LANES


def suits_turned_kernels(at: Geometry) -> bool:
    """Whether the gradient of an input whose channels have a kernel each is a convolution that oneDNN has no code for.

    It has some for images without a dilation.
    """
    if math.prod(at.stride) != 1 or not at.has_narrow_borders:
        return False
    return at.is_depthwise(3) or (at.is_depthwise(2) and max(at.dilation) > 1)


def suits_own_weights(at: Geometry, dtype: np.dtype) -> bool:
    """Whether oneDNN has plain loops for the gradient of a weight with a kernel per channel: it is long, or dilated."""
    if not at.is_depthwise(2):
        return at.is_depthwise(3)
    return max(at.dilation) > 1 or (at.w[3] if dtype == _F32 else max(at.w[2:])) > _NARROW


def tiles(x: tuple, y: tuple) -> int:
    """Count the numbers of all of Winograd's tiles."""
    rows, columns = (-(-n // TILE) for n in y[2:])
    return 36 * x[0] * rows * columns * max(x[1], y[1])


def suits_columns(at: Geometry, dtype: np.dtype, cpu: Capabilities, of_weight: bool = False) -> bool:
    """Whether a convolution, or its weight's gradient, gains as a product: few pixels or AMX, many outputs."""
    y, w = at.y, at.w
    pixels, outputs = y[0] * math.prod(y[2:]), w[0]
    if at.group != 1 or outputs < _LEAST_ON_AMX or len(w) > 4 or not 0 < pixels * math.prod(w[1:]) <= _MOST_COLUMNS:
        return False
    if dtype != _F32 and not (cpu.float16 if dtype == _F16 else cpu.bfloat16):
        return False
    if pixels <= _FEW_PIXELS and outputs >= _LEAST_OUTPUTS:
        return True
    if dtype == _F32:
        return pixels >= _FEW_PIXELS and cpu.amx and not cpu.rounds
    return of_weight and pixels <= _FEW_FOR_GRADIENT and w[1] >= _LEAST_FOR_GRADIENT


def has_patches(at: Geometry, dtype: np.dtype, cpu: Capabilities, of_weight: bool = False) -> bool:
    """Whether large windows lie side by side, so that columns hold each pixel once: without AMX their product gains.

    So it does for the weight's gradient, and in bfloat16.
    """
    y, w = at.y, at.w
    elements = math.prod(w[1:])
    return (
        not cpu.amx
        and w[2:] == at.stride
        and elements >= _LEAST_PATCH
        and w[0] >= (_LEAST_PATCH // 2 if of_weight else _LEAST_PATCH)
        and at.group == 1 == math.prod(at.dilation) < math.prod(at.stride)
        and not any(map(any, at.padding))
        and y[0] * math.prod(y[2:]) * elements <= _MOST_COLUMNS
        and dtype != _F16
        and (of_weight or (dtype != _F32 and cpu.bfloat16))
    )


def suits_old_cpu(at: Geometry, dtype: np.dtype, cpu: Capabilities) -> bool:
    """Whether there are many outputs and no AVX2, so that oneDNN's products have better code than its convolutions."""
    y, w = at.y, at.w
    return (
        dtype == _F32
        and not cpu.avx2
        and at.group == 1
        and len(w) <= 4
        and w[0] >= _LEAST_WIDE
        and math.prod(w[2:]) * math.prod(at.stride) > 1
        and 0 < y[0] * math.prod(y[2:]) * math.prod(w[1:]) <= _MOST_COLUMNS
    )


def is_wide(at: Geometry) -> bool:
    """Whether windows are about as wide as the images, so that a row of the result has few pixels to share anything."""
    y, w = at.y, at.w
    pixels = y[0] * math.prod(y[2:])
    return (
        at.group == 1
        and y[-1] <= _FEW_IN_ROW
        and w[-1] >= _LEAST_LENGTH
        and w[0] >= _LEAST_WIDE
        and pixels >= _LEAST_PIXELS
        and _LEAST_WIDE_COLUMNS <= pixels * math.prod(w[1:]) <= _MOST_COLUMNS
    )


def covers_images(at: Geometry, dtype: np.dtype, cpu: Capabilities) -> bool:
    """Whether one window covers an image of so many that their product with the weight is quicker."""
    if at.x[1:] != at.w[1:] or not at.is_plain or (dtype != _F32 and cpu.bfloat16):
        return False
    return at.x[0] >= _LEAST_BATCH and math.prod(at.x) >= _LEAST_WHOLE


def has_plain_product(at: Geometry, dtype: np.dtype, cpu: Capabilities) -> bool:
    """Whether a convolution, or its weight's gradient, is made quicker by a product of the images as they lie.

    One window covers an image, or windows are pixels with fewer outputs than a vector has lanes.
    """
    if covers_images(at, dtype, cpu):
        return True
    thin = at.is_plain and math.prod(at.w[2:]) == 1 == at.group and at.w[0] < _LANES_OF_OUTPUTS
    return thin and math.prod(at.x) >= _LEAST_THIN and (dtype == _F32 or not cpu.bfloat16)


def is_whole(at: Geometry, dtype: np.dtype, cpu: Capabilities) -> bool:
    """Whether one large window covers an image."""
    return (
        at.x[1:] == at.w[1:]
        and at.group == 1
        and math.prod(at.w[1:]) >= _LEAST_WINDOW
        and not any(map(any, at.padding))
        and (dtype == _F32 or (dtype != _F16 and cpu.bfloat16))
    )


def has_fewer_images(at: Geometry) -> bool:
    """Whether it costs less to turn the images into the kernels' order of memory than the kernels into the images'."""
    return at.x[0] <= at.w[0]


def has_few_channels(at: Geometry) -> bool:
    """Whether an input has so few channels that its gradient is made quicker by adding up columns."""
    y = at.y
    outputs, channels, *kernel = at.w
    of_image = math.prod(y[2:]) * math.prod(at.w[1:])
    per_channel = _PER_ODD_CHANNEL if channels > 4 else _PER_PLANE if at.has_long_rows else _OUTPUTS_PER_CHANNEL
    return (
        at.group == 1
        and channels <= FEW_CHANNELS
        and (outputs >= per_channel * channels or (channels == 1 and kernel[-1] >= _LONG))
        and math.prod(kernel) > 1
        and y[0] * of_image >= _LEAST_COLUMNS
        and of_image <= _MOST_COLUMNS
    )


def suits_tiles(at: Geometry, dtype: np.dtype, cpu: Capabilities) -> bool:
    """Whether oneDNN's gradient of an input of few channels beats columns: in bfloat16 AMX tiles share a row's pixels.

    It has old code for strides with a dilation, and for those that do not divide the images' sizes.
    """
    y, stride, kernel = at.y, at.stride, at.w[2:]
    steps = math.prod(stride)
    divides = not any(n % s for n, s in zip(at.x[2:], stride))
    if (
        dtype.itemsize != 2
        or dtype == _F16
        or not cpu.amx
        or (steps > 1 and (math.prod(at.dilation) > 1 or not divides))
    ):
        return False
    rows = math.prod(at.x) // (at.x[1] * at.x[-1]) * stride[-1]
    pixels = rows * -(-at.x[-1] // (_TILE_PIXELS * stride[-1])) * _TILE_PIXELS
    by_tiles = _PIXEL_OF_TILE * pixels * math.prod(kernel) / steps * -(-at.w[0] // _TILE_OUTPUTS)
    if steps > 1:
        by_tiles += _ROW_WITH_STRIDE * rows
    return by_tiles < y[0] * math.prod(y[2:]) * math.prod(at.w[1:]) + math.prod(at.x)


def suits_rows(at: Geometry, dtype: np.dtype, cpu: Capabilities) -> bool:
    """Whether AMX tiles of bfloat16 are fuller with a window's row as a pixel's channels: few ones, large windows."""
    y, w = at.y, at.w
    if not _may_widen(dtype, cpu) or not cpu.amx or len(w) != 4 or at.group != 1 or at.stride[0] != 1:
        return False
    rows = y[0] * (y[2] + w[2] - 1) * y[3]
    return (
        _FEWEST_IN_ROWS <= w[1] <= _MOST_IN_ROWS
        and min(w[2:]) >= _LEAST_ROW
        and w[0] >= _TILE_OUTPUTS
        and at.dilation == (1, 1)
        and y[0] * y[2] * y[3] >= _LEAST_ROW_PIXELS
        and rows * w[1] * w[3] <= _MOST_COLUMNS
    )


def suits_float32(at: Geometry, dtype: np.dtype, cpu: Capabilities) -> bool:
    """Whether a convolution in bfloat16 is made quicker in float32, as oneDNN's code for it is old.

    With AMX so it is for channels with a kernel each, and for a single one with a small or a dilated kernel; without,
    for few channels and outputs.
    """
    if not _may_widen(dtype, cpu):
        return False
    if at.is_depthwise(2):
        return cpu.amx and math.prod(at.stride) == 1 and _products_per_number(at) >= _LEAST_DEPTHWISE
    kernel = at.w[2:]
    if at.group != 1 or kernel[-1] == 1 or math.prod(at.y) < _LEAST_WIDENED:
        return False
    if cpu.amx:
        return at.x[1] == 1 and (math.prod(kernel) < _LEAST_IN_TILES or max(at.dilation) > 1)
    return at.x[1] <= _FEWEST_CHANNELS and at.w[0] < _LANES


def suits_float32_gradient(at: Geometry, dtype: np.dtype, cpu: Capabilities) -> bool:
    """Whether the gradient of an input whose channels have a kernel each is made quicker in float32.

    With a stride oneDNN takes each channel for a group as wide as a vector.
    """
    if not _may_widen(dtype, cpu) or not at.is_depthwise(2):
        return False
    return math.prod(at.stride) > 1 or (cpu.amx and _products_per_number(at) >= _LEAST_DEPTHWISE_GRADIENT)


def _may_widen(dtype: np.dtype, cpu: Capabilities) -> bool:
    """Whether a type is bfloat16, and not computed in float32 anyhow."""
    return dtype.itemsize == 2 and dtype != _F16 and cpu.bfloat16


def _products_per_number(at: Geometry) -> float:
    """How many products a number of the input or the result is worth."""
    numbers = math.prod(at.x) + math.prod(at.y)
    return math.prod(at.y) * math.prod(at.w[1:]) / numbers if numbers else 0.0


def has_few_outputs(at: Geometry, dtype: np.dtype, cpu: Capabilities) -> bool:
    """Whether a result has so few channels that its weight's gradient is made quicker by the windows of its own."""
    outputs, channels, *kernel = at.w
    return (
        at.group == 1
        and outputs <= FEW_OUTPUTS
        and channels >= _LEAST_PER_FEW
        and math.prod(at.stride) == 1 < math.prod(kernel)
        and math.prod(at.x) // channels * outputs * math.prod(kernel) <= _MOST_COLUMNS
        and at.has_narrow_borders
        and math.prod(at.x) >= _LEAST_THIN
        and (dtype == _F32 or not cpu.bfloat16)
    )


def groups_at_once(at: Geometry, dtype: np.dtype, cpu: Capabilities) -> int:
    """Return how many groups oneDNN takes as one in a 16-bit type, which it fills a vector of from one; else 1."""
    if dtype == _F32 or at.group == 1 or not cpu.bfloat16:
        return 1
    widest = max(at.w[0] // at.group, at.w[1])
    if not 1 < widest < _ENOUGH_PER_GROUP:
        return 1
    return next(m for m in range(min(at.group, _ENOUGH_PER_GROUP // widest), 0, -1) if at.group % m == 0)
