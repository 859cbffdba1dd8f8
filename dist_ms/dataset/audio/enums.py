"""Choices that transforms of audio take."""

from enum import Enum

__all__ = [
    "BorderType",
    "DensityFunction",
    "FadeShape",
    "GainType",
    "Interpolation",
    "MelType",
    "Modulation",
    "NormMode",
    "NormType",
    "ResampleMethod",
    "ScaleType",
    "WindowType",
]


class BorderType(str, Enum):  # noqa: UP042
    """How a signal is continued beyond its ends.

    Examples:
        >>> from dist_ms.dataset.audio import BorderType
        >>> BorderType.CONSTANT.value
        'constant'
    """

    CONSTANT = "constant"
    EDGE = "edge"
    REFLECT = "reflect"
    SYMMETRIC = "symmetric"


class DensityFunction(str, Enum):  # noqa: UP042
    """The distribution of the noise that Dither adds: triangular, rectangular or Gaussian.

    Examples:
        >>> from dist_ms.dataset.audio import DensityFunction
        >>> DensityFunction.TPDF.value
        'TPDF'
    """

    TPDF = "TPDF"
    RPDF = "RPDF"
    GPDF = "GPDF"


class FadeShape(str, Enum):  # noqa: UP042
    """The curve along which Fade raises and lowers a signal.

    Examples:
        >>> from dist_ms.dataset.audio import FadeShape
        >>> FadeShape.QUARTER_SINE.value
        'quarter_sine'
    """

    QUARTER_SINE = "quarter_sine"
    HALF_SINE = "half_sine"
    LINEAR = "linear"
    LOGARITHMIC = "logarithmic"
    EXPONENTIAL = "exponential"


class GainType(str, Enum):  # noqa: UP042
    """What Vol's gain is: a factor, a ratio of powers or decibels.

    Examples:
        >>> from dist_ms.dataset.audio import GainType
        >>> GainType.AMPLITUDE.value
        'amplitude'
    """

    AMPLITUDE = "amplitude"
    POWER = "power"
    DB = "db"


class Interpolation(str, Enum):  # noqa: UP042
    """How Flanger reads between two samples.

    Examples:
        >>> from dist_ms.dataset.audio import Interpolation
        >>> Interpolation.LINEAR.value
        'linear'
    """

    LINEAR = "linear"
    QUADRATIC = "quadratic"


class MelType(str, Enum):  # noqa: UP042
    """The formula of the mel scale.

    Examples:
        >>> from dist_ms.dataset.audio import MelType
        >>> MelType.HTK.value
        'htk'
    """

    HTK = "htk"
    SLANEY = "slaney"


class Modulation(str, Enum):  # noqa: UP042
    """The wave that moves Flanger's delay.

    Examples:
        >>> from dist_ms.dataset.audio import Modulation
        >>> Modulation.SINUSOIDAL.value
        'sinusoidal'
    """

    SINUSOIDAL = "sinusoidal"
    TRIANGULAR = "triangular"


class NormMode(str, Enum):  # noqa: UP042
    """Whether a cosine transform's rows have unit length.

    Examples:
        >>> from dist_ms.dataset.audio import NormMode
        >>> NormMode.ORTHO.value
        'ortho'
    """

    ORTHO = "ortho"
    NONE = "none"


class NormType(str, Enum):  # noqa: UP042
    """Whether mel filters are divided by their widths.

    Examples:
        >>> from dist_ms.dataset.audio import NormType
        >>> NormType.SLANEY.value
        'slaney'
    """

    SLANEY = "slaney"
    NONE = "none"


class ResampleMethod(str, Enum):  # noqa: UP042
    """The window of Resample's filter: a squared cosine or Kaiser's.

    Examples:
        >>> from dist_ms.dataset.audio import ResampleMethod
        >>> ResampleMethod.SINC_INTERPOLATION.value
        'sinc_interpolation'
    """

    SINC_INTERPOLATION = "sinc_interpolation"
    KAISER_WINDOW = "kaiser_window"


class ScaleType(str, Enum):  # noqa: UP042
    """What AmplitudeToDB is given: powers or magnitudes.

    Examples:
        >>> from dist_ms.dataset.audio import ScaleType
        >>> ScaleType.POWER.value
        'power'
    """

    POWER = "power"
    MAGNITUDE = "magnitude"


class WindowType(str, Enum):  # noqa: UP042
    """The window of each frame of a spectrogram.

    Examples:
        >>> from dist_ms.dataset.audio import WindowType
        >>> WindowType.BARTLETT.value
        'bartlett'
    """

    BARTLETT = "bartlett"
    BLACKMAN = "blackman"
    HAMMING = "hamming"
    HANN = "hann"
    KAISER = "kaiser"
