"""The command line of `dist-ms`."""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from collections.abc import Sequence

from dist_ms.launch.command import Job
from dist_ms.launch.mpirun import LaunchError
from dist_ms.launch.stopping import GRACE


def positive(text: str) -> int:
    """Return a positive int, for argparse."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be 1 or more, but got {text}")
    return number


def count(text: str) -> int:
    """Return an int of 0 or more, for argparse."""
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"must be 0 or more, but got {text}")
    return number


def seconds(text: str) -> float:
    """Return a number of seconds, for argparse."""
    number = float(text)
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"must be 0 or more, but got {text}")
    return number


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all subcommands."""
    parser = argparse.ArgumentParser(prog="dist-ms", description="Run dist_ms jobs.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    run = commands.add_parser(
        "run",
        help="run a script on several ranks",
        usage="dist-ms run -n N [options] (script.py | -m module) [arguments ...]",
        description="Run a Python script on N ranks with this interpreter. The exit code is the "
        "script's: the first failing rank's; 75 when the ranks have stopped on request, after a signal.",
    )
    run.add_argument("-n", "--ranks", type=positive, required=True, metavar="N")
    run.add_argument(
        "--servers",
        type=positive,
        default=0,
        metavar="K",
        help="start K parameter servers besides the N ranks, which are the workers; for scripts "
        "that call set_ps_context(enable_ps=True)",
    )
    run.add_argument(
        "--bind",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="give each rank cores of its own when there are enough (default)",
    )
    run.add_argument(
        "--threads",
        type=positive,
        metavar="T",
        help="threads per rank (default: OMP_NUM_THREADS, or as many as a rank has cores)",
    )
    run.add_argument(
        "--timeout",
        type=float,
        metavar="SECONDS",
        help="how long a rank waits for others (default: DIST_MS_TIMEOUT, or 600)",
    )
    run.add_argument(
        "--grace",
        type=seconds,
        default=GRACE,
        metavar="SECONDS",
        help="how long ranks may take to finish their step, save and end after the first SIGINT, SIGTERM or SIGUSR1; "
        f"0 ends them at once (default {GRACE:g})",
    )
    run.add_argument(
        "--restarts",
        type=count,
        default=0,
        metavar="N",
        help="start a failed job again, up to N times, after 1, 2, 4 ... 60 s; ranks find the number of restarts in "
        "DIST_MS_RESTARTS, and Model.train(resume=...) goes on where the run was (default 0)",
    )
    run.add_argument("--mpirun", metavar="PROGRAM", help="the mpirun to use")
    run.add_argument(
        "--mpi-args",
        default="",
        metavar="ARGS",
        help='further arguments of mpirun, as one word: --mpi-args="--host a:2,b:2"',
    )
    run.add_argument("-m", dest="module", action="store_true", help="run a module, as python -m")
    run.add_argument("program", nargs=argparse.REMAINDER, metavar="script.py", help="what to run")
    plan = commands.add_parser(
        "plan",
        help="show what a script's first train step would do with each parameter",
        usage="dist-ms plan [-n N] (script.py | -m module) [arguments ...]",
        description="Run a script up to its first data-parallel train step, print the plan instead of taking it, "
        "and end.",
    )
    plan.add_argument("-n", "--ranks", type=positive, default=1, metavar="N", help="the number of ranks (default 1)")
    plan.add_argument("-m", dest="module", action="store_true", help="run a module, as python -m")
    plan.add_argument("program", nargs=argparse.REMAINDER, metavar="script.py", help="what to run")
    commands.add_parser("ckpt", help="look at the saved states of a run: ls, verify, diff, export")
    commands.add_parser("doctor", help="show what is installed, and run a job of two ranks")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    Args:
        argv: the arguments; default: those of this process.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] == ["ckpt"]:  # a program of the package itself, which this floor does not import
        return subprocess.run([sys.executable, "-m", "dist_ms.train.state", *words[1:]], check=False).returncode
    parser = make_parser()
    options = parser.parse_args(words)
    try:
        if options.command == "doctor":
            from dist_ms.launch.doctor import doctor

            return doctor()
        if options.command == "plan":
            from dist_ms.launch.plan import show_plan

            return show_plan(options.ranks, _program(parser, options))
        return _run(parser, options)
    except LaunchError as error:
        print(f"dist-ms {options.command}: {error}", file=sys.stderr)
        return 2


def _program(parser: argparse.ArgumentParser, options: argparse.Namespace) -> list[str]:
    """Return Python's arguments for the program to run."""
    program = options.program[1:] if options.program[:1] == ["--"] else options.program
    if not program:
        parser.error(f"{options.command} needs a script.py, or -m and a module")
    return ["-m", *program] if options.module else program


def _run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Carry out `dist-ms run`."""
    from dist_ms.launch.run import run_job

    job = Job(
        ranks=options.ranks + options.servers,
        python=sys.executable,
        program=_program(parser, options),
        bind=options.bind,
        threads=options.threads,
        timeout=options.timeout,
        mpi_args=shlex.split(options.mpi_args),
        servers=options.servers,
    )
    return run_job(job, options.mpirun, grace=options.grace, restarts=options.restarts)


if __name__ == "__main__":
    sys.exit(main())
