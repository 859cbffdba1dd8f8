"""Complex, Real, Imag, Conj and their kin."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from tests.serial.ops.compare import equal, same, tensor

Z = np.array([3 + 4j, -1j, 2], "complex64")


def test_parts():
    z = ms.Tensor(Z)
    same(ops.real(z), Z.real)
    same(ops.imag(z), Z.imag)
    same(ops.conj(z), Z.conj())
    same(ops.angle(z), np.angle(Z))
    same(ops.ComplexAbs()(z), np.abs(Z))
    same(ops.view_as_real(z), np.stack([Z.real, Z.imag], -1))
    same(ops.Complex()(ms.Tensor(Z.real), ms.Tensor(Z.imag)), Z)
    same(ops.polar(tensor([2], "float64"), tensor([0.5])), 2 * np.exp([0.5j]))
    assert ops.is_complex(z)
    assert not ops.is_complex(tensor([1.0]))


def test_real_numbers():
    x = tensor([1, -2])
    equal(ops.real(x), [1, -2])
    equal(ops.imag(x), [0, 0])
    equal(ops.conj(x), [1, -2])
    for fn in (ops.angle, ops.ComplexAbs(), ops.view_as_real):
        with pytest.raises(TypeError, match="must be complex, but got"):
            fn(tensor([1.0]))


def test_arithmetic():
    x = ms.Tensor(Z)
    same(x * x, Z * Z)
    same(x / (1 + 1j), Z / np.complex64(1 + 1j))
    same(ops.exp(x), np.exp(Z))
    same(ops.matmul(x, x), Z @ Z)


def test_gradient_of_a_real_loss():
    """For f = |z|^2 the gradient is 2 z, so that a step against it makes f smaller."""
    grad = ms.grad(lambda z: ops.sum(ops.square(ops.real(z)) + ops.square(ops.imag(z))))(ms.Tensor(Z))
    same(grad, 2 * Z)
    same(ms.grad(lambda z: ops.sum(ops.ComplexAbs()(z)))(ms.Tensor(Z)), Z / np.abs(Z))
    same(ms.grad(lambda z: ops.sum(ops.real(z * z)))(ms.Tensor(Z)), 2 * Z.conj())
    same(ms.grad(lambda z: ops.sum(ops.angle(z)))(ms.Tensor(Z)), 1j * Z / np.abs(Z) ** 2)
