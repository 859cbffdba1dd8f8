"""Asynchronous saves: a copy of the values, in order, whole at the end, errors raised."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from dist_ms.train import serialization
from dist_ms.train.checkpoint import background
from dist_ms.train.serialization import async_ckpt_thread_status, load_checkpoint, save_checkpoint
from tests.serial.train.checkpoint.checkpoint_cases import KEY, assert_same, parameter

METHODS = [True, "thread", "process"]


@pytest.fixture(autouse=True)
def in_tmp_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield
    background.finish()


@pytest.fixture
def gate(monkeypatch):
    """Let files be written only after the gate is opened."""
    gate = threading.Event()
    write_file = serialization.write_file

    def wait_and_write(*arguments):
        assert gate.wait(30)
        write_file(*arguments)

    monkeypatch.setattr(serialization, "write_file", wait_and_write)
    return gate


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "options",
    [{}, {"crc_check": True}, {"enc_key": KEY}, {"format": "safetensors", "crc_check": True}],
)
def test_the_file_is_the_same_as_without(method, options):
    values = np.arange(1000.0)
    save_checkpoint([parameter("w", values)], "a", async_save=method, append_dict={"s": "t"}, **options)
    file = f"a.{options.get('format', 'ckpt')}"
    reading = {k.replace("enc_", "dec_"): v for k, v in options.items()}
    loaded = load_checkpoint(file, **reading)
    assert_same(loaded["w"], values.astype(np.float32))
    assert loaded["s"] == "t"
    assert os.stat(file).st_mode & 0o777 == 0o400
    assert os.listdir() == [file]


def test_what_is_saved_is_what_the_values_were_at_the_call(gate):
    w = parameter("w", [1, 2])
    save_checkpoint([w], "a.ckpt", async_save=True)
    assert async_ckpt_thread_status() is True
    assert not os.path.exists("a.ckpt")
    w.asnumpy()[:] = 9
    gate.set()
    assert load_checkpoint("a.ckpt")["w"].asnumpy().tolist() == [1, 2]
    assert async_ckpt_thread_status() is False


def test_what_another_process_saves_is_what_the_values_were_at_the_call():
    w = parameter("w", [1, 2])
    save_checkpoint([w], "a.ckpt", async_save="process")
    w.asnumpy()[:] = 9
    assert load_checkpoint("a.ckpt")["w"].asnumpy().tolist() == [1, 2]


@pytest.mark.parametrize("method", [*METHODS, False])
def test_the_last_save_wins(method):
    for number in range(4):
        asynchronous = method if number == 3 else METHODS[number]
        save_checkpoint([parameter("w", [number])], "a.ckpt", async_save=asynchronous)
    assert load_checkpoint("a.ckpt")["w"].asnumpy().tolist() == [3]


def test_the_copy_of_the_values_is_dropped_after_the_save():
    save_checkpoint([parameter("w", [1])], "a.ckpt", async_save=True)
    background._running.thread.join()
    assert background._running._job is None


@pytest.mark.parametrize("method", METHODS)
def test_a_failure_is_logged_and_raised_by_the_next_call_once(method, caplog):
    os.mkdir("folder")
    save_checkpoint([parameter("w", [1])], "folder/a.ckpt")
    with pytest.raises(RuntimeError, match=r"background save of .*none/b.ckpt failed: .*b.ckpt"):
        save_checkpoint([parameter("w", [2])], "none/b.ckpt", async_save=method)
        load_checkpoint("folder/a.ckpt")
    assert "none/b.ckpt failed" in caplog.text
    assert load_checkpoint("folder/a.ckpt")["w"].asnumpy().tolist() == [1]


def test_a_process_that_cannot_start_is_a_failure(tmp_path, monkeypatch):
    (tmp_path / "dist_ms").mkdir()
    (tmp_path / "dist_ms" / "__init__.py").write_text("raise RuntimeError('broken')")
    monkeypatch.setattr(background, "_environment", lambda: {"PYTHONPATH": str(tmp_path)})
    with pytest.raises(RuntimeError, match="ended with status 1: RuntimeError: broken"):
        save_checkpoint([parameter("w", [1])], "a.ckpt", async_save="process")
        background.finish()


def test_a_load_in_a_thread_does_not_let_a_save_overtake_another(gate):
    save_checkpoint([parameter("w", [1])], "a.ckpt", async_save="thread")
    loading = serialization.load_checkpoint_async("a.ckpt")
    threading.Timer(0.1, gate.set).start()
    save_checkpoint([parameter("w", [2])], "a.ckpt", async_save="thread")
    assert load_checkpoint("a.ckpt")["w"].asnumpy().tolist() == [2]
    assert list(loading.result()) == ["w"]


def test_the_key_is_not_in_the_other_process_s_arguments(monkeypatch):
    started = []
    popen = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *a, **k: started.append((a, k)) or popen(*a, **k))
    save_checkpoint([parameter("w", [1])], "a.ckpt", async_save="process", enc_key=KEY)
    assert list(load_checkpoint("a.ckpt", dec_key=KEY)) == ["w"]
    assert len(started) == 1
    shown = repr(started)
    assert KEY.decode() not in shown and KEY.hex() not in shown


SCRIPT = """
import os, signal, sys
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.train.serialization import save_checkpoint
save_checkpoint([Parameter(Tensor([1.0] * 1000), name="w")], "a.ckpt", async_save=sys.argv[1])
if sys.argv[2] == "kill":
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("method", ["thread", "process"])
def test_the_interpreter_ends_after_the_save(method):
    subprocess.run([sys.executable, "-c", SCRIPT, method, "end"], check=True)
    assert load_checkpoint("a.ckpt")["w"].shape == (1000,)


def test_another_process_finishes_after_this_one_is_killed():
    import time

    subprocess.run([sys.executable, "-c", SCRIPT, "process", "kill"], check=False)
    deadline = time.monotonic() + 30
    while not os.path.exists("a.ckpt") and time.monotonic() < deadline:
        time.sleep(0.05)
    assert load_checkpoint("a.ckpt")["w"].shape == (1000,)
