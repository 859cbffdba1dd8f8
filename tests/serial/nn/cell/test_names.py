"""Names that users of Cell may give their own attributes and methods."""

import pytest

import dist_ms as ms
from dist_ms import Parameter, nn
from tests.serial.nn.cell.cells import Double, numbers, tensor

# What MindSpore's Cell has too, and containers; everything else that is private starts with "_cell_".
OF_MINDSPORE = {
    "_apply",
    "_auto_prefix",
    "_bprop_debug",
    "_buffers",
    "_cells",
    "_dynamic_shape_inputs",
    "_func_graph_flags",
    "_jit_config_dict",
    "_load_from_state_dict",
    "_non_persistent_buffers_set",
    "_param_prefix",
    "_params",
    "_phase",
    "_save_to_state_dict",
    "_scope",
}


@pytest.mark.parametrize("kind", [nn.Cell, nn.SequentialCell, nn.CellList, nn.CellDict])
def test_private_names_are_few(kind):
    cell = kind()
    private = {n for n in dir(cell) if n.startswith("_") and not n.startswith(("__", "_cell_"))}
    assert private <= OF_MINDSPORE


def test_common_private_names_belong_to_the_user():
    class Agent(nn.Cell):
        def __init__(self):
            super().__init__()
            self._policy, self._value = Double(), Parameter(tensor(1), name="v")
            self._hooks = self._precision = self._recompute = 3

        def _compute(self):
            raise AssertionError("called by Cell")

        _register = _load = _prepare = _read = _compute

        def construct(self, x):
            return self._policy(x) * self._value

    net = Agent()
    net.register_backward_hook(lambda cell, into, out: into[0] * 2)
    net.recompute()
    net.load_state_dict(net.state_dict())
    assert numbers(ms.grad(net)(tensor(1))) == [4.0] and [p.name for p in net.get_parameters()] == ["v"]
