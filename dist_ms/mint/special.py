"""The functions that PyTorch keeps under `special`."""

from __future__ import annotations

from dist_ms import ops
from dist_ms.ops.extended.activation import log_softmax

__all__ = ["erfc", "exp2", "expm1", "log1p", "log_softmax", "round", "sinc"]

erfc, exp2, expm1, log1p = ops.erfc, ops.exp2, ops.expm1, ops.log1p
round, sinc = ops.round, ops.sinc
