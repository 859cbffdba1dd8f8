"""ExtractVolumePatches: windows of volumes, with their elements as channels."""

from __future__ import annotations

import itertools
from typing import Any

from dist_ms import ops
from dist_ms.common.checks import check_dimensions, check_elements, check_string, complaint
from dist_ms.common.tensor import Tensor
from dist_ms.ops import arguments
from dist_ms.ops.primitive import Primitive

__all__ = ["ExtractVolumePatches"]


class ExtractVolumePatches(Primitive):
    """Windows of volumes, the elements of each as channels of one place.

    Args:
        kernel_size: size of the windows, an int, or (1, 1, depth, height, width).
        strides: how far they are apart, likewise.
        padding: "VALID", or "SAME" for zeros around, so that there is one for every stride of the input.

    Call:
        input_x (Tensor): (N, C, D, H, W), real numbers.

    Returns:
        Tensor (N, elements of a window * C, D', H', W'): channels of the first element, then of the second, ...

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number is not positive, a window is larger than the input, or the padding is unknown.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.ops.arange(8.0).reshape(1, 1, 2, 2, 2)
        >>> print(ms.ops.ExtractVolumePatches((1, 1, 1, 2, 2), 1, "VALID")(x).reshape(4, 2))
        [[0. 4.]
         [1. 5.]
         [2. 6.]
         [3. 7.]]
    """

    def __init__(self, kernel_size: Any, strides: Any, padding: str) -> None:
        self.kernel_size = self._lengths(kernel_size, "kernel_size")
        self.strides = self._lengths(strides, "strides")
        check_string(padding, "padding", self.name)
        if padding.upper() not in ("VALID", "SAME"):
            raise ValueError(complaint("padding", self.name, "'VALID' or 'SAME'", repr(padding)))
        self.padding = padding.upper()

    def _lengths(self, value: Any, name: str) -> tuple[int, ...]:
        if isinstance(value, int) and not isinstance(value, bool):
            value = (1, 1, value, value, value)
        if len(check_elements(value, name, self.name, int)) != 5 or tuple(value[:2]) != (1, 1) or min(value) < 1:
            raise ValueError(complaint(name, self.name, "(1, 1, depth, height, width), positive", value))
        return tuple(value[2:])

    def __call__(self, input_x: Tensor) -> Tensor:
        data = arguments.real(arguments.tensor(input_x, "input_x", self.name).array(), "input_x", self.name)
        check_dimensions(data, "input_x", self.name, 5)
        lengths, x = data.shape[2:], input_x
        if self.padding == "SAME":
            counts = [-(-n // s) for n, s in zip(lengths, self.strides)]
            wider = [max((c - 1) * s + k - n, 0) for c, s, k, n in zip(counts, self.strides, self.kernel_size, lengths)]
            pads = [pad for w in reversed(wider) for pad in (w // 2, w - w // 2)]
            x = ops.pad(x, pads) if any(pads) else x
        else:
            counts = [(n - k) // s + 1 for n, s, k in zip(lengths, self.strides, self.kernel_size)]
            if min(counts) < 1:
                raise ValueError(complaint("kernel_size", self.name, f"at most {lengths}", self.kernel_size))
        parts = []
        for place in itertools.product(*map(range, self.kernel_size)):
            cuts = [slice(a, a + (c - 1) * s + 1, s) for a, c, s in zip(place, counts, self.strides)]
            parts.append(x[(slice(None), slice(None), *cuts)])
        return ops.concat(parts, 1)
