"""What ranks say as they leave, to be compared when all have left: nobody waits for anybody to learn of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_speakers: dict[str, tuple[Callable[[], Any], Callable[[dict[int, Any]], None]]] = {}


def speak(subject: str, say: Callable[[], Any], hear: Callable[[dict[int, Any]], None]) -> None:
    """Have something said when this rank ends well, and heard when all have.

    Args:
        subject: the same on all ranks; who speaks of it again replaces what was to be said.
        say: returns it; small, and pickled.
        hear: takes what was said by rank, this one's too; what it raises ends the job with an error.
    """
    _speakers[subject] = say, hear


def words() -> dict[str, Any]:
    """Return what this rank says, by subject."""
    return {subject: say() for subject, (say, _) in _speakers.items()}


def hear(everyone: dict[int, dict[str, Any]]) -> None:
    """Pass on what all have said.

    Args:
        everyone: by rank, its words.

    Raises:
        Exception: what a speaker finds wrong.
    """
    for subject, (_, heard) in _speakers.items():
        heard({rank: words[subject] for rank, words in sorted(everyone.items()) if subject in words})
