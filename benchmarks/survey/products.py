"""Matrix products over a grid of shapes: forward, and with the gradient of each factor."""

from collections.abc import Iterator

from survey import Row, expression

# Factors.
PAIRS = (
    ("1x1024", "1024x1024"),
    ("1024x1024", "1024x1"),
    ("8x512", "512x512"),
    ("64x784", "784x256"),
    ("64x256", "256x10"),
    ("128x128", "128x128"),
    ("512x64", "64x512"),
    ("512x512", "512x512"),
    ("1000x300", "300x77"),
    ("1024x1024", "1024x1024"),
    ("4096x16", "16x16"),
    ("32x4096", "4096x32"),
    ("64x32x64", "64x64x32"),
    ("8x128x64", "8x64x128"),
    ("8x8x128x64", "8x8x64x128"),
    ("16x128x256", "256x256"),
)
# x, weight and bias of a dense layer.
LAYERS = (("32x784", "128x784"), ("256x512", "2048x512"), ("16x128x256", "256x256"), ("64x2048", "1000x2048"))


def rows() -> Iterator[Row]:
    """Yield the products and dense layers."""
    for a, b in PAIRS:
        shapes = {"a": f"normal {a}", "b": f"normal {b}"}
        yield from expression("products", "T.matmul(a, b)", shapes, "a, b")
    for x, w in LAYERS:
        shapes = {"x": f"normal {x}", "w": f"normal {w}", "b": f"normal {w.split('x')[0]}"}
        yield from expression("products", "F.linear(x, w, b)", shapes, "x, w b")
