"""Buffers and state dictionaries of a Cell."""

from __future__ import annotations

import itertools
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dist_ms.common.parameter import Parameter, _Buffer
from dist_ms.common.tensor import Tensor

_Incompatible = namedtuple("_IncompatibleKeys", ["missing_keys", "unexpected_keys"])
_ids = itertools.count()


class _IncompatibleKeys(_Incompatible):
    """The result of loading a state dictionary."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class _Handle:
    """Removes one hook from the table it was put into."""

    def __init__(self, table: dict, key: int) -> None:
        self._table, self._key = table, key

    def remove(self) -> None:
        """Remove the hook; calling it again does nothing."""
        self._table.pop(self._key, None)


def add_hook(table: dict, hook: Any) -> _Handle:
    """Put a hook at the end of a table and return its handle."""
    key = next(_ids)
    table[key] = hook
    return _Handle(table, key)


class CellState:
    """The part of Cell that keeps buffers and reads and writes state dictionaries."""

    def _init_state(self) -> None:
        state = self.__dict__
        state["_non_persistent"] = set()
        for name in ("_state_pre", "_state_post", "_load_pre", "_load_post"):
            state[name] = OrderedDict()

    # ---- buffers
    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is state but no parameter.

        Args:
            name: a name without dots that no attribute has.
            tensor: the values, or None to reserve the name.
            persistent: include it in `state_dict`.

        Raises:
            TypeError: if the name is no str or `tensor` no Tensor.
            KeyError: if the name is empty, has a dot or is taken.
        """
        self._need_init("a buffer")
        if not isinstance(name, str):
            raise TypeError(f"buffer name should be a string, but got {type(name)}.")
        if "." in name:
            raise KeyError(f'buffer name can\'t contain ".", but got {name!r}.')
        if not name:
            raise KeyError('buffer name can\'t be empty string "".')
        if name not in self._buffers and hasattr(self, name):
            raise KeyError(f"attribute '{name}' already exists")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{type(tensor)}' object to buffer '{name}' (mindspore Tensor or None required)"
            )
        self._buffers[name] = tensor
        (self._non_persistent.discard if persistent else self._non_persistent.add)(name)

    def named_buffers(
        self, name_prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Iterate over (path, buffer), own buffers first."""
        seen = set()
        for path, cell in self.cells_and_names(name_prefix=name_prefix) if recurse else [(name_prefix, self)]:
            for key, buffer in cell._buffers.items():
                if buffer is None or (remove_duplicate and id(buffer) in seen):
                    continue
                seen.add(id(buffer))
                yield (f"{path}.{key}" if path else key), buffer

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Iterate over the buffers."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a dotted path.

        Raises:
            AttributeError: if there is none.
        """
        path, _, name = target.rpartition(".")
        cell = self.get_sub_cell(path)
        if name not in cell._buffers:
            what = "is not a buffer" if hasattr(cell, name) else "has no attribute"
            raise AttributeError(f"`{name}` {what}" if "not" in what else f"{cell.cls_name} {what} `{name}`")
        return cell._buffers[name]

    # ---- writing
    def get_extra_state(self) -> Any:
        """Override with `set_extra_state` to put more into the state dictionary."""
        raise RuntimeError(
            "For 'Cell', get_extra_state is only called on cells that define it: define "
            "get_extra_state and set_extra_state together."
        )

    def set_extra_state(self, state: Any) -> None:
        """Override with `get_extra_state` to take it back."""
        raise RuntimeError(
            "For 'Cell', set_extra_state is only called on cells that define it: define "
            "get_extra_state and set_extra_state together."
        )

    def state_dict(
        self, *args: Any, destination: dict | None = None, prefix: str = "", keep_vars: bool = False
    ) -> OrderedDict:
        """The parameters and persistent buffers by path.

        Examples:
            >>> from dist_ms import nn
            >>> print(list(nn.Dense(2, 1).state_dict()))
            ['weight', 'bias']
        """
        if args:
            destination, prefix, keep_vars = (*args, *(destination, prefix, keep_vars)[len(args) :])
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local_metadata: dict = {}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        for hook in list(self._state_pre.values()):
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, cell in self._cells.items():
            if cell is not None:
                cell.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in list(self._state_post.values()):
            hook(self, destination, prefix, local_metadata)
        return destination

    def _save_to_state_dict(self, destination: dict, prefix: str, keep_vars: bool) -> None:
        for name, p in self._params.items():
            if p is not None:
                destination[prefix + name] = p
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent:
                destination[prefix + name] = buffer
        if type(self).get_extra_state is not CellState.get_extra_state:
            destination[prefix + "_extra_state"] = self.get_extra_state()

    # ---- reading
    def load_state_dict(self, state_dict: dict, strict: bool = True) -> _IncompatibleKeys:
        """Write the values of a state dictionary into the parameters and buffers.

        Args:
            state_dict: path -> Tensor.
            strict: names must match exactly.

        Returns:
            A pair of lists: `missing_keys`, `unexpected_keys`.

        Raises:
            TypeError: if `state_dict` is no dict.
            RuntimeError: if shapes differ, or names do while `strict`.
        """
        if not isinstance(state_dict, dict):
            raise TypeError(f"Expected state_dict to be dict-like, but got {type(state_dict)}.")
        missing: list[str] = []
        unexpected: list[str] = []
        errors: list[str] = []
        entries = OrderedDict(state_dict)
        self._load_recursive(entries, "", strict, missing, unexpected, errors)
        if strict:
            quoted = lambda keys: ", ".join(f'"{k}"' for k in keys)  # noqa: E731
            if unexpected:
                errors.insert(0, f"Unexpected key(s) in state_dict: {quoted(unexpected)}. ")
            if missing:
                errors.insert(0, f"Missing key(s) in state_dict: {quoted(missing)}. ")
        if errors:
            raise RuntimeError("\n\t".join([f"Error(s) in loading state_dict for {self.cls_name}:", *errors]))
        return _IncompatibleKeys(missing, unexpected)

    def _load_recursive(
        self, entries: dict, prefix: str, strict: bool, missing: list, unexpected: list, errors: list
    ) -> None:
        self._load_from_state_dict(entries, prefix, {}, strict, missing, unexpected, errors)
        for name, cell in self._cells.items():
            if cell is not None:
                part = f"{prefix}{name}."
                cell._load_recursive(
                    {k: v for k, v in entries.items() if k.startswith(part)}, part, strict, missing, unexpected, errors
                )
        result = _IncompatibleKeys(missing, unexpected)
        for hook in list(self._load_post.values()):
            if hook(self, result) is not None:
                raise RuntimeError("A load_state_dict post hook must change the keys in place and return None.")

    def _load_from_state_dict(
        self,
        entries: dict,
        prefix: str,
        local_metadata: dict,
        strict: bool,
        missing: list,
        unexpected: list,
        errors: list,
    ) -> None:
        for hook in list(self._load_pre.values()):
            hook(self, entries, prefix, local_metadata, strict, missing, unexpected, errors)
        own = {**self._params, **{k: b for k, b in self._buffers.items() if k not in self._non_persistent}}
        for name, target in own.items():
            if target is None:
                continue
            key = prefix + name
            if key in entries:
                self._load_one(key, name, target, entries[key], errors)
            else:
                missing.append(key)
        extra = prefix + "_extra_state"
        if type(self).set_extra_state is not CellState.set_extra_state:
            if extra in entries:
                self.set_extra_state(entries[extra])
            else:
                missing.append(extra)
        known = {
            *own,
            *self._cells,
            "_extra_state" if type(self).set_extra_state is not CellState.set_extra_state else "",
        }
        unexpected.extend(
            k
            for k in entries
            if k.startswith(prefix) and k[len(prefix) :].split(".", 1)[0] not in known and k not in unexpected
        )

    def _load_one(self, key: str, name: str, target: Tensor, value: Any, errors: list) -> None:
        if not isinstance(value, Tensor):
            errors.append(
                f'While copying the parameter named "{key}", expected a Tensor from the state_dict but '
                f"received {type(value)}."
            )
        elif tuple(value.shape) != tuple(target.shape):
            errors.append(
                f"size mismatch for {key}: copying a param with shape {tuple(value.shape)} from checkpoint, "
                f"the shape in current model is {tuple(target.shape)}."
            )
        elif isinstance(target, Parameter):
            target.set_data(value)
        else:
            np.copyto(target.array(), value.array(), casting="same_kind")

    # ---- hooks
    def register_state_dict_pre_hook(self, hook: Callable) -> _Handle:
        """Call `hook(cell, prefix, keep_vars)` before a state dictionary is written."""
        return add_hook(self._state_pre, hook)

    def register_state_dict_post_hook(self, hook: Callable) -> _Handle:
        """Call `hook(cell, state_dict, prefix, local_metadata)` after it is written."""
        return add_hook(self._state_post, hook)

    def register_load_state_dict_pre_hook(self, hook: Callable) -> _Handle:
        """Call `hook(cell, state_dict, prefix, local_metadata, strict, missing, unexpected, errors)` before loading."""
        return add_hook(self._load_pre, hook)

    def register_load_state_dict_post_hook(self, hook: Callable) -> _Handle:
        """Call `hook(cell, incompatible_keys)` after loading."""
        return add_hook(self._load_post, hook)


__all__ = ["CellState", "_Buffer", "add_hook"]
