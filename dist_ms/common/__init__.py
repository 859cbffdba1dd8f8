"""Tensors, parameters, initializers, seeds and settings; imports only NumPy and ml_dtypes."""

import sys as _sys

from dist_ms.common import dtype
from dist_ms.common.dtype import *
from dist_ms.common.jit import JitConfig, jit, jit_class, lazy_inline, no_inline, set_recursion_limit
from dist_ms.common.mutables import mutable
from dist_ms.common.parameter import Parameter, ParameterTuple
from dist_ms.common.random import generator
from dist_ms.common.random import seed as _seeds
from dist_ms.common.random.generator import (
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from dist_ms.common.random.seed import get_seed, set_seed
from dist_ms.common.tensor import Tensor, from_numpy, frombuffer, is_tensor, sparse_tensor, symbol, tensor
from dist_ms.common.tensor.sparse_tensor import COOTensor, CSRTensor, RowTensor, SparseTensor
from dist_ms.common.tensor.symbol import Symbol

# MindSpore has these modules in `common` itself, and scripts import them from there.
for _module in (generator, _seeds, sparse_tensor, symbol):
    _sys.modules[f"{__name__}.{_module.__name__.rpartition('.')[2]}"] = _module

__all__ = [
    *dtype.__all__,
    *("Generator", "default_generator", "manual_seed", "initial_seed"),
    *("COOTensor", "CSRTensor", "JitConfig", "RowTensor", "SparseTensor", "Symbol"),
    *("jit", "jit_class", "mutable", "lazy_inline", "no_inline", "set_recursion_limit"),
    *("get_rng_state", "set_rng_state", "seed", "get_seed", "set_seed"),
    *("Parameter", "ParameterTuple", "Tensor", "tensor", "is_tensor", "from_numpy", "frombuffer", "dtype"),
]
