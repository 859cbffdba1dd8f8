"""Custom, kernel and CustomRegOp: operations of the user's own in Python and C."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor
from dist_ms.ops import Custom, CustomRegOp, DataType, custom_info_register, kernel

X = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
Y = Tensor(np.full((2, 3), 2, np.float32))

SOURCE = """
#include <stdint.h>
#include <string.h>
extern "C" int Weighted(int nparam, void **params, int *ndims, int64_t **shapes, const char **dtypes, void *stream,
                        void *extra) {
    if (nparam != 4 || stream || extra || strcmp(dtypes[0], "float32") || strcmp(dtypes[3], "int64")) return 7;
    float *a = (float *)params[0], *b = (float *)params[1], *sum = (float *)params[2];
    int64_t count = 1;
    for (int i = 0; i < ndims[0]; i++) count *= shapes[0][i];
    for (int64_t i = 0; i < count; i++) sum[i] = a[i] + 10 * b[i];
    *(int64_t *)params[3] = count;
    return 0;
}
"""


def same(x, y):
    return x


def test_a_python_function():
    seen = []

    def add(a, b):
        seen.append((type(a), a.shape))
        return a + b

    out = Custom(add, same, same, "pyfunc")(X, Y)
    assert np.array_equal(out.asnumpy(), X.asnumpy() + 2) and seen == [(np.ndarray, (2, 3))]
    assert Custom(add, (2, 3), ms.float32)(X, Y).shape == (2, 3)


def test_several_outputs_and_plain_values():
    op = Custom(lambda a, n: (a * n, a.sum()), lambda s: (s, ()), lambda d: (d, d))
    product, total = op(X, 3.0)
    assert np.array_equal(product.asnumpy(), X.asnumpy() * 3) and total.item() == 15.0


def test_a_gradient_of_the_users():
    op = Custom(lambda a, b: a * b, same, same, bprop=lambda a, b, out, dout: (dout * b, dout * out))
    left, right = ms.grad(lambda a, b: op(a, b).sum(), (0, 1))(X, Y)
    assert np.array_equal(left.asnumpy(), Y.asnumpy()) and np.array_equal(right.asnumpy(), X.asnumpy() * 2)
    with pytest.raises(RuntimeError, match="'bprop' must be given"):
        ms.grad(Custom(lambda a: a, lambda a: a, lambda a: a))(X)
    with pytest.raises(RuntimeError, match="2 gradients, one for each input, but got 1"):
        ms.grad(Custom(lambda a, b: a, same, same, bprop=lambda a, b, out, dout: dout))(X, Y)


def test_gradients_of_two_outputs():
    def bprop(a, out, dout):
        return dout[0] + dout[1] * a * 2

    op = Custom(lambda a: (a + 1, a * a), lambda a: (a, a), lambda a: (a, a), bprop=bprop)
    found = ms.grad(lambda a: (op(a)[0] + op(a)[1]).sum())(X)
    assert np.array_equal(found.asnumpy(), 1 + 2 * X.asnumpy())


@pytest.mark.parametrize("suffix", [".so", ".cc"])
def test_a_compiled_function(tmp_path, suffix):
    import subprocess

    (tmp_path / "weighted.cc").write_text(SOURCE)
    if suffix == ".so":
        command = ["g++", "-shared", "-fPIC", "-o", str(tmp_path / "weighted.so"), str(tmp_path / "weighted.cc")]
        subprocess.run(command, check=True)
    name = f"{tmp_path}/weighted{suffix}:Weighted"
    op = Custom(name, lambda a, b: (a, (1,)), lambda a, b: (a, ms.int64), "aot")
    total, count = op(X, Tensor(np.asfortranarray(X.asnumpy())))
    assert np.array_equal(total.asnumpy(), X.asnumpy() * 11) and count.asnumpy().tolist() == [6]
    with pytest.raises(RuntimeError, match="returned 7"):
        op(Tensor(np.ones(2)), Tensor(np.ones(2)))
    with pytest.raises(RuntimeError, match="has no function Other"):
        Custom(f"{tmp_path}/weighted{suffix}:Other", same, same, "aot")


def test_compiled_functions_that_are_not_there(tmp_path):
    with pytest.raises(RuntimeError, match="was not found"):
        Custom(f"{tmp_path}/none.so:f", same, same, "aot")
    with pytest.raises(ValueError, match="'<file>:<function>'"):
        Custom("none.so", same, same, "aot")
    (tmp_path / "wrong.cc").write_text("int f( {")
    with pytest.raises(RuntimeError, match="failed"):
        Custom(f"{tmp_path}/wrong.cc:f", same, same, "aot")


@kernel
def outer(a, b):
    c = output_tensor(a.shape, a.dtype)  # noqa: F821 -- a word of the language
    partial = allocate(a.shape, a.dtype, "local")  # noqa: F821
    with block_realize(c):  # noqa: F821
        for i, j in grid(a.shape):  # noqa: F821
            for k in reduce(b.shape[0]):  # noqa: F821
                partial[i, j] = partial[i, j] + a[i, k] * b[k, j]
            c[i, j] = sqrt(partial[i, j])  # noqa: F821
    return c


def test_hybrid_functions_run_as_python():
    a = np.arange(9, dtype=np.float32).reshape(3, 3)
    want = np.sqrt(a @ a)
    np.testing.assert_allclose(outer(a, a), want, rtol=1e-6)
    for op in (Custom(outer, func_type="hybrid"), Custom(outer, same, same, "pyfunc")):
        np.testing.assert_allclose(op(Tensor(a), Tensor(a)).asnumpy(), want, rtol=1e-6)


def test_kernel_keeps_what_it_is_told():
    @kernel(reg_info={"op_name": "n"}, compile_attrs={"fast": True})
    def twice(a, by=2):
        return a * by

    assert twice.reg_info == {"op_name": "n"} and twice.compile_attrs == {"fast": True} and twice(3) == 6
    with pytest.raises(TypeError, match="'compile_attrs' must be a dict"):
        kernel(compile_attrs=3)
    with pytest.raises(AttributeError, match="'fn' must be a function"):
        kernel(3)


def test_descriptions():
    info = CustomRegOp("n").input(0, "x", "dynamic").input(1).output(0, "z").attr("a", "required", "int", value=3)
    info.dtype_format(DataType.F32_None, DataType.I64_NCHW, DataType.F16_Default).target("CPU").fusion_type("OPAQUE")
    assert info.get_op_info() == {
        "op_name": "n",
        "inputs": [{"index": 0, "name": "x", "paramType": "dynamic"}, {"index": 1, "paramType": "required"}],
        "outputs": [{"index": 0, "name": "z", "paramType": "required"}],
        "attr": [{"name": "a", "paramType": "required", "type": "int", "value": 3}],
        "fusion_type": "OPAQUE",
        "dtype_format": [[["float32", ""], ["int64", "NCHW"], ["float16", "DefaultFormat"]]],
        "target": "CPU",
    }
    assert custom_info_register({"op_name": "m"})(same) is same and same.reg_info == ({"op_name": "m"},)
    with pytest.raises(ValueError, match="'op_name' must be a str"):
        CustomRegOp(3)
    with pytest.raises(TypeError, match="'index' must be of type int"):
        CustomRegOp().input("0", "x")
    with pytest.raises(ValueError, match="each input and output, 2, but got 1"):
        CustomRegOp().input(0, "x").output(0, "y").dtype_format(DataType.F32_None)


@pytest.mark.parametrize(
    "args, error, text",
    [
        ((3, same, same), TypeError, "'func' must be a function"),
        ((same, None, None), TypeError, "'out_shape' must be"),
        ((same, same, None), TypeError, "'out_dtype' must be"),
        ((same, same, same, "akg"), ValueError, "one of pyfunc, hybrid, aot"),
        ((lambda a: a, same, same, "hybrid"), TypeError, "decorated with ops.kernel"),
        ((same, same, same, "aot"), TypeError, "a str with func_type='aot'"),
        ((same, same, same, "pyfunc", 3), TypeError, "'bprop' must be a function"),
    ],
)
def test_errors(args, error, text):
    with pytest.raises(error, match=text):
        Custom(*args)


def test_what_a_function_returns_is_compared_with_what_was_said():
    with pytest.raises(ValueError, match=r"\(4,\) and Float32, but got \(2, 3\) and Float32"):
        Custom(lambda a: a, (4,), ms.float32)(X)
    with pytest.raises(ValueError, match="Float64, but got"):
        Custom(lambda a: a, (2, 3), ms.float64)(X)
    with pytest.raises(ValueError, match="a function of 2 outputs"):
        Custom(lambda a: a, ((2, 3), (2, 3)), (ms.float32, ms.float32))(X)
    with pytest.raises(TypeError, match="by place"):
        Custom(lambda a: a, (2, 3), ms.float32)(a=X)
