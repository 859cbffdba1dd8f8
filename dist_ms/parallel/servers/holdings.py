"""What a worker has on the servers, for as long as the parameter or the optimizer it belongs to is alive here.

Python frees a model when nobody can reach it any more: at any moment, on each worker at another one.
That is only noted; the servers are told when the worker talks to them next. They forget what every
worker has let go, and a model that comes later under the same names is another one, told apart by
its generation: how often this worker has put something of that name on the servers.
"""

from __future__ import annotations

import gc
import weakref
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from typing import Any


class Holdings:
    """One worker's account.

    Examples:
        >>> from dist_ms.parallel.servers.holdings import Holdings
        >>> class Model:
        ...     pass
        >>> holdings, model = Holdings(), Model()
        >>> holdings.add(model, {"w": (2, 3)}, units=[0, 5])
        >>> holdings.shape_of("w"), holdings.let_go()
        ((2, 3), [])
        >>> del model
        >>> holdings.shape_of("w"), holdings.let_go()
        (None, [[0, 5]])
    """

    def __init__(self) -> None:
        self._held: dict[str, Mapping[str, tuple[int, ...]]] = {}
        self._generations: Counter[str] = Counter()
        self._gone: deque[list[int]] = deque()

    def shape_of(self, name: str) -> tuple[int, ...] | None:
        """Return the shape of what is held under a name, None if nothing is.

        A model whose objects refer to each other is freed by the collector alone, so that is run first.
        """
        if name in self._held:
            gc.collect()
        held = self._held.get(name)
        return None if held is None else held[name]

    def generation(self, name: str) -> int:
        """Return the number, from 1, of what is about to be held under a name."""
        self._generations[name] += 1
        return self._generations[name]

    def add(self, owner: Any, shapes: Mapping[str, tuple[int, ...]], units: Sequence[int]) -> None:
        """Note that something is held.

        Args:
            owner: a parameter or an optimizer; when it is gone, so is what is held.
            shapes: what is held, by name.
            units: per server the number that it is held under.
        """
        for name in shapes:
            self._held[name] = shapes
        weakref.finalize(owner, self._drop, shapes, list(units)).atexit = False

    def _drop(self, shapes: Mapping[str, tuple[int, ...]], units: list[int]) -> None:
        for name in shapes:
            if self._held.get(name) is shapes:
                del self._held[name]
        self._gone.append(units)

    def let_go(self) -> list[list[int]]:
        """Return, once, the units of what is gone."""
        found = []
        while self._gone:
            found.append(self._gone.popleft())
        return found
