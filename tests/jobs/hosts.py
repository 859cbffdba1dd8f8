"""Machines on one: network namespaces with a host name and an address each, joined by a bridge with a limited rate."""

import fcntl
import itertools
import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import contextmanager, suppress

from tests.jobs.conftest import MPIRUN

RATE = "1gbit"
# The kernel takes a network away after its deletion has returned, so each use has names of its own.
_uses = itertools.count()
AGENT = """#!/bin/bash
# Stands in for ssh: AGENT [options] ADDRESS COMMAND...
while [[ "$1" == -* ]]; do shift; done
k=${1##*.}; shift
exec ip netns exec "PREFIX$k" unshare --uts bash -c "hostname node$k; $*"
"""


def missing():
    """Why there can be no hosts, or None."""
    if os.geteuid() != 0:
        return "it takes root to make network namespaces"
    for program in ("ip", "tc", "unshare"):
        if shutil.which(program) is None:
            return f"there is no program '{program}' (iproute2, util-linux)"
    if MPIRUN is None or "Open MPI" not in subprocess.run([MPIRUN, "--version"], capture_output=True, text=True).stdout:
        return "there is no mpirun of Open MPI"
    return None


class Hosts:
    """Two machines and more, while `up` lasts."""

    def __init__(self, mark, agent):
        # Names and addresses that no other run has.
        self._prefix, self._bridge, self._net, self._agent = f"dmt{mark}h", f"dmt{mark}", f"10.78.{mark}", agent

    def claim(self):
        """Whether no other run has the names; then they are this one's."""
        try:
            _call("link", "add", self._bridge, "type", "bridge")
        except OSError as error:
            if "File exists" in str(error):
                return False
            raise
        return True

    def make(self, count):
        _call("link", "set", self._bridge, "up")
        for k in range(1, count + 1):
            name, link = f"{self._prefix}{k}", f"{self._prefix}v{k}"
            _call("netns", "add", name)
            _call("link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", name)
            _call("link", "set", link, "master", self._bridge, "up")
            _call("-n", name, "addr", "add", f"{self._net}.{k}/24", "dev", "eth0")
            _call("-n", name, "link", "set", "eth0", "up")
            _call("-n", name, "link", "set", "lo", "up")
            self._limit(k, RATE)

    def delete(self, count):
        for k in range(1, count + 1):
            name = f"{self._prefix}{k}"
            found = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True, check=False)
            for process in map(int, found.stdout.split()):  # a daemon that was cut off stays for minutes
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)
        subprocess.run(["ip", "link", "del", self._bridge], capture_output=True, check=False)

    @contextmanager
    def cut_off(self, k):
        """Take a machine's cable out, for a while."""
        _call("link", "set", f"{self._prefix}v{k}", "down")
        try:
            yield
        finally:
            _call("link", "set", f"{self._prefix}v{k}", "up")

    @contextmanager
    def slowed(self, k, rate):
        """Let a machine's cable carry less, for a while."""
        self._limit(k, rate)
        try:
            yield
        finally:
            self._limit(k, RATE)

    def _limit(self, k, rate):
        """Limit what a machine sends, and what it is sent."""
        shape = f"dev eth0 root tbf rate {rate} burst 256kb latency 50ms".split()
        _call("-n", f"{self._prefix}{k}", "qdisc", "replace", *shape, program="tc")
        shape[1] = f"{self._prefix}v{k}"
        _call("qdisc", "replace", *shape, program="tc")

    def on_first(self):
        """The words that run a program on the first machine."""
        inside = ["ip", "netns", "exec", f"{self._prefix}1", "unshare", "--uts", "bash", "-c"]
        return [*inside, 'hostname node1; exec "$@"', "_"]

    def mpi_options(self, slots):
        """The options that have mpirun place so many ranks on each machine, and talk over TCP."""
        listed = ",".join(f"{self._net}.{k}:{n}" for k, n in enumerate(slots, 1))
        words = ["--host", listed, "--prtemca", "plm_ssh_agent", str(self._agent)]
        words += ["--prtemca", "prte_if_include", f"{self._net}.0/24"]
        return [*words, "--mca", "btl_tcp_if_include", f"{self._net}.0/24"]

    def mpirun(self, ranks, slots):
        """The words that start a program on so many ranks per machine."""
        start = [MPIRUN, "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", *self.mpi_options(slots)]
        return [*self.on_first(), *start, "-x", "OMP_NUM_THREADS", "-n", str(ranks)]


@contextmanager
def up(folder, count=2):
    """Have machines for a while, as the only run that has: MPI's ranks of two jobs on these cores starve each other.

    Raises:
        OSError: if the kernel makes none here.
    """
    turn = os.open(tempfile.gettempdir(), os.O_RDONLY)
    try:
        fcntl.flock(turn, fcntl.LOCK_EX)
        yield from _made(folder, count)
    finally:
        os.close(turn)


def _made(folder, count):
    agent = folder / "agent.sh"
    first = os.getpid() + 67 * next(_uses)
    for mark in range(first, first + 20):  # a run that was killed has left its networks behind
        hosts = Hosts(mark % 200 + 20, agent)
        if hosts.claim():
            break
    else:
        raise OSError("all names of networks for tests are taken: delete those that killed runs have left (ip netns)")
    agent.write_text(AGENT.replace("PREFIX", hosts._prefix))
    agent.chmod(0o755)
    try:
        hosts.make(count)
        yield hosts
    finally:
        hosts.delete(count)


def _call(*words, program="ip"):
    done = subprocess.run([program, *words], capture_output=True, text=True, timeout=30, check=False)
    if done.returncode:
        raise OSError(
            f"the kernel makes no network namespaces here: {program} {' '.join(words)}: {done.stderr.strip()}"
        )
