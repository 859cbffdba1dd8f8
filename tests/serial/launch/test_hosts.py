"""Machines: named by the user or a batch system, and mpirun's arguments for them."""

import platform
import shlex

import pytest

from dist_ms.launch.command import several_machines
from dist_ms.launch.hosts import Host, parse_hosts, read_hostfile
from dist_ms.launch.main import main, make_parser
from dist_ms.launch.mpirun import LaunchError
from dist_ms.launch.run_options import make_job
from dist_ms.launch.schedulers import find_allocation
from dist_ms.launch.schedulers.slurm import node_names
from tests.serial.launch.test_launch import INTEL, MPICH, OPENMPI, arguments, machine

HERE = platform.node()
SLURM = {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n[1-2]", "SLURM_TASKS_PER_NODE": "2(x2)"}


def job_of(line, environ=()):
    return make_job(make_parser().parse_args(["run", *shlex.split(line), "x.py"]), ["x.py"], dict(environ))


def slots(job):
    return [(host.name, host.slots) for host in job.hosts]


def test_hosts_and_their_file(tmp_path):
    assert parse_hosts("a:4, b.c.d:2,10.0.0.1,a") == (Host("a", 5), Host("b.c.d", 2), Host("10.0.0.1", 1))
    file = tmp_path / "hosts"
    file.write_text("# mine\na slots=4\n\nb:2  # two\nc\n")
    assert read_hostfile(str(file)) == (Host("a", 4), Host("b", 2), Host("c", 1))
    assert job_of(f"--hostfile {file}").ranks == 7


@pytest.mark.parametrize("text", ["a:0", "a:x", "a b", "", "a,,b", "-x:1"])
def test_wrong_hosts(text):
    with pytest.raises(LaunchError, match="--hosts must have machines of the form name:slots, but got"):
        parse_hosts(text)


def test_wrong_host_files(tmp_path):
    (tmp_path / "empty").write_text("# none\n")
    with pytest.raises(LaunchError, match="must name a machine"):
        read_hostfile(str(tmp_path / "empty"))
    with pytest.raises(LaunchError, match="must be a file that can be read"):
        read_hostfile(str(tmp_path / "nowhere"))


def test_the_number_of_ranks():
    assert job_of("-n 3").ranks == 3
    assert (job_of("--hosts a:4,b:4").ranks, slots(job_of("-n 5 --hosts a:4,b:4"))) == (8, [("a", 4), ("b", 1)])
    assert slots(job_of("-n 3 --servers 1 --hosts a:4,b:4")) == [("a", 4)]
    for line, error in (
        ("", "-n must tell the number of ranks"),
        ("-n 9 --hosts a:4,b:4", "--hosts must have slots for 9 ranks, but has 8"),
        ("--servers 2 --hosts a:2", "--servers must leave a slot for a worker"),
    ):
        with pytest.raises(LaunchError, match=error):
            job_of(line)


def test_slurm():
    assert slots(job_of("", SLURM)) == [("n1", 2), ("n2", 2)]
    assert slots(job_of("-n 3", SLURM)) == [("n1", 2), ("n2", 1)]
    cpus = SLURM | {"SLURM_JOB_CPUS_PER_NODE": "8(x2)", "SLURM_CPUS_PER_TASK": "2", "SLURM_TASKS_PER_NODE": "1(x2)"}
    job = job_of("-n 8", cpus)
    assert slots(job) == [("n1", 4), ("n2", 4)] and job.threads == 2
    assert job_of("--threads 1", cpus).threads == 1 and job_of("", cpus | {"OMP_NUM_THREADS": "3"}).threads is None
    with pytest.raises(LaunchError, match="the allocation of Slurm must have slots for 9 ranks, but has 8"):
        job_of("-n 9", cpus)
    with pytest.raises(LaunchError, match="SLURM_TASKS_PER_NODE must have a number for each of the job's 2 nodes"):
        find_allocation(SLURM | {"SLURM_TASKS_PER_NODE": "2"})
    each = {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "a", "SLURM_NTASKS_PER_NODE": "3"}
    assert slots(job_of("", each)) == [("a", 3)]
    assert slots(job_of("--hosts b:2", SLURM)) == [("b", 2)]
    assert find_allocation({"SLURM_JOB_ID": "7"}) is None
    assert node_names("a[1,3-4],b") == ["a1", "a3", "a4", "b"]


def test_pbs(tmp_path):
    file = tmp_path / "nodes"
    file.write_text("a.org\na.org\nb.org\nb.org\n")
    job = job_of("", {"PBS_NODEFILE": str(file), "OMP_NUM_THREADS": "4"})
    assert slots(job) == [("a.org", 2), ("b.org", 2)]
    file.write_text("")
    with pytest.raises(LaunchError, match="PBS_NODEFILE must name a machine"):
        job_of("", {"PBS_NODEFILE": str(file)})
    with pytest.raises(LaunchError, match="PBS_NODEFILE must be a file that can be read"):
        job_of("", {"PBS_NODEFILE": str(tmp_path / "nowhere")})


def test_one_machine_is_this_one():
    assert not several_machines(job_of(f"--hosts {HERE}:2"), {})
    assert not several_machines(job_of("", SLURM | {"SLURM_JOB_NODELIST": HERE, "SLURM_TASKS_PER_NODE": "2"}), SLURM)
    assert several_machines(job_of(f"--hosts {HERE}:2,other:2"), {})
    assert job_of("--hosts localhost").alone and not job_of("--hosts other").alone


def test_mpirun_is_told_of_the_machines():
    two = parse_hosts("a:2,b:2")
    found, env = arguments(OPENMPI, 4, machine(2), {"MS_SERVER_NUM": "1"}, hosts=two)
    assert found == ["--host", "a:2,b:2", "-x", "MS_SERVER_NUM"] and "OMP_NUM_THREADS" not in env
    for terminal, told in (("dumb", ["-x", "TERM"]), ("xterm", [])):  # ranks behind a pipe are not to move a bar
        found, _ = arguments(OPENMPI, 4, machine(2), {"TERM": terminal}, hosts=two)
        assert found == ["--host", "a:2,b:2", *told]
    assert arguments(MPICH, 4, machine(8), hosts=two)[0] == ["-hosts", "a:2,b:2"]
    assert arguments(INTEL, 4, machine(8), hosts=two)[0] == ["-hosts", "a,b", "-ppn", "2"]
    with pytest.raises(LaunchError, match="as many ranks on each machine, but got a:2, b:3"):
        arguments(INTEL, 5, machine(8), hosts=parse_hosts("a:2,b:3"))


def test_a_dry_run_prints_the_command(capsys, tmp_path, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    mpirun = tmp_path / "mpirun"
    mpirun.write_text("#!/bin/sh\necho 'mpirun (Open MPI) 5.0.8'\n")
    mpirun.chmod(0o755)
    assert (
        main(["run", "--hosts", "a:2,b:2", "--threads", "3", "--dry-run", "--mpirun", str(mpirun), "x.py", "a b"]) == 0
    )
    words = shlex.split(capsys.readouterr().out)
    assert words[0] == "env" and "OMP_NUM_THREADS=3" in words and words[-2:] == ["x.py", "a b"]
    at = words.index(str(mpirun))
    assert words[words.index("--host") + 1] == "a:2,b:2" and words[words.index("-n") + 1] == "4" and at < len(words)
    assert main(["run", "-n", "1", "--dry-run", "x.py"]) == 0
    assert "DIST_MS_ALONE=1" in capsys.readouterr().out


def test_the_version(capsys):
    with pytest.raises(SystemExit) as left:
        main(["--version"])
    assert left.value.code == 0 and capsys.readouterr().out.startswith("dist-ms 0.")
