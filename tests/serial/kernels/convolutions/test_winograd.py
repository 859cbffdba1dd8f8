"""Winograd's transforms against their matrices, and the convolutions made of them."""

import numpy as np
import pytest

from dist_ms._ext import amx, dnnl, winograd
from dist_ms.ops.capabilities import Capabilities
from dist_ms.ops.convolutions import plan
from dist_ms.ops.convolutions import winograd as convolutions
from dist_ms.ops.convolutions.conv_geometry import Geometry
from tests.serial.kernels.calls import assert_close, call, channels_last, wide

B = np.array(
    [[4, 0, -5, 0, 1, 0], [0, -4, -4, 1, 1, 0], [0, 4, -4, -1, 1, 0]]
    + [[0, -2, -1, 2, 1, 0], [0, 2, -1, -2, 1, 0], [0, 4, 0, -5, 0, 1]]
)
G = np.array([[6, 0, 0], [-4, -4, -4], [-4, 4, -4], [1, 2, 4], [1, -2, 4], [0, 0, 24]]) / 24
A = np.array([[1, 1, 1, 1, 1, 0], [0, 1, -1, 2, -2, 0], [0, 1, 1, 4, 4, 0], [0, 1, -1, 8, -8, 1]])


def both(matrix, tiles):
    """matrix tile matrix^T, of tiles (..., k, k, channels), as (36 or so, ..., channels)."""
    out = np.einsum("ij,...jkc,lk->il...c", matrix, wide(tiles), matrix)
    return out.reshape(-1, *out.shape[2:])


def cut(x, before, rows, columns, size):
    """The size x size inputs of each tile, (tiles, size, size, channels), with zeros outside of x."""
    n, c, h, w = x.shape
    padded = np.zeros((n, c, before[0] + h + 4 * rows + 6, before[1] + w + 4 * columns + 6), x.dtype)
    padded[:, :, before[0] : before[0] + h, before[1] : before[1] + w] = x
    return np.array(
        [
            np.moveaxis(padded[i, :, 4 * r : 4 * r + size, 4 * q : 4 * q + size], 0, -1)
            for i in range(n)
            for r in range(rows)
            for q in range(columns)
        ]
    )


def normal(*shape, seed=0):
    return np.random.default_rng((seed, *shape)).standard_normal(shape).astype(np.float32)


CASES = pytest.mark.parametrize(
    "shape, before", [((1, 16, 1, 1), (0, 0)), ((2, 32, 7, 5), (1, 1)), ((3, 64, 16, 12), (0, 2))]
)


@CASES
def test_inputs(shape, before):
    x, rows, columns = channels_last(normal(*shape)), -(-shape[2] // 4), -(-shape[3] // 4)
    tiles = np.empty((36, shape[0] * rows * columns, shape[1]), np.float32)
    call(winograd.input_tiles, (x, *before, rows, columns, tiles), [tiles])
    assert_close(tiles, both(B, cut(x, before, rows, columns, 6)), scale=50)


@CASES
def test_gradients_of_results(shape, before):
    dy, rows, columns = channels_last(normal(*shape)), -(-shape[2] // 4), -(-shape[3] // 4)
    tiles = np.empty((36, shape[0] * rows * columns, shape[1]), np.float32)
    call(winograd.gradient_tiles, (dy, rows, columns, tiles), [tiles])
    assert_close(tiles, both(A.T, cut(dy, (0, 0), rows, columns, 4)), scale=100)


@CASES
@pytest.mark.parametrize("with_bias", (True, False))
def test_results(shape, before, with_bias):
    rows, columns = -(-shape[2] // 4), -(-shape[3] // 4)
    tiles = normal(36, shape[0] * rows * columns, shape[1])
    bias = normal(shape[1]) if with_bias else None
    y = channels_last(np.empty(shape, np.float32))
    call(winograd.result_tiles, (tiles, rows, columns, bias, y), [y])
    made = both(A, np.moveaxis(tiles.reshape(6, 6, *tiles.shape[1:]), 2, 0))
    made = made.reshape(4, 4, shape[0], rows, columns, shape[1]).transpose(2, 5, 3, 0, 4, 1)
    wanted = made.reshape(*shape[:2], 4 * rows, 4 * columns)[:, :, : shape[2], : shape[3]]
    assert_close(y, wanted + (0 if bias is None else wide(bias)[:, None, None]), scale=200)


@pytest.mark.parametrize("outputs, channels", [(1, 16), (5, 48), (64, 96)])
def test_kernels_and_their_gradients(outputs, channels):
    w = normal(outputs, channels, 3, 3)
    for flipped in (False, True):
        tiles = np.empty((36, outputs, channels), np.float32)
        call(winograd.kernel_tiles, (w, flipped, tiles), [tiles])
        turned = w[:, :, ::-1, ::-1] if flipped else w
        assert_close(tiles, both(G, turned.transpose(0, 2, 3, 1)))
    du, dw = normal(36, outputs, channels), np.empty_like(w)
    call(winograd.kernel_gradients, (du, dw), [dw])
    wanted = both(G.T, np.moveaxis(du.reshape(6, 6, outputs, channels), 2, 0))
    assert_close(dw, wanted.reshape(3, 3, outputs, channels).transpose(2, 3, 0, 1), scale=4)


def test_gaps_change_nothing():
    def gapped(rows, columns, values=0.0):
        made = np.full((36, rows + 1, columns + 16), np.nan, np.float32)[:, :rows, :columns]
        made[...] = values
        return made

    x, w = channels_last(normal(2, 32, 7, 5)), normal(5, 48, 3, 3)
    for write in (
        lambda tiles: winograd.input_tiles(x, 1, 1, 2, 2, tiles),
        lambda tiles: winograd.gradient_tiles(x, 2, 2, tiles),
    ):
        plain, apart = np.empty((36, 8, 32), np.float32), gapped(8, 32)
        write(plain), write(apart)
        np.testing.assert_array_equal(apart, plain)
    plain, apart = np.empty((36, 5, 48), np.float32), gapped(5, 48)
    winograd.kernel_tiles(w, True, plain), winograd.kernel_tiles(w, True, apart)
    np.testing.assert_array_equal(apart, plain)
    results = [np.empty_like(w), np.empty_like(w)]
    winograd.kernel_gradients(plain, results[0]), winograd.kernel_gradients(apart, results[1])
    np.testing.assert_array_equal(*results)
    tiles, results = normal(36, 8, 32), [channels_last(np.empty((2, 32, 7, 5), np.float32)) for _ in range(2)]
    winograd.result_tiles(tiles, 2, 2, None, results[0])
    winograd.result_tiles(gapped(8, 32, tiles), 2, 2, None, results[1])
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("padding", (((1, 1), (1, 1)), ((0, 0), (0, 0)), ((2, 1), (0, 2))))
@pytest.mark.parametrize(
    "shape, outputs", [((9, 64, 8, 8), 128), ((2, 96, 17, 18), 64), ((60, 64, 3, 5), 64), ((33, 64, 4, 4), 512)]
)
def test_convolutions(shape, outputs, padding):
    if min(shape[2:]) + sum(padding[0]) < 3:
        pytest.skip("no window fits")
    x, w, bias = channels_last(normal(*shape)), normal(outputs, shape[1], 3, 3), normal(outputs)
    steps = ((1, 1), padding, (1, 1), 1)
    assert plan.suits_winograd(Geometry(x.shape, w.shape, *steps), Capabilities())
    sizes = tuple(n + sum(pair) - 2 for n, pair in zip(shape[2:], padding))
    y = channels_last(np.empty((shape[0], outputs, *sizes), np.float32))
    dy, dx, dw = channels_last(normal(*y.shape)), np.empty_like(x), np.empty_like(w)
    dnnl.conv_forward(x, w, bias, y, *steps)
    dnnl.conv_backward_data(dy, w, dx, *steps)
    dnnl.conv_backward_weights(x, dy, dw, None, *steps)
    results = np.empty_like(y), np.empty_like(x), np.empty_like(w)
    convolutions.convolve(x, w, bias, padding, results[0])
    convolutions.convolve_transposed(dy, w, padding, results[1])
    convolutions.convolution_weights(x, dy, results[2], padding)
    for found, wanted in zip(results, (y, dx, dw)):
        assert np.abs(found - wanted).max() <= 4e-5 * np.abs(wanted).max()


def test_parts_of_a_large_batch_are_the_batch(monkeypatch):
    x, w = channels_last(normal(8, 64, 16, 16)), normal(64, 64, 3, 3)
    whole, found = np.empty_like(x), np.empty_like(x)
    convolutions.convolve(x, w, None, ((1, 1), (1, 1)), whole)
    # Parts of 3, 3 and 2 images: 32 rows and more, below which products do not use AMX.
    monkeypatch.setattr(convolutions, "_PART", 36 * 16 * 64 * 3)
    convolutions.convolve(np.ascontiguousarray(x), w, None, ((1, 1), (1, 1)), found)
    if amx.available():
        assert found.tobytes() == whole.tobytes()
    else:  # oneDNN's products of other shapes round otherwise, and the last transform enlarges that
        np.testing.assert_allclose(found, whole, rtol=0, atol=2e-5 * np.abs(whole).max())


@pytest.mark.parametrize(
    "change, error",
    [
        ({"x": normal(1, 24, 4, 4)}, "channels of 'x' must be a multiple of 16"),
        ({"x": np.ascontiguousarray(normal(1, 32, 4, 4))}, "'x' must be channels-last memory"),
        ({"tiles": np.empty((36, 2, 32), np.float32)}, r"'tiles' must have shape \(36, 1, 32\), but got \(36, 2, 32\)"),
        ({"tiles": np.empty((36, 32, 1), np.float32).swapaxes(1, 2)}, "'tiles' must be .*contiguous rows"),
        ({"tiles": np.empty((72, 1, 32), np.float32)[::-2]}, "'tiles' must be .*contiguous rows"),
        ({"before_y": -1}, "padding not negative"),
    ],
)
def test_wrong_arguments(change, error):
    given = {"x": channels_last(normal(1, 32, 4, 4)), "tiles": np.empty((36, 1, 32), np.float32), "before_y": 0}
    given |= change
    if change.get("x") is not None and change["x"].shape[1] == 24:
        given["x"] = channels_last(given["x"])
    with pytest.raises(ValueError, match=error):
        winograd.input_tiles(given["x"], given["before_y"], 0, 1, 1, given["tiles"])
    with pytest.raises(TypeError, match="'x' must be a float32 array of 4 dimensions, but got float64"):
        winograd.input_tiles(wide(given["x"]), 0, 0, 1, 1, np.empty((36, 1, 32), np.float32))
    with pytest.raises(ValueError, match=r"'w' must have shape \(O, C, 3, 3\)"):
        winograd.kernel_tiles(normal(2, 16, 3, 2), False, np.empty((36, 2, 16), np.float32))
    with pytest.raises(ValueError, match="each tile must lie in 'y'"):
        y = channels_last(np.empty((1, 32, 4, 4), np.float32))
        winograd.result_tiles(np.empty((36, 2, 32), np.float32), 2, 1, None, y)
