"""Random arrays and window geometries for the tests of `dist_ms._ext.dnnl`."""

from dataclasses import dataclass

import numpy as np

from tests.reference_dnnl import result_size


@dataclass
class Windows:
    """Geometry of a convolution or a pooling, and the shapes that follow from it."""

    x_shape: tuple
    kernel: tuple
    stride: tuple
    padding: tuple
    dilation: tuple

    @property
    def steps(self):
        """Stride, padding and dilation: the last arguments of every kernel."""
        return self.stride, self.padding, self.dilation

    def y_shape(self, channels):
        """Return the shape of the result with so many channels."""
        return (self.x_shape[0], channels, *result_size(self.x_shape, self.kernel, *self.steps))


def contiguous(array):
    """Return the values in channels-first memory."""
    return np.ascontiguousarray(array)


def channels_last(array):
    """Return the values in channels-last memory behind the same shape."""
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(array, 1, -1)), -1, 1)


def spaced(array):
    """Return the values as every second element of a larger array, in channels-last memory."""
    larger = np.full((*array.shape[:-1], 2 * array.shape[-1]), np.nan, np.float32)
    larger = channels_last(larger)
    larger[..., ::2] = array
    return larger[..., ::2]


def channel_part(array):
    """Return the values as some channels of a larger array in channels-last memory."""
    shape = (array.shape[0], 3 * array.shape[1], *array.shape[2:])
    larger = channels_last(np.full(shape, np.nan, np.float32))
    part = larger[:, array.shape[1] : 2 * array.shape[1]]
    part[...] = array
    return part


LAYOUTS = (contiguous, channels_last, spaced, channel_part)


def normal(rng, *shape):
    """Return float32 normal numbers."""
    return rng.standard_normal(shape).astype(np.float32)


def unset(*shape):
    """Return an output array in which a forgotten element shows."""
    return np.full(shape, np.nan, np.float32)


def random_windows(rng, spatial, channels):
    """Return a random geometry over a small array in which at least one window fits."""
    kernel = tuple(int(k) for k in rng.integers(1, 4, spatial))
    stride = tuple(int(s) for s in rng.integers(1, 4, spatial))
    dilation = tuple(int(d) for d in rng.integers(1, 3, spatial))
    padding = tuple((int(rng.integers(0, 3)), int(rng.integers(0, 3))) for _ in range(spatial))
    size = tuple(
        max(1, (k - 1) * d + 1 - before - after + int(rng.integers(0, 7)))
        for k, d, (before, after) in zip(kernel, dilation, padding, strict=True)
    )
    batch = int(rng.integers(1, 4))
    return Windows((batch, channels, *size), kernel, stride, padding, dilation)
