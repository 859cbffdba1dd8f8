"""The command line of `dist-ms`: what is taken, and how a user's mistakes are told."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import dist_ms
from dist_ms.launch.main import main, make_parser


def test_the_command_line():
    parse = make_parser().parse_args
    options = parse(["run", "-n", "4", "--no-bind", "--threads", "2", "x.py", "-n", "9", "--bind"])
    assert (options.ranks, options.bind, options.threads) == (4, False, 2)
    assert options.program == ["x.py", "-n", "9", "--bind"]
    options = parse(["run", "-n", "2", "-m", "pkg.mod", "--lr", "1"])
    assert options.module and options.program == ["pkg.mod", "--lr", "1"]


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["run", "-n", "0", "x.py"],
        ["run", "-n", "two", "x.py"],
        ["run", "-n", "2", "--timeout", "-3", "x.py"],
        ["run", "-n", "2", "--grace", "nan", "x.py"],
        ["top", "--interval", "0"],
    ],
)
def test_a_wrong_command_line_is_exit_code_2(argv, capsys):
    with pytest.raises(SystemExit) as caught:
        main(argv)
    assert caught.value.code == 2
    error = capsys.readouterr().err
    assert "usage: dist-ms" in error and (not argv or f"but got {argv[-2 + (argv[0] == 'top')]!r}" in error)


@pytest.mark.parametrize(
    ("argv", "hint"),
    [
        (["run", "-n", "2", "--elastik", "x.py"], "--elastik; did you mean --elastic?"),
        (["run", "--hosst=a:1", "x.py"], "--hosst=a:1; did you mean --hosts?"),
        (["doctor", "--quick"], "--quick\n"),
    ],
)
def test_an_unknown_option_is_refused_with_the_command_s_usage(argv, hint, capsys):
    with pytest.raises(SystemExit) as caught:
        main(argv)
    error = capsys.readouterr().err
    assert caught.value.code == 2 and error.startswith(f"usage: dist-ms {argv[0]} ")
    assert f"dist-ms {argv[0]}: error: there is no option {hint}" in error


def test_a_command_without_a_script(capsys):
    assert main(["run", "-n", "2"]) == 2
    assert capsys.readouterr().err.startswith("dist-ms run: a script.py must follow, or -m and a module")


def test_a_folder_of_traces_that_cannot_be_is_named_before_the_job(tmp_path, capsys):
    (tmp_path / "train.py").write_text("raise SystemExit(3)")
    assert main(["run", "--trace", str(tmp_path / "train.py"), "-n", "1", str(tmp_path / "train.py")]) == 2
    assert "dist-ms run: --trace must be a folder to write to, but got " in capsys.readouterr().err


def test_a_script_that_does_not_exist(capsys):
    assert main(["run", "-n", "2", "nowhere.py"]) == 2
    assert capsys.readouterr().err == ("dist-ms run: the script must be a file, but 'nowhere.py' is none.\n")


def test_a_folder_that_hides_the_package_is_named(tmp_path, capsys):
    """A clone called dist_ms beside a script, where the package is one of `pip install -e`."""
    (tmp_path / "dist_ms").mkdir()
    (tmp_path / "train.py").write_text("print('trained')")
    command = [sys.executable, "-m", "dist_ms.launch", "run", "-n", "1", str(tmp_path / "train.py")]
    done = subprocess.run(command, capture_output=True, text=True)
    if "site-packages" in dist_ms.__file__:  # a package of an ordinary installation is not hidden
        assert (done.returncode, done.stdout) == (0, "trained\n")
    else:
        assert done.returncode == 2 and not done.stdout
        assert f"hides it from Python: {tmp_path / 'dist_ms'}. Rename that folder" in done.stderr


def test_no_job_inside_a_job(capsys, monkeypatch):
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "0")
    assert main(["run", "-n", "2", __file__]) == 2
    assert "is a rank of a job already" in capsys.readouterr().err


def test_an_interrupt_before_there_is_a_job_shows_no_traceback(tmp_path, monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("dist_ms.launch.run.find_mpirun", interrupted)
    (tmp_path / "train.py").write_text("")
    assert main(["run", "-n", "2", str(tmp_path / "train.py")]) == 130
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["rnu"], "there is no command 'rnu'; did you mean run?: run, plan, ckpt, top, report, doctor"),
        (["report", "a", "b"], "nothing more must follow, but got 'b'"),
    ],
)
def test_a_word_too_many_and_a_command_that_is_none(argv, told, capsys):
    with pytest.raises(SystemExit) as caught:
        main(argv)
    assert caught.value.code == 2 and capsys.readouterr().err.endswith(f"error: {told}\n")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--log-name", "a"], "--log-name must come with --log-dir DIR"),
        (["--mpirun", "nope"], "--mpirun must be a program, but 'nope' is none"),
    ],
)
def test_options_that_a_job_of_one_rank_would_not_need_are_looked_at_too(options, told, tmp_path, capsys):
    (tmp_path / "train.py").write_text("raise SystemExit(3)")
    assert main(["run", "-n", "1", *options, str(tmp_path / "train.py")]) == 2
    assert told in capsys.readouterr().err


def test_a_report_of_what_is_no_folder(tmp_path, capsys):
    for folder, fault in ((tmp_path, "it has no rank_K.json.gz"), (tmp_path / "none", "it is none")):
        assert main(["report", str(folder)]) == 2
        error = capsys.readouterr().err
        assert "DIR must be the folder of a 'dist-ms run --trace DIR', but got" in error and fault in error


def test_an_interrupt_ends_ckpt_without_a_traceback(tmp_path):
    """A terminal sends Ctrl-C to both processes; the states' one is still importing then."""
    command = [sys.executable, "-m", "dist_ms.launch", "ckpt", "ls", str(tmp_path)]
    for _ in range(5):
        with subprocess.Popen(command, stdout=-1, stderr=-1, text=True, start_new_session=True) as process:
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
            while not (child := children.read_text().strip()):
                time.sleep(0.002)
            while b"train.state" not in Path(f"/proc/{child}/cmdline").read_bytes():
                time.sleep(0.002)
            while "numpy" not in Path(f"/proc/{child}/maps").read_text():
                time.sleep(0.002)
            os.killpg(process.pid, signal.SIGINT)
            output, errors = process.communicate(timeout=30)
        if process.returncode != 2:  # else this process had no core until the states' one had ended
            break
    assert (process.returncode, output) == (128 + signal.SIGINT, "") and "Traceback" not in errors
