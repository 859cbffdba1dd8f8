"""PSNR, SSIM and MSSSIM: values of MindSpore 2.10 (graph mode; PYNATIVE fails there), gradients, errors."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor
from dist_ms.nn.layer.images.image_quality import MSSSIM, PSNR, SSIM
from tests.gradcheck import check_gradient

F = np.float32
RNG = np.random.RandomState(0)
A = RNG.rand(2, 3, 16, 18).astype(F)
B = np.clip(A + 0.1 * RNG.randn(2, 3, 16, 18), 0, 1).astype(F)
HALF = (A.astype(np.float16), B.astype(np.float16))
BYTES = ((A * 255).astype(np.uint8), (B * 255).astype(np.uint8))


@pytest.mark.parametrize(
    "layer, images, wanted",
    [
        (SSIM(), (A, B), [0.9501528739929199, 0.9550604224205017]),
        (SSIM(2.0, 8, 1.0), (A, B), [0.941791832447052, 0.9548115134239197]),
        (SSIM(), HALF, [0.950161874294281, 0.9550541043281555]),
        (MSSSIM(power_factors=(0.3, 0.7), filter_size=5), (A, B), [0.956235408782959, 0.9505360722541809]),
        (MSSSIM(255, (0.3, 0.7), 5), BYTES, [0.956265926361084, 0.9502930045127869]),
        (PSNR(), (A, B), [20.558202743530273, 20.940196990966797]),
        (PSNR(255), (A, B), [68.68900299072266, 69.07099914550781]),
        (PSNR(255), BYTES, [20.558090209960938, 20.926300048828125]),
    ],
    ids=["ssim", "ssim even", "ssim half", "msssim", "msssim bytes", "psnr", "psnr 255", "psnr bytes"],
)
def test_values_of_mindspore(layer, images, wanted):
    found = layer(*[Tensor(x) for x in images])
    assert found.dtype == ms.float32
    np.testing.assert_allclose(found.asnumpy(), wanted, rtol=2e-6)


def test_equal_images():
    x = Tensor(A)
    assert np.allclose(SSIM()(x, x).asnumpy(), 1) and np.isinf(PSNR()(x, x).asnumpy()).all()


def test_gradients():
    # The layers compute in float32: a coarse step.
    small = A[:, :1, :6, :6].astype(np.float64), B[:, :1, :6, :6].astype(np.float64)
    for layer in (PSNR(), MSSSIM(power_factors=(1.0,), filter_size=3)):
        check_gradient(layer, *small, order=1, step=1e-2, tolerance=2e-2)


def test_parameters_are_not_trained():
    net, levels = SSIM(), MSSSIM(power_factors=(0.5, 0.5), filter_size=4)
    assert [(p.name, p.shape, p.requires_grad) for p in net.get_parameters()] == [
        ("conv.weight", (1, 1, 11, 11), False)
    ]
    assert [p.name for p in levels.get_parameters()] == [f"multi_convs_list.{i}.weight" for i in (0, 1)]
    window = SSIM(filter_size=4).conv.weight.asnumpy()[0, 0]
    np.testing.assert_allclose(window[0], [0.07064819, 0.0882289, 0.07064819, 0.03627199], rtol=1e-5)
    np.testing.assert_allclose(window, window.T)
    assert abs(window.sum() - 1) < 1e-6
    assert repr(PSNR()) == "PSNR()" and "(relu): ReLU()" in repr(levels)


def test_errors():
    a, b = Tensor(A), Tensor(B)
    for make, error, options in [
        (SSIM, ValueError, {"max_val": 0.0}),
        (SSIM, TypeError, {"max_val": "a"}),
        (SSIM, ValueError, {"filter_size": 0}),
        (SSIM, TypeError, {"filter_size": 1.5}),
        (SSIM, ValueError, {"filter_sigma": 0.0}),
        (SSIM, TypeError, {"filter_sigma": 1}),
        (SSIM, TypeError, {"k1": 1}),
        (MSSSIM, TypeError, {"power_factors": 0.5}),
        (PSNR, ValueError, {"max_val": -1}),
        (PSNR, TypeError, {"max_val": True}),
    ]:
        with pytest.raises(error, match=next(iter(options))):
            make(**options)
    for layer, error, images in [
        (SSIM(), ValueError, (a, b[:1])),
        (SSIM(), TypeError, (a, Tensor(HALF[1]))),
        (SSIM(), ValueError, (a[0], b[0])),
        (SSIM(filter_size=17), ValueError, (a, b)),
        (SSIM(), TypeError, tuple(Tensor(x) for x in BYTES)),
        (MSSSIM(), ValueError, (a, b)),
        (PSNR(), ValueError, (a, b[:1])),
        (PSNR(), ValueError, (a[0], b[0])),
        (PSNR(), TypeError, (a, 1)),
    ]:
        with pytest.raises(error, match=f"For '{layer.cls_name}', "):
            layer(*images)
