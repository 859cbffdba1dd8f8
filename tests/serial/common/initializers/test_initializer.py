"""initializer: names, forms, errors; the patterns without chance."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms.common import initializer as init_module
from dist_ms.common.initializer import (
    Constant,
    Dirac,
    HeNormal,
    HeUniform,
    Identity,
    Initializer,
    Normal,
    One,
    Orthogonal,
    Sparse,
    TruncatedNormal,
    Uniform,
    VarianceScaling,
    XavierNormal,
    XavierUniform,
    Zero,
    _assignment,
    _calculate_correct_fan,
    _calculate_fan_in_and_fan_out,
    _calculate_gain,
    _init_random_normal,
    _init_random_uniform,
    _register,
    initializer,
)

NAMES = {
    Zero: ["zero", "zeros", "Zeros", "ZERO"],
    One: ["one", "ones", "ONES"],
    XavierUniform: ["XavierUniform", "xavieruniform", "xavier_uniform", "Xavier_Uniform"],
    XavierNormal: ["XavierNormal", "xavier_normal"],
    HeUniform: ["HeUniform", "heuniform", "he_uniform"],
    HeNormal: ["HeNormal", "he_normal"],
    Uniform: ["uniform", "Uniform"],
    Normal: ["normal", "Normal"],
    TruncatedNormal: ["truncatednormal", "truncatedNormal"],
    Identity: ["identity"],
    Dirac: ["dirac"],
    Orthogonal: ["orthogonal"],
    VarianceScaling: ["varianceScaling", "variancescaling"],
}


def values(init, shape, dtype=ms.float32):
    return initializer(init, list(shape), dtype).init_data().asnumpy()


@pytest.mark.parametrize(("cls", "names"), NAMES.items())
def test_names_in_any_case(cls, names):
    for name in names:
        assert type(initializer(name, [2, 2, 2]).init) is cls


@pytest.mark.parametrize("name", ["zzz", "constant", "truncated_normal", "initializer", ""])
def test_other_names(name):
    with pytest.raises(ValueError, match=f"the class corresponding to '{name}' was not found"):
        initializer(name, [2])


def test_sparse_needs_an_argument():
    with pytest.raises(TypeError, match="sparsity"):
        initializer("sparse", [2, 2])


@pytest.mark.parametrize("init", [None, [1], np.ones(2), Normal, (1,), {}])
def test_other_things_are_type_errors(init):
    with pytest.raises(TypeError, match="'init' must be a Tensor, number, str or Initializer"):
        initializer(init, [2])


def test_it_is_lazy():
    x = initializer("normal", (2, 3), ms.float16)
    assert x.has_init
    assert x._data is None
    assert (x.shape, x.dtype, x.size) == ((2, 3), ms.float16, 6)
    assert repr(x) == str(x) == "Tensor(shape=[2, 3], dtype=Float16, value=\n<uninitialized>)"
    assert str(initializer("ones", 3)) == "Tensor(shape=[3], dtype=Float32, value=<uninitialized>)"
    assert x.init_data() is x
    assert not x.has_init
    assert x.init is None


@pytest.mark.parametrize(("shape", "wanted"), [(3, (3,)), ([2, 3], (2, 3)), ((), ()), ([True], (1,))])
def test_shapes(shape, wanted):
    assert initializer("ones", shape).init_data().shape == wanted


@pytest.mark.parametrize("shape", [None, 0, -1, [2, -1], [2, 0], 1.5, [1.5], "a", np.array([2, 2]), ms.Tensor([2])])
def test_bad_shapes(shape):
    with pytest.raises(ValueError, match="For 'initializer', 'shape' must be"):
        initializer("ones", shape)


@pytest.mark.parametrize("dtype", ["float32", np.float32, float, 3])
def test_bad_types(dtype):
    with pytest.raises(TypeError, match="dtype"):
        initializer("ones", [2], dtype)
    with pytest.raises(ValueError, match="'init' needs 'shape' and 'dtype'"):
        ms.Tensor(shape=[2], dtype=None, init=One())


def test_a_tensor_is_returned_itself():
    t = ms.Tensor([1.0, 2.0])
    assert initializer(t, [2], ms.int32) is t
    p = ms.Parameter(t)
    assert initializer(p, 2) is p
    for shape in ([3], None, [2, 1]):
        with pytest.raises(ValueError, match="must be that of the Tensor"):
            initializer(t, shape)


@pytest.mark.parametrize(
    ("number", "dtype", "wanted"),
    [
        (3, ms.float32, 3),
        (2.5, ms.float64, 2.5),
        (3.5, ms.int32, 3),
        (True, ms.float32, 1),
        (-1.5, ms.bfloat16, -1.5),
        (np.float32(2), ms.float16, 2),
        (0, ms.bool_, False),
    ],
)
def test_numbers_are_constants(number, dtype, wanted):
    x = initializer(number, [2, 2], dtype)
    assert isinstance(x.init, Constant)
    assert x.asnumpy().dtype == dtype.np
    assert x.asnumpy().tolist() == [[wanted] * 2] * 2


@pytest.mark.parametrize("dtype", [ms.bool_, ms.int8, ms.uint64, ms.float16, ms.bfloat16, ms.float64, ms.complex64])
def test_every_type(dtype):
    assert values("ones", (2,), dtype).tolist() == [1, 1]
    x = initializer("normal", (2000,), dtype).init_data()
    assert x.dtype is dtype
    if dtype in (ms.float16, ms.bfloat16, ms.float64, ms.complex64):
        assert x.asnumpy().real.astype(np.float64).std() == pytest.approx(0.01, rel=0.1)


def test_the_arguments_are_attributes():
    assert vars(Normal(0.5, 2.0)) == {
        "_kwargs": {"sigma": 0.5, "mean": 2.0},
        "sigma": 0.5,
        "mean": 2.0,
    }
    t = TruncatedNormal()
    assert (t.sigma, t.mean, t.a, t.b) == (0.01, 0.0, -2.0, 2.0)
    assert (Normal().sigma, Uniform().scale, Orthogonal().gain, Dirac().groups) == (
        0.01,
        0.07,
        1.0,
        1,
    )
    h = HeNormal()
    assert (h.negative_slope, h.mode, h.nonlinearity) == (0, "fan_in", "leaky_relu")
    v = VarianceScaling()
    assert (v.scale, v.mode, v.distribution) == (1.0, "fan_in", "truncated_normal")
    assert Sparse(0.3).sigma == 0.01


@pytest.mark.parametrize(
    "make",
    [
        lambda: Normal("a"),
        lambda: Normal(0.1, None),
        lambda: Uniform("a"),
        lambda: Constant("a"),
        lambda: Constant([1, 2]),
        lambda: XavierUniform("a"),
        lambda: XavierNormal(None),
        lambda: Orthogonal("a"),
        lambda: Sparse("a"),
        lambda: TruncatedNormal(a="x"),
        lambda: VarianceScaling("a"),
        lambda: Normal(True),
    ],
)
def test_arguments_must_be_numbers(make):
    with pytest.raises(TypeError, match="must be"):
        make()


@pytest.mark.parametrize("kwargs", [{"scale": 0}, {"scale": -1.0}, {"mode": "fan"}, {"distribution": "normal"}])
def test_variance_scaling_arguments(kwargs):
    with pytest.raises(ValueError, match="For 'VarianceScaling'"):
        VarianceScaling(**kwargs)


@pytest.mark.parametrize(
    ("init", "shape", "text"),
    [
        (Normal(-1.0), [2], "sigma"),
        (TruncatedNormal(0.0), [2], "sigma"),
        (HeNormal(mode="zzz"), [2, 2], "zzz"),
        (HeUniform(nonlinearity="zzz"), [2, 2], "zzz"),
        (HeNormal(negative_slope="zzz"), [2, 2], "zzz"),
        ("he_normal", [2], "must have 2 or more dimensions"),
        ("he_uniform", [2], "must have 2 or more dimensions"),
        ("xavier_normal", [2], "must have 2 or more dimensions"),
        ("xavier_uniform", [], "must have 2 or more dimensions"),
        ("varianceScaling", [2], "must have 2 or more dimensions"),
        ("identity", [2], "2 dimensions"),
        ("identity", [2, 2, 2], "2 dimensions"),
        (Sparse(0.5), [2], "2 dimensions"),
        ("dirac", [2, 2], "3, 4 or 5"),
        ("dirac", [2] * 6, "3, 4 or 5"),
        (Dirac(groups=3), [4, 2, 3], "divisible"),
        (Dirac(groups=0), [4, 2, 3], "positive int"),
        (Dirac(groups="a"), [4, 2, 3], "positive int"),
        ("orthogonal", [2], "2 dimensions or more"),
    ],
)
def test_values_that_cannot_be_made(init, shape, text):
    lazy = initializer(init, shape)
    with pytest.raises(ValueError, match=text):
        lazy.init_data()


def test_identity():
    assert values("identity", (2, 3)).tolist() == [[1, 0, 0], [0, 1, 0]]
    assert values("identity", (3, 2), ms.int8).tolist() == [[1, 0], [0, 1], [0, 0]]


@pytest.mark.parametrize(("groups", "shape"), [(1, (3, 2, 4)), (2, (4, 2, 3)), (2, (6, 4, 3, 3)), (1, (2, 2, 2, 3, 4))])
def test_dirac_convolutions_hand_their_input_through(groups, shape):
    weight = values(Dirac(groups), shape)
    per_group = shape[0] // groups
    wanted = np.zeros(shape)
    middle = tuple(n // 2 for n in shape[2:])
    for output in range(shape[0]):
        if output % per_group < shape[1]:
            wanted[(output, output % per_group, *middle)] = 1
    np.testing.assert_array_equal(weight, wanted)


def test_a_subclass_fills_the_array():
    class Ramp(Initializer):
        def _initialize(self, arr):
            _assignment(arr, np.arange(arr.size))

    assert values(Ramp(), (2, 2)).tolist() == [[0, 1], [2, 3]]
    with pytest.raises(ValueError, match="not found"):
        initializer("ramp", [2])

    class Bare(Initializer):
        def __init__(self):
            """Set nothing, as many subclasses do."""

        def _initialize(self, arr):
            _assignment(arr, 4)

    assert values(Bare(), (2,)).tolist() == [4, 4]
    with pytest.raises(NotImplementedError, match="'_initialize' must be defined"):
        values(type("Empty", (Initializer,), {})(), (2,))


def test_registered_subclasses_are_found_by_name():
    @_register("a_third")
    class Third(Initializer):
        def _initialize(self, arr):
            arr[:] = 1 / 3

    try:
        for name in ("third", "A_Third"):
            assert type(initializer(name, [2]).init) is Third
    finally:
        from dist_ms.common.initializers.base import _registry

        del _registry["third"], _registry["a_third"]


def test_initializers_fill_arrays_of_users():
    a = np.zeros((3, 2), order="F")
    One()(a)
    assert a.tolist() == [[1, 1]] * 3
    Normal(5.0)(a.T[::2])
    assert (a[:, 0] != 1).all()
    assert (a[:, 1] == 1).all()
    n = np.zeros(1000, np.float32)
    Uniform(3.0)._initialize(n)
    assert 2.9 < n.max() <= 3


def test_fans_and_gains():
    assert _calculate_fan_in_and_fan_out((4, 3)) == (3, 4)
    assert _calculate_fan_in_and_fan_out((4, 3, 5, 7)) == (105, 140)
    assert _calculate_correct_fan((4, 3), "FAN_OUT") == 4
    assert _calculate_gain("relu") == pytest.approx(2**0.5)
    assert _calculate_gain("leaky_relu", 1) == pytest.approx(1)
    assert _calculate_gain("tanh") == pytest.approx(5 / 3)
    assert _calculate_gain("sigmoid") == 1


def test_draws_for_initializers_of_users():
    ms.set_seed(1)
    a = _init_random_normal(3.0, 0.5, (4000,))
    assert a.dtype == np.float32
    assert (a.mean(), a.std()) == (pytest.approx(3, abs=0.05), pytest.approx(0.5, abs=0.05))
    b = _init_random_uniform(2, 4, [4000])
    assert 2 <= b.min() < 2.01 < 3.99 < b.max() < 4


def test_the_public_names():
    assert {c.__name__ for c in NAMES} | {
        "Constant",
        "Sparse",
        "Initializer",
        "initializer",
    } == set(init_module.__all__)


def test_the_printed_form_says_how_it_was_made():
    from dist_ms.common import initializer as made

    for text in ("Zero()", "Normal(sigma=0.5, mean=0.0)", "Dirac(groups=2)", "Sparse(sparsity=0.1, sigma=0.01)"):
        assert repr(eval(f"made.{text}")) == str(eval(f"made.{text}")) == text

    class Own(made.Initializer):
        def __init__(self, step, unkept=1):
            self.step = step

    assert repr(Own(2)) == "Own(step=2)"
