"""The argument list and environment of a job. Pure: the same questions, the same answer."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dist_ms.launch.hosts import Host
from dist_ms.launch.machine import Machine
from dist_ms.launch.mpirun import LaunchError, MpiRun
from dist_ms.launch.output.streams import opening_streams
from dist_ms.launch.output.tagged_lines import tagging
from dist_ms.launch.reports import waiting

# Options and variables that name other machines or hand the placement to a batch system.
_HOST_OPTIONS = (
    "--host",
    "-host",
    "-H",
    "--hostfile",
    "-hostfile",
    "--machinefile",
    "-machinefile",
    "-f",
    "-hosts",
    "--rankfile",
)
_BATCH = ("SLURM_JOB_ID", "PBS_NODEFILE", "LSB_HOSTS", "PE_HOSTFILE")
# Where Open MPI 5 places ranks unless its command line says it.
_MAPPING = "PRTE_MCA_rmaps_default_mapping_policy"
_EXPORTED = ("DIST_MS_", "MS_", "OMP_", "PYTHON")
# For ranks whose output goes through mpirun, whose daemons give them a terminal of their own.
PLAIN_TERMINAL = ("TERM", "dumb")


@dataclass(frozen=True)
class Job:
    """What to start.

    Attributes:
        ranks: the number of processes, servers included.
        python: the interpreter.
        program: what follows it: a script or `-m module`, and arguments.
        bind: whether ranks get cores of their own.
        threads: threads per rank; None: as many as a rank has cores.
        timeout: seconds a rank waits for others; None: as the environment says.
        mpi_args: further arguments of mpirun.
        servers: how many of the processes, the last ones, are parameter servers.
        prefix: whether lines begin with their rank.
        log_dir: where each rank's output goes as well, or None.
        log_name: how the names of these files begin.
        least: with how few ranks the job goes on when others die, None if it does not.
        trace: where ranks write what they do in each step, or None.
        hosts: the machines with their numbers of ranks; none: this one, or what mpirun finds itself.
        offered: all that it may have when it is started again, with their slots; none: `hosts`.
    """

    ranks: int
    python: str
    program: Sequence[str]
    bind: bool = True
    threads: int | None = None
    timeout: float | None = None
    mpi_args: Sequence[str] = field(default_factory=tuple)
    servers: int = 0
    hosts: tuple[Host, ...] = ()
    offered: tuple[Host, ...] = ()
    prefix: bool = False
    log_dir: str | None = None
    log_name: str = "rank"
    trace: str | None = None
    least: int | None = None

    @property
    def alone(self) -> bool:
        """Whether it is one process of this machine, which needs no mpirun."""
        local = all(host.local for host in self.hosts)
        return self.ranks == 1 and local and not self.prefix and self.log_dir is None


def rank_environment(job: Job, machine: Machine, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of the ranks.

    What the user has set stays.
    """
    env = dict(environ)
    if job.ranks == 1:
        env["DIST_MS_ALONE"] = "1"  # whatever another launcher's variables say
    if job.trace is not None:
        env["DIST_MS_TRACE"] = os.path.abspath(job.trace)
    if job.least is not None:
        env["DIST_MS_ELASTIC"] = str(job.least)
    if job.timeout is not None:
        env["DIST_MS_TIMEOUT"] = f"{job.timeout:g}"
    if job.servers:
        env["MS_WORKER_NUM"], env["MS_SERVER_NUM"] = str(job.ranks - job.servers), str(job.servers)
        env.pop("MS_ROLE", None)  # by the rank
    if job.threads is not None:
        env["OMP_NUM_THREADS"] = str(job.threads)
    elif job.ranks > 1 and not several_machines(job, environ):
        env.setdefault("OMP_NUM_THREADS", str(machine.threads_of(job.ranks)))
    return env


def several_machines(job: Job, environ: Mapping[str, str]) -> bool:
    """Whether ranks may be placed on other machines, whose cores are not known here."""
    if any(a.split("=")[0] in _HOST_OPTIONS for a in job.mpi_args):
        return True
    if job.hosts:
        return not all(host.local for host in job.hosts)
    return any(name in environ for name in _BATCH)


def mpirun_command(
    launcher: MpiRun,
    job: Job,
    machine: Machine,
    environ: Mapping[str, str],
    streams: Sequence[str] | None = None,
    plain: bool = False,
) -> tuple[list[str], dict[str, str]]:
    """Return the argument list of mpirun and its environment.

    Ranks are bound to disjoint sets of cores when there are enough: unbound ones share caches
    badly and, when two land on one core, wait for each other's time slice in every collective.

    Args:
        launcher: the mpirun.
        job: what to start.
        machine: where.
        environ: the user's environment.
        streams: what `opening_streams` needs; None: the ranks have the streams mpirun gives them.
        plain: leave out the rank's first program, which stands around the interpreter.

    Raises:
        LaunchError: if the job is elastic and the mpirun cannot go on without a rank.
    """
    if job.least is not None and (launcher.vendor != "openmpi" or launcher.major < 5):
        raise LaunchError(
            f"--elastic must have the mpirun of an Open MPI 5 with ULFM, but {launcher.path} is of {launcher.version}: "
            "take that of pip install 'dist_ms[mpi]', or leave --elastic out."
        )
    env = rank_environment(job, machine, environ)
    program = [job.python, *job.program]
    if streams is not None:
        program = opening_streams(streams, program)
    elif not plain:
        program = waiting(program)
    arguments, settings = {
        "openmpi": _open_mpi,
        "mpich": _mpich,
        "intel": _intel,
        "unknown": lambda *_: ([], {}),
    }[launcher.vendor](launcher, job, machine, env)
    if streams is None and (job.prefix or job.log_dir is not None):
        arguments = [*arguments, *tagging(launcher)]
    for name, value in settings.items():
        env.setdefault(name, value)
    env |= launcher.environment(env)
    if several_machines(job, env) and env.get(_MAPPING, "").startswith(":"):
        del env[_MAPPING]  # of ":oversubscribe" alone Open MPI 5 makes "all ranks on the first machine"
    return [launcher.path, *arguments, "-n", str(job.ranks), *job.mpi_args, *program], env


def _open_mpi(launcher: MpiRun, job: Job, machine: Machine, env: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """Open MPI 4 and 5. Its one-sided ucx component fails on shared windows: it is left out."""
    arguments = ["--allow-run-as-root"] if machine.root else []
    if job.least is not None:
        arguments += ["--with-ft", "ulfm"]
    settings = {"OMPI_MCA_osc": "^ucx"}
    if several_machines(job, env):
        if job.hosts:
            arguments += ["--host", ",".join(f"{host.name}:{host.slots}" for host in job.hosts)]
        for name in sorted(env):
            if name.startswith(_EXPORTED) or (name, env[name]) == PLAIN_TERMINAL:
                arguments += ["-x", name]
        return arguments, settings
    if job.ranks > len(machine.cores):
        settings["OMPI_MCA_mpi_yield_when_idle"] = "1"
        return [*arguments, "--oversubscribe", "--bind-to", "none"], settings
    if not job.bind or not machine.whole:
        # mpirun would bind to cores outside a mask that is smaller than the machine; without
        # binding the ranks inherit the mask. Its slots are the machine's cores, so they suffice.
        return [*arguments, "--oversubscribe", "--bind-to", "none"], settings
    each = len(machine.cores) // job.ranks
    return [*arguments, "--map-by", f"slot:PE={each}", "--bind-to", "core"], settings


def _mpich(launcher: MpiRun, job: Job, machine: Machine, env: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """MPICH's hydra: the cores of each rank are spelled out."""
    if job.hosts and several_machines(job, env):
        return ["-hosts", ",".join(f"{host.name}:{host.slots}" for host in job.hosts)], {}
    if several_machines(job, env) or not job.bind or job.ranks > len(machine.cores):
        return [], {}
    sets = ["+".join(map(str, cpus)) for cpus in _shares(job.ranks, machine)]
    return ["-bind-to", "user:" + ",".join(sets)], {}


def _intel(launcher: MpiRun, job: Job, machine: Machine, env: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """Intel MPI: a mask per rank, in hexadecimal with 0x: one that begins with a digit is refused without."""
    if job.hosts and several_machines(job, env):
        each = {host.slots for host in job.hosts[:-1]} or {job.hosts[-1].slots}
        if len(each) > 1 or job.hosts[-1].slots > max(each):
            raise LaunchError(
                "Intel MPI's mpirun takes as many ranks on each machine, but got "
                f"{', '.join(f'{host.name}:{host.slots}' for host in job.hosts)}: give equal numbers, or a "
                "--mpi-args='-machinefile FILE'."
            )
        return ["-hosts", ",".join(host.name for host in job.hosts), "-ppn", str(max(each))], {}
    if not job.bind or job.ranks > len(machine.cores):
        return [], {"I_MPI_PIN": "0"} if not several_machines(job, env) else {}
    if several_machines(job, env):
        return [], {}
    masks = [f"{sum(1 << cpu for cpu in cpus):#x}" for cpus in _shares(job.ranks, machine)]
    return [], {"I_MPI_PIN_DOMAIN": "[" + ",".join(masks) + "]"}


def _shares(ranks: int, machine: Machine) -> list[list[int]]:
    """Deal the cores out, the same number to each rank; return their hardware threads."""
    each = len(machine.cores) // ranks
    parts = [machine.cores[r * each : (r + 1) * each] for r in range(ranks)]
    return [sorted(cpu for core in part for cpu in core) for part in parts]
