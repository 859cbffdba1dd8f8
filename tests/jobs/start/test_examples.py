"""The examples run alone and on ranks, unedited, and print what their users read."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[3]
DIST_MS = Path(sys.executable).with_name("dist-ms")
ALONE = [sys.executable]
LAUNCHED = {n: [str(DIST_MS), "run", "-n", str(n)] for n in (1, 2, 3)}


def run(command, cwd, seconds=180):
    return subprocess.run(
        [str(c) for c in command], cwd=cwd, capture_output=True, text=True, timeout=seconds, check=False
    )


@pytest.mark.parametrize(
    "start, level",
    [(ALONE, "O0"), (LAUNCHED[2], "O0"), (LAUNCHED[3], "O0"), (LAUNCHED[2], "O2"), (LAUNCHED[2], "auto")],
    ids=["python", "2 ranks", "3 ranks", "2 ranks O2", "2 ranks auto"],
)
def test_train_digits(start, level, tmp_path):
    done = run([*start, ROOT / "examples/train_digits.py", "--epochs", 3, "--amp", level], tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.findall(r"^test accuracy (\d+\.\d+)% on (\d) rank\(s\)", done.stdout, re.M)
    assert len(found) == 1, done.stdout
    accuracy, ranks = found[0]
    assert float(accuracy) > 90 and int(ranks) == (1 if start is ALONE else int(start[-1]))
    assert (tmp_path / "digits.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert (tmp_path / "digits.ckpt").stat().st_size > 100_000
    assert len(re.findall(r"^epoch 3/3 ", done.stdout, re.M)) == 1  # one rank prints


def test_the_examples_are_short():
    assert len((ROOT / "examples/train_digits.py").read_text().splitlines()) < 80
    longer = {"wide_deep.py"}
    for example in (ROOT / "examples").glob("*.py"):
        assert len(example.read_text().splitlines()) < 120 or example.name in longer, example.name


@pytest.mark.parametrize("start", [ALONE, LAUNCHED[2]], ids=["python", "2 ranks"])
def test_vae(start, tmp_path):
    done = run([*start, ROOT / "examples/vae.py", "--epochs", 4], tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.findall(r"^test bound (\d+\.\d+) nats per image on (\d) rank\(s\); drew vae.png$", done.stdout, re.M)
    assert len(found) == 1 and float(found[0][0]) < 29 and found[0][1] == ("1" if start is ALONE else "2")
    assert (tmp_path / "vae.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize("start", [ALONE, LAUNCHED[2]], ids=["python", "2 ranks"])
def test_dcgan(start, tmp_path):
    done = run([*start, ROOT / "examples/dcgan.py", "--steps", 100, "--out", "drawn.png"], tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(re.findall(r"^step 100: the critic's loss is \d\.\d+, the painter's \d\.\d+$", done.stdout, re.M)) == 1
    shares = re.findall(r"^drawn of each digit, in %: ([\d ]+)$", done.stdout, re.M)
    assert len(shares) == 1 and 90 < sum(map(int, shares[0].split())) < 110
    found = re.findall(r"^(\d\.\d+) to the nearest scan \(1\.01 among scans\) on (\d) rank", done.stdout, re.M)
    # What a network that has learnt nothing draws is 3.7 away.
    assert len(found) == 1 and float(found[0][0]) < 2.9 and found[0][1] == ("1" if start is ALONE else "2")
    assert (tmp_path / "drawn.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize("start", [ALONE, LAUNCHED[2]], ids=["python", "2 ranks"])
def test_finetune_safetensors(start, tmp_path):
    for attempt in ("writes", "reads"):
        done = run([*start, ROOT / "examples/finetune_safetensors.py", "--checkpoint", "learnt"], tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        written = re.findall(r"^learnt scans \((\d+\.\d+)% of others told\) and wrote learnt$", done.stdout, re.M)
        assert len(written) == (attempt == "writes") and all(float(accuracy) > 90 for accuracy in written)
        found = re.findall(
            r"^test accuracy (\d+\.\d+)% fine-tuned, (\d+\.\d+)% from nothing, on (\d) rank", done.stdout, re.M
        )
        assert len(found) == 1 and found[0][2] == ("1" if start is ALONE else "2")
        tuned, fresh = map(float, found[0][:2])
        assert tuned > fresh + 5 and fresh > 50
    names = sorted(file.name for file in (tmp_path / "learnt").iterdir())
    assert names == [*(f"model-0000{i}-of-00002.safetensors" for i in (1, 2)), "model.safetensors.index.json"]


@pytest.mark.parametrize("start", [ALONE, LAUNCHED[2]], ids=["python", "2 ranks"])
def test_text_lstm(start, tmp_path):
    done = run([*start, ROOT / "examples/text_lstm.py", "--epochs", 5], tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    scores = [float(score) for score in re.findall(r"^  [a-z-]+ +F1 (\d\.\d\d)$", done.stdout, re.M)]
    assert len(scores) == 7 and np.mean(scores) > 0.4
    found = re.findall(
        r"^test accuracy (\d+\.\d+)% \((\d+\.\d+)% is the largest chapter\) on (\d) rank", done.stdout, re.M
    )
    assert len(found) == 1 and found[0][2] == ("1" if start is ALONE else "2")
    assert float(found[0][0]) > 2 * float(found[0][1])


@pytest.mark.parametrize("start", [ALONE, LAUNCHED[2]], ids=["python", "2 ranks"])
def test_hooks_and_bprop(start, tmp_path):
    done = run([*start, ROOT / "examples/hooks_and_bprop.py"], tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    norms = re.findall(r"^the gradients behind the signs had a norm of (\S+), and (\S+) in the end$", done.stdout, re.M)
    assert len(norms) == 1 and min(map(float, norms[0])) > 0
    found = re.findall(r"^test accuracy (\d+\.\d+)% on (\d) rank\(s\)", done.stdout, re.M)
    assert len(found) == 1 and float(found[0][0]) > 85 and found[0][1] == ("1" if start is ALONE else "2")


@pytest.mark.parametrize("start", [ALONE, LAUNCHED[2]], ids=["python", "2 ranks"])
def test_char_gpt(start, tmp_path):
    done = run([*start, ROOT / "examples/char_gpt.py", "--steps", 40, "--batch", 8, "--write", 20], tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    loss = re.findall(
        r"^test loss (\d\.\d+) nats per character on (\d) rank\(s\); the network writes:$", done.stdout, re.M
    )
    assert len(loss) == 1 and 2 < float(loss[0][0]) < 3.7 and loss[0][1] == ("1" if start is ALONE else "2")
    assert len(done.stdout.partition("The statement ")[2].partition("dist-ms:")[0].rstrip("\n")) <= 20


@pytest.mark.parametrize(
    "start",
    [ALONE, ["mpirun", "-n", "2", *ALONE], LAUNCHED[2]],
    ids=["python", "mpirun", "dist-ms run"],
)
def test_train_images(start, tmp_path):
    command = [Path(sys.executable).with_name("mpirun"), *start[1:]] if start[0] == "mpirun" else start
    done = run([*command, ROOT / "examples/train_images.py"], tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.findall(r"test accuracy (\d+\.\d+)% on (\d) rank\(s\)", done.stdout, re.M)
    assert len(found) == 1, done.stdout
    assert float(found[0][0]) > 85 and int(found[0][1]) == (1 if start is ALONE else 2)
    assert len(re.findall(r"^steps waited \d+\.\d\d% of their time for data\s*$", done.stdout, re.M)) == 1


@pytest.mark.parametrize(
    "start",
    [ALONE, LAUNCHED[2], [*LAUNCHED[2], "--servers", "2"], [*LAUNCHED[2], "--servers", "1"]],
    ids=["python", "2 ranks", "2 servers", "1 server, asynchronous"],
)
def test_wide_deep(start, tmp_path):
    small = ["--data", tmp_path / "clicks.tsv", "--rows", 20000, "--columns", 4]
    late = ["--staleness", "inf"] if start[-1] == "1" else []
    spec = importlib.util.spec_from_file_location("wide_deep", ROOT / "examples/wide_deep.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.write_log(tmp_path / "clicks.tsv", 30000)
    done = run([*start, ROOT / "examples/wide_deep.py", *small, *late], tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.findall(r"^loss \d\.\d+  \d+ samples/s  AUC (\d\.\d+)$", done.stdout, re.M)
    assert len(found) == 1, done.stdout
    assert 0.75 < float(found[0]) < 1


def test_the_log_that_wide_deep_makes_lies_in_no_place_that_others_can_foresee(tmp_path, monkeypatch):
    shared = tmp_path / "shared"
    shared.mkdir()
    # What another user could have put there, as a link to a file of this one's.
    victim = tmp_path / "victim.txt"
    victim.write_text("kept")
    for name in ("dist_ms_clicks_6000.tsv", "dist_ms_clicks_6000.part"):
        (shared / name).symlink_to(victim)
    monkeypatch.setenv("TMPDIR", str(shared))
    small = ["--lines", 6000, "--rows", 20000, "--columns", 4]
    done = run([*LAUNCHED[2], ROOT / "examples/wide_deep.py", *small], tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert victim.read_text() == "kept"
    left = sorted(path.name for path in shared.iterdir() if path.name.startswith("dist_ms"))
    assert left == ["dist_ms_clicks_6000.part", "dist_ms_clicks_6000.tsv"]


@pytest.mark.parametrize("start", [ALONE, LAUNCHED[2]], ids=["python", "2 ranks"])
def test_sharded_classifier(start, tmp_path):
    done = run([*start, ROOT / "examples/sharded_classifier.py", "--epochs", 4, "--width", 512], tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    ranks = 1 if start is ALONE else 2
    accuracy = re.findall(rf"^test accuracy (\d+\.\d+)% on {ranks} rank\(s\)$", done.stdout, re.M)
    assert len(accuracy) == 1 and float(accuracy[0]) > 88, done.stdout
    own = [int(n.replace(",", "")) for n in re.findall(r"^rank \d holds .* weights, ([\d,]+) of", done.stdout, re.M)]
    assert len(own) == ranks
    # The wide layers' weights, one rank or two: 512 rows of 512 and a bias, 512 columns of 32, ten vectors of 32.
    assert sum(own) == 512 * 512 + 512 + 512 * 32 + 10 * 32
