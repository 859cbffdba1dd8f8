"""The names of this floor that `dist_ms.ops` exports; `dist_ms` imports its own from the modules."""

from dist_ms.autograd.function import _Function
from dist_ms.autograd.grad import get_grad, grad, value_and_grad
from dist_ms.autograd.grad_operation import GradOperation
from dist_ms.autograd.jacobian import jacfwd, jacrev, jvp, linearize, vjp
from dist_ms.autograd.recompute import recompute
from dist_ms.autograd.saved import register_saved_tensors_hooks, saved_tensors_hooks
from dist_ms.autograd.tape import no_grad as _no_grad
from dist_ms.autograd.tape import stop_gradient
from dist_ms.autograd.vmap import vmap

__all__ = [
    "GradOperation",
    "_Function",
    "_no_grad",
    "get_grad",
    "grad",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "recompute",
    "register_saved_tensors_hooks",
    "saved_tensors_hooks",
    "stop_gradient",
    "value_and_grad",
    "vjp",
    "vmap",
]
