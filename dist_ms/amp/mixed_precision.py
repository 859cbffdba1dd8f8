"""auto_mixed_precision and custom_mixed_precision: networks that compute in a low type."""

from __future__ import annotations

import copy
import functools
import types
from collections.abc import Sequence
from typing import Any

from dist_ms.amp.autocast import Region
from dist_ms.amp.lists import BLACK_LIST, WHITE_LIST
from dist_ms.autograd.tree import map_tensors
from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_choice, check_type
from dist_ms.nn.cell import Cell
from dist_ms.nn.layer.activation import ReLU
from dist_ms.nn.layer.conv import Conv1d, Conv2d, Conv3d
from dist_ms.nn.layer.conv_transpose import Conv1dTranspose, Conv2dTranspose, Conv3dTranspose
from dist_ms.nn.layer.shaped_activation import PReLU
from dist_ms.ops.activations import activation, rectifiers
from dist_ms.ops.convolutions import conv_primitives
from dist_ms.ops.creating.casting import cast
from dist_ms.ops.primitive import Primitive

LEVELS = ("O0", "O1", "O2", "O3", "auto")
_LOW_TYPES = (mstype.float16, mstype.bfloat16)
_FLOATS = (mstype.float16, mstype.bfloat16, mstype.float32, mstype.float64)

# Layers that are one primitive of MindSpore's white list: with the primitive the layer is listed.
_LAYERS_OF = {
    activation.ReLU: (ReLU,),
    rectifiers.PReLU: (PReLU,),
    conv_primitives.Conv2D: (Conv1d, Conv2d),
    conv_primitives.Conv3D: (Conv3d,),
    conv_primitives.Conv2DTranspose: (Conv1dTranspose, Conv2dTranspose),
    conv_primitives.Conv3DTranspose: (Conv3dTranspose,),
}


def auto_mixed_precision(network: Any, amp_level: str = "O0", dtype: Any = mstype.float16) -> Any:
    """Make a network compute in a low type where that is safe. Parameters stay float32.

    | level | what runs in the low type | what is returned |
    |---|---|---|
    | O0 | nothing | the network itself |
    | O1 | cells and primitives of the white list | another network with the same parameters |
    | O2 | all but cells of the black list | a cell around the network, which is changed |
    | O3 | all | a cell around the network, which is changed |
    | auto | each operation by its own list | the network itself, changed |

    The outputs of O1, O2 and O3 are float32. A cell with a type of its own (`Cell.to_float`)
    keeps it at O1 and auto.

    Args:
        network: a Cell; with "auto" also a function.
        amp_level: the level.
        dtype: the low type, float16 or bfloat16.

    Returns:
        The network, or the function.

    Raises:
        TypeError: if `network` is no Cell (nor, with "auto", a function).
        ValueError: for another level or type.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms import nn
        >>> net = ms.amp.auto_mixed_precision(nn.SequentialCell(nn.Dense(2, 2), nn.ReLU()), "O2")
        >>> out = net(ms.ops.ones((1, 2)))
        >>> out.dtype, net.trainable_params()[0].dtype
        (mindspore.float32, mindspore.float32)
    """
    if not isinstance(network, Cell):
        if amp_level != "auto" or not isinstance(network, (types.FunctionType, types.MethodType)):
            wanted = "Cell or function" if amp_level == "auto" else "Cell"
            raise TypeError(
                f"For amp_level '{amp_level}', the network type should be {wanted}, but got {type(network).__name__}."
            )
    _check_low(dtype)
    check_choice(amp_level, "amp_level", "auto_mixed_precision", LEVELS)
    if amp_level == "O0":
        return network
    if amp_level == "O1":
        network = _with_white_list(network, WHITE_LIST, dtype)
    elif amp_level == "O2":
        network = _OutputTo32(_without_black_list(network, BLACK_LIST, dtype))
    elif amp_level == "O3":
        network = _OutputTo32(network.to_float(dtype))
    else:
        network = _in_region(network, dtype)
    network._amp_level = amp_level
    return network


def custom_mixed_precision(
    network: Cell,
    *,
    white_list: list[type] | None = None,
    black_list: list[type] | None = None,
    dtype: Any = mstype.float16,
) -> Cell:
    """Make a network compute in a low type by a list of one's own. Parameters stay float32.

    Args:
        network: the network.
        white_list: Cell and Primitive classes that run in the low type, as at level O1: another
            network with the same parameters is returned.
        black_list: Cell classes that do not, as at level O2: the network is changed.
        dtype: the low type, float16 or bfloat16.

    Returns:
        A network whose outputs are float32.

    Raises:
        TypeError: for arguments of the wrong type.
        ValueError: unless exactly one list is given, or for another type.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms import nn
        >>> mine = ms.amp.get_white_list() + [nn.Flatten]
        >>> net = ms.amp.custom_mixed_precision(nn.SequentialCell(nn.Flatten()), white_list=mine)
    """
    owner = "custom_mixed_precision"
    check_type(network, "network", owner, Cell)
    if (white_list is None) == (black_list is None):
        given = "neither" if white_list is None else "both"
        raise ValueError(
            f"For '{owner}', one of 'white_list' and 'black_list' must be provided, and not the other, but got {given}."
        )
    _check_low(dtype)
    if white_list is not None:
        _check_list("white_list", white_list, (Cell, Primitive))
        return _with_white_list(network, white_list, dtype)
    _check_list("black_list", black_list, (Cell,))
    return _OutputTo32(_without_black_list(network, black_list, dtype))


def _check_low(dtype: Any) -> None:
    if dtype not in _LOW_TYPES:
        raise ValueError(f"The dtype should be one of (mstype.float16, mstype.bfloat16), but got {dtype}.")


def _check_list(name: str, classes: Any, kinds: tuple[type, ...]) -> None:
    wanted = " or ".join(kind.__name__ for kind in kinds)
    check_type(classes, name, "custom_mixed_precision", list)
    for item in classes:
        if not isinstance(item, type) or not issubclass(item, kinds):
            raise TypeError(f"For 'custom_mixed_precision', '{name}' must hold classes of {wanted}, but got {item}.")


def to_float32(value: Any) -> Any:
    """Return the same nesting with float tensors as float32.

    Args:
        value: a Tensor, or a tuple, list or dict of them.
    """
    return map_tensors(lambda x: cast(x, mstype.float32) if x.dtype in _FLOATS else x, value)


class _OutputTo32(Cell):
    """A network whose outputs become float32."""

    def __init__(self, backbone: Cell) -> None:
        super().__init__(auto_prefix=False)
        self._backbone = backbone

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        return to_float32(self._backbone(*args, **kwargs))


class _OutputTo16(Cell):
    """A float32 cell within a low-type network: its outputs go back to the low type."""

    def __init__(self, backbone: Cell, dtype: Any) -> None:
        super().__init__(auto_prefix=False)
        self._backbone = backbone
        self.dtype = dtype

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        lower = lambda x: cast(x, self.dtype) if x.dtype in _FLOATS else x  # noqa: E731
        return map_tensors(lower, self._backbone(*args, **kwargs))


def _without_black_list(network: Cell, black_list: Sequence[type], dtype: Any) -> Cell:
    """Give a network a low type, but for the cells of some classes in it."""
    network.to_float(dtype)
    keep_float32(network, black_list, dtype)
    return network


def keep_float32(network: Cell, black_list: Sequence[type], dtype: Any) -> None:
    """Give the cells of some classes in a network float32 again.

    Args:
        network: the network, changed.
        black_list: the classes.
        dtype: the type of the rest.
    """
    for name, cell in network.name_cells().items():
        if isinstance(cell, tuple(black_list)):
            network._cells[name] = _OutputTo16(cell.to_float(mstype.float32), dtype)
        else:
            keep_float32(cell, black_list, dtype)


class _Low:
    """A primitive in a low type: inputs are cast to it, outputs to float32."""

    def __init__(self, primitive: Primitive, dtype: Any) -> None:
        self._primitive, self._dtype = primitive, dtype

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        lower = lambda x: cast(x, self._dtype) if x.dtype in _FLOATS else x  # noqa: E731
        args, kwargs = map_tensors(lower, args), map_tensors(lower, kwargs)
        return to_float32(self._primitive(*args, **kwargs))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._primitive, name)


def _with_white_list(network: Cell, white_list: Sequence[type], dtype: Any) -> Cell:
    """Return a copy, with the same parameters, in which some classes run in a low type."""
    listed = set(white_list)
    layers = {layer for kind in white_list for layer in _LAYERS_OF.get(kind, ())}
    shared = [*network.get_parameters(), *network.buffers()]
    copied = copy.deepcopy(network, {id(x): x for x in shared})
    if type(copied) in layers:
        _lower(copied, dtype)
    else:
        _lower_parts(copied, listed, listed | layers, dtype)
    return copied


def _lower_parts(cell: Cell, listed: set[type], layers: set[type], dtype: Any) -> None:
    """Lower the primitives of a cell and, further down, the cells of listed classes."""
    for name, value in list(vars(cell).items()):
        if isinstance(value, Primitive) and type(value) in listed:
            cell.__dict__[name] = _Low(value, dtype)
    for child in cell.cells():
        if child._cell_float_type is not None:  # the user has chosen
            continue
        if type(child) in layers:
            _lower(child, dtype)
        else:
            _lower_parts(child, listed, layers, dtype)


def _lower(cell: Cell, dtype: Any) -> None:
    """Run a cell in a low type and make its outputs float32."""
    cell.to_float(dtype)
    cell.register_forward_hook(lambda cell, inputs, outputs: to_float32(outputs))


def _in_region(network: Any, dtype: Any) -> Any:
    """Return a function, or a Cell whose `construct`, opens a region of level "auto"."""
    function = network.construct.__func__ if isinstance(network, Cell) else network

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        with Region(dtype):
            return function(*args, **kwargs)

    if not isinstance(network, Cell):
        return run
    object.__setattr__(network, "construct", types.MethodType(run, network))
    return network
