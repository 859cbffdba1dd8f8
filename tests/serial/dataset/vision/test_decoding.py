"""JPEG files by Pillow's libjpeg: parts are cut from the whole, with OpenCV's numbers."""

import io

import numpy as np
import pytest

cv2 = pytest.importorskip("cv2")
Image = pytest.importorskip("PIL.Image")

from dist_ms.dataset.vision.decoding import decode, decode_part, image_size  # noqa: E402

KINDS = ({}, {"subsampling": 0}, {"subsampling": 1}, {"progressive": True}, {"quality": 30}, {"keep_rgb": True})


def photo(height, width, channels=3):
    rng = np.random.default_rng(height)
    rough = rng.integers(0, 256, (height // 6 + 2, width // 6 + 2, channels), dtype=np.uint8)
    smooth = cv2.resize(rough, (width, height)).reshape(height, width, channels)
    return smooth[:, :, 0] if channels == 1 else smooth


def file(image, kind="JPEG", **options):
    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, kind, **options)
    return buffer.getvalue()


@pytest.mark.parametrize("options", KINDS)
@pytest.mark.parametrize("channels", [1, 3])
def test_parts_are_cut_from_the_whole(options, channels):
    rng = np.random.default_rng(2)
    for size in ((61, 83), (16, 16), (7, 200), (1, 1)):
        data = file(photo(*size, channels), **options)
        whole = decode(data)
        wanted = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)[:, :, ::-1]
        np.testing.assert_array_equal(whole, wanted)
        assert image_size(data)[:2] == size
        for _ in range(40):
            height, width = (int(rng.integers(1, v + 1)) for v in size)
            top, left = int(rng.integers(size[0] - height + 1)), int(rng.integers(size[1] - width + 1))
            part = decode_part(data, top, left, height, width)
            np.testing.assert_array_equal(part, whole[top : top + height, left : left + width])


def test_other_files_are_read_by_opencv():
    image = photo(20, 30)
    for kind in ("PNG", "BMP"):
        data = file(image, kind)
        np.testing.assert_array_equal(decode(data), image)
        np.testing.assert_array_equal(decode_part(data, 3, 4, 5, 6), image[3:8, 4:10])
    buffer = io.BytesIO()
    Image.fromarray(image).convert("CMYK").save(buffer, "JPEG")
    assert decode(buffer.getvalue()).shape == (20, 30, 3)


def test_damaged_files():
    data = file(photo(61, 83))
    whole = decode(data)
    np.testing.assert_array_equal(decode(data[:-2]), whole)  # only the mark of the end is missing
    np.testing.assert_array_equal(decode_part(data[: len(data) * 3 // 4], 0, 0, 10, 83), whole[:10])
    for cut in (len(data) // 2, len(data) * 9 // 10, 30, 3):
        with pytest.raises(RuntimeError, match="a whole JPEG file"):
            decode(data[:cut])
    for other in (b"", b"\xff", b"no image at all"):
        with pytest.raises(RuntimeError, match="of an image file"):
            decode(other)
    with pytest.raises(RuntimeError, match="within the image"):
        decode_part(data, 60, 0, 2, 2)
    with pytest.raises(TypeError):
        decode("name.jpg")
