"""`onnx.export`: a network as a file of ONNX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dist_ms.common.checks import check_bool, check_elements
from dist_ms.exporting.requests import check_network, default_names, together
from dist_ms.onnx.library import check_installed

__all__ = ["export", "write_model"]


def export(
    net: Any,
    *inputs: Any,
    file_name: str,
    input_names: list[str] | None = None,
    output_names: list[str] | None = None,
    export_params: bool = True,
    keep_initializers_as_inputs: bool = False,
    dynamic_axes: dict[str, dict[int, str]] | None = None,
) -> None:
    """Write a network to a file of ONNX, with opset 17.

    The network runs on the example inputs, and on others of the same kind, as for inference: what its
    operations are becomes the file, and what would have to be fixed though it depends on the inputs is
    refused. The file is written aside, checked, and takes the place of an old one in one step. Parameters
    keep their names. Above 2 GB they go to a second file, `<file_name>.data`.

    On several ranks all call this; rank 0 writes, and all return, or fail, together.

    Args:
        net: a Cell.
        inputs: what to call it with. Lengths that a file is to leave open are None or -1 in
            `Tensor(shape=[None, 3, 224, 224], dtype=ms.float32)`: the first dimensions are "batch".
        file_name: the file; '.onnx' is added, and its folder made, if it is missing.
        input_names: names of the inputs; by default those of the parameters of `construct`.
        output_names: names of the results; by default "output", or "output_0" and so on.
        export_params: False to leave the parameters' values out: they are inputs then.
        keep_initializers_as_inputs: True to make inputs of the parameters, too, which then can be replaced.
        dynamic_axes: names of open dimensions, by input and dimension: {"x": {0: "batch"}}. Those of one name are
            equal.

    Raises:
        ImportError: if the package `onnx` is missing.
        ValueError: if `net` is no Cell, or a name or a dimension does not fit the inputs.
        TypeError: if an argument has the wrong type.
        RuntimeError: if an operation has no form in ONNX, the way through the network depends on what the
            inputs hold, or a setting depends on them in a way that a file cannot hold; the operation and its
            line are named.

    Examples:
        >>> import os, tempfile
        >>> import dist_ms as ms
        >>> name = os.path.join(tempfile.mkdtemp(), "dense.onnx")
        >>> x = ms.Tensor(shape=[None, 3], dtype=ms.float32)
        >>> ms.onnx.export(ms.nn.Dense(3, 2), x, file_name=name)
        >>> os.path.exists(name)
        True
    """
    write_model(
        "onnx.export",
        net,
        inputs,
        file_name,
        input_names,
        output_names,
        dynamic_axes,
        check_bool(export_params, "export_params", "onnx.export"),
        check_bool(keep_initializers_as_inputs, "keep_initializers_as_inputs", "onnx.export"),
    )


def write_model(
    owner: str,
    net: Any,
    inputs: tuple,
    file_name: Any,
    input_names: Any,
    output_names: Any,
    dynamic_axes: Any,
    with_parameters: bool = True,
    initializers_as_inputs: bool = False,
    seal: Callable[[bytes], bytes] | None = None,
) -> None:
    """Check the arguments of an export, make the model and write it.

    Args:
        owner: the name used in errors.
        net, inputs, file_name, input_names, output_names, dynamic_axes: as in `export`.
        with_parameters: `export_params` there.
        initializers_as_inputs: `keep_initializers_as_inputs` there.
        seal: encrypts the file's content.
    """
    path = check_network(owner, net, file_name, ".onnx")

    def make() -> Any:
        check_installed(owner)
        from dist_ms.exporting.recording import named_parameters, tensors
        from dist_ms.onnx.exporting import model_of

        names = _names(input_names, "input_names", owner, default_names(owner, net, inputs))
        results = _names(output_names, "output_names", owner, None)
        _check_apart(owner, {name for name, _ in named_parameters(net)}, names, results)
        ranks = {name: len(t.shape) for name, t in zip(names, tensors(list(inputs)))}
        axes = _axes(owner, dynamic_axes, ranks)
        return model_of(owner, net, inputs, names, results, axes, with_parameters, initializers_as_inputs)

    def put(model: Any) -> None:
        from dist_ms.onnx.writing import write

        write(model, path, seal)

    together(owner, make, put)


def _check_apart(owner: str, taken: set[str], names: list[str], results: list[str]) -> None:
    """Refuse a name that two things would have."""
    seen = set(taken)
    for name in (*names, *results):
        if name in seen:
            raise ValueError(
                f"For '{owner}', inputs, results and parameters must have different names, but got {name!r} twice."
            )
        seen.add(name)


def _names(given: Any, name: str, owner: str, default: list[str] | None) -> list[str]:
    if given is None:
        return default or []
    check_elements(given, name, owner, str, list)
    if len(set(given)) != len(given) or (default is not None and len(given) > len(default)):
        count = "different" if default is None else f"at most {len(default)} different"
        raise ValueError(f"For '{owner}', '{name}' must hold {count} names, but got {given!r}.")
    return given + (default or [])[len(given) :]


def _axes(owner: str, given: Any, ranks: dict[str, int]) -> dict[str, dict[int, str]]:
    if given is None:
        return {}
    form = "a dict such as {'x': {0: 'batch'}}"
    if not isinstance(given, dict) or not all(isinstance(v, dict) for v in given.values()):
        raise TypeError(f"For '{owner}', 'dynamic_axes' must be {form}, but got {given!r}.")
    for name, axes in given.items():
        if name not in ranks:
            raise ValueError(f"For '{owner}', 'dynamic_axes' must name inputs, among {[*ranks]}, but got {name!r}.")
        if not all(isinstance(a, int) and isinstance(n, str) for a, n in axes.items()):
            raise TypeError(f"For '{owner}', 'dynamic_axes' must be {form}, but got {given!r}.")
        for axis in axes:
            if not 0 <= axis < ranks[name]:
                raise ValueError(
                    f"For '{owner}', 'dynamic_axes' must name dimensions of {name!r} from 0 to {ranks[name] - 1}, "
                    f"but got dimension {axis}."
                )
    return given
