"""SummaryRecord: values gathered by name, and written for one step into TensorBoard event files."""

from __future__ import annotations

import itertools
import os
import time
import warnings
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_int, check_positive_int, check_string, check_type, complaint
from dist_ms.common.summary_values import close_keeper, open_keeper
from dist_ms.common.tensor import Tensor

__all__ = ["SummaryRecord"]

# A histogram's buckets.
_BUCKETS = 30
# Files of one process that are made within a second need names of their own.
_NUMBERS = itertools.count()
_FRAME = 16  # bytes around an event: its length, and two checksums
PLUGINS = ("scalar", "tensor", "histogram", "image")


def _exports(options: dict | None) -> str:
    """Check `export_options`, and name the folder of what is exported; "" for none."""
    if options is None:
        return ""
    form = check_type(options, "export_options", "SummaryRecord", dict).get("tensor_format")
    if form is not None and form != "npy":
        raise ValueError(complaint("export_options", "SummaryRecord", "{'tensor_format': 'npy'}", options))
    unknown = sorted(set(options) - {"tensor_format"})
    if unknown:
        raise TypeError(complaint("export_options", "SummaryRecord", "{'tensor_format': 'npy'}", options))
    return time.strftime("export_%Y%m%d_%H%M%S") if form else ""


class SummaryRecord:
    """Writes scalars, histograms and images that TensorBoard shows; needs the packages tensorboardX and Pillow.

    While one is open, it also takes what `ops.ScalarSummary` and its kin are given in networks.

    Args:
        log_dir: the folder of the event files, made when the first value is recorded.
        file_prefix, file_suffix: how the file's name begins and ends.
        num_process: accepted; the files are written by one thread.
        network: must be None: no graphs are written.
        max_file_size: bytes that a file may have: what would make it larger is left out, with a warning; None for no
            limit.
        raise_exception: whether a failure to write raises; if not, it is a warning.
        export_options: ``{"tensor_format": "npy"}`` to have what the plugin "tensor" is given in files of NumPy, too:
            `export_TIME/tensor/NAME_STEP.npy` in the folder.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if an argument is given that must be None.
        ImportError: when the first value is recorded, if tensorboardX is not installed.

    Examples:
        >>> import tempfile
        >>> import dist_ms as ms
        >>> from dist_ms.train import SummaryRecord
        >>> with SummaryRecord(tempfile.mkdtemp()) as summary:
        ...     summary.add_value("scalar", "loss", 0.5)
        ...     ms.ops.HistogramSummary()("weights", ms.Tensor([1.0, 2.0]))
        ...     print(summary.record(1))
        True
    """

    def __init__(
        self,
        log_dir: str,
        file_prefix: str = "events",
        file_suffix: str = "_MS",
        num_process: int = 32,
        network: Any = None,
        max_file_size: int | None = None,
        raise_exception: bool = False,
        export_options: dict | None = None,
    ) -> None:
        if network is not None:
            raise ValueError(complaint("network", "SummaryRecord", "None", network, "no graphs are written"))
        if max_file_size is not None:
            check_positive_int(max_file_size, "max_file_size", "SummaryRecord")
        self._limit, self._size, self._full = max_file_size, 0, False
        self._exports = _exports(export_options)
        self._prefix = check_string(file_prefix, "file_prefix", "SummaryRecord")
        self._log_dir = os.path.realpath(check_type(log_dir, "log_dir", "SummaryRecord", str))
        self._suffix = check_string(file_suffix, "file_suffix", "SummaryRecord")
        self._raises = check_bool(raise_exception, "raise_exception", "SummaryRecord")
        check_int(num_process, "num_process", "SummaryRecord")
        self._values: list[tuple[str, str, np.ndarray]] = []
        self._mode, self._closed = "train", False
        self._file: Any = None
        self._given = open_keeper()

    def __enter__(self) -> SummaryRecord:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    @property
    def log_dir(self) -> str:
        """The folder of the event files, an absolute path."""
        return self._log_dir

    def set_mode(self, mode: str) -> None:
        """Say whether the next steps belong to "train" or "eval"; names of eval end in "/eval".

        Raises:
            ValueError: if `mode` is neither.
        """
        self._mode = check_string(mode, "mode", "set_mode", ("train", "eval"))

    def add_value(self, plugin: str, name: str, value: Any) -> None:
        """Keep a value for the next `record`; a second value of the same name replaces the first.

        Args:
            plugin: "scalar" (one number), "tensor" or "histogram" (any shape), or "image" (N, C, H, W).
            name: the value's name, without spaces around it.
            value: a Tensor, array or number.

        Raises:
            ValueError: if `plugin` is another one, or the value's shape does not fit it.
        """
        check_string(plugin, "plugin", "add_value", PLUGINS)
        if not isinstance(name, str) or not name:
            raise ValueError(complaint("name", "add_value", "a string that is not empty", name))
        array = np.array(value.asnumpy() if isinstance(value, Tensor) else value)
        if plugin == "scalar" and array.size != 1:
            raise ValueError(complaint("value", "add_value", "one number for the plugin 'scalar'", array.shape))
        if plugin == "image" and (array.ndim != 4 or array.shape[1] not in (1, 3)):
            raise ValueError(complaint("value", "add_value", "(N, 1 or 3, H, W) for the plugin 'image'", array.shape))
        self._values = [v for v in self._values if v[:2] != (plugin, name)] + [(plugin, name, array)]

    def record(self, step: int, train_network: Any = None, plugin_filter: Any = None) -> bool:
        """Write the values kept so far as those of a step; the file then has them, whatever ends the process.

        Args:
            step: the step's number.
            train_network: must be None: no graphs are written.
            plugin_filter: a function of a plugin's name; values of plugins it is false for are left out.

        Returns:
            bool, whether the step was written.

        Raises:
            RuntimeError: if the record is closed.
        """
        if self._closed:
            raise RuntimeError("For 'SummaryRecord', 'record' was called after 'close': make a new SummaryRecord.")
        check_int(step, "step", "record")
        if train_network is not None:
            raise ValueError(complaint("train_network", "record", "None", train_network, "no graphs are written"))
        given = [(plugin, name, value) for (plugin, name), value in self._given.items()]
        values, self._values = [*self._values, *given], []
        self._given.clear()
        try:
            for plugin, name, array in values:
                if plugin_filter is None or plugin_filter(plugin):
                    self._write(plugin, name if self._mode == "train" else f"{name}/eval", array, step)
            self.flush()  # a process that is killed leaves what it recorded
        except OSError as error:
            if self._raises:
                raise
            warnings.warn(f"SummaryRecord could not write step {step}: {error}", RuntimeWarning, stacklevel=2)
            return False
        return True

    def _write(self, plugin: str, name: str, array: np.ndarray, step: int) -> None:
        """One value, in the form its plugin wants; the file is made for the first."""
        try:
            from tensorboardX import summary
            from tensorboardX.proto.event_pb2 import Event
        except ImportError as error:
            raise ImportError(
                "For 'SummaryRecord', the package 'tensorboardX' must be installed, but it was not found: "
                "pip install dist_ms[summary]."
            ) from error
        if plugin == "scalar":
            content = summary.scalar(name, array)
        elif plugin == "image":
            content = summary.image(name, array, dataformats="NCHW")
        elif plugin == "text":
            content = summary.text(name, str(array))
        else:
            if plugin == "tensor" and self._exports:
                self._export(name, array, step)
            finite = array[np.isfinite(array)].astype(np.float64)
            if not finite.size:
                message = f"'{name}' has no finite values at step {step}: no histogram."
                warnings.warn(message, RuntimeWarning, stacklevel=3)
                return
            content = summary.histogram(name, finite, _BUCKETS)
        event = Event(wall_time=time.time(), step=step, summary=content)
        if self._has_room(event.ByteSize() + _FRAME):
            self._opened().write_event(event)

    def _has_room(self, size: int) -> bool:
        """Whether a file may grow by some bytes; once it may not, nothing more is written."""
        self._size += size
        if self._limit is not None and self._size > self._limit and not self._full:
            self._full = True
            message = f"For 'SummaryRecord', the file has reached 'max_file_size', {self._limit} bytes: it ends here."
            warnings.warn(message, RuntimeWarning, stacklevel=5)
        return not self._full

    def _export(self, name: str, array: np.ndarray, step: int) -> None:
        folder = os.path.join(self._log_dir, self._exports, "tensor")
        os.makedirs(folder, exist_ok=True)
        np.save(os.path.join(folder, f"{name.replace('/', '_')}_{step}.npy"), array)

    def _opened(self) -> Any:
        """The event file, made when it is first needed. `tensorboardX.SummaryWriter` has no flush that waits."""
        if self._file is None:
            from tensorboardX.event_file_writer import EventsWriter

            os.makedirs(self._log_dir, exist_ok=True)
            one = f".{os.getpid()}.{next(_NUMBERS)}{self._suffix}"
            self._file = EventsWriter(os.path.join(self._log_dir, self._prefix), one)
        return self._file

    def flush(self) -> None:
        """Have the file hold all that was recorded."""
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """Write what is left and close the file; later calls of `record` raise."""
        if self._file is not None:
            self._file.close()
        close_keeper(self._given)
        self._closed = True
