"""ModelCheckpoint and CheckpointConfig: when files are written, their names, which are kept."""

import os
import time

import numpy as np
import pytest

import dist_ms as ms
from dist_ms.train import Callback, CheckpointConfig, ModelCheckpoint, load_checkpoint
from dist_ms.train.callback import CallbackParameters, RunContext, _CheckpointManager, model_checkpoint
from tests.serial.train.model_cases import batches, model, network


def run(folder, config=None, epochs=3, callbacks=(), **kwargs):
    """Train on 2 batches per epoch; return the checkpoint callback and the files."""
    saver = ModelCheckpoint("s", str(folder), config, **kwargs)
    model().train(epochs, batches(), callbacks=[*callbacks, saver])
    return saver, sorted(os.listdir(folder))


class Stop(Callback):
    def on_train_step_end(self, run_context):
        if run_context.original_args().cur_step_num == 3:
            run_context.request_stop()


def test_files_are_named_by_epoch_and_step(tmp_path):
    saver, files = run(tmp_path)
    assert files == ["s-1_2.ckpt", "s-2_1.ckpt", "s-2_2.ckpt", "s-3_1.ckpt", "s-3_2.ckpt"]  # the newest 5 of 6
    assert saver.latest_ckpt_file_name == str(tmp_path / "s-3_2.ckpt")


def test_the_last_step_is_saved_whatever_the_interval(tmp_path):
    assert run(tmp_path, CheckpointConfig(2), callbacks=[Stop()])[1] == ["s-1_2.ckpt", "s-2_1.ckpt"]
    assert run(tmp_path / "b", CheckpointConfig(100))[1] == ["s-3_2.ckpt"]


def test_another_run_in_the_folder_gets_another_prefix(tmp_path):
    run(tmp_path, CheckpointConfig(6))
    assert run(tmp_path, CheckpointConfig(6))[1] == ["s-3_2.ckpt", "s_1-3_2.ckpt"]
    assert run(tmp_path, CheckpointConfig(6, format="safetensors"))[1][-1] == "s_2-3_2.safetensors"


def test_a_file_holds_network_and_optimizer(tmp_path):
    run(tmp_path, CheckpointConfig(1, append_info=["epoch_num", "step_num", {"note": "a", "rate": 0.5}]))
    loaded = load_checkpoint(str(tmp_path / "s-2_1.ckpt"))
    assert list(loaded) == [
        "weight", "bias", "global_step", "learning_rate", "momentum", "accum.weight", "accum.bias", "stat.weight",
        "stat.bias", "epoch_num", "step_num", "note", "rate",
    ]  # fmt: skip
    assert [int(loaded[name].asnumpy().item()) for name in ("global_step", "epoch_num", "step_num")] == [3, 2, 3]
    assert loaded["note"] == "a"


def test_appended_numbers_count_on(tmp_path):
    config = CheckpointConfig(6, append_info=["epoch_num", "step_num", {"epoch_num": 10, "step_num": 100}])
    run(tmp_path, config)
    loaded = load_checkpoint(str(tmp_path / "s-3_2.ckpt"))
    assert (int(loaded["epoch_num"].asnumpy()), int(loaded["step_num"].asnumpy())) == (13, 106)


def test_another_network_can_be_saved(tmp_path):
    other = network()
    run(tmp_path, CheckpointConfig(6, saved_network=other))
    assert list(load_checkpoint(str(tmp_path / "s-3_2.ckpt"))) == ["weight", "bias"]


def test_prefix_and_folder_can_be_functions(tmp_path):
    saver = ModelCheckpoint(
        lambda run: f"f{run.cur_step_num}",
        lambda run: str(tmp_path / f"d{run.cur_epoch_num}"),
        CheckpointConfig(1, keep_checkpoint_max=1),
    )
    model().train(2, batches(), callbacks=saver)
    assert sorted(p.name for p in tmp_path.glob("*/*")) == ["f1.ckpt", "f2.ckpt", "f3.ckpt", "f4.ckpt"]
    with pytest.raises(ValueError, match="prefix"):
        model().train(1, batches(), callbacks=ModelCheckpoint(lambda run: "a/b", str(tmp_path)))


def test_saving_by_seconds(tmp_path, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(model_checkpoint.time, "time", lambda: now[0])

    class Slow(Callback):
        def on_train_step_begin(self, run_context):
            now[0] += 4

    config = CheckpointConfig(0, 10, keep_checkpoint_max=9)
    # 12 seconds have passed after step 3 and again after step 6.
    assert run(tmp_path, config, callbacks=[Slow()])[1] == ["s-2_1.ckpt", "s-3_2.ckpt"]


def test_the_new_file_is_written_before_the_oldest_is_deleted(tmp_path, monkeypatch):
    present = []
    save = model_checkpoint.save_checkpoint

    def watched(network, path, *args, **kwargs):
        save(network, path, *args, **kwargs)
        present.append(sorted(os.listdir(tmp_path)))

    monkeypatch.setattr(model_checkpoint, "save_checkpoint", watched)
    run(tmp_path, CheckpointConfig(1, keep_checkpoint_max=1), epochs=1)
    assert present == [["s-1_1.ckpt"], ["s-1_1.ckpt", "s-1_2.ckpt"]]
    assert os.listdir(tmp_path) == ["s-1_2.ckpt"]


def test_a_save_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    saver = ModelCheckpoint("s", str(tmp_path), CheckpointConfig(1, keep_checkpoint_max=1))
    monkeypatch.setattr("dist_ms.common.atomic_file.os.fsync", _fail_at_call(2))
    with pytest.raises(OSError, match="disk full"):
        model().train(1, batches(), callbacks=saver)
    assert os.listdir(tmp_path) == ["s-1_1.ckpt"]
    assert load_checkpoint(str(tmp_path / "s-1_1.ckpt"))


def _fail_at_call(number):
    calls, fsync = [0], os.fsync

    def call(descriptor):
        calls[0] += os.path.isfile(f"/proc/self/fd/{descriptor}")  # folders do not count
        if calls[0] == number:
            raise OSError("disk full")
        fsync(descriptor)

    return call


def test_one_file_of_the_last_minutes_is_kept(tmp_path):
    config = CheckpointConfig(1, keep_checkpoint_max=0, keep_checkpoint_per_n_minutes=10)
    saver = ModelCheckpoint("s", str(tmp_path), config)
    facts = CallbackParameters(train_network=network(), batch_num=9, cur_epoch_num=1)
    for number, age in ((1, 30), (2, 8), (3, 4), (4, 2), (5, 0)):
        facts.cur_step_num = number
        saver.step_end(RunContext(facts))
        path = tmp_path / f"s-1_{number}.ckpt"
        then = time.time() - age * 60
        os.utime(path, (then, then))
    # 1 is old; of 2, 3 and 4, minutes old, the oldest stays; 5 is the newest.
    assert sorted(os.listdir(tmp_path)) == ["s-1_1.ckpt", "s-1_2.ckpt", "s-1_5.ckpt"]


@pytest.mark.parametrize("method", [True, "process"])
def test_saving_in_the_background_keeps_whole_files(tmp_path, method):
    _, files = run(tmp_path, CheckpointConfig(2, keep_checkpoint_max=1, async_save=method), epochs=2)
    assert files == ["s-2_2.ckpt"]
    assert int(load_checkpoint(str(tmp_path / files[0]))["global_step"].asnumpy()[0]) == 4


class Boom(Callback):
    def on_train_step_end(self, run_context):
        if run_context.original_args().cur_step_num == 3:
            raise KeyboardInterrupt


def test_an_exception_saves_a_breakpoint(tmp_path):
    for files in (["s-1_1", "s-1_2", "s-2_1_breakpoint"], ["s_1-1_1", "s_1-1_2", "s_1-2_1_breakpoint"]):
        config = CheckpointConfig(exception_save=True, append_info=["epoch_num", "step_num"])
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path, config, callbacks=[Boom()])
        assert {f"{name}.ckpt" for name in files} <= set(os.listdir(tmp_path))
    loaded = load_checkpoint(str(tmp_path / "s_1-2_1_breakpoint.ckpt"))
    assert (int(loaded["epoch_num"].asnumpy()), int(loaded["global_step"].asnumpy()[0])) == (2, 3)


def test_no_breakpoint_without_exception_save(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, callbacks=[Boom()])
    assert sorted(os.listdir(tmp_path)) == ["s-1_1.ckpt", "s-1_2.ckpt"]


def test_encrypted_files(tmp_path):
    key = b"0123456789abcdef"
    run(tmp_path, CheckpointConfig(6, enc_key=key))
    with pytest.raises(ValueError, match=r"encrypt|decrypt|key"):
        load_checkpoint(str(tmp_path / "s-3_2.ckpt"))
    assert load_checkpoint(str(tmp_path / "s-3_2.ckpt"), dec_key=key)


def test_evaluation_saves_nothing(tmp_path):
    model(metrics={"loss"}).eval(batches(), callbacks=ModelCheckpoint("s", str(tmp_path)))
    assert os.listdir(tmp_path) == []


def test_a_subclass_may_call_the_old_names(tmp_path):
    class Every(ModelCheckpoint):
        def step_end(self, run_context):
            if run_context.original_args().cur_step_num == 2:
                super().step_end(run_context)

    model().train(2, batches(), callbacks=Every("e", str(tmp_path)))
    assert sorted(os.listdir(tmp_path)) == ["e-1_2.ckpt", "e-2_2.ckpt"]


def test_a_second_run_with_the_same_callback_saves_again(tmp_path):
    saver = ModelCheckpoint("s", str(tmp_path))
    trained = model()
    for epochs in (1, 2):
        trained.train(epochs, batches(), callbacks=saver, initial_epoch=epochs - 1)
    assert sorted(os.listdir(tmp_path)) == ["s-1_1.ckpt", "s-1_2.ckpt", "s-2_1.ckpt", "s-2_2.ckpt"]


def test_redundancy_cannot_be_removed_alone(tmp_path):
    with pytest.raises(TypeError, match="nothing redundant"):
        run(tmp_path, CheckpointConfig(remove_redundancy=True))


def test_the_folder_is_private_and_files_are_read_only(tmp_path):
    run(tmp_path / "a" / "b", CheckpointConfig(6))
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "a" / "b" / "s-3_2.ckpt").stat().st_mode & 0o777 == 0o400


def test_checkpoint_manager(tmp_path):
    manager = _CheckpointManager()
    for name in ("a-1_1.ckpt", "a-1_2.ckpt", "ab-1_1.ckpt", "a-x_1.ckpt", "a-1_3.safetensors"):
        (tmp_path / name).touch()
    os.utime(tmp_path / "a-1_2.ckpt", (1, 1))
    manager.update_ckpoint_filelist(str(tmp_path), "a")
    assert sorted(map(os.path.basename, manager.ckpoint_filelist)) == ["a-1_1.ckpt", "a-1_2.ckpt"]
    manager.remove_oldest_ckpoint_file()
    assert (manager.ckpoint_num, (tmp_path / "a-1_2.ckpt").exists()) == (1, False)


def test_config_answers():
    config = CheckpointConfig(None, 5, 0, 3)
    assert config.get_checkpoint_policy() == {
        "save_checkpoint_steps": None,
        "save_checkpoint_seconds": 5,
        "keep_checkpoint_max": 0,
        "keep_checkpoint_per_n_minutes": 3,
        "saved_network": None,
    }
    both = CheckpointConfig(2, 5, 4, 3)
    assert (both.save_checkpoint_seconds, both.keep_checkpoint_per_n_minutes) == (None, None)
    assert CheckpointConfig(1, keep_checkpoint_max=0).keep_checkpoint_max == 1
    assert CheckpointConfig(append_info=[]).append_dict is None
    assert CheckpointConfig(append_info=[{"w": ms.Tensor([1])}, "step_num"]).append_dict.keys() == {"step_num", "w"}


WRONG = {
    "negative": (lambda: CheckpointConfig(-1), ValueError),
    "float": (lambda: CheckpointConfig(1.0), TypeError),
    "nothing": (lambda: CheckpointConfig(0, None, 0, None), ValueError),
    "network": (lambda: CheckpointConfig(saved_network=3), TypeError),
    "integrated": (lambda: CheckpointConfig(integrated_save=1), TypeError),
    "async type": (lambda: CheckpointConfig(async_save=1), TypeError),
    "async": (lambda: CheckpointConfig(async_save="x"), ValueError),
    "append type": (lambda: CheckpointConfig(append_info="a"), TypeError),
    "append name": (lambda: CheckpointConfig(append_info=["a"]), ValueError),
    "append item": (lambda: CheckpointConfig(append_info=[3]), TypeError),
    "append dicts": (lambda: CheckpointConfig(append_info=[{"a": 1}, {"b": 1}]), TypeError),
    "append value": (lambda: CheckpointConfig(append_info=[{"a": [1]}]), TypeError),
    "key": (lambda: CheckpointConfig(enc_key="a"), ValueError),
    "exception_save": (lambda: CheckpointConfig(exception_save=1), TypeError),
    "crc": (lambda: CheckpointConfig(crc_check=1), ValueError),
    "format": (lambda: CheckpointConfig(format="x"), ValueError),
    "safetensors": (lambda: CheckpointConfig(format="safetensors", crc_check=True), ValueError),
    "redundancy": (lambda: CheckpointConfig(remove_redundancy=1), ValueError),
    "keyword": (lambda: CheckpointConfig(foo=1), TypeError),
    "prefix": (lambda: ModelCheckpoint("a/b"), ValueError),
    "prefix type": (lambda: ModelCheckpoint(3), ValueError),
    "config": (lambda: ModelCheckpoint(config=3), TypeError),
    "directory": (lambda: ModelCheckpoint(directory=3), TypeError),
    "directory blank": (lambda: ModelCheckpoint(directory=" "), ValueError),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments(name):
    make, kind = WRONG[name]
    with pytest.raises(kind):
        make()


def test_the_values_are_those_of_the_step(tmp_path):
    weights = []

    class Keep(Callback):
        def on_train_step_end(self, run_context):
            weights.append(run_context.original_args().network.weight.asnumpy().copy())

    run(tmp_path, CheckpointConfig(1, keep_checkpoint_max=9), callbacks=[Keep()])
    for number, weight in enumerate(weights):
        file = tmp_path / f"s-{number // 2 + 1}_{number % 2 + 1}.ckpt"
        np.testing.assert_array_equal(load_checkpoint(str(file))["weight"].asnumpy(), weight)
