"""Streams, events, limits, affinity and settings of ms.runtime on a CPU."""

import subprocess
import sys

import pytest

import dist_ms as ms
from dist_ms import runtime
from dist_ms._ext import threads


def alone(code):
    out = subprocess.run(
        [sys.executable, "-c", "import dist_ms as ms\n" + code], capture_output=True, text=True, check=False
    )
    return out.stdout.strip() if not out.returncode else out.stderr.strip().splitlines()[-1]


def test_streams_are_one_order():
    stream = runtime.Stream()
    with runtime.StreamCtx(stream):
        assert runtime.current_stream() is stream
        event = stream.record_event()
    assert runtime.current_stream() is runtime.default_stream() and stream == runtime.default_stream()
    stream.wait_event(event)
    stream.wait_stream(runtime.communication_stream())
    stream.synchronize()
    runtime.synchronize()
    assert stream.query() and event.query() and hash(stream) == hash(runtime.default_stream())
    with runtime.StreamCtx(None):
        assert runtime.current_stream() is runtime.default_stream()


@pytest.mark.parametrize("name", ["current_stream", "default_stream", "communication_stream"])
def test_the_first_call_has_a_stream(name):
    """MindSpore's first returns None on a CPU, which `s.wait_stream(current_stream())` does not survive."""
    assert alone(f"print(ms.runtime.{name}())") == "Stream(device_name=CPU, device_id:0, stream id:0)"
    code = f"s = ms.runtime.Stream(); s.wait_stream(ms.runtime.{name}()); ms.runtime.{name}().wait_stream(s)"
    assert alone(f"{code}; print('fine')") == "fine"


def test_an_event_as_text():
    event = runtime.Event(enable_timing=True)
    assert repr(event) == "Event(enable_timing=1, blocking:0, is_created:0, event:0)"
    event.record()
    assert repr(event) == "Event(enable_timing=1, blocking:0, is_created:1, event:0)"


def test_events_measure_time():
    start, end = runtime.Event(enable_timing=True), runtime.Event(True)
    with pytest.raises(RuntimeError, match="must be made with enable_timing=True and be recorded"):
        start.elapsed_time(end)
    start.record()
    end.record(runtime.default_stream())
    assert 0 <= start.elapsed_time(end) < 1000
    assert end.elapsed_time(start) <= 0


@pytest.mark.parametrize(
    "call",
    [
        lambda: runtime.StreamCtx(1),
        lambda: runtime.set_cur_stream(1),
        lambda: runtime.Stream().wait_event(1),
        lambda: runtime.Stream().wait_stream(1),
        lambda: runtime.Stream().record_event(1),
        lambda: runtime.Stream() == 1,
        lambda: runtime.Stream("x"),
        lambda: runtime.Event(1),
        lambda: runtime.Event().record(1),
        lambda: runtime.Event().elapsed_time(1),
        lambda: runtime.get_stream_limit(1),
        lambda: runtime.StreamLimitCtx(1),
        lambda: runtime.set_device_limit(0, "x"),
    ],
)
def test_other_types_are_refused(call):
    with pytest.raises(TypeError):
        call()


def test_limits_bound_the_threads():
    before = threads.get_num_threads()
    with runtime.StreamLimitCtx(runtime.Stream(), 1, 1):
        assert threads.get_num_threads() == 1
        assert runtime.get_device_limit(0) == {"cube_core_num": 1, "vector_core_num": 1}
    assert threads.get_num_threads() == before
    runtime.set_device_limit(0, 1)
    runtime.reset_stream_limit(runtime.Stream())
    assert threads.get_num_threads() == before
    with pytest.raises(ValueError, match="'cube_num' must be a positive int or -1, but got 0"):
        runtime.set_device_limit(0, 0)


def test_affinity_binds_all_threads():
    code = (
        "import os\nfirst = min(os.sched_getaffinity(0))\n"
        "ms.ops.matmul(ms.ops.ones((300, 300)), ms.ops.ones((300, 300)))\n"
        "ms.runtime.set_cpu_affinity(True, [f'{first}-{first}'])\n"
        "print(all(os.sched_getaffinity(int(t)) == {first} for t in os.listdir('/proc/self/task')))\n"
        "from dist_ms._ext import threads\nprint(threads.get_num_threads())"
    )
    assert alone(code).split() == ["True", "1"]


def test_affinity_by_file(tmp_path):
    path = tmp_path / "bind.json"
    path.write_text('{"bind_cpu": {"device0": {"main": "0"}}}')
    code = f"import os\nms.runtime.set_cpu_affinity(True, bind_file={str(path)!r})\nprint(os.sched_getaffinity(0))"
    assert alone(code) == "{0}"


@pytest.mark.parametrize(
    "arguments, error",
    [
        ("1", "TypeError"),
        ("True, '0-1'", "TypeError"),
        ("True, ['a']", "ValueError"),
        ("True, ['3-1']", "ValueError"),
        ("True, ['90000']", "RuntimeError"),
        ("True, None, {'main': 0}", "TypeError"),
        ("True, None, {'other': [0]}", "ValueError"),
        ("True, None, {'main': [-1]}", "ValueError"),
        ("True, bind_file='/nowhere.json'", "ValueError"),
    ],
)
def test_affinity_refuses(arguments, error):
    assert alone(f"ms.runtime.set_cpu_affinity({arguments})").startswith(f"{error}: For 'set_cpu_affinity', ")


@pytest.mark.parametrize(
    "code, error",
    [
        ("dispatch_threads_num('a')", "TypeError"),
        ("dispatch_threads_num(0)", "ValueError"),
        ("dispatch_threads_num(2); ms.runtime.dispatch_threads_num(2)", "RuntimeError"),
        ("set_kernel_launch_group(2, 9)", "ValueError"),
        ("set_kernel_launch_group(); ms.runtime.set_kernel_launch_capture(True)", "RuntimeError"),
        ("set_kernel_launch_capture(True); ms.runtime.set_kernel_launch_group()", "RuntimeError"),
        ("set_kernel_launch_capture(True, 'matmul')", "TypeError"),
        ("memory_replay('a.csv')", "RuntimeError"),
        ("use_mem_pool(None)", "RuntimeError"),
        ("PluggableAllocator('a.so', 'f', 'g')", "RuntimeError"),
        ("MemPool(None)", "RuntimeError"),
        ("launch_blocking(); print('fine')", "fine"),
    ],
)
def test_settings(code, error):
    assert alone(f"ms.runtime.{code}").startswith(error)


def test_mindspores_names_are_here():
    assert len(runtime.__all__) == 34 and all(hasattr(ms.runtime, name) for name in runtime.__all__)
