"""The loss in what a step returns."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.tensor import Tensor


def loss_of(net_outputs: Any) -> Any:
    """Return the loss of a step: of one tensor its mean as a float, of several outputs the first."""
    if isinstance(net_outputs, (tuple, list)) and isinstance(net_outputs[0], Tensor):
        return net_outputs[0]
    if isinstance(net_outputs, Tensor):
        return float(np.mean(net_outputs.asnumpy()))
    return net_outputs


def number_of(net_outputs: Any) -> Any:
    """Return the loss as a float where it is made of tensors."""
    loss = loss_of(net_outputs)
    return loss_of(loss) if isinstance(loss, Tensor) else loss
