"""How operations start: on a CPU, at once and in the thread that calls them."""

from __future__ import annotations

from dist_ms.common.checks import check_bool, check_int, check_positive_int, check_type

_settings: dict[str, object] = {}


def launch_blocking() -> None:
    """Let each operation end before the next line runs: always so on a CPU, without further effect.

    Examples:
        >>> import dist_ms as ms
        >>> ms.runtime.launch_blocking()
    """
    _settings["launch_blocking"] = True


def dispatch_threads_num(threads_num: int) -> None:
    """Accept the number of threads that would start a device's operations; without effect on a CPU.

    The threads inside an operation are set by `set_context(runtime_num_threads=...)`.

    Args:
        threads_num: at least 1; once in a process.

    Raises:
        TypeError: if `threads_num` is no int.
        ValueError: if it is below 1.
        RuntimeError: if it was set before.

    Examples:
        >>> import dist_ms as ms
        >>> ms.runtime.dispatch_threads_num(6)
    """
    check_int(threads_num, "threads_num", "dispatch_threads_num")
    if "dispatch_threads_num" in _settings:
        raise RuntimeError("The 'dispatch_threads_num' can not be set repeatedly.")
    _settings["dispatch_threads_num"] = check_positive_int(threads_num, "threads_num", "dispatch_threads_num")


def set_kernel_launch_group(thread_num: int = 2, kernel_group_num: int = 8) -> None:
    """Accept how a device's operations would be sent in groups; without effect on a CPU.

    Args:
        thread_num: threads that send, at least 1.
        kernel_group_num: groups, a multiple of `thread_num`.

    Raises:
        TypeError: if an argument is no int.
        ValueError: if one is below 1, or they do not divide.
        RuntimeError: if it was set before, or `set_kernel_launch_capture` is on.

    Examples:
        >>> import dist_ms as ms
        >>> ms.runtime.set_kernel_launch_group(thread_num=2, kernel_group_num=8)
    """
    name = "set_kernel_launch_group"
    check_int(thread_num, "thread_num", name)
    check_int(kernel_group_num, "kernel_group_num", name)
    if name in _settings:
        raise RuntimeError("The 'kernel_launch_group' can not be set repeatedly.")
    _refuse_both("set_kernel_launch_capture")
    check_positive_int(thread_num, "thread_num", name)
    check_positive_int(kernel_group_num, "kernel_group_num", name)
    if kernel_group_num % thread_num:
        raise ValueError(
            f"For '{name}', 'kernel_group_num' must be a multiple of 'thread_num' {thread_num}, "
            f"but got {kernel_group_num}."
        )
    _settings[name] = thread_num, kernel_group_num


def set_kernel_launch_capture(enable_capture_graph: bool, op_capture_skip: list | None = None) -> None:
    """Accept whether a device's launches would be captured into a graph; without effect on a CPU.

    Args:
        enable_capture_graph: on or off.
        op_capture_skip: names of operations to leave out.

    Raises:
        TypeError: if `enable_capture_graph` is no bool, or `op_capture_skip` no list.
        RuntimeError: if `set_kernel_launch_group` was called before.

    Examples:
        >>> import dist_ms as ms
        >>> ms.runtime.set_kernel_launch_capture(False, ["matmul"])
    """
    name = "set_kernel_launch_capture"
    check_bool(enable_capture_graph, "enable_capture_graph", name)
    if op_capture_skip is not None:
        check_type(op_capture_skip, "op_capture_skip", name, list)
    _refuse_both("set_kernel_launch_group")
    _settings[name] = enable_capture_graph


def _refuse_both(other: str) -> None:
    if _settings.get(other):
        raise RuntimeError("The kernel launch group and kernel launch capture can not be set together")
