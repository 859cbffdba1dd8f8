"""What asynchronous collectives return."""

from __future__ import annotations

from dist_ms.communication import Handle


class CommHandle:
    """A collective under way.

    Args:
        handle: the communicator's handle.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.communication.comm_func import all_reduce
        >>> ms.communication.init()
        >>> result, handle = all_reduce(ms.Tensor([1.0]), async_op=True)
        >>> handle.wait()
        >>> print(result)
        [1.]
    """

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def wait(self) -> None:
        """Wait until the result is there.

        Raises:
            TimeoutError: if that takes longer than DIST_MS_TIMEOUT seconds.
        """
        self._handle.wait()

    def test(self) -> bool:
        """Drive the collective and return whether it is done; never waits."""
        return self._handle.test()
