"""EnvProfiler: what to record, told from outside by an environment variable."""

from __future__ import annotations

import atexit
import json
from typing import Any

from dist_ms.common.settings.environment import value_of
from dist_ms.profiler.options import ProfilerActivity, ProfilerLevel, _ExperimentalConfig
from dist_ms.profiler.profiling import profile, tensorboard_trace_handler

__all__ = ["EnvProfiler"]

_VARIABLE = "MS_PROFILER_OPTIONS"
_KNOWN = ("profile_memory", "record_shapes", "with_stack", "data_process", "sync_enable", "hbm_ddr", "pcie")


class EnvProfiler:
    """Records from a call of `init_profiler` on, if the environment variable MS_PROFILER_OPTIONS says so.

    The variable holds JSON: "start" (true to record), "output_path" (a folder for the files), "activities" (a list with
    "CPU"), "profiler_level", and options of `profile` by their names.

    Examples:
        >>> from dist_ms.profiler import EnvProfiler
        >>> EnvProfiler.init_profiler()  # the variable is not set
        >>> EnvProfiler.profiler is None
        True
    """

    profiler: profile | None = None

    @classmethod
    def init_profiler(cls) -> None:
        """Begin to record, if the variable says so; the files are written by `analyse`, or at the program's end.

        Raises:
            ValueError: if the variable holds no JSON, or an unknown name or value.
        """
        text = value_of(_VARIABLE)
        if not text or cls.profiler is not None:
            return
        try:
            options = json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"The environment variable {_VARIABLE} must hold JSON, but {error}: {text!r}.") from None
        if not options.pop("start", False):
            return
        cls.profiler = profile(
            on_trace_ready=tensorboard_trace_handler(options.pop("output_path", None)), **_read(options)
        )
        atexit.register(cls().analyse)

    def analyse(self) -> None:
        """Stop and write the files, once."""
        if EnvProfiler.profiler is not None:
            EnvProfiler.profiler.stop()
            EnvProfiler.profiler = None


def _read(options: dict[str, Any]) -> dict[str, Any]:
    """What `profile` is given."""
    given: dict[str, Any] = {name: options.pop(name) for name in _KNOWN if name in options}
    try:
        if "activities" in options:
            given["activities"] = [ProfilerActivity(name) for name in options.pop("activities")]
        if "profiler_level" in options:
            level = ProfilerLevel(options.pop("profiler_level"))
            given["experimental_config"] = _ExperimentalConfig(profiler_level=level)
    except ValueError as error:
        raise ValueError(f"The environment variable {_VARIABLE} must name what can be recorded, but {error}.") from None
    if options:
        raise ValueError(f"The environment variable {_VARIABLE} must have known names, but has {sorted(options)}.")
    return given
