"""Load what PyTorch saved as safetensors into a network: the layers' parameters have other names there."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_type, complaint
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.train.checkpoint.arguments import file_to_read
from dist_ms.train.checkpoint.file_reading import read_entries
from dist_ms.train.checkpoint.load_into_net import load_param_into_net
from dist_ms.train.checkpoint.shards import INDEX

_OWNER = "load_torch_checkpoint"
_NAMES = {
    "gamma": "weight",
    "beta": "bias",
    "moving_mean": "running_mean",
    "moving_variance": "running_var",
    "embedding_table": "weight",
    "w": "weight",
}
"""PyTorch's names of what `nn`'s norms, embeddings and PReLU hold."""
_COUNTER = "num_batches_tracked"
_IN_FOLDER = ("model" + INDEX, "model.safetensors")

Renaming = dict[str, str] | Callable[[str], str | None]


def load_torch_checkpoint(
    checkpoint: str | dict[str, Any],
    net: Any,
    rename: Renaming | None = None,
    transpose: str | None = None,
    strict: bool = True,
) -> tuple[list[str], list[str]]:
    r"""Load a checkpoint of PyTorch's, such as one from Hugging Face, into a network of `nn` or `mint.nn` cells.

    Cells and PyTorch's modules are matched by their paths, `layers.0.norm`; `rename` tells where the network's
    differ. Within a cell the parameters' names are translated: `gamma` and `beta` are PyTorch's `weight` and
    `bias`, `moving_mean` and `moving_variance` its `running_mean` and `running_var`, `embedding_table` and PReLU's
    `w` its `weight`. `num_batches_tracked` is cast where the network has it (`mint.nn`), else left out. The
    kernels of one-dimensional convolutions get the further dimension that `nn` gives them.

    Args:
        checkpoint: a `.safetensors` file, the `.safetensors.index.json` of several, a folder with one of them named
            `model`, or a dict from PyTorch's names to NumPy arrays, Tensors or Parameters.
        net: the network to load into.
        rename: from PyTorch's names to the network's paths: a dict of regular expressions and what replaces them,
            applied in order, or a function; a name that becomes "" or None is left out.
        transpose: a regular expression, found in PyTorch's names of the matrices to transpose: Hugging Face's
            GPT-2 keeps its projections as (in, out), `nn.Dense` as (out, in).
        strict: demand that all parameters of `net` are in the checkpoint, and the other way round.

    Returns:
        Names of the network's parameters that are not in the checkpoint, and names in the checkpoint that are not
        in the network.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if there is no such checkpoint, it is damaged or none of safetensors, or two of its names become
            one.
        RuntimeError: if a shape or type does not fit, or with `strict` names are left over. The network is
            unchanged then.

    Examples:
        >>> import numpy as np
        >>> from dist_ms import nn
        >>> from dist_ms.train import load_torch_checkpoint
        >>> net = nn.SequentialCell(nn.Embedding(3, 2), nn.LayerNorm((2,)))
        >>> names = {"embed.weight": (3, 2), "norm.weight": (2,), "norm.bias": (2,)}
        >>> saved = {name: np.ones(shape, np.float32) for name, shape in names.items()}
        >>> load_torch_checkpoint(saved, net, rename={"^embed": "0", "^norm": "1"})
        ([], [])
        >>> print(net[1].beta.asnumpy())
        [1. 1.]
    """
    check_type(net, "net", _OWNER, Cell)
    check_bool(strict, "strict", _OWNER)
    arrays = _renamed(_arrays(checkpoint), _renaming(rename), _pattern(transpose))
    found: dict[str, Parameter | str] = {}
    missing: list[str] = []
    taken: set[str] = set()
    for path, parameter in net.parameters_and_names():
        name = next((name for name in _torch_names(path) if name in arrays), None)
        if name is None:
            missing.append(path)
            found[parameter.name] = parameter  # keeps its value: a longer name that ends alike must not come in
            continue
        taken.add(name)
        found[parameter.name] = Parameter(Tensor(_fitted(arrays[name], parameter, path)), name=name)
    unexpected = [name for name in arrays if name not in taken and name.rpartition(".")[2] != _COUNTER]
    if strict and (missing or unexpected):
        raise RuntimeError(
            f"For '{_OWNER}', 'checkpoint' must hold just what 'net' has, but lacks {_some(missing)} and has "
            f"{_some(unexpected)} beyond: give 'rename', or strict=False."
        )
    load_param_into_net(net, found)
    return missing, unexpected


def _torch_names(path: str) -> list[str]:
    """The names under which a parameter of a path may be found: its own comes first."""
    cell, dot, name = path.rpartition(".")
    return [path, f"{cell}{dot}{_NAMES[name]}"] if name in _NAMES else [path]


def _fitted(array: np.ndarray, parameter: Parameter, path: str) -> np.ndarray:
    """An array as the parameter has it: counters are cast, and convolutions over lines get their dimension."""
    shape = tuple(parameter.shape)
    if path.rpartition(".")[2] == _COUNTER:
        return array.astype(parameter.dtype.np)
    if array.ndim == 3 and len(shape) == 4 and shape[2] == 1 and array.shape == (*shape[:2], shape[3]):
        return array.reshape(shape)
    return array


def _arrays(checkpoint: Any) -> dict[str, np.ndarray]:
    if isinstance(checkpoint, dict):
        return {name: _array(name, value) for name, value in checkpoint.items()}
    if not isinstance(checkpoint, str):
        raise TypeError(complaint("checkpoint", _OWNER, "a str or a dict", type(checkpoint).__name__))
    if os.path.isdir(checkpoint):
        inside = [path for name in _IN_FOLDER if os.path.isfile(path := os.path.join(checkpoint, name))]
        if not inside:
            raise ValueError(complaint("checkpoint", _OWNER, f"a folder with {' or '.join(_IN_FOLDER)}", checkpoint))
        checkpoint = inside[0]
    if not checkpoint.endswith((".safetensors", INDEX)):
        remedy = "save it in PyTorch with safetensors.torch.save_file: pickled files can run any code"
        raise ValueError(complaint("checkpoint", _OWNER, "a .safetensors file or an index", checkpoint, remedy))
    path = file_to_read(_OWNER, checkpoint, "safetensors")
    entries = read_entries(_OWNER, path, "safetensors")
    return {name: value for name, value in entries if isinstance(value, np.ndarray)}


def _array(name: Any, value: Any) -> np.ndarray:
    if isinstance(name, str) and isinstance(value, Tensor):
        return value.asnumpy()
    if isinstance(name, str) and isinstance(value, np.ndarray):
        return value
    got = f"{type(name).__name__} to {type(value).__name__}"
    raise TypeError(complaint("checkpoint", _OWNER, "a dict from str to arrays or Tensors", got))


def _renaming(rename: Any) -> Callable[[str], str | None]:
    if rename is None:
        return lambda name: name
    if not isinstance(rename, dict):
        if not callable(rename):
            raise TypeError(complaint("rename", _OWNER, "a dict, a function or None", type(rename).__name__))
        return rename
    patterns: list[tuple[re.Pattern[str], str]] = []
    for old, new in rename.items():
        if not isinstance(old, str) or not isinstance(new, str):
            raise TypeError(complaint("rename", _OWNER, "a dict from str to str", f"{old!r}: {new!r}"))
        patterns.append((_compiled("rename", old), new))

    def renamed(name: str) -> str:
        for pattern, new in patterns:
            name = pattern.sub(new, name)
        return name

    return renamed


def _pattern(transpose: Any) -> re.Pattern[str] | None:
    if transpose is None:
        return None
    if not isinstance(transpose, str):
        raise TypeError(complaint("transpose", _OWNER, "a str or None", type(transpose).__name__))
    return _compiled("transpose", transpose)


def _compiled(argument: str, text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise ValueError(complaint(argument, _OWNER, "a regular expression", f"{text!r} ({error})")) from None


def _renamed(
    arrays: dict[str, np.ndarray], rename: Callable[[str], str | None], transpose: re.Pattern[str] | None
) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = {}
    for name, array in arrays.items():
        path = rename(name)
        if not path:
            continue
        if path in found:
            raise ValueError(complaint("rename", _OWNER, "one that keeps names apart", f"'{path}' twice"))
        if transpose is not None and transpose.search(name):
            if array.ndim != 2:
                raise ValueError(complaint("transpose", _OWNER, "names of matrices", f"'{name}' {array.shape}"))
            array = np.ascontiguousarray(array.T)
        found[path] = array
    return found


def _some(names: list[str]) -> str:
    return f"{names[:5]}" + (f" and {len(names) - 5} more" if len(names) > 5 else "")
