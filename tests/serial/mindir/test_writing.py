"""Operations of MindSpore that write into their first input, as `x += y` does in a graph."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn, ops
from tests.serial.mindir.test_files import made

X = np.arange(6, dtype=np.float32).reshape(2, 3) - 2


def ran(fill, folder):
    return nn.GraphCell(ms.load(str(made(folder, fill)[0])))(ms.Tensor(X)).asnumpy()


@pytest.mark.parametrize(
    "kind, settings, wanted",
    [
        ("AddExt", ("net:x", 2), 3 * X + 2 * X),
        ("AddsExt", (4, 1), 3 * X + 4),
        ("SubExt", ("net:x", 1), 2 * X),
        ("Mul", ("net:x",), 3 * X * X),
        ("Muls", (0.5,), 1.5 * X),
        ("Divs", (2,), 1.5 * X),
        ("ReLU", (), np.maximum(3 * X, 0)),
        ("ClampScalar", (-1, 2), np.clip(3 * X, -1, 2)),
    ],
)
def test_a_tensor_that_nothing_else_reads(kind, settings, wanted, tmp_path):
    def fill(g):
        rows = g.function("Reshape", g.function("Mul", "net:x", np.float32([3])), (3, 2))
        return g.function(f"Inplace{kind}", g.function("Reshape", rows, (2, 3)), *settings)

    np.testing.assert_allclose(ran(fill, tmp_path), wanted)


def test_a_tensor_keeps_its_type(tmp_path):
    def fill(g):
        halves = g.cast("net:x", np.float16)
        return g.cast(g.function("InplaceAddExt", halves, np.float32([[1], [2]]), 1), np.float32)

    np.testing.assert_array_equal(ran(fill, tmp_path), X + [[1], [2]])


def before(g):
    y = g.function("Neg", "net:x")
    return g.function("Add", g.function("Exp", y), g.function("InplaceAddsExt", y, 1, 1))


def through_a_view(g):
    y = g.function("Neg", "net:x")
    rows = g.function("Reshape", y, (2, 3))
    return g.function("Add", g.function("InplaceAddsExt", rows, 1, 1), y)


@pytest.mark.parametrize("fill", [before, through_a_view, lambda g: g.function("InplaceMuls", "net:x", 2)])
def test_a_tensor_that_others_read(fill, tmp_path):
    with pytest.raises(NotImplementedError, match=r"the operation Inplace\w+ \(net:CNode_.* writes into a tensor"):
        ran(fill, tmp_path)


def test_slices_are_written_into_a_copy(tmp_path):
    def fill(g):
        put = g.function("TensorCopySlices", "net:x", np.float32([7, 8]), (0, 1), (1, 3), (1, 1))
        return g.function("Sub", put, "net:x")

    np.testing.assert_array_equal(ran(fill, tmp_path), [[0, 8, 8], [0, 0, 0]])


def test_settings_whose_numbers_are_names(tmp_path):
    def fill(g):
        index = np.array([[0, 0, 1]])
        return g.function("TensorScatterElements", "net:x", index, np.float32([[9, 9, 9]]), 0, 1)

    wanted = X.copy()
    wanted[[0, 0, 1], [0, 1, 2]] += 9
    np.testing.assert_array_equal(ran(fill, tmp_path), wanted)


def test_images_read_at_points(tmp_path):
    grid = np.random.RandomState(0).uniform(-1, 1, (1, 2, 3, 2)).astype(np.float32)

    def fill(g):
        image = g.function("Reshape", "net:x", (1, 1, 2, 3))
        return g.function("Reshape", g.function("GridSampler2D", image, grid, 1, 2, True), (2, 3))

    wanted = ops.grid_sample(
        ms.Tensor(X[None, None]), ms.Tensor(grid), mode="nearest", padding_mode="reflection", align_corners=True
    )
    np.testing.assert_array_equal(ran(fill, tmp_path), wanted.asnumpy()[0, 0])
