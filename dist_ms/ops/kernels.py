"""Compiled kernels that load at their first use, after which reaching one costs an attribute."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any


class LateModule(ModuleType):
    """A module of `dist_ms._ext` that is loaded when one of its names is first asked for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        module = importlib.import_module(f"dist_ms._ext.{self.__name__}")
        self.__dict__.update({key: value for key, value in vars(module).items() if not key.startswith("__")})
        return getattr(module, name)


activation = LateModule("activation")
amx = LateModule("amx")
attention = LateModule("attention")
batch_norm = LateModule("batch_norm")
cross_entropy = LateModule("cross_entropy")
ctc = LateModule("ctc")
dnnl = LateModule("dnnl")
dropout = LateModule("dropout")
index_along = LateModule("index_along")
layer_norm = LateModule("layer_norm")
moving_statistics = LateModule("moving_statistics")
recurrent_steps = LateModule("recurrent_steps")
softmax = LateModule("softmax")
strided_copy = LateModule("strided_copy")
triangles = LateModule("triangles")
