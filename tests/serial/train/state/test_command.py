"""`dist-ms ckpt`: what it prints of whole, damaged and different states."""

import pytest

import dist_ms as ms
from dist_ms import nn
from dist_ms.launch.main import main as launcher
from dist_ms.train.state.__main__ import main


@pytest.fixture
def folder(tmp_path):
    net = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
    for step in (1, 2):
        net.bias.set_data(ms.Tensor([float(step - 1)]))
        ms.train.save_run(str(tmp_path / "run"), step=step, epoch=step - 1, net=net)
    return tmp_path / "run"


def test_ls(folder, capsys):
    assert main(["ls", str(folder)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["step", "epoch", "ranks", "tensors", "bytes", "created"]
    assert lines[2].split()[:4] == ["2", "1", "1", "2"]


def test_verify(folder, capsys):
    assert main(["verify", str(folder)]) == 0
    assert "step 1: whole, 2 tensors" in capsys.readouterr().out
    path = next((folder / "step-00000001").glob("*.safetensors"))
    content = path.read_bytes()
    path.write_bytes(content[:-3] + bytes([content[-3] ^ 255]) + content[-2:])
    assert main(["verify", str(folder)]) == 1
    out = capsys.readouterr().out
    assert "step 1: damaged: " in out and "checksum differs" in out and "step 2: whole" in out


def test_diff(folder, capsys):
    assert main(["diff", str(folder / "step-00000001"), str(folder)]) == 1
    out = capsys.readouterr().out
    assert "net/bias: 1 of 1 elements differ, by 1 at most" in out and "1 tensors are equal, 1 differ" in out
    assert main(["diff", str(folder), str(folder)]) == 0


@pytest.mark.parametrize("ending", ["ckpt", "safetensors"])
def test_export(folder, tmp_path, capsys, ending):
    file = str(tmp_path / f"net.{ending}")
    assert main(["export", str(folder), file]) == 0
    found = ms.load_checkpoint(file, format=ending)
    assert {name: p.asnumpy().tolist() for name, p in found.items()} == {"weight": [[1.0, 1.0]], "bias": [1.0]}


def test_refusals(folder, tmp_path, capsys):
    for words in (
        ["ls", str(tmp_path)],
        ["export", str(folder), "net.txt"],
        ["export", str(folder), "net.ckpt", "--part", "other/"],
        ["export", str(folder), "net.ckpt", "--rank", "1"],
    ):
        assert main(words) == 2
        assert capsys.readouterr().err.startswith(f"dist-ms ckpt {words[0]}: ")


def test_the_launcher_has_it(folder, capfd):
    assert launcher(["ckpt", "verify", str(folder)]) == 0
    assert "step 2: whole" in capfd.readouterr().out
