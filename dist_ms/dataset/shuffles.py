"""Shuffle: among which rows an order is drawn."""

from enum import StrEnum

__all__ = ["Shuffle"]


class Shuffle(StrEnum):
    """Among which rows an order is drawn.

    FALSE: none, the rows keep their order. GLOBAL: all rows. FILES: the files keep their rows' order, and only the
    files are shuffled. INFILE: the rows of each file among themselves. PARTIAL: rows within stretches of a million;
    ADAPTIVE: so above a hundred million rows only.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> ds.Shuffle.FILES.value
        'files'
    """

    FALSE = "false"
    GLOBAL = "global"
    FILES = "files"
    INFILE = "infile"
    ADAPTIVE = "adaptive"
    PARTIAL = "partial"
