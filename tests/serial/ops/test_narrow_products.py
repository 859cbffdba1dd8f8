"""Convolutions, products and poolings of bfloat16 and float16 tensors, and their gradients, against float32."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops

CASES = {
    "conv2d": (lambda x, w: ops.conv2d(x, w, stride=2, pad_mode="pad", padding=1), (2, 8, 9, 9), (4, 8, 3, 3)),
    "depthwise": (lambda x, w: ops.conv2d(x, w, groups=8, pad_mode="pad", padding=1), (2, 8, 6, 6), (8, 1, 3, 3)),
    "conv1d": (lambda x, w: ops.conv1d(x, w, dilation=2), (2, 3, 9), (4, 3, 3)),
    "conv3d": (lambda x, w: ops.conv3d(x, w), (1, 3, 4, 5, 5), (4, 3, 2, 2, 2)),
    "dense": (ops.dense, (3, 5, 64), (48, 64)),
    "small dense": (ops.dense, (2, 3), (4, 3)),
    "matmul": (ops.matmul, (40, 64), (64, 48)),
    "small matmul": (ops.matmul, (2, 3), (3, 4)),
    "batches": (ops.matmul, (2, 3, 30, 20), (2, 3, 20, 30)),
    "max pool": (lambda x, w: ops.max_pool2d(x * w, 2), (2, 5, 8, 6), (2, 5, 8, 6)),
    "mean pool": (lambda x, w: ops.avg_pool2d(x * w, 2, 2), (2, 5, 8, 6), (2, 5, 8, 6)),
    "mean pool, other divisor": (
        lambda x, w: ops.avg_pool2d(x * w, 3, 2, 1, divisor_override=5),
        (2, 5, 8, 6),
        (2, 5, 8, 6),
    ),
}


@pytest.mark.parametrize("low", (ms.bfloat16, ms.float16), ids=str)
@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name, low):
    f, x_shape, w_shape = CASES[name]
    rng = np.random.default_rng(0)
    # Small integers are exact in both types, and so is what is made of few of them.
    x, w = (rng.integers(-3, 4, shape).astype(np.float32) for shape in (x_shape, w_shape))
    both = [[ms.Tensor(a).astype(dtype) for a in (x, w)] for dtype in (low, ms.float32)]
    seed = rng.integers(-2, 3, f(*both[1]).shape).astype(np.float32)
    results = []
    for (a, b), dtype in zip(both, (low, ms.float32)):
        gradients = ms.grad(lambda a, b: (f(a, b) * ms.Tensor(seed).astype(dtype)).sum(), (0, 1))(a, b)  # noqa: B023
        results.append([f(a, b), *gradients])
    for found, wanted in zip(*results):
        assert found.dtype == low
        wanted = wanted.asnumpy()
        scale = max(np.abs(wanted).max(), 1)
        np.testing.assert_allclose(found.float().asnumpy(), wanted, rtol=2**-7, atol=2**-7 * scale)
