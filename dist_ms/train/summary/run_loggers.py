"""Loggers: what a run gave, as records in a CSV file, in JSON lines, or for TensorBoard."""

from __future__ import annotations

import csv
import json
import math
import os
from typing import Any

import numpy as np

from dist_ms.common.checks import check_non_negative_int, check_string
from dist_ms.train.callback.callback import Callback, RunContext
from dist_ms.train.callback.outputs import number_of
from dist_ms.train.callback.ranks import ranks_of
from dist_ms.train.summary.record import SummaryRecord


class _RunLogger(Callback):
    """Makes a record of every epoch, and of every so many steps; rank 0 writes it.

    Args:
        steps: also make a record after every so many steps; 0: of epochs only.
    """

    state_names: tuple[str, ...] = ("records", "_step", "_sum", "_count")

    def __init__(self, steps: int) -> None:
        super().__init__()
        self.steps = check_non_negative_int(steps, "steps", type(self).__name__)
        self.records = 0
        self._step, self._sum, self._count = 0, 0.0, 0
        self._begun = False

    def on_train_begin(self, run_context: RunContext) -> None:
        """Begin, or go on after an earlier run of this logger.

        Args:
            run_context: the run.
        """
        self._sum, self._count = 0.0, 0

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go back to the records that a saved run had made; what came after them is written anew."""
        super().load_state_dict(state)
        self._begun = False

    def on_train_step_end(self, run_context: RunContext) -> None:
        """Make a record if one is due.

        Args:
            run_context: the run.
        """
        run = run_context.original_args()
        loss = number_of(run["net_outputs"])
        self._step += 1
        if isinstance(loss, (int, float)):
            self._sum, self._count = self._sum + loss, self._count + 1
        if self.steps and self._step % self.steps == 0:
            self._record(run, {"kind": "step", "epoch": run["cur_epoch_num"], "step": self._step, "loss": loss})

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """Make the epoch's record: the mean loss of its steps, and what was evaluated.

        Args:
            run_context: the run.
        """
        run = run_context.original_args()
        loss = self._sum / self._count if self._count else math.nan
        self._sum, self._count = 0.0, 0
        results = {**(run.get("metrics") or {}), **(run.get("eval_results") or {})}
        named = {f"eval_{name.removeprefix('eval_')}": _plain(value) for name, value in results.items()}
        facts = {"kind": "epoch", "epoch": run["cur_epoch_num"], "step": self._step, "loss": loss}
        self._record(run, {**facts, **named})

    def _record(self, run: dict, facts: dict[str, Any]) -> None:
        if ranks_of(run).rank == 0:
            if not self._begun:
                self._begin(self.records)
                self._begun = True
            self._write(facts)
        self.records += 1

    def _begin(self, keep: int) -> None:
        """Get ready to write after the first `keep` records, which an earlier run wrote."""

    def _write(self, facts: dict[str, Any]) -> None:
        """Write a record, so that it stays when the process is killed."""
        raise NotImplementedError


class JSONLogger(_RunLogger):
    """Write a line of JSON for every epoch, and for every so many steps.

    A line has "kind" ("epoch" or "step"), "epoch", "step" (counted over all epochs), "loss" (the epoch's mean,
    or the step's, on rank 0) and for evaluated epochs "eval_loss" and the metrics, "eval_..." too. NaN and
    infinities are null. Only rank 0 writes, each line at once; a resumed run goes on where its state was saved.

    Args:
        file_name: the file, written anew.
        steps: also write a line after every so many steps; 0: of epochs only.

    Raises:
        TypeError: for arguments of the wrong type.
        ValueError: if `steps` is negative or the name empty.

    Examples:
        >>> import dist_ms as ms
        >>> logger = ms.train.JSONLogger("run.jsonl", steps=100)
    """

    def __init__(self, file_name: str, steps: int = 0) -> None:
        super().__init__(steps)
        self.file_name = check_string(file_name, "file_name", "JSONLogger")

    def _begin(self, keep: int) -> None:
        kept = _lines(self.file_name, keep)
        _write_whole(self.file_name, "".join(kept))

    def _write(self, facts: dict[str, Any]) -> None:
        finite = {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in facts.items()}
        with open(self.file_name, "a", encoding="utf-8") as file:
            file.write(json.dumps(finite) + "\n")


class CSVLogger(_RunLogger):
    """Write a row of a CSV file for every epoch, and for every so many steps.

    The columns are those of `JSONLogger`; one that appears later is empty in the rows before. Only rank 0
    writes, each row at once; a resumed run goes on where its state was saved.

    Args:
        file_name: the file, written anew.
        steps: also write a row after every so many steps; 0: of epochs only.

    Raises:
        TypeError: for arguments of the wrong type.
        ValueError: if `steps` is negative or the name empty.

    Examples:
        >>> import dist_ms as ms
        >>> logger = ms.train.CSVLogger("run.csv")
    """

    def __init__(self, file_name: str, steps: int = 0) -> None:
        super().__init__(steps)
        self.file_name = check_string(file_name, "file_name", "CSVLogger")
        self._columns: list[str] = []

    def _begin(self, keep: int) -> None:
        rows = _lines(self.file_name, keep + 1) if keep else []
        self._columns = next(csv.reader(rows[:1]), [])
        _write_whole(self.file_name, "".join(rows))

    def _write(self, facts: dict[str, Any]) -> None:
        new = [name for name in facts if name not in self._columns]
        if new:
            rows = _lines(self.file_name, None)[1:]
            self._columns += new
            header = ",".join(self._columns) + "\n"
            _write_whole(self.file_name, header + "".join(row.rstrip("\n") + "," * len(new) + "\n" for row in rows))
        with open(self.file_name, "a", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerow([facts.get(name, "") for name in self._columns])


class TensorBoardLogger(_RunLogger):
    """Write what `JSONLogger` does as scalars for TensorBoard; needs the package tensorboardX.

    The scalars are "loss" of single steps, "epoch/loss" and "epoch/eval_...", each at its step. Only rank 0
    writes, and what it has written stays in the file when the process is killed. A resumed run adds a file.

    Args:
        log_dir: the folder of the event files.
        steps: also write the loss after every so many steps; 0: of epochs only.

    Raises:
        TypeError: for arguments of the wrong type.
        ValueError: if `steps` is negative or the name empty.
        ImportError: at the first record, if tensorboardX is not installed.

    Examples:
        >>> import dist_ms as ms
        >>> logger = ms.train.TensorBoardLogger("events", steps=10)
    """

    def __init__(self, log_dir: str, steps: int = 0) -> None:
        super().__init__(steps)
        self.log_dir = check_string(log_dir, "log_dir", "TensorBoardLogger")
        self._record_file: SummaryRecord | None = None

    def _write(self, facts: dict[str, Any]) -> None:
        if self._record_file is None:
            self._record_file = SummaryRecord(self.log_dir, raise_exception=True)
        for name, value in facts.items():
            if name not in ("kind", "epoch", "step") and isinstance(value, (int, float)):
                of = name if facts["kind"] == "step" else f"epoch/{name}"
                self._record_file.add_value("scalar", of, np.float64(value))
        self._record_file.record(facts["step"])

    def __exit__(self, *error: Any) -> None:
        if self._record_file is not None:
            self._record_file.close()
        self._record_file = None


def _plain(value: Any) -> Any:
    """A metric as JSON has it: a number, or a list."""
    array = np.asarray(value)
    return array.tolist() if array.dtype.kind in "biuf" else " ".join(str(value).split())


def _lines(file_name: str, count: int | None) -> list[str]:
    """The first lines of a file that may not be there."""
    if not os.path.exists(file_name):
        return []
    with open(file_name, encoding="utf-8", newline="") as file:
        return file.readlines()[:count]


def _write_whole(file_name: str, text: str) -> None:
    """Put a whole file in the place of another at once."""
    os.makedirs(os.path.dirname(os.path.abspath(file_name)), exist_ok=True)
    new = f"{file_name}.{os.getpid()}.new"
    with open(new, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    os.replace(new, file_name)


__all__ = ["CSVLogger", "JSONLogger", "TensorBoardLogger"]
