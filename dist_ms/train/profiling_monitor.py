"""DynamicProfilerMonitor: which steps are recorded is told while the program runs, in a file."""

from __future__ import annotations

import json
import logging
import os
import time
from pathlib import Path
from typing import Any

from dist_ms.common.atomic_file import replacing
from dist_ms.common.checks import check_positive_int, check_type
from dist_ms.communication import current
from dist_ms.profiler.profiling import profile, tensorboard_trace_handler
from dist_ms.train.callback.callback import Callback

__all__ = ["DynamicProfilerMonitor"]

_FILE = "profiler_config.json"
_FIRST = {"start_step": -1, "stop_step": -1, "record_shapes": False, "profile_memory": False, "prof_path": "./"}
_log = logging.getLogger("dist_ms")


class DynamicProfilerMonitor(Callback):
    """Records the steps that a file names; the file may be changed while training goes on.

    It is a callback of `Model.train`; a loop of one's own calls `step` at the end of each step. The file
    profiler_config.json holds "start_step" and "stop_step" (from 1; -1: nothing is recorded), and may hold
    "record_shapes", "profile_memory" and "prof_path". Its other names, which MindSpore has for Ascend, are left alone.

    Args:
        cfg_path: the folder of the file, which rank 0 makes where there is none.
        output_path: the folder of what is recorded; "prof_path" of the file goes before.
        poll_interval: seconds after which the file is looked at again.

    Raises:
        TypeError, ValueError: for arguments of the wrong form.

    Examples:
        >>> import os, tempfile
        >>> from dist_ms.profiler import DynamicProfilerMonitor
        >>> folder = tempfile.TemporaryDirectory()
        >>> monitor = DynamicProfilerMonitor(folder.name, output_path=folder.name)
        >>> os.listdir(folder.name)
        ['profiler_config.json']
        >>> monitor.step()
        >>> folder.cleanup()
    """

    def __init__(self, cfg_path: str, output_path: str = "./dyn_profile_data", poll_interval: int = 2) -> None:
        owner = "DynamicProfilerMonitor"
        self._path = Path(check_type(cfg_path, "cfg_path", owner, str), _FILE)
        self._output_path = check_type(output_path, "output_path", owner, str)
        self._interval = check_positive_int(poll_interval, "poll_interval", owner)
        world = current()
        self._rank = 0 if world is None else world.comm.rank
        self._looked, self._changed = -float("inf"), -1
        self._config: dict[str, Any] = dict(_FIRST)
        self._profiler: profile | None = None
        self._stop = self._done = self._steps = 0
        if self._rank == 0 and not self._path.exists():
            os.makedirs(self._path.parent, exist_ok=True)
            with replacing(str(self._path), 0o600) as file:
                file.write(json.dumps(_FIRST, indent=4).encode())
        self._before(1)

    def _read(self) -> dict[str, Any]:
        """What the file says; what it said before, while it is wrong or missing."""
        now = time.monotonic()
        if now - self._looked < self._interval:
            return self._config
        self._looked = now
        try:
            changed = self._path.stat().st_mtime_ns
            if changed != self._changed:
                self._changed = changed
                config = {**_FIRST, **json.loads(self._path.read_text())}
                steps = config["start_step"], config["stop_step"]
                if not all(type(s) is int for s in steps) or (steps[0] > 0 and steps[1] < steps[0]):
                    raise ValueError(f"'start_step' must be an int, not above 'stop_step', but got {steps}")
                self._config = config
        except (OSError, ValueError) as error:
            _log.error(
                "For 'DynamicProfilerMonitor', %s must be readable, but %s: nothing new is recorded.", _FILE, error
            )
        return self._config

    def _before(self, step: int) -> None:
        """Begin to record, if a step is the first one to be recorded."""
        config = self._read()
        if self._profiler is not None or config["start_step"] != step or step <= self._done:
            return
        self._stop = config["stop_step"]
        folder = config["prof_path"] if config["prof_path"] != "./" else self._output_path
        folder = os.path.join(folder, f"rank{self._rank}_start{step}_stop{self._stop}")
        self._profiler = profile(
            on_trace_ready=tensorboard_trace_handler(folder),
            record_shapes=bool(config["record_shapes"]),
            profile_memory=bool(config["profile_memory"]),
        )
        _log.info("Steps %d to %d are recorded in %s.", step, self._stop, folder)

    def _after(self, step: int) -> None:
        """Write what was recorded, if a step was the last one to be recorded."""
        if self._profiler is not None and step >= self._stop:
            self._finish(step)

    def _finish(self, step: int) -> None:
        assert self._profiler is not None
        self._profiler.stop()
        self._profiler, self._done = None, step

    def step(self) -> None:
        """Say that a step has ended, in a loop of one's own."""
        self._steps += 1
        self._after(self._steps)
        self._before(self._steps + 1)

    def on_train_step_begin(self, run_context: Any) -> None:
        """Begin to record before the first of the steps."""
        self._before(run_context.original_args().cur_step_num)

    def on_train_step_end(self, run_context: Any) -> None:
        """Stop behind the last of them."""
        self._after(run_context.original_args().cur_step_num)

    def on_train_end(self, run_context: Any) -> None:
        """Write what is being recorded."""
        if self._profiler is not None:
            self._finish(run_context.original_args().cur_step_num)
