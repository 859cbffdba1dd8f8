"""MindSpore's name for Python's `multiprocessing`: tensors are pickled, and travel as other objects do."""

from multiprocessing import *  # noqa: F403
from multiprocessing import __all__ as __all__
