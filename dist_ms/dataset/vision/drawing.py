"""Detected objects drawn into an image."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dist_ms.common.checks import complaint
from dist_ms.dataset.vision.libraries import opencv

__all__ = ["imshow_det_bbox"]

_OWNER = "imshow_det_bbox"
_ESCAPE = 27


def imshow_det_bbox(
    image: np.ndarray,
    bboxes: np.ndarray,
    labels: np.ndarray,
    segm: np.ndarray | None = None,
    class_names: Sequence[str] | Mapping[int, str] | None = None,
    score_threshold: float = 0,
    bbox_color: tuple[int, int, int] = (0, 255, 0),
    text_color: tuple[int, int, int] = (203, 192, 255),
    mask_color: tuple[int, int, int] = (128, 0, 128),
    thickness: int = 2,
    font_size: float = 0.8,
    show: bool = True,
    win_name: str = "win",
    wait_time: int = 2000,
    out_file: str | None = None,
) -> np.ndarray:
    """Draw boxes around objects, with the names of their classes.

    Args:
        image: in RGB, of shape (3, height, width) or (height, width, 3).
        bboxes: of shape (objects, 4), left, top, width and height; or (objects, 5), with a score.
        labels: of shape (objects, 1).
        segm: the mask of each object, of shape (objects or more, height, width).
        class_names: the name of each label; "class 3" stands for a label without one.
        score_threshold: objects whose score is not above it are left out, unless it is 0 or less.
        bbox_color, text_color, mask_color: in the order blue, green, red.
        thickness: of lines and letters.
        font_size: of the names.
        show: show the image in a window.
        win_name: the window's name.
        wait_time: how many milliseconds it waits for a key.
        out_file: the image file to write.

    Returns:
        ndarray of shape (height, width, 3), the image in the order blue, green, red.

    Raises:
        ImportError: without OpenCV.
        AssertionError: if an argument is of another type or shape.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset.vision.drawing import imshow_det_bbox
        >>> image, box = np.zeros((20, 30, 3), np.uint8), np.array([[5, 5, 10, 10]])
        >>> imshow_det_bbox(image, box, np.array([[1]]), class_names=["a", "b"], thickness=1, show=False)[5, 5].tolist()
        [0, 255, 0]
    """
    image = _check_image(image)
    _check_objects(image, bboxes, labels, segm, score_threshold)
    _require(
        class_names is None or isinstance(class_names, (list, tuple, dict)), "class_names", "a list, tuple or dict"
    )
    for name, colour in (("bbox_color", bbox_color), ("text_color", text_color), ("mask_color", mask_color)):
        _require(isinstance(colour, tuple) and len(colour) == 3, name, "a tuple of blue, green and red", colour)
    _require(isinstance(thickness, int) and thickness >= 0, "thickness", "an int of 0 or more", thickness)
    _require(isinstance(font_size, (int, float)) and font_size >= 0, "font_size", "a number of 0 or more", font_size)
    _require(isinstance(win_name, str), "win_name", "a str", win_name)
    _require(isinstance(wait_time, int) and wait_time >= 0, "wait_time", "an int of 0 or more", wait_time)
    _require(out_file is None or isinstance(out_file, str), "out_file", "a str", out_file)
    if score_threshold > 0:
        kept = bboxes[:, 4] > score_threshold
        bboxes, labels = bboxes[kept], labels[kept]
        segm = segm if segm is None else segm[: len(kept)][kept]
    cv2 = opencv(_OWNER)
    image = np.ascontiguousarray(image[..., ::-1])
    for mask in [] if segm is None else segm[: len(bboxes)].astype(bool):
        image[mask] = image[mask] * 0.5 + np.array(mask_color) * 0.5
    for box, (label,) in zip(bboxes, labels, strict=True):
        left, top, right, bottom = (int(n) for n in (box[0], box[1], box[0] + box[2], box[1] + box[3]))
        cv2.rectangle(image, (left, top), (right, bottom), bbox_color, thickness=thickness or 1)
        text = _name(class_names, int(label)) + (f"|{box[4]:.02f}" if len(box) == 5 else "")
        face = cv2.FONT_HERSHEY_SIMPLEX
        cv2.putText(image, text, (left, bottom), face, font_size, text_color, thickness=thickness or 1)
    if out_file is not None:
        folder = os.path.dirname(os.path.abspath(out_file))
        if not os.path.isdir(folder):
            raise FileNotFoundError(complaint("out_file", _OWNER, "in a folder that exists", repr(out_file)))
        cv2.imwrite(out_file, image)
    if show:
        cv2.imshow(win_name, image)
        if cv2.waitKey(wait_time) == _ESCAPE:
            cv2.destroyAllWindows()
    return image


def _require(holds: bool, name: str, wanted: str, found: Any = "another") -> None:
    if not holds:
        raise AssertionError(complaint(name, _OWNER, wanted, repr(found)))


def _check_image(image: Any) -> np.ndarray:
    """The image with its channels last."""
    shape = image.shape if isinstance(image, np.ndarray) else ()
    _require(len(shape) == 3 and 3 in (shape[0], shape[2]), "image", "an array of (3, H, W) or (H, W, 3)", shape)
    return image if shape[2] == 3 else image.transpose(1, 2, 0)


def _check_objects(image: np.ndarray, bboxes: Any, labels: Any, segm: Any, threshold: Any) -> None:
    shape = bboxes.shape if isinstance(bboxes, np.ndarray) else ()
    _require(len(shape) == 2 and shape[1] in (4, 5), "bboxes", "an array of (N, 4) or (N, 5)", shape)
    named = labels.shape if isinstance(labels, np.ndarray) else ()
    _require(named == (shape[0], 1), "labels", f"an array of ({shape[0]}, 1)", named)
    _require(threshold <= 0 or shape[1] == 5, "bboxes", "an array of (N, 5) with 'score_threshold'", shape)
    if segm is not None:
        masks = segm.shape if isinstance(segm, np.ndarray) else ()
        wanted = f"an array of (M, {image.shape[0]}, {image.shape[1]}) with a mask for each box"
        _require(masks[1:] == image.shape[:2] and masks[0] >= shape[0], "segm", wanted, masks)


def _name(names: Any, label: int) -> str:
    """The name of a label, or "class" and its number."""
    there = label in names if isinstance(names, dict) else names is not None and 0 <= label < len(names)
    return str(names[label]) if there else f"class {label}"
