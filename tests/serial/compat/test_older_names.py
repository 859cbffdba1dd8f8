"""Names that MindSpore 1 had: programs import them still."""

from io import BytesIO

import numpy as np
import pytest
from PIL import Image

import dist_ms as ms
import dist_ms.compat
import dist_ms.dataset as ds


@pytest.fixture(autouse=True)
def installed():
    dist_ms.compat.install()
    yield
    dist_ms.compat.uninstall()


@pytest.fixture
def picture():
    """Pixels of 6 x 5, and the file of them."""
    pixels = np.random.RandomState(0).randint(0, 255, (6, 5, 3)).astype(np.uint8)
    file = BytesIO()
    Image.fromarray(pixels).save(file, "png")
    return pixels, np.frombuffer(file.getvalue(), np.uint8)


def test_compiled_functions_and_classes():
    from mindspore import ms_class, ms_function
    from mindspore.common.api import ms_function as same

    @ms_function
    def twice(x):
        return x * 2

    @ms_class
    class Adds:
        def __call__(self, x):
            return x + 1

    assert same is ms_function is ms.jit
    assert int(twice(ms.Tensor(3))) == 6 and int(Adds()(ms.Tensor(3))) == 4


def test_transforms_in_c(picture):
    import mindspore.dataset.transforms.c_transforms as general
    import mindspore.dataset.vision.c_transforms as pictures

    pixels, file = picture
    data = ds.NumpySlicesDataset(([file], [1]), ["image", "label"])
    data = data.map([pictures.Decode(), pictures.Rescale(0.5, 1.0), pictures.HWC2CHW()], "image")
    data = data.map(general.TypeCast(ms.float32), "label")
    ((image, label),) = data.create_tuple_iterator(output_numpy=True)
    np.testing.assert_allclose(image, pixels.transpose(2, 0, 1) * np.float32(0.5) + 1)
    assert label.dtype == np.float32


def test_transforms_in_python(picture):
    from mindspore.dataset.transforms.py_transforms import Compose, OneHotOp
    from mindspore.dataset.vision import py_transforms

    pixels, file = picture
    assert isinstance(py_transforms.Decode()(file), Image.Image)
    steps = [
        py_transforms.Decode(),
        py_transforms.ToTensor(),
        py_transforms.Normalize([0.5, 0.25, 0.0], [1.0, 2.0, 4.0]),
    ]
    (image,) = (
        ds.NumpySlicesDataset([file], ["image"]).map(Compose(steps), "image").create_tuple_iterator(output_numpy=True)
    )
    wanted = (pixels.transpose(2, 0, 1) / 255 - np.reshape([0.5, 0.25, 0.0], (3, 1, 1))) / np.reshape(
        [1.0, 2.0, 4.0], (3, 1, 1)
    )
    np.testing.assert_allclose(image[0], wanted, atol=1e-6)
    assert OneHotOp(3, smoothing_rate=0.0)(np.array(1)).tolist() == [0, 1, 0]
    padded = py_transforms.NormalizePad([0.0] * 3, [2.0] * 3)(np.ones((3, 2, 2), np.float32))
    assert padded.shape == (4, 2, 2) and padded[:3].max() == 0.5 and padded[3].max() == 0
    cut = py_transforms.Cutout(2, 1)(np.ones((3, 40, 50), np.float32))
    assert cut.shape == (3, 40, 50) and 3 <= (cut == 0).sum() <= 12


def test_checks():
    from mindspore._checkparam import Rel, Validator

    assert Validator.check_positive_int(3, "size", "Layer") == 3
    assert Validator.check_int(3, 1, Rel.GE, "size", "Layer") == 3
    with pytest.raises(ValueError, match="size"):
        Validator.check_int(0, 1, Rel.GE, "size", "Layer")
