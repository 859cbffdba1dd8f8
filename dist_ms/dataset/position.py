"""Position: where the iteration of a pipeline stands, as a small dict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from dist_ms.common.checks import check_non_negative_int, complaint
from dist_ms.dataset import config

if TYPE_CHECKING:
    from dist_ms.dataset.dataset import Dataset

_FIELDS = {"epoch": int, "given": int, "rows": (int, type(None)), "shards": int, "seed": int}


@dataclass
class Place:
    """A place in an epoch.

    Attributes:
        epoch: its number, from 0.
        given: rows that this rank's consumer had of it, since `start`.
        start: source rows that all ranks together had used up before.
    """

    epoch: int = 0
    given: int = 0
    start: int = 0


class Position:
    """Where the current iteration of a pipeline stands, and where the next one begins.

    Attributes:
        moves: how often it was set from without, to a place that no iteration had come to.
    """

    def __init__(self) -> None:
        self.now: Place | None = None
        self.next = Place()
        self.moves = 0

    def _move(self, place: Place) -> None:
        self.now, self.next, self.moves = None, place, self.moves + 1

    def begin(self) -> Place:
        """Begin an iteration. The one after it is the next epoch's."""
        self.now, self.next = self.next, Place(self.next.epoch + 1)
        return self.now

    def keys(self, dataset: Dataset) -> Iterator:
        """The keys of the iteration that begins."""
        place = self.now
        keys = dataset.keys_from(place.epoch, place.start) if place.start else dataset.keys(place.epoch)
        return islice(keys, place.given, None)

    def over(self) -> None:
        """The current iteration has given all of its epoch."""
        self.now = None

    def begin_at(self, epoch: int) -> None:
        """Make the next iteration that of an epoch, from its beginning."""
        self._move(Place(check_non_negative_int(epoch, "epoch", "set_epoch")))

    def state(self, dataset: Dataset) -> dict:
        """The position as a dict."""
        place, each = self.now or self.next, dataset.source_rows()
        rows = None if each is None else place.start + each * place.given
        about = {"shards": dataset.shards(), "seed": config.shuffle_seed()}
        return {"epoch": place.epoch, "given": place.given, "rows": rows, **about}

    def load(self, dataset: Dataset, state: Any) -> None:
        """Stand where a dict says."""
        for name, kinds in _FIELDS.items():
            value = state.get(name, "missing") if isinstance(state, dict) else "missing"
            if not isinstance(value, kinds) or isinstance(value, bool) or (value is not None and value < 0):
                raise TypeError(
                    "For 'load_state_dict', 'state' must be what state_dict() returned, but in it "
                    f"'{name}' is {value!r}."
                )
        if state["seed"] != config.shuffle_seed():
            raise ValueError(
                f"For 'load_state_dict', the seed of shuffles must be {state['seed']}, with which the rows were drawn, "
                f"but it is {config.shuffle_seed()}: call dataset.config.set_seed({state['seed']})."
            )
        shards = dataset.shards()
        if state["rows"] is not None and dataset.source_rows() is not None:
            place = Place(state["epoch"], 0, state["rows"])
        elif state["shards"] == shards:
            place = Place(state["epoch"], state["given"])
        else:
            raise ValueError(
                "For 'load_state_dict', a pipeline that shuffles, filters or repeats rows after its source, or whose "
                "shards are stretches of files, can go on only on as many shards as before, "
                f"{state['shards']}, but got {shards}."
            )
        self._move(place)

    def set_step(self, dataset: Dataset, step: Any) -> None:
        """Stand behind so many steps of whole epochs."""
        check_non_negative_int(step, "init_step", "set_init_step")
        size = dataset.get_dataset_size() if step else 1
        if not size:
            raise ValueError(complaint("init_step", "set_init_step", "0 for an empty dataset", step))
        self._move(Place(*divmod(step, size)))

    def step(self, dataset: Dataset) -> int:
        """How many steps of whole epochs lie before the next iteration."""
        place = replace(self.next)
        return place.epoch * dataset.get_dataset_size() + place.given if place.epoch or place.given else 0
