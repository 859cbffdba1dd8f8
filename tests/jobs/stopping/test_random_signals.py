"""Jobs at a terminal that are asked to stop at random moments: saved, flushed, one line, the code, a clean screen.

DIST_MS_TEST_SIGNALS says how many (3 by default).
"""

import os
import pty
import random
import re
import signal
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from dist_ms.launch.running.stopping import asked
from dist_ms.train.state.folder import Folder
from tests.jobs.conftest import command, environment, processes
from tests.serial.train.summary.test_summary import events

STOPPED = r"dist_ms: stopped on request( \(\w+\))? after step (\d+) in epoch \d+; saved to states\."
SIGNALS = int(os.environ.get("DIST_MS_TEST_SIGNALS", "3"))
TRAINING = """
import sys, termios, time
import numpy as np
import dist_ms as ms
from dist_ms import nn
from dist_ms.communication import get_group_size, get_rank, init
init()
ms.set_seed(2)
rank, size = get_rank(), get_group_size()
ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
net = nn.SequentialCell(nn.Dense(6, 32), nn.Dropout(p=0.3), nn.Dense(32, 1))
x = np.random.RandomState(0).rand(96, 6).astype(np.float32)
data = ms.dataset.NumpySlicesDataset((x, x[:, :1]), shuffle=True, num_shards=size, shard_id=rank).batch(12 // size)

class Says(ms.train.Callback):
    said = False
    def on_train_step_end(self, run_context):
        if not self.said:
            print("\\x1b[?25ltrains", flush=True)  # as a progress bar that hides the cursor
        self.said = True
        time.sleep(0.002 * (1 + rank))

model = ms.train.Model(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 0.01))
callbacks = [Says(), ms.train.TensorBoardLogger("events", steps=1), ms.train.RunCheckpoint("states", every_steps=7)]
model.train(1000, data, callbacks=callbacks, resume="states")
"""


class Screen:
    """A job at a pseudo-terminal, and all that it writes there."""

    def __init__(self, words, folder):
        import termios

        self.terminal, self._side = pty.openpty()
        self._modes = termios.tcgetattr(self._side)
        self.job = subprocess.Popen(
            words, cwd=folder, env=environment(TERM="xterm"), stdin=self._side, stdout=self._side, stderr=self._side,
            preexec_fn=lambda: (os.setsid(), os.open(os.ttyname(0), os.O_RDWR)),
        )  # fmt: skip
        self._read = []
        self._follower = threading.Thread(target=self._follow)
        self._follower.start()

    def _follow(self):
        with suppress(OSError):
            while data := os.read(self.terminal, 65536):
                self._read.append(data)

    @property
    def text(self):
        return b"".join(self._read).decode(errors="replace")

    def wait_for(self, words, count):
        until = time.monotonic() + 120
        while self.text.count(words) < count:
            assert self.job.poll() is None and time.monotonic() < until, self.text
            time.sleep(0.01)

    def interrupt(self, draw):
        """Send a signal or type ^C, and return the signal's name."""
        name = draw.choice(["SIGINT", "SIGTERM", "^C"])
        if name == "^C":
            os.write(self.terminal, b"\x03")
            return "SIGINT"
        self.job.send_signal(signal.Signals[name])
        return name

    def end(self):
        """Wait for the job, and return its code and whether the terminal's modes are as they were."""
        import termios

        try:
            code = self.job.wait(60)
            return code, termios.tcgetattr(self._side) == self._modes
        finally:
            self.job.kill()
            os.close(self._side)
            self._follower.join()  # it has read all when nobody has the other side open
            os.close(self.terminal)


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_a_signal_at_any_moment(write, tmp_path, ranks):
    draw, script, before = random.Random(ranks), write(TRAINING), 0
    for _ in range(-(-SIGNALS // 3)):
        for path in tmp_path.glob("events/*"):
            path.unlink()
        screen = Screen(command("dist-ms", ranks, script), tmp_path)
        screen.wait_for("trains", ranks)
        time.sleep(draw.random() * 0.7)
        name = screen.interrupt(draw)
        code, same = screen.end()
        text = screen.text
        assert code == 75 and same, text
        told = re.findall(
            r"dist_ms: stopped on request( \(\w+\))? after step (\d+) in epoch \d+; saved to states\.", text
        )
        assert len(told) == 1 and told[0][0] == ("" if ranks > 1 else f" ({name})"), text
        assert text.count(asked(name, 30)) == (ranks > 1)
        assert "Traceback" not in text and "prterun" not in text
        if ranks > 1:
            assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l")
        step, folder = int(told[0][1]), Folder(str(tmp_path / "states"))
        assert folder.steps()[-1] == step > before
        folder.verify(step)
        assert max(step for step, *_ in events(tmp_path / "events")) == step
        assert processes(str(script)) == []
        before = step


def test_a_signal_before_the_first_step(write, tmp_path):
    """Nobody can save then: the job ends at once, or in its first steps as every other does."""
    draw, script = random.Random(7), write(TRAINING)
    for _ in range(-(-SIGNALS // 3)):
        screen = Screen(command("dist-ms", 2, script), tmp_path)
        children = Path(f"/proc/{screen.job.pid}/task/{screen.job.pid}/children")
        until = time.monotonic() + 20
        while not children.read_text():
            assert time.monotonic() < until
            time.sleep(0.01)
        time.sleep(draw.random() * 1.5)
        name = screen.interrupt(draw)
        code, same = screen.end()
        text = screen.text
        number = signal.Signals[name]
        assert code in (75, 128 + number, -number) and same, text  # the last: before the launcher listens
        assert ("stopped on request" in text) == (code == 75)
        assert "Traceback" not in text and "prterun" not in text
        assert text.count(asked(name, 30)) == 1 or text.strip() in ("", "^C")  # the terminal shows what is typed
        assert processes(str(script)) == []
