"""Operations in every floating type, forward and gradient: what float64 and the 16-bit types cost beside float32."""

import math
from collections.abc import Callable, Iterator

from kernels import Case

TYPES = ("float32", "bfloat16", "float16", "float64")
# name: shapes of the factors, operations per call (0: bound by memory); the images lie in channels-last memory
OPERATIONS = {
    "matrix product 1024": (((1024, 1024), (1024, 1024)), 6 * 1024**3),
    "convolution 3x3 128": (((32, 128, 16, 16), (128, 128, 3, 3)), 6 * 32 * 128 * 16 * 16 * 128 * 9),
    "batch norm": (((32, 128, 16, 16), (128,), (128,)), 0),
    "layer norm": (((4096, 1024), (1024,), (1024,)), 0),
    "softmax": (((4096, 1024),), 0),
}
BYTES = {"float32": 4, "bfloat16": 2, "float16": 2, "float64": 8}


def cases_of(make: Callable) -> Iterator[Case]:
    """The cases of one side, whose `make(name, dtype, shapes)` returns what runs one."""
    for name, (shapes, work) in OPERATIONS.items():
        for dtype in TYPES:
            # x and y forward; x or y, the gradient that comes and the one that goes backward.
            traffic = 5 * math.prod(shapes[0]) * BYTES[dtype]
            yield Case(f"types: {name}, {dtype}", make(name, dtype, shapes), 0 if work else traffic, work)


def ours() -> Iterator[Case]:
    """The operations through `vjp`."""
    import numpy as np

    import dist_ms as ms
    from dist_ms import ops
    from dist_ms.ops.layout import channels_last

    rng = np.random.default_rng(0)

    def tensor(shape: tuple, dtype: str) -> ms.Tensor:
        array = channels_last(shape, np.dtype(np.float32)) if len(shape) == 4 else np.empty(shape, np.float32)
        array[...] = rng.standard_normal(shape, np.float32)
        return ms.Tensor(array).astype(getattr(ms, dtype))

    def make(name: str, dtype: str, shapes: tuple) -> Callable:
        inputs = [tensor(shape, dtype) for shape in shapes]
        if name == "batch norm":
            state = [ms.Tensor(np.full(shapes[1], value, np.float32)) for value in (0, 1)]
            weights = [weight.astype(ms.float32) for weight in inputs[1:]]
            inputs = inputs[:1] + (weights if dtype in ("bfloat16", "float16") else inputs[1:])
            state = [s.astype(inputs[1].dtype) for s in state]
            function = lambda x, g, b: ops.batch_norm(x, *state, g, b, training=True)  # noqa: E731
        else:
            function = {
                "matrix product 1024": ops.matmul,
                "convolution 3x3 128": lambda x, w: ops.conv2d(x, w, pad_mode="pad", padding=1),
                "layer norm": lambda x, g, b: ops.layer_norm(x, (1024,), g, b),
                "softmax": lambda x: ops.softmax(x, -1),
            }[name]
        dy = function(*inputs)
        return lambda: ms.vjp(function, *inputs)[1](dy)

    return cases_of(make)


def torch() -> Iterator[Case]:
    """The same through PyTorch's autograd."""
    import torch

    functions = {
        "matrix product 1024": torch.matmul,
        "convolution 3x3 128": lambda x, w: torch.nn.functional.conv2d(x, w, padding=1),
        "batch norm": lambda x, g, b: torch.nn.functional.batch_norm(x, None, None, g, b, training=True),
        "layer norm": lambda x, g, b: torch.nn.functional.layer_norm(x, (1024,), g, b),
        "softmax": lambda x: torch.softmax(x, -1),
    }

    def make(name: str, dtype: str, shapes: tuple) -> Callable:
        inputs = [torch.randn(shape).to(getattr(torch, dtype)) for shape in shapes]
        if len(shapes[0]) == 4:
            inputs[0] = inputs[0].to(memory_format=torch.channels_last)
        if name == "batch norm" and BYTES[dtype] == 2:
            inputs[1:] = [weight.float() for weight in inputs[1:]]
        inputs = [x.requires_grad_() for x in inputs]
        dy = functions[name](*inputs).detach()
        return lambda: torch.autograd.grad(functions[name](*inputs), inputs, dy)

    return cases_of(make)
