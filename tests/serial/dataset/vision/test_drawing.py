"""Boxes, names and masks drawn into images, where MindSpore 2.10 draws them."""

import numpy as np
import pytest

from dist_ms.dataset.vision.drawing import imshow_det_bbox
from dist_ms.dataset.vision.libraries import opencv

IMAGE = np.full((100, 160, 3), 50, np.uint8)
BOXES = np.array([[20, 40, 60, 30, 0.5], [80, 50, 20, 20, 0.123456]], np.float32)
LABELS = np.array([[1], [0]])
GREEN, PINK, PURPLE = (0, 255, 0), (203, 192, 255), (89, 25, 89)


def drawn(*items):
    cv2 = opencv("test")
    image = IMAGE.copy()
    for left, top, right, bottom, text in items:
        cv2.rectangle(image, (left, top), (right, bottom), GREEN, thickness=2)
        cv2.putText(image, text, (left, bottom), cv2.FONT_HERSHEY_SIMPLEX, 0.8, PINK, thickness=2)
    return image


@pytest.mark.parametrize("names", [["zero", "one"], ("zero", "one"), {0: "zero", 1: "one"}])
def test_boxes_with_names_and_scores(names):
    one, zero = (20, 40, 80, 70, "one|0.50"), (80, 50, 100, 70, "zero|0.12")
    found = imshow_det_bbox(IMAGE, BOXES, LABELS, class_names=names, show=False)
    np.testing.assert_array_equal(found, drawn(one, zero))
    found = imshow_det_bbox(IMAGE, BOXES, LABELS, class_names=names, score_threshold=0.3, show=False)
    np.testing.assert_array_equal(found, drawn(one))
    assert (IMAGE == 50).all()


def test_labels_without_names():
    found = imshow_det_bbox(IMAGE.transpose(2, 0, 1), BOXES[:1, :4] + 0.7, LABELS[:1], show=False)
    np.testing.assert_array_equal(found, drawn((20, 40, 81, 71, "class 1")))


def test_masks_colours_and_a_file(tmp_path):
    masks = np.zeros((2, 100, 160), np.uint8)
    masks[0, 5:20, 5:30] = 7
    masks[1, 30:35, :5] = 1
    file = str(tmp_path / "image.png")
    image = IMAGE.copy()
    image[..., 0] = 200
    found = imshow_det_bbox(image, BOXES[:1, :4], LABELS[:1], masks, bbox_color=(1, 2, 3), show=False, out_file=file)
    assert found[10, 10].tolist() == [89, 25, 164] and found[0, 0].tolist() == [50, 50, 200]
    assert found[31, 2].tolist() == [50, 50, 200] and found[40, 50].tolist() == [1, 2, 3]
    np.testing.assert_array_equal(opencv("test").imread(file), found)
    chosen = imshow_det_bbox(IMAGE, BOXES, LABELS, masks, score_threshold=0.3, show=False)
    assert chosen[10, 10].tolist() == list(PURPLE) and chosen[31, 2].tolist() == [50] * 3
    with pytest.raises(FileNotFoundError, match="out_file"):
        imshow_det_bbox(IMAGE, BOXES, LABELS, show=False, out_file=str(tmp_path / "none" / "image.png"))


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({"image": IMAGE[..., 0]}, "image"),
        ({"bboxes": BOXES[:, :3]}, "bboxes"),
        ({"bboxes": BOXES[:, :4], "score_threshold": 0.5}, "bboxes"),
        ({"labels": LABELS[:1]}, "labels"),
        ({"segm": np.zeros((1, 100, 160))}, "segm"),
        ({"segm": np.zeros((2, 100, 10))}, "segm"),
        ({"class_names": "ab"}, "class_names"),
        ({"text_color": [1, 2, 3]}, "text_color"),
        ({"thickness": 2.5}, "thickness"),
        ({"font_size": -1}, "font_size"),
        ({"win_name": 3}, "win_name"),
        ({"wait_time": -1}, "wait_time"),
        ({"out_file": 3}, "out_file"),
    ],
)
def test_arguments_that_are_refused(changed, name):
    options = {"image": IMAGE, "bboxes": BOXES, "labels": LABELS, "show": False} | changed
    with pytest.raises(AssertionError, match=f"'{name}' must be"):
        imshow_det_bbox(**options)
