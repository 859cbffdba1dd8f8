"""Buffers and state dictionaries of a Cell.

Fields of a cell: writes `_buffers`, `_cell_state_hooks`, `_non_persistent_buffers_set`; reads `_cells`, `_params`.
"""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell.hook_handle import HookHandle
from dist_ms.nn.cell.members import need_init

if TYPE_CHECKING:
    from dist_ms.nn.cell.cell import Cell

_EXTRA = "_extra_state"
_KINDS = ("save_pre", "save_post", "load_pre", "load_post")
_registration_hooks: OrderedDict = OrderedDict()


def register_cell_buffer_registration_hook(hook: Callable) -> HookHandle:
    """Call `hook(cell, name, buffer)` whenever any cell registers a buffer; what it returns is registered instead.

    Args:
        hook: returns a Tensor, or None to leave the buffer as it is.

    Returns:
        A handle whose `remove()` takes the hook away.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.nn.cell import register_cell_buffer_registration_hook
        >>> handle = register_cell_buffer_registration_hook(lambda cell, name, buffer: buffer * 2)
        >>> net = ms.nn.Cell()
        >>> net.register_buffer("b", ms.Tensor([1.0]))
        >>> handle.remove()
        >>> print(net.b)
        [2.]
    """
    return HookHandle(_registration_hooks, hook)


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """The result of loading a state dictionary."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


# ---- buffers
def register_buffer(self: Cell, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
    """Add a tensor that is state but no parameter.

    Args:
        name: a name without dots that no other attribute has.
        tensor: the values, or None to reserve the name.
        persistent: include it in `state_dict`.

    Raises:
        TypeError: if the name is no str or `tensor` no Tensor.
        KeyError: if the name is empty, has a dot or is taken.

    Examples:
        >>> import dist_ms as ms
        >>> net = ms.nn.Cell()
        >>> net.register_buffer("mean", ms.Tensor([0.5]))
        >>> print(net.mean, list(net.state_dict()))
        [0.5] ['mean']
    """
    need_init(self, "a buffer")
    if not isinstance(name, str):
        raise TypeError(f"buffer name should be a string. But got this type: {type(name)}")
    if "." in name:
        raise KeyError(f'buffer name can\'t contain ".", but got {name!r}')
    if not name:
        raise KeyError('buffer name can\'t be empty string ""')
    if name not in self._buffers and hasattr(self, name):
        raise KeyError(f"attribute '{name}' already exists")
    if tensor is not None and not isinstance(tensor, Tensor):
        raise TypeError(f"cannot assign '{type(tensor)}' object to buffer '{name}' (mindspore Tensor or None required)")
    for hook in list(_registration_hooks.values()):
        changed = hook(self, name, tensor)
        tensor = tensor if changed is None else changed
    if tensor is not None:
        tensor._is_buffer = True
    self._buffers[name] = tensor
    others = set(self._non_persistent_buffers_set) - {name}
    self.__dict__["_non_persistent_buffers_set"] = others if persistent else others | {name}


def named_buffers(
    self: Cell, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
) -> Iterator[tuple[str, Tensor]]:
    """Iterate over (path, buffer), own buffers first.

    Args:
        prefix: put before every path.
        recurse: go into child cells.
        remove_duplicate: show a tensor that is several buffers once.
    """
    seen = set()
    for path, cell in self.cells_and_names(name_prefix=prefix) if recurse else [(prefix, self)]:
        for key, buffer in cell._buffers.items():
            if buffer is None or (remove_duplicate and id(buffer) in seen):
                continue
            seen.add(id(buffer))
            yield (f"{path}.{key}" if path else key), buffer


def buffers(self: Cell, recurse: bool = True) -> Iterator[Tensor]:
    """Iterate over the buffers, own ones first."""
    for _, buffer in self.named_buffers(recurse=recurse):
        yield buffer


def get_buffer(self: Cell, target: str) -> Tensor:
    """The buffer at a dotted path.

    Raises:
        AttributeError: if there is none.
    """
    path, _, name = target.rpartition(".")
    cell = self.get_sub_cell(path)
    if name not in cell._buffers:
        if hasattr(cell, name):
            raise AttributeError(f"`{name}` is not a buffer")
        raise AttributeError(f"{cell.cls_name} has no attribute `{name}`")
    return cell._buffers[name]


# ---- writing
def get_extra_state(self: Cell) -> Any:
    """What else belongs into the state dictionary; override it together with `set_extra_state`.

    Raises:
        RuntimeError: if it is called on a class that does not.
    """
    raise RuntimeError(f"For '{self.cls_name}', get_extra_state is not defined: override it to have extra state.")


def set_extra_state(self: Cell, state: Any) -> None:
    """Take back what `get_extra_state` gave.

    Raises:
        RuntimeError: if it is called on a class that does not override it.
    """
    raise RuntimeError(f"For '{self.cls_name}', set_extra_state is not defined: override it to have extra state.")


def state_dict(
    self: Cell, *args: Any, destination: dict | None = None, prefix: str = "", keep_vars: bool = False
) -> OrderedDict:
    """The parameters and persistent buffers by path; the values are the cell's own tensors.

    Args:
        args: `destination`, `prefix`, `keep_vars` by position.
        destination: a dict to write into; a new OrderedDict by default.
        prefix: put before every path.
        keep_vars: given to the hooks.

    Raises:
        TypeError: if an argument has another type.
        RuntimeError: if a post hook returns something.

    Examples:
        >>> from dist_ms import nn
        >>> print(list(nn.Dense(2, 1).state_dict()))
        ['weight', 'bias']
    """
    given: tuple[Any, ...] = (*args, *(destination, prefix, keep_vars)[len(args) :])
    written, prefix, keep_vars = given
    if written is None:
        written = OrderedDict()
        vars(written)["_metadata"] = OrderedDict()
    _check_arguments(written, prefix, keep_vars)
    local_metadata: dict = {}
    if hasattr(written, "_metadata"):
        written._metadata[prefix[:-1]] = local_metadata
    for hook in _hooks_of(self, "save_pre"):
        hook(self, prefix, keep_vars)
    self._save_to_state_dict(written, prefix, keep_vars)
    for name, cell in self._cells.items():
        if cell is not None:
            cell.state_dict(destination=written, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
    for hook in _hooks_of(self, "save_post"):
        if hook(self, written, prefix, local_metadata) is not None:
            raise RuntimeError("state_dict post-hook must return None: change the dictionary in place.")
    return written


def _save_to_state_dict(self: Cell, destination: dict, prefix: str, keep_vars: bool) -> None:
    """Write what belongs to this cell itself."""
    for name, value in (*self._params.items(), *self._buffers.items()):
        if value is not None and name not in self._non_persistent_buffers_set:
            destination[prefix + name] = value
    if type(self).get_extra_state is not get_extra_state:
        destination[prefix + _EXTRA] = self.get_extra_state()


# ---- reading
def load_state_dict(self: Cell, state_dict: Mapping, strict: bool = True) -> _IncompatibleKeys:
    """Write the values of a state dictionary into the parameters and buffers, in their types.

    Args:
        state_dict: path -> Tensor.
        strict: names must match exactly.

    Returns:
        A pair of lists: `missing_keys`, `unexpected_keys`.

    Raises:
        TypeError: if `state_dict` is no mapping.
        RuntimeError: if shapes differ, or names do while `strict`.

    Examples:
        >>> from dist_ms import nn
        >>> nn.Dense(2, 1).load_state_dict(nn.Dense(2, 1).state_dict())
        <All keys matched successfully>
    """
    if not isinstance(state_dict, Mapping):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
    missing: list[str] = []
    unexpected: list[str] = []
    errors: list[str] = []
    metadata = getattr(state_dict, "_metadata", None) or {}
    _load(self, OrderedDict(state_dict), "", metadata, missing, unexpected, errors)
    if strict:
        for what, keys in (("Unexpected", unexpected), ("Missing", missing)):
            if keys:
                quoted = ", ".join(f'"{key}"' for key in keys)
                errors.insert(0, f"{what} key(s) in state_dict: {quoted}. ")
    if errors:
        raise RuntimeError("\n\t".join([f"Error(s) in loading state_dict for {self.cls_name}:", *errors]))
    return _IncompatibleKeys(missing, unexpected)


def _load(
    cell: Cell, entries: dict, prefix: str, metadata: dict, missing: list, unexpected: list, errors: list
) -> None:
    """Load this cell and the nested ones."""
    cell._load_from_state_dict(entries, prefix, metadata.get(prefix[:-1], {}), True, missing, unexpected, errors)
    for name, child in cell._cells.items():
        if child is not None:
            part = f"{prefix}{name}."
            of_child = {k: v for k, v in entries.items() if k.startswith(part)}
            _load(child, of_child, part, metadata, missing, unexpected, errors)
    for hook in _hooks_of(cell, "load_post"):
        if hook(cell, _IncompatibleKeys(missing, unexpected)) is not None:
            raise RuntimeError(
                "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new "
                "values: change the lists in place."
            )


def _load_from_state_dict(
    self: Cell,
    state_dict: dict,
    prefix: str,
    local_metadata: dict,
    strict: bool,
    missing_keys: list,
    unexpected_keys: list,
    error_msgs: list,
) -> None:
    """Load what belongs to this cell itself; layers override it to read older names."""
    for hook in _hooks_of(self, "load_pre"):
        hook(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
    own = {
        k: v
        for k, v in (*self._params.items(), *self._buffers.items())
        if v is not None and k not in self._non_persistent_buffers_set
    }
    for name, target in own.items():
        key = prefix + name
        if key in state_dict:
            problem = _write(key, target, state_dict[key])
            error_msgs.extend([problem] if problem else [])
        elif strict:
            missing_keys.append(key)
    extra = prefix + _EXTRA
    if type(self).set_extra_state is not set_extra_state:
        if extra in state_dict:
            self.set_extra_state(state_dict[extra])
        elif strict:
            missing_keys.append(extra)
    elif strict and extra in state_dict:
        unexpected_keys.append(extra)
    if strict:
        for key in state_dict:
            if key.startswith(prefix) and key != extra:
                name, dot, _ = key[len(prefix) :].partition(".")
                if name not in (self._cells if dot else own):
                    unexpected_keys.append(key)


# ---- hooks
def _hooks_of(cell: Cell, kind: str) -> list[Callable]:
    return list(cell._cell_state_hooks[kind].values()) if cell._cell_state_hooks is not None else []


def _register(cell: Cell, kind: str, hook: Callable) -> HookHandle:
    if not callable(hook):
        raise TypeError(f"Expected a callable hook function, but got {type(hook).__name__}.")
    tables = cell._cell_state_hooks
    if tables is None:
        tables = cell.__dict__["_cell_state_hooks"] = {k: OrderedDict() for k in _KINDS}
    return HookHandle(tables[kind], hook)


def register_state_dict_pre_hook(self: Cell, hook: Callable) -> HookHandle:
    """Call `hook(cell, prefix, keep_vars)` before a state dictionary is written."""
    return _register(self, "save_pre", hook)


def register_state_dict_post_hook(self: Cell, hook: Callable) -> HookHandle:
    """Call `hook(cell, state_dict, prefix, local_metadata)` after it is written; it may change the dictionary."""
    return _register(self, "save_post", hook)


def register_load_state_dict_pre_hook(self: Cell, hook: Callable) -> HookHandle:
    """Call `hook(cell, state_dict, prefix, local_metadata, strict, missing, unexpected, errors)` before loading."""
    return _register(self, "load_pre", hook)


def register_load_state_dict_post_hook(self: Cell, hook: Callable) -> HookHandle:
    """Call `hook(cell, incompatible_keys)` after loading; it may change the two lists in place."""
    return _register(self, "load_post", hook)


def _check_arguments(destination: Any, prefix: Any, keep_vars: Any) -> None:
    """Check the types of the arguments of `state_dict`."""
    for name, value, kind, wanted in (
        ("destination", destination, dict, "OrderedDict"),
        ("prefix", prefix, str, "string"),
        ("keep_vars", keep_vars, bool, "bool"),
    ):
        if not isinstance(value, kind):
            raise TypeError(f"The type of {name} must be {wanted}, but got {type(value)}")


def _write(key: str, target: Tensor, value: Any) -> str | None:
    """Write one value of a state dictionary into its place; returns what is wrong with it, None if nothing."""
    if not isinstance(value, Tensor):
        return f'For "{key}", a state dictionary must hold a Tensor, but got {type(value).__name__}.'
    if tuple(value.shape) != tuple(target.shape):
        return (
            f"size mismatch for {key}: it has the shape {tuple(target.shape)} in the network, but got "
            f"{tuple(value.shape)}."
        )
    if isinstance(target, Parameter):
        target.overwrite(value.array())
    else:
        np.copyto(target.array(), value.array(), casting="unsafe")
    return None
