"""Convolutions over a grid of shapes: windows of 1 to 40, 1 to 512 channels, strides, dilation, groups, 1-D to 3-D."""

from collections.abc import Iterator

from survey import TYPES, Row

# x, outputs, kernel, stride, padding, dilation, groups: a number stands for all dimensions
SHAPES = (
    # Windows of 1 to 40 over images.
    ((32, 64, 32, 32), 64, 1, 1, 0, 1, 1),
    ((32, 64, 32, 32), 64, 2, 2, 0, 1, 1),
    ((32, 64, 32, 32), 64, 3, 1, 1, 1, 1),
    ((16, 32, 32, 32), 32, 5, 1, 2, 1, 1),
    ((16, 32, 32, 32), 32, 7, 1, 3, 1, 1),
    ((8, 16, 32, 32), 32, 11, 1, 5, 1, 1),
    ((4, 8, 40, 40), 32, 20, 1, 0, 1, 1),
    ((16, 32, 40, 40), 32, 40, 1, 0, 1, 1),
    ((32, 64, 32, 32), 64, (1, 7), 1, (0, 3), 1, 1),
    ((64, 1, 50, 40), 96, (3, 40), 1, 0, 1, 1),
    ((64, 1, 50, 128), 100, (5, 128), 1, 0, 1, 1),
    ((32, 16, 50, 40), 96, (3, 40), 1, 0, 1, 1),
    # 1 to 512 channels.
    ((64, 1, 28, 28), 6, 5, 1, 0, 1, 1),
    ((64, 6, 12, 12), 16, 5, 1, 0, 1, 1),
    ((64, 16, 5, 5), 120, 5, 1, 0, 1, 1),
    ((32, 1, 32, 32), 32, 3, 1, 1, 1, 1),
    ((32, 3, 32, 32), 64, 3, 1, 1, 1, 1),
    ((8, 3, 112, 112), 64, 7, 2, 3, 1, 1),
    ((8, 3, 112, 112), 384, 16, 16, 0, 1, 1),
    ((32, 64, 32, 32), 3, 3, 1, 1, 1, 1),
    ((32, 64, 32, 32), 1, 1, 1, 0, 1, 1),
    ((32, 128, 16, 16), 128, 3, 1, 1, 1, 1),
    ((32, 256, 8, 8), 256, 3, 1, 1, 1, 1),
    ((16, 512, 4, 4), 512, 3, 1, 1, 1, 1),
    ((16, 512, 7, 7), 512, 1, 1, 0, 1, 1),
    ((16, 17, 20, 20), 13, 3, 1, 1, 1, 1),
    # Strides.
    ((32, 64, 32, 32), 128, 3, 2, 1, 1, 1),
    ((32, 64, 32, 32), 128, 1, 2, 0, 1, 1),
    ((16, 256, 16, 16), 512, 3, 2, 1, 1, 1),
    ((16, 32, 33, 33), 32, 5, 3, 2, 1, 1),
    # Dilation.
    ((16, 64, 32, 32), 64, 3, 1, 2, 2, 1),
    ((16, 64, 32, 32), 64, 3, 1, 6, 6, 1),
    # Groups.
    ((32, 128, 16, 16), 128, 3, 1, 1, 1, 128),
    ((16, 96, 28, 28), 96, 5, 2, 2, 1, 96),
    ((16, 64, 28, 28), 64, 7, 1, 3, 1, 64),
    ((16, 64, 28, 28), 64, 3, 1, 2, 2, 64),
    ((16, 32, 28, 28), 64, 3, 1, 1, 1, 32),
    ((32, 128, 16, 16), 128, 3, 1, 1, 1, 16),
    ((32, 128, 16, 16), 128, 3, 1, 1, 1, 4),
    ((32, 120, 14, 14), 240, 1, 1, 0, 1, 3),
    # Signals.
    ((32, 128, 256), 128, 5, 1, 2, 1, 1),
    ((32, 1, 400), 64, 40, 1, 0, 1, 1),
    ((16, 2, 1600), 32, 25, 5, 12, 1, 1),
    ((16, 64, 200), 64, 3, 1, 8, 8, 1),
    ((16, 64, 200), 64, 9, 1, 4, 1, 64),
    # Volumes.
    ((4, 32, 16, 16, 16), 32, 3, 1, 1, 1, 1),
    ((4, 1, 16, 32, 32), 16, 3, 1, 1, 1, 1),
    ((2, 3, 8, 56, 56), 32, (3, 7, 7), (1, 2, 2), (1, 3, 3), 1, 1),
    ((4, 32, 8, 16, 16), 32, 3, 1, 1, 1, 32),
)


def rows() -> Iterator[Row]:
    """Yield forward, input gradient and weight gradient of each shape and type."""
    names = ("kernel", "stride", "padding", "dilation")
    for x, outputs, *geometry, groups in SHAPES:
        spread = [value if isinstance(value, tuple) else (value,) * (len(x) - 2) for value in geometry]
        words = [f"{name} {value}" for name, value in zip(names, geometry, strict=True)]
        shape = f"{x} to {outputs}, {', '.join(words)}, groups {groups}"
        numbers = {**dict(zip(names, spread, strict=True)), "x": x, "outputs": outputs, "groups": groups}
        for dtype in TYPES:
            for what, word in (("forward", ""), ("input", ", input's gradient"), ("weight", ", weight's gradient")):
                yield Row(f"convolutions: {shape} {dtype}{word}", dtype, "convolution", {**numbers, "what": what})
