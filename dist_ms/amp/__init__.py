"""Mixed precision: low-precision networks and loss scaling.

This floor stands beside train: it may use common, autograd, ops, nn, parallel and communication.
"""

import typing as _typing

from dist_ms.common.late_names import late_names as _late_names

if _typing.TYPE_CHECKING:
    from dist_ms.amp.finite import all_finite
    from dist_ms.amp.float32_precision import get_float32_matmul_precision, set_float32_matmul_precision
    from dist_ms.amp.lists import get_black_list, get_white_list
    from dist_ms.amp.loss_scale import DynamicLossScaleManager, FixedLossScaleManager, LossScaleManager
    from dist_ms.amp.loss_scaler import (
        DynamicLossScaler,
        LossScaler,
        StaticLossScaler,
        _grad_scale_map,
        _grad_unscale_map,
    )
    from dist_ms.amp.mixed_precision import auto_mixed_precision, custom_mixed_precision
    from dist_ms.amp.train_network import build_train_network

__all__ = [
    "DynamicLossScaleManager",
    "DynamicLossScaler",
    "FixedLossScaleManager",
    "LossScaleManager",
    "LossScaler",
    "StaticLossScaler",
    "all_finite",
    "auto_mixed_precision",
    "build_train_network",
    "custom_mixed_precision",
    "get_black_list",
    "get_float32_matmul_precision",
    "get_white_list",
    "set_float32_matmul_precision",
]

_late_names(__name__)
