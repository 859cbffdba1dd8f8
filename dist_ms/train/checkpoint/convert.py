"""Convert checkpoint files between `.ckpt` and safetensors."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from dist_ms.common.checks import check_positive_int, check_type
from dist_ms.train.checkpoint import ckpt_format, safetensors_format
from dist_ms.train.checkpoint.file_reading import read_entries
from dist_ms.train.checkpoint.sealed_file import Seal, write_file


def ckpt_to_safetensors(
    file_path: str,
    save_path: str | None = None,
    name_map: dict[str, str] | None = None,
    file_name_regex: str | None = None,
    processes_num: int = 1,
) -> None:
    """Convert `.ckpt` files to safetensors.

    Args:
        file_path: a `.ckpt` file, or a folder with sub-folders `rank*` that hold such files.
        save_path: the folder to write to (made if missing), with the same sub-folders;
            None: beside the originals.
        name_map: new names for parameters, from the old ones.
        file_name_regex: convert only files in whose name this is found.
        processes_num: how many files to convert at a time (in threads).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if there is nothing to convert at `file_path`, `save_path` is no folder, a
            file is damaged or encrypted, or two parameters would get one name.

    Examples:
        >>> import tempfile
        >>> import dist_ms as ms
        >>> folder = tempfile.mkdtemp()
        >>> ms.save_checkpoint({"w": ms.Tensor([1.0])}, folder + "/a.ckpt")
        >>> ms.ckpt_to_safetensors(folder + "/a.ckpt")
        >>> print(ms.load_checkpoint(folder + "/a.safetensors", format="safetensors"))
        {'w': Parameter (name=w, shape=(1,), dtype=Float32, requires_grad=True)}
    """
    _convert(
        "ckpt_to_safetensors",
        "ckpt",
        "safetensors",
        file_path,
        save_path,
        name_map,
        file_name_regex,
        processes_num,
    )


def safetensors_to_ckpt(
    file_path: str,
    save_path: str | None = None,
    name_map: dict[str, str] | None = None,
    file_name_regex: str | None = None,
    processes_num: int = 1,
) -> None:
    """`ckpt_to_safetensors` the other way, from `.safetensors` files to `.ckpt`.

    Examples:
        >>> import tempfile
        >>> import dist_ms as ms
        >>> folder = tempfile.mkdtemp()
        >>> ms.save_checkpoint({"w": ms.Tensor([1.0])}, folder + "/a", format="safetensors")
        >>> ms.safetensors_to_ckpt(folder + "/a.safetensors", name_map={"w": "weight"})
        >>> list(ms.load_checkpoint(folder + "/a.ckpt"))
        ['weight']
    """
    _convert(
        "safetensors_to_ckpt",
        "safetensors",
        "ckpt",
        file_path,
        save_path,
        name_map,
        file_name_regex,
        processes_num,
    )


def _convert(
    owner: str,
    old: str,
    new: str,
    file_path: Any,
    save_path: Any,
    name_map: Any,
    file_name_regex: Any,
    processes_num: Any,
) -> None:
    """Check the arguments, find the files and convert each."""
    if name_map is not None and not isinstance(name_map, dict):
        raise ValueError(f"For '{owner}', 'name_map' must be None or a dict, but got {type(name_map).__name__}.")
    check_positive_int(processes_num, "processes_num", owner)
    if file_name_regex is not None:
        check_type(file_name_regex, "file_name_regex", owner, str)
    if save_path is not None:
        _check_save_path(owner, save_path)
    jobs = list(_jobs(owner, old, new, file_path, save_path, file_name_regex))
    with ThreadPoolExecutor(processes_num) as pool:
        list(pool.map(lambda job: _convert_file(owner, job[0], job[1], old, new, name_map or {}), jobs))


def _check_save_path(owner: str, save_path: Any) -> None:
    """Refuse a file, or what looks like the name of one."""
    check_type(save_path, "save_path", owner, str)
    extension = os.path.splitext(save_path)[1]
    if (os.path.exists(save_path) and not os.path.isdir(save_path)) or extension in (
        ".ckpt",
        ".safetensors",
    ):
        raise ValueError(f"For '{owner}', 'save_path' must be a folder, but got '{save_path}'.")


def _jobs(
    owner: str, old: str, new: str, file_path: Any, save_path: str | None, regex: str | None
) -> Iterator[tuple[str, str]]:
    """Yield the files to convert and what to convert them to."""
    if isinstance(file_path, str) and os.path.isfile(file_path):
        if not file_path.endswith(f".{old}"):
            raise ValueError(f"For '{owner}', 'file_path' must end with '.{old}', but got '{file_path}'.")
        folder, name = os.path.split(file_path)
        if regex is not None and not re.search(regex, name):
            raise ValueError(
                f"For '{owner}', 'file_name_regex' must match the name of the file, "
                f"but '{regex}' is not found in '{name}'."
            )
        yield (
            file_path,
            os.path.join(folder if save_path is None else save_path, _renamed(name, new)),
        )
        return
    if not isinstance(file_path, str) or not os.path.isdir(file_path):
        raise ValueError(f"For '{owner}', 'file_path' must be an existing file or folder, but got {file_path!r}.")
    with os.scandir(file_path) as entries:
        ranks = sorted(entry.name for entry in entries if entry.is_dir() and entry.name.startswith("rank"))
    if not ranks:
        raise ValueError(
            f"For '{owner}', a 'file_path' that is a folder must have sub-folders named 'rank...', "
            f"but '{file_path}' has none: give the file itself."
        )
    for rank in ranks:
        for name in sorted(os.listdir(os.path.join(file_path, rank))):
            if name.endswith(f".{old}") and (regex is None or re.search(regex, name)):
                target = os.path.join(file_path if save_path is None else save_path, rank, _renamed(name, new))
                yield os.path.join(file_path, rank, name), target


def _renamed(name: str, extension: str) -> str:
    return f"{os.path.splitext(name)[0]}.{extension}"


def _convert_file(owner: str, source: str, target: str, old: str, new: str, name_map: dict[str, str]) -> None:
    """Convert one file."""
    entries: dict[str, Any] = {}
    for name, value in read_entries(owner, source, old):
        name = name_map.get(name, name)
        if name in entries:
            raise ValueError(
                f"For '{owner}', 'name_map' must keep names apart, but two parameters of {source} become '{name}'."
            )
        entries[name] = value
    writer = ckpt_format if new == "ckpt" else safetensors_format
    os.makedirs(os.path.dirname(target) or ".", exist_ok=True)
    write_file(target, writer.write_entries(entries.items()), Seal())
