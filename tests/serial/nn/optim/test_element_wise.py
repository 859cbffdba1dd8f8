"""Which optimizers treat every element by itself is a fact of the class that has the rule."""

import pytest

import dist_ms as ms
from dist_ms import Parameter, Tensor, nn

ELEMENT_WISE = (
    *("ASGD", "AdaMax", "Adadelta", "Adagrad", "Adam", "AdamOffload", "AdamWeightDecay", "FTRL", "LazyAdam"),
    *("Momentum", "ProximalAdagrad", "RMSProp", "Rprop", "SGD"),
)


@pytest.mark.parametrize("name", ELEMENT_WISE)
def test_rules_of_single_elements(name):
    assert getattr(nn, name).element_wise


@pytest.mark.parametrize("kind", [nn.Optimizer, nn.LARS, nn.Lamb, nn.AdaFactor])
def test_rules_that_need_whole_tensors(kind):
    assert not kind.element_wise


@pytest.mark.parametrize(
    "part",
    [
        {"update_one": lambda self, *args: None},
        {"construct": lambda self, gradients: None},
        {"rule_numbers": lambda self, index, lr, decay: (lr,)},
        {"begin_step": lambda self: None},
        {"decay_weight": lambda self, gradients: gradients},
        {"rule": "adagrad"},
    ],
    ids=lambda part: next(iter(part)),
)
def test_a_subclass_with_a_rule_of_its_own_loses_it(part):
    mine = type("Mine", (nn.SGD,), part)
    assert not mine.element_wise
    assert not type("Below", (mine,), {}).element_wise
    assert type("Said", (nn.SGD,), {**part, "element_wise": True}).element_wise


def test_a_subclass_with_another_constructor_or_rate_keeps_it():
    assert type("Slow", (nn.SGD,), {"__init__": lambda self, p: nn.SGD.__init__(self, p, 0.01)}).element_wise
    assert type("Warm", (nn.Adam,), {"get_lr": lambda self: Tensor(0.1)}).element_wise


def test_the_parallel_optimizer_asks_the_class():
    from dist_ms.parallel.divided_update import DividedUpdate

    class Scaled(nn.SGD):
        def apply_one(self, index, param, grad, lr, weight_decay):
            super().apply_one(index, param, grad / ms.ops.norm(grad), lr, weight_decay)

    optimizer = Scaled([Parameter(Tensor([1.0]), name="w")], 0.1)
    with pytest.raises(ValueError, match=r"but got Scaled, whose rule .* 'element_wise = True' in its body"):
        DividedUpdate(optimizer)
    DividedUpdate(nn.SGD([Parameter(Tensor([1.0]), name="w")], 0.1))


def test_local_is_a_bool():
    optimizer = nn.SGD([Parameter(Tensor([1.0]), name="w")], 0.1)
    assert optimizer.local is False
    with pytest.raises(TypeError, match="'local' must be a bool, but got"):
        optimizer.local = 1
