"""The state of what Model trains: from the facts that callbacks are told."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sized
from typing import Any

from dist_ms.common.tensor import Tensor
from dist_ms.train.state import loading
from dist_ms.train.state.collecting import Stateful
from dist_ms.train.state.folder import Folder

_FEW = 1000
_log = logging.getLogger("dist_ms")


class CallbackStates:
    """What the callbacks of a run have counted.

    Args:
        callbacks: the run's.
    """

    def __init__(self, callbacks: list) -> None:
        counts: dict[str, int] = {}
        self._named = {}
        for callback in callbacks:
            name = type(callback).__qualname__
            counts[name] = counts.get(name, 0) + 1
            self._named[f"{name} {counts[name]}"] = callback

    def state_dict(self) -> dict[str, Any]:
        """The states of the callbacks that have one."""
        states = {name: callback.state_dict() for name, callback in self._named.items()}
        return {name: state for name, state in states.items() if state}

    def load_state_dict(self, states: dict[str, Any]) -> None:
        """Go back to what `state_dict` returned; callbacks that were not there before begin anew."""
        for name, callback in self._named.items():
            if name in states:
                callback.load_state_dict(states[name])


class LastOutputs:
    """What the last step returned, which is looked at after the epoch.

    Args:
        run: the run's facts.
    """

    def __init__(self, run: Any) -> None:
        self._run = run

    def state_dict(self) -> dict[str, Any]:
        """The outputs, unless they are large: then they are no losses."""
        outputs = self._run.get("net_outputs")
        found = outputs if isinstance(outputs, tuple) else (outputs,)
        small = all(isinstance(x, Tensor) and x.size <= _FEW for x in found)
        return {"net_outputs": outputs if small else None}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go back to what `state_dict` returned."""
        self._run["net_outputs"] = state["net_outputs"]


def stateful_of(run: Any) -> Stateful:
    """Return what decides the next step of a run.

    Args:
        run: the run's facts.
    """
    objects = {
        "model": run["train_network"],
        "callbacks": CallbackStates(run["list_callback"]),
        "outputs": LastOutputs(run),
    }
    names = {"data": "train_dataset", "valid_data": "valid_dataset", "loss_scale": "loss_scale_mananger"}
    objects |= {name: run.get(fact) for name, fact in names.items() if goes_on(run.get(fact))}
    return Stateful(objects, "RunCheckpoint")


def resume_run(directory: str, run: Any, among: Collection[int] | None = None) -> tuple[int, int, bool]:
    """Load the newest state of a folder into a run, where there is one; every rank calls it.

    Args:
        directory: the folder.
        run: the run's facts; takes the number of steps.
        among: the steps of the states to look at; default: all.

    Returns:
        tuple: the number of the next epoch, how many of its steps are done, and whether these are all.

    Raises:
        ValueError: if the state does not fit the run.
    """
    ranks, stateful = run["ranks"], stateful_of(run)
    facts = loading.load(Folder(directory), stateful, ranks.comm, among=among)
    if facts is None:
        return run["initial_epoch"] + 1, 0, False
    done, over = facts.get("step_in_epoch", 0), bool(facts.get("batches_over"))
    if done and not over and not goes_on(run["train_dataset"]) and facts["ranks"] != ranks.size:
        raise ValueError(
            f"For 'Model.train', 'resume' in the middle of an epoch needs {facts['ranks']} ranks as before, but got "
            f"{ranks.size}: the dataset has no state_dict to deal the rest of its rows anew. Use dist_ms.dataset."
        )
    run["cur_step_num"] = run["resumed_step"] = facts["step"]
    if ranks.rank == 0:
        _log.info("Resuming after step %d, in epoch %d, from %s.", facts["step"], facts["epoch"] + 1, directory)
    return facts["epoch"] + 1, done, over


def goes_on(thing: Any) -> bool:
    """Whether something can be saved and resumed."""
    return hasattr(thing, "state_dict") and hasattr(thing, "load_state_dict")


def facts_of(run: Any, epoch_over: bool) -> dict[str, Any]:
    """Return where a run stands.

    Args:
        run: the run's facts.
        epoch_over: whether the current epoch is over, with its evaluation and the callbacks at its end.
    """
    batches_over = run["batches_over"] or _at_last_batch(run)
    epoch_over = epoch_over and batches_over  # a callback that asks to stop may leave batches
    return {
        "step": run["cur_step_num"],
        "epoch": run["cur_epoch_num"] if epoch_over else run["cur_epoch_num"] - 1,
        "step_in_epoch": 0 if epoch_over else run["step_in_epoch"],
        "batches_over": not epoch_over and batches_over,
    }


def _at_last_batch(run: Any) -> bool:
    """Whether the last batch of an epoch was used up, of data that cannot say where it stands itself."""
    data = run["train_dataset"]
    if goes_on(data) or not isinstance(data, Sized) or getattr(run["train_network"], "uneven", None):
        return False
    return run["step_in_epoch"] == len(data)
