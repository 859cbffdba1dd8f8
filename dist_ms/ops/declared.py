"""The names that files of this floor declare, found without importing them: a file loads when one is first used.

What a file gives to `dist_ms.ops` is in its `__all__`, written out as a list of strings near its start.
"""

from __future__ import annotations

import functools
import os

from dist_ms.common.late_names import names_in

# Other forms of functions that have their names already, found by `extended_names`; gradients as operations.
_NOT_SHOWN = ("extended", "backward")


@functools.cache
def declared() -> dict[str, str]:
    """Return the module of each name, such as "dist_ms.ops.shaping.tiling".

    Examples:
        >>> from dist_ms.ops.declared import declared
        >>> declared()["relu"]
        'dist_ms.ops.activations.activation'
    """
    found = {}
    for family in os.scandir(os.path.dirname(__file__)):
        if not family.is_dir() or family.name.startswith("_") or family.name in _NOT_SHOWN:
            continue
        for file in os.listdir(family.path):
            if file.endswith(".py"):
                owner = f"dist_ms.ops.{family.name}.{file.removesuffix('.py')}"
                found |= dict.fromkeys(names_in(os.path.join(family.path, file)), owner)
    return found
