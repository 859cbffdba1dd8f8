"""`obfuscate_ckpt`: checkpoint files written anew with obfuscated weights."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from dist_ms.common.checks import check_type, complaint
from dist_ms.nn.cell import Cell
from dist_ms.train.obfuscation import plan as plans
from dist_ms.train.obfuscation.config import check_config
from dist_ms.train.obfuscation.metadata import check_scale
from dist_ms.train.serialization import load_checkpoint, save_checkpoint

_OWNER = "obfuscate_ckpt"


def obfuscate_ckpt(
    network: Cell,
    ckpt_files: str,
    target_modules: list[str] | None = None,
    obf_config: dict[str, Any] | None = None,
    saved_path: str = "./",
    obfuscate_scale: float = 100,
) -> dict[str, np.ndarray]:
    """Obfuscate weights in all '.ckpt' files of a folder and of the folders in it.

    `a.ckpt` becomes `a_obf.ckpt` in `saved_path`. The weights and biases of the target cells are multiplied by a
    random int from 1 to `obfuscate_scale` - 1, which NumPy's generator draws. Whoever tries all numbers undoes that:
    what must stay secret is encrypted, by `save_checkpoint`'s 'enc_key'.

    Args:
        network: the network of the files.
        ckpt_files: the folder.
        target_modules: two or three str. A path of cells, such as "backbone/blocks/attention", where all
            members of a CellList are meant, or "" for the network; the names of the cells there, such as
            "dense1|dense2"; "obfuscate_layers:all" or "obfuscate_layers:" and an int, for a number of its own for
            each of the first members of the CellList.
        obf_config: instead of `target_modules`, lists of dicts: 'obf_metadata_config' says what is drawn (name, shape,
            type "random" or "rearrange", save_metadata, metadata_op "invert", layers), 'weight_obf_config' what is
            done with it to which parameters (target, weight_obf_ops, layers).
        saved_path: the folder to write to.
        obfuscate_scale: 2 to 65504.

    Returns:
        dict from names to what `load_obf_params_into_net` takes: one over the numbers, as float16.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a folder is missing, a target is not in the network, or a value is wrong.

    Examples:
        >>> import os, tempfile
        >>> import dist_ms as ms
        >>> folder = tempfile.mkdtemp()
        >>> net = ms.nn.SequentialCell(ms.nn.Dense(2, 1))
        >>> ms.save_checkpoint(net, os.path.join(folder, "a.ckpt"))
        >>> list(ms.obfuscate_ckpt(net, folder, ["", "0"], saved_path=folder))
        ['obf_metadata']
        >>> sorted(os.listdir(folder))
        ['a.ckpt', 'a_obf.ckpt']
    """
    check_type(network, "network", _OWNER, Cell)
    for name, folder in (("ckpt_files", ckpt_files), ("saved_path", saved_path)):
        _check_folder(folder, name)
    if obf_config is None:
        plan = plans.of_modules(network, target_modules, _OWNER)
    else:
        plan = plans.of_config(check_config(obf_config, _OWNER, "obf_metadata_config", "weight_obf_config"))
    scale = check_scale(obfuscate_scale)
    drawn = {m.name: m.draw(scale) for m in plan.metadata}
    for folder, target in _folders(ckpt_files, saved_path):
        for file in sorted(os.listdir(folder)):
            if file.endswith(".ckpt") and os.path.isfile(os.path.join(folder, file)):
                os.makedirs(target, mode=0o700, exist_ok=True)
                aside = os.path.join(target, f"{file.split('.')[0]}_obf.ckpt")
                _write(os.path.join(folder, file), aside, plan, drawn)
    return {m.name: m.kept(drawn[m.name]) for m in plan.metadata if m.saved}


def _check_folder(folder: Any, name: str) -> None:
    check_type(folder, name, _OWNER, str)
    if not os.path.exists(folder):
        raise ValueError(complaint(name, _OWNER, "a folder", f"'{folder}', which does not exist"))
    if not os.path.isdir(folder):
        raise TypeError(complaint(name, _OWNER, "a folder", f"the file '{folder}'"))


def _folders(ckpt_files: str, saved_path: str) -> list[tuple[str, str]]:
    """The folders to read, with those to write to."""
    inner = [name for name in sorted(os.listdir(ckpt_files)) if os.path.isdir(os.path.join(ckpt_files, name))]
    below = [(os.path.join(ckpt_files, name), os.path.join(saved_path, name)) for name in inner]
    return [(ckpt_files, saved_path), *below]


def _write(source: str, target: str, plan: plans.Plan, drawn: Mapping[str, np.ndarray]) -> None:
    """Write one file anew."""
    values: dict[str, Any] = dict(load_checkpoint(source))
    for name, steps in plan.steps.items():
        if name in values:
            value = values[name].value()
            for step in steps:
                value = step.apply(value, drawn)
            values[name] = value
    save_checkpoint(values, target)
