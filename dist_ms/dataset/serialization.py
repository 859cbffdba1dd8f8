"""Pipelines as JSON: written, read, shown and compared."""

from __future__ import annotations

import json
import logging
import os
from typing import Any

import dist_ms.dataset as package
from dist_ms.common.checks import check_type, complaint
from dist_ms.dataset.dataset import Dataset
from dist_ms.dataset.plan import described, made

__all__ = ["compare", "deserialize", "serialize", "show"]

_log = logging.getLogger("dist_ms")


def serialize(dataset: Dataset, json_filepath: str = "") -> dict:
    """Describe a pipeline as a dict of plain values.

    Args:
        dataset: made of files, arrays and objects of `dist_ms.dataset`; functions cannot be described.
        json_filepath: a file to write it to as JSON.

    Raises:
        TypeError: if `dataset` is none, or was made of something that cannot be described, or the file is no path.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> data = ds.NumpySlicesDataset([1, 2, 3], shuffle=False).batch(2)
        >>> description = ds.serialize(data)
        >>> description["stage"], description["arguments"]
        ('BatchDataset', [2, False, None])
        >>> ds.deserialize(description).get_dataset_size()
        2
    """
    if not isinstance(dataset, Dataset):
        raise TypeError(complaint("dataset", "serialize", "a dataset", type(dataset).__name__))
    description = described(dataset)
    if check_type(json_filepath, "json_filepath", "serialize", (str, os.PathLike)):
        with open(json_filepath, "w", encoding="utf-8") as file:
            json.dump(description, file, indent=2)
    return description


def deserialize(input_dict: dict | None = None, json_filepath: str | None = None) -> Dataset | None:
    """Make a pipeline of its description.

    Args:
        input_dict: what `serialize` returned.
        json_filepath: the file it wrote, instead.

    Returns:
        Dataset, None if neither is given.

    Raises:
        TypeError: if the file is no path.
        ValueError: if it is no such description.
    """
    if json_filepath is not None:
        check_type(json_filepath, "json_filepath", "deserialize", (str, os.PathLike))
    if input_dict is None and json_filepath:
        with open(json_filepath, encoding="utf-8") as file:
            input_dict = json.load(file)
    return None if input_dict is None else made(input_dict, _stages(input_dict))


def _stages(description: Any) -> dict[str, type]:
    """The classes of the stages that a description names."""
    found = {stage.__name__: stage for stage in _below(Dataset)}
    waiting = [description]
    while waiting:
        part = waiting.pop()
        name = part.get("stage") if isinstance(part, dict) else None
        stage = getattr(package, name, None) if isinstance(name, str) and name not in found else None
        if isinstance(stage, type) and issubclass(stage, Dataset):
            found[stage.__name__] = stage
        waiting += part.get("inputs", ()) if isinstance(part, dict) else ()
    return found


def _below(cls: type) -> list[type]:
    return [d for c in cls.__subclasses__() if c.__module__.startswith("dist_ms.") for d in (c, *_below(c))]


def show(dataset: Dataset, indentation: int = 2) -> None:
    """Log a pipeline's description.

    Args:
        dataset: as for `serialize`.
        indentation: spaces per level.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> ds.show(ds.NumpySlicesDataset([1, 2], shuffle=False))
    """
    _log.info("%s", json.dumps(described(dataset), indent=indentation))


def compare(pipeline1: Dataset, pipeline2: Dataset) -> bool:
    """Return whether two pipelines have equal descriptions.

    Args:
        pipeline1, pipeline2: as for `serialize`.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> a, b = (ds.NumpySlicesDataset([1, 2], shuffle=False).batch(n) for n in (1, 2))
        >>> ds.compare(a, a), ds.compare(a, b)
        (True, False)
    """
    return described(pipeline1) == described(pipeline2)
