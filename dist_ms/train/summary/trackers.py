"""Trackers: what a run gave, for the viewers of MLflow and of Weights & Biases."""

from __future__ import annotations

import math
import os
import time
from importlib import import_module
from typing import Any

from dist_ms.common.checks import check_string
from dist_ms.train.summary.run_loggers import _RunLogger

__all__ = ["MLflowLogger", "WandbLogger"]


class _Tracker(_RunLogger):
    """A logger whose run has a number in the viewer, with which a resumed run goes on.

    Args:
        steps: also make a record after every so many steps.
        config: what the run was made of, by name.
    """

    state_names = (*_RunLogger.state_names, "run_id")

    def __init__(self, steps: int, config: dict[str, Any] | None) -> None:
        super().__init__(steps)
        owner = type(self).__name__
        if config is not None and not isinstance(config, dict):
            raise TypeError(f"For '{owner}', the argument 'config' must be a dict or None, but got {config!r}.")
        self.config = dict(config or {})
        self.run_id: str | None = None

    def _package(self, name: str, extra: str) -> Any:
        try:
            return import_module(name)
        except ImportError as error:
            raise ImportError(
                f"For '{type(self).__name__}', the package '{name}' must be installed, but it was not found: "
                f"pip install dist_ms[{extra}]."
            ) from error


def _numbers(facts: dict[str, Any]) -> dict[str, float]:
    """The record's numbers by the names that TensorBoardLogger gives them; those of an epoch begin with "epoch/"."""
    front = "" if facts["kind"] == "step" else "epoch/"
    found = {k: v for k, v in facts.items() if k not in ("kind", "epoch", "step") and isinstance(v, (int, float))}
    return {front + name: float(value) for name, value in found.items()}


class MLflowLogger(_Tracker):
    """Write what `JSONLogger` does as metrics of an MLflow run; needs the package mlflow (mlflow-skinny, which
    has no viewer, with sqlalchemy and alembic will do).

    The metrics are "loss" of single steps, "epoch/loss" and "epoch/eval_...", each at its step. Only rank 0
    writes, each record at once. A resumed run goes on in the same MLflow run, which ends as FINISHED or, where
    training raised, as FAILED; one whose process was killed stays RUNNING. What is not finite is left out.

    Args:
        tracking_uri: where MLflow keeps its runs: a database such as "sqlite:///runs.db", or a server ("http://...").
        experiment: the experiment that the run belongs to, made if it is missing.
        run_name: the run's name; MLflow finds one by default.
        config: parameters of the run, such as {"learning_rate": 0.1}.
        steps: also write the loss after every so many steps; 0: of epochs only.

    Raises:
        TypeError: for arguments of the wrong type.
        ValueError: if `steps` is negative or a name empty.
        ImportError: at the first record, if MLflow is not installed.

    Examples:
        >>> import dist_ms as ms
        >>> logger = ms.train.MLflowLogger("sqlite:///runs.db", "digits", config={"learning_rate": 0.1})
    """

    def __init__(
        self,
        tracking_uri: str,
        experiment: str = "dist_ms",
        run_name: str | None = None,
        config: dict[str, Any] | None = None,
        steps: int = 0,
    ) -> None:
        super().__init__(steps, config)
        self.tracking_uri = check_string(tracking_uri, "tracking_uri", "MLflowLogger")
        self.experiment = check_string(experiment, "experiment", "MLflowLogger")
        self.run_name = None if run_name is None else check_string(run_name, "run_name", "MLflowLogger")
        self._client: Any = None

    def _begin(self, keep: int) -> None:
        mlflow = self._package("mlflow", "mlflow")
        self._client = mlflow.MlflowClient(tracking_uri=self.tracking_uri)
        if self.run_id is not None and keep:
            self._client.update_run(self.run_id, status="RUNNING")
            return
        found = self._client.get_experiment_by_name(self.experiment)
        experiment = found.experiment_id if found else self._client.create_experiment(self.experiment)
        self.run_id = self._client.create_run(experiment, run_name=self.run_name).info.run_id
        for name, value in self.config.items():
            self._client.log_param(self.run_id, name, value)

    def _write(self, facts: dict[str, Any]) -> None:
        metric = import_module("mlflow.entities").Metric
        now = int(time.time() * 1000)
        named = {name: value for name, value in _numbers(facts).items() if math.isfinite(value)}
        self._client.log_batch(self.run_id, [metric(name, value, now, facts["step"]) for name, value in named.items()])

    def __exit__(self, *error: Any) -> None:
        if self._begun:
            self._client.set_terminated(self.run_id, "FINISHED" if not any(error) else "FAILED")
        self._begun = False


class WandbLogger(_Tracker):
    """Write what `JSONLogger` does as a run of Weights & Biases, without network access; needs the package wandb.

    The names are those of `TensorBoardLogger`, each record with its "epoch" and at its step. A process
    of wandb's beside rank 0 writes them into a folder `wandb/offline-run-...`, also when the rank is killed;
    `wandb sync` sends it later, from where there is a network. A resumed
    run adds a folder with the same run number: `wandb sync --append` puts them together.

    Args:
        project: the project that the run belongs to.
        directory: the folder in which wandb makes its own.
        name: the run's name; wandb finds one by default.
        config: settings of the run, such as {"learning_rate": 0.1}.
        steps: also write the loss after every so many steps; 0: of epochs only.

    Raises:
        TypeError: for arguments of the wrong type.
        ValueError: if `steps` is negative or a name empty.
        ImportError: at the first record, if wandb is not installed.

    Examples:
        >>> import dist_ms as ms
        >>> logger = ms.train.WandbLogger("digits", config={"learning_rate": 0.1})
    """

    def __init__(
        self,
        project: str,
        directory: str = ".",
        name: str | None = None,
        config: dict[str, Any] | None = None,
        steps: int = 0,
    ) -> None:
        super().__init__(steps, config)
        self.project = check_string(project, "project", "WandbLogger")
        self.directory = check_string(directory, "directory", "WandbLogger")
        self.name = None if name is None else check_string(name, "name", "WandbLogger")
        self._run: Any = None

    def _begin(self, keep: int) -> None:
        wandb = self._package("wandb", "wandb")
        os.makedirs(self.directory, exist_ok=True)  # wandb writes elsewhere when the folder is missing
        self._run = wandb.init(
            project=self.project,
            dir=self.directory,
            name=self.name,
            config=self.config,
            id=self.run_id if keep else None,
            mode="offline",
            reinit="create_new",
            settings=wandb.Settings(silent=True, console="off"),
        )
        self.run_id = self._run.id

    def _write(self, facts: dict[str, Any]) -> None:
        self._run.log({**_numbers(facts), "epoch": facts["epoch"]}, step=facts["step"])

    def __exit__(self, *error: Any) -> None:
        if self._run is not None:
            self._run.finish(exit_code=int(any(error)))
        self._run, self._begun = None, False
