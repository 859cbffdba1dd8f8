"""DeviceCtx: a region in which tensors would be made on another device."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from dist_ms.common.parameter.postponing import no_init_parameters

_NAMES = ("CPU", "GPU", "Ascend", "meta")


class DeviceCtx:
    """A region whose tensors are made on a device: "CPU", or "meta", where parameters get no values.

    Parameters made from an initializer in a "meta" region hold no data until `Cell.to_empty`,
    `init_data`, a loaded checkpoint, or the first read.

    Args:
        name: "CPU" or "meta".
        device_id: None or 0.

    Raises:
        ValueError: on entering, for an unknown device or another id.
        RuntimeError: on entering, for a device that is not here.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.common.parameter.device_context import DeviceCtx
        >>> with DeviceCtx("meta"):
        ...     net = ms.nn.Dense(1024, 1024)
        >>> net.weight.has_init
        True
        >>> net.to_empty().weight.has_init
        False
    """

    def __init__(self, name: str, device_id: int | None = None) -> None:
        self.name = name
        self.device_id = device_id
        self._regions: list[AbstractContextManager | None] = []

    def __enter__(self) -> DeviceCtx:
        if self.name not in _NAMES:
            raise ValueError(f"For DeviceCtx, the name must be one of {list(_NAMES)}, but got {self.name}.")
        if self.device_id not in (None, 0):
            raise ValueError(f"For DeviceCtx, the device_id must be None or 0, but got {self.device_id}.")
        if self.name in ("GPU", "Ascend"):
            raise RuntimeError(
                f"For DeviceCtx, the name must be 'CPU' or 'meta', but got '{self.name}': dist_ms runs on CPUs."
            )
        region = no_init_parameters() if self.name == "meta" else None
        if region is not None:
            region.__enter__()
        self._regions.append(region)
        return self

    def __exit__(self, *exc: Any) -> None:
        region = self._regions.pop()
        if region is not None:
            region.__exit__(*exc)
