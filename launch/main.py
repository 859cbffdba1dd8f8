"""The command line of `dist-ms`."""

from __future__ import annotations

import argparse
import difflib
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from dist_ms.launch.mpirun import LaunchError, find_mpirun
from dist_ms.launch.run_options import add_run_options, make_job, number, positive


class _Version(argparse.Action):
    """Prints what is installed."""

    def __call__(self, parser: argparse.ArgumentParser, *args: Any) -> None:
        import importlib.metadata

        try:
            mpi = find_mpirun().version
        except LaunchError:
            mpi = "no mpirun"
        print(f"dist-ms {importlib.metadata.version('dist_ms')} (Python {sys.version.split()[0]}, {mpi})")
        parser.exit()


class _Parser(argparse.ArgumentParser):
    """A parser whose commands refuse unknown options themselves, under their own usage."""

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def, override]
        options, unknown = super().parse_known_args(args, namespace)
        if unknown and not unknown[0].startswith("-"):
            self.error(f"nothing more must follow, but got {' '.join(map(repr, unknown))}")
        if unknown:
            hint = _meant(unknown[0].partition("=")[0], self._option_string_actions)
            self.error(f"there is no option {unknown[0]}{hint}")
        return options, unknown

    def _check_value(self, action, value):  # type: ignore[no-untyped-def]
        if action.dest == "command" and value not in action.choices:
            self.error(f"there is no command {value!r}{_meant(value, action.choices)}: {', '.join(action.choices)}")
        super()._check_value(action, value)


def _meant(word: str, known: Iterable[str]) -> str:
    """Return a question whether one of the known words was meant, if one is like it."""
    close = difflib.get_close_matches(word, known, 1)
    return f"; did you mean {close[0]}?" if close else ""


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all subcommands."""
    parser = _Parser(prog="dist-ms", description="Run dist_ms jobs.")
    parser.add_argument("--version", action=_Version, nargs=0, help="show the versions of dist_ms and MPI, and end")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    run = commands.add_parser(
        "run",
        help="run a script on several ranks",
        usage="dist-ms run [-n N] [options] (script.py | -m module) [arguments ...]",
        description="Run a Python script on N ranks with this interpreter. The exit code is the "
        "script's: the first failing rank's; 75 when the ranks have stopped on request, after a signal.",
    )
    add_run_options(run)
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
    top = commands.add_parser(
        "top",
        help="show the jobs that run on this machine",
        description="Show the jobs that 'dist-ms run' has started on this machine, with each rank's step, speed, loss, "
        "share of the time that it waits for data and for other ranks, CPU and memory.",
    )
    top.add_argument("--once", action="store_true", help="show them once; so it is where there is no terminal")
    top.add_argument("--interval", type=_seconds, default=2.0, metavar="SECONDS", help="between two looks (default 2)")
    shown = commands.add_parser(
        "report",
        help="show where the time of a traced run went",
        description="Make DIR/trace.json (for Perfetto or chrome://tracing) and the page DIR/report.html of what the "
        "ranks of 'dist-ms run --trace DIR' have recorded, and say what bounds the run.",
    )
    shown.add_argument("folder", metavar="DIR", help="of 'dist-ms run --trace DIR'")
    commands.add_parser("doctor", help="show what is installed, and run a job of two ranks")
    return parser


def _seconds(text: str) -> float:
    """Return a time between two looks, for argparse."""
    return number(text, float, 0.1, "0.1 to 3600 seconds", 3600)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    Args:
        argv: the arguments; default: those of this process.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] == ["ckpt"]:  # a program of the package itself, which this floor does not import
        return _look_at_states(words[1:])
    options = make_parser().parse_args(words)
    try:
        code = _carry_out(options)
        sys.stdout.flush()
        return code
    except LaunchError as error:
        print(f"dist-ms {options.command}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # `dist-ms doctor | head`: nobody reads on
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left goes nowhere, without a word
        return 128 + signal.SIGPIPE
    except KeyboardInterrupt:  # before there is a job that could be asked to stop
        return 128 + signal.SIGINT


def _look_at_states(words: list[str]) -> int:
    """Run `dist-ms ckpt` and return its exit code.

    A Ctrl-C at a terminal reaches it as well: it minds that once its modules are there, and is ended otherwise.
    """
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # which the child inherits
    process = subprocess.Popen([sys.executable, "-m", "dist_ms.train.state", *words])
    signal.signal(signal.SIGINT, before)
    try:
        return process.wait()
    except KeyboardInterrupt:  # wait has given it a quarter of a second
        process.kill()
        process.wait()
        return 128 + signal.SIGINT


def _carry_out(options: argparse.Namespace) -> int:
    """Run a command and return its exit code."""
    if options.command == "doctor":
        from dist_ms.launch.doctor import doctor

        return doctor()
    if options.command == "top":
        from dist_ms.launch.monitoring.top import top

        return top(options.interval, options.once)
    if options.command == "report":
        from dist_ms.launch.reporting.report import report

        print(f"{report(options.folder)}\nSee {os.path.join(options.folder, 'report.html')} and trace.json there.")
        return 0
    if options.command == "plan":
        from dist_ms.launch.plan import show_plan

        return show_plan(options.ranks, _program(options))
    return _run(options)


def _program(options: argparse.Namespace) -> list[str]:
    """Return Python's arguments for the program to run."""
    program = options.program[1:] if options.program[:1] == ["--"] else options.program
    if not program:
        raise LaunchError("a script.py must follow, or -m and a module, with their arguments.")
    return ["-m", *program] if options.module else program


def _run(options: argparse.Namespace) -> int:
    """Carry out `dist-ms run`."""
    from dist_ms.launch.dry_run import show_command
    from dist_ms.launch.run import run_job

    job = make_job(options, _program(options), os.environ)
    if options.dry_run:
        return show_command(job, options.mpirun, os.environ)
    return run_job(
        job,
        options.mpirun,
        grace=options.grace,
        restarts=options.restarts,
        min_ranks=options.min_ranks,
        closing=getattr(sys, options.summary_on) if options.summary else None,
    )


if __name__ == "__main__":
    sys.exit(main())
