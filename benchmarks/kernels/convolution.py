"""Convolutions, forward and all gradients; dist_ms in channels-last memory, PyTorch in both."""

import math
from collections.abc import Iterator

import numpy as np

from kernels import Case

# name: x shape, output channels, kernel, stride, padding, dilation, groups
SHAPES = {
    "3x3 64": ((32, 64, 32, 32), 64, 3, 1, 1, 1, 1),
    "3x3 128": ((32, 128, 16, 16), 128, 3, 1, 1, 1, 1),
    "3x3 256": ((32, 256, 8, 8), 256, 3, 1, 1, 1, 1),
    "3x3 512": ((32, 512, 4, 4), 512, 3, 1, 1, 1, 1),
    "3x3 64-128 stride 2": ((32, 64, 32, 32), 128, 3, 2, 1, 1, 1),
    "3x3 256-512 stride 2": ((32, 256, 8, 8), 512, 3, 2, 1, 1, 1),
    "1x1 64-128 stride 2": ((32, 64, 32, 32), 128, 1, 2, 0, 1, 1),
    "1x1 256": ((32, 256, 16, 16), 256, 1, 1, 0, 1, 1),
    "5x5 1-6": ((64, 1, 28, 28), 6, 5, 1, 0, 1, 1),
    "5x5 6-16": ((64, 6, 12, 12), 16, 5, 1, 0, 1, 1),
    "depthwise 3x3 128": ((32, 128, 16, 16), 128, 3, 1, 1, 1, 128),
    "groups of 8 3x3 128": ((32, 128, 16, 16), 128, 3, 1, 1, 1, 16),
    "dilated 3x3 64": ((16, 64, 32, 32), 64, 3, 1, 2, 2, 1),
    "1-D 5 128": ((32, 128, 256), 128, 5, 1, 2, 1, 1),
    "3-D 3x3x3 32": ((4, 32, 16, 16, 16), 32, 3, 1, 1, 1, 1),
}
TYPES = ("float32", "bfloat16")
SIDES = {"channels first": "", "channels last": " (channels last)"}


def output_shape(shape, channels, kernel, stride, padding, dilation, groups):
    """The shape of a convolution's result."""
    sizes = [(n + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1 for n in shape[2:]]
    return (shape[0], channels, *sizes)


def work_of(numbers) -> float:
    """The operations of the forward and of both gradients."""
    (_, channels, *sizes), kernel, groups = numbers[0], numbers[2], numbers[6]
    return 3 * 2 * math.prod(output_shape(*numbers)) * channels // groups * kernel ** len(sizes)


def ours() -> Iterator[Case]:
    """A convolution and its two gradients, one after the other, as the operations compute them."""
    import ml_dtypes

    from dist_ms.ops.convolutions.conv_arrays import convolution_weights, convolve, convolve_transposed
    from dist_ms.ops.convolutions.conv_geometry import Geometry

    rng = np.random.default_rng(0)

    def random(shape, dtype, last=True):
        array = rng.standard_normal((shape[0], *shape[2:], shape[1]) if last else shape, np.float32).astype(dtype)
        return np.moveaxis(array, -1, 1) if last else array

    for kind in TYPES:
        dtype = np.dtype(ml_dtypes.bfloat16 if kind == "bfloat16" else np.float32)
        for name, numbers in SHAPES.items():
            shape, channels, kernel, stride, padding, dilation, groups = numbers
            rank = len(shape) - 2
            x, dy = random(shape, dtype), random(output_shape(*numbers), dtype)
            w = random((channels, shape[1] // groups, *(kernel,) * rank), dtype, False)
            steps = ((stride,) * rank, ((padding, padding),) * rank, (dilation,) * rank, groups)
            at = Geometry(x.shape, w.shape, *steps)

            def run(x=x, w=w, dy=dy, at=at):
                convolve(x, w, None, at)
                convolve_transposed(dy, w, at)
                convolution_weights(x, dy, at, False)

            for side in SIDES.values():
                yield Case(f"conv {name}, {kind}{side}", run, work=work_of(numbers))


def torch() -> Iterator[Case]:
    """torch.nn.functional's convolutions through autograd."""
    import torch

    functions = (torch.nn.functional.conv1d, torch.nn.functional.conv2d, torch.nn.functional.conv3d)
    formats = {"channels first": torch.contiguous_format, "channels last": torch.channels_last}
    for kind in TYPES:
        dtype = getattr(torch, kind)
        for name, numbers in SHAPES.items():
            shape, channels, kernel, stride, padding, dilation, groups = numbers
            rank = len(shape) - 2
            for side, suffix in SIDES.items():
                layout = formats[side] if rank != 3 or side == "channels first" else torch.channels_last_3d
                if rank == 1:
                    layout = torch.contiguous_format
                x = torch.randn(shape, dtype=dtype).to(memory_format=layout).requires_grad_()
                w = torch.randn((channels, shape[1] // groups, *(kernel,) * rank), dtype=dtype)
                w = w.to(memory_format=layout).requires_grad_()
                dy = torch.randn(output_shape(*numbers), dtype=dtype).to(memory_format=layout)

                def run(x=x, w=w, dy=dy, f=functions[rank - 1], rest=(None, stride, padding, dilation, groups)):
                    torch.autograd.grad(f(x, w, *rest), (x, w), dy)

                yield Case(f"conv {name}, {kind}{suffix}", run, work=work_of(numbers))
