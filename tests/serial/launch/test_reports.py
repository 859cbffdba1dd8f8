"""What ranks tell of their end, whatever the MPI: read, sorted out, and put into one line."""

import os
import re
import subprocess
import sys

import pytest

from dist_ms.launch.banner import BannerFilter
from dist_ms.launch.reports import VARIABLE, Reports, parse, waiting

MARK = b"\x1edist-ms "


@pytest.mark.parametrize(
    ("line", "sentence", "code"),
    [
        ("rank=1 host=vm status=137", "rank 1 of 4 was ended by signal 9 (SIGKILL) on vm, exit code 137", 137),
        ("rank=1 host=vm status=139", "rank 1 of 4 was ended by signal 11 (SIGSEGV) on vm, exit code 139", 139),
        ("rank=0 host=n-2.x status=4", "rank 0 of 4 ended with exit code 4 on n-2.x", 4),
        ("rank=0 host=vm status=250", "rank 0 of 4 ended with exit code 250 on vm", 250),  # 122 is no signal
        ("rank=0 host=vm code=137 cause=exit what=137", "rank 0 of 4 ended with exit code 137 on vm", 137),
        (
            "rank=2 host=vm code=1 cause=exception what=ValueError",
            "rank 2 of 4 ended with an uncaught ValueError on vm, exit code 1",
            1,
        ),
        (
            "rank=3 host=vm code=1 cause=missing what=is stopped (SIGSTOP)",
            "rank 3 of 4 did not answer the others: it is stopped (SIGSTOP) on vm, exit code 1",
            1,
        ),
    ],
)
def test_a_line_says_who_where_why_and_with_what_code(line, sentence, code):
    report = parse(line)
    assert report.code == code
    assert report.describe(4) == f"dist-ms: {sentence}; the job was stopped."
    role = "server 0 of 1" if report.rank == 3 else f"worker {report.rank} of 3"
    assert f"rank {report.rank} of 4 ({role})" in report.describe(4, servers=1)


@pytest.mark.parametrize("line", ["", "rank=1", "rank=x host=vm status=1", "rank=1 host=vm code=1", "host=vm status=1"])
def test_other_words_are_no_report(line):
    assert parse(line) is None


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_reports_are_taken_out_of_the_error_output(size):
    text = b"loss 3\n50 %\r" + MARK + b"rank=1 host=vm status=137\nlater\n\x1e other\n" + MARK + b"nonsense\nend\x1e"
    reports, out = Reports(False, 2), b""
    for i in range(0, len(text), size):
        out += reports.strip(text[i : i + size])
    out += reports.last()
    assert out == b"loss 3\n50 %\rlater\n\x1e other\nend\x1e"
    assert [(r.rank, r.code) for r in reports.told] == [(1, 137)]


def told(*lines):
    reports = Reports(False, 3)
    reports.strip(b"".join(MARK + line.encode() + b"\n" for line in lines))
    return reports.first()


def test_whom_the_others_only_followed_is_blamed():
    killed, followed, broken = "rank=2 host=b status=137", "rank=0 host=a status=143", "rank=1 host=a status=14"
    assert told(killed, followed).rank == 2
    assert told(followed, broken, killed).rank == 2  # between machines lines overtake each other
    assert told("rank=1 host=a status=3", killed).rank == 1
    assert told(followed, broken).rank == 0
    assert told() is None


@pytest.mark.parametrize(("end", "status"), [("kill -9 $$", 137), ("kill -TERM $$", 143), ("exit 5", 5)])
@pytest.mark.parametrize("pipe", [True, False])
def test_a_rank_s_first_program_tells_how_the_interpreter_ended(end, status, pipe):
    reports = Reports(pipe, 4)
    environ = {"PMI_RANK": "3", "PATH": os.environ["PATH"], VARIABLE: reports.path}
    done = subprocess.run(waiting(["sh", "-c", f"echo '$0'; echo err >&2; {end}"]), capture_output=True, env=environ)
    assert (done.returncode, done.stdout) == (status, b"$0\n")
    rest = reports.strip(done.stderr)
    if pipe:
        reports.strip(os.read(reports.reader, 1000))
    assert rest == b"err\n"  # the shell says nothing of its own
    report = reports.first()
    assert (report.rank, report.code, report.host) == (3, status, os.uname().nodename)
    reports.close()


def test_a_rank_s_first_program_is_silent_when_all_is_well_or_nobody_asks():
    for environ, end in (({VARIABLE: "stderr"}, "exit 0"), ({}, "exit 3")):
        done = subprocess.run(waiting(["sh", "-c", end]), capture_output=True, env=environ | {"PATH": "/bin:/usr/bin"})
        assert (done.stdout, done.stderr) == (b"", b"")
        assert done.returncode == int(end.split()[1])


def test_sigterm_is_for_the_interpreter():
    """mpirun tells the whole group to end; the first program stays until the interpreter has spoken."""
    program = (
        "import os, signal, sys, time\n"
        "def end(*_):\n    time.sleep(0.3)\n    os.write(1, b'last words\\n')\n    sys.exit(143)\n"
        "signal.signal(signal.SIGTERM, end)\nos.write(1, b'up\\n')\ntime.sleep(20)"
    )
    environ = {"PMI_RANK": "0", "PATH": os.environ["PATH"], VARIABLE: "stderr"}
    with subprocess.Popen(
        waiting([sys.executable, "-c", program]),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environ,
        process_group=0,
    ) as process:
        assert process.stdout.readline() == b"up\n"
        os.killpg(process.pid, 15)
        out, err = process.communicate(timeout=10)
        assert process.returncode == 143 and out == b"last words\n"
        assert re.fullmatch(rb"\x1edist-ms rank=0 host=\S+ status=143\n", err)


EQUALS = b"=" * 83 + b"\n"
HYDRA = (
    EQUALS + b"=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   PID 5243 RUNNING AT vm\n=   EXIT CODE: 9\n"
)
HYDRA += b"=   CLEANING UP REMAINING PROCESSES\n=   YOU CAN IGNORE THE BELOW CLEANUP MESSAGES\n" + EQUALS
HYDRA += b"YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)\n"
HYDRA += b"This typically refers to a problem with your application.\n"
HYDRA += b"Please see the FAQ page for debugging suggestions\n"
INTEL = EQUALS + b"=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   RANK 0 PID 5337 RUNNING AT vm\n"
INTEL += b"=   KILLED BY SIGNAL: 9 (Killed)\n" + EQUALS


@pytest.mark.parametrize("banner", [HYDRA, INTEL])
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_hydra_s_words_go_and_blame_nobody(banner, size):
    out, text = [], b"This is mine\n" + banner + EQUALS + b"my heading\n" + EQUALS + b"Please wait\n"
    banners = BannerFilter(out.append)
    for i in range(0, len(text), size):
        banners.feed(text[i : i + size])
    banners.close()
    assert b"".join(out) == b"This is mine\n" + EQUALS + b"my heading\n" + EQUALS + b"Please wait\n"
    assert banners.failure == {}
