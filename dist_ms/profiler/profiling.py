"""profile and Profiler: when to record, and what becomes of it."""

from __future__ import annotations

import inspect
import json
import os
import warnings
from collections.abc import Callable
from typing import Any

from dist_ms.common.checks import check_bool, check_callable, check_string, complaint
from dist_ms.profiler.options import ProfilerActivity, _ExperimentalConfig, refuse
from dist_ms.profiler.recording import MemoryUse, Recorder, Span
from dist_ms.profiler.results import by_operation, write
from dist_ms.profiler.scheduling import ProfilerAction, schedule

__all__ = ["Profiler", "profile", "tensorboard_trace_handler"]

_RECORDS = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


def tensorboard_trace_handler(
    dir_name: str | None = None, worker_name: str | None = None, analyse_flag: bool = True, async_mode: bool = False
) -> Callable[[Any], None]:
    """Return an `on_trace_ready` that writes trace.json and operators.csv into a folder.

    Args:
        dir_name: the folder; None for ./data.
        worker_name: accepted; folders are named after host and process.
        analyse_flag: whether to write; if not, nothing is kept.
        async_mode: accepted; files are written at once.

    Examples:
        >>> import tempfile
        >>> import dist_ms as ms
        >>> from dist_ms.profiler import profile, tensorboard_trace_handler
        >>> with profile(on_trace_ready=tensorboard_trace_handler(tempfile.mkdtemp())) as prof:
        ...     _ = ms.ops.matmul(ms.ops.ones((2, 2)), ms.ops.ones((2, 2)))
    """

    def handle(prof: Any) -> None:
        if analyse_flag:
            profile.analyse(prof, dir_name)

    return handle


class profile:
    """Records operations and cells of this thread, with the time each takes.

    Args:
        activities: must name ProfilerActivity.CPU, if given.
        schedule: which steps to record (see `schedule`); `step` tells where a step ends. None: everything between
            `start` and `stop`.
        on_trace_ready: called with the profiler when a recording ends, as `tensorboard_trace_handler()`. None:
            files are written to `output_path` by `analyse`.
        start_profile: whether to begin at once.
        record_shapes: whether to keep the shapes of operations' arrays.
        output_path: the folder of the files; None for ./data.
        experimental_config: an `_ExperimentalConfig`, or None.
        profile_memory: whether to note what arrays take, and the most they took, after each operation: as a curve of
            the trace, and in memory.csv. Memory of arrays is counted as `ms.runtime.memory_allocated` does.
        kwargs: options of accelerators, which must be False: with_stack, hbm_ddr, pcie,
            parallel_strategy. `data_process`, `sync_enable` and `profiler_level` have nothing to choose here.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if something is asked for that there is not on CPUs.
        RuntimeError: if another profiler is recording.

    Examples:
        >>> import tempfile
        >>> import dist_ms as ms
        >>> with ms.profiler.profile(output_path=tempfile.mkdtemp()) as prof:
        ...     _ = ms.ops.matmul(ms.ops.ones((2, 2)), ms.ops.ones((2, 2)))
        >>> "MatMul" in prof.op_analyse("MatMul")
        True
    """

    # MindSpore's options that change nothing on a CPU, and those that ask for what is not here.
    _free = ("data_process", "sync_enable", "profiler_level", "aic_metrics", "op_time", "data_simplification")
    _refused = (
        "with_stack",
        "hbm_ddr",
        "pcie",
        "parallel_strategy",
        "profile_communication",
        "l2_cache",
    )

    def __init__(
        self,
        activities: Any = None,
        schedule: schedule | Callable | None = None,
        on_trace_ready: Callable | None = None,
        start_profile: bool = True,
        record_shapes: bool = False,
        output_path: str | None = None,
        experimental_config: Any = None,
        profile_memory: bool = False,
        **kwargs: Any,
    ) -> None:
        owner = type(self).__name__
        for name in kwargs:
            if name not in (*self._free, *self._refused):
                raise TypeError(f"For '{owner}', the option {name!r} is not known.")
        refuse({name: bool(kwargs.get(name)) for name in self._refused}, owner)
        if activities is not None and ProfilerActivity.CPU not in activities:
            raise ValueError(complaint("activities", owner, "a list with ProfilerActivity.CPU", activities))
        if experimental_config is not None and not isinstance(experimental_config, _ExperimentalConfig):
            wanted = "an _ExperimentalConfig or None"
            raise TypeError(complaint("experimental_config", owner, wanted, type(experimental_config).__name__))
        for name, value in (("schedule", schedule), ("on_trace_ready", on_trace_ready)):
            if value is not None:
                check_callable(value, name, owner)
        self._schedule = schedule
        # MindSpore's own examples hand over the maker of handlers.
        self._ready = tensorboard_trace_handler() if on_trace_ready is tensorboard_trace_handler else on_trace_ready
        self._output_path = output_path or "./data"
        self._recorder = Recorder(
            check_bool(record_shapes, "record_shapes", owner),
            memory=check_bool(profile_memory, "profile_memory", owner),
        )
        self._notes: dict[str, Any] = {}
        self._step = 0
        self._running = False
        if check_bool(start_profile, "start_profile", owner):
            self.start()

    def start(self) -> None:
        """Begin to record, or to follow the schedule."""
        self._running = True
        if self._schedule is None or self._schedule(self._step) in _RECORDS:
            self._recorder.begin()

    def stop(self) -> None:
        """Stop recording; what was recorded goes to `on_trace_ready`."""
        if not self._running:
            warnings.warn("profile.stop() was called, but the profiler is not running.", RuntimeWarning, stacklevel=2)
            return
        self._running = False
        if self._recorder.on:
            self._finish()

    def _finish(self) -> None:
        self._recorder.end()
        if self._ready is not None:
            takes = len(inspect.signature(self._ready).parameters)
            self._ready(self) if takes else self._ready()

    def step(self) -> None:
        """Say that a step ends; the schedule decides about the next one.

        Raises:
            RuntimeError: if there is no schedule.
        """
        if self._schedule is None:
            raise RuntimeError("For 'profile', 'step' needs a schedule: profile(schedule=schedule(...)).")
        if not self._running:
            return
        done = self._schedule(self._step)
        self._step += 1
        if done is ProfilerAction.RECORD_AND_SAVE and self._recorder.on:
            self._finish()
            self._recorder.spans.clear()
            self._recorder.memory.clear()
        if self._schedule(self._step) in _RECORDS and not self._recorder.on:
            self._recorder.begin()

    def __enter__(self) -> Any:
        if not self._running:
            self.start()
        return self

    def __exit__(self, *error: Any) -> None:
        if self._running:
            self.stop()

    @property
    def spans(self) -> list[Span]:
        """What was recorded since the last files."""
        return self._recorder.spans

    @property
    def memory(self) -> list[MemoryUse]:
        """What arrays took after each operation, with `profile_memory`."""
        return self._recorder.memory

    def add_metadata(self, key: str, value: str) -> None:
        """Keep a note, written beside the trace.

        Raises:
            TypeError: if one is no str.
        """
        for name, text in (("key", key), ("value", value)):
            check_string(text, name, "add_metadata")
        self._notes[key] = value

    def add_metadata_json(self, key: str, value: str) -> None:
        """Keep a note in JSON, written beside the trace.

        Raises:
            TypeError: if one is no str.
            ValueError: if the value is no JSON.
        """
        self.add_metadata(key, value)
        try:
            self._notes[key] = json.loads(value)
        except json.JSONDecodeError as error:
            del self._notes[key]
            raise ValueError(complaint("value", "add_metadata_json", "JSON", value)) from error

    def analyse(self, output_path: str | None = None, **kwargs: Any) -> str:
        """Stop, write trace.json and operators.csv, and return their folder.

        Args:
            output_path: the folder above; None for the profiler's own.
            kwargs: MindSpore's options of its parser, which have nothing to choose here.
        """
        if self._recorder.on:
            self._recorder.end()
            self._running = False
        path = write(output_path or self._output_path, self._recorder.spans, self._notes, self._recorder.memory)
        self._folder = path
        return path

    def op_analyse(self, op_name: str | list[str], device_id: int | None = None) -> str:
        """Sum up operations of some names.

        Args:
            op_name: a name, or a list of them.
            device_id: must be None.

        Returns:
            JSON: per name a list of rows, one for each combination of shapes, and `"device_id"`, which is "0".

        Raises:
            TypeError: if `op_name` is something else.
            ValueError: if it is empty.
        """
        names = [op_name] if isinstance(op_name, str) else op_name
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise TypeError(complaint("op_name", "op_analyse", "a str or a list of str", type(op_name).__name__))
        if not names or not all(names):
            raise ValueError(complaint("op_name", "op_analyse", "names that are not empty", repr(op_name)))
        rows = by_operation(self._recorder.spans)
        keys = ("input_shape", "op_occurrences", "op_total_time(us)", "op_avg_time(us)")
        found: dict[str, Any] = {
            name: [{"op_side": "cpu", **{key: row[key] for key in keys}} for row in rows if row["op_type"] == name]
            for name in names
        }
        return json.dumps({**found, "device_id": "0"})


class Profiler(profile):
    """MindSpore's older name of `profile`, whose `analyse` prints where the files are.

    Args:
        kwargs: those of `profile`.

    Examples:
        >>> import tempfile
        >>> import dist_ms as ms
        >>> prof = ms.Profiler(output_path=tempfile.mkdtemp(), start_profile=False)
        >>> prof.start()
        >>> _ = ms.ops.exp(ms.Tensor([1.0]))
        >>> prof.stop()
        >>> [span.name for span in prof.spans]
        ['Exp']
    """

    def analyse(self, output_path: str | None = None, **kwargs: Any) -> None:
        """Stop, write the files, and print their folder."""
        print(f"[{os.getpid()}] Profiling data: {super().analyse(output_path, **kwargs)}")

    @classmethod
    def offline_analyse(cls, path: str, **kwargs: Any) -> None:
        """Say whether a folder holds results; they need no later analysis here.

        Raises:
            TypeError: if the path is no str.
        """
        check_string(path, "path", "offline_analyse")
        found = [folder for folder, _, files in os.walk(path) if "trace.json" in files]
        if not found:
            warnings.warn(f"offline_analyse found no trace.json under {path}", RuntimeWarning, stacklevel=2)
