"""Probability: distributions, and transforms of them."""

import typing as _typing

from dist_ms.common.late_names import late_names as _late_names

if _typing.TYPE_CHECKING:
    from dist_ms.nn.probability import bijector, bnn_layers, distribution

_late_names(__name__)
