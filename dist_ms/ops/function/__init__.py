"""The functions of `ops` in MindSpore's modules; see `dist_ms.ops.extended_names`."""

from dist_ms.ops.extended_names import by_name as __getattr__
from dist_ms.ops.function import array_func, math_func, nn_func, random_func
