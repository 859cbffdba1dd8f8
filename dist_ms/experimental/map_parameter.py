"""MapParameter: rows by whole-number keys, which come and go."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from dist_ms.autograd.tape import recording
from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_bool, check_positive_int, check_type
from dist_ms.common.initializer import initializer
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor, from_array

__all__ = ["MapParameter"]

_UNCHANGED, _MODIFIED, _ERASED = 0, 1, 2
_SLICE_BYTES = 1 << 30


class MapParameter(Parameter):
    """A table of rows by keys: what is not there yet begins with a default.

    It is no weight that a train step updates: rows change when they are `put`. Reading it where gradients are
    recorded is an error, unless `requires_grad` is False. `save_checkpoint` refuses it: `export_data` and `import_data`
    move it.

    Args:
        key_dtype: a type of whole numbers; int32 by default.
        value_dtype: the type of the rows; float32 by default.
        value_shape: the shape of a row, or its length; (1,) by default.
        key_tensor: the first keys.
        value_tensor: their rows.
        default_value: a number, or the name of an initializer.
        permit_filter_value: a key is kept from the so-manieth time on that it is asked for.
        evict_filter_value: a key goes when so many calls of `get` and `put` have passed without it.
        name: the name.
        requires_grad: whether it is an error to read it where gradients are recorded.

    Raises:
        TypeError: for a type of keys that are no whole numbers.
        ValueError: if types or shapes contradict each other.

    Examples:
        >>> import dist_ms as ms
        >>> table = ms.experimental.MapParameter(value_shape=(2,), default_value="zeros", name="table")
        >>> table[ms.Tensor([7], ms.int32)] = ms.Tensor([[1.0, 2.0]])
        >>> print(table[ms.Tensor([7, 8], ms.int32)])
        [[1. 2.]
         [0. 0.]]
        >>> print(table.get_keys())
        [7 8]
    """

    def __init__(
        self,
        key_dtype: Any = None,
        value_dtype: Any = None,
        value_shape: Any = None,
        key_tensor: Tensor | None = None,
        value_tensor: Tensor | None = None,
        default_value: Any = "normal",
        permit_filter_value: int = 1,
        evict_filter_value: int = sys.maxsize,
        name: str | None = None,
        requires_grad: bool = True,
    ) -> None:
        if (key_tensor is None) != (value_tensor is None):
            raise ValueError("For 'MapParameter', 'key_tensor' and 'value_tensor' must be given together.")
        self.key_dtype = _agreed("key_dtype", key_dtype, None if key_tensor is None else key_tensor.dtype, mstype.int32)
        if self.key_dtype.np.kind not in "iu":
            raise TypeError(f"For 'MapParameter', 'key_dtype' must be a type of ints, but got {self.key_dtype}.")
        first = None if value_tensor is None else value_tensor.dtype
        self.value_dtype = _agreed("value_dtype", value_dtype, first, mstype.float32)
        shape = (value_shape,) if isinstance(value_shape, int) else value_shape
        row = None if value_tensor is None else tuple(value_tensor.shape[1:])
        self.value_shape = _agreed("value_shape", None if shape is None else tuple(shape), row, (1,))
        self.permit_filter_value = check_positive_int(permit_filter_value, "permit_filter_value", "MapParameter")
        self.evict_filter_value = check_positive_int(evict_filter_value, "evict_filter_value", "MapParameter")
        self.default_value = default_value
        self._rows: dict[int, np.ndarray] = {}
        self._status: dict[int, int] = {}
        self._asked: dict[int, int] = {}
        self._last: dict[int, int] = {}
        self._calls = 0
        self._left: list[tuple] = []
        super().__init__(Tensor(np.zeros(self.value_shape, self.value_dtype.np)), name, requires_grad)
        if key_tensor is not None and value_tensor is not None:
            self._store(self._keys(key_tensor, "key_tensor"), self._values(value_tensor, len(key_tensor)), _UNCHANGED)

    # ---- rows
    def _keys(self, keys: Any, name: str) -> list[int]:
        check_type(keys, name, "MapParameter", Tensor)
        if keys.dtype is not self.key_dtype:
            raise TypeError(f"For 'MapParameter', '{name}' must have the type {self.key_dtype}, but got {keys.dtype}.")
        return keys.asnumpy().ravel().tolist()

    def _values(self, values: Any, count: int) -> np.ndarray:
        check_type(values, "value_tensor", "MapParameter", Tensor)
        if values.size != count * int(np.prod(self.value_shape, dtype=np.int64)):
            raise ValueError(
                f"For 'MapParameter', 'value_tensor' must have the shape {(count, *self.value_shape)}, but got "
                f"{values.shape}."
            )
        return values.asnumpy().astype(self.value_dtype.np).reshape(count, *self.value_shape)

    def _store(self, keys: Iterable[int], rows: np.ndarray, status: int) -> None:
        for key, row in zip(keys, rows):
            self._rows[key], self._status[key] = np.array(row), status
            self._last[key] = self._calls

    def _defaults(self, count: int) -> np.ndarray:
        """New rows."""
        shape, kind = (count, *self.value_shape), self.value_dtype
        if isinstance(self.default_value, (int, float)):
            return np.full(shape, self.default_value, kind.np)
        return initializer(self.default_value, shape, kind).init_data().asnumpy()

    def _next_call(self) -> None:
        """Let keys go that were not asked for in a long time."""
        self._calls += 1
        if self.evict_filter_value < self._calls:
            oldest = self._calls - self.evict_filter_value
            self._remove([key for key, last in self._last.items() if last < oldest])

    def _remove(self, keys: Iterable[int]) -> None:
        for key in keys:
            if self._rows.pop(key, None) is not None:
                self._status[key] = _ERASED
                del self._last[key]
            self._asked.pop(key, None)

    def get(self, key_tensor: Tensor, insert_default_value: bool = True) -> Tensor:
        """Return the rows of keys; those of unknown keys are defaults.

        Args:
            key_tensor: the keys.
            insert_default_value: keep the rows of unknown keys.

        Raises:
            RuntimeError: where gradients are recorded and `requires_grad` is True.
        """
        check_bool(insert_default_value, "insert_default_value", "MapParameter.get")
        if recording.tape is not None and self.requires_grad:
            raise RuntimeError(
                "For 'MapParameter.get', 'requires_grad' must be False where gradients are recorded, but got True: "
                "rows of a map get no gradients. Use nn.Embedding for those that train."
            )
        keys = self._keys(key_tensor, "key_tensor")
        self._next_call()
        new = [key for key in dict.fromkeys(keys) if key not in self._rows]
        made = dict(zip(new, self._defaults(len(new)))) if new else {}
        if insert_default_value:
            for key in new:
                self._asked[key] = self._asked.get(key, 0) + 1
                if self._asked[key] >= self.permit_filter_value:
                    self._store([key], made[key][None], _MODIFIED)
        for key in keys:
            if key in self._last:
                self._last[key] = self._calls
        rows = [self._rows[key] if key in self._rows else made[key] for key in keys]
        found = np.stack(rows) if rows else np.zeros((0, *self.value_shape), self.value_dtype.np)
        return from_array(found.reshape(*key_tensor.shape, *self.value_shape))

    def put(self, key_tensor: Tensor, value_tensor: Tensor) -> MapParameter:
        """Set the rows of keys, new ones or not, and return the parameter.

        Args:
            key_tensor: the keys.
            value_tensor: a row for each.
        """
        keys = self._keys(key_tensor, "key_tensor")
        rows = self._values(value_tensor, len(keys))
        self._next_call()
        self._store(keys, rows, _MODIFIED)
        return self

    def erase(self, key_tensor: Tensor) -> MapParameter:
        """Remove keys and their rows, and return the parameter.

        Args:
            key_tensor: the keys; unknown ones change nothing.
        """
        self._remove(self._keys(key_tensor, "key_tensor"))
        return self

    def __getitem__(self, key_tensor: Any) -> Tensor:
        return self.get(key_tensor, True)

    def __setitem__(self, key_tensor: Any, value_tensor: Any) -> None:
        self.put(key_tensor, value_tensor)

    def get_keys(self) -> Tensor:
        """Return all keys, in the order in which they came."""
        return from_array(np.array(list(self._rows), self.key_dtype.np))

    def get_values(self) -> Tensor:
        """Return all rows, in the order of the keys."""
        return from_array(self._stacked(list(self._rows)))

    def get_data(self) -> tuple[Tensor, Tensor]:
        """Return all keys and rows."""
        return self.get_keys(), self.get_values()

    def _stacked(self, keys: list[int]) -> np.ndarray:
        if not keys:
            return np.zeros((0, *self.value_shape), self.value_dtype.np)
        return np.stack([self._rows[key] for key in keys])

    # ---- moving it
    def export_data(self, incremental: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return keys, rows and statuses (0 as at the last export, 1 changed since, 2 erased since).

        Args:
            incremental: only what has changed; erased keys have a status and no row.
        """
        check_bool(incremental, "incremental", "MapParameter.export_data")
        keys = [k for k, status in self._status.items() if status] if incremental else list(self._rows)
        kept = [key for key in keys if key in self._rows]
        ordered = kept + [key for key in keys if key not in self._rows]
        statuses = np.array([self._status[key] for key in ordered], np.int32)
        self._status = dict.fromkeys(self._rows, _UNCHANGED)
        return np.array(ordered, self.key_dtype.np), self._stacked(kept), statuses

    def export_bytes(self, incremental: bool = False) -> tuple[bytes, bytes, bytes]:
        """Return what `export_data` does, as bytes.

        Args:
            incremental: as for `export_data`.
        """
        keys, rows, statuses = self.export_data(incremental)
        return keys.tobytes(), rows.tobytes(), statuses.tobytes()

    def export_slice_data(self, incremental: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray, bool]:
        """Return the next part of what `export_data` does, a gigabyte of rows at most, and whether it is the last.

        Args:
            incremental: as for `export_data`.
        """
        if not self._left:
            keys, rows, statuses = self.export_data(incremental)
            size = max(_SLICE_BYTES // max(rows[:1].nbytes, 1), 1)
            starts = range(0, max(len(keys), 1), size)
            self._left = [tuple(part[s : s + size] for part in (keys, rows, statuses)) for s in starts]
        keys, rows, statuses = self._left.pop(0)
        return keys, rows, statuses, not self._left

    def import_data(self, data: tuple) -> None:
        """Take what `export_data` returned in the place of what is there.

        Args:
            data: keys, rows and statuses.

        Raises:
            ValueError: if they are no three arrays of fitting lengths.
        """
        if len(data) != 3 or len(data[0]) != len(data[2]) or len(data[1]) > len(data[0]):
            raise ValueError(
                "For 'MapParameter.import_data', 'data' must be keys, rows and statuses of fitting lengths."
            )
        keys, rows, statuses = (np.asarray(part) for part in data)
        self._rows, self._status, self._asked, self._last = {}, {}, {}, {}
        for key, row, status in zip(keys.tolist(), rows.reshape(-1, *self.value_shape), statuses.tolist()):
            self._store([key], row[None].astype(self.value_dtype.np), status)

    def clone(self, init: Any = "same") -> MapParameter:  # type: ignore[override]
        """Return an empty table with these settings.

        Args:
            init: the default value; "same" keeps this one's.
        """
        return MapParameter(
            self.key_dtype,
            self.value_dtype,
            self.value_shape,
            default_value=self.default_value if init == "same" else init,
            permit_filter_value=self.permit_filter_value,
            evict_filter_value=self.evict_filter_value,
            name=self.name,
            requires_grad=self.requires_grad,
        )

    def __str__(self) -> str:
        return (
            f"MapParameter(key_dtype={self.key_dtype}, value_dtype={self.value_dtype}, value_shape={self.value_shape}, "
            f"default_value={self.default_value}, keys={len(self._rows)})"
        )

    __repr__ = __str__


def _agreed(name: str, asked: Any, found: Any, otherwise: Any) -> Any:
    """What is asked for, or found in a tensor, or else stands there."""
    if asked is not None and found is not None and asked != found:
        raise ValueError(f"For 'MapParameter', '{name}' must be that of the tensor, {found}, but got {asked}.")
    return next(value for value in (asked, found, otherwise) if value is not None)
