"""What every export checks and how ranks do it together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dist_ms.common.tensor import Tensor
from dist_ms.parallel.job import data_parallel_comm

__all__ = ["check_network", "default_names", "together"]


def check_network(owner: str, net: Any, file_name: Any, ending: str) -> str:
    """Check what is exported and where to, and give the file's name with its ending."""
    if not hasattr(net, "parameters_and_names") or not hasattr(net, "construct"):
        raise ValueError(f"For '{owner}', 'net' must be a Cell, but got {type(net).__name__}.")
    if not isinstance(file_name, str) or not file_name:
        raise TypeError(f"For '{owner}', 'file_name' must be a str with the name of a file, but got {file_name!r}.")
    return file_name if file_name.endswith(ending) else f"{file_name}{ending}"


def default_names(owner: str, net: Any, inputs: tuple) -> list[str]:
    """Names of the inputs' tensors: those of `construct`'s parameters, apart from the network's own."""
    from dist_ms.exporting.recording import named_parameters
    from dist_ms.exporting.steps import input_names_of

    _check_tensors(owner, inputs)
    taken = {name for name, _ in named_parameters(net)}
    return [f"{name}_input" if name in taken else name for name in input_names_of(net, inputs)]


def together(owner: str, make: Callable[[], Any], put: Callable[[Any], None]) -> None:
    """Make a file's content on all ranks and write it on rank 0; where one fails all do."""
    comm = data_parallel_comm()
    content = _guarded(owner, comm, make)
    _guarded(owner, comm, lambda: put(content) if comm is None or comm.rank == 0 else None)


def _guarded(owner: str, comm: Any, work: Callable[[], Any]) -> Any:
    """What a piece of work returns; where it fails on one rank it fails on all."""
    error: Exception | None = None
    found = None
    try:
        found = work()
    except Exception as raised:
        error = raised
    if comm is not None:
        _agree(owner, comm, error)
    if error is not None:
        raise error
    return found


def _agree(owner: str, comm: Any, error: Exception | None) -> None:
    """Have all ranks fail where one did."""
    told = comm.gather_objects(None if error is None else f"{type(error).__name__}: {error}")
    failed = {rank: text for rank, text in enumerate(told) if text is not None}
    if failed and error is None:
        rank, text = next(iter(failed.items()))
        raise RuntimeError(f"For '{owner}', all ranks must be able to export, but rank {rank} raised {text}")


def _check_tensors(owner: str, inputs: tuple) -> None:
    """Refuse inputs of which none is a tensor."""
    for x in inputs:
        if hasattr(x, "create_dict_iterator"):
            raise ValueError(f"For '{owner}', 'inputs' must be Tensors, but got a data set: give one of its batches.")
        if isinstance(x, Tensor) and len(x.shape) == 1 and x.shape[0] == -2:
            raise ValueError(f"For '{owner}', the number of dimensions of an input must be known, but it is not.")
