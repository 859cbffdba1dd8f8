"""What a file cannot hold is refused, naming the operation, the line and the remedy."""

import os
import subprocess
import sys

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn, ops
from tests.serial.onnx.exported import check, run
from tests.serial.onnx.test_operations import Of, floats

OPEN = ms.Tensor(shape=[None, 3], dtype=ms.float32)
ROWS = ms.Tensor(np.ones((2, 3), np.float32))


def by_value(x):
    return x * 2 if x.sum() > 0 else ops.exp(x)


def by_loop(x):
    for _ in range(x.shape[0]):
        x = ops.tanh(x)
    return x


def in_numpy(x):
    return x + ms.Tensor(np.cumsum(x.asnumpy(), 1))


def in_place(x):
    y = ops.exp(x)
    y.array()[...] = 0  # what no operation of ours does
    return y


def test_python_that_looks_at_values():
    line = r"test_refusals.py:\d+, in by_value"
    with pytest.warns(UserWarning, match=f"looked at values that depend .*{line} .*`if`.*ops.where"):
        with pytest.raises(RuntimeError, match=rf"same operations.*\(.*{line}\).*ops.where"):
            ms.export(Of(by_value), ms.Tensor(np.full((2, 3), -1, np.float32)), file_name="x")


def test_python_that_looks_at_what_is_fixed(tmp_path):
    check(Of(lambda x: x * float(ms.Tensor(2.0) * 3) if ms.Tensor(True) else x), [ROWS], tmp_path)


def test_loops_over_an_open_dimension():
    with pytest.raises(RuntimeError, match=r"nothing ran .*'Tanh' \(.*in by_loop\)"):
        ms.export(Of(by_loop), OPEN, file_name="x")


def test_values_computed_in_numpy():
    with pytest.raises(RuntimeError, match=r"'Add' \(.*in in_numpy\) reads a tensor that was computed .* outside"):
        ms.export(Of(in_numpy), ROWS, file_name="x")


def test_tensors_written_in_place():
    with pytest.raises(RuntimeError, match=r"changed in place.*the result of 'Exp' \(.*in in_place\)"):
        ms.export(Of(in_place), ROWS, file_name="x")


def test_images_of_open_size_that_are_resized():
    images = ms.Tensor(shape=[1, 2, None, 4], dtype=ms.float32)
    with pytest.raises(RuntimeError, match="weights that depend on it: fix their size"):
        ms.export(Of(lambda x: ops.interpolate(x, size=(5, 8), mode="bilinear")), images, file_name="x")


def test_a_batch_that_is_written_down():
    with pytest.raises(
        RuntimeError, match=r"every size of its open dimensions, but with inputs of the shapes \(3, 3\)"
    ):
        ms.export(Of(lambda x: x.reshape(3, 2)), OPEN, file_name="x")


def test_a_number_that_follows_from_the_batch_in_no_known_way():
    with pytest.raises(RuntimeError, match=r"'Mul' .*depends on the inputs \(0.5, 0.33.*in no known way|a file cannot"):
        ms.export(Of(lambda x: x * (1 / x.shape[0])), OPEN, file_name="x")


def test_an_operation_that_is_not_mapped():
    with pytest.raises(RuntimeError, match=r"'Lgamma' \(.*has none here \(its class is Lgamma\)"):
        ms.export(Of(ops.lgamma), ROWS, file_name="x")


def test_sizes_that_depend_on_values():
    with pytest.raises(RuntimeError, match="'NonZero' .*size depends on the values"):
        ms.export(Of(ops.nonzero), ROWS, file_name="x")


def test_results_that_are_no_tensors():
    with pytest.raises(RuntimeError, match="must return a Tensor"):
        ms.export(Of(lambda x: x.shape), ROWS, file_name="x")


def test_lower_precision(tmp_path):
    check(nn.Dense(3, 2).to_float(ms.float16), [ROWS], tmp_path, tolerance=2e-3)


def test_the_form_of_ascends_compiler():
    with pytest.raises(ValueError, match="must be 'ONNX' or 'MINDIR', but got 'AIR'"):
        ms.export(nn.ReLU(), ROWS, file_name="x", file_format="AIR")


@pytest.mark.parametrize(
    "options, error, text",
    [
        ({"file_format": "onnx"}, ValueError, "must be one of"),
        ({"dataset": 1}, NotImplementedError, "'dataset' must be left out"),
        ({"opset": 1}, ValueError, "must be among .* but got 'opset'"),
        ({"obf_func": 1}, NotImplementedError, "obf_func"),
        ({"enc_key": b"1", "enc_mode": "AES-GCM"}, ValueError, "'enc_mode' must be a function"),
        ({"enc_key": 1}, TypeError, "'enc_key' must be bytes"),
        ({"file_name": ""}, TypeError, "'file_name'"),
        ({"input_names": "x"}, TypeError, "'input_names' must be a list of str"),
        ({"input_names": ["a", "b"]}, ValueError, "at most 1 different"),
        ({"output_names": ["input_0"]}, ValueError, "'input_0' twice"),
        ({"dynamic_axes": [0]}, TypeError, "'dynamic_axes' must be a dict"),
        ({"dynamic_axes": {"y": {0: "batch"}}}, ValueError, "must name inputs"),
        ({"dynamic_axes": {"input_0": {5: "batch"}}}, ValueError, "dimension 5"),
    ],
)
def test_options(options, error, text):
    with pytest.raises(error, match=text):
        ms.export(Of(ops.exp), ROWS, **{"file_name": "x", **options})


def test_a_function_is_no_cell():
    with pytest.raises(ValueError, match="'net' must be a Cell, but got function"):
        ms.export(lambda x: x, ROWS, file_name="x")


def test_a_missing_package_is_named():
    code = (
        "import sys; sys.modules['onnx'] = None\n"
        "import dist_ms as ms\n"
        "try: ms.export(ms.nn.ReLU(), ms.ops.ones(2), file_name='x')\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install onnx" in done.stdout


def test_an_old_file_stays_when_an_export_fails(tmp_path):
    path = tmp_path / "net.onnx"
    path.write_bytes(b"old")
    with pytest.raises(RuntimeError):
        ms.export(Of(ops.nonzero), ROWS, file_name=str(path))
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["net.onnx"]


def test_cells_train_again_after_an_export(tmp_path):
    net = nn.SequentialCell(nn.Dense(3, 2), nn.Dropout(p=0.5), nn.Dropout(p=0.5))
    net.set_train()
    net[1].set_train(False)
    ms.export(net, ROWS, file_name=str(tmp_path / "x"))
    assert [cell.training for cell in (net, *net)] == [True, True, False, True]


def test_a_file_holds_parameters_by_name(tmp_path):
    onnx = pytest.importorskip("onnx")
    net, path = nn.Dense(3, 2), str(tmp_path / "dense.onnx")
    ms.onnx.export(net, OPEN, file_name=path, input_names=["rows"], output_names=["scores"])
    graph = onnx.load(path).graph
    assert {t.name for t in graph.initializer} == {"weight", "bias"}
    assert [d.dim_param or d.dim_value for d in graph.input[0].type.tensor_type.shape.dim] == ["batch", 3]
    assert [d.dim_param or d.dim_value for d in graph.output[0].type.tensor_type.shape.dim] == ["batch", 2]
    assert (graph.input[0].name, graph.output[0].name) == ("rows", "scores")
    ms.onnx.export(net, OPEN, file_name=path, export_params=False)
    graph = onnx.load(path).graph
    assert [i.name for i in graph.input][1:] == ["weight", "bias"]
    assert not graph.initializer
    ms.onnx.export(net, OPEN, file_name=path, keep_initializers_as_inputs=True)
    assert len(onnx.load(path).graph.input) == 3


def test_parameters_in_a_file_of_their_own(tmp_path, monkeypatch):
    from dist_ms.onnx import writing

    monkeypatch.setattr(writing, "MOST_BYTES", 1000)
    net, given = nn.SequentialCell(nn.Dense(20, 30), nn.Dense(30, 2)), floats(4, 20)
    for _ in range(2):
        ms.export(net, given, file_name=str(tmp_path / "big"))
    assert sorted(os.listdir(tmp_path)) == ["big.onnx", "big.onnx.data"]
    np.testing.assert_allclose(run(tmp_path / "big.onnx", [given.asnumpy()])[0], net(given).asnumpy(), rtol=1e-5)


def test_an_encrypted_file(tmp_path):
    path = tmp_path / "x.onnx"
    ms.export(nn.ReLU(), ROWS, file_name=str(path), enc_key=b"k", enc_mode=lambda content, key: key + content[::-1])
    plain = tmp_path / "y.onnx"
    plain.write_bytes(path.read_bytes()[1:][::-1])
    assert (run(plain, [ROWS.asnumpy()])[0] == 1).all()


def test_nothing_is_recorded_outside_of_an_export():
    from dist_ms._ext.tape import recording

    with pytest.raises(RuntimeError):
        ms.export(Of(ops.nonzero), ROWS, file_name="x")
    assert recording.observer is None
    assert recording.tape is None


def test_several_dimensions_of_one_name(tmp_path):
    path = tmp_path / "sum.onnx"
    axes = {"a": {0: "batch", 1: "time"}, "b": {1: "time"}}
    net = Of(lambda a, b: (a + b).reshape(a.shape[0] * a.shape[1], 2))
    a, b = floats(2, 5, 2), floats(1, 5, 2)
    names = ["a", "b"]
    ms.onnx.export(net, a, b, file_name=str(path), dynamic_axes=axes, input_names=names)
    a, b = floats(3, 9, 2), floats(1, 9, 2)
    np.testing.assert_allclose(run(path, [a.asnumpy(), b.asnumpy()])[0], net(a, b).asnumpy(), rtol=1e-6)
    with pytest.raises(RuntimeError, match="need one name in 'dynamic_axes'"):
        ms.onnx.export(net, a, b, file_name=str(path), dynamic_axes={"a": {1: "time"}}, input_names=names)


def test_inputs_in_tuples(tmp_path):
    check(Of(lambda pair, x: pair[0] * x + pair[1]), [(floats(2, 3), floats(2, 3)), floats(2, 3)], tmp_path)
