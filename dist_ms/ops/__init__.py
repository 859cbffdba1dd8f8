"""Operations: a Primitive each, with its functional form and the method of Tensor.

Each file holds one family; what it gives to the world is in its `__all__`.
Floor rule: nothing here imports more than `common`, `autograd` and `_ext`.
"""

# ruff: noqa: E402, I001
import importlib as _importlib

from dist_ms.ops.later import LATER as _LATER
from dist_ms.ops.primitive import Primitive, PrimitiveWithCheck, PrimitiveWithInfer

_OWNERS = {name: f"ops.{module}" for module, names in _LATER.items() for name in names}


def offer(owners: dict[str, tuple[str, ...]]) -> None:
    """Take in names from a floor above that users look for here; their files load when a name is first used.

    Args:
        owners: per file, such as "collectives.barrier", its names.
    """
    _OWNERS.update({name: module for module, names in owners.items() for name in names})


def __getattr__(name: str) -> object:
    """Load the file that has a name, or that the name is of, when it is first used."""
    if name in _LATER:
        return _importlib.import_module(f"dist_ms.ops.{name}")
    if name not in _OWNERS:
        raise AttributeError(f"module 'dist_ms.ops' has no attribute {name!r}")
    owner = _OWNERS[name]
    module = _importlib.import_module(f"dist_ms.{owner}")
    globals().update({item: getattr(module, item) for item, other in _OWNERS.items() if other == owner})
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *_OWNERS})


# elementwise
from dist_ms.ops.arithmetic import *
from dist_ms.ops.division import *
from dist_ms.ops.powers import *
from dist_ms.ops.exponentials import *
from dist_ms.ops.extremes import *
from dist_ms.ops.comparison import *
from dist_ms.ops.logical import *

# types and shapes
from dist_ms.ops.casting import *
from dist_ms.ops.properties import *
from dist_ms.ops.reshaping import *
from dist_ms.ops.transposing import *
from dist_ms.ops.expanding import *
from dist_ms.ops.joining import *
from dist_ms.ops.splitting import *
from dist_ms.ops.padding import *

# reductions, scans, order
from dist_ms.ops.reduction import *
from dist_ms.ops.reduce_extremes import *

# products
from dist_ms.ops.matmul import *
from dist_ms.ops.einsum import *
from dist_ms.ops.cholesky import *

# elements picked, put, chosen
from dist_ms.ops.slicing import *
from dist_ms.ops.gathering import *
from dist_ms.ops.selection import *

# made, drawn, written
from dist_ms.ops.creation import *
from dist_ms.ops.assignment import *

# neural networks
from dist_ms.ops.activation import *
from dist_ms.ops.softmax import *
from dist_ms.ops.dropout import *
from dist_ms.ops.embedding import *
from dist_ms.ops.dense import *
from dist_ms.ops.bias_add import *
from dist_ms.ops.unfold import *
from dist_ms.ops.interpolate import *
from dist_ms.ops.pixel_shuffle import *
from dist_ms.ops.batch_norm import *
from dist_ms.ops.layer_norm import *
from dist_ms.ops.cross_entropy import *
from dist_ms.ops.ctc_loss import *

# sparse containers
from dist_ms.ops.sparse_containers import *

# side effects, hooks, functions of functions
from dist_ms.ops.hooks import *

# what stands on all of these: Tensor's operators and methods
from dist_ms.ops import (
    indexing,
    tensor_operators,
    tensor_methods,
    tensor_reduction_methods,
    tensor_shape_methods,
    tensor_element_methods,
    tensor_conversion_methods,
    tensor_drawing_methods,
    tensor_inplace_methods,
    sparse_methods,
)

# Last, as `vjp` is also the name of a file here.
from dist_ms.autograd.public import *

# MindSpore's other names for this package: P, F and C
from dist_ms.ops import composite, functional, operations

# its modules of functions
from dist_ms.ops import auto_generate, function, functional_overload
