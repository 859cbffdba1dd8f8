"""Ways to interpolate between pixels and to fill borders."""

from enum import IntEnum, StrEnum

__all__ = ["Border", "Inter"]


class Inter(IntEnum):
    """Interpolation of resized and turned images.

    Examples:
        >>> from dist_ms.dataset.vision import Inter
        >>> Inter.LINEAR is Inter.BILINEAR
        True
    """

    NEAREST = 0
    ANTIALIAS = 1
    BILINEAR = LINEAR = 2
    BICUBIC = CUBIC = 3
    AREA = 4
    PILCUBIC = 5


class Border(StrEnum):
    """What is put around a padded image.

    Examples:
        >>> from dist_ms.dataset.vision import Border
        >>> Border.EDGE.value
        'edge'
    """

    CONSTANT = "constant"
    EDGE = "edge"
    REFLECT = "reflect"
    SYMMETRIC = "symmetric"
