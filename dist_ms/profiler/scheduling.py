"""schedule: in which steps a profiler records."""

from __future__ import annotations

from enum import Enum

from dist_ms.common.checks import check_non_negative_int, check_positive_int

__all__ = ["ProfilerAction", "schedule"]


class ProfilerAction(Enum):
    """What a profiler does in a step."""

    NONE = 0
    WARM_UP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


class schedule:
    """Which steps are recorded: after `skip_first` steps, rounds of `wait`, `warmup` and `active` ones.

    Args:
        wait: steps of a round that are left out.
        active: steps that are recorded; after the last one the files are written.
        warmup: steps before them that are left out too.
        repeat: how many rounds; 0 for no end.
        skip_first: steps before the first round.

    Raises:
        TypeError: if one is no int.
        ValueError: if one is negative, or `active` is 0.

    Examples:
        >>> from dist_ms.profiler import schedule
        >>> [schedule(wait=1, active=2, repeat=1)(step).name for step in range(4)]
        ['NONE', 'RECORD', 'RECORD_AND_SAVE', 'NONE']
    """

    def __init__(self, *, wait: int, active: int, warmup: int = 0, repeat: int = 0, skip_first: int = 0) -> None:
        self.wait = check_non_negative_int(wait, "wait", "schedule")
        self.active = check_positive_int(active, "active", "schedule")
        self.warmup = check_non_negative_int(warmup, "warmup", "schedule")
        self.repeat = check_non_negative_int(repeat, "repeat", "schedule")
        self.skip_first = check_non_negative_int(skip_first, "skip_first", "schedule")

    def __call__(self, step: int) -> ProfilerAction:
        """What to do in a step, from 0."""
        if step < self.skip_first:
            return ProfilerAction.NONE
        round_, place = divmod(step - self.skip_first, self.wait + self.warmup + self.active)
        if (self.repeat and round_ >= self.repeat) or place < self.wait:
            return ProfilerAction.NONE
        if place < self.wait + self.warmup:
            return ProfilerAction.WARM_UP
        last = place == self.wait + self.warmup + self.active - 1
        return ProfilerAction.RECORD_AND_SAVE if last else ProfilerAction.RECORD

    def to_dict(self) -> dict[str, int]:
        """The numbers by name."""
        return dict(vars(self))
