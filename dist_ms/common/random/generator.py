"""Generator: a random stream with a state of its own, and the default one."""

from __future__ import annotations

import numpy as np

from dist_ms.common.random.seed import next_key
from dist_ms.common.tensor import Tensor, wrap

_STEP = 12  # what one draw adds to the offset, as in MindSpore
_STATE_BYTES = 16


class Generator:
    """A stream of random numbers: a seed, and an offset that each draw moves on.

    Examples:
        >>> import dist_ms as ms
        >>> g = ms.Generator()
        >>> g.manual_seed(5).initial_seed()
        5
        >>> print(g.get_state())
        [5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0]
    """

    __module__ = "dist_ms.common.generator"  # the path that programs know

    def __init__(self) -> None:
        self._words = np.zeros(2, np.int64)

    def manual_seed(self, seed: int) -> Generator:
        """Set the seed, start from its beginning, and return the generator.

        Raises:
            TypeError: if `seed` is no int.
        """
        if not isinstance(seed, int):
            raise TypeError(f"For 'Generator.manual_seed', 'seed' must be an int, but got {type(seed).__name__}.")
        self._words[:] = np.uint64(seed % 2**64).astype(np.int64), 0
        return self

    def seed(self) -> int:
        """Set a seed that nobody can foresee, and return it."""
        fresh = int(np.random.SeedSequence().generate_state(1)[0])
        self.manual_seed(fresh)
        return fresh

    def initial_seed(self) -> int:
        """Return the seed."""
        return int(self._words[0])

    def get_state(self) -> Tensor:
        """Return seed and offset as 16 bytes, a uint8 Tensor."""
        return wrap(self._words.view(np.uint8).copy())

    def set_state(self, state: Tensor) -> None:
        """Go back to a state that `get_state` returned.

        Raises:
            RuntimeError: if `state` is no Tensor of 16 uint8 elements.
        """
        if not isinstance(state, Tensor):
            raise RuntimeError(f"For 'Generator.set_state', 'state' must be a Tensor, but got {type(state).__name__}.")
        array = np.ascontiguousarray(state.array())
        if array.dtype != np.uint8 or array.size != _STATE_BYTES:
            raise RuntimeError(
                "For 'Generator.set_state', 'state' must have 16 elements of the type UInt8, "
                f"but got {array.size} of the type {state.dtype}."
            )
        self._words[:] = array.reshape(-1).view(np.int64)

    def next_draw(self) -> tuple[int, int]:
        """Seed and offset of one draw; the next one differs. Inside the package only."""
        seed, offset = (int(w) % 2**64 for w in self._words)
        self._words[1] = np.uint64((offset + _STEP) % 2**64).astype(np.int64)
        return seed, offset

    def draw(self) -> np.random.Generator:
        """A NumPy generator for one draw; the next one differs. Inside the package only."""
        seed, offset = self.next_draw()
        return np.random.Generator(np.random.Philox(key=seed, counter=[0, 0, 0, offset]))

    def __deepcopy__(self, memo: dict) -> Generator:
        twin = Generator()
        twin._words = self._words.copy()
        return twin


default_generator = Generator()


def manual_seed(seed: int) -> Generator:
    """Set the seed of the default generator and return the generator.

    Examples:
        >>> import dist_ms as ms
        >>> generator = ms.manual_seed(13)
        >>> ms.initial_seed()
        13
    """
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Give the default generator a seed that nobody can foresee, and return it."""
    return default_generator.seed()


def initial_seed() -> int:
    """Return the seed of the default generator."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """Return the state of the default generator, a Tensor of 16 uint8 elements.

    Examples:
        >>> import dist_ms as ms
        >>> state = ms.get_rng_state()
        >>> ms.set_rng_state(state)
    """
    return default_generator.get_state()


def set_rng_state(state: Tensor) -> None:
    """Set the state of the default generator.

    Raises:
        RuntimeError: if `state` is no Tensor of 16 uint8 elements.
    """
    default_generator.set_state(state)


def numpy_generator(generator: Generator | None = None) -> np.random.Generator:
    """A NumPy generator for one draw, by default from the global seed. Inside the package only."""
    if generator is None:
        return np.random.Generator(np.random.Philox(key=next_key()))
    return generator.draw()


def key_of_draw(generator: Generator | None = None) -> tuple[int, int]:
    """Seed and offset of the numbers of one draw, by default from the global seed. Inside the package only."""
    return (next_key(), 0) if generator is None else generator.next_draw()
