"""Running a survey: both sides side by side, case by case in turns, and what the ratios come to."""

import json
import math
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from survey import Row

LOW, LOWEST = 0.8, 0.5
# What limits both sides to a CPU level: dist_ms's kernels, oneDNN (PyTorch's has the same switch), ATen and MKL.
LEVELS = {
    "native": {},
    "avx512_bf16": {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE_BF16"},
    "v4": {"DIST_MS_MAX_ISA": "v4", "ONEDNN_MAX_CPU_ISA": "AVX512_CORE", "ATEN_CPU_CAPABILITY": "avx512"},
    "v3": {
        "DIST_MS_MAX_ISA": "v3",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "ATEN_CPU_CAPABILITY": "avx2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    },
    "v2": {
        "DIST_MS_MAX_ISA": "v2",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
        "ATEN_CPU_CAPABILITY": "default",
        "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
    },
}


@dataclass
class Figures:
    """A case's times in seconds: the least and the median of each side; `theirs` are None without PyTorch.

    Attributes:
        refused: which sides could not run it, and why.
    """

    name: str
    ours: tuple[float, float] | None
    theirs: tuple[float, float] | None
    refused: str = ""

    @property
    def ratio(self) -> float | None:
        """PyTorch's least time over ours."""
        return self.theirs[0] / self.ours[0] if self.ours and self.theirs else None

    @property
    def low(self) -> bool:
        """Whether the ratio is low."""
        return self.ratio is not None and self.ratio < LOW

    @property
    def line(self) -> str:
        """The case as a line of the table."""
        columns = [f"{'' if t is None else f'{t[0] * 1e3:.3f}':>10}" for t in (self.ours, self.theirs)]
        ratio = "" if self.ratio is None else f"{self.ratio:6.2f} ({self.theirs[1] / self.ours[1]:.2f})"
        return f"{self.name:100} {' '.join(columns)} {ratio:>16} {self.refused}".rstrip()


class Side:
    """A process that times the rows it is sent."""

    def __init__(self, name: str, python: str, threads: int, level: str) -> None:
        self.name = name
        script = Path(__file__).parent.parent / "bench_kernels.py"
        # PyTorch's threads still spin when our turn begins: that must not count as cores that others keep busy.
        fixed = {"OMP_NUM_THREADS": str(threads), "OMP_DYNAMIC": "false"}
        environment = {**os.environ, **LEVELS[level], **fixed}
        command = [python, "-W", "ignore", str(script), "--threads", str(threads), "--side", name]
        self._process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def time(self, row: Row | None, seconds: float) -> dict:
        """The answer to a request; the process has to live."""
        with suppress(BrokenPipeError):  # the missing answer tells
            self._process.stdin.write(json.dumps({"row": row and asdict(row), "seconds": seconds}) + "\n")
            self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(
                f"The process of side '{self.name}' ended with code {self._process.wait()} at {row}. "
                f"{self._process.args[0]} needs NumPy, and PyTorch for the side 'theirs'."
            )
        return json.loads(line)

    def close(self) -> None:
        """End the process."""
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()


def compare(
    rows: Iterator[Row], torch: str | None, threads: int, rounds: int, seconds: float, level: str
) -> Iterator[Figures]:
    """Yield the figures of each row: `rounds` times in turns, so long on each side."""
    pythons = {"ours": sys.executable, **({"theirs": torch} if torch else {})}
    sides = {name: Side(name, python, threads, level) for name, python in pythons.items()}
    try:
        for row in rows:
            found: dict[str, list[dict]] = {name: [] for name in sides}
            refused = ""
            for turn in range(rounds):
                for name, side in sides.items():
                    answer = side.time(None if turn else row, seconds)
                    if "error" in answer:
                        refused += f"{name} refused: {answer['error']} "
                    else:
                        found[name].append(answer)
                if refused:
                    break
            times = {
                name: (min(a["best"] for a in answers), statistics.median(a["median"] for a in answers))
                for name, answers in found.items()
                if answers
            }
            yield Figures(row.name, times.get("ours"), times.get("theirs"), refused)
    finally:
        for side in sides.values():
            side.close()


def summary(figures: list[Figures]) -> str:
    """What the ratios come to: their geometric mean, and the low ones by name."""
    compared = sorted((f for f in figures if f.ratio is not None), key=lambda f: f.ratio)
    refused = [f for f in figures if f.refused]
    lines = []
    if compared:
        mean = math.exp(sum(math.log(f.ratio) for f in compared) / len(compared))
        low = [f for f in compared if f.low]
        lowest = [f for f in low if f.ratio < LOWEST]
        lines.append(
            f"{len(compared)} cases compared: geometric mean {mean:.2f}, {len(low)} below {LOW}, "
            f"{len(lowest)} below {LOWEST}"
        )
        lines += [f"{f.ratio:6.2f}  {f.name}" for f in low]
    if refused:
        lines.append(f"{len(refused)} cases that a side refused:")
        lines += [f"  {f.name}: {f.refused}" for f in refused]
    return "\n".join(lines)
