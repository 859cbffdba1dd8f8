"""What is noted on a Cell as a flag, or set on all of its parameters.

Fields of a cell: writes `_func_graph_flags`, `_phase`, `_scope`, `cell_type`, `requires_grad`; reads `_cells`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dist_ms.nn.cell.precision import set_precision

if TYPE_CHECKING:
    from dist_ms.nn.cell.cell import Cell


# ---- flags
def add_flags(self: Cell, **flags: Any) -> Any:
    """Store settings on this cell; each also becomes an attribute.

    `fp16`, `fp32` or `bf16`, if true, set the type that operations inside run in, as `to_float` does.

    Returns:
        The cell itself.

    Examples:
        >>> from dist_ms import nn
        >>> net = nn.ReLU().add_flags(sink_mode=True)
        >>> net.sink_mode, net.get_flags()
        (True, {'sink_mode': True})
    """
    self.get_flags().update(flags)
    self.__dict__.update(flags)
    set_precision(self, flags)
    return self


def add_flags_recursive(self: Cell, **flags: Any) -> Any:
    """Store settings on this cell and all nested ones. Returns the cell."""
    for _, cell in self.cells_and_names():
        cell.add_flags(**flags)
    return self


def get_flags(self: Cell) -> dict:
    """The settings stored so far."""
    return self.__dict__.setdefault("_func_graph_flags", {})


# ---- training
def _phase(self: Cell) -> str:
    """What the last `set_train` of this very cell said, "train" or "predict"; any string may be assigned.

    Raises:
        TypeError: if something else is assigned.
    """
    return self._phase


def _set_phase(self: Cell, value: str) -> None:
    if not isinstance(value, str):
        raise TypeError(f"For 'Cell', the property 'phase' must be string type, but got type {type(value)}.")
    self.__dict__["_phase"] = value


phase = property(_phase, _set_phase)


def set_train(self: Cell, mode: bool = True) -> Any:
    """Set `training` of this cell and all nested ones. Returns the cell.

    Examples:
        >>> from dist_ms import nn
        >>> print(nn.Dropout(p=0.5).set_train(False).phase)
        predict
    """
    self.__dict__["_phase"] = "train" if mode else "predict"
    return self.add_flags_recursive(training=mode)


def set_grad(self: Cell, requires_grad: bool = True) -> Any:
    """Mark the cell as one whose gradient is taken (parameters are not touched). Returns the cell."""
    self.requires_grad = requires_grad
    return self


# ---- parameters
def set_comm_fusion(self: Cell, fusion_type: int, recurse: bool = True) -> Any:
    """Give the gradients of all trainable parameters a fusion group: equal numbers share buckets.

    Args:
        fusion_type: 0 or more; see `Parameter.comm_fusion`.
        recurse: include nested cells.

    Returns:
        The cell itself.

    Raises:
        TypeError: if `fusion_type` is no int.
        ValueError: if it is negative.
    """
    if isinstance(fusion_type, bool) or not isinstance(fusion_type, int):
        raise TypeError(f"For 'set_comm_fusion', 'fusion_type' must be an int, but got {type(fusion_type)}.")
    if fusion_type < 0:
        raise ValueError(f"For 'set_comm_fusion', 'fusion_type' must be int and must >= 0, but got {fusion_type}.")
    for p in self.trainable_params(recurse):
        p.comm_fusion = fusion_type
    return self


def set_param_ps(self: Cell, recurse: bool = True, init_in_server: bool = False, **how: Any) -> None:
    """Let parameter servers train the trainable parameters (remembered outside server mode).

    Args:
        recurse: include nested cells.
        init_in_server: create the values on the servers only.
        **how: `staleness`, `wire` and `partition`, as in `Parameter.set_param_ps`.
    """
    for p in self.trainable_params(recurse):
        p.set_param_ps(init_in_server, **how)


def init_parameters_data(self: Cell, auto_parallel_mode: bool = False) -> dict:
    """Create the values of all lazily initialised parameters.

    Args:
        auto_parallel_mode: only MindSpore's automatic parallelism makes a difference here.

    Returns:
        {parameter before: parameter after}: the same objects here.
    """
    return {p: p.init_data() for p in self.get_parameters()}


def flatten_weights(self: Cell, fusion_size: int = 0) -> None:
    """Move the values of all parameters into common memory, one block per type.

    Views of the old memory no longer follow the parameters: call it before an optimizer is made.

    Args:
        fusion_size: the most bytes of a block; 0 for no limit.

    Raises:
        TypeError: if `fusion_size` is no int.
        ValueError: if it is negative.

    Examples:
        >>> from dist_ms import nn
        >>> net = nn.Dense(2, 3)
        >>> net.flatten_weights()
        >>> net.weight.asnumpy().base is net.bias.asnumpy().base
        True
    """
    if isinstance(fusion_size, bool) or not isinstance(fusion_size, int):
        raise TypeError(f"For 'flatten_weights', 'fusion_size' must be an int, but got {type(fusion_size)}.")
    if fusion_size < 0:
        raise ValueError(f"For 'flatten_weights', 'fusion_size' must be 0 or more, but got {fusion_size}.")
    blocks: dict[np.dtype, list[list]] = {}
    for p in self.get_parameters():
        array = p.array()
        of_type = blocks.setdefault(array.dtype, [[]])
        filled = sum(q.array().nbytes for q in of_type[-1])
        if fusion_size and of_type[-1] and filled + array.nbytes > fusion_size:
            of_type.append([])
        of_type[-1].append(p)
    for dtype, of_type in blocks.items():
        for block in of_type:
            _share_memory(block, dtype)


# ---- parallelism
def set_broadcast_flag(self: Cell, mode: bool = True) -> Any:
    """Store the flag `broadcast_flag` on all nested cells, as MindSpore does. Returns the cell.

    What is broadcast at the start follows from each parameter's own flags (see `dist-ms plan`).
    """
    return self.add_flags_recursive(broadcast_flag=mode)


def set_data_parallel(self: Cell) -> None:
    """Let every operation run data-parallel; here none ever runs otherwise."""


def update_cell_type(self: Cell, cell_type: str) -> None:
    """Store the cell's kind in `cell_type`: "quant" or "second-order" in MindSpore's own networks."""
    self.cell_type = cell_type


def generate_scope(self: Cell) -> None:
    """Give every nested cell that has none a scope such as "Default/body-Dense"."""
    for path, cell in self.cells_and_names():
        if path and cell._scope is None:
            parts, owner = ["Default"], self
            for name in path.split("."):
                owner = owner._cells[name]
                parts.append(f"{name}-{owner.cls_name}")
            cell.__dict__["_scope"] = "/".join(parts)


def get_scope(self: Cell) -> str | None:
    """The scope that `generate_scope` gave this cell, None before."""
    return self._scope


def _share_memory(parameters: list, dtype: np.dtype) -> None:
    """Move the values of some parameters of one type into one array."""
    flat = np.empty(sum(p.array().size for p in parameters), dtype)
    start = 0
    for p in parameters:
        array = p.array()
        place = flat[start : start + array.size]
        start += array.size
        place[...] = array.ravel()
        p.before_write()
        p._data = place.reshape(array.shape)
