"""Export a network and run the file."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms.exporting.recording import tensors

runtime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")
runtime.set_default_logger_severity(3)


def session(path):
    return runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])


def values_of(inputs):
    return [t.asnumpy() for t in tensors(list(inputs))]


def replaced(inputs, values):
    """The inputs, in tuples too, with other values."""
    found = iter(values)

    def again(x):
        return tuple(map(again, x)) if isinstance(x, tuple) else next(found)

    return [again(x) for x in inputs]


def run(path, values):
    model = session(path)
    return model.run(None, {i.name: v for i, v in zip(model.get_inputs(), values)})


def check(net, inputs, folder, batch_axis=0, tolerance=1e-5):
    """The file gives what the network gives: for the example's batch, and three times as many samples."""
    path = folder / "net.onnx"
    shapes = [list(v.shape) for v in values_of(inputs)]
    for shape in shapes:
        shape[batch_axis] = None
    unknown = [ms.Tensor(shape=s, dtype=t.dtype) for s, t in zip(shapes, tensors(list(inputs)))]
    ms.export(net, *replaced(inputs, unknown), file_name=str(path), file_format="ONNX")
    model = session(path)
    for times in (1, 3):
        values = [np.concatenate([v] * times, batch_axis) for v in values_of(inputs)]
        net.set_train(False)
        wanted = tensors(net(*replaced(inputs, [ms.Tensor(v) for v in values])))
        found = model.run(None, {i.name: v for i, v in zip(model.get_inputs(), values)})
        assert len(found) == len(wanted)
        for a, b in zip(found, wanted):
            assert (a.shape, a.dtype) == (b.shape, b.asnumpy().dtype)
            np.testing.assert_allclose(a, b.asnumpy(), rtol=tolerance, atol=tolerance)
