"""One of MindSpore's files of datasets; here all hold everything."""

from dist_ms.dataset.engine import __dir__, __getattr__  # noqa: F401
