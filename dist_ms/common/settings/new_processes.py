"""What the processes that this one starts to work for it do first, so that modules mean the same in them.

Such a process begins without the script and all that it set up.
"""

from __future__ import annotations

from collections.abc import Callable

first: list[Callable[[], None]] = []
"""Functions of modules, in the order in which they are called."""
