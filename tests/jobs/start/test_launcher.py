"""`dist-ms run`: what reaches the script, what comes back, and what mpirun alone gives as well."""

import json
import os
import subprocess
import sys
import time

import pytest

from tests.jobs.conftest import DIST_MS, command, environment, is_open_mpi

REPORT = """
import json, os, sys
from dist_ms.communication import init, get_rank, get_group_size, current
init()
env = {k: v for k, v in os.environ.items() if k in ("OMP_NUM_THREADS", "MINE", "DIST_MS_TIMEOUT")}
print(json.dumps([get_rank(), get_group_size(), sys.argv[1:], sorted(os.sched_getaffinity(0)), env,
                  sys.executable, current().threads]))
"""


def reports(done):
    """The ranks' reports, in rank order."""
    assert done.code == 0, done.err
    return sorted(json.loads(line) for line in done.out.splitlines())


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_arguments_ranks_and_interpreter(run, how, ranks):
    arguments = ["a", "b c", "-n", "7", "--bind", "$HOME", ""]
    found = reports(run(REPORT, *arguments, how=how, ranks=ranks, MINE="x y"))
    assert [r[0] for r in found] == list(range(ranks))
    for report in found:
        assert report[1] == ranks and report[2] == arguments
        assert report[4]["MINE"] == "x y"
        assert report[5] == sys.executable


def test_ranks_get_cores_of_their_own_and_as_many_threads(run):
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        pytest.skip("one core cannot be shared out")
    first, second = reports(run(REPORT))
    assert not set(first[3]) & set(second[3])
    assert int(first[4]["OMP_NUM_THREADS"]) == int(second[4]["OMP_NUM_THREADS"]) >= 1
    free = reports(run(REPORT, options=["--no-bind", "--threads", "3"]))
    assert [r[3] for r in free] == [cores, cores]
    assert [r[4]["OMP_NUM_THREADS"] for r in free] == ["3", "3"]


def test_without_the_launcher_init_works_out_the_threads(run):
    found = reports(run(REPORT, how="mpirun"))
    masks = [set(r[3]) for r in found]
    share = len(masks[0] | masks[1]) // 2
    assert [r[6] for r in found] == [max(1, share)] * 2
    set_by_user = reports(run(REPORT, how="mpirun", OMP_NUM_THREADS="5"))
    assert [r[6] for r in set_by_user] == [None, None]


def test_settings_of_the_user_win(run):
    found = reports(run(REPORT, OMP_NUM_THREADS="7", options=["--timeout", "12.5"]))
    assert all(r[4] == {"OMP_NUM_THREADS": "7", "DIST_MS_TIMEOUT": "12.5"} for r in found)


def test_a_module(write, tmp_path):
    write(REPORT, "tool.py")
    words = command("dist-ms", 2, "tool", "-x", "1", options=["-m"])
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, env=environment(), timeout=60)
    assert done.returncode == 0, done.stderr
    assert sorted(json.loads(line)[2] for line in done.stdout.splitlines()) == [["-x", "1"]] * 2


@pytest.mark.parametrize("ranks", [1, 2])
def test_rank_0_reads_all_of_stdin(run, ranks):
    code = """
    import sys
    from dist_ms.communication import init, get_rank
    init()
    data = sys.stdin.buffer.read()
    print(get_rank(), len(data), sum(data))
    """
    data = bytes(range(256)) * 2000
    done = run(code, ranks=ranks, input=data)
    lines = sorted(done.out.splitlines())
    assert lines[0] == f"0 {len(data)} {sum(data)}"
    assert lines[1:] == ["1 0 0"] * (ranks - 1)


def test_stdin_from_a_file_that_was_read_from_before(write, tmp_path):
    script = write(
        "import os, sys\nif os.environ.get('OMPI_COMM_WORLD_RANK', '0') == '0':\n    print(sys.stdin.read())"
    )
    (tmp_path / "in").write_text("first line\nsecond line\n")
    with open(tmp_path / "in", "rb", buffering=0) as file:
        file.seek(11)
        done = subprocess.run(
            command("dist-ms", 2, script),
            stdin=file,
            capture_output=True,
            env=environment(),
            timeout=60,
        )
    assert done.stdout == b"second line\n\n"


def test_output_arrives_at_once_and_whole_lines_stay_whole(write, tmp_path):
    script = write(
        """
        import sys, time
        from dist_ms.communication import init, get_rank
        init()
        sys.stdout.write(f"begin")
        time.sleep(1)
        print()
        for i in range(100):
            print("line", get_rank(), i, "x" * 100)
        sys.stderr.write("\\r50 %")
        time.sleep(1)
        """
    )
    start = time.monotonic()
    process = subprocess.Popen(
        command("dist-ms", 2, script),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        cwd=tmp_path,
    )
    out, came = os.read(process.stdout.fileno(), 100), time.monotonic()
    assert out.startswith(b"begin")
    assert os.read(process.stderr.fileno(), 100).startswith(b"\r50 %")
    shown = time.monotonic()
    rest, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert time.monotonic() - shown > 0.5  # neither waited for the end of the job
    assert shown - came > 0.5 and came - start < 30
    lines = (out + rest).decode().replace("begin", "").split("\n")
    for rank in range(2):
        mine = [line for line in lines if line.startswith(f"line {rank} ")]
        assert mine == [f"line {rank} {i} {'x' * 100}" for i in range(100)]


def test_output_to_files_leaves_what_follows_intact(write, tmp_path):
    script = write("import sys\nprint('out')\nprint('err', file=sys.stderr)")
    words = " ".join(f"'{w}'" for w in command("dist-ms", 2, script))
    subprocess.run(
        f"(echo before; {words}; echo after) >out.txt 2>err.txt",
        shell=True,
        check=True,
        cwd=tmp_path,
        env=environment(),
        timeout=60,
    )
    assert (tmp_path / "out.txt").read_text() == "before\nout\nout\nafter\n"
    assert (tmp_path / "err.txt").read_text() == "err\nerr\n"


def test_labels_and_a_file_per_rank(run, tmp_path):
    code = """
    import sys, time
    from mpi4py import MPI
    from dist_ms.communication import init, get_rank
    init()
    start = MPI.COMM_WORLD.bcast(time.time() + 1)
    time.sleep(max(0, start - time.time()))  # a busy machine leaves init at two times
    print("begin")
    time.sleep(0.3)
    print("rank", get_rank())
    print("bad", file=sys.stderr)
    """
    done = run(code, options=["--prefix", "--log-dir", str(tmp_path / "logs")])
    assert done.code == 0
    first, *rest = done.out.splitlines()
    assert first == "[0-1] begin" and sorted(rest) == ["[0] rank 0", "[1] rank 1"]
    assert done.err == "[0-1] bad\n"
    for rank in range(2):
        assert (tmp_path / "logs" / f"rank_{rank}.log").read_text().splitlines() == ["begin", f"rank {rank}", "bad"]


def test_a_reader_that_has_seen_enough_ends_the_job(write, tmp_path):
    script = write("import time\nfor i in range(10**6):\n    print(i, flush=True)\n    time.sleep(0.01)")
    process = subprocess.Popen(command("dist-ms", 2, script), stdout=subprocess.PIPE, env=environment(), cwd=tmp_path)
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(20) == 141


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize(("end", "code"), [("pass", 0), ("raise SystemExit(5)", 5), ("1 / 0", 1)])
def test_the_exit_code_is_the_script_s(run, ranks, end, code):
    assert run(end, ranks=ranks).code == code


def test_no_mpirun_is_said_with_the_remedy(write, tmp_path):
    fake = tmp_path / "python"
    fake.symlink_to(sys.executable)
    code = "import sys; sys.executable = sys.argv.pop(1)\nfrom dist_ms.launch.main import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", code, str(fake), "run", "-n", "2", str(write("pass"))],
        capture_output=True,
        text=True,
        env=environment(PATH=str(tmp_path)),
        timeout=60,
    )
    assert done.returncode == 2
    assert "no mpirun was found" in done.stderr and "pip install 'dist_ms[mpi]'" in done.stderr


FAILED = """#!/bin/bash
if [[ $1 == --version ]]; then echo "mpirun (Open MPI) 5.0.8"; exit; fi
trap "" TERM
printf -- '-%.0s' {1..74} >&2
printf '\\nprterun detected that one or more processes exited with non-zero status\\n' >&2
printf '   Process name: [prterun-vm-5082@1,1]\\n   Exit code:    3\\n' >&2
printf -- '-%.0s' {1..74} >&2
printf '\\n' >&2
for _ in {1..600}; do sleep 0.1; done
"""


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        (["-n", "2", "--mpi-args=--no-such-option"], "no rank has told why."),
        (["--hosts", "localhost:1,nowhere.invalid:1"], "'ssh nowhere.invalid true' must work from here"),
    ],
)
def test_an_mpirun_that_starts_no_rank_was_ended_by_no_signal(write, tmp_path, options, hint):
    if not is_open_mpi():
        pytest.skip("another MPI has other exit codes")
    agent = tmp_path / "agent.sh"  # an ssh that reaches nobody
    agent.write_text("#!/bin/sh\nexit 255\n")
    agent.chmod(0o755)
    words = [*DIST_MS, *options, str(write("print('ran')"))]
    env = environment(PRTE_MCA_plm_ssh_agent=str(agent), OMPI_MCA_plm_rsh_agent=str(agent))
    done = subprocess.run(words, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    last = done.stderr.splitlines()[-1]
    assert done.returncode > 0 and "ran" not in done.stdout
    assert last.startswith(f"dist-ms: mpirun ended with exit code {done.returncode}, ") and hint in last


def test_an_mpirun_that_hangs_when_the_job_is_over_is_ended(write, tmp_path):
    mpirun = tmp_path / "mpirun"
    mpirun.write_text(FAILED)
    mpirun.chmod(0o755)
    start = time.monotonic()
    words = command("dist-ms", 2, write("pass"), options=["--mpirun", str(mpirun)])
    done = subprocess.run(words, capture_output=True, text=True, env=environment(), timeout=60)
    assert done.returncode == 3 and done.stderr == "dist-ms: rank 1 of 2 ended with exit code 3; the job was stopped.\n"
    assert time.monotonic() - start < 20


def test_doctor_runs_a_job(write):
    done = subprocess.run(
        [sys.executable, "-m", "dist_ms.launch", "doctor"],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=120,
    )
    assert done.returncode == 0, done.stdout
    for word in ("python ", "cpu ", "kernels v", "cores ", "mpirun ", "mpi4py ", "2 ranks met in "):
        assert word in done.stdout
