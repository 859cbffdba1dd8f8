"""Forty layers, a line each: forward, and with the gradients of the input and of all weights."""

from collections.abc import Iterator

from survey import TYPES, Row

# PyTorch's layer | input | that of dist_ms where it is another one; `top` is its nn, `nn` its mint.nn
LAYERS = """
nn.Linear(784, 128) | 64x784
nn.Linear(512, 2048) | 128x512
nn.Conv1d(64, 64, 3, padding=1) | 16x64x200
nn.Conv2d(3, 32, 3, padding=1) | 16x3x32x32
nn.Conv2d(64, 64, 3, padding=1) | 16x64x32x32
nn.Conv2d(1, 96, (3, 40)) | 64x1x50x40
nn.Conv2d(32, 32, 3, padding=1, groups=32) | 16x32x32x32
nn.Conv3d(8, 16, 3, padding=1) | 4x8x16x16x16
nn.ConvTranspose2d(64, 32, 4, 2, 1) | 16x64x16x16
nn.BatchNorm1d(512) | 256x512
nn.BatchNorm2d(64) | 16x64x32x32
nn.BatchNorm3d(16) | 4x16x16x16x16
nn.LayerNorm(512) | 512x512
nn.GroupNorm(8, 64) | 16x64x32x32
nn.InstanceNorm2d(64, affine=True) | 16x64x32x32 | top.InstanceNorm2d(64)
nn.MaxPool2d(2, 2) | 16x64x32x32
nn.MaxPool2d(3, 2, 1) | 16x64x32x32
nn.AvgPool2d(2, 2) | 16x64x32x32
nn.AdaptiveAvgPool2d((1, 1)) | 16x256x8x8
nn.AdaptiveMaxPool2d((2, 2)) | 16x64x16x16
nn.ReLU() | 512x1024
nn.GELU() | 512x1024
nn.SiLU() | 512x1024
nn.Sigmoid() | 512x1024
nn.Tanh() | 512x1024
nn.ELU() | 512x1024
nn.PReLU(64) | 16x64x32x32
nn.Hardswish() | 512x1024
nn.Mish() | 512x1024
nn.Softmax(-1) | 512x1024
nn.LogSoftmax(-1) | 512x1024
nn.Dropout(0.3) | 512x1024
nn.Dropout2d(0.3) | 16x64x32x32
nn.Flatten() | 16x64x32x32
nn.Upsample(scale_factor=2.0, mode='nearest') | 16x32x32x32
nn.Upsample(size=(64, 64), mode='bilinear') | 16x32x32x32
nn.PixelShuffle(2) | 16x64x32x32
nn.ReflectionPad2d(2) | 16x32x32x32
nn.ReplicationPad2d(2) | 16x32x32x32
nn.ZeroPad2d(2) | 16x32x32x32
nn.Unfold(3) | 8x32x32x32
nn.GLU() | 512x1024
"""


def rows() -> Iterator[Row]:
    """Yield the layers, forward and with gradients."""
    for line in LAYERS.strip().splitlines():
        text, shape, own = (*(part.strip() for part in line.split("|")), "")[:3]
        for dtype in TYPES:
            numbers = {"text": text, "own": own or text, "x": f"normal {shape}"}
            name = f"layers: {text} of {shape} {dtype}"
            yield Row(name, dtype, "layer", {**numbers, "gradient": False})
            yield Row(f"{name}, with gradients", dtype, "layer", {**numbers, "gradient": True})
