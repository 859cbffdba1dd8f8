"""Put the values of a parameter dict into a network: all of them, or none after an error."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np

from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_bool
from dist_ms.common.parameter import Parameter
from dist_ms.common.settings.parallel_context import get_auto_parallel_context
from dist_ms.nn.cell import Cell

_OWNER = "load_param_into_net"
_FAMILIES = (mstype.float_type, mstype.int_type)
_log = logging.getLogger(__name__)


def load_param_into_net(
    net: Any,
    parameter_dict: dict[str, Parameter | str],
    strict_load: bool = False,
    remove_redundancy: bool = False,
) -> tuple[list[str], list[str]]:
    """Load parameters into a network by name.

    Everything is checked before the first value is written. Float types convert among each
    other and signed integer types too, unless `strict_load`; the network's type wins. An
    array that only has further dimensions of length 1 at the end takes the network's shape
    (MindSpore takes the array's). What is loaded is a copy.

    If parameters of the network are missing and not `strict_load`, names in the dict that end
    with the name of a missing parameter show a prefix, and missing parameters are loaded from
    prefix + name: a dict saved from `net.fc.weight` loads into `fc.weight`.

    Args:
        net: the network (or optimizer) to load into.
        parameter_dict: name to Parameter, as `load_checkpoint` returns it; texts are skipped.
        strict_load: demand equal types and names.
        remove_redundancy: the dict comes from a file from which what other ranks save was
            left out. Every parameter of `net` must be in the dict nevertheless: merge the
            dicts of all ranks' files first.

    Returns:
        Names of the network's parameters that are not in the dict, and names in the dict that
        are not in the network.

    Raises:
        TypeError: if an argument has the wrong type, or `remove_redundancy` is set outside
            data-parallel mode.
        ValueError: if `remove_redundancy` is no bool.
        RuntimeError: if a shape or type does not fit, or with `remove_redundancy` parameters
            are missing. The network is unchanged then.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms import nn
        >>> net = nn.Dense(2, 1)
        >>> ms.load_param_into_net(net, {"bias": ms.Parameter(ms.Tensor([5.0]), name="bias")})
        (['weight'], [])
        >>> print(net.bias.asnumpy())
        [5.]
    """
    _check_arguments(net, parameter_dict, strict_load, remove_redundancy)
    parameters = {p.name: p for _, p in net.parameters_and_names()}
    values = {name: v for name, v in parameter_dict.items() if isinstance(v, Parameter)}

    sources = {name: name for name in parameters if name in values}
    missing = [name for name in parameters if name not in sources]
    if missing and not strict_load:
        sources |= _match_with_prefixes(missing, values)
        missing = [name for name in parameters if name not in sources]
    if missing and remove_redundancy:
        raise RuntimeError(
            f"For '{_OWNER}', with 'remove_redundancy' the dict must hold all parameters of 'net', "
            f"but {missing} are missing: load the files of all ranks and merge their dicts."
        )
    fitted = [(parameters[to], _fit(parameters[to], values[origin], strict_load)) for to, origin in sources.items()]
    own = {id(parameter) for parameter in parameters.values()}
    if any(id(values[origin]) in own for origin in sources.values()):
        # A dict of the network's own parameters: writing one must not change another's source.
        fitted = [(parameter, array.copy()) for parameter, array in fitted]
    for parameter, array in fitted:
        parameter.overwrite(array)

    if missing:
        _log.warning(
            "For '%s', parameters of 'net' are not in 'parameter_dict' and keep their values: %s",
            _OWNER,
            missing,
        )
    return missing, [name for name in parameter_dict if name not in sources]


def _check_arguments(net: Any, parameter_dict: Any, strict_load: Any, remove_redundancy: Any) -> None:
    if not isinstance(net, Cell):
        raise TypeError(f"For '{_OWNER}', the argument 'net' should be a Cell, but got {type(net).__name__}.")
    if not isinstance(parameter_dict, dict):
        raise TypeError(
            f"For '{_OWNER}', the argument 'parameter_dict' should be a dict, but got {type(parameter_dict).__name__}."
        )
    check_bool(strict_load, "strict_load", _OWNER)
    if not isinstance(remove_redundancy, bool):
        raise ValueError(f"For '{_OWNER}', 'remove_redundancy' must be a bool, but got {remove_redundancy!r}.")
    for name, value in parameter_dict.items():
        if not isinstance(name, str) or not isinstance(value, (Parameter, str)):
            raise TypeError(
                f"For '{_OWNER}', 'parameter_dict' must map str to Parameter, "
                f"but got {type(name).__name__} to {type(value).__name__} ({name!r})."
            )
    if remove_redundancy:
        _check_parallel_mode()


def _check_parallel_mode() -> None:
    """Refuse `remove_redundancy` where there is only one copy of everything."""
    mode = get_auto_parallel_context("parallel_mode")
    if mode == "stand_alone":
        raise TypeError(
            f"For '{_OWNER}', 'remove_redundancy' can only be used in parallel scenarios, "
            f"but got the parallel mode '{mode}'."
        )


def _match_with_prefixes(missing: list[str], values: dict[str, Parameter]) -> dict[str, str]:
    """Find missing names in the dict behind a prefix; return name to name in the dict."""
    found: dict[str, str] = {}
    for name in missing:
        if name in found:
            continue
        longer = next((key for key in values if key != name and key.endswith(name)), None)
        if longer is None:
            continue
        prefix = longer[: len(longer) - len(name)]
        _log.warning(
            "For '%s', loading parameters whose names begin with '%s' in 'parameter_dict'.",
            _OWNER,
            prefix,
        )
        found |= {m: prefix + m for m in missing if m not in found and prefix + m in values}
    return found


def _fit(parameter: Parameter, value: Parameter, strict_load: bool) -> np.ndarray:
    """Return a value's array in the shape of the parameter it is for, if it fits."""
    array = value.asnumpy()
    name, wanted = parameter.name, tuple(parameter.shape)
    rank = len(wanted)
    if array.shape[:rank] != wanted or any(n != 1 for n in array.shape[rank:]):
        raise RuntimeError(
            f"For '{_OWNER}', {value.name} of 'parameter_dict' must have the shape {wanted} of {name} in 'net', but "
            f"got {array.shape}: check that it is the checkpoint of this network."
        )
    if value.dtype != parameter.dtype and (strict_load or not _convertible(value.dtype, parameter.dtype)):
        raise RuntimeError(
            f"For '{_OWNER}', {value.name} of 'parameter_dict' must have the dtype {parameter.dtype} of {name} in "
            f"'net', but got {value.dtype}."
        )
    if value.dtype != parameter.dtype and isinstance(value.dtype, mstype.Int):
        limits = np.iinfo(parameter.dtype.np)
        if array.size and not limits.min <= array.min() <= array.max() <= limits.max:
            raise RuntimeError(
                f"For '{_OWNER}', the values of {value.name} in the argument 'parameter_dict' "
                f"should fit into {parameter.dtype}, the type of {name} in the argument 'net', "
                f"but range from {array.min()} to {array.max()}."
            )
    return array.reshape(wanted)


def _convertible(found: mstype.Number, wanted: mstype.Number) -> bool:
    """Whether values of one type may be loaded into another: floats, or signed integers."""
    return any(found in family and wanted in family for family in _FAMILIES)
