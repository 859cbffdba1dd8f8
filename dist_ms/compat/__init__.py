"""Run MindSpore scripts unedited: `import mindspore` and its submodules resolve to dist_ms.

    python -m dist_ms.compat script.py arguments...

or, from Python, before anything imports mindspore:

    import dist_ms.compat
    dist_ms.compat.install()

`mindspore.__version__` is then that of the MindSpore whose behaviour dist_ms follows.
"""

from __future__ import annotations

import sys

from dist_ms.common.settings import new_processes
from dist_ms.compat.alias import AliasFinder
from dist_ms.compat.modules import MINDSPORE_VERSION

_finder = AliasFinder("mindspore", "dist_ms", MINDSPORE_VERSION)


def install() -> None:
    """Make `import mindspore` and its submodules resolve to dist_ms, in worker processes of datasets, too.

    Raises:
        RuntimeError: if the real mindspore is imported already.

    Examples:
        >>> import dist_ms.compat
        >>> dist_ms.compat.install()
        >>> import mindspore.nn
        >>> mindspore.nn.Cell is dist_ms.nn.Cell
        True
        >>> dist_ms.compat.uninstall()
    """
    if _finder in sys.meta_path:
        return
    loaded = sys.modules.get("mindspore")
    if loaded is not None:
        raise RuntimeError(
            "For 'dist_ms.compat.install', mindspore must not be imported before, but it is, from "
            f"{getattr(loaded, '__file__', '?')}: call install() first."
        )
    sys.meta_path.insert(0, _finder)
    new_processes.first.append(install)


def uninstall() -> None:
    """Undo `install`: a later `import mindspore` finds the real one, if there is one."""
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
        new_processes.first.remove(install)
        _finder.forget()
