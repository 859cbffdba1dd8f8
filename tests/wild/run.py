"""Run the public programs of programs.tsv on dist_ms, and on MindSpore where it is at hand; print and write what came.

    python tests/wild/run.py --repositories FOLDER [--referee PYTHON] [--losses] [--only TEXT] [--table docs/wild.md]

FOLDER has a clone or copy of each repository at OWNER/NAME. A program runs in a copy of its repository, with the edits
that programs.tsv names: paths of data, and numbers of epochs. With --losses those that ran whole here, and were not
refused by MindSpore, run once more from seed 0 on both, until their first 20 losses are there or the time is over.
Programs of the list that are not run now keep the rows that they have in the table.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from math import isclose, isnan
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.wild.small_data import make

HERE = Path(__file__).resolve().parent
EDITED = (".py", ".yaml")


class Program(NamedTuple):
    """A line of programs.tsv.

    Attributes:
        repository: owner and name, and the folder of a project within.
        commit: at which it was run.
        path: of the script.
        arguments: with {data} for the folder of small data.
        edits: "OLD => NEW", made in the repository's scripts and their settings; separated by " ;; ".
    """

    repository: str
    commit: str
    path: str
    arguments: str = ""
    edits: str = ""


class Outcome(NamedTuple):
    """How a program ended.

    Attributes:
        code: its exit code; None: it had not ended in time.
        seconds: how long it took.
        cause: its last error.
    """

    code: int | None
    seconds: float
    cause: str = ""

    def __str__(self) -> str:
        if self.code is None:
            return f"not done in {self.seconds:.0f} s"
        return f"whole, {self.seconds:.0f} s" if self.code == 0 else self.cause


def read_programs(path: Path = HERE / "programs.tsv") -> list[Program]:
    """Read the list.

    Args:
        path: its file.
    """
    lines = path.read_text().splitlines()
    return [Program(*line.split("\t")) for line in lines if line and not line.startswith("#")]


def run(program: Program, python: Sequence[str | Path], repositories: Path, data: Path, limit: float) -> Outcome | None:
    """Run a program; None where its repository is not at hand.

    Args:
        program: which.
        python: the interpreter and what stands before the script.
        repositories: the folder of them.
        data: the folder of small data.
        limit: seconds.
    """
    repository = repositories / program.repository
    if not (repository / program.path).exists():
        return None
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary, repository.name)
        shutil.copytree(repository, copy, ignore=shutil.ignore_patterns(".git"), symlinks=True)
        script = copy / program.path
        if script.suffix == ".ipynb":
            script = as_script(script)
        edits = [edit.split(" => ") for edit in program.edits.format(data=data).split(" ;; ") if edit]
        for file in (file for file in copy.rglob("*") if edits and file.suffix in EDITED):
            text = file.read_text(errors="surrogateescape")
            for old, new in edits:
                text = text.replace(old, new)
            file.write_text(text, errors="surrogateescape")
        words = [*map(str, python), script.name, *program.arguments.format(data=data).split()]
        env = {**os.environ, "MPLBACKEND": "Agg", "GLOG_v": "3", "PYTHONPATH": str(copy), "PYTHONHASHSEED": "0"}
        began = time.monotonic()
        with open(Path(temporary, "said"), "w+", errors="replace") as said:
            job = subprocess.Popen(
                words, cwd=script.parent, env=env, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                start_new_session=True,
            )  # fmt: skip
            try:
                code: int | None = job.wait(limit)
            except subprocess.TimeoutExpired:
                os.killpg(job.pid, signal.SIGKILL)
                job.wait()
                code = None
            said.seek(0)
            text = said.read()
    return Outcome(code, time.monotonic() - began, cause_of(text) if code else "")


def compare_losses(
    program: Program, pythons: Sequence[Sequence[str]], options: argparse.Namespace, data: Path
) -> list[list[float | str]]:
    """Run a program from seed 0 on both; return the first losses of each, as many as the slower had in its time.

    They are found without graphs, where MindSpore may fail though it did not with them: what it had until then counts.

    Args:
        program: which.
        pythons: the interpreters and what stands before the script.
        options: of the command line.
        data: the folder of small data.
    """
    found, cut = [], False
    for place, python in enumerate(pythons):
        with tempfile.TemporaryDirectory() as temporary:
            file = Path(temporary, "losses.json")
            outcome = run(program, [*python, HERE / "losses.py", file], options.repositories, data, options.limit)
            cut = cut or outcome is None or outcome.code is None or place > 0 < outcome.code
            if not file.exists():
                return []
            found.append(json.loads(file.read_text()))
    shortest = min(map(len, found)) if cut else None
    return [losses[:shortest] for losses in found]


def same_number(a: float, b: float, unit: float) -> bool:
    """Whether two losses agree; two that are no numbers do.

    Args:
        a: one.
        b: the other.
        unit: by which they may differ in any case.
    """
    return a == b or isclose(a, b, rel_tol=1e-3, abs_tol=unit) or (isnan(a) and isnan(b))


def agreement(own: list[float | str], referee: list[float | str]) -> str:
    """Tell how many losses agree to 1e-3 relative, those that were printed also to the last digit.

    Args:
        own: of dist_ms.
        referee: of MindSpore.

    Examples:
        >>> from tests.wild.run import agreement
        >>> agreement([1.0, 2.0, 3.0], [1.0005, 2.0, 3.1])
        '2 of 3 agree'
        >>> agreement(["0.0123", "0.5"], ["0.0124", "0.5"]), agreement([0.0123], [0.0124]), agreement([], [])
        ('2 agree', '0 of 1 agree', '')
        >>> agreement([float("inf"), float("nan")], [float("inf"), float("nan")])
        '2 agree'
    """
    if not own or not referee:
        return ""
    digits = [len(str(one).partition(".")[2]) if isinstance(one, str) and "e" not in one else 9 for one in referee]
    pairs = zip(own, referee, digits, strict=False)
    alike = [same_number(float(a), float(b), 1.01 * 10**-unit) for a, b, unit in pairs]
    if all(alike) and len(own) == len(referee):
        return f"{len(alike)} agree"
    first = (*alike, False).index(False)
    return f"{first} of {max(len(own), len(referee))} agree"


def as_script(notebook: Path) -> Path:
    """Write the code of a notebook beside it, without what only a notebook can do, and return its place.

    Args:
        notebook: its file.
    """
    cells = [
        "".join(cell["source"]) for cell in json.loads(notebook.read_text())["cells"] if cell["cell_type"] == "code"
    ]
    lines = [line for cell in cells if not cell.startswith("%%") for line in [*cell.split("\n"), ""]]
    script = notebook.with_suffix(".py")
    script.write_text("\n".join("pass" if line.lstrip().startswith(("!", "%")) else line for line in lines))
    return script


def cause_of(text: str) -> str:
    r"""Return the last line that names an error.

    Args:
        text: what a program has written.

    Examples:
        >>> from tests.wild.run import cause_of
        >>> cause_of("KeyError: 1\nImportError: cannot import name 'a' from 'b' (/b.py)\ndone")
        "ImportError: cannot import name 'a' from 'b'"
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    named = [line for line in lines if "Error" in line.partition(":")[0] or line.startswith("SystemExit")]
    return re.sub(r" ?\(/[^)]*\)", "", ([*lines[-1:], *named] or [""])[-1])[:200]  # no path of this machine


def table(outcomes: dict[str, dict]) -> str:
    """Return docs/wild.md.

    Args:
        outcomes: by the line of programs.tsv.
    """
    whole = sum(row["own"].startswith("whole") for row in outcomes.values())
    both = [row for row in outcomes.values() if row.get("referee")]
    referee = sum(row["referee"].startswith("whole") for row in both)
    missed = sum(row["referee"].startswith("whole") and not row["own"].startswith("whole") for row in both)
    losses = [row["losses"] for row in outcomes.values() if row.get("losses")]
    agreeing = sum(" of " not in cell for cell in losses)
    head = (
        (HERE / "head.md")
        .read_text()
        .format(
            tried=len(outcomes),
            whole=whole,
            both=len(both),
            referee=referee,
            missed=missed,
            losses=len(losses),
            agreeing=agreeing,
        )
    )
    rows = ["| program | dist_ms | MindSpore 2.10 | first losses |", "|---|---|---|---|"]
    last = ""
    for line, row in outcomes.items():
        program = Program(*line.split("\t"))
        if program.repository != last:
            rows.append(f"| **{program.repository}** at {program.commit[:7]} | | | |")
            last = program.repository
        found = f"`{shown(program)}`", row["own"], row.get("referee", ""), row.get("losses", "")
        cells = (cell.replace("|", "\\|") for cell in found)
        rows.append(f"| {' | '.join(cells)} |")
    return head + "\n" + "\n".join(rows) + "\n"


def read_table(page: str, programs: Sequence[Program]) -> dict[str, dict]:
    r"""Return the rows that a page has, by the line of programs.tsv; the inverse of `table`.

    Args:
        page: its text.
        programs: the list.

    Examples:
        >>> from tests.wild.run import Program, read_table, table
        >>> line = "me/mine\t0123456\ta.py\t--b 1\t"
        >>> rows = {line: {"own": "KeyError: a|b", "referee": "whole, 2 s"}}
        >>> read_table(table(rows), [Program(*line.split("\t"))]) == rows
        True
    """
    lines = {(program.repository, shown(program)): "\t".join(program) for program in programs}
    repository, rows = "", {}
    for text in page.splitlines():
        if named := re.match(r"\| \*\*(.*)\*\* at ", text):
            repository = named[1]
        name, *cells = [cell.replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", text)[1:-1]] or [""]
        if line := lines.get((repository, name.strip("`"))):
            rows[line] = {who: cell for who, cell in zip(("own", "referee", "losses"), cells, strict=False) if cell}
    return rows


def shown(program: Program) -> str:
    """How the page names a program.

    Args:
        program: which.
    """
    return f"{program.path} {program.arguments}".strip()


def save(results: Path | None, found: dict[str, dict]) -> None:
    """Write what has been found so far.

    Args:
        results: the file, if there is to be one.
        found: by the line of programs.tsv.
    """
    if results is not None:
        results.write_text(json.dumps(found, indent=1))


def main() -> int:
    """Run the programs; return 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repositories", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--python", default=sys.executable, help="has dist_ms, and what the programs import beside it")
    parser.add_argument("--referee", metavar="PYTHON", help="has MindSpore; runs those programs too")
    parser.add_argument("--losses", action="store_true", help="compare the first losses of those that run on both")
    parser.add_argument("--only", default="", metavar="TEXT", help="programs whose line has it")
    parser.add_argument("--limit", type=float, default=120, metavar="SECONDS")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="for small data: made there unless it exists")
    parser.add_argument("--results", type=Path, help="a JSON file: what it has is not run again")
    parser.add_argument("--table", type=Path, help="the page to write")
    options = parser.parse_args()
    found: dict[str, dict] = {}
    if options.results is not None and options.results.exists():
        found = json.loads(options.results.read_text())
    with tempfile.TemporaryDirectory() as temporary:
        data = options.data or Path(temporary, "data")
        if not data.exists():
            make(data)
        pythons = {"own": [options.python, "-m", "dist_ms.compat", "--cpu"]}
        if options.referee:
            pythons["referee"] = [options.referee, str(HERE / "on_cpu.py")]
        for program in read_programs():
            line = "\t".join(program)
            for who, python in pythons.items():
                row = found.setdefault(line, {})
                if options.only not in line or who in row:
                    continue
                outcome = run(program, python, options.repositories, data, options.limit)
                row[who] = "not at hand" if outcome is None else str(outcome)
                print(f"{who:8}{program.repository} {program.path}: {row[who]}", flush=True)
                save(options.results, found)
            runs = row.get("own", "").startswith("whole") and row.get("referee", "").startswith(("whole", "not done"))
            if options.losses and options.only in line and runs and "losses" not in row:
                row["numbers"] = compare_losses(program, list(pythons.values()), options, data)
                row["losses"] = agreement(*row["numbers"]) if row["numbers"] else ""
                print(f"losses  {program.repository} {program.path}: {row['losses'] or 'none'}", flush=True)
                save(options.results, found)
    kept: dict[str, dict] = {}
    if options.table is not None and options.table.exists():
        kept = read_table(options.table.read_text(), read_programs())
    found = {
        line: row if row.get("own", "not at hand") != "not at hand" else kept.get(line) for line, row in found.items()
    }
    found = {line: row for line, row in found.items() if row}
    if options.table is not None:
        options.table.write_text(table(found))
    print(f"{sum(row['own'].startswith('whole') for row in found.values())} of {len(found)} ran whole")
    return 0


if __name__ == "__main__":
    sys.exit(main())
