"""SameRows: stages that give one row for each row of their input."""

from __future__ import annotations

from collections.abc import Iterator

from dist_ms.dataset.dataset import Dataset, Key


class SameRows(Dataset):
    """A stage with its input's keys."""

    def keys_from(self, epoch: int, rows: int) -> Iterator[Key] | None:
        """The keys that follow the source's first rows."""
        return self.inputs[0].keys_from(epoch, rows)

    def source_rows(self) -> int | None:
        """Rows of the source for each row."""
        return self.inputs[0].source_rows()
