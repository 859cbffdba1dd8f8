"""Save and load parameters: MindSpore's functions, its files, and its rules."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from dist_ms.common.checks import check_bool, check_int, check_string
from dist_ms.common.lanes import span
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import wrap
from dist_ms.train.checkpoint import background, ckpt_format, safetensors_format
from dist_ms.train.checkpoint.arguments import (
    async_method,
    check_flag,
    file_to_read,
    format_of,
    path_to_write,
    seal_of,
    selection,
)
from dist_ms.train.checkpoint.convert import ckpt_to_safetensors, safetensors_to_ckpt
from dist_ms.train.checkpoint.dividing.transform import (
    load_distributed_checkpoint,
    rank_list_for_transform,
    transform_checkpoint_by_rank,
    transform_checkpoints,
)
from dist_ms.train.checkpoint.dividing.unified import unified_safetensors
from dist_ms.train.checkpoint.entries import entries_of
from dist_ms.train.checkpoint.file_reading import read_entries
from dist_ms.train.checkpoint.load_into_net import load_param_into_net
from dist_ms.train.checkpoint.sealed_file import Seal, write_file
from dist_ms.train.checkpoint.torch_names import load_torch_checkpoint
from dist_ms.train.model_export import export
from dist_ms.train.model_load import load, load_mindir, save_mindir

if TYPE_CHECKING:
    from concurrent.futures import Future

__all__ = [
    "async_ckpt_thread_status",
    "ckpt_to_safetensors",
    "export",
    "load",
    "load_checkpoint",
    "load_checkpoint_async",
    "load_distributed_checkpoint",
    "load_mindir",
    "load_param_into_net",
    "load_segmented_checkpoints",
    "load_torch_checkpoint",
    "rank_list_for_transform",
    "safetensors_to_ckpt",
    "save_checkpoint",
    "save_mindir",
    "transform_checkpoint_by_rank",
    "transform_checkpoints",
    "unified_safetensors",
]


def save_checkpoint(
    save_obj: Any,
    ckpt_file_name: str,
    integrated_save: bool = True,
    async_save: bool | str = False,
    append_dict: dict[str, Any] | None = None,
    enc_key: bytes | None = None,
    enc_mode: str = "AES-GCM",
    choice_func: Callable[[str], bool] | None = None,
    crc_check: bool = False,
    format: str = "ckpt",
    *,
    incremental: bool = False,
    global_step_num: int | None = None,
    remove_redundancy: bool | None = None,
) -> None:
    """Save parameters to a file that MindSpore 2.10 reads, too.

    The file is written aside and then takes the place of an old one in one step, so at every
    moment the old or the new one is there, whole. It ends up read-only for its owner (0400).
    The process that calls this writes; in a distributed job the caller decides which rank that is.

    Args:
        save_obj: a Cell; a list of Parameters; a list of {"name": str, "data": Parameter or
            Tensor}; or a dict from name to Parameter, Tensor or str.
        ckpt_file_name: the file; '.ckpt' or '.safetensors' is added if it is missing.
        integrated_save: accepted; no parameter is split over devices here.
        async_save: True or "thread": copy the values, return, and write in a thread.
            "process": write in another process, which ends its work even if this one is killed.
            One such save runs at a time; an error is raised by the next save or load.
        append_dict: further values by name: int (kept as int64), float (as float32, if in its
            range), bool, str, Parameter, Tensor or Generator.
        enc_key: encrypt with this key of 16, 24 or 32 bytes (SM4: 16).
        enc_mode: 'AES-GCM' (which also notices changes), 'AES-CBC' or 'SM4-CBC'.
        choice_func: told a name of `save_obj`, says whether to save it.
        crc_check: add a checksum, against damage by accident.
        format: 'ckpt' or 'safetensors' (no encryption, no complex types).
        incremental: accepted; only MapTensors, which do not exist here, are saved in increments.
        global_step_num: accepted; belongs to `incremental`.
        remove_redundancy: note in a safetensors file that other ranks' files hold the rest.
            Which parameters to leave out is for `choice_func` to say.

    Raises:
        TypeError: if `save_obj`, `ckpt_file_name`, `async_save`, `append_dict` or a flag has
            the wrong type.
        ValueError: if `async_save`, `format`, the key or the mode is unknown, or a key comes
            with `crc_check` or safetensors.
        OSError: if the file cannot be written. The old one is untouched.
        RuntimeError: if the asynchronous save before this one failed.

    Examples:
        >>> import os, tempfile
        >>> import dist_ms as ms
        >>> name = os.path.join(tempfile.mkdtemp(), "model.ckpt")
        >>> weight = ms.Parameter(ms.Tensor([1.0, 2.0]), name="weight")
        >>> ms.save_checkpoint([weight], name, append_dict={"epoch": 3})
        >>> print(ms.load_checkpoint(name)["weight"].asnumpy())
        [1. 2.]
    """
    owner = "save_checkpoint"
    path = path_to_write(owner, ckpt_file_name, format)
    check_bool(integrated_save, "integrated_save", owner)
    check_bool(incremental, "incremental", owner)
    if global_step_num is not None:
        check_int(global_step_num, "global_step_num", owner)
    if remove_redundancy is not None:
        check_flag(remove_redundancy, "remove_redundancy", owner)
    seal = seal_of(owner, "enc", enc_key, enc_mode, crc_check, format)
    if enc_key is not None and crc_check:
        raise ValueError(
            f"For '{owner}', 'enc_key' and 'crc_check' exclude each other: "
            "AES-GCM notices damage by itself, so leave 'crc_check' out."
        )
    method = async_method(owner, async_save)

    with span("checkpoint", os.path.basename(path)):
        entries = entries_of(save_obj, append_dict, choice_func)
        background.finish()
        if method == "thread":
            entries = {n: v.copy() if isinstance(v, np.ndarray) else v for n, v in entries.items()}
        if format == "ckpt":
            pieces = ckpt_format.write_entries(entries.items())
        else:
            pieces = safetensors_format.write_entries(entries.items(), crc_check, bool(remove_redundancy))
            seal = Seal()
        if method == "thread":
            background.start(path, lambda: write_file(path, pieces, seal))
        elif method == "process":
            background.start_process(path, pieces, seal)
        else:
            write_file(path, pieces, seal)


def load_checkpoint(
    ckpt_file_name: str | io.BytesIO,
    net: Any = None,
    strict_load: bool = False,
    filter_prefix: str | list[str] | tuple[str, ...] | None = None,
    dec_key: bytes | None = None,
    dec_mode: str = "AES-GCM",
    specify_prefix: str | list[str] | tuple[str, ...] | None = None,
    choice_func: Callable[[str], bool] | None = None,
    crc_check: bool = False,
    remove_redundancy: bool = False,
    format: str = "ckpt",
) -> dict[str, Parameter | str]:
    """Load parameters from a file that dist_ms or MindSpore saved.

    Args:
        ckpt_file_name: the file, ending with '.' + `format`; of a checkpoint in several files the
            index, which ends with '.safetensors.index.json'; for safetensors also an `io.BytesIO`
            with its content.
        net: a network to load the parameters into as well (see `load_param_into_net`).
        strict_load: passed to `load_param_into_net`.
        filter_prefix: leave out names with this prefix, or one of these. Deprecated: use
            `choice_func`.
        dec_key: the key of an encrypted file.
        dec_mode: its mode: 'AES-GCM', 'AES-CBC' or 'SM4-CBC'.
        specify_prefix: load only names with this prefix, or one of these. Deprecated: use
            `choice_func`.
        choice_func: told a name, says whether to load it; not asked if one of the two
            prefix arguments is given.
        crc_check: compare the content with the checksum in the file, if there is one.
        remove_redundancy: passed to `load_param_into_net`.
        format: 'ckpt' or 'safetensors'; need not be given if the file's name ends with '.safetensors'.

    Returns:
        Name to Parameter, and to str for texts, in the order of the file (safetensors: of the
        names).

    Raises:
        TypeError: if `ckpt_file_name` or a prefix has the wrong type.
        ValueError: if the file is missing, of another format, damaged or encrypted with
            another key; or if nothing is left to load.
        RuntimeError: if the asynchronous save before this failed, or a value does not fit `net`.

    Examples:
        >>> import os, tempfile
        >>> import dist_ms as ms
        >>> name = os.path.join(tempfile.mkdtemp(), "model.ckpt")
        >>> ms.save_checkpoint({"a.w": ms.Tensor([1.0]), "b.w": ms.Tensor([2])}, name)
        >>> ms.load_checkpoint(name, choice_func=lambda key: key.startswith("b"))
        {'b.w': Parameter (name=b.w, shape=(1,), dtype=Int64, requires_grad=True)}
    """
    owner = "load_checkpoint"
    format = format_of(ckpt_file_name, format)
    file = file_to_read(owner, ckpt_file_name, format)
    check_flag(remove_redundancy, "remove_redundancy", owner)
    seal = seal_of(owner, "dec", dec_key, dec_mode, crc_check, format)
    wanted = selection(owner, filter_prefix, specify_prefix, choice_func)
    background.finish()
    loaded = _read(owner, file, format, seal, wanted)
    _check_not_empty(owner, file, loaded)
    if net is not None:
        load_param_into_net(net, loaded, strict_load, remove_redundancy)
    return loaded


def load_checkpoint_async(
    ckpt_file_name: str,
    net: Any = None,
    strict_load: bool = False,
    filter_prefix: str | list[str] | tuple[str, ...] | None = None,
    dec_key: bytes | None = None,
    dec_mode: str = "AES-GCM",
    specify_prefix: str | list[str] | tuple[str, ...] | None = None,
    choice_func: Callable[[str], bool] | None = None,
) -> Future[dict[str, Parameter | str]]:
    """`load_checkpoint` in a thread, with those of its arguments that are named here.

    Returns:
        A future; its `result()` waits and returns what `load_checkpoint` returns, or raises
        what it raises.

    Raises:
        TypeError: if `ckpt_file_name` is no str.

    Examples:
        >>> import os, tempfile
        >>> import dist_ms as ms
        >>> name = os.path.join(tempfile.mkdtemp(), "model.ckpt")
        >>> ms.save_checkpoint({"w": ms.Tensor([1.0])}, name)
        >>> list(ms.load_checkpoint_async(name).result())
        ['w']
    """
    check_string(ckpt_file_name, "ckpt_file_name", "load_checkpoint_async")
    pool = ThreadPoolExecutor(1)
    future = pool.submit(
        load_checkpoint,
        ckpt_file_name,
        net,
        strict_load,
        filter_prefix,
        dec_key,
        dec_mode,
        specify_prefix,
        choice_func,
    )
    pool.shutdown(wait=False)
    return future


def load_segmented_checkpoints(
    ckpt_file_dir: str,
    net: Any = None,
    strict_load: bool = False,
    filter_prefix: str | list[str] | tuple[str, ...] | None = None,
    dec_key: bytes | None = None,
    dec_mode: str = "AES-GCM",
    specify_prefix: str | list[str] | tuple[str, ...] | None = None,
    choice_func: Callable[[str], bool] | None = None,
) -> dict[str, Parameter | str]:
    """`load_checkpoint` of all `.ckpt` files of a folder, in the order of their names, into one dict.

    Args:
        ckpt_file_dir: the folder; sub-folders are not looked into. The other arguments are those of `load_checkpoint`.

    Raises:
        TypeError: if `ckpt_file_dir` is no str.
        ValueError: if there is no such folder, a file cannot be loaded, two files hold the same
            name, or nothing is left to load.

    Examples:
        >>> import tempfile
        >>> import dist_ms as ms
        >>> folder = tempfile.mkdtemp()
        >>> for name in "ab":
        ...     ms.save_checkpoint({name: ms.Tensor([1.0])}, f"{folder}/{name}.ckpt")
        >>> list(ms.load_segmented_checkpoints(folder))
        ['a', 'b']
    """
    owner = "load_segmented_checkpoints"
    check_string(ckpt_file_dir, "ckpt_file_dir", owner)
    if not os.path.isdir(ckpt_file_dir):
        raise ValueError(f"For '{owner}', 'ckpt_file_dir' must be an existing folder, but got '{ckpt_file_dir}'.")
    seal = seal_of(owner, "dec", dec_key, dec_mode, False, "ckpt")
    wanted = selection(owner, filter_prefix, specify_prefix, choice_func)
    background.finish()
    loaded: dict[str, Parameter | str] = {}
    for file in sorted(f for f in os.listdir(ckpt_file_dir) if f.endswith(".ckpt")):
        part = _read(owner, os.path.join(ckpt_file_dir, file), "ckpt", seal, wanted)
        twice = sorted(part.keys() & loaded.keys())
        if twice:
            raise ValueError(f"For '{owner}', a name must be in one file only, but {file} repeats {twice}.")
        loaded |= part
    _check_not_empty(owner, ckpt_file_dir, loaded)
    if net is not None:
        load_param_into_net(net, loaded, strict_load)
    return loaded


def async_ckpt_thread_status() -> bool:
    """Whether an asynchronous save is going on.

    Examples:
        >>> import dist_ms as ms
        >>> ms.async_ckpt_thread_status()
        False
    """
    return background.running()


def _read(owner: str, file: Any, format: str, seal: Seal, wanted: Callable[[str], bool]) -> dict[str, Parameter | str]:
    """Read what is wanted of one file."""
    loaded: dict[str, Parameter | str] = {}
    for name, value in read_entries(owner, file, format, seal):
        try:
            chosen = wanted(name)
        except Exception as error:
            raise ValueError(
                f"For '{owner}', 'choice_func' failed for '{name}' of the checkpoint file {file}: "
                f"{type(error).__name__}: {error}"
            ) from error
        if chosen:
            loaded[name] = value if isinstance(value, str) else _parameter(name, value)
    return loaded


def _parameter(name: str, array: np.ndarray) -> Parameter:
    """Make a Parameter of an array, without the copy its constructor makes."""
    parameter = Parameter(wrap(np.empty(0, array.dtype)), name=name)
    parameter._data = array
    return parameter


def _check_not_empty(owner: str, source: Any, loaded: dict) -> None:
    if not loaded:
        raise ValueError(
            f"For '{owner}', nothing is left to load from {source}. The loaded parameter dict is "
            "empty after filter or specify: check 'filter_prefix', 'specify_prefix' and "
            "'choice_func', and whether parameters were saved at all."
        )
