"""Transforms of pictures as `mindspore.dataset.vision.py_transforms` named them, before there was one set of them.

The others of that module, and those of `c_transforms`, are transforms of `dataset.vision` and `dataset.transforms`
under their names of today.
"""

from __future__ import annotations

from collections.abc import Sequence

from dist_ms.dataset import vision

__all__ = ["Cutout", "Decode", "Normalize", "NormalizePad"]


class Decode(vision.Decode):
    """Decodes a picture file to a Pillow image.

    Examples:
        >>> from io import BytesIO
        >>> import numpy as np
        >>> from PIL import Image
        >>> from dist_ms.dataset.vision.older_names import Decode
        >>> file = BytesIO()
        >>> Image.new("RGB", (3, 2)).save(file, "png")
        >>> Decode()(np.frombuffer(file.getvalue(), np.uint8)).size
        (3, 2)
    """

    def __init__(self) -> None:
        super().__init__(to_pil=True)


class Normalize(vision.Normalize):
    """(x - mean) / std of pictures whose first axis is the channels'.

    Args:
        mean: of each channel.
        std: of each channel.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset.vision.older_names import Normalize
        >>> Normalize([1.0, 2.0], [0.5, 1.0])(np.full((2, 1, 1), 3.0, np.float32)).ravel().tolist()
        [4.0, 1.0]
    """

    def __init__(self, mean: Sequence[float], std: Sequence[float]) -> None:
        super().__init__(mean, std, is_hwc=False)


class NormalizePad(vision.NormalizePad):
    """(x - mean) / std of pictures whose first axis is the channels', and a channel of zeros after them.

    Args:
        mean: of each channel.
        std: of each channel.
        dtype: of the result, "float32" or "float16".

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset.vision.older_names import NormalizePad
        >>> NormalizePad([0.0] * 3, [2.0] * 3)(np.ones((3, 1, 1), np.float32)).ravel().tolist()
        [0.5, 0.5, 0.5, 0.0]
    """

    def __init__(self, mean: Sequence[float], std: Sequence[float], dtype: str = "float32") -> None:
        super().__init__(mean, std, dtype, is_hwc=False)


class Cutout(vision.CutOut):
    """Zeros in squares of pictures whose first axis is the channels'.

    Args:
        length: of a square's side.
        num_patches: how many squares.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset.vision.older_names import Cutout
        >>> Cutout(3)(np.ones((3, 4, 5), np.float32)).shape
        (3, 4, 5)
    """

    def __init__(self, length: int, num_patches: int = 1) -> None:
        super().__init__(length, num_patches, is_hwc=False)
