"""The distributions behind `dist_ms.common.initializer`, one subject per file."""
