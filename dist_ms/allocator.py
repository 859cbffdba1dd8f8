"""The choice of the allocator that NumPy's arrays have their memory from.

With the environment variable DIST_MS_ALLOCATOR at "caching", the default, importing dist_ms lets
the arrays made by the importing thread come from `dist_ms._ext.memory`; "numpy" leaves NumPy's
own allocator in its place. The idle bytes kept are at most an eighth of the machine's memory,
divided among the ranks on it. NumPy keeps the choice in a context variable: a thread started with
`contextvars.copy_context().run` inherits it, any other new thread has NumPy's allocator.
"""

from __future__ import annotations

from dist_ms._ext import memory
from dist_ms.common.settings.environment import value_of
from dist_ms.communication.start.launched import launched_local

CHOICES = ("caching", "numpy")


def start() -> bool:
    """Install the caching allocator for this thread if the environment asks for it.

    Returns:
        Whether it is installed.

    Raises:
        ImportError: if DIST_MS_ALLOCATOR is neither "caching" nor "numpy".
    """
    choice = value_of("DIST_MS_ALLOCATOR")
    if choice not in CHOICES:
        raise ImportError(f"DIST_MS_ALLOCATOR must be one of {', '.join(CHOICES)}, but got '{choice}'.")
    if choice == "numpy":
        return False
    if not memory.install():
        return False
    neighbours = launched_local()[1]
    if neighbours:
        memory.set_limits(idle=memory.limits()["idle"] // neighbours)
    return True


def ms_memory_recycle() -> None:
    """Give idle memory back to the system, as between the trainings of several models: `runtime.empty_cache`.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ms_memory_recycle()
    """
    memory.trim()
