"""Images as seen from another place."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_float, check_int_range, check_number_range, check_type, complaint
from dist_ms.dataset.draws import generator
from dist_ms.dataset.vision.arguments import INT32, interpolation_of
from dist_ms.dataset.vision.enums import Inter
from dist_ms.dataset.vision.geometry.warping import warpable, warping_code
from dist_ms.dataset.vision.libraries import is_pil, opencv, pillow
from dist_ms.dataset.vision.operation import ImageOperation, OnDevice, RandomImageOperation
from dist_ms.dataset.vision.resizing import pil_code


def _points(points: Any, name: str, owner: str) -> list[tuple[int, int]]:
    """Four places (x, y)."""
    for point in check_type(points, name, owner, (list, tuple)):
        check_type(point, name, owner, (list, tuple))
    if len(points) != 4 or any(len(point) != 2 for point in points):
        raise TypeError(complaint(name, owner, "four pairs (x, y)", repr(points)))
    return [tuple(check_int_range(value, name, owner, -INT32 - 1, INT32) for value in point) for point in points]


def pil_perspective(img: Any, start: list, end: list, code: int, owner: str) -> Any:
    """A PIL image whose places `start` are moved to `end`."""
    rows = []
    for (x, y), (u, v) in zip(end, start):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
    found = np.linalg.lstsq(np.array(rows, float), np.array(start, float).ravel(), rcond=None)[0]
    return img.transform(img.size, pillow(owner).Image.Transform.PERSPECTIVE, found.tolist(), code)


class Perspective(ImageOperation, OnDevice):
    """The image with four of its places moved to four others.

    Args:
        start_points: the places, four pairs (x, y).
        end_points: where they go.
        interpolation: of arrays NEAREST, LINEAR, BICUBIC, AREA or PILCUBIC, of PIL images NEAREST, LINEAR or BICUBIC.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> corners = [(0, 0), (1, 0), (1, 1), (0, 1)]
        >>> print(vision.Perspective(corners, corners[::-1])(np.array([[1, 2], [3, 4]], np.uint8)))
        [[3 4]
         [1 2]]
    """

    def __init__(self, start_points: Any, end_points: Any, interpolation: Inter = Inter.BILINEAR) -> None:
        self.start = _points(start_points, "start_points", "Perspective")
        self.end = _points(end_points, "end_points", "Perspective")
        self.kind = interpolation_of(interpolation, "interpolation", "Perspective")
        self.python_only = self.kind == Inter.ANTIALIAS

    def on_array(self, array: np.ndarray) -> np.ndarray:
        kind = Inter.LINEAR if self.kind == Inter.PILCUBIC else self.kind
        array, code = warpable(array, "Perspective"), warping_code(kind, "Perspective")
        cv2 = opencv("Perspective")
        matrix = cv2.getPerspectiveTransform(np.float32(self.start), np.float32(self.end))
        result = cv2.warpPerspective(array, matrix, (array.shape[1], array.shape[0]), flags=code)
        return result.reshape(array.shape)

    def on_pil(self, img: Any) -> Any:
        return pil_perspective(img, self.start, self.end, pil_code(self.kind, "Perspective"), "Perspective")


class RandomPerspective(RandomImageOperation):
    """A PIL image whose corners are moved inwards by drawn distances, with probability `prob`, else as it is.

    Args:
        distortion_scale: the largest distance, as a part of half the side; from 0.0 to 1.0.
        prob: from 0.0 to 1.0.
        interpolation: NEAREST, LINEAR, BICUBIC or ANTIALIAS.

    Raises:
        ValueError: when called, if it is not given a PIL image.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import transforms, vision
        >>> seen = transforms.Compose([vision.ToPIL(), vision.RandomPerspective(prob=1.0), vision.ToNumpy()])
        >>> seen(np.zeros((8, 9, 3), np.uint8))[0].shape
        (8, 9, 3)
    """

    python_only = True

    def __init__(self, distortion_scale: float = 0.5, prob: float = 0.5, interpolation: Inter = Inter.BICUBIC) -> None:
        for name, value in (("distortion_scale", distortion_scale), ("prob", prob)):
            check_number_range(check_float(value, name, "RandomPerspective"), name, "RandomPerspective", 0, 1)
        self.distortion_scale, self.prob = distortion_scale, prob
        self.kind = interpolation_of(interpolation, "interpolation", "RandomPerspective")

    def __call__(self, img: Any) -> Any:
        """Transform one image."""
        if not is_pil(img):
            raise ValueError(complaint("image", "RandomPerspective", "a PIL image", type(img).__name__))
        return super().__call__(img)

    def parameters(self, height: int, width: int) -> list[tuple[int, int]] | None:
        """Draw where the corners go, clockwise from the upper left; None changes nothing."""
        draw = generator()
        if draw.random() >= self.prob:
            return None
        most_x, most_y = int(width / 2 * self.distortion_scale), int(height / 2 * self.distortion_scale)
        inwards = [(int(draw.integers(most_x + 1)), int(draw.integers(most_y + 1))) for _ in range(4)]
        right, bottom = width - 1, height - 1
        (a, b), (c, d), (e, f), (g, h) = inwards
        return [(a, b), (right - c, d), (right - e, bottom - f), (g, bottom - h)]

    def apply_pil(self, img: Any, parameters: list[tuple[int, int]] | None) -> Any:
        if parameters is None:
            return img
        right, bottom = img.size[0] - 1, img.size[1] - 1
        start, code = [(0, 0), (right, 0), (right, bottom), (0, bottom)], pil_code(self.kind, "RandomPerspective")
        return pil_perspective(img, start, parameters, code, "RandomPerspective")
