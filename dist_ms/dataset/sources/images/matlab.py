"""Files of MATLAB, read by SciPy."""

from __future__ import annotations

from pathlib import Path

import numpy as np


def read_matlab(path: Path, names: tuple[str, ...], owner: str) -> dict[str, np.ndarray]:
    """Arrays of a file.

    Raises:
        RuntimeError: if it is no such file, or has no such arrays.
    """
    from scipy.io import loadmat

    try:
        content = loadmat(path)
    except Exception as error:  # SciPy raises many kinds for what is no such file
        raise RuntimeError(
            f"For '{owner}', {str(path)!r} must be a MATLAB file, but {type(error).__name__}: {error}."
        ) from None
    missing = [name for name in names if name not in content]
    if missing:
        raise RuntimeError(f"For '{owner}', {str(path)!r} must have the array {missing[0]!r}, but it has not.")
    return {name: np.asarray(content[name]) for name in names}
