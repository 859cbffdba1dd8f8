"""The folder of a run's states: which there are, which is the newest, and which are too many."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil

from dist_ms.common.atomic_file import sync_folder
from dist_ms.train.state import files
from dist_ms.train.state.manifest import FILE, DamagedState, Manifest, from_json

_NAME = re.compile(r"step-(\d{8,18})")
_ASIDE = re.compile(r"\.(?:step-\d{8,18}|removed-\d{8,18})\.(?:partial|old)")
_REPLACED = re.compile(r"\.replaced-(\d{8,18})\.old")
_BEST = "best.json"


class Folder:
    """A folder in which a run's states are: `step-00000120` is that after 120 steps.

    A state is made in a hidden folder and gets its name by one rename, when it is whole and on the disk. One that it
    replaces is hidden just before; where the process ended between these two renames, the hidden one still counts.

    Args:
        path: made when something is saved.
    """

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)

    def steps(self) -> list[int]:
        """Return the steps of the states, in order."""
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            names = os.listdir(self.path)
            return sorted({int(m[1]) for name in names if (m := _NAME.fullmatch(name) or _REPLACED.fullmatch(name))})
        return []

    def of(self, step: int) -> str:
        """Return the path of a state."""
        named, replaced = self._named(step), self._replaced(step)
        return replaced if not os.path.lexists(named) and os.path.lexists(replaced) else named

    def _named(self, step: int) -> str:
        return os.path.join(self.path, f"step-{step:08d}")

    def _replaced(self, step: int) -> str:
        return os.path.join(self.path, f".replaced-{step:08d}.old")

    def manifest(self, step: int) -> Manifest:
        """Return the manifest of a state.

        Raises:
            DamagedState: if it is missing or damaged.
        """
        try:
            with files.open_file(os.path.join(self.of(step), FILE)) as file:
                found = from_json(file.read().decode())
        except (OSError, UnicodeDecodeError) as error:
            raise DamagedState(f"its {FILE} cannot be read: {error}") from None
        if found.step != step:
            raise DamagedState(f"its {FILE} is that of step {found.step}")
        return found

    def verify(self, step: int) -> Manifest:
        """Read a state whole, and return its manifest.

        Raises:
            DamagedState: if anything of it is not what was saved.
        """
        manifest = self.manifest(step)
        for written in manifest.writers:
            file = files.ArraysFile(self.of(step), written)
            for part in written.parts:
                file.read(part.name)
        self.verify_others(step, manifest)
        return manifest

    def verify_others(self, step: int, manifest: Manifest) -> None:
        """Read the files beside the tensors' whole.

        Raises:
            DamagedState: if one is not what was saved.
        """
        for name, about in manifest.others.items():
            path = os.path.join(self.of(step), name)
            try:
                right = os.path.realpath(path) == os.path.join(os.path.realpath(self.of(step)), name)
                right = right and files.file_sum(path) == tuple(about)
            except OSError as error:
                raise DamagedState(f"{name} cannot be read: {error.strerror}") from None
            if not right:
                raise DamagedState(f"{name} is not what was saved: its checksum differs")

    # ---- writing; by one rank
    def aside(self, step: int) -> str:
        """Return the path of a state in the making."""
        return os.path.join(self.path, f".step-{step:08d}.partial")

    def begin(self, step: int) -> str:
        """Make an empty folder for a state in the making, and return its path."""
        os.makedirs(self.path, exist_ok=True)
        self.sweep()
        path = self.aside(step)
        os.mkdir(path, 0o700)
        return path

    def sweep(self) -> None:
        """Delete what an earlier job left in the making, and name again what it was about to replace."""
        for name in os.listdir(self.path):
            path = os.path.join(self.path, name)
            replaced = _REPLACED.fullmatch(name)
            if replaced is not None and not os.path.lexists(self._named(int(replaced[1]))):
                os.rename(path, self._named(int(replaced[1])))
            elif replaced is not None or _ASIDE.fullmatch(name):
                shutil.rmtree(path, ignore_errors=True)

    def commit(self, step: int) -> None:
        """Give a finished state its name; one that has it already is replaced."""
        aside, final = self.aside(step), self._named(step)
        sync_folder(aside)
        if os.path.lexists(final):
            old = self._replaced(step)
            shutil.rmtree(old, ignore_errors=True)
            os.rename(final, old)
            os.rename(aside, final)
            shutil.rmtree(old, ignore_errors=True)
        else:
            os.rename(aside, final)
        sync_folder(self.path)

    def keep(self, newest: int | None) -> None:
        """Delete all states but the newest ones and the best; None: keep all."""
        if newest is None:
            return
        best = self.best()
        for step in self.steps()[:-newest]:
            if best is None or step != best["step"]:
                # Renamed first: what is half deleted is no state any more.
                gone = os.path.join(self.path, f".removed-{step:08d}.old")
                shutil.rmtree(gone, ignore_errors=True)
                os.rename(self._named(step), gone)
                shutil.rmtree(gone, ignore_errors=True)

    # ---- the best
    def best(self) -> dict | None:
        """Return the step, the metric's name and its value of the best state; None where none is noted."""
        try:
            with files.open_file(os.path.join(self.path, _BEST)) as file:
                found = json.load(file)
            step, value = found["step"], found["value"]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        right = isinstance(step, int) and isinstance(value, (int, float)) and step in self.steps()
        return found if right else None

    def note_best(self, step: int, metric: str, value: float) -> None:
        """Note that a state is the best."""
        text = json.dumps({"step": step, "metric": metric, "value": value})
        files.write_text(os.path.join(self.path, _BEST), text)
