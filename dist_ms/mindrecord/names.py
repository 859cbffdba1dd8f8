"""Names of MindRecord files."""

from __future__ import annotations

import os
from typing import Any

from dist_ms.mindrecord.exceptions import ParamValueError

_FORBIDDEN = set("\\/:*?\"<>|`&;'")


def check_filename(path: Any, arg_name: str = "file_name") -> str:
    """Check the name of a file.

    Raises:
        ParamValueError: if it is none.
    """
    if not isinstance(path, str) or not path:
        raise ParamValueError(f"'{arg_name}' must be the path of a file, but got {path!r}.")
    name = os.path.basename(path)
    if not name or set(name) & _FORBIDDEN or name != name.strip(" "):
        raise ParamValueError(
            f"'{arg_name}' must name a file without {''.join(sorted(_FORBIDDEN))} and spaces at its ends, but got "
            f"{path!r}."
        )
    return path
