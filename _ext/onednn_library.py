"""Finds oneDNN's files, and loads its library before `dist_ms._ext.dnnl` needs it.

Uses the standard library only: setup.py reads this file too, for the headers.
"""

import ctypes
import os
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

SONAME = "libdnnl.so.3"
WHEELS = ("onednn-cpu-gomp", "onednn-devel-cpu-gomp")
FOLDERS = ("lib", "lib64", "include", "include/oneapi/dnnl")


def find_file(name: str) -> Path | None:
    """Return the path of one of oneDNN's files, or None.

    A file under the environment variable `DNNLROOT` wins over the one of the PyPI wheels.

    Args:
        name: File name without a folder, e.g. ``"libdnnl.so.3"`` or ``"dnnl.h"``.

    Raises:
        ImportError: `DNNLROOT` is set, but the file is not below it.

    >>> find_file("libdnnl.so.3").name
    'libdnnl.so.3'
    >>> find_file("no_such_file") is None
    True
    """
    root = os.environ.get("DNNLROOT")
    if root:
        candidates = [Path(root, folder, name) for folder in FOLDERS]
        found = next((path for path in candidates if path.is_file()), None)
        if found is None:
            raise ImportError(
                f"DNNLROOT is '{root}', but '{name}' is in none of its folders "
                f"{', '.join(FOLDERS)}; set DNNLROOT to a oneDNN 3 installation or unset it."
            )
        return found
    import importlib.metadata  # only here: it takes a tenth of what importing dist_ms takes

    for wheel in WHEELS:
        try:
            files = importlib.metadata.files(wheel) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        for file in files:
            if file.name == name:
                path = Path(file.locate()).resolve()
                if path.is_file():
                    return path
    return None


def load() -> None:
    """Load oneDNN into the process: `DNNLROOT`'s, else the wheel's, else the system's.

    Raises:
        ImportError: There is none, or it cannot be loaded.
    """
    path = find_file(SONAME) or SONAME
    try:
        ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        raise ImportError(
            f"oneDNN could not be loaded ({error}); run 'pip install onednn-cpu-gomp==2023.2.0', "
            "or set DNNLROOT to a oneDNN 3 installation."
        ) from error


class LoadBeforeImport:
    """Import hook: loads oneDNN when the module that is linked to it is first asked for."""

    def __init__(self, module: str) -> None:
        self.module = module

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Load oneDNN if `name` is the module, and leave finding it to the other finders."""
        if name == self.module:
            load()
        return None
