"""Names that scripts import but dist_ms does not build: importing them works, using them says why not."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["refused"]


def refused(name: str, lacks: str, remedy: str) -> type:
    """A class under `name` that cannot be constructed.

    Args:
        name: the class's name.
        lacks: what dist_ms lacks, the middle of the error's sentence.
        remedy: what to do instead, the error's last sentence.

    Returns:
        type, whose constructor raises NotImplementedError with that text.

    Examples:
        >>> from dist_ms.common.refusing import refused
        >>> try:
        ...     refused("TFRecordDataset", "reads no TFRecord files", "Use GeneratorDataset.")()
        ... except NotImplementedError as error:
        ...     print(error)
        'TFRecordDataset' is not available: dist_ms reads no TFRecord files. Use GeneratorDataset.
    """

    def __new__(cls: type, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"'{name}' is not available: dist_ms {lacks}. {remedy}")

    return type(name, (), {"__new__": __new__, "__doc__": f"Not available: dist_ms {lacks}. {remedy}"})
