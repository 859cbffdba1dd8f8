"""What converters give back."""

from enum import Enum

__all__ = ["FAILED", "SUCCESS"]


class MSRStatus(Enum):
    """Whether something was done.

    Examples:
        >>> from dist_ms.mindrecord import FAILED, SUCCESS
        >>> SUCCESS is FAILED
        False
    """

    SUCCESS = 0
    FAILED = 1


SUCCESS, FAILED = MSRStatus.SUCCESS, MSRStatus.FAILED
