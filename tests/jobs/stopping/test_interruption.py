"""Jobs that are asked to stop: all ranks end after the same step, saved, with the documented code."""

import contextlib
import os
import pty
import re
import signal
import subprocess
import threading
import time

import pytest

from dist_ms.launch.running.stopping import asked
from tests.jobs.conftest import command, environment, processes

TRAINING = """
import os, sys, time
import numpy as np
import dist_ms as ms
from dist_ms import nn
from dist_ms.communication import init, get_rank
init()
ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
net = nn.Dense(3, 2)
model = ms.train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.01))

class Says(ms.train.Callback):
    def on_train_step_end(self, run_context):
        if run_context.original_args().cur_step_num == 3:
            print("pid", get_rank(), os.getpid(), flush=True)
        time.sleep(0.001 * (1 + get_rank()))

    def on_train_interrupted(self, run_context):
        print("saved", get_rank(), run_context.original_args().cur_step_num, flush=True)

    def on_train_end(self, run_context):
        print("end", get_rank(), flush=True)

data = [(np.ones((4, 3), np.float32), np.ones((4, 2), np.float32))] * 1000
model.train(100, data, callbacks=Says())
print("not reached")
"""


class Started:
    """A job whose ranks train."""

    def __init__(self, words, folder, **options):
        env = environment(PYTHONFAULTHANDLER="1")
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": env, **options}
        self.process = subprocess.Popen(words, cwd=folder, text=True, **options)
        self.said, self.pids = "", {}

    def wait_for_ranks(self, ranks):
        while len(self.pids) < ranks:
            line = self.process.stdout.readline()
            assert line, self.process.communicate(timeout=10)
            self.said += line
            if found := re.search(r"pid (\d+) (\d+)", line):
                self.pids[int(found[1])] = int(found[2])

    def end(self):
        try:
            out, err = self.process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            for rank in self.pids.values():  # have them say where they are
                with contextlib.suppress(ProcessLookupError):
                    os.kill(rank, signal.SIGABRT)
            out, err = self.process.communicate(timeout=30)
            pytest.fail(f"The job has not ended.\n{self.said}{out}\n{err}")
        return self.process.returncode, self.said + out, err


def check_saved(out, ranks):
    """All ranks saved at one step, and ended after it."""
    saved = re.findall(r"saved (\d+) (\d+)", out)
    assert sorted(rank for rank, _ in saved) == [str(r) for r in range(ranks)], out
    assert len({step for _, step in saved}) == 1
    assert sorted(re.findall(r"end (\d+)", out)) == [str(r) for r in range(ranks)]
    assert "not reached" not in out


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_one_rank_stops_all_after_one_step(write, tmp_path, number):
    job = Started(command("mpirun", 2, write(TRAINING)), tmp_path)
    job.wait_for_ranks(2)
    start = time.monotonic()
    os.kill(job.pids[1], number)
    code, out, err = job.end()
    check_saved(out, 2)
    assert code == 75 and time.monotonic() - start < 5
    assert err.count("dist_ms: stopped on request (") == 1 and "[rank" not in err
    assert processes(str(tmp_path)) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGUSR1])
def test_the_launcher_hands_a_signal_on_and_says_so(write, tmp_path, number):
    job = Started(command("dist-ms", 2, write(TRAINING)), tmp_path)
    job.wait_for_ranks(2)
    job.process.send_signal(number)
    code, out, err = job.end()
    check_saved(out, 2)
    assert code == 75
    name = signal.Signals(number).name
    first, second, third = err.splitlines()
    assert first == asked(name, 30) and third.startswith("dist-ms: ") and "steps on 2 ranks" in third
    assert re.fullmatch(r"dist_ms: stopped on request after step \d+ in epoch \d+\.", second)
    assert processes(str(tmp_path)) == []


def test_servers_follow_their_workers(write, tmp_path):
    code = TRAINING.replace("init()", "ms.set_ps_context(enable_ps=True)\ninit()", 1)
    code = code.replace("net = nn.Dense(3, 2)", "net = nn.Dense(3, 2)\nnet.set_param_ps()")
    job = Started(command("dist-ms", 2, write(code), options=["--servers", "1"]), tmp_path)
    job.wait_for_ranks(2)
    job.process.send_signal(signal.SIGTERM)
    code, out, err = job.end()
    check_saved(out, 2)
    assert code == 75 and "stopped on request" in err and processes(str(tmp_path)) == []


STUBBORN = TRAINING.replace('print("saved"', 'time.sleep(60); print("saved"')


@pytest.mark.parametrize("how", ["again", "grace"])
def test_ranks_that_do_not_stop_are_ended(write, tmp_path, how):
    options = ["--grace", "1"] if how == "grace" else []
    job = Started(command("dist-ms", 2, write(STUBBORN), options=options), tmp_path)
    job.wait_for_ranks(2)
    start = time.monotonic()
    job.process.send_signal(signal.SIGTERM)
    if how == "again":
        time.sleep(0.5)
        job.process.send_signal(signal.SIGTERM)
    code, out, err = job.end()
    assert code == 128 + signal.SIGTERM and time.monotonic() - start < 10
    assert err.splitlines()[-1] == "dist-ms: got SIGTERM; the job was stopped."
    assert ("have not stopped within 1 s and are ended" in err) == (how == "grace")
    assert "saved" not in out and processes(str(tmp_path)) == []


def test_a_job_that_does_not_listen_ends_at_once(write, tmp_path):
    job = Started(command("dist-ms", 2, write("import os, time\nprint('pid', os.environ['OMPI_COMM_WORLD_RANK'], "
                  "os.getpid(), flush=True)\ntime.sleep(60)")), tmp_path)  # fmt: skip
    job.wait_for_ranks(2)
    start = time.monotonic()
    job.process.send_signal(signal.SIGINT)
    assert job.end()[0] == 130 and time.monotonic() - start < 5
    assert processes(str(tmp_path)) == []


@pytest.mark.parametrize("stubborn", [False, True])
def test_the_terminal_is_left_as_it_was(write, tmp_path, stubborn):
    import termios

    hide = 'print("\\x1b[?25l", end="", flush=True); import signal, termios; '
    hide += "signal.signal(signal.SIGTTOU, signal.SIG_IGN); m = termios.tcgetattr(1); "
    hide += "m[3] &= ~termios.ECHO; termios.tcsetattr(1, termios.TCSANOW, m)"
    code = (STUBBORN if stubborn else TRAINING).replace("data = ", f"{hide}\ndata = ", 1)
    script = write(code)
    terminal, side = pty.openpty()
    modes = termios.tcgetattr(side)
    process = subprocess.Popen(
        command("dist-ms", 2, script), cwd=tmp_path, env=environment(TERM="xterm"),
        stdin=side, stdout=side, stderr=side, preexec_fn=lambda: (os.setsid(), os.open(os.ttyname(0), os.O_RDWR)),
    )  # fmt: skip
    screen = []

    def read():
        while True:
            try:
                data = os.read(terminal, 65536)
            except OSError:
                return
            screen.append(data)
            if not data:
                return

    threading.Thread(target=read, daemon=True).start()
    until = time.monotonic() + 30
    while b"".join(screen).count(b"pid ") < 2:
        assert time.monotonic() < until, screen
        time.sleep(0.05)
    os.write(terminal, b"\x03")
    if stubborn:
        time.sleep(0.5)
        os.write(terminal, b"\x03")
    code = process.wait(20)
    time.sleep(0.1)
    text = b"".join(screen).decode()
    assert code == (130 if stubborn else 75), text
    assert text.count(asked("SIGINT", 30)) == 1
    assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l")
    assert "Traceback" not in text and "prterun" not in text
    assert ("stopped on request" in text) != stubborn
    assert termios.tcgetattr(side) == modes
    os.close(side)
    os.close(terminal)
    assert processes(str(tmp_path)) == []


@pytest.mark.parametrize("number", [signal.SIGTERM])
def test_ranks_of_two_machines_stop_together(hosts, write, tmp_path, number):
    words = hosts.mpi_options([1, 1])
    at = words.index("--host")
    options = ["--hosts", words[at + 1], "--prefix", "--mpi-args", " ".join(words[:at] + words[at + 2 :])]
    program = command("dist-ms", 2, write(TRAINING), options=options)
    job = Started([*hosts.on_first(), *program[:4], *program[6:]], tmp_path)  # as many ranks as there are slots
    job.wait_for_ranks(2)
    job.process.send_signal(number)
    code, out, err = job.end()
    check_saved(out, 2)
    assert code == 75 and "stopped on request after step" in err and processes(str(tmp_path)) == []
    assert all(re.match(r"\[[^]]*\b[01]\]", line) for line in out.splitlines() if "saved" in line)


def test_exit_on_request_and_exception_save_under_the_launcher(write, tmp_path):
    code = TRAINING.replace(
        "callbacks=Says()",
        'callbacks=[ms.train.OnRequestExit(directory="left", save_mindir=False), Says(), ms.train.ModelCheckpoint('
        '"net", "saved", ms.train.CheckpointConfig(10**6, exception_save=True))]',
    )
    job = Started(command("dist-ms", 2, write(code)), tmp_path)
    job.wait_for_ranks(2)
    job.process.send_signal(signal.SIGTERM)
    code, out, err = job.end()
    check_saved(out, 2)
    assert code == 75 and f"saved to {tmp_path}/left" in err
    assert (tmp_path / "left" / "rank_0" / "Net_train.ckpt").stat().st_size > 0
    assert len(list((tmp_path / "saved").glob("*_breakpoint.ckpt"))) == 1
