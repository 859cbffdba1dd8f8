"""Settings that MINDIR, or MindSpore's CPU, has otherwise or not at all."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn, ops
from tests.serial.mindir.test_export import Of, exported
from tests.serial.mindir.test_files import made


@pytest.mark.parametrize(
    "function, shape, text",
    [
        (lambda x: ops.round(x, decimals=2), [2, 3], "'Round' .*rounds to decimal places"),
        (lambda x: ops.roll(x, 1, 0), [None, 3], "'Roll' .*depends on the inputs"),
        (lambda x: ops.max_pool3d(x, 2, 2, ceil_mode=True), [1, 1, 3, 3, 3], "'max_pool3d' .*three dimensions"),
        (lambda x: ops.adaptive_max_pool3d(x, 2), [1, 1, 3, 3, 3], "windows over 3 dimensions"),
    ],
)
def test_settings_that_a_file_cannot_hold(function, shape, text, tmp_path):
    with pytest.raises(RuntimeError, match=text):
        exported(Of(function), ms.Tensor(shape=shape, dtype=ms.float32), folder=tmp_path)


def test_padding_of_three_dimensions_begins_with_batch_and_channels(tmp_path):
    """As MindSpore writes its transposed convolutions."""
    weight = np.random.RandomState(0).randn(1, 2, 3, 3, 3).astype(np.float32)

    def fill(g):
        g.parameter("w", weight)
        lengths = {"kernel_size": (3, 3, 3), "stride": (2, 2, 2), "dilation": (1, 1, 1), "pad": (1,) * 6}
        others = {"in_channel": 1, "out_channel": 2, "mode": 1, "group": 1, "pad_mode": "pad", "format": "NCDHW"}
        lengths |= others | {"output_padding": (0, 0, 1, 0, 0)}
        return g.primitive("Conv3DTranspose", g.function("Reshape", "net:x", (1, 1, 1, 2, 3)), "net:w", **lengths)

    x = np.random.RandomState(1).randn(2, 3).astype(np.float32)
    found = nn.GraphCell(ms.load(str(made(tmp_path, fill)[0])))(ms.Tensor(x))
    layer = ops.Conv3DTranspose(1, 2, 3, 1, "pad", 1, 2, 1, 1, (1, 0, 0))
    wanted = layer(ms.Tensor(x.reshape(1, 1, 1, 2, 3)), ms.Tensor(weight))
    assert wanted.shape == (1, 2, 2, 3, 5)
    np.testing.assert_array_equal(found.asnumpy(), wanted.asnumpy())
