"""Images cropped, mirrored, resized and made numbers against a NumPy twin, and OpenCV's sizes."""

import numpy as np
import pytest

from dist_ms._ext import pixels
from tests.serial.kernels.calls import call


def bilinear(image, height, width):
    """OpenCV's bilinear size of bytes, with weights of 11 bits."""

    def places(old, new):
        at = ((np.arange(new) + 0.5) * (1 / (new / old)) - 0.5).astype(np.float32)
        low = np.floor(at)
        return low.astype(int), at - low

    x, across = places(image.shape[1], width)
    y, down = places(image.shape[0], height)
    across[(x < 0) | (x >= image.shape[1] - 1)] = 0
    x = np.clip(x, 0, image.shape[1] - 1)
    one = [np.rint(w * np.float32(2048)).astype(int)[:, None] for w in (1 - across, across)]
    wide = image[:, x].astype(int) * one[0] + image[:, np.minimum(x + 1, image.shape[1] - 1)].astype(int) * one[1]
    two = [np.rint(w * np.float32(2048)).astype(int)[:, None, None] for w in (1 - down, down)]
    above, below = (np.clip(rows, 0, image.shape[0] - 1) for rows in (y, y + 1))
    return (((two[0] * (wide[above] >> 4) >> 16) + (two[1] * (wide[below] >> 4) >> 16) + 2) >> 2).astype(np.uint8)


def turned(image, bits):
    image = image[:, ::-1] if bits & 1 else image
    return image[::-1] if bits & 2 else image


def twin(image, tables, size, part, top, left, maps, fill, early, late):
    if maps is not None:
        padded = image[maps[0]][:, maps[1]]
        padded[maps[0] < 0] = fill
        padded[:, maps[1] < 0] = fill
        image = padded
    image = turned(image[top : top + part[0], left : left + part[1]], early)
    image = turned(image if size is None else bilinear(image, *size), late)
    return np.stack([tables[c][image[:, :, c]] for c in range(image.shape[2])], -1)


def memory(rng, shape, dtype):
    """An array (n, h, w, c): channels last or first in memory, or a part of a larger one."""
    kind = rng.integers(3)
    if kind == 0:
        return np.empty(shape, dtype)
    if kind == 1:
        return np.moveaxis(np.empty((shape[0], shape[3], *shape[1:3]), dtype), 1, -1)
    return np.empty((shape[0] + 1, shape[1] + 2, shape[2] + 3, shape[3] + 1), dtype)[1:, 1:-1, 2:-1, 1:]


@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.float32, np.float64])
def test_write(dtype):
    rng = np.random.default_rng(7)
    for case in range(120):
        n, high, wide, c = (int(rng.integers(1, most)) for most in (5, 20, 20, 5))
        whole = rng.integers(0, 256, (n + 1, high + 2, wide, c), dtype=np.uint8)
        images = whole[:n, 1:-1]
        tables = rng.integers(0, 200, (c, 256)).astype(dtype)
        maps = fill = None
        size = None if case % 3 else tuple(int(v) for v in rng.integers(1, 30, 2))
        rows = None if case % 4 == 0 else rng.integers(0, n, 6)
        count = n if rows is None else 6
        if case % 2:
            fill = rng.integers(0, 256, c).astype(np.uint8)
            maps = [
                np.pad(np.arange(v, dtype=np.int32), rng.integers(0, 4, 2), constant_values=-1) for v in (high, wide)
            ]
        free = [len(m) for m in maps] if maps else [high, wide]
        part = tuple(int(rng.integers(1, v + 1)) for v in free)
        tops, lefts = (rng.integers(0, v - p + 1, count) for v, p in zip(free, part))
        early, late = (rng.integers(0, 4, count).astype(np.uint8) for _ in range(2))
        out = memory(rng, (count, *(size or part), c), dtype)
        maps_given = maps or [None, None]
        call(
            pixels.write,
            (images, tables, out, rows, part, tops, lefts, *maps_given, fill, early, late, size is not None),
            [out],
        )
        for i in range(count):
            image = images[i if rows is None else rows[i]]
            bits = (early[i], late[i])
            wanted = twin(image, tables, size, part, tops[i], lefts[i], maps, fill, *bits)
            np.testing.assert_array_equal(out[i], wanted)


def test_sizes_are_those_of_opencv():
    cv2 = pytest.importorskip("cv2")
    cv2.ipp.setUseIPP(False)
    rng = np.random.default_rng(3)
    for _ in range(60):
        h, w, high, wide = (int(v) for v in rng.integers(1, 60, 4))
        if (h, w) == (2 * high, 2 * wide):
            continue
        image = rng.integers(0, 256, (1, h, w, 3), dtype=np.uint8)
        out = np.empty((1, high, wide, 3), np.uint8)
        pixels.write(image, np.tile(np.arange(256, dtype=np.uint8), (3, 1)), out, resized=True)
        np.testing.assert_array_equal(out[0], cv2.resize(image[0], (wide, high), interpolation=cv2.INTER_LINEAR))


def test_wrong_arguments():
    images, tables = np.zeros((2, 4, 5, 3), np.uint8), np.zeros((3, 256), np.float32)
    out = np.empty((2, 4, 5, 3), np.float32)
    two = np.zeros(2, np.int64)
    for error, arguments, options in (
        (TypeError, (images.astype(np.int8), tables, out), {}),
        (TypeError, (images, tables.astype(np.float64), out), {}),
        (ValueError, (images, tables[:2].copy(), out), {}),
        (ValueError, (images[:, :, ::-1], tables, out), {}),
        (ValueError, (images, tables, out[:, :3]), {}),
        (ValueError, (images, tables, out), {"rows": two + 2}),
        (ValueError, (images, tables, out), {"rows": two[:1]}),
        (ValueError, (images, tables, out), {"part": (4, 5), "tops": two + 1}),
        (ValueError, (images, tables, out), {"part": (5, 5)}),
        (ValueError, (images, tables, out), {"row_map": np.full(4, -1, np.int32), "column_map": np.zeros(5, np.int32)}),
        (ValueError, (images, tables, np.empty((3, 4, 5, 3), np.float32)), {}),
        (TypeError, (images, tables, out), {"late": two}),
    ):
        with pytest.raises(error, match="For 'write'"):
            pixels.write(*arguments, **options)
    pixels.write(images[:0], tables, out[:0])
