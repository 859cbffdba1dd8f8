"""Ways to interpolate, to fill borders, to convert colours, to read files; and names of layouts and policies."""

from enum import IntEnum, StrEnum


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


class ConvertMode(IntEnum):
    """What ConvertColor makes of what.

    Examples:
        >>> from dist_ms.dataset.vision import ConvertMode
        >>> ConvertMode.COLOR_RGB2BGR is ConvertMode.COLOR_BGR2RGB
        True
    """

    COLOR_BGR2BGRA = COLOR_RGB2RGBA = 0
    COLOR_BGRA2BGR = COLOR_RGBA2RGB = 1
    COLOR_BGR2RGBA = COLOR_RGB2BGRA = 2
    COLOR_RGBA2BGR = COLOR_BGRA2RGB = 3
    COLOR_BGR2RGB = COLOR_RGB2BGR = 4
    COLOR_BGRA2RGBA = COLOR_RGBA2BGRA = 5
    COLOR_BGR2GRAY = 6
    COLOR_RGB2GRAY = 7
    COLOR_GRAY2BGR = COLOR_GRAY2RGB = 8
    COLOR_GRAY2BGRA = COLOR_GRAY2RGBA = 9
    COLOR_BGRA2GRAY = 10
    COLOR_RGBA2GRAY = 11


class ImageBatchFormat(IntEnum):
    """Where a batch has its channels.

    Examples:
        >>> from dist_ms.dataset.vision import ImageBatchFormat
        >>> ImageBatchFormat.NCHW.value
        1
    """

    NHWC = 0
    NCHW = 1


class ImageReadMode(IntEnum):
    """How `read_image` gives an image's channels.

    Examples:
        >>> from dist_ms.dataset.vision import ImageReadMode
        >>> ImageReadMode.COLOR.value
        2
    """

    UNCHANGED = 0
    GRAYSCALE = 1
    COLOR = 2


class SliceMode(IntEnum):
    """What SlicePatches does with pixels beyond whole patches: pads them to a patch, or drops them.

    Examples:
        >>> from dist_ms.dataset.vision import SliceMode
        >>> SliceMode.DROP.value
        1
    """

    PAD = 0
    DROP = 1


class AutoAugmentPolicy(StrEnum):
    """The data that a policy of AutoAugment was found for.

    Examples:
        >>> from dist_ms.dataset.vision import AutoAugmentPolicy
        >>> AutoAugmentPolicy.CIFAR10.value
        'cifar10'
    """

    IMAGENET = "imagenet"
    CIFAR10 = "cifar10"
    SVHN = "svhn"
