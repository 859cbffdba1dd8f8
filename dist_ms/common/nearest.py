"""What a misspelt name may have meant."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the name that is spelt most like another one, None when none is like it.

    Args:
        name: what was written.
        names: what there is.

    Examples:
        >>> from dist_ms.common.nearest import nearest
        >>> nearest("gradient_mean", ["gradients_mean", "parallel_mode"])
        'gradients_mean'
        >>> nearest("zz", ["gradients_mean"])
    """
    import difflib

    found = difflib.get_close_matches(str(name), list(names), 1, 0.8)
    return found[0] if found else None


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return " Did you mean 'x'?" for the nearest name, "" when there is none.

    Args:
        name: what was written.
        names: what there is.

    Examples:
        >>> from dist_ms.common.nearest import did_you_mean
        >>> did_you_mean("gradient_mean", ["gradients_mean"])
        " Did you mean 'gradients_mean'?"
    """
    found = nearest(name, names)
    return f" Did you mean '{found}'?" if found else ""
