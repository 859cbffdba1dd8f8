"""Argument lists for each MPI, the machine, the banners and the streams; no job is started."""

import os
import stat
import subprocess
import sys

import pytest

from dist_ms.launch.banner import BannerFilter, describe
from dist_ms.launch.command import Job, mpirun_command
from dist_ms.launch.machine import Machine, cpu_list, this_machine
from dist_ms.launch.mpirun import LaunchError, MpiRun, find_mpirun, identify
from dist_ms.launch.output.streams import Streams, opening_streams
from dist_ms.launch.running.faults import Fault, fault_of

OPENMPI = MpiRun("/opt/bin/mpirun", "openmpi", 5)
MPICH = MpiRun("/opt/bin/mpirun", "mpich")
INTEL = MpiRun("/opt/bin/mpirun", "intel")
UNKNOWN = MpiRun("/opt/bin/mpirun", "unknown")


def machine(cores, threads_per_core=1, whole=True, root=False):
    table = tuple(tuple(range(c, cores * threads_per_core, cores)) for c in range(cores))
    cpus = tuple(range(cores * threads_per_core))
    return Machine(cpus, table, whole, root)


def job(ranks, **options):
    return Job(ranks, "/usr/bin/python3", ["train.py", "--lr", "0.1"], **options)


def arguments(launcher, ranks, on, environ=(), **options):
    command, env = mpirun_command(launcher, job(ranks, **options), on, dict(environ))
    assert command[0] == launcher.path
    assert command[-4:] == ["/usr/bin/python3", "train.py", "--lr", "0.1"]
    assert command[command.index("-n") + 1] == str(ranks)
    return command[1 : command.index("-n")], env


@pytest.mark.parametrize(
    ("ranks", "on", "options", "wanted", "threads"),
    [
        (2, machine(2), {}, "--map-by slot:PE=1 --bind-to core", "1"),
        (2, machine(8), {}, "--map-by slot:PE=4 --bind-to core", "4"),
        (3, machine(8), {}, "--map-by slot:PE=2 --bind-to core", "2"),
        (4, machine(4, 2), {}, "--map-by slot:PE=1 --bind-to core", "1"),
        (3, machine(2), {}, "--oversubscribe --bind-to none", "1"),
        (2, machine(8), {"bind": False}, "--oversubscribe --bind-to none", "4"),
        (2, machine(4, whole=False), {}, "--oversubscribe --bind-to none", "2"),
        (
            2,
            machine(2, root=True),
            {},
            "--allow-run-as-root --map-by slot:PE=1 --bind-to core",
            "1",
        ),
        (2, machine(8), {"threads": 3}, "--map-by slot:PE=4 --bind-to core", "3"),
    ],
)
@pytest.mark.parametrize("major", [4, 5])
def test_open_mpi(ranks, on, options, wanted, threads, major):
    found, env = arguments(MpiRun("/opt/bin/mpirun", "openmpi", major), ranks, on, **options)
    assert found == wanted.split()
    assert env["OMP_NUM_THREADS"] == threads
    assert env["OMPI_MCA_osc"] == "^ucx"
    assert env.get("OMPI_MCA_mpi_yield_when_idle") == ("1" if ranks > len(on.cores) else None)


def test_an_elastic_job_takes_ulfm():
    words, env = mpirun_command(OPENMPI, job(4, least=2), machine(4), {})
    assert words[words.index("--with-ft") + 1] == "ulfm" and env["DIST_MS_ELASTIC"] == "2"
    words, env = mpirun_command(OPENMPI, job(4), machine(4), {})
    assert "--with-ft" not in words and "DIST_MS_ELASTIC" not in env
    for other in (MpiRun("/opt/bin/mpirun", "openmpi", 4), MPICH, INTEL, UNKNOWN):
        with pytest.raises(LaunchError, match="--elastic must have the mpirun of an Open MPI 5 with ULFM, but"):
            mpirun_command(other, job(4, least=2), machine(4), {})


def test_mpich_spells_out_the_cores():
    assert arguments(MPICH, 2, machine(4, 2))[0] == ["-bind-to", "user:0+1+4+5,2+3+6+7"]
    assert arguments(MPICH, 3, machine(2))[0] == []
    assert arguments(MPICH, 2, machine(4), bind=False)[0] == []


def test_intel_gets_a_mask_per_rank():
    assert arguments(INTEL, 2, machine(8))[1]["I_MPI_PIN_DOMAIN"] == "[0xf,0xf0]"
    # "1" without 0x is refused: "Expected hexadecimal bit-mask".
    assert arguments(INTEL, 2, machine(2))[1]["I_MPI_PIN_DOMAIN"] == "[0x1,0x2]"
    assert arguments(INTEL, 3, machine(2))[1]["I_MPI_PIN"] == "0"
    assert arguments(INTEL, 2, machine(8), bind=False)[1]["I_MPI_PIN"] == "0"


def test_intel_s_mpirun_finds_its_mpiexec_hydra(tmp_path):
    path = tmp_path / "venv" / "mpirun"
    launcher = MpiRun(str(path), "intel")
    other = fake_mpirun(tmp_path / "other", "mpiexec.hydra")
    search = f"{tmp_path / 'other'}{os.pathsep}/usr/bin"
    fake_mpirun(tmp_path / "venv", "mpirun")
    assert arguments(launcher, 2, machine(2), {"PATH": search})[1]["PATH"] == search  # there is none beside it
    fake_mpirun(tmp_path / "venv", "mpiexec.hydra")
    assert arguments(launcher, 2, machine(2), {"PATH": search})[1]["PATH"] == f"{path.parent}{os.pathsep}{search}"
    assert arguments(launcher, 2, machine(2), {})[1]["PATH"] == str(path.parent)
    first = f"{path.parent}{os.pathsep}/usr/bin"
    assert arguments(launcher, 2, machine(2), {"PATH": first})[1]["PATH"] == first
    assert arguments(MpiRun(other, "intel"), 2, machine(2), {"PATH": search})[1]["PATH"] == search


def test_whose_mpirun_it_is_is_asked_where_it_finds_its_programs(tmp_path, monkeypatch):
    path = fake_mpirun(tmp_path / "venv")
    (tmp_path / "venv" / "mpirun").write_text("#!/bin/sh\nexec mpiexec.hydra --version\n")
    fake_mpirun(tmp_path / "venv", "mpiexec.hydra", "Intel(R) MPI Library for Linux* OS, Version 2021.18.1")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert find_mpirun(path).vendor == "intel"


def test_an_unknown_mpi_gets_the_number_of_ranks():
    assert arguments(UNKNOWN, 2, machine(8))[0] == []


@pytest.mark.parametrize(
    ("environ", "options"),
    [
        ({}, {"mpi_args": ["--host", "a:2,b:2"]}),
        ({"SLURM_JOB_ID": "7"}, {}),
        ({}, {"mpi_args": ["--hostfile=h"]}),
    ],
)
def test_on_several_machines_mpirun_places_the_ranks(environ, options):
    environ = {"MS_SERVER_NUM": "1", "HOME": "/root", **environ}
    found, env = arguments(OPENMPI, 4, machine(2), environ, timeout=30, **options)
    assert found == ["-x", "DIST_MS_TIMEOUT", "-x", "MS_SERVER_NUM"]
    assert "OMP_NUM_THREADS" not in env
    assert arguments(MPICH, 4, machine(8), environ, **options)[0] == []
    assert "I_MPI_PIN_DOMAIN" not in arguments(INTEL, 4, machine(8), environ, **options)[1]


def test_what_the_user_set_stays():
    environ = {"OMP_NUM_THREADS": "7", "OMPI_MCA_osc": "rdma", "DIST_MS_TIMEOUT": "5"}
    env = arguments(OPENMPI, 2, machine(8), environ)[1]
    assert {name: env[name] for name in environ} == environ
    env = arguments(OPENMPI, 2, machine(8), environ, threads=2, timeout=60)[1]
    assert env["OMP_NUM_THREADS"] == "2" and env["DIST_MS_TIMEOUT"] == "60"


def test_further_arguments_of_mpirun_come_last():
    command, _ = mpirun_command(OPENMPI, job(2, mpi_args=["--mca", "x", "1"]), machine(2), {})
    at = command.index("-n")
    assert command[at : at + 6] == ["-n", "2", "--mca", "x", "1", "/bin/sh"]


@pytest.mark.parametrize(
    ("text", "vendor", "major"),
    [
        ("mpirun (Open MPI) 5.0.11\n\nReport bugs", "openmpi", 5),
        ("mpirun.real (OpenRTE) 4.1.4\nmpirun (Open MPI) 4.1.4", "openmpi", 4),
        ("HYDRA build details:\n    Version:        4.2.0", "mpich", 0),
        ("Intel(R) MPI Library for Linux* OS, Version 2021.11 Build 20231005", "intel", 0),
        ("something else", "unknown", 0),
        ("", "unknown", 0),
    ],
)
def test_whose_mpirun_it_is(text, vendor, major):
    found = identify("/bin/mpirun", text)
    assert (found.vendor, found.major) == (vendor, major)


def fake_mpirun(folder, name="mpirun", text="mpirun (Open MPI) 5.0.1"):
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{text}'\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_the_mpirun_beside_the_interpreter_comes_first(tmp_path):
    beside = fake_mpirun(tmp_path / "venv")
    on_path = fake_mpirun(tmp_path / "bin", text="HYDRA build details:")
    environ = {"PATH": str(tmp_path / "bin")}
    python = str(tmp_path / "venv" / "python")
    assert find_mpirun(None, python, environ).path == beside
    assert find_mpirun(None, "/elsewhere/python", environ) == MpiRun(on_path, "mpich", 0, "HYDRA build details:")
    assert find_mpirun(on_path, python, environ).vendor == "mpich"


def test_mpiexec_will_do(tmp_path):
    path = fake_mpirun(tmp_path / "bin", "mpiexec")
    assert find_mpirun(None, "/x/python", {"PATH": str(tmp_path / "bin")}).path == path


def test_no_mpirun_names_the_remedy(tmp_path):
    with pytest.raises(LaunchError, match=r"pip install 'dist_ms\[mpi\]'"):
        find_mpirun(None, "/x/python", {"PATH": str(tmp_path)})
    with pytest.raises(LaunchError, match="--mpirun must be a program, but 'nope' is none"):
        find_mpirun("nope", "/x/python", {"PATH": str(tmp_path)})


def test_the_kernel_s_lists():
    assert cpu_list("0-3,8,10-11\n") == (0, 1, 2, 3, 8, 10, 11)
    assert cpu_list("") == ()


def test_this_machine_is_what_the_affinity_mask_says():
    found = this_machine()
    assert set(found.cpus) == os.sched_getaffinity(0)
    assert sorted(cpu for core in found.cores for cpu in core) == list(found.cpus)


DASHES = b"-" * 74 + b"\n"
ABORT = (
    DASHES + b"MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD\n"
    b"  Proc: [[9625,1],1]\n  Errorcode: 3\n\nNOTE: invoking MPI_ABORT causes Open MPI to kill\n"
    + DASHES
    + DASHES
    + b"prterun has exited due to process rank 1 with PID 0 on node vm calling\n"
    b'"abort". This may have caused other processes\n' + DASHES + b"\0"
)
KILLED = (
    DASHES + b"prterun noticed that process rank 2 with PID 5148 on node vm exited on\nsignal 9 (Killed).\n" + DASHES
)
EXITED = (
    DASHES + b"prterun detected that one or more processes exited with non-zero status,\n"
    b"thus causing the job to be terminated. The first process to do so was:\n\n"
    b"   Process name: [prterun-vm-5082@1,1]\n   Exit code:    3\n" + DASHES
)
EPOLL = b"[warn] Epoll MOD(1) on fd 19 failed. Old events were 6; read change was 0 (none)\n"
UNREACHABLE = b"[vm:05082] PMIX ERROR: PMIX_ERR_UNREACH in file /x/pmix_server.c at line 3146\n"
LOST = (
    DASHES + b"An MPI communication peer process has unexpectedly disconnected.  This\nusually indicates a failure.\n\n"
    b"  Local host: node1\n  Local PID:  9079\n  Peer host:  node2\n" + DASHES
)
CLOSED = (
    b"\0[node1:00000] *** An error occurred in Socket closed\n"
    b"[node1:00000] *** reported by process [244121601,0]\n[node1:00000] *** on a NULL communicator\n"
    b"[node1:00000] ***    and MPI will try to terminate your MPI job as well)\n"
)
DAEMON = (
    DASHES + b"PRTE has lost communication with a remote daemon.\n\n  HNP daemon   : [prterun-vm-1@0,0] on node vm\n"
    b"  Remote daemon: [prterun-vm-1@0,1] on node node2\n\nWe cannot recover.\n" + DASHES
)
UNSTARTED = (
    b"-" * 60 + b"\nA daemon failed to report back after being spawned. This could\nbe due to several factors.\n\n"
    b"  Local host:   vm\n  Remote host:  node2\n" + b"-" * 60 + b"\n"
)
BROKEN = ABORT.replace(b"Errorcode: 3", b"Errorcode: 14")


def filtered(*pieces):
    out = []
    banners = BannerFilter(out.append)
    for piece in pieces:
        banners.feed(piece)
    banners.close()
    return b"".join(out), banners.failure


@pytest.mark.parametrize(
    ("banner", "failure", "sentence"),
    [
        (ABORT, {"rank": "1", "code": "3"}, "rank 1 of 4 ended with exit code 3"),
        (
            KILLED,
            {"rank": "2", "node": "vm", "signal": "9", "what": "Killed"},
            "rank 2 of 4 was ended by signal 9 (Killed)",
        ),
        (
            EPOLL + EXITED + UNREACHABLE,
            {"rank": "1", "code": "3"},
            "rank 1 of 4 ended with exit code 3",
        ),
        (
            LOST + CLOSED + KILLED,
            {"lost": "a rank on node2", "rank": "2", "node": "vm", "signal": "9", "what": "Killed"},
            "rank 2 of 4 was ended by signal 9 (Killed)",
        ),
        (
            BROKEN.replace(b"  Proc:", CLOSED + b"  Proc:"),
            {"lost": "another rank", "rank": "1", "code": "14"},
            "rank 1 of 4 lost its connection to another rank, which has ended or cannot be reached",
        ),
        (
            CLOSED + ABORT + LOST,
            {"lost": "a rank on node2", "rank": "1", "code": "3"},
            "rank 1 of 4 ended with exit code 3",
        ),
        (
            LOST + CLOSED + BROKEN,
            {"lost": "a rank on node2", "rank": "1", "code": "14"},
            "rank 1 of 4 lost its connection to a rank on node2, which has ended or cannot be reached",
        ),
    ],
)
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_banners_become_one_line(banner, failure, sentence, size):
    text = b"a warning\n" + banner + b"last words\n"
    pieces = [text[i : i + size] for i in range(0, len(text), size)]
    out, found = filtered(*pieces)
    assert out.replace(b"\0", b"") == b"a warning\nlast words\n"
    assert found == failure
    assert describe(found, 4, 3) == f"dist-ms: {sentence}; the job was stopped."


@pytest.mark.parametrize("banner", [DAEMON, UNSTARTED])
def test_a_daemon_that_is_gone(banner):
    out, found = filtered(banner, b"last words\n")
    assert (out, found) == (b"last words\n", {"daemon": "node2"})
    assert describe(found, 4, 1).startswith("dist-ms: mpirun does not reach node2, or its daemon there has ended")
    assert fault_of(None, found) == Fault(None, "node2", "lost mpirun's daemon")
    assert filtered(banner + ABORT)[1] == {"daemon": "node2"} | filtered(ABORT)[1]


def test_other_output_passes_unchanged():
    other = b"50%\r60%\rdone\n" + DASHES + b"my own heading\n" + DASHES + b"[step 1] loss 2\n" + DASHES
    assert filtered(other) == (other, {})
    unknown = DASHES + b"prterun was unable to launch the specified application\n" + DASHES
    assert filtered(unknown) == (unknown, {})
    error = b"[node1:00000] *** An error occurred in MPI_Recv\n[node1:00000] *** MPI_ERR_TRUNCATE\n"
    assert filtered(error) == (error, {})
    assert filtered(b"no end of line") == (b"no end of line", {})


def test_incomplete_lines_pass_at_once():
    out = []
    banners = BannerFilter(out.append)
    banners.feed(b"\r10 %")
    banners.feed(b"\r20 %")
    assert b"".join(out) == b"\r10 %\r20 %"


def test_a_lost_connection_whose_code_no_banner_tells():
    failure = {"lost": "a rank on node2", "rank": "0"}
    assert describe(failure, 2, 14).startswith("dist-ms: rank 0 of 2 lost its connection to a rank on node2, which has")
    assert describe(failure, 2, 3) == "dist-ms: rank 0 of 2 ended with exit code 3; the job was stopped."


def test_a_job_that_says_nothing_still_gets_a_sentence():
    assert describe({}, 2, 5) == "dist-ms: one of 2 ranks ended with exit code 5; the job was stopped."


def test_ranks_open_their_own_pipes(capfd):
    streams = Streams(2)
    try:
        folder, first, _ = streams.arguments
        assert not streams.terminal and len(streams.readers) == 4
        for rank in (1, 0):
            for fd, text in ((0, "out"), (1, "err")):
                with open(f"{folder}/{int(first) + 2 * rank + fd}", "w") as pipe:
                    pipe.write(f"{text} {rank}\n")
        for reader in streams.readers:
            streams.pump(reader)
        assert capfd.readouterr() == ("out 0\nout 1\n", "err 0\nerr 1\n")
    finally:
        streams.close()


def test_incomplete_lines_of_ranks_wait_a_moment(capfd, monkeypatch):
    streams = Streams(1)
    folder, first, _ = streams.arguments
    reader = streams.readers[0]
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    with open(f"{folder}/{first}", "wb", buffering=0) as pipe:
        pipe.write(b"one\ntw")
        streams.pump(reader)
        streams.flush()
        assert capfd.readouterr().out == "one\n"
        pipe.write(b"o\n\r10 %")
        streams.pump(reader)
        assert capfd.readouterr().out == "two\n"
        now[0] += 0.1
        streams.flush()
        assert capfd.readouterr().out == "\r10 %"
        pipe.write(b"tail")
        streams.pump(reader)
        streams.flush(at_once=True)
        assert capfd.readouterr().out == "tail"
    streams.close()


@pytest.mark.parametrize("variable", ["OMPI_COMM_WORLD_RANK", "PMI_RANK"])
def test_the_first_program_of_a_rank_opens_its_streams(tmp_path, variable):
    for n in range(10, 14):
        (tmp_path / str(n)).write_text("")
    (tmp_path / "in").write_text("typed")
    program = ["/bin/sh", "-c", "cat; echo out $0; echo err >&2", "a b"]
    for rank in ("0", "1"):
        command = opening_streams((str(tmp_path), "10", str(tmp_path / "in")), program)
        subprocess.run(command, env={variable: rank, "PATH": "/bin:/usr/bin"}, check=True, input="")
    assert (tmp_path / "10").read_text() == "typedout a b\n"
    assert (tmp_path / "12").read_text() == "out a b\n"
    assert (tmp_path / "11").read_text() == (tmp_path / "13").read_text() == "err\n"


def test_importing_the_launcher_loads_no_mpi():
    code = "import dist_ms.launch.main, dist_ms.launch.run, sys; print('mpi4py' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_folder_of_logs_that_cannot_be_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LaunchError, match="--log-dir must be a folder to write to, but got .*file"):
        Streams(2, log_dir=str(tmp_path / "file"))


def test_a_reader_that_has_seen_enough_gets_no_traceback():
    reader, writer = os.pipe()
    os.close(reader)
    words = [sys.executable, "-m", "dist_ms.launch", "run", "-n", "1", "--dry-run", __file__]
    done = subprocess.run(words, stdout=writer, stderr=subprocess.PIPE, timeout=60, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")
