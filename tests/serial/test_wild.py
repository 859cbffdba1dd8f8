"""The runner of public programs, on programs made here."""

import argparse
import json
import sys

import numpy as np
import pytest

import dist_ms as ms
from tests.wild import accuracy
from tests.wild.run import (
    HERE,
    Outcome,
    Program,
    agreement,
    as_script,
    cause_of,
    compare_losses,
    read_programs,
    read_table,
    run,
    table,
)

PYTHON = [sys.executable, "-m", "dist_ms.compat", "--cpu"]
SCRIPT = """
import sys
from pathlib import Path
import mindspore as ms
from neighbour import VALUE
ms.set_context(device_target="GPU")
print(Path("/nowhere/data.txt").read_text(), VALUE)
assert ms.Tensor([float(sys.argv[1])]).asnumpy()[0] == 3 and sys.argv[2] == "DATA/x"
"""


@pytest.fixture
def repositories(tmp_path):
    folder = tmp_path / "repositories" / "someone" / "something" / "examples"
    folder.mkdir(parents=True)
    (tmp_path / "data.txt").write_text("7")
    (folder / "train.py").write_text(SCRIPT.replace("DATA", str(tmp_path)))
    (folder / "neighbour.py").write_text("VALUE = 1\n")
    cells = [
        ("code", ["%matplotlib inline\n", "!pip install x\n", "a = 1"]),
        ("markdown", ["a = 2"]),
        ("code", ["print(a)"]),
    ]
    cells = [{"cell_type": kind, "source": source} for kind, source in cells]
    (folder / "book.ipynb").write_text(json.dumps({"cells": cells}))
    return tmp_path / "repositories"


def test_a_program_runs_in_a_copy_with_its_edits(repositories, tmp_path):
    program = Program("someone/something", "0" * 40, "examples/train.py", "3 {data}/x", "/nowhere => {data}")
    outcome = run(program, PYTHON, repositories, tmp_path, 60)
    assert outcome.code == 0 and str(outcome).startswith("whole, ")
    assert "/nowhere" in (repositories / "someone/something/examples/train.py").read_text()
    outcome = run(program._replace(edits=""), PYTHON, repositories, tmp_path, 60)
    assert outcome.code == 1 and str(outcome).startswith("FileNotFoundError: ")
    assert run(program._replace(path="none.py"), PYTHON, repositories, tmp_path, 60) is None
    outcome = run(program, [sys.executable, "-c", "import time; time.sleep(60)"], repositories, tmp_path, 0.5)
    assert outcome.code is None and str(outcome) == "not done in 1 s"


def test_a_notebook_becomes_a_script(repositories):
    script = as_script(repositories / "someone/something/examples/book.ipynb")
    assert script.read_text().split("\n") == ["pass", "pass", "a = 1", "", "print(a)", ""]


def test_the_cause_is_the_last_error():
    assert cause_of("a\nValueError: one\nKeyError: 'two'\nbye\n") == "KeyError: 'two'"
    assert cause_of("no such thing\n") == "no such thing" and cause_of("") == ""


def test_the_list_and_the_page():
    programs = read_programs()
    assert len(programs) == len(set(programs)) > 60
    assert all(len(program.commit) == 40 and program.path.endswith((".py", ".ipynb")) for program in programs)
    lines = ["\t".join(programs[0]), "\t".join(programs[1])]
    page = table({lines[0]: {"own": str(Outcome(0, 2.0)), "referee": "whole, 9 s"}, lines[1]: {"own": "KeyError: a|b"}})
    assert "1 of 2 programs ran whole. MindSpore 2.10 was asked for 1 of them and ran 1 whole; 0 of these" in page
    assert "KeyError: a\\|b" in page and programs[0].path in page


def test_the_page_keeps_rows_that_are_not_run_again():
    page = (HERE.parents[1] / "docs" / "wild.md").read_text()
    rows = read_table(page, read_programs())
    assert len(rows) > 300 and all("own" in row for row in rows.values())
    assert read_table(table(rows), read_programs()) == rows


TRAINS = """
import numpy as np
import mindspore as ms
from mindspore import Model, dataset, nn, ops, value_and_grad
from mindspore.train import LossMonitor

ms.set_context(mode=ms.GRAPH_MODE, device_target="cpu")
x = np.random.randn(8, 4).astype(np.float32)
net = nn.SequentialCell(nn.Dense(4, 6), nn.Dropout(p=0.3), nn.Dense(6, 1))
data = dataset.NumpySlicesDataset((x, x.sum(1, keepdims=True)), shuffle=True).batch(2)
optimizer, loss = nn.SGD(net.trainable_params(), 0.01), nn.MSELoss()

class Step(nn.Cell):
    def __init__(self):
        super().__init__()
        self.network, self.optimizer = nn.WithLossCell(net, loss), optimizer
        self.gradients = ops.GradOperation(get_by_list=True)

    def construct(self, x, y):
        self.optimizer(self.gradients(self.network, optimizer.parameters)(x, y))

loss_and_gradients = value_and_grad(lambda x, y: loss(net(x), y), None, optimizer.parameters)

@ms.jit
def step(x, y):
    value, gradients = loss_and_gradients(x, y)
    optimizer(gradients)

def drawn():
    from mindspore.dataset import vision

    pixels = np.random.RandomState(3).randint(0, 255, (6, 40, 50, 3), np.uint8)
    transforms = [vision.RandomResizedCrop(24), vision.RandomCrop(20, 2), vision.RandomHorizontalFlip()]
    transforms += [vision.RandomVerticalFlip(), vision.RandomColorAdjust(0.4, (0.5, 1.5), 0.4, 0.1)]
    for seed, workers in ((1, 1), (2, 3)):
        dataset.config.set_seed(seed)
        rows = dataset.NumpySlicesDataset({"image": pixels}, shuffle=False)
        rows = rows.map(transforms, num_parallel_workers=workers)
        for row in rows.create_tuple_iterator(num_epochs=1, output_numpy=True):
            print(f"loss: {row[0].shape[0] + row[0].mean() / 1000:.6f}")

def channels():
    for layer, shape in ((nn.Dropout1d, (4, 8, 5)), (nn.Dropout2d, (4, 8, 5, 5)), (nn.Dropout3d, (4, 8, 2, 2, 2))):
        layer = layer(0.25)
        x = ms.Tensor(np.ones(shape, np.float32))
        assert (layer.set_train(False)(x) == x).all()
        kept = layer.set_train()(x).asnumpy().reshape(4, 8, -1)
        assert (kept == kept[:, :, :1]).all()
        assert np.allclose(np.unique(kept), [0, 1 / 0.75])
        print(f"loss: {kept.mean():.6f}")

def numbers():
    for primitive in (ops.StandardNormal(), ops.UniformReal(), ops.StandardNormal(seed=2)):
        print(f"loss: {float(primitive((2, 3)).asnumpy().max()):.6f}")

WAYS = {
    "drawn": drawn,
    "numbers": numbers,
    "channels": channels,
    "model": lambda: Model(net, loss, optimizer).train(1, data, callbacks=[LossMonitor()]),
    "cell": lambda: [Step()(x, y) for x, y in data.create_tuple_iterator()],
    "function": lambda: [step(x, y) for x, y in data.create_tuple_iterator()],
    "grad": lambda: [ms.grad(lambda x, y: loss(net(x), y))(x, y) for x, y in data.create_tuple_iterator()],
    "printed": lambda: [print(f"loss: {n}.5") for n in range(30)],
}
for way in sys.argv[1].split(","):
    WAYS[way]()
"""


@pytest.fixture
def losses_of(repositories, tmp_path):
    (repositories / "someone" / "something" / "trains.py").write_text("import sys\n" + TRAINS)
    file = tmp_path / "losses.json"

    def losses(ways):
        python = [*PYTHON, HERE / "losses.py", file]
        outcome = run(Program("someone/something", "", "trains.py", ways), python, repositories, tmp_path, 60)
        assert outcome.code == 0, outcome.cause
        return json.loads(file.read_text())

    return losses


@pytest.mark.parametrize("way", ["cell", "function", "grad"])
def test_losses_are_found_however_a_program_trains(losses_of, way):
    found = losses_of(f"model,{way}")
    assert len(found) == 8 and all(isinstance(loss, float) for loss in found)
    assert losses_of(f"model,{way}") == found and losses_of("model") == found[:4]


def test_an_iteration_begins_with_the_first_epoch(losses_of):
    once, twice = losses_of("grad"), losses_of("grad,grad")
    assert len(once) == 4 and twice[:4] == once and len(twice) == 8
    assert losses_of("grad,grad,grad,grad,grad,grad")[:8] == twice and len(losses_of("grad," * 6 + "grad")) == 20


def test_printed_numbers_stand_for_losses_where_nothing_trains(losses_of):
    assert losses_of("printed") == [f"{n}.5" for n in range(20)]
    assert len(losses_of("printed,grad")) == 20


def test_random_images_follow_from_the_image_alone(losses_of):
    found = losses_of("drawn")
    assert len(found) == 12 and found[:6] == found[6:] and len(set(found)) > 5
    assert all(20 < float(size) < 20.3 for size in found)


def test_masks_of_channels_come_from_numpy(losses_of):
    rng, expected = np.random.RandomState(0), []
    for _ in range(3):
        expected.append(f"{((rng.random_sample((4, 8)) >= 0.25) / 0.75).mean():.6f}")
    assert losses_of("channels") == expected


def test_numbers_without_a_seed_come_from_numpy(losses_of):
    rng = np.random.RandomState(0)
    expected = [rng.standard_normal((2, 3)).max(), rng.random_sample((2, 3)).max()]
    found = losses_of("numbers")
    assert found[:2] == [f"{number:.6f}" for number in expected]
    assert float(found[2]) == pytest.approx(ms.ops.StandardNormal(seed=2)((2, 3)).asnumpy().max(), abs=1e-6)


def test_losses_that_are_no_numbers_on_both_agree():
    inf, nan = float("inf"), float("nan")
    assert agreement([1.0, inf, nan], [1.0, inf, nan]) == "3 agree"
    assert agreement([1.0, inf], [1.0, 2.0]) == agreement([1.0, 2.0], [1.0, nan]) == "1 of 2 agree"


@pytest.mark.parametrize("failing, count", [("", 20), ("own", None), ("referee", 3)])
def test_what_the_referee_had_before_it_failed_counts(repositories, tmp_path, failing, count):
    words = 'import sys\nfor n in range(int(sys.argv[1])): print(f"loss: {n}.5")\nsys.exit(n < 19)\n'
    (repositories / "someone" / "something" / "prints.py").write_text(words)
    script = tmp_path / "stops.py"
    script.write_text(
        "import sys, runpy\nsys.argv = sys.argv[1:-1] + ['3']\nrunpy.run_path(sys.argv[0], run_name='__main__')\n"
    )
    early = [*PYTHON, script]
    pythons = [early if failing == "own" else PYTHON, early if failing == "referee" else PYTHON]
    options = argparse.Namespace(repositories=repositories, limit=60)
    found = compare_losses(Program("someone/something", "", "prints.py", "20"), pythons, options, tmp_path)
    assert agreement(*found) == (f"{count} agree" if failing != "own" else "3 of 20 agree")


def test_accuracies_are_those_that_train_py_tells_last(tmp_path, monkeypatch, capsys):
    (tmp_path / "neighbour.py").write_text("TOLD = 'Validation Top_1_Accuracy: '\n")
    (tmp_path / "train.py").write_text(
        "import sys\nfrom neighbour import TOLD\n"
        "print(TOLD + '1.0%', TOLD + ('7' if 'images' in sys.argv[sys.argv.index('--data_dir') + 1] else '5')"
        " + sys.argv[sys.argv.index('--seed') + 1] + '.5%')\n"
    )
    monkeypatch.setattr(accuracy, "make", lambda folder: None)
    monkeypatch.setattr(sys, "argv", ["accuracy.py", "--mindcv", str(tmp_path), "--seeds", "2"])
    assert accuracy.main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "cifar10, dist_ms: 51.5 52.5; mean 52.0, deviation 0.7"
    assert lines[1].startswith("cifar10, dist_ms, 2 ranks: 51.5 52.5") and lines[3].startswith(
        "images, dist_ms, 2 ranks: 71.5"
    )
    (tmp_path / "train.py").write_text("raise OSError('no room')")
    with pytest.raises(RuntimeError, match=r"ended with 1: (?s:.*)OSError: no room"):
        accuracy.main()


def test_images_of_graded_difficulty_follow_from_their_class():
    labels = np.repeat(np.arange(6), 40)
    images = accuracy.drawn(labels, 6, 20, 24, 0.2, np.random.RandomState(0))
    assert images.shape == (240, 20, 24, 3) and images.dtype == np.uint8
    colours = images.mean((1, 2))
    means = np.stack([colours[labels == label].mean(0) for label in range(6)])
    nearest = ((colours[:, None] - means) ** 2).sum(2).argmin(1)
    assert 0.6 < (nearest == labels).mean() < 0.95
