"""Parameters and arrays that few programs give: sizes by rounding, kernels that are not square, no pixels."""

import numpy as np
import pytest

from dist_ms.dataset import vision as v

pytest.importorskip("cv2")


# Height and width of an image, the shorter side wanted, and the size that MindSpore 2.10 makes: it divides in float32
# and cuts what is behind the point, so an image of 11 x 13 that is "resized to 11" loses a column.
@pytest.mark.parametrize(
    "height, width, shorter, wanted",
    [(11, 13, 11, (11, 12)), (13, 11, 11, (12, 11)), (375, 500, 256, (256, 341)), (20, 30, 10, (10, 15))],
)
def test_the_other_side_is_found_in_float32(height, width, shorter, wanted):
    image, boxes = np.zeros((height, width, 3), np.uint8), np.array([[0, 0, 1, 1]], np.float32)
    assert v.Resize(shorter)(image).shape[:2] == wanted
    assert v.RandomResize(shorter)(image).shape[:2] == wanted
    assert v.ResizeWithBBox(shorter)(image, boxes)[0].shape[:2] == wanted
    assert v.RandomResizeWithBBox(shorter)(image, boxes)[0].shape[:2] == wanted


# One sigma that is 0 follows from the kernel's width for both sides; two zeros each from their own.
@pytest.mark.parametrize(
    "size, sigma, across, down",
    [
        ((3, 5), None, [0.119, 0.261], [0.011, 0.119, 0.261]),
        ((3, 5), 0, [0.119, 0.261], [0.011, 0.119, 0.261]),
        ((3, 5), (0, 0), [0.088, 0.193], [0.037, 0.128, 0.193]),
        ((5, 3), None, [0.030, 0.105, 0.159], [0.105, 0.159]),
        ((1, 3), None, [0.787], [0.107, 0.787]),
        ((3, 5), (0, 2.0), [0.060, 0.131], [0.080, 0.116, 0.131]),
    ],
)
def test_kernels_that_are_not_square(size, sigma, across, down):
    point = np.zeros((7, 7), np.float32)
    point[3, 3] = 1
    result = v.GaussianBlur(size, sigma)(point)
    np.testing.assert_allclose(result[3, 4 - len(across) : 4], across, atol=5e-4)
    np.testing.assert_allclose(result[4 - len(down) : 4, 3], down, atol=5e-4)
    assert result[3, : 4 - len(across)].max(initial=0) == result[: 4 - len(down), 3].max(initial=0) == 0


def test_values_erased_fit_the_type():
    image = np.zeros((2, 2, 3), np.int8)
    assert v.Erase(0, 0, 1, 1, 255)(image)[0, 0].tolist() == [127] * 3
    assert v.Erase(0, 0, 1, 1, (255, 1.5, 2.5))(image.astype(np.uint8))[0, 0].tolist() == [255, 2, 2]


@pytest.mark.parametrize("shift", [0.0, -3.5])
def test_a_number_without_axes_is_rescaled(shift):
    result = v.Rescale(2.0, shift)(np.array(3, np.uint8))
    assert isinstance(result, np.ndarray) and result.dtype == np.float32 and result == 6 + shift


@pytest.mark.parametrize(
    "transform",
    [v.AutoContrast(), v.Resize(4), v.Invert(), v.HorizontalFlip(), v.CenterCrop(3), v.ToTensor(), v.Rescale(1.0, 1.0)],
)
def test_an_image_without_pixels_is_refused(transform):
    with pytest.raises(RuntimeError, match=r"array with pixels .*\(0, 5, 3\)"):
        transform(np.zeros((0, 5, 3), np.uint8))


def test_words_are_no_image():
    with pytest.raises(RuntimeError, match="array of numbers, but got of <U1"):
        v.Rescale(1.0, 1.0)(np.array(["a"]))
