"""Names of what MindSpore's profiler can be told; those of accelerators have nothing to act on here."""

from __future__ import annotations

from enum import Enum
from typing import Any

from dist_ms.common.checks import check_bool, check_type


class ProfilerLevel(Enum):
    """How much an accelerator records; on CPUs all levels are one."""

    LevelNone = "LevelNone"
    Level0 = "Level0"
    Level1 = "Level1"
    Level2 = "Level2"


class ProfilerActivity(Enum):
    """Where to record; here there is the CPU."""

    CPU = "CPU"
    NPU = "NPU"
    GPU = "GPU"


class AicoreMetrics(Enum):
    """An accelerator's counters; only AiCoreNone is possible here."""

    AiCoreNone = "None"
    ArithmeticUtilization = "ArithmeticUtilization"
    L2Cache = "L2Cache"
    Memory = "Memory"
    MemoryAccess = "MemoryAccess"
    MemoryL0 = "MemoryL0"
    MemoryUB = "MemoryUB"
    PipeUtilization = "PipeUtilization"
    ResourceConflictRatio = "ResourceConflictRatio"


class ExportType(Enum):
    """The form of the files; here they are text."""

    Text = "text"
    Db = "db"


class HostSystem(Enum):
    """MindSpore's samplers of the host, which are not available here."""

    CPU = "cpu"
    MEM = "mem"
    DISK = "disk"
    NETWORK = "network"
    OSRT = "osrt"


class _ExperimentalConfig:
    """Options of MindSpore's profiler that may change.

    Args:
        profiler_level: one of ProfilerLevel.
        aic_metrics: AicoreMetrics.AiCoreNone.
        l2_cache: False.
        mstx: whether marks are recorded; they always are.
        data_simplification: accepted; only results are written.
        export_type: a list of ExportType.Text, or None.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if something of an accelerator is asked for.
    """

    def __init__(
        self,
        profiler_level: ProfilerLevel = ProfilerLevel.Level0,
        aic_metrics: AicoreMetrics = AicoreMetrics.AiCoreNone,
        l2_cache: bool = False,
        mstx: bool = False,
        data_simplification: bool = True,
        export_type: list | None = None,
        **kwargs: Any,
    ) -> None:
        owner = "_ExperimentalConfig"
        self.profiler_level = check_type(profiler_level, "profiler_level", owner, ProfilerLevel)
        self.aic_metrics = check_type(aic_metrics, "aic_metrics", owner, AicoreMetrics)
        self.l2_cache, self.mstx = check_bool(l2_cache, "l2_cache", owner), check_bool(mstx, "mstx", owner)
        self.data_simplification = check_bool(data_simplification, "data_simplification", owner)
        self.export_type = export_type or [ExportType.Text]
        asked = {"l2_cache": l2_cache, "aic_metrics": aic_metrics is not AicoreMetrics.AiCoreNone}
        asked["export_type"] = ExportType.Db in self.export_type
        refuse({**asked, **{name: bool(value) for name, value in kwargs.items()}}, owner)


def refuse(asked: dict[str, bool], owner: str) -> None:
    """Refuse options that CPUs have nothing for."""
    for name, wanted in asked.items():
        if wanted:
            raise ValueError(
                f"For '{owner}', '{name}' must be left at its default, but it was given: dist_ms records "
                "operations and cells on the CPU."
            )
