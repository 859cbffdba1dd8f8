"""Where MindSpore keeps the functions of mathematics."""

from dist_ms.ops.extended_names import by_name as __getattr__  # noqa: F401
