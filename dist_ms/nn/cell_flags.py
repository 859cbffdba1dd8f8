"""What is set on a Cell for its parameters as a whole, or noted on it as a flag."""

from __future__ import annotations

import inspect
from typing import Any


class CellFlags:
    """The part of Cell that sets flags on itself and on its parameters."""

    def _init_flags(self) -> None:
        self.__dict__["_flags"] = {}
        self.__dict__["_jit_config_dict"] = {}

    def add_flags(self, **flags: Any) -> Any:
        """Store settings on this cell; each also becomes an attribute. Returns the cell."""
        for name, value in flags.items():
            self._flags[name] = value
            setattr(self, name, value)
        return self

    def add_flags_recursive(self, **flags: Any) -> Any:
        """Store settings on this cell and all nested ones. Returns the cell."""
        for _, cell in self.cells_and_names():
            cell.add_flags(**flags)
        return self

    def get_flags(self) -> dict:
        """The settings stored so far."""
        return self._flags

    def set_comm_fusion(self, fusion_type: int, recurse: bool = True) -> Any:
        """Give the gradients of all trainable parameters a fusion group: equal numbers share buckets.

        Raises:
            TypeError: if `fusion_type` is no int.
            ValueError: if it is negative.
        """
        if isinstance(fusion_type, bool) or not isinstance(fusion_type, int):
            raise TypeError(f"For 'set_comm_fusion', 'fusion_type' must be an int, but got {type(fusion_type)}.")
        if fusion_type < 0:
            raise ValueError(f"For 'set_comm_fusion', 'fusion_type' must be 0 or more, but got {fusion_type}.")
        for p in self.trainable_params(recurse):
            p.comm_fusion = fusion_type
        return self

    def set_param_ps(self, recurse: bool = True, init_in_server: bool = False) -> None:
        """Let parameter servers train the trainable parameters (remembered outside server mode).

        Args:
            recurse: include nested cells.
            init_in_server: create the values on the servers only.
        """
        for p in self.trainable_params(recurse):
            p.set_param_ps(init_in_server)

    def init_parameters_data(self, auto_parallel_mode: bool = False) -> dict:
        """Create the values of all lazily initialised parameters; returns {parameter before: after}."""
        replaced = {}
        for _, cell in self.cells_and_names():
            for key, p in cell._params.items():
                if p is not None:
                    new = p.init_data()
                    replaced[p] = new
                    cell._params[key] = new
        return replaced

    def set_broadcast_flag(self, mode: bool = True) -> Any:
        """Store the flag `broadcast_flag` on all nested cells, as MindSpore does. Returns the cell.

        What is broadcast at the start follows from each parameter's own flags (see `dist-ms plan`).
        """
        return self.add_flags_recursive(broadcast_flag=mode)

    def set_data_parallel(self) -> None:
        """Store the flag `strategy_gen_mode`, as MindSpore does: every layer runs data-parallel."""
        self.add_flags_recursive(strategy_gen_mode="data_parallel")

    def set_jit_config(self, jit_config: Any) -> None:
        """Remember compiler settings; results do not depend on them."""
        self.__dict__["_jit_config_dict"] = dict(getattr(jit_config, "jit_config_dict", None) or {})

    @property
    def jit_config_dict(self) -> dict:
        """The settings given to `set_jit_config`."""
        return self._jit_config_dict

    def set_inputs(self, *inputs: Any, **kwargs: Any) -> None:
        """Remember example inputs (a compiler's concern: every call accepts its own shapes)."""
        self.__dict__["_set_inputs"] = inputs or kwargs

    def get_inputs(self) -> Any:
        """What `set_inputs` was given, None before."""
        return self.__dict__.get("_set_inputs")

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Check before the first call: parameter names are unique and the arguments fit `construct`.

        Raises:
            ValueError: if two parameters have one name.
            TypeError: if the arguments do not fit.
        """
        self.check_names()
        if args or kwargs:
            inspect.signature(self.construct).bind(*args, **kwargs)
