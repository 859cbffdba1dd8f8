"""The names that files of this floor declare, found without importing them: a file loads when one is first used.

What a file gives to `dist_ms.ops` is in its `__all__`, written out as a list of strings near its start.
"""

from __future__ import annotations

import functools
import os
import re

_OTHER_FORMS = "extended"  # of functions that have their names already: `extended_names` finds those
_HEAD = 8192  # bytes of a file in which the list must be
_LIST = re.compile(rb"^__all__ = \[(.*?)\]", re.MULTILINE | re.DOTALL)
_NAME = re.compile(rb'"(\w+)"')


@functools.cache
def declared() -> dict[str, str]:
    """Return the file below `dist_ms` of each name, such as "ops.shaping.tiling".

    Examples:
        >>> from dist_ms.ops.declared import declared
        >>> declared()["relu"]
        'ops.activations.activation'
    """
    found = {}
    for family in os.scandir(os.path.dirname(__file__)):
        if not family.is_dir() or family.name.startswith("_") or family.name == _OTHER_FORMS:
            continue
        for file in os.listdir(family.path):
            if file.endswith(".py"):
                with open(os.path.join(family.path, file), "rb") as text:
                    names = _LIST.search(text.read(_HEAD))
                if names is not None:
                    owner = f"ops.{family.name}.{file.removesuffix('.py')}"
                    found |= dict.fromkeys((name.decode() for name in _NAME.findall(names[1])), owner)
    return found
