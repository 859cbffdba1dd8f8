"""OpenCV and Pillow, loaded when a transform first needs one; what to install is said here."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


def _absent(owner: str, package: str, error: ImportError) -> ImportError:
    return ImportError(
        f"For '{owner}', the package '{package}' must be installed, but it was not found ({error}): "
        "pip install dist_ms[vision]."
    )


def opencv(owner: str) -> ModuleType:
    """OpenCV's module, `cv2`, without Intel's IPP on this thread, whose rounding is not MindSpore's.

    Raises:
        ImportError: without the package; the text names it.
    """
    try:
        import cv2
    except ImportError as error:
        raise _absent(owner, "opencv-python-headless", error) from error
    cv2.ipp.setUseIPP(False)
    return cv2


def pillow(owner: str) -> ModuleType:
    """Pillow's module, `PIL`, with the parts that transforms use.

    Raises:
        ImportError: without the package; the text names it.
    """
    try:
        import PIL
        import PIL.Image
        import PIL.ImageEnhance
        import PIL.ImageOps
    except ImportError as error:
        raise _absent(owner, "Pillow", error) from error
    return PIL


def is_pil(value: Any) -> bool:
    """Whether it is a PIL image; Pillow is not loaded for the question."""
    module = sys.modules.get("PIL.Image")
    return module is not None and isinstance(value, module.Image)
