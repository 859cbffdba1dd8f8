"""MindSpore's check of products for silent corruption of data: an Ascend device has it, a CPU has not."""

from __future__ import annotations

from dist_ms.common.once import warn_once

__all__ = ["get_sdc_detect_result", "sdc_detect_start", "sdc_detect_stop"]


def sdc_detect_start() -> None:
    """Ask for products to be checked; as in MindSpore on a CPU none is, which a warning says once.

    Examples:
        >>> from dist_ms.runtime.data_corruption import sdc_detect_start
        >>> sdc_detect_start()
    """
    warn_once(
        "sdc", "'sdc_detect_start' checks nothing on a CPU; 'dist-ms doctor' and ECC memory find faulty hardware."
    )


def sdc_detect_stop() -> None:
    """Ask for products not to be checked any more."""


def get_sdc_detect_result() -> bool:
    """Return whether a check has found something: False, as nothing is checked."""
    return False
