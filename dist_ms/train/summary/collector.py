"""SummaryCollector: what a run is told by, written into event files every few steps."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_positive_int, check_string, check_type, complaint
from dist_ms.common.once import warn_once
from dist_ms.common.tensor import Tensor
from dist_ms.train.callback.callback import Callback, RunContext
from dist_ms.train.callback.outputs import number_of
from dist_ms.train.summary.landscape import keep_weights, landscape_options
from dist_ms.train.summary.record import SummaryRecord

__all__ = ["SummaryCollector"]

_SWITCHES = (
    "collect_metric",
    "collect_graph",
    "collect_train_lineage",
    "collect_eval_lineage",
    "collect_input_data",
    "collect_dataset_graph",
)
_KNOWN = (*_SWITCHES, "histogram_regular", "collect_landscape")
_FIRST_WEIGHTS = 5  # whose histograms are written where nobody says which


class SummaryCollector(Callback):
    """Writes the loss, input images, histograms of weights and the run's settings into event files for TensorBoard.

    The names are `loss/auto`, `input_data/auto` and `WEIGHT/auto`; settings and metrics are texts in JSON named
    `train_lineage`, `eval_lineage` and `custom_lineage_data`. Needs the packages tensorboardX and Pillow.

    Args:
        summary_dir: the folder of the event files.
        collect_freq: steps from one record to the next; the first step has one, too.
        num_process: accepted; the files are written by one thread.
        collect_specified_data: what is collected. `collect_metric` (the loss), `collect_input_data` (the first input,
            if it is images), `collect_train_lineage` and `collect_eval_lineage` are bools; `histogram_regular` is a
            regular expression for the names of weights, None for the first five. `collect_graph` and
            `collect_dataset_graph` change nothing: no graphs are written. `collect_landscape` is a dict:
            `intervals`, lists of 3 steps or more whose weights are kept for `SummaryLandscape`, `unit` ("step" or
            "epoch"), `landscape_size`, `num_samples` and `create_landscape`.
        keep_default_action: whether what `collect_specified_data` does not name is collected.
        custom_lineage_data: texts and numbers to write at the start, by name.
        collect_tensor_freq: steps between two records of what `ops.TensorSummary` is given; None is `collect_freq`.
        max_file_size: see SummaryRecord.
        export_options: see SummaryRecord.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number is not positive, or `collect_specified_data` has an unknown name.

    Examples:
        >>> import tempfile
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> net = ms.nn.Dense(2, 1)
        >>> model = ms.Model(net, ms.nn.MSELoss(), ms.nn.SGD(net.trainable_params()))
        >>> rows = np.array([[[0.0, 1.0]], [[1.0, 0.0]]], np.float32)
        >>> data = ms.dataset.NumpySlicesDataset((rows[0], rows[1][:, :1]), ["x", "y"]).batch(1)
        >>> collector = ms.SummaryCollector(tempfile.mkdtemp(), collect_freq=1)
        >>> model.train(1, data, callbacks=[collector])
    """

    def __init__(
        self,
        summary_dir: str,
        collect_freq: int = 10,
        num_process: int = 32,
        collect_specified_data: dict[str, Any] | None = None,
        keep_default_action: bool = True,
        custom_lineage_data: dict[str, Any] | None = None,
        collect_tensor_freq: int | None = None,
        max_file_size: int | None = None,
        export_options: dict[str, str] | None = None,
    ) -> None:
        super().__init__()
        owner = "SummaryCollector"
        self._folder = check_string(summary_dir, "summary_dir", owner)
        if not self._folder.strip():
            raise ValueError(complaint("summary_dir", owner, "a path", summary_dir))
        self._every = check_positive_int(collect_freq, "collect_freq", owner)
        if collect_tensor_freq is not None:
            check_positive_int(collect_tensor_freq, "collect_tensor_freq", owner)
        self._tensors_every = collect_tensor_freq or self._every
        check_type(num_process, "num_process", owner, int)
        default = check_bool(keep_default_action, "keep_default_action", owner)
        self._collects, self._weights_named = _wanted(collect_specified_data, default)
        self._landscape = landscape_options((collect_specified_data or {}).get("collect_landscape"), owner)
        self._custom = _lineage(custom_lineage_data)
        self._options: dict[str, Any] = {"max_file_size": max_file_size, "export_options": export_options}
        SummaryRecord(self._folder, **self._options).close()  # so that it refuses what it does now, not in the run
        self._record: SummaryRecord | None = None
        self._weights: list[Any] = []
        self._first: int | None = None

    def __enter__(self) -> SummaryCollector:
        self._record = SummaryRecord(self._folder, **self._options)
        return self

    def __exit__(self, *exc: Any) -> None:
        if self._record is not None:
            self._record.close()
            self._record = None

    def begin(self, run_context: RunContext) -> None:
        """Choose the weights, and write what the user tells of the run.

        Args:
            run_context: the run.
        """
        run = run_context.original_args()
        self._first = None
        if run.mode != "train":
            return
        weights = run.train_network.trainable_params()
        self._weights = [w for w in weights if self._weights_named(w.name)][: self._most(len(weights))]
        if self._custom:
            self._write_text("custom_lineage_data", self._custom, 0)

    def _most(self, number: int) -> int:
        return _FIRST_WEIGHTS if self._weights_named is _any_weight else number

    def step_end(self, run_context: RunContext) -> None:
        """Write the values of a step whose turn it is.

        Args:
            run_context: the run.
        """
        run = run_context.original_args()
        if run.mode != "train":
            return
        step = run.cur_step_num
        self._keep(run, "step", step)
        if self._first is None:
            self._first = step
        due, tensors = (step == self._first or not step % every for every in (self._every, self._tensors_every))
        record = self._opened()
        if not due and not tensors:
            return
        if due:
            self._add_values(record, run)
        record.record(step, plugin_filter=lambda plugin: tensors if plugin == "tensor" else due)

    def epoch_end(self, run_context: RunContext) -> None:
        """Keep the weights of an epoch that a landscape needs.

        Args:
            run_context: the run.
        """
        run = run_context.original_args()
        if run.mode == "train":
            self._keep(run, "epoch", run.cur_epoch_num)

    def _keep(self, run: Any, unit: str, number: int) -> None:
        if self._landscape is not None and self._landscape["unit"] == unit and run.ranks.rank == 0:
            keep_weights(self._folder, run.network, number, self._landscape)

    def _add_values(self, record: SummaryRecord, run: Any) -> None:
        if "collect_input_data" in self._collects and (images := _images(run.train_dataset_element)) is not None:
            record.add_value("image", "input_data/auto", images)
        if "collect_metric" in self._collects:
            loss = number_of(run.net_outputs)
            if isinstance(loss, (int, float)):
                record.add_value("scalar", "loss/auto", loss)
            else:
                warn_once("SummaryCollector's loss", "SummaryCollector finds no loss in what the network returns.")
        for weight in self._weights:
            record.add_value("histogram", f"{weight.name}/auto", weight)

    def end(self, run_context: RunContext) -> None:
        """Write the run's settings, or an evaluation's metrics.

        Args:
            run_context: the run.
        """
        run = run_context.original_args()
        if run.mode == "train" and "collect_train_lineage" in self._collects:
            self._write_text("train_lineage", _settings(run), run.cur_step_num)
        if run.mode == "eval" and "collect_eval_lineage" in self._collects:
            self._write_text("eval_lineage", run.get("metrics") or {}, run.cur_step_num)
        if self._record is not None:
            self._record.flush()

    def _opened(self) -> SummaryRecord:
        if self._record is None:  # called outside of `with`, by a training loop of the user's own
            self._record = SummaryRecord(self._folder, **self._options)
        return self._record

    def _write_text(self, name: str, facts: dict[str, Any], step: int) -> None:
        self._opened()._write("text", name, np.array(json.dumps(facts, default=_plain)), step)


def _any_weight(name: str) -> bool:
    return True


def _wanted(specified: dict[str, Any] | None, default: bool) -> tuple[set[str], Callable[[str], bool]]:
    """The switches that are on, and which weights have histograms."""
    given = check_type(specified, "collect_specified_data", "SummaryCollector", (dict, type(None))) or {}
    unknown = sorted(str(name) for name in given if name not in _KNOWN)
    if unknown:
        names = ", ".join(_KNOWN)
        raise ValueError(complaint("collect_specified_data", "SummaryCollector", f"a dict of {names}", unknown))
    for name in _SWITCHES:
        check_bool(given.get(name, True), name, "SummaryCollector")
    expression = given.get("histogram_regular")
    check_type(expression, "histogram_regular", "SummaryCollector", (str, type(None)))
    for name in ("collect_graph", "collect_dataset_graph"):
        if given.get(name):
            warn_once(f"SummaryCollector {name}", "SummaryCollector writes no graphs: '%s' changes nothing.", name)
    collects = {name for name in _SWITCHES if given.get(name, default)}
    if expression is not None:
        return collects, lambda name: re.match(expression, name) is not None
    return collects, _any_weight if default or "histogram_regular" in given else lambda name: False


def _lineage(data: dict[str, Any] | None) -> dict[str, Any]:
    """Check what the user tells of the run."""
    check_type(data, "custom_lineage_data", "SummaryCollector", (dict, type(None)))
    for name, value in (data or {}).items():
        check_type(name, "a name in custom_lineage_data", "SummaryCollector", str)
        check_type(value, f"custom_lineage_data[{name!r}]", "SummaryCollector", (int, float, str))
    return data or {}


def _images(batch: Any) -> np.ndarray | None:
    """The first column of a batch where it is images, None else."""
    first = batch[0] if batch else None
    array = first.asnumpy() if isinstance(first, Tensor) else np.asarray(first)
    return array if array.ndim == 4 and array.shape[1] in (1, 3) else None


def _settings(run: Any) -> dict[str, Any]:
    """What a run was made with."""
    first = run.train_dataset_element[0] if run.train_dataset_element else None
    rate = getattr(run.optimizer, "learning_rate", None)
    return {
        "network": type(run.network).__name__,
        "loss_function": type(run.loss_fn).__name__ if run.loss_fn is not None else None,
        "optimizer": type(run.optimizer).__name__ if run.optimizer is not None else None,
        "learning_rate": float(np.mean(rate.asnumpy())) if isinstance(rate, Tensor) else None,
        "loss": number_of(run.net_outputs),
        "epoch": run.epoch_num,
        "batch_num": run.batch_num,
        "batch_size": len(first) if isinstance(first, Tensor) and first.ndim else None,
        "parallel_mode": str(run.parallel_mode),
        "device_number": run.device_number,
    }


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    array = value.asnumpy() if isinstance(value, Tensor) else value
    return array.tolist() if isinstance(array, (np.ndarray, np.generic)) else str(array)
