"""Reading a saved state: any range of a tensor's elements from the parts that ranks wrote."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.train.state import tree
from dist_ms.train.state.files import ArraysFile
from dist_ms.train.state.folder import Folder
from dist_ms.train.state.manifest import DamagedState, Manifest, Part, type_named

VALUES = "values/"


class SavedState:
    """The state of a run in its folder.

    Args:
        folder: the run's.
        step: which state.
        manifest: what it says of itself; by default it is read.

    Raises:
        DamagedState: if it is not whole.

    Attributes:
        tensors: by name the parts, each with the rank that wrote it.
    """

    def __init__(self, folder: Folder, step: int, manifest: Manifest | None = None) -> None:
        self.path = folder.of(step)
        self.manifest = folder.manifest(step) if manifest is None else manifest
        self._files = [ArraysFile(self.path, written) for written in self.manifest.writers]
        self.tensors: dict[str, list[tuple[int, Part]]] = {}
        for written in self.manifest.writers:
            for part in written.parts:
                if not part.name.startswith(VALUES):
                    self.tensors.setdefault(part.name, []).append((written.rank, part))

    def whole(self, name: str, rank: int = 0) -> np.ndarray:
        """Return a tensor, of those that every rank has for itself a rank's.

        Raises:
            DamagedState: if it is not what was saved.
        """
        first = self.tensors[name][0][1]
        flat = self.own(name, rank) if first.own else self.range(name, 0, int(np.prod(first.shape, dtype=np.int64)))
        return flat.reshape(first.shape)

    def own(self, name: str, rank: int) -> np.ndarray:
        """Return what a rank alone had by this name, one element after the other."""
        return self._files[rank].read(name)

    def range(self, name: str, start: int, stop: int) -> np.ndarray:
        """Return some of a tensor's elements, counted in C order.

        Raises:
            DamagedState: if the parts do not have all of them.
        """
        parts = self.tensors[name]
        found, filled = np.empty(stop - start, type_named(parts[0][1].dtype)), 0
        for rank, part in parts:
            low, high = max(start, part.start), min(stop, part.stop)
            if (part.dtype, part.shape) != (parts[0][1].dtype, parts[0][1].shape):
                raise DamagedState(f"the parts of '{name}' are not of one tensor")
            if low < high or not found.size:
                values = self._files[rank].read(name)
                found[low - start : high - start] = values[low - part.start : high - part.start]
                filled += max(0, high - low)
        if filled != found.size:
            raise DamagedState(f"the parts of '{name}' are not its whole")
        return found

    def values(self, rank: int) -> dict[str, Any]:
        """Return everything of a rank that is no tensor.

        Raises:
            DamagedState: if it is not what was saved.
        """
        written = self.manifest.writers[rank]
        arrays = {
            part.name: self._files[rank].read(part.name).reshape(part.shape)
            for part in written.parts
            if part.name.startswith(VALUES)
        }
        try:
            found = tree.decode(written.values, arrays)
        except (ValueError, RecursionError) as error:
            raise DamagedState(str(error)) from None
        if not isinstance(found, dict) or not isinstance(found.get("random"), dict):
            raise DamagedState(f"the values of rank {rank} are missing")
        return found

    def equal_streams(self) -> bool:
        """Whether all ranks drew the same random numbers when the state was saved."""
        found = []
        for written in self.manifest.writers:
            sums = [part.crc32 for part in written.parts if part.name.startswith(f"{VALUES}random/")]
            values = written.values.get("random") if isinstance(written.values, dict) else None
            found.append((sums, values))
        return all(one == found[0] for one in found)
