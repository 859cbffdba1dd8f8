"""Debug hooks, and lines by number."""

import numpy as np
import pytest

import dist_ms.dataset as ds
from dist_ms.dataset.debug import DebugHook, PrintDataHook, PrintMetaDataHook


@pytest.fixture
def debug():
    yield lambda *hooks: ds.config.set_debug_mode(True, list(hooks))
    ds.config.set_debug_mode(False)


def test_hooks_see_what_goes_in_and_comes_out(debug, capsys):
    debug(PrintDataHook(), PrintMetaDataHook())

    def double(x):
        return x * 2

    data = ds.NumpySlicesDataset([1.0, -3.0], shuffle=False).map([abs, double])
    assert [float(x) for (x,) in data.create_tuple_iterator(output_numpy=True)] == [2.0, 6.0]
    head = "[Dataset debugger] Print the [{}] of the operation [{}]."
    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == [
        head.format("INPUT", "abs"),
        "Column 0. The data is [1.0].",
        head.format("INPUT", "abs"),
        "Column 0. The dtype is [float64]. The shape is [()].",
    ]
    assert (
        lines[9] == "Column 0. The data is [2.0]." and lines[8] == head.format("OUTPUT", "double") and len(lines) == 24
    )


def test_in_debug_mode_the_caller_does_it_all(debug):
    import threading

    debug()
    threads = set()
    data = ds.NumpySlicesDataset(list(range(20))).map(lambda x: threads.add(threading.get_ident()) or x)
    list(data.create_tuple_iterator(num_epochs=1))
    assert threads == {threading.get_ident()}


def test_hooks_that_are_refused():
    with pytest.raises(TypeError, match="debug_hook_list"):
        ds.config.set_debug_mode(True, [3])
    with pytest.raises(TypeError, match="debug_mode_flag"):
        ds.config.set_debug_mode(1)
    with pytest.raises(NotImplementedError, match="compute"):
        DebugHook().compute(np.ones(1))


@pytest.mark.parametrize("text", ["", "a", "a\n", "a\nbb\n\nccc", "é\r\nü\n", "\n\n"])
def test_lines(tmp_path, text):
    path = tmp_path / "lines.txt"
    path.write_bytes(text.encode())
    reader = ds.LineReader(str(path))
    assert [reader.readline(i + 1) for i in range(reader.len())] == text.replace("\r", "").splitlines()
    for wrong, error in ((0, ValueError), (reader.len() + 1, ValueError), ("1", TypeError)):
        with pytest.raises(error, match="'line'"):
            reader.readline(wrong)
    reader.close()


def test_files_that_are_refused(tmp_path):
    with pytest.raises(TypeError, match="'filename'"):
        ds.LineReader(3)
    with pytest.raises(RuntimeError, match="nowhere"):
        ds.LineReader(str(tmp_path / "nowhere"))


def test_waiting_is_told_and_switched_off():
    data = ds.NumpySlicesDataset(list(range(5)), shuffle=False)
    assert not data.is_sync()
    waiting = data.sync_wait("step").batch(1)
    assert waiting.is_sync() and not data.is_sync()
    waiting.disable_sync()
    assert [int(x[0]) for (x,) in waiting.create_tuple_iterator(num_epochs=1, output_numpy=True)] == list(range(5))


def test_settings_have_mindspores_other_path():
    from dist_ms.dataset.core import config

    assert config.set_prefetch_size is ds.config.set_prefetch_size and set(ds.config.__all__) <= set(dir(config))


def test_facts_of_several_datasets():
    one, two = ds.NumpySlicesDataset([1, 2], ["a"]), ds.NumpySlicesDataset([1, 2], ["b"])
    assert ds.zip((one.batch(2), two.repeat(3))).get_batch_size() == 1
    assert ds.zip((one.batch(2), two.repeat(3))).get_repeat_count() == 3
    assert one.repeat(2).map(abs, "a").repeat(3).get_repeat_count() == 3
    assert one.repeat(2).repeat(1).get_repeat_count() == 2
