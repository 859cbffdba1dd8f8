"""Functions of the user: what they raise ends an iteration as RuntimeError, as in MindSpore, and tells the cause."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def call(owner: str, function: Callable, *arguments: Any) -> Any:
    """What a function of the user returns.

    Args:
        owner: the stage that calls it.
        function: the function.
        arguments: what it takes.

    Raises:
        RuntimeError: for whatever it raised, with that as its cause.
    """
    try:
        return function(*arguments)
    except RuntimeError:
        raise
    except Exception as error:
        raise failed(owner, function, error) from error


def failed(owner: str, function: Any, error: Exception) -> RuntimeError:
    """The error that says what a function of the user raised."""
    if str(error).startswith("For '"):  # a transform's own complaint
        return RuntimeError(str(error))
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return RuntimeError(f"For '{owner}', {name} raised {type(error).__name__}: {error}.")
