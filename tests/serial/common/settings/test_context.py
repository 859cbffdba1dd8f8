"""set_context, get_context, set_device."""

import pytest

import dist_ms as ms
from dist_ms.common.settings import context


@pytest.fixture(autouse=True)
def restored(monkeypatch):
    monkeypatch.setattr(context, "_values", dict(context._values))
    monkeypatch.setattr(context, "_listeners", {})


def test_defaults():
    wanted = {
        "mode": ms.PYNATIVE_MODE,
        "device_target": "CPU",
        "device_id": 0,
        "save_graphs": 0,
        "save_graphs_path": ".",
        "enable_compile_cache": None,
        "pynative_synchronize": False,
        "max_call_depth": 1000,
        "deterministic": "OFF",
        "memory_optimize_level": 0,
        "jit_syntax_level": ms.LAX,
        "debug_level": 0,
        "enable_graph_kernel": False,
        "reserve_class_name_in_scope": True,
        "check_bprop": False,
        "max_device_memory": 1024.0,
        "mempool_block_size": 1.0,
        "jit_config": {},
        "exec_order": "bfs",
        "op_timeout": 900,
        "inter_op_parallel_num": 0,
        "print_file_path": "",
        "ascend_config": {},
    }
    assert {key: ms.get_context(key) for key in wanted} == wanted
    assert (ms.GRAPH_MODE, ms.PYNATIVE_MODE, ms.STRICT, ms.LAX) == (0, 1, 0, 2)


@pytest.mark.parametrize(
    ("key", "value", "kept"),
    [
        ("mode", 0, 0),
        ("mode", True, 1),
        ("device_target", "CPU", "CPU"),
        ("device_id", 4095, 4095),
        ("pynative_synchronize", True, True),
        ("save_graphs", True, 2),
        ("save_graphs", 3, 3),
        ("max_device_memory", "3.5GB", 3.5),
        ("memory_optimize_level", "O1", 1),
        ("deterministic", "ON", "ON"),
        ("jit_config", {"jit_level": "O0"}, {"jit_level": "O0"}),
        ("max_call_depth", 80, 80),
        ("runtime_num_threads", 3, 3),
        ("exec_order", "dfs", "dfs"),
        ("jit_syntax_level", ms.STRICT, 0),
        ("print_file_path", "print.pb", "print.pb"),
        ("ascend_config", {"precision_mode": "force_fp16"}, {"precision_mode": "force_fp16"}),
    ],
)
def test_values_are_given_back(key, value, kept):
    ms.set_context(**{key: value})
    assert ms.get_context(key) == kept


@pytest.mark.parametrize(
    ("key", "value", "error"),
    [
        ("mode", 5, ValueError),
        ("mode", "a", TypeError),
        ("device_target", "zz", ValueError),
        ("device_target", "cpu", ValueError),
        ("device_target", 3, TypeError),
        ("device_target", "GPU", RuntimeError),
        ("device_target", "Ascend", RuntimeError),
        ("device_id", -1, ValueError),
        ("device_id", 4096, ValueError),
        ("device_id", "a", TypeError),
        ("pynative_synchronize", 1, TypeError),
        ("save_graphs", 5, ValueError),
        ("save_graphs", "x", TypeError),
        ("save_graphs_path", 3, TypeError),
        ("max_call_depth", 0, ValueError),
        ("max_call_depth", "a", TypeError),
        ("runtime_num_threads", -1, ValueError),
        ("deterministic", "zz", ValueError),
        ("memory_optimize_level", "O9", ValueError),
        ("jit_syntax_level", 7, ValueError),
        ("debug_level", 7, ValueError),
        ("env_config_path", "./none.json", ValueError),
        ("jit_config", {"jit_level": "O9"}, ValueError),
        ("exec_order", "zz", ValueError),
        ("max_device_memory", "much", ValueError),
        ("max_device_memory", 3, TypeError),
        ("ascend_config", 3, TypeError),
    ],
)
def test_bad_values_are_refused_and_change_nothing(key, value, error):
    before = ms.get_context(key)
    with pytest.raises(error, match="For 'set_context'"):
        ms.set_context(**{key: value})
    assert ms.get_context(key) == before


def test_other_devices_are_refused_with_the_remedy():
    with pytest.raises(RuntimeError, match="dist_ms runs on CPUs; take the setting out or say 'CPU'"):
        ms.set_context(device_target="Ascend")


def test_nothing_is_set_when_one_value_is_wrong():
    with pytest.raises(ValueError, match="mode"):
        ms.set_context(device_id=7, mode=9)
    assert ms.get_context("device_id") == 0


@pytest.mark.parametrize("key", ["zzz", "grad_for_scalar", "enable_dump"])
def test_unknown_keys(key):
    with pytest.raises(ValueError, match=f"the keyword argument '{key}' is not recognized"):
        ms.set_context(**{key: 1})
    with pytest.raises(ValueError, match=f"the argument '{key}' is not recognized"):
        ms.get_context(key)


def test_a_key_is_a_str():
    with pytest.raises(TypeError):
        ms.get_context(3)


def test_dicts_are_given_out_as_copies():
    ms.get_context("ascend_config")["a"] = 1
    assert ms.get_context("ascend_config") == {}


def test_listeners_hear_of_new_values():
    heard = []
    context.listen("runtime_num_threads", heard.append)
    ms.set_context(runtime_num_threads=3, mode=0)
    assert heard == [3]


def test_set_device():
    ms.set_device("CPU", 1)
    device = ms.get_current_device()
    assert repr(device) == "('CPU', 1)"
    assert (device.device_target, device.device_id) == ("CPU", 1)
    ms.set_device("CPU")
    assert ms.get_current_device() == ("CPU", 0)


@pytest.mark.parametrize(
    ("args", "error"),
    [
        (("GPU",), RuntimeError),
        (("zz",), ValueError),
        ((3,), TypeError),
        (("CPU", -1), ValueError),
        (("CPU", "a"), TypeError),
    ],
)
def test_bad_devices(args, error):
    with pytest.raises(error):
        ms.set_device(*args)


def test_the_module_also_has_the_parallel_settings():
    assert ms.context.set_auto_parallel_context is ms.set_auto_parallel_context
    assert ms.context.ParallelMode.DATA_PARALLEL == "data_parallel"
