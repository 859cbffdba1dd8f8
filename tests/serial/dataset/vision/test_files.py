"""Files read and written, and the sizes of images."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms.dataset import vision
from tests.serial.dataset.vision.cases import IMAGE

pytest.importorskip("cv2")
pil = pytest.importorskip("PIL.Image")
Mode = vision.ImageReadMode


def test_bytes_come_back(tmp_path):
    path = str(tmp_path / "a.bin")
    vision.write_file(path, ms.Tensor(np.arange(5, dtype=np.uint8)))
    assert vision.read_file(path).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("image", [IMAGE, IMAGE[:, :, 0].copy(), IMAGE[:, :, :1].copy(), ms.Tensor(IMAGE)])
def test_png_files_keep_the_pixels(tmp_path, image):
    path = str(tmp_path / "a.png")
    vision.write_png(path, image)
    array = np.asarray(image.asnumpy() if isinstance(image, ms.Tensor) else image)
    array = array[:, :, None] if array.ndim == 2 else array
    np.testing.assert_array_equal(vision.read_image(path), array)
    assert vision.read_image(path, Mode.GRAYSCALE).shape == (5, 6, 1)
    colours = vision.read_image(path, Mode.COLOR)
    np.testing.assert_array_equal(colours, np.broadcast_to(array, (5, 6, 3)))
    np.testing.assert_array_equal(vision.Decode()(vision.encode_png(image, 9)), colours)


def test_jpeg_files(tmp_path):
    path = str(tmp_path / "a.jpg")
    smooth = np.full((16, 16, 3), (200, 100, 50), np.uint8)
    vision.write_jpeg(path, smooth, 95)
    assert np.abs(vision.read_image(path).astype(int) - smooth).max() <= 3
    assert len(vision.encode_jpeg(smooth, 10)) < len(vision.encode_jpeg(IMAGE.repeat(4, 0).repeat(4, 1), 95))


def test_opacity_is_left_out(tmp_path):
    path = str(tmp_path / "a.png")
    pil.fromarray(np.concatenate([IMAGE, IMAGE[:, :, :1]], axis=2)).save(path)
    np.testing.assert_array_equal(vision.read_image(path), IMAGE)


def test_orientation_is_not_followed():
    import io

    notes, file = pil.Exif(), io.BytesIO()
    notes[0x112] = 6  # turned by 90 degrees
    pil.fromarray(IMAGE).save(file, "JPEG", exif=notes)
    assert vision.Decode()(file.getvalue()).shape == IMAGE.shape
    assert vision.Decode(to_pil=True)(file.getvalue()).size == (6, 5)


def test_sizes():
    assert vision.get_image_size(IMAGE) == [5, 6] == vision.get_image_size(pil.fromarray(IMAGE))
    assert vision.get_image_size(IMAGE[:, :, 0]) == [5, 6] == vision.get_image_size(IMAGE[None])
    assert vision.get_image_num_channels(IMAGE) == 3 == vision.get_image_num_channels(pil.fromarray(IMAGE))
    assert vision.get_image_num_channels(IMAGE[:, :, 0]) == 1


@pytest.mark.parametrize(("call", "error"), [
    (lambda p: vision.read_file(p + "none"), RuntimeError), (lambda p: vision.read_file(1), TypeError),
    (lambda p: vision.read_image(p + "none"), RuntimeError), (lambda p: vision.read_image(p, 1), TypeError),
    (lambda p: vision.write_file(p + "none/a", np.zeros(2, np.uint8)), RuntimeError),
    (lambda p: vision.write_file(p, np.zeros(2)), RuntimeError), (lambda p: vision.write_file(p, [1]), TypeError),
    (lambda p: vision.write_jpeg(p, IMAGE, 101), RuntimeError), (lambda p: vision.write_jpeg(p, IMAGE, 1.5), TypeError),
    (lambda p: vision.write_png(p, IMAGE, 10), RuntimeError), (lambda p: vision.encode_png([1]), TypeError),
    (lambda p: vision.encode_jpeg(IMAGE[:, :, :2]), RuntimeError), (lambda p: vision.get_image_size([1]), TypeError),
    (lambda p: vision.encode_jpeg(IMAGE.astype(np.float32)), RuntimeError),
    (lambda p: vision.get_image_size(np.zeros(3)), RuntimeError),
    (lambda p: vision.get_image_num_channels(np.zeros(3)), RuntimeError),
    (lambda p: vision.get_image_num_channels(3), TypeError), (lambda p: vision.read_video(p), NotImplementedError),
    (lambda p: vision.read_video_timestamps(p), NotImplementedError),
    (lambda p: vision.VideoDecoder(p), NotImplementedError), (lambda p: vision.DecodeVideo(), NotImplementedError),
    (lambda p: vision.Decode()(np.zeros((2, 2), np.uint8)), TypeError), (lambda p: vision.Decode()([1]), TypeError),
    (lambda p: vision.Decode()(np.zeros(9, np.uint8)), RuntimeError),
    (lambda p: vision.Decode()(np.zeros(0, np.uint8)), RuntimeError),
    (lambda p: vision.Decode(to_pil=True)(np.zeros(9, np.uint8)), ValueError),
])  # fmt: skip
def test_wrong_files_and_arguments(tmp_path, call, error):
    with pytest.raises(error, match="For '|is not available"):
        call(str(tmp_path / "a"))


def test_a_file_that_is_no_image(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(b"no image")
    with pytest.raises(RuntimeError, match="must be an image"):
        vision.read_image(str(path))
