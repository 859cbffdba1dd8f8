"""Poolings over a grid of windows, strides and dimensions: forward and gradient."""

from collections.abc import Iterator

from survey import TYPES, Row, expression

# expression; x; the expression for dist_ms where it is another one
CASES = (
    ("F.max_pool2d(x, 2, 2)", "64x6x24x24", ""),
    ("F.max_pool2d(x, 2, 2)", "16x64x32x32", ""),
    ("F.max_pool2d(x, 3, 2, 1)", "8x64x56x56", ""),
    ("F.max_pool2d(x, 3, 1, 1)", "8x128x28x28", ""),
    ("F.max_pool2d(x, 5, 1, 2)", "8x128x13x13", ""),
    ("F.max_pool2d(x, 8, 8)", "16x32x32x32", ""),
    ("F.max_pool2d(x, (48, 1))", "64x96x48x1", ""),
    ("F.max_pool2d(x, 40)", "16x32x40x40", ""),
    ("F.max_pool2d(x, 3, 2, 0, 2)", "16x32x32x32", ""),
    ("F.avg_pool2d(x, 2, 2)", "16x64x32x32", ""),
    ("F.avg_pool2d(x, 3, 1, 1)", "8x128x28x28", ""),
    ("F.avg_pool2d(x, 8, 8)", "16x32x32x32", ""),
    ("F.avg_pool2d(x, 7)", "32x512x7x7", ""),
    ("F.avg_pool1d(x, 4, 4)", "32x64x400", ""),
    ("F.avg_pool3d(x, 2, 2)", "4x32x16x16x16", ""),
    ("F.max_pool3d(x, 2, 2)", "4x32x16x16x16", "ops.max_pool3d(x, 2, 2)"),
    ("F.adaptive_avg_pool2d(x, (1, 1))", "32x512x7x7", ""),
    ("F.adaptive_avg_pool2d(x, (7, 7))", "8x64x32x32", ""),
    ("F.adaptive_avg_pool1d(x, 10)", "32x64x100", ""),
    ("F.adaptive_max_pool2d(x, (1, 1))", "32x256x8x8", ""),
)


def rows() -> Iterator[Row]:
    """Yield the poolings."""
    for text, shape, own in CASES:
        types = ("float32",) if "avg_pool3d" in text else TYPES  # PyTorch has no other.
        yield from expression("pooling", text, {"x": f"normal {shape}"}, "x", own, types)
