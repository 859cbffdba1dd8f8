"""For which worker the others have waited, at one server."""

from __future__ import annotations


class Stragglers:
    """Adds up how long answers were put off until a worker's push came.

    Args:
        workers: how many there are.

    Examples:
        >>> from dist_ms.parallel.servers.stragglers import Stragglers
        >>> stragglers = Stragglers(3)
        >>> stragglers.came(2, [(0, 1.5), (0, 1.0), (1, 1.25)])
        >>> stragglers.came(0, [(1, 0.5)])
        >>> stragglers.worst()
        (2, 1.5, 0.5)
    """

    def __init__(self, workers: int) -> None:
        self._workers = workers
        # By unit: those of a step are pushed together, so their seconds are the same ones.
        self._seconds: dict[int, list[float]] = {}

    def came(self, worker: int, answered: list[tuple[int, float]]) -> None:
        """Note what a worker's push has made possible.

        Args:
            worker: who has pushed.
            answered: units that others now read, and for how many seconds these had waited.
        """
        for unit in {unit for unit, _ in answered}:
            found = self._seconds.setdefault(unit, [0.0] * self._workers)
            found[worker] += max(seconds for one, seconds in answered if one == unit)

    def worst(self) -> tuple[int, float, float]:
        """Return the worker that others waited for longest, for how many seconds, and the same of the next one."""
        totals = [max((found[w] for found in self._seconds.values()), default=0.0) for w in range(self._workers)]
        first = max(range(self._workers), key=totals.__getitem__)
        return first, totals[first], max([*totals[:first], *totals[first + 1 :]], default=0.0)
