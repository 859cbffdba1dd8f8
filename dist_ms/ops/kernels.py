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
counted_numbers = LateModule("counted_numbers")
cross_entropy = LateModule("cross_entropy")
dnnl = LateModule("dnnl")
dropout = LateModule("dropout")
layer_norm = LateModule("layer_norm")
matrix_panels = LateModule("matrix_panels")
moving_statistics = LateModule("moving_statistics")
sequences = LateModule("sequences")
softmax = LateModule("softmax")
vector_product = LateModule("vector_product")
weighted_places = LateModule("weighted_places")
