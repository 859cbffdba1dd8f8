"""Names of MindSpore that make no sense here, and what to use instead: the end of an AttributeError."""

from __future__ import annotations

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
