"""Keys, defaults, ranges and error types of the parallel and parameter-server settings."""

import pytest

import dist_ms as ms
from dist_ms.common.settings import parallel_context as context
from dist_ms.common.settings import ps_context
from dist_ms.common.settings.parallel_context import (
    ParallelMode,
    get_auto_parallel_context,
    get_ps_context,
    reset_auto_parallel_context,
    reset_ps_context,
    set_auto_parallel_context,
    set_ps_context,
)


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.setattr(context, "_values", {})
    monkeypatch.setattr(ps_context, "_values", {})


AUTO = {"mode": "auto", "config": None}
DEFAULTS = {
    "device_num": 1,
    "global_rank": 0,
    "gradients_mean": False,
    "gradient_fp32_sync": True,
    "loss_repeated_mean": True,
    "parallel_mode": "stand_alone",
    "parameter_broadcast": False,
    "all_reduce_fusion_config": [],
    "comm_fusion": {"openstate": True, "allreduce": AUTO, "allgather": AUTO, "reducescatter": AUTO},
    "full_batch": False,
    "full_batch_is_set": False,
    "dataset_strategy": "data_parallel",
    "enable_parallel_optimizer": False,
    "force_fp32_communication": False,
    "communi_parallel_mode": "all_group_parallel",
    "search_mode": "recursive_programming",
    "auto_parallel_search_mode": "recursive_programming",
    "pipeline_stages": 1,
    "pipeline_interleave": False,
    "pipeline_scheduler": "1f1b",
    "grad_accumulation_step": 1,
    "optimizer_weight_shard_size": -1,
    "strategy_ckpt_load_file": "",
    "init_param_in_compile": True,
    "enable_alltoall": False,
}


@pytest.mark.parametrize("key", DEFAULTS)
def test_defaults(key):
    assert get_auto_parallel_context(key) == DEFAULTS[key]


def test_modes():
    assert ParallelMode.MODE_LIST == [
        "stand_alone",
        "data_parallel",
        "hybrid_parallel",
        "semi_auto_parallel",
        "auto_parallel",
    ]
    for mode in ParallelMode.MODE_LIST:
        set_auto_parallel_context(parallel_mode=mode)
        assert get_auto_parallel_context("parallel_mode") == mode


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("device_num", 4097),
        ("global_rank", 4095),
        ("gradients_mean", True),
        ("parameter_broadcast", True),
        ("all_reduce_fusion_config", [0, 3, 8]),
        ("full_batch", True),
        ("dataset_strategy", "full_batch"),
        ("gradient_fp32_sync", False),
        ("loss_repeated_mean", False),
        ("force_fp32_communication", True),
    ],
)
def test_what_is_set_is_got_and_reset(key, value):
    default = get_auto_parallel_context(key)
    assert not context.is_set(key)
    set_auto_parallel_context(**{key: value})
    assert get_auto_parallel_context(key) == value and context.is_set(key)
    reset_auto_parallel_context()
    assert get_auto_parallel_context(key) == default and not context.is_set(key)


@pytest.mark.parametrize(
    ("key", "value", "error"),
    [
        ("device_num", 0, ValueError),
        ("device_num", -1, ValueError),
        ("device_num", "8", TypeError),
        ("device_num", 1.0, TypeError),
        ("device_num", None, TypeError),
        ("global_rank", -1, ValueError),
        ("global_rank", 4096, ValueError),
        ("global_rank", "0", TypeError),
        ("gradients_mean", 1, TypeError),
        ("gradients_mean", "True", TypeError),
        ("parameter_broadcast", 0, TypeError),
        ("parallel_mode", "DATA_PARALLEL", ValueError),
        ("parallel_mode", "", ValueError),
        ("parallel_mode", None, TypeError),
        ("parallel_mode", 1, TypeError),
        ("all_reduce_fusion_config", (1, 2), TypeError),
        ("all_reduce_fusion_config", [], ValueError),
        ("all_reduce_fusion_config", [2, 1], ValueError),
        ("all_reduce_fusion_config", [1, 1], ValueError),
        ("all_reduce_fusion_config", [1, "a"], TypeError),
        ("all_reduce_fusion_config", [True], TypeError),
        ("all_reduce_fusion_config", [-1], TypeError),
        ("comm_fusion", "auto", TypeError),
        ("comm_fusion", {"openstate": 1}, TypeError),
        ("comm_fusion", {"zz": 1}, KeyError),
        ("comm_fusion", {"allreduce": 3}, TypeError),
        ("comm_fusion", {"allreduce": {"mode": "size"}}, KeyError),
        ("comm_fusion", {"allreduce": {"mode": "q", "config": 1}}, KeyError),
        ("comm_fusion", {"allreduce": {"mode": "size", "config": -1}}, ValueError),
        ("comm_fusion", {"allreduce": {"mode": "size", "config": 1.5}}, TypeError),
        ("comm_fusion", {"allreduce": {"mode": "index", "config": [2, 1]}}, ValueError),
        ("comm_fusion", {"allreduce": {"mode": "index", "config": None}}, ValueError),
        ("comm_fusion", {"allgather": {"mode": "index", "config": [1]}}, KeyError),
        ("communi_parallel_mode", "x", ValueError),
        ("communi_parallel_mode", None, TypeError),
        ("search_mode", "x", ValueError),
        ("dataset_strategy", "x", ValueError),
        ("dataset_strategy", [(1,)], TypeError),
        ("enable_parallel_optimizer", 1, TypeError),
        ("pipeline_stages", 0, ValueError),
        ("pipeline_stages", "1", TypeError),
        ("grad_accumulation_step", 0, ValueError),
        ("grad_accumulation_step", 4, ValueError),
        ("parallel_optimizer_config", {"zz": 1}, ValueError),
        ("parallel_optimizer_config", {"optimizer_weight_shard_size": 0}, ValueError),
        ("parallel_optimizer_config", {"optimizer_level": "x"}, ValueError),
        ("parallel_optimizer_config", {"parallel_optimizer_threshold": -1}, ValueError),
        ("parallel_optimizer_config", {"parallel_optimizer_threshold": "a"}, TypeError),
        ("parallel_optimizer_config", {"gradient_accumulation_shard": 1}, TypeError),
        ("parallel_optimizer_config", {"gradient_accumulation_shard": True}, ValueError),
        ("parallel_optimizer_config", {"optimizer_level": "level3"}, ValueError),
        ("strategy_ckpt_config", {"zz": 1}, ValueError),
        ("strategy_ckpt_config", {"load_file": 1}, TypeError),
        ("zz", 1, ValueError),
    ],
)
def test_wrong_values(key, value, error):
    with pytest.raises(error):
        set_auto_parallel_context(**{key: value})
    assert not context.is_set(key)


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("pipeline_stages", 2, "pipeline parallelism is not part"),
        ("pipeline_config", {"pipeline_interleave": True}, "pipeline parallelism is not part"),
        ("auto_pipeline", True, "pipeline parallelism is not part"),
        ("search_mode", "dynamic_programming", "which trains data-parallel"),
        ("enable_alltoall", True, "which trains data-parallel"),
        ("strategy_ckpt_load_file", "a.ckpt", "which trains data-parallel"),
        ("strategy_ckpt_config", {"save_file": "a.ckpt"}, "which trains data-parallel"),
        ("dataset_strategy", ((2, 1),), "which trains data-parallel"),
        ("communi_parallel_mode", "no_group_parallel", "which trains data-parallel"),
        ("optimizer_weight_shard_size", 4, "divides its update among all ranks"),
        ("optimizer_weight_shard_aggregated_save", True, "divides its update among all ranks"),
        ("dump_local_norm", True, "not part of dist_ms"),
    ],
)
def test_what_dist_ms_does_not_do_is_refused(key, value, why):
    with pytest.raises(ValueError, match=f"'{key}' must .*but got .*{why}"):
        set_auto_parallel_context(**{key: value})


def test_defaults_of_refused_keys_are_accepted():
    for key, setting in context._KEYS.items():
        if setting.refused:
            set_auto_parallel_context(**{key: setting.default})


def test_nothing_is_set_when_one_value_is_wrong():
    with pytest.raises(ValueError, match="keyword zz is not recognized"):
        set_auto_parallel_context(device_num=8, zz=1)
    with pytest.raises(TypeError):
        set_auto_parallel_context(device_num=8, gradients_mean=1)
    assert get_auto_parallel_context("device_num") == 1
    with pytest.raises(TypeError):
        set_auto_parallel_context(1)


@pytest.mark.parametrize(
    "call, meant",
    [
        (lambda: set_auto_parallel_context(gradient_mean=True), "gradients_mean"),
        (lambda: get_auto_parallel_context("paralel_mode"), "parallel_mode"),
        (lambda: ms.set_ps_context(enable_pss=True), "enable_ps"),
        (lambda: ms.set_context(device_targt="CPU"), "device_target"),
    ],
)
def test_a_misspelt_key_is_told_from_the_right_one(call, meant):
    with pytest.raises(ValueError, match=f"is not recognized.*Did you mean '{meant}'"):
        call()


@pytest.mark.parametrize("key", ["zz", 3, "parallel_optimizer_config", "pipeline_segments"])
def test_unknown_keys_cannot_be_got(key):
    with pytest.raises(ValueError, match="is not recognized"):
        get_auto_parallel_context(key)


def test_comm_fusion_merges_and_sets_the_indices():
    set_auto_parallel_context(comm_fusion={"allgather": {"mode": "size", "config": 8}})
    set_auto_parallel_context(comm_fusion={"allreduce": {"mode": "index", "config": [1, 2]}})
    found = get_auto_parallel_context("comm_fusion")
    assert found["allgather"] == {"mode": "size", "config": 8}
    assert found["allreduce"] == {"mode": "index", "config": [1, 2]}
    assert get_auto_parallel_context("all_reduce_fusion_config") == [1, 2]


def test_full_batch_and_dataset_strategy_go_together():
    set_auto_parallel_context(dataset_strategy="full_batch")
    assert get_auto_parallel_context("full_batch")
    set_auto_parallel_context(dataset_strategy="data_parallel")
    assert not get_auto_parallel_context("full_batch")
    set_auto_parallel_context(full_batch=True)
    assert get_auto_parallel_context("dataset_strategy") == "full_batch"


def test_got_values_are_copies():
    get_auto_parallel_context("comm_fusion")["allreduce"]["mode"] = "size"
    indices = [1]
    set_auto_parallel_context(all_reduce_fusion_config=indices)
    indices.append(2)
    get_auto_parallel_context("all_reduce_fusion_config").append(3)
    assert get_auto_parallel_context("all_reduce_fusion_config") == [1]
    assert get_auto_parallel_context("comm_fusion")["allreduce"] == AUTO


PS_DEFAULTS = {
    "enable_ps": False,
    "config_file_path": "",
    "scheduler_manage_port": 11202,
    "enable_ssl": False,
    "server_mode": "",
    "ms_role": "MS_NOT_PS",
    "worker_num": 0,
    "server_num": 0,
    "scheduler_ip": "127.0.0.1",
    "scheduler_port": 6667,
}


@pytest.mark.parametrize("key", PS_DEFAULTS)
def test_server_defaults(key):
    assert get_ps_context(key) == PS_DEFAULTS[key]


@pytest.mark.parametrize(
    ("key", "value", "error"),
    [
        ("enable_ps", 1, TypeError),
        ("enable_ssl", "yes", TypeError),
        ("config_file_path", 1, TypeError),
        ("client_password", 1, TypeError),
        ("scheduler_manage_port", 70000, ValueError),
        ("scheduler_port", -1, ValueError),
        ("scheduler_port", "80", TypeError),
        ("ms_role", "x", ValueError),
        ("worker_num", -1, ValueError),
        ("zz", 1, ValueError),
    ],
)
def test_wrong_server_values(key, value, error):
    with pytest.raises(error):
        set_ps_context(enable_ssl=True, **{key: value}) if key != "enable_ssl" else set_ps_context(**{key: value})
    assert not get_ps_context("enable_ssl")


def test_reset_switches_servers_off_and_keeps_the_rest():
    set_ps_context(enable_ps=True, scheduler_port=80)
    assert get_ps_context("enable_ps")
    reset_ps_context()
    assert not get_ps_context("enable_ps") and get_ps_context("scheduler_port") == 80


def test_passwords_cannot_be_read_and_do_not_show():
    set_ps_context(client_password="secret")
    with pytest.raises(ValueError, match="is not recognized"):
        get_ps_context("client_password")
    with pytest.raises(TypeError) as caught:
        set_ps_context(server_password=b"secret")
    assert "secret" not in str(caught.value)
