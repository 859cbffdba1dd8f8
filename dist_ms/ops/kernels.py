"""Compiled kernels, and SciPy, that load at their first use, after which reaching one costs an attribute."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any


class LateModule(ModuleType):
    """A module that is loaded when one of its names is first asked for.

    Args:
        name: its name.
        package: where it is.
    """

    def __init__(self, name: str, package: str = "dist_ms._ext") -> None:
        super().__init__(name)
        self._package = package

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        module = importlib.import_module(f"{self._package}.{self.__name__}")
        self.__dict__.update({key: value for key, value in vars(module).items() if not key.startswith("__")})
        return getattr(module, name)


activation = LateModule("activation")
amx = LateModule("amx")
attention = LateModule("attention")
axis_reduction = LateModule("axis_reduction")
batch_norm = LateModule("batch_norm")
borders = LateModule("borders")
column_sum = LateModule("column_sum")
counted_numbers = LateModule("counted_numbers")
cross_entropy = LateModule("cross_entropy")
ctc = LateModule("ctc")
depthwise = LateModule("depthwise")
dnnl = LateModule("dnnl")
dropout = LateModule("dropout")
extreme_places = LateModule("extreme_places")
filling = LateModule("filling")
grid_sampling = LateModule("grid_sampling")
group_norm = LateModule("group_norm")
index_along = LateModule("index_along")
label_likelihood = LateModule("label_likelihood")
layer_norm = LateModule("layer_norm")
masked = LateModule("masked")
moving_statistics = LateModule("moving_statistics")
optimizer = LateModule("optimizer")
ordering = LateModule("ordering")
pairwise = LateModule("pairwise")
pointwise = LateModule("pointwise")
recurrent_steps = LateModule("recurrent_steps")
running_extremes = LateModule("running_extremes")
scan = LateModule("scan")
selection = LateModule("selection")
sequences = LateModule("sequences")
softmax = LateModule("softmax")
softmax_lines = LateModule("softmax_lines")
sorted_search = LateModule("sorted_search")
strided_copy = LateModule("strided_copy")
triangles = LateModule("triangles")
unique = LateModule("unique")
vector_product = LateModule("vector_product")
weighted_places = LateModule("weighted_places")

fft = LateModule("fft", "scipy")
lapack = LateModule("lapack", "scipy.linalg")
linalg = LateModule("linalg", "scipy")
optimize = LateModule("optimize", "scipy")
special = LateModule("special", "scipy")
window_maxima = LateModule("window_maxima")
