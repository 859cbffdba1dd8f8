"""CheckpointConfig: when ModelCheckpoint saves, what, and how much it keeps.

The module has the name it has in MindSpore, which scripts import from.
"""

from __future__ import annotations

from typing import Any

from dist_ms.common.checks import check_bool, check_non_negative_int, check_string, check_type
from dist_ms.common.random.generator import Generator
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.train.checkpoint.arguments import async_method

_OWNER = "CheckpointConfig"
_RUN_FACTS = ("epoch_num", "step_num")


def _instance(name: str, value: Any, kind: type | tuple[type, ...]) -> Any:
    """Require a type; a wrong one is a ValueError for these arguments, as in MindSpore."""
    if not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        wanted = " or ".join("None" if k is type(None) else k.__name__ for k in kinds)
        raise ValueError(f"For '{_OWNER}', '{name}' must be of type {wanted}, but got {value!r}.")
    return value


class CheckpointConfig:
    """The settings of `ModelCheckpoint`.

    Args:
        save_checkpoint_steps: save every so many steps; 0 or None: look at the seconds.
        save_checkpoint_seconds: save when so many seconds have passed. Ignored with steps.
        keep_checkpoint_max: how many files to keep; 0 or None: look at the minutes.
        keep_checkpoint_per_n_minutes: of the files of the last so many minutes keep the oldest
            (and the newest). Ignored with a maximum; without either, one file is kept.
        integrated_save: write what the parallel optimizer cuts over the ranks whole, not in slices.
        async_save: True or "thread", or "process": go on training while the file is written.
        saved_network: the network to save; by default the whole training network, optimizer included.
        append_info: what to save besides: "epoch_num", "step_num", and at most one dict of named
            int, float, bool, str, Parameter, Tensor or Generator.
        enc_key: encrypt with this key of 16, 24 or 32 bytes.
        enc_mode: "AES-GCM", "AES-CBC" or "SM4-CBC".
        exception_save: save `*_breakpoint.ckpt` when training ends with an exception.
        crc_check: add a checksum.
        remove_redundancy: in a data-parallel job, every rank saves only its share of what all have.
        format: "ckpt" or "safetensors" (without encryption, checksum and exception_save).
        kwargs: `incremental` and `enable_redundance` are accepted; they concern MindSpore's
            parameters on other machines.

    Raises:
        TypeError: for arguments of the wrong type.
        ValueError: for negative numbers, if nothing says when to save or what to keep, or for an unknown value.

    Examples:
        >>> import dist_ms as ms
        >>> config = ms.train.CheckpointConfig(save_checkpoint_steps=100, keep_checkpoint_max=3,
        ...                                    append_info=["epoch_num", {"note": "first try"}])
        >>> config.save_checkpoint_steps, config.append_dict
        (100, {'epoch_num': 0, 'note': 'first try'})
    """

    def __init__(
        self,
        save_checkpoint_steps: int | None = 1,
        save_checkpoint_seconds: int | None = 0,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_per_n_minutes: int | None = 0,
        integrated_save: bool = True,
        async_save: bool | str = False,
        saved_network: Cell | None = None,
        append_info: list | None = None,
        enc_key: bytes | None = None,
        enc_mode: str = "AES-GCM",
        exception_save: bool = False,
        crc_check: bool = False,
        remove_redundancy: bool = False,
        format: str = "ckpt",
        **kwargs: Any,
    ) -> None:
        numbers = {
            "save_checkpoint_steps": save_checkpoint_steps,
            "save_checkpoint_seconds": save_checkpoint_seconds,
            "keep_checkpoint_max": keep_checkpoint_max,
            "keep_checkpoint_per_n_minutes": keep_checkpoint_per_n_minutes,
        }
        for name, value in numbers.items():
            if value is not None:
                check_non_negative_int(value, name, _OWNER)
        if saved_network is not None and not isinstance(saved_network, Cell):
            raise TypeError(
                f"For '{_OWNER}', 'saved_network' must be a Cell or None, but got {type(saved_network).__name__}."
            )
        if not any(numbers.values()):
            raise ValueError(f"For '{_OWNER}', {', '.join(map(repr, numbers))} can't be all None or 0.")
        for name in kwargs:
            if name not in ("incremental", "enable_redundance"):
                raise TypeError(f"For '{_OWNER}', '{name}' must be left out: there is no such argument.")
        self.exception_save = check_bool(exception_save, "exception_save", _OWNER)
        self._save_checkpoint_steps = save_checkpoint_steps
        self._save_checkpoint_seconds = None if save_checkpoint_steps else save_checkpoint_seconds
        if not keep_checkpoint_max and not keep_checkpoint_per_n_minutes:
            keep_checkpoint_max = 1
        self._keep_checkpoint_max = keep_checkpoint_max
        self._keep_checkpoint_per_n_minutes = None if keep_checkpoint_max else keep_checkpoint_per_n_minutes
        self._integrated_save = check_bool(integrated_save, "integrated_save", _OWNER)
        async_method(_OWNER, async_save)
        self._async_save = async_save
        self._saved_network = saved_network
        self._append_dict = _append_dict(append_info)
        self._enc_key = _instance("enc_key", enc_key, (type(None), bytes))
        self._enc_mode = _instance("enc_mode", enc_mode, str)
        self._crc_check = _instance("crc_check", crc_check, bool)
        self._format = _instance("format", format, str)
        check_string(format, "format", _OWNER, ("ckpt", "safetensors"))
        self.remove_redundancy = _instance("remove_redundancy", remove_redundancy, bool)
        if format == "safetensors" and (enc_key is not None or enc_mode != "AES-GCM" or crc_check or exception_save):
            raise ValueError(
                f"For '{_OWNER}', 'enc_key', 'enc_mode', 'crc_check' and 'exception_save' must be left out with "
                "format='safetensors'."
            )

    @property
    def save_checkpoint_steps(self) -> int | None:
        """Steps between two files."""
        return self._save_checkpoint_steps

    @property
    def save_checkpoint_seconds(self) -> int | None:
        """Seconds between two files."""
        return self._save_checkpoint_seconds

    @property
    def keep_checkpoint_max(self) -> int | None:
        """How many files are kept."""
        return self._keep_checkpoint_max

    @property
    def keep_checkpoint_per_n_minutes(self) -> int | None:
        """Of how many minutes one file is kept."""
        return self._keep_checkpoint_per_n_minutes

    @property
    def integrated_save(self) -> bool:
        """As given."""
        return self._integrated_save

    @property
    def async_save(self) -> bool | str:
        """How to save while training goes on, or False."""
        return self._async_save

    @property
    def saved_network(self) -> Cell | None:
        """The network to save, or None for the training network."""
        return self._saved_network

    @property
    def enc_key(self) -> bytes | None:
        """The key."""
        return self._enc_key

    @property
    def enc_mode(self) -> str:
        """The way to encrypt."""
        return self._enc_mode

    @property
    def crc_check(self) -> bool:
        """Whether there is a checksum."""
        return self._crc_check

    @property
    def format(self) -> str:
        """The files' format, which is their extension."""
        return self._format

    @property
    def append_dict(self) -> dict[str, Any] | None:
        """What is saved besides the parameters."""
        return self._append_dict

    def get_checkpoint_policy(self) -> dict[str, Any]:
        """Return when is saved and what is kept.

        Examples:
            >>> import dist_ms as ms
            >>> ms.train.CheckpointConfig(save_checkpoint_steps=7).get_checkpoint_policy()["save_checkpoint_steps"]
            7
        """
        return {
            "save_checkpoint_steps": self.save_checkpoint_steps,
            "save_checkpoint_seconds": self.save_checkpoint_seconds,
            "keep_checkpoint_max": self.keep_checkpoint_max,
            "keep_checkpoint_per_n_minutes": self.keep_checkpoint_per_n_minutes,
            "saved_network": self.saved_network,
        }


def _append_dict(append_info: Any) -> dict[str, Any] | None:
    """Check `append_info` and return it as one dict."""
    if append_info is None or append_info == []:
        return None
    check_type(append_info, "append_info", _OWNER, list)
    found: dict[str, Any] = {name: 0 for name in _RUN_FACTS if name in append_info}
    dicts = 0
    for item in append_info:
        if isinstance(item, str):
            if item not in _RUN_FACTS:
                raise ValueError(
                    f"For '{_OWNER}', a str in 'append_info' must be one of {', '.join(_RUN_FACTS)}, but got {item!r}."
                )
        elif isinstance(item, dict):
            dicts += 1
            found |= _checked(item)
        else:
            raise TypeError(f"For '{_OWNER}', 'append_info' must hold strs and a dict, but got {type(item).__name__}.")
    if dicts > 1:
        raise TypeError(f"For '{_OWNER}', 'append_info' must hold at most one dict, but got {dicts}.")
    return found


def _checked(values: dict) -> dict:
    for name, value in values.items():
        if not isinstance(name, str) or not isinstance(value, (int, float, bool, str, Tensor, Generator)):
            raise TypeError(
                f"For '{_OWNER}', the dict in 'append_info' must map str to int, float, bool, str, Parameter, Tensor "
                f"or Generator, but got {type(name).__name__} to {type(value).__name__}."
            )
    return values
