"""The packages that transforms of text need, loaded when one is first used; what to install is said here."""

from __future__ import annotations

import importlib
from types import ModuleType


def library(name: str, owner: str) -> ModuleType:
    """A package by its name.

    Raises:
        ImportError: without the package; the text names it.

    Examples:
        >>> from dist_ms.dataset.text.libraries import library
        >>> library("regex", "RegexTokenizer").__name__
        'regex'
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(
            f"For '{owner}', the package '{name}' must be installed, but it was not found ({error}): "
            "pip install dist_ms[text]."
        ) from error
