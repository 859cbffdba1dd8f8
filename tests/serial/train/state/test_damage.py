"""Damaged states: an error that says what, never a wrong value; nothing outside of the folder is read."""

import contextlib
import io
import json
import os
import random
import shutil

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn
from dist_ms.train.state.__main__ import main
from dist_ms.train.state.folder import Folder
from dist_ms.train.state.manifest import _crc32


def make(folder):
    net = nn.Dense(3, 2)
    optimizer = nn.Adam(net.trainable_params())
    ms.train.save_run(str(folder), step=1, net=net, optimizer=optimizer, extra=[ms.Generator()])
    return net, optimizer


def mutate(path, draw):
    """Change a file: bytes, its length, its JSON, what kind of file it is, or its presence."""
    content = bytearray(path.read_bytes())
    kind = draw.randrange(7)
    if kind == 0:
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    elif kind == 1:
        del content[draw.randrange(len(content)) :]
    elif kind == 2:
        content[draw.randrange(len(content)) :] += bytes(draw.randrange(256) for _ in range(9))
    elif kind == 3:
        content += b"\0" * 8
    elif kind == 4:
        path.unlink()
        return
    elif kind == 5:
        path.unlink()
        other = draw.choice(["folder", "pipe", "/etc/passwd", "nowhere", ".", "..", "/dev/zero"])
        if other == "pipe":
            os.mkfifo(path)
        elif other == "folder":
            path.mkdir()
        else:
            path.symlink_to(other)
        return
    elif path.suffix == ".json":
        found = json.loads(content)
        replace_one(found["run"], draw)
        found["crc32"] = _crc32(found["run"])  # right again: what only a look at the entries can tell
        content = bytearray(json.dumps(found).encode())
    elif draw.random() < 0.8:
        length = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + length])
        replace_one(header, draw)
        text = json.dumps(header).encode()
        content[: 8 + length] = len(text).to_bytes(8, "little") + text
    else:
        content[: draw.randrange(1, 64)] = b""
    path.chmod(0o600)
    path.write_bytes(content)


STRANGE = [
    *(-1, 0, 1, 2**31, 2**63, 2**70, 1.5, 1e308, float("nan"), None, True, "", "..", "../../etc/passwd", "/etc/passwd"),
    *(
        [],
        {},
        [[]],
        "a\0b",
        "F32",
        "I64",
        [0, 8],
        [2**62, 2**62],
        {"$tuple": 1},
        {"$array": ".."},
        {"$pairs": [[[], 1]]},
    ),
]


def replace_one(tree, draw):
    """Replace, rename or remove one entry of nested lists and dicts."""
    places = []

    def walk(value):
        for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
            places.append((value, key))
            walk(value[key])

    walk(tree)
    holder, key = draw.choice(places)
    how = draw.randrange(6)
    if how == 0:
        del holder[key]
    elif how == 1 and isinstance(holder, dict):
        holder[draw.choice(["", "..", "../x", "$array", key + "x"])] = holder.pop(key)
    elif how == 2:
        nested = draw.choice([50, 5000])
        holder[key] = json.loads("[" * 50 + "]" * 50) if nested == 50 else json.dumps([holder[key]] * 9)
    else:
        holder[key] = draw.choice(STRANGE)


def test_mutated_states_raise_or_load_the_same(tmp_path):
    whole = tmp_path / "whole"
    net, optimizer = make(whole)
    wanted = {p.name: p.asnumpy().copy() for p in optimizer.get_parameters()}
    draw, refused, loaded = random.Random(1), 0, 0
    for number in range(int(os.environ.get("DIST_MS_TEST_MUTATIONS", "400"))):
        folder = tmp_path / "mutated"
        shutil.copytree(whole, folder)
        mutate(draw.choice(sorted((folder / "step-00000001").iterdir())), draw)
        for parameter in optimizer.get_parameters():
            parameter.set_data(ms.Tensor(np.full(parameter.shape, 7, parameter.dtype.np)))
        try:
            facts = ms.train.load_run(str(folder), net=net, optimizer=optimizer, extra=[ms.Generator()])
        except ValueError as error:
            assert str(error)
            refused += 1
        else:
            assert facts is not None
            loaded += 1
            for parameter in optimizer.get_parameters():
                np.testing.assert_array_equal(parameter.asnumpy(), wanted[parameter.name], err_msg=str(number))
        for words in (["ls"], ["verify"], ["export"], ["diff"])[number % 4 :][:1]:
            words += [str(folder), *{"export": [str(tmp_path / "out.ckpt")], "diff": [str(whole)]}.get(words[0], [])]
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                assert main(words) in (0, 1, 2)
        shutil.rmtree(folder)
    assert refused > loaded > 10
    assert {path.name for path in tmp_path.iterdir()} <= {"whole", "out.ckpt"}


def test_a_damaged_state_is_passed_over_with_a_warning(tmp_path, caplog):
    net, optimizer = make(tmp_path)
    ms.train.save_run(str(tmp_path), step=2, net=net, optimizer=optimizer)
    (tmp_path / "step-00000002" / "manifest.json").unlink()
    assert ms.train.load_run(str(tmp_path), net=net)["step"] == 1
    assert "step 2" in caplog.text and "passed over" in caplog.text


def test_a_run_that_trains_otherwise_is_told(tmp_path, caplog):
    nets = [nn.Dense(3, 2), nn.Dense(3, 2)]  # with the same names
    ms.train.save_run(str(tmp_path), step=1, nets=nets)
    ms.train.load_run(str(tmp_path), nets=nets)
    assert caplog.text == ""
    nets[1].weight.requires_grad = False
    ms.train.load_run(str(tmp_path), nets=nets)
    assert "requires_grad" in caplog.text and "will not go on as the saved one" in caplog.text


def test_all_damaged_is_an_error(tmp_path):
    net, optimizer = make(tmp_path)
    next((tmp_path / "step-00000001").glob("*.safetensors")).unlink()
    with pytest.raises(ValueError, match="all in .* are damaged"):
        ms.train.load_run(str(tmp_path), net=net, optimizer=optimizer)


def test_a_generator_that_does_not_take_its_state_is_named(tmp_path):
    class Other:
        def state_dict(self):
            return {}

        def load_state_dict(self, state):
            pass

    ms.train.save_run(str(tmp_path), step=1, noise=Other())
    with pytest.raises(ValueError, match="'noise' does not take its state"):
        ms.train.load_run(str(tmp_path), noise=ms.Generator())


@pytest.mark.parametrize("created", [["today"], None])
def test_facts_of_another_kind_are_listed(tmp_path, capsys, created):
    make(tmp_path)
    path = tmp_path / "step-00000001" / "manifest.json"
    found = json.loads(path.read_text())
    found["run"]["facts"]["created"] = created
    if created is None:
        del found["run"]["facts"]["created"]
    found["crc32"] = _crc32(found["run"])
    path.write_text(json.dumps(found))
    (tmp_path / "best.json").write_text('{"step": 1, "value": 0.5}')
    assert main(["ls", str(tmp_path)]) == 0
    assert "best : 0.5" in capsys.readouterr().out


def test_what_an_earlier_job_left_is_swept(tmp_path):
    net, _ = make(tmp_path)
    (tmp_path / ".step-00000009.partial").mkdir()
    assert Folder(str(tmp_path)).steps() == [1]
    ms.train.save_run(str(tmp_path), step=2, net=net)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["step-00000001", "step-00000002"]


@pytest.mark.parametrize("last", ["first rename", "second rename"])
def test_a_kill_while_a_state_is_replaced_leaves_one_of_both(tmp_path, monkeypatch, last):
    """Also where it is the only one."""
    net, optimizer = make(tmp_path)
    bias, rename, calls = float(net.bias[0]), os.rename, []

    def renamed(*names):
        if last == "first rename" and calls:
            raise KeyboardInterrupt
        calls.append(names)
        rename(*names)

    def removed(path, **_):
        if os.path.exists(path):
            raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(os, "rename", renamed)
        patch.setattr(shutil, "rmtree", removed)
        net.bias.set_data(ms.Tensor(np.full(2, 5, np.float32)))
        ms.train.save_run(str(tmp_path), step=1, net=net, optimizer=optimizer, keep=1)
    folder = Folder(str(tmp_path))
    assert folder.steps() == [1] and folder.verify(1).step == 1
    assert ms.train.load_run(str(tmp_path), net=net, optimizer=optimizer)["step"] == 1
    assert net.bias.asnumpy()[0] == (np.float32(bias) if last == "first rename" else 5)
    ms.train.save_run(str(tmp_path), step=2, net=net, optimizer=optimizer)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["step-00000001", "step-00000002"]


def test_bad_objects(tmp_path):
    with pytest.raises(TypeError, match="state_dict"):
        ms.train.save_run(str(tmp_path), step=1, net=3)
    twice = nn.SequentialCell(nn.Dense(1, 1), nn.Dense(1, 1))
    twice[1].weight.name = twice[0].weight.name
    with pytest.raises(ValueError, match="names of their own"):
        ms.train.save_run(str(tmp_path), step=1, net=twice)
    with pytest.raises(FileNotFoundError, match="one of"):
        ms.train.load_run(str(tmp_path), step=3, net=nn.Dense(1, 1))
    with pytest.raises(OSError):
        ms.train.save_run("/proc/nowhere", step=1, net=nn.Dense(1, 1))
