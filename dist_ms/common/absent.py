"""What to say of a name that is not there: which one it may have meant, and what to use instead."""

from __future__ import annotations

from collections.abc import Iterable

# Names of MindSpore that make no sense here.
_REMEDIES = {
    "it registers operations with MindSpore's own compilers; write an ops.Primitive or an ops.Custom": """
        CustomOpBuilder
    """,
}
_BY_NAME = {name: remedy for remedy, names in _REMEDIES.items() for name in names.split()}


def missing(module: str, name: str) -> AttributeError:
    """The error for a name that a module does not have, with a remedy where MindSpore has it.

    Examples:
        >>> from dist_ms.common.absent import missing
        >>> print(missing("dist_ms", "zzz"))
        module 'dist_ms' has no attribute 'zzz'
        >>> print(missing("dist_ms.ops", "CustomOpBuilder"))
        module 'dist_ms.ops' has no attribute 'CustomOpBuilder': it registers operations with MindSpore's own compilers;
        write an ops.Primitive or an ops.Custom.
    """
    remedy = _BY_NAME.get(name)
    return AttributeError(f"module {module!r} has no attribute {name!r}" + (f": {remedy}." if remedy else ""))


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the name that is spelt most like another one, None when none is like it.

    Args:
        name: what was written.
        names: what there is.

    Examples:
        >>> from dist_ms.common.absent import nearest
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
        >>> from dist_ms.common.absent import did_you_mean
        >>> did_you_mean("gradient_mean", ["gradients_mean"])
        " Did you mean 'gradients_mean'?"
    """
    found = nearest(name, names)
    return f" Did you mean '{found}'?" if found else ""
