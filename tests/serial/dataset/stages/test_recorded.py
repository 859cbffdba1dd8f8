"""Pipelines of several stages, drawn at random, give what MindSpore 2.10 gave: sizes, names, shapes, types and rows."""

import builtins
import json
from pathlib import Path

import numpy as np
import pytest

import dist_ms as ms
import dist_ms.dataset as ds
from dist_ms.dataset import text, transforms

# Each: lines of Python that make the dataset `d`, what it tells of itself, and its rows of every epoch.
RECORDED = json.loads(Path(__file__).with_name("recorded.json").read_text())


def shown(value):
    """A value of a row as it was recorded."""
    if isinstance(value, dict):
        return {str(key): shown(v) for key, v in value.items()}
    if value.dtype.kind == "f":
        return [str(value.dtype), list(value.shape), [f"{x:.6g}" for x in value.ravel().tolist()]]
    # How wide a text of a row may be is no part of it.
    kind = value.dtype.kind if value.dtype.kind in "SU" else str(value.dtype)
    return [kind, list(value.shape), [str(x) for x in value.ravel().tolist()]]


def without_widths(value):
    """What was recorded, with the kind of a text instead of its type."""
    if isinstance(value, dict):
        return {key: without_widths(v) for key, v in value.items()}
    return [value[0][1] if value[0][:2] in ("<U", "|S") else value[0], *value[1:]]


def same(wanted, find):
    """What `find` returns is `wanted`, or it raises the exception that is named there."""
    if isinstance(wanted, list) and wanted[:1] == ["E"]:
        with pytest.raises(getattr(builtins, wanted[1])):
            find()
        return
    assert find() == wanted


def rows(data, epochs):
    found = data.create_dict_iterator(num_epochs=epochs, output_numpy=True)
    return [[{name: shown(v) for name, v in row.items()} for row in found] for _ in range(epochs)]


@pytest.mark.parametrize("case", range(len(RECORDED)))
def test_a_pipeline(case):
    lines, facts, wanted = RECORDED[case]
    names = {"ds": ds, "ms": ms, "np": np, "T": transforms, "text": text}
    exec(lines, names)
    data = names["d"]
    size, batch, repeated, columns, shapes, types = facts
    same(size, data.get_dataset_size)
    same([batch, repeated, columns], lambda: [data.get_batch_size(), data.get_repeat_count(), data.get_col_names()])
    same(shapes, data.output_shapes)
    same(types, lambda: [str(t) for t in data.output_types()])
    if wanted[:1] != ["E"]:
        wanted = [[{name: without_widths(v) for name, v in row.items()} for row in epoch] for epoch in wanted]
    same(wanted, lambda: rows(data, names.get("epochs", 1)))
