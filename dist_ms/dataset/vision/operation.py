"""What image transforms have in common: what they take, and one draw of random numbers for all images of a call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from dist_ms.common.checks import check_string, complaint
from dist_ms.dataset.vision.images import image
from dist_ms.dataset.vision.libraries import is_pil


class ImageOperation:
    """A transform of images: NumPy arrays (H, W), (H, W, C) or batches of the latter, and PIL images.

    A subclass has `on_array`, for one array, and `on_pil`, if a PIL image's result is another one; without it such
    an image is taken as an array.
    """

    random = False
    on_pil: ClassVar[Callable | None] = None

    def __call__(self, *images: Any) -> Any:
        """Transform one image, or several in the same way, as a tuple then."""
        if not images:
            raise RuntimeError(complaint("image", type(self).__name__, "given", "nothing"))
        for value in images:
            self.check_input(value)
        if len(images) == 1 and is_pil(images[0]) and self.on_pil is not None:
            return self.on_pil(images[0])
        arrays = [np.asarray(value, order="C") for value in images]
        for array in arrays:
            self.check_array(array)
        try:
            results = self.on_arrays(arrays)
        except Exception as error:
            if type(error).__name__ != "error":  # OpenCV's own, of a module that may not be loaded
                raise
            raise RuntimeError(f"For '{type(self).__name__}', OpenCV must take the image, but: {error}") from error
        return results[0] if len(results) == 1 else tuple(results)

    def check_input(self, value: Any) -> None:
        """Require an array or a PIL image."""
        if not isinstance(value, np.ndarray) and not is_pil(value):
            found = type(value).__name__
            raise TypeError(complaint("image", type(self).__name__, "a NumPy array or a PIL image", found))

    def check_array(self, array: np.ndarray) -> None:
        """Require pixels."""
        if not array.size:
            wanted = "an array with pixels (leave others out with filter)"
            raise RuntimeError(complaint("image", type(self).__name__, wanted, f"of shape {array.shape}"))
        if array.dtype.kind in "SUO":
            raise RuntimeError(complaint("image", type(self).__name__, "an array of numbers", f"of {array.dtype}"))

    def on_arrays(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        """Transform each array."""
        return [self._each(array, self.on_array) for array in arrays]

    def _each(self, array: np.ndarray, transform: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Transform one image, or every one of a batch."""
        if array.ndim <= 3:
            return transform(image(array, type(self).__name__))
        flat = [transform(one) for one in array.reshape(-1, *array.shape[-3:])]
        return np.stack(flat).reshape(*array.shape[:-3], *flat[0].shape)

    def on_array(self, array: np.ndarray) -> np.ndarray:
        """Transform one array of two or three dimensions."""
        raise NotImplementedError(f"{type(self).__name__} has no on_array.")


class OnDevice:
    """The method `device` of transforms that MindSpore runs on Ascend as well."""

    def device(self, device_target: str = "CPU") -> Any:
        """Say where the transform runs.

        Args:
            device_target: "CPU", the only one there is.

        Returns:
            the transform itself.

        Raises:
            TypeError: if it is no str.
            ValueError: if it is another one.

        Examples:
            >>> from dist_ms.dataset import vision
            >>> vision.HorizontalFlip().device("CPU").random
            False
        """
        owner = f"{type(self).__name__}.device"
        check_string(check_string(device_target, "device_target", owner), "device_target", owner, ["CPU"])
        return self


class RandomImageOperation(ImageOperation):
    """A transform with drawn parameters; images of one call that are of one size share them.

    A subclass draws all it needs in `parameters`, in a fixed order, and does the work in `apply` for an array and
    `apply_pil` for a PIL image.
    """

    random = True
    apply_pil: ClassVar[Callable | None] = None

    def parameters(self, height: int, width: int) -> Any:
        """Draw what one image of this size needs."""
        raise NotImplementedError(f"{type(self).__name__} has no parameters.")

    def apply(self, array: np.ndarray, parameters: Any) -> np.ndarray:
        """Transform one array with drawn parameters."""
        raise NotImplementedError(f"{type(self).__name__} has no apply.")

    def __call__(self, *images: Any) -> Any:
        """Transform one image, or several with the same drawn parameters, as a tuple then."""
        if len(images) == 1 and is_pil(images[0]) and self.apply_pil is not None:
            width, height = images[0].size
            return self.apply_pil(images[0], self.parameters(height, width))
        return super().__call__(*images)

    def on_arrays(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        """Transform each array; those of the first one's size with the first one's parameters."""
        drawn: dict[tuple[int, int], Any] = {}
        results = []
        for array in arrays:
            if array.ndim < 2:
                image(array, type(self).__name__)
            size = array.shape[-3:-1] if array.ndim > 2 else array.shape
            if size not in drawn:
                drawn[size] = self.parameters(*size)
            results.append(self._each(array, lambda one, p=drawn[size]: self.apply(one, p)))
        return results
