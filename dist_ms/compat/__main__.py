"""`python -m dist_ms.compat script.py arguments...`: run a MindSpore script on dist_ms."""

from __future__ import annotations

import argparse
import os
import runpy
import sys

from dist_ms.common.settings.context import take_any_target_for_cpu
from dist_ms.compat import install


def main() -> None:
    """Run the script named on the command line as __main__, with mindspore resolving to dist_ms."""
    parser = argparse.ArgumentParser(prog="python -m dist_ms.compat", description="Run a MindSpore script on dist_ms.")
    parser.add_argument("script", help="the script, or with -m a module's name")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the script's own arguments")
    parser.add_argument("-m", dest="module", action="store_true", help="`script` is a module")
    parser.add_argument(
        "--cpu", action="store_true", help="take the GPU or Ascend that the script asks for to be the CPU"
    )
    options = parser.parse_args()
    install()
    if options.cpu:
        take_any_target_for_cpu()
    sys.argv = [options.script, *options.arguments]
    if options.module:
        sys.path.insert(0, os.getcwd())
        runpy.run_module(options.script, run_name="__main__", alter_sys=True)
        return
    if not os.path.exists(options.script):
        parser.error(f"the script {options.script!r} does not exist")
    sys.path.insert(0, os.path.dirname(os.path.abspath(options.script)))
    runpy.run_path(options.script, run_name="__main__")


if __name__ == "__main__":
    main()
