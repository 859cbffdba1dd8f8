"""What Model does when a rank of an elastic job dies: the others go on from the newest state that they have saved."""

from __future__ import annotations

import logging
import time
from typing import Any, NoReturn

from dist_ms import elastic
from dist_ms.communication import current, dead_ranks, follow, is_elastic, rank_has_died, shrink
from dist_ms.dataset.dataset import Dataset
from dist_ms.nn.wrap.train_step import TrainOneStepCell
from dist_ms.parallel.session import DataParallel
from dist_ms.train.callback.ranks import Ranks
from dist_ms.train.callback.run_checkpoint import RunCheckpoint
from dist_ms.train.state.model_run import resume_run, stateful_of

_log = logging.getLogger("dist_ms")
_PATIENCE = 2.0  # seconds for another rank to say why the job ends


class Survival:
    """Takes a run back to its newest state when a rank dies. In other jobs than elastic ones it does nothing.

    Args:
        run: the run's facts.
        owner: the function's name in messages.
        first: the number of the next epoch.
        done: how many of its steps are done.
    """

    def __init__(self, run: Any, owner: str, first: int, done: int) -> None:
        self._run, self._owner = run, owner
        self._save: RunCheckpoint | None = None
        self._obstacle = "one rank trains alone"
        if not is_elastic() or run["ranks"].size == 1:
            return
        self._obstacle = self._find_obstacle()
        found = [word for word in run["ranks"].gather(self._obstacle) if word]
        if found:
            self._obstacle = found[0]
            if run["ranks"].rank == 0:
                _log.warning("For '%s', no rank can go on when another one dies: %s.", owner, found[0])
            return
        run["train_network"].session.sink()  # from here on the values are the same on all ranks
        save = next(callback for callback in run["list_callback"] if isinstance(callback, RunCheckpoint))
        if run.get("resumed_step") is not None:
            save.saved_steps.add(run["resumed_step"])
        else:
            save.save_beginning(run, first - 1)
        self._save = save

    def _find_obstacle(self) -> str:
        """Return why this run cannot go on with fewer ranks; "" if it can."""
        run, world = self._run, current()
        data, size = run["train_dataset"], run["ranks"].size
        if not any(isinstance(callback, RunCheckpoint) for callback in run["list_callback"]):
            return "no RunCheckpoint is among the callbacks, which saves what they would go on from"
        step = run["train_network"]
        if not (isinstance(step, TrainOneStepCell) and isinstance(step.session, DataParallel)):
            return "the ranks do not train one model data-parallel"
        if world is not None and world.groups:
            return f"the group '{next(iter(world.groups))}' has been made, which would be another one without that rank"
        own = [name for name, _, own in stateful_of(run).held() if own]
        if own:
            return f"each rank has its own '{own[0]}', which would be lost with it"
        if not isinstance(data, Dataset) or data.shards() != size:
            return f"the rows are not dealt to the {size} ranks by a dataset of dist_ms ('num_shards')"
        if data.source_rows() is None:
            return "the dataset shuffles, filters or repeats rows after its source, so the rest cannot be dealt anew"
        return ""

    def go_back(self) -> tuple[int, int, bool]:
        """Make a world of the ranks that are left, after `rank_has_died`, and go back to the newest state.

        Returns:
            tuple: the number of the next epoch, how many of its steps are done, and whether these are all.
        """
        if self._save is None:
            self._give_up(self._obstacle)
        while True:
            try:
                return self._go_back()
            except ValueError as refused:
                self._give_up(str(refused))
            except Exception as error:
                if not rank_has_died(error):
                    raise

    def _go_back(self) -> tuple[int, int, bool]:
        run, save = self._run, self._save
        assert save is not None
        before = run["ranks"].size
        who = shrink()
        ranks = run["ranks"] = Ranks(run["list_callback"])
        run["train_network"].start_anew(before)
        run["device_number"] = ranks.size
        for name in ("train_dataset", "valid_dataset"):
            data = run.get(name)
            if isinstance(data, Dataset) and data.is_sharded():
                data.deal_anew(before, ranks.size, ranks.rank)
        run.pop("resumed_step", None)
        place = resume_run(save.directory, run, save.saved_steps)
        step = run.get("resumed_step")
        if step is None:
            raise ValueError(f"there is no whole state of this run in {save.directory}")
        save.go_back(step, ranks)
        if ranks.rank == 0:
            left = f"{ranks.size} rank{'s go' if ranks.size > 1 else ' goes'} on"
            elastic.say(f"dist_ms: {who}; {left} after step {step}, in epoch {place[0]}.")
        return place

    def _give_up(self, why: str) -> NoReturn:
        """End this process, and say why; the launcher says who has died."""
        ranks = self._run["ranks"]
        if ranks.rank == min(set(range(ranks.size)) - dead_ranks()):
            elastic.say(f"dist_ms: the other ranks cannot go on: {why}.")
        else:
            time.sleep(_PATIENCE)  # the first one that ends takes all others along
        follow()
