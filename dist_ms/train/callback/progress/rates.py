"""How fast a job trains and what it waits for, found without asking the other ranks."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import NamedTuple

from dist_ms.common.progress import progress
from dist_ms.communication import current, get_group_size, get_rank
from dist_ms.parallel.status_file import other_records

_APART = 0.10  # of the time: ranks that wait so differently for the others are told apart
_SHORTEST = 0.5  # seconds between two records of another rank that say something


class Counts(NamedTuple):
    """What a rank has done and waited for, from its beginning to a moment.

    Attributes:
        time: the moment, in seconds since 1970.
        steps, samples: how many.
        data, ranks: seconds of waiting for batches, and for other ranks.
    """

    time: float
    steps: int
    samples: int
    data: float
    ranks: float


class Rates(NamedTuple):
    """What a job did between two moments.

    Attributes:
        steps: per second.
        samples: per second, of all ranks.
        data, ranks: shares of the time that ranks waited for batches, and for each other.
        slowest: the rank that waited clearly less for the others than they did for it; None if there is none.
    """

    steps: float
    samples: float
    data: float
    ranks: float
    slowest: int | None

    def __str__(self) -> str:
        return f"{self.speed}, waiting {self.waits}" if self.waits else self.speed

    @property
    def speed(self) -> str:
        """Samples per second, or steps where batches have no rows."""
        value, unit = (self.samples, "samples/s") if self.samples else (self.steps, "steps/s")
        return f"{value:,.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"

    @property
    def waits(self) -> str:
        """The shares that are 1 % or more."""
        shares = {"data": self.data, "ranks": self.ranks}
        text = ", ".join(f"{100 * share:.0f} % for {what}" for what, share in shares.items() if share >= 0.01)
        return text + (f" (rank {self.slowest} is slowest)" if self.slowest is not None else "")


def counts() -> Counts:
    """What this rank has done until now."""
    world = current()
    waited = 0.0 if world is None else world.comm.waited
    return Counts(time.time(), progress.steps, progress.samples, progress.data_seconds, waited)


def counts_of_others() -> dict[int, Counts]:
    """What other ranks of this machine have done, as each of them wrote within the last seconds; by rank."""
    return {
        record["rank"]: Counts(record["time"], *(record[name] for name in Counts._fields[1:]))
        for record in other_records(get_rank())
    }


class Meter:
    """Measures from its making on, or from a later `start`.

    Ranks of other machines are taken to be as fast as those of this one: they do the same steps.

    Examples:
        >>> from dist_ms.train.callback.progress.rates import Meter
        >>> meter = Meter()
        >>> meter.rates() is None  # no step since then
        True
    """

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        """Measure from now on."""
        self._mine, self._others = counts(), counts_of_others()

    @property
    def begun(self) -> float:
        """When, in seconds since 1970."""
        return self._mine.time

    def rates(self, until: Counts | None = None) -> Rates | None:
        """Return what was done; None if there was no step.

        Args:
            until: of this rank; default: now.
        """
        mine = counts() if until is None else until
        pairs = {get_rank(): (self._mine, mine)}
        for rank, now in counts_of_others().items():
            then = self._others.get(rank)
            if then is not None and now.time - then.time >= _SHORTEST and now.steps > then.steps:  # not a server
                pairs[rank] = then, now
        return _rates(pairs, get_rank(), get_group_size())


def _rates(pairs: Mapping[int, tuple[Counts, Counts]], rank: int, size: int) -> Rates | None:
    then, now = pairs[rank]
    if now.steps <= then.steps or now.time <= then.time:
        return None

    def of_time(name: str) -> dict[int, float]:
        found = {}
        for other, (then, now) in pairs.items():
            found[other] = (getattr(now, name) - getattr(then, name)) / (now.time - then.time)
        return found

    def mean(values: Mapping[int, float]) -> float:
        return sum(values.values()) / len(values)

    waits = of_time("ranks")
    slowest = min(waits, key=lambda other: waits[other])
    clearly = max(waits.values()) - waits[slowest] > _APART
    return Rates(
        (now.steps - then.steps) / (now.time - then.time),
        mean(of_time("samples")) * size,
        min(1.0, mean(of_time("data"))),
        min(1.0, mean(waits)),
        slowest if clearly else None,
    )
