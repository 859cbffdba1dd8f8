"""BatchNorm of bfloat16 tensors, and its gradients, against float32."""

import numpy as np
import pytest

import dist_ms as ms


@pytest.mark.parametrize("training", (True, False))
@pytest.mark.parametrize("shape", ((8, 5), (3, 5, 6, 7)))
def test_values_and_gradients(training, shape):
    rng = np.random.default_rng(0)
    x = ms.Tensor(rng.standard_normal(shape).astype(np.float32)).astype(ms.bfloat16)
    seed = ms.Tensor(rng.standard_normal(shape).astype(np.float32)).astype(ms.bfloat16)
    results = []
    for dtype in (ms.bfloat16, ms.float32):
        norm = ms.nn.BatchNorm1d(5) if len(shape) == 2 else ms.nn.BatchNorm2d(5)
        norm.set_train(training)
        weights = ms.ParameterTuple(norm.trainable_params())
        loss = lambda x, s: (norm(x) * s).astype(ms.float32).sum()  # noqa: B023, E731
        gradients = ms.grad(loss, 0, weights)(x.astype(dtype), seed.astype(dtype))
        results.append([norm(x.astype(dtype)), gradients[0], *gradients[1], norm.moving_mean, norm.moving_variance])
    assert [r.dtype for r in results[0]] == [ms.bfloat16] * 2 + [ms.float32] * 4
    for found, wanted in zip(*results):
        wanted = wanted.asnumpy()
        scale = max(np.abs(wanted).max(), 1)
        np.testing.assert_allclose(found.float().asnumpy(), wanted, rtol=2**-7, atol=2**-7 * scale)
