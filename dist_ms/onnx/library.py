"""The package `onnx`, loaded when it is first used."""

from __future__ import annotations

from dist_ms.common.late_names import LateModule

__all__ = ["check_installed", "onnx"]

onnx = LateModule("onnx")


def check_installed(owner: str) -> None:
    """Refuse to go on without the package.

    Raises:
        ImportError: if it is missing.
    """
    try:
        onnx.checker  # noqa: B018
    except ImportError as error:
        raise ImportError(
            f"For '{owner}', the package 'onnx' must be installed, but it is missing: "
            "pip install onnx (or dist_ms's extra: pip install 'dist_ms[onnx]')."
        ) from error
