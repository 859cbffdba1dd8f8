"""Where MindSpore keeps the functions it generates; see `dist_ms.ops.extended_names`."""

from dist_ms.ops.extended_names import by_name as __getattr__  # noqa: F401
