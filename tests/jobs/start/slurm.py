"""Slurm on one machine: munged, slurmctld and slurmd with folders and ports of their own."""

import os
import platform
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from tests.jobs.conftest import environment

CONFIGURATION = """
ClusterName=tests
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
KillWait=5
ReturnToService=2
JobCompType=jobcomp/none
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing():
    """Why there can be no Slurm, or None."""
    if os.geteuid() != 0:
        return "it takes root to start Slurm"
    if len(os.sched_getaffinity(0)) < 2:
        return "there is one core only"
    for program in ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol"):
        if shutil.which(program) is None:
            return f"there is no program '{program}' (apt-get install slurm-wlm munge)"
    return None


class Slurm:
    """A cluster of one node, while `up` lasts."""

    def __init__(self, folder):
        self.environ = environment(SLURM_CONF=f"{folder}/slurm.conf")

    def call(self, *words, **changes):
        done = subprocess.run(
            [str(w) for w in words], capture_output=True, text=True, env=self.environ | changes, timeout=60
        )
        if done.returncode:
            raise OSError(f"{words[0]} ended with code {done.returncode}: {done.stderr.strip()}")
        return done.stdout.strip()

    def facts(self, job):
        """What Slurm says of a job, by name."""
        words = self.call("scontrol", "show", "job", job).split()
        return dict(word.partition("=")[::2] for word in words if "=" in word)

    def wait(self, job, *states, limit=30):
        until = time.monotonic() + limit
        while (facts := self.facts(job))["JobState"] not in states:
            assert time.monotonic() < until, facts
            time.sleep(0.1)
        return facts

    def wait_until_idle(self):
        """Wait until nothing of any job is left on the node; one that begins before fails at once."""
        until = time.monotonic() + 15
        while self.call("sinfo", "-h", "-o", "%T") != "idle":
            if time.monotonic() > until:
                raise OSError("Slurm's node did not become idle within 15 s")
            time.sleep(0.1)


def _ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    found = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return found


@contextmanager
def up():
    """Start a cluster; raises OSError where it cannot be."""
    with tempfile.TemporaryDirectory(prefix="dist-ms-slurm-") as name:
        folder = Path(name)
        (folder / "state").mkdir()
        (folder / "spool").mkdir()
        (folder / "munge.key").write_bytes(os.urandom(1024))
        (folder / "munge.key").chmod(0o400)
        (folder / "slurm.conf").write_text(
            CONFIGURATION.format(folder=folder, host=platform.node().partition(".")[0], ports=_ports(2))
        )
        slurm = Slurm(folder)
        files = [f"--{k}-file={folder}/munge.{k}" for k in ("key", "pid", "log", "seed")]
        try:
            slurm.call("munged", f"--socket={folder}/munge.socket", *files, "--force", "--num-threads=2")
            slurm.call("slurmctld", "-c")
            slurm.call("slurmd")
            slurm.wait_until_idle()
            yield slurm
        finally:
            for daemon in ("slurmd", "slurmctld", "munge"):
                _end(folder / f"{daemon}.pid")


def _end(file):
    """End the daemon whose number is in a file."""
    try:
        process = int(file.read_text())
        os.kill(process, signal.SIGTERM)
        until = time.monotonic() + 5
        while time.monotonic() < until and Path(f"/proc/{process}/cmdline").read_bytes():
            time.sleep(0.05)
    except (OSError, ValueError):
        pass
