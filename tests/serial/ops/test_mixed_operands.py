"""Types and values for operands of several types, as MindSpore 2.10 gave them on the CPU."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, ops

N = Tensor(np.array([[0, 1, 2], [3, 0, 1]], np.int32))
J = Tensor(np.array([[2, 1, 0], [1, 3, 2]], np.int32))
H = Tensor(np.array([0.5, 2.0, -3.0], np.float16))
F = Tensor(np.array([0.5, -1.0, 4.0], np.float32))


@pytest.mark.parametrize(
    "call, dtype, value",
    [
        (lambda: ops.mse_loss(N, J), ms.float32, 22 / 6),
        (lambda: ops.mse_loss(N, J, "sum"), ms.float32, 22.0),
        (lambda: ops.vecdot(N, J), ms.int64, [1, 5]),
        (lambda: ops.vecdot(N > 0, J > 0), ms.int64, [1, 2]),
        (lambda: ops.nansum(N), ms.int32, 7),
        (lambda: ops.nansum(N > 0), ms.int64, 4),
        (lambda: ops.nansum(N, dtype=ms.float32), ms.float32, 7.0),
        (lambda: ops.ldexp(H, 2), ms.float16, [2, 8, -12]),
        (lambda: ops.ldexp(N[0], 1.0), ms.float32, [0, 2, 4]),
        (lambda: ops.cross(H, F), ms.float16, [5, -3.5, -1.5]),
        (lambda: ops.cross(F, H), ms.float32, [-5, 3.5, 1.5]),
        (lambda: ops.copysign(H, F), ms.float16, [0.5, -2, 3]),
        (lambda: ops.copysign(N[0], F), ms.float32, [0, -1, 2]),
        (lambda: ops.smooth_l1_loss(H, F), ms.float32, [0, 2.5, 6.5]),
        (lambda: ops.zeta(Tensor([2.0, 4.0]), 1), ms.float32, [np.pi**2 / 6, np.pi**4 / 90]),
        (lambda: ops.zeta(2.0, Tensor([1.0, 2.0])), ms.float32, [np.pi**2 / 6, np.pi**2 / 6 - 1]),
        (lambda: ops.clip_by_norm(N, 2.0), ms.float32, N.asnumpy() * 2 / np.sqrt(15)),
        (lambda: ops.hinge_embedding_loss(F, Tensor([1.0, -1.0, 0.0]), reduction="none"), ms.float32, [0.5, 2, 0]),
        (lambda: N.astype(ms.uint8).cumsum(), ms.int32, [0, 1, 3, 6, 6, 7]),
        (lambda: (N > 0).cumsum(1), ms.int32, [[0, 1, 2], [1, 1, 2]]),
        (lambda: N.trace(), ms.int64, 0),
        (lambda: N.astype(ms.uint8).trace(1), ms.int64, 2),
        (lambda: N.sum_to_size((1,)), ms.int64, [7]),
        (lambda: N.sum_to_size((1, 3)), ms.int64, [[3, 1, 3]]),
        (lambda: ops.bucketize(F, Tensor([0.0, 1.0, 4.0])), ms.int32, [1, 0, 2]),
    ],
)
def test_types_and_values(call, dtype, value):
    found = call()
    assert found.dtype == dtype
    np.testing.assert_allclose(found.asnumpy(), value, rtol=1e-3 if dtype == ms.float16 else 1e-5)


def test_gradients_of_mixed_operands():
    for call in (lambda h: ops.cross(h, F), lambda h: ops.copysign(h, F), lambda h: ops.smooth_l1_loss(h, F)):
        grad = ms.grad(lambda h, call=call: call(h).sum())(H)
        assert grad.dtype == ms.float16 and grad.shape == (3,) and np.isfinite(grad.asnumpy()).all()
