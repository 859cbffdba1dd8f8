"""ProgressBar: the bar, the lines, and the speeds that they tell."""

import json
import re
import sys

import pytest

from dist_ms.common.progress import progress
from dist_ms.train import History, ProgressBar
from dist_ms.train.callback.progress import progress_bar, rates
from dist_ms.train.callback.progress.rates import Counts, Meter, Rates
from tests.serial.train.model_cases import batches, model

SPEED = r"  [\d.,e+]+ samples/s(, waiting \d+ % for data)?"


def seen(text):
    """What stays of a terminal's text."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)


def terminal(monkeypatch, kind="xterm", columns=100):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", kind)
    monkeypatch.setenv("COLUMNS", str(columns))


def test_a_line_per_epoch_into_a_file(capsys):
    history = History()
    model(metrics={"mse"}).fit(2, batches(), batches(), valid_frequency=2, callbacks=[ProgressBar(), history])
    one, two = (re.escape(f"{loss:.4f}") for loss in history.mean_loss)
    first, second = capsys.readouterr().out.splitlines()
    assert re.fullmatch(f"epoch 1/2  loss {one}{SPEED}", first)
    assert re.fullmatch(rf"epoch 2/2  loss {two}  eval_mse 0\.8772  eval_loss 0\.8772{SPEED}", second)
    assert one not in second and "1.9064" not in first  # what the last step gave


def test_lines_where_only_colours_are_forced(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")  # as in a notebook
    model().train(2, batches(), callbacks=ProgressBar())
    out = capsys.readouterr().out
    assert len(out.splitlines()) == 2 and "\x1b" not in out


def test_it_moves_on_a_terminal(monkeypatch, capsys):
    terminal(monkeypatch)
    monkeypatch.setattr(progress_bar, "_EVERY", 0.0)
    model(metrics={"mse"}).fit(1, batches(3), batches(), callbacks=ProgressBar())
    out = seen(capsys.readouterr().out)
    last = out.splitlines()[-1]
    assert "3/3" in last and re.search(r"loss \d", last) and re.search(r"[\d,]+ samples/s", last)
    assert re.search(r"epoch 1/1  loss [\d.]+  eval_mse", out)
    assert all(len(line) <= 100 for line in out.splitlines())


@pytest.mark.parametrize("columns", [40, 60])
def test_a_narrow_terminal_breaks_no_word(monkeypatch, capsys, columns):
    terminal(monkeypatch, columns=columns)
    model(metrics={"mse"}).fit(1, batches(3), batches(), callbacks=ProgressBar())
    lines = seen(capsys.readouterr().out).replace("\r", "\n").splitlines()
    assert all(len(line) <= columns for line in lines)
    first = next(i for i, line in enumerate(lines) if line.startswith("epoch 1/1  loss"))
    after = [line for line in lines[first + 1 :] if line.startswith("    ")]
    assert after and re.match(r"(    eval_mse [\d.]+)|(    eval_loss [\d.]+)|(    [\d.,e+]+ samples/s)", after[0])


def test_it_does_not_move_on_a_terminal_that_cannot(monkeypatch, capsys):
    terminal(monkeypatch, "dumb")
    model().train(1, batches(), callbacks=ProgressBar())
    out = capsys.readouterr().out
    assert len(out.splitlines()) == 1 and "\x1b" not in out


def test_rank_0_only(monkeypatch, capsys):
    monkeypatch.setattr(progress_bar, "get_rank", lambda: 1)
    model().train(1, batches(), callbacks=ProgressBar())
    assert capsys.readouterr().out == ""


@pytest.fixture
def job(monkeypatch, tmp_path):
    """A job of 4 ranks, of which this machine has 3, the last one a server; a function writes what rank 1 has done."""
    monkeypatch.setenv("DIST_MS_STATUS", str(tmp_path))
    monkeypatch.setattr(rates, "get_group_size", lambda: 4)

    def write(rank, **numbers):
        record = {"rank": rank, "time": 100.0, "steps": 10, "samples": 100, "data": 1.0, "ranks": 1.0, **numbers}
        (tmp_path / f"rank_{rank}").write_text(json.dumps(record).ljust(1024))

    write(0, ranks=1e9)  # this rank's own file is not read
    write(1)
    write(2, steps=0, samples=0)
    (tmp_path / "rank_3").write_text("")  # it begins
    return write


def test_rates_of_all_ranks(job, monkeypatch):
    mine = iter([Counts(200.0, 5, 50, 0.5, 0.0), Counts(202.0, 25, 250, 0.7, 1.0)])
    monkeypatch.setattr(rates, "counts", lambda: next(mine))
    meter = Meter()
    job(1, time=104.0, steps=50, samples=500, data=1.4, ranks=1.2)
    job(2, time=104.0, steps=0, samples=0, data=9.0, ranks=9.0)
    found = meter.rates()
    assert found == pytest.approx(Rates(10.0, 400.0, 0.1, (0.5 + 0.05) / 2, 1))
    assert str(found) == "400 samples/s, waiting 10 % for data, 28 % for ranks (rank 1 is slowest)"


def test_rates_where_others_have_not_written_again(job, monkeypatch):
    mine = iter([Counts(200.0, 5, 50, 0.5, 0.0), Counts(200.1, 6, 60, 0.5, 0.0)])
    monkeypatch.setattr(rates, "counts", lambda: next(mine))
    found = Meter().rates()
    assert found[:4] == pytest.approx((10.0, 400.0, 0.0, 0.0)) and found.slowest is None


def test_no_rates_without_a_step(monkeypatch):
    monkeypatch.setattr(progress, "steps", 3)
    meter = Meter()
    assert meter.rates() is None
    progress.steps += 1
    assert meter.rates().steps > 0


@pytest.mark.parametrize(
    "found, text",
    [
        (Rates(1234.5, 0.0, 0.0, 0.0, None), "1,234 steps/s"),
        (Rates(0.051, 1.63, 0.004, 0.5, None), "1.63 samples/s, waiting 50 % for ranks"),
    ],
)
def test_rates_in_words(found, text):
    assert str(found) == text
