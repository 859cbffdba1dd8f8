"""DatasetHelper: epochs and facts of a dataset."""

import numpy as np
import pytest

import dist_ms as ms
import dist_ms.dataset as ds
from dist_ms.train import DatasetHelper


def data():
    columns = {"x": np.arange(6, dtype=np.float32).reshape(6, 1), "y": np.arange(6)}
    return ds.NumpySlicesDataset(columns, shuffle=False).batch(2)


def test_epochs_begin_anew():
    helper = DatasetHelper(data(), dataset_sink_mode=False, epoch_num=2)
    for _ in range(2):
        assert [int(y.asnumpy()[0]) for _, y in helper] == [0, 2, 4]
    assert helper.sink_size() == 1


def test_types_and_shapes():
    types, shapes = DatasetHelper(data(), dataset_sink_mode=False).types_shapes()
    assert (types, shapes) == ([ms.float32, ms.int64], [[2, 1], [2]])


@pytest.mark.parametrize(
    ("options", "kind"),
    [({}, RuntimeError), ({"dataset_sink_mode": 0}, TypeError), ({"sink_size": 0}, ValueError),
     ({"sink_size": "a"}, TypeError)],
)  # fmt: skip
def test_wrong_arguments(options, kind):
    with pytest.raises(kind):
        DatasetHelper(data(), **options)
