"""Where MindSpore keeps the functions that take both forms of arguments; see `dist_ms.ops.extended_names`."""

from dist_ms.ops.extended_names import overloaded as __getattr__  # noqa: F401
