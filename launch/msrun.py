"""msrun's command line, carried out by `dist-ms run`: `python -m dist_ms.compat.msrun`.

msrun is started on every node and its processes meet at a master; MPI starts all processes from one place. So what
concerns one machine works as it is written, and what concerns several is refused with the command to use.
"""

from __future__ import annotations

import argparse
import ast
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_REFUSED = {
    "sim_level": (-1, "there are no simulated runs"),
    "sim_rank_id": (-1, "there are no simulated runs"),
    "rank_table_file": ("", "ranks are placed by mpirun"),
    "worker_log_name": ("", "the files are named worker_0.log and so on"),
    "tail_worker_log": ("-1", "all workers' output is shown with --join=True"),
}


def _bool(text: str) -> bool:
    """Return a bool as msrun reads it."""
    if text.lower() not in ("true", "false"):
        raise argparse.ArgumentTypeError(f"must be True or False, but got {text!r}")
    return text.lower() == "true"


def _cores(text: str) -> Any:
    """Return what `--bind_core` says."""
    try:
        return ast.literal_eval(text.capitalize() if text.lower() in ("true", "false") else text)
    except (ValueError, SyntaxError):
        raise argparse.ArgumentTypeError(f"must be True or False, but got {text!r}") from None


def make_parser() -> argparse.ArgumentParser:
    """Return the parser, with msrun's names and defaults."""
    parser = argparse.ArgumentParser(
        prog="msrun",
        description="Run a script on several ranks of this machine, with msrun's options.",
        allow_abbrev=False,
    )
    parser.add_argument("--worker_num", type=int, default=8, help="how many ranks (default 8)")
    parser.add_argument("--local_worker_num", type=int, default=8, help="the same: ranks of this machine (default 8)")
    parser.add_argument("--master_addr", default="127.0.0.1", help="accepted: ranks of one machine need none")
    parser.add_argument("--master_port", type=int, default=8118, help="accepted: ranks of one machine need none")
    parser.add_argument("--node_rank", type=int, default=-1, help="-1 or 0: there is one machine")
    parser.add_argument("--log_dir", default="", help="where worker_0.log and so on are written (default: here)")
    parser.add_argument(
        "--join", type=_bool, default=False, help="wait for the job, show its output and return its code"
    )
    parser.add_argument("--cluster_time_out", type=int, default=600, help="seconds that ranks wait for each other")
    parser.add_argument("--bind_core", type=_cores, default=False, help="give each rank cores of its own")
    for name, (default, why) in _REFUSED.items():
        parser.add_argument(f"--{name}", type=type(default), default=default, help=f"only {default!r}: {why}")
    parser.add_argument("task_script", help="the script")
    parser.add_argument("task_script_args", nargs=argparse.REMAINDER, help="its arguments")
    return parser


def run_words(options: argparse.Namespace, parser: argparse.ArgumentParser) -> list[str]:
    """Return the arguments of `dist-ms` for msrun's options.

    Args:
        options: msrun's.
        parser: which refuses what cannot be.
    """
    for name, (default, why) in _REFUSED.items():
        if getattr(options, name) != default:
            parser.error(f"--{name} must be {default!r}, but got {getattr(options, name)!r}: {why}.")
    if options.worker_num < 1:
        parser.error(f"--worker_num must be 1 or more, but got {options.worker_num}.")
    if options.worker_num != options.local_worker_num or options.node_rank > 0:
        script = shlex.join([options.task_script, *options.task_script_args])
        parser.error(
            f"--worker_num and --local_worker_num must be equal, and --node_rank 0, but got {options.worker_num}, "
            f"{options.local_worker_num} and {options.node_rank}: MPI starts the ranks of all machines from one. Run "
            f"'dist-ms run -n {options.worker_num} --hosts A:{max(1, options.local_worker_num)},B:... {script}' on the "
            "first only."
        )
    if not isinstance(options.bind_core, bool):
        parser.error(f"--bind_core must be True or False, but got {options.bind_core}: mpirun chooses the cores.")
    if options.cluster_time_out < 1:
        parser.error(f"--cluster_time_out must be 1 or more, but got {options.cluster_time_out}.")
    words = ["run", "-n", str(options.worker_num), "--timeout", str(options.cluster_time_out)]
    words += ["--bind" if options.bind_core else "--no-bind"]
    words += ["--log-dir", options.log_dir or ".", "--log-name", "worker"]
    return [*words, options.task_script, *options.task_script_args]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code, 0 for a job that goes on in the background.

    Args:
        argv: the arguments; default: those of this process.
    """
    parser = make_parser()
    options = parser.parse_args(argv)
    words = run_words(options, parser)
    if options.join:
        from dist_ms.launch.main import main as dist_ms_main

        return dist_ms_main(words)
    folder = Path(options.log_dir or ".")
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "msrun.log", "ab") as log:
        job = subprocess.Popen(
            [sys.executable, "-m", "dist_ms.launch", *words],
            stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True, env=os.environ,
        )  # fmt: skip
    job.returncode = 0  # it is not waited for
    print(f"msrun: the job runs as process {job.pid}; its output is in {folder.resolve()}.")
    return 0
