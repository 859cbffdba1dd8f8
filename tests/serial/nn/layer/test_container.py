"""SequentialCell, CellList and CellDict."""

import copy
from collections import OrderedDict

import pytest

import dist_ms as ms
from dist_ms import nn
from tests.serial.nn.cell.cells import Scale, names, numbers, tensor


def factors(cells):
    return [numbers(c.w)[0] for c in cells]


# ---- SequentialCell
def test_sequential_runs_in_order_and_names_by_place():
    net = nn.SequentialCell(Scale(2), Scale(3))
    assert numbers(net(tensor(1))) == [6.0] and numbers(net(input_data=tensor(2))) == [12.0]
    assert names(net) == ["0.w", "1.w"]
    net.append(Scale(4))
    net.insert(0, Scale(5))
    assert names(net) == ["0.w", "1.w", "2.w", "3.w"] and factors(net) == [5, 2, 3, 4]
    del net[0]
    assert names(net) == ["0.w", "1.w", "2.w"] and len(net) == 3 and list(net.name_cells()) == ["0", "1", "2"]
    net[-1] = Scale(7)
    assert names(net)[2] == "2.w" and factors(reversed(net)) == [7, 3, 2]
    assert numbers(net(tensor(1))) == [42.0]
    del net[0:2]
    assert names(net) == ["0.w"] and numbers(net(tensor(1))) == [7.0]


def test_sequential_from_list_and_dict():
    assert factors(nn.SequentialCell([Scale(1), Scale(2)])) == [1, 2]
    net = nn.SequentialCell(OrderedDict([("x", Scale(2)), ("y", Scale(3))]))
    assert names(net) == ["x.w", "y.w"] and net.x is net[0]
    net.append(Scale(4))
    del net[0]
    assert names(net) == ["y.w", "1.w"] and numbers(net(tensor(1))) == [12.0]
    with pytest.raises(ValueError, match=r"'insert' needs numbered cells, but got \['y', '1'\]"):
        net.insert(0, Scale(1))
    assert len(nn.SequentialCell(nn.SequentialCell(Scale(1), Scale(2)))) == 1
    x = tensor(1)
    assert nn.SequentialCell()(x) is x and len(nn.SequentialCell([])) == 0 and not nn.SequentialCell()


def test_sequential_slices_share_the_cells():
    net = nn.SequentialCell(Scale(2), Scale(3), Scale(5))
    part = net[1:]
    assert isinstance(part, nn.SequentialCell) and part[0] is net[1] and list(part.name_cells()) == ["1", "2"]
    assert names(net) == ["0.w", "1.w", "2.w"] and names(part) == ["1.w", "2.w"]
    assert numbers(part(tensor(1))) == [15.0] and numbers(net[::-2](tensor(1))) == [10.0]


def test_a_cell_used_twice_in_a_sequence():
    cell = Scale(2)
    net = nn.SequentialCell(cell, cell)
    assert numbers(net(tensor(1))) == [4.0] and names(net) == ["1.w"] and len(net) == 2


def test_children_assigned_as_attributes_are_not_run():
    net = nn.SequentialCell(Scale(2))
    net.extra = Scale(3)
    assert names(net) == ["0.w", "extra.w"] and numbers(net(tensor(1))) == [2.0]
    assert net.cell_list == [net[0]]
    net.cell_list = list(net.cells())
    assert numbers(net(tensor(1))) == [6.0]
    with pytest.raises(ValueError, match="'cell_list' must hold children, but got Scale"):
        net.cell_list = [Scale(1)]


def test_a_replaced_child_is_run():
    net = nn.SequentialCell(Scale(2), Scale(3))
    net._cells["0"] = Scale(5)
    assert numbers(net(tensor(1))) == [15.0]


def test_sequential_subclasses():
    class Block(nn.SequentialCell):
        def __init__(self):
            super().__init__(Scale(2), Scale(3))
            self.shift = 1

        def construct(self, x):
            return super().construct(x) + self.shift

    net = nn.SequentialCell(Block(), Scale(2))
    assert numbers(net(tensor(1))) == [14.0] and names(net) == ["0.0.w", "0.1.w", "1.w"]
    grads = ms.grad(net, 0, net.trainable_params())(tensor(1))
    assert numbers(grads) == ([12.0], ([6.0], [4.0], [7.0]))


def test_sequential_errors():
    net = nn.SequentialCell(Scale(1))
    for call, error, match in (
        (lambda: net[1.5], TypeError, "the type of 'index' must be int, but got float"),
        (lambda: net["0"], TypeError, "the type of 'index' must be int, but got str"),
        (lambda: net[9], IndexError, r"must be a number in range \[-1, 1\), but got 9"),
        (lambda: net.__setitem__(slice(0, 1), Scale()), TypeError, "must be int, but got slice"),
        (lambda: net.__setitem__(0, 3), TypeError, "each cell must be subclass of Cell, but got int"),
        (lambda: net.__delitem__("a"), TypeError, "must be int or slice, but got str"),
        (lambda: net.__delitem__(5), IndexError, "but got 5"),
        (lambda: net.append(3), TypeError, "each cell must be subclass of Cell, but got int"),
        (lambda: net.insert(9, Scale()), IndexError, r"range \[-1, 1\], but got 9"),
        (lambda: net.insert(0, 3), TypeError, "each cell must be subclass of Cell"),
        (lambda: nn.SequentialCell(3), TypeError, r"'args\[0\]' must be Cell, list or orderedDict, but got int"),
        (lambda: nn.SequentialCell((Scale(),)), TypeError, "but got tuple"),
        (lambda: nn.SequentialCell({"a": Scale()}), TypeError, "but got dict"),
        (lambda: nn.SequentialCell(Scale(), 3), TypeError, "each cell must be subclass of Cell, but got int"),
        (lambda: nn.SequentialCell([3]), TypeError, "each cell must be subclass of Cell, but got int"),
    ):
        with pytest.raises(error, match=match):
            call()


# ---- CellList
def test_cell_list_is_a_list():
    cells = nn.CellList([Scale(1), Scale(2)])
    cells.append(Scale(3))
    assert cells.extend([Scale(4)]) is cells
    cells.insert(0, Scale(5))
    cells += [Scale(6)]
    assert names(cells) == [f"{i}.w" for i in range(6)]
    assert factors(cells) == [5, 1, 2, 3, 4, 6] and factors(reversed(cells))[0] == 6
    cells.insert(-1, Scale(7))
    assert factors(cells) == [5, 1, 2, 3, 4, 7, 6] and names(cells)[5] == "5.w"
    cells.insert(7, Scale(8))
    cells[0] = Scale(9)
    assert factors(cells) == [9, 1, 2, 3, 4, 7, 6, 8] and names(cells)[0] == "0.w"
    del cells[0:5], cells[-1]
    assert factors(cells) == [7, 6] and names(cells) == ["0.w", "1.w"]
    assert cells[0] in cells and Scale(7) not in cells and len(cells) == 2 and cells and not nn.CellList()


def test_cell_list_slices_share_the_cells_and_leave_their_names():
    cells = nn.CellList([Scale(1), Scale(2), Scale(3)])
    part = cells[1:]
    assert type(part) is nn.CellList and list(part.name_cells()) == ["0", "1"] and part[0] is cells[1]
    assert names(cells) == ["0.w", "1.w", "2.w"] and names(part) == ["1.w", "2.w"]


def test_cell_list_subclasses_may_be_run():
    class Stack(nn.CellList):
        def __init__(self, count):
            super().__init__([Scale(2) for _ in range(count)])

        def construct(self, x):
            for cell in self:
                x = cell(x)
            return x

    stack = Stack(3)
    assert numbers(stack(tensor(1))) == [8.0] and type(stack[0:2]) is nn.CellList
    with pytest.raises(NotImplementedError, match="For 'CellList', construct is not defined"):
        nn.CellList([Scale(1)])(tensor(1))


def test_cell_list_errors():
    cells = nn.CellList([Scale(1)])
    for call, error, match in (
        (lambda: nn.CellList(3), TypeError, "'cells' must be a list, but got int"),
        (lambda: nn.CellList((Scale(),)), TypeError, "'cells' must be a list, but got tuple"),
        (lambda: nn.CellList(Scale(), Scale()), TypeError, "one list of cells must be given, but got 2 arguments"),
        (lambda: nn.CellList([3]), TypeError, "each cell must be subclass of Cell, but got int"),
        (lambda: nn.CellList([nn.CellDict()]), TypeError, "can not be CellDict"),
        (lambda: cells.append(None), TypeError, "each cell must be subclass of Cell, but got NoneType"),
        (lambda: cells.extend((Scale(),)), TypeError, "'cells' must be a list, but got tuple"),
        (lambda: cells.__iadd__(3), TypeError, "'cells' must be a list, but got int"),
        (lambda: cells.insert("a", Scale()), TypeError, "the type of 'index' must be int, but got str"),
        (lambda: cells.insert(99, Scale()), IndexError, r"range \[-1, 1\], but got 99"),
        (lambda: cells.insert(0, 3), TypeError, "each cell must be subclass of Cell"),
        (lambda: cells["a"], TypeError, "must be int or slice, but got str"),
        (lambda: cells[4], IndexError, r"range \[-1, 1\), but got 4"),
        (lambda: cells.__setitem__("a", Scale()), TypeError, "must be int, but got str"),
        (lambda: cells.__setitem__(0, 3), TypeError, "each cell must be subclass of Cell"),
        (lambda: cells.__delitem__("a"), TypeError, "must be int or slice, but got str"),
    ):
        with pytest.raises(error, match=match):
            call()
    assert len(cells) == 1


# ---- names inside a parent
class Net(nn.Cell):
    def __init__(self, auto_prefix=True):
        super().__init__(auto_prefix=auto_prefix)
        self.list = nn.CellList([Scale(1)])
        self.dict = nn.CellDict({"a": Scale(1)})
        self.row = nn.SequentialCell(Scale(1), nn.ReLU())

    def construct(self, x):
        return self.row(x)


def test_late_members_are_named_after_the_container():
    net = Net()
    net.list.append(Scale(2))
    net.list.insert(0, Scale(2))
    net.dict["b"] = Scale(2)
    net.row.append(Scale(3))
    net.row[0] = Scale(4)
    assert names(net) == ["list.0.w", "list.1.w", "list.2.w", "dict.a.w", "dict.b.w", "row.0.w", "row.2.w"]
    assert names(Net(auto_prefix=False)) == ["0.w", "a.w", "0.w"]


def test_containers_without_prefix():
    assert names(nn.CellList([Scale(1)], auto_prefix=False)) == ["w"]
    cells = nn.CellList([Scale(1), Scale(2)], auto_prefix=False)
    cells.insert(0, Scale(3))
    del cells[1]
    assert names(cells) == ["w", "w"]
    assert names(nn.CellDict({"a": Scale(1)}, auto_prefix=False)) == ["w"]


def test_containers_that_start_empty_are_named_by_the_first_call():
    class Grows(nn.Cell):
        def __init__(self):
            super().__init__()
            self.one, self.other = nn.CellList(), nn.CellList()
            for cells in (self.one, self.other):
                cells.append(Scale(2))
                cells.append(Scale(3))

        def construct(self, x):
            return self.one[0](x)

    net = Grows()
    assert names(net) == ["0.w", "1.w", "0.w", "1.w"]  # as in MindSpore
    net(tensor(1))
    assert names(net) == ["one.0.w", "one.1.w", "other.0.w", "other.1.w"]
    net.other.append(Scale(1))
    assert names(net)[-1] == "other.2.w"


def test_nested_containers_keep_their_prefix():
    net = nn.CellList([nn.CellList([Scale(), Scale()]), nn.SequentialCell(Scale(), Scale())])
    assert names(net) == ["0.0.w", "0.1.w", "1.0.w", "1.1.w"]
    net[0].append(Scale())
    net[1].append(Scale())
    net[0].insert(0, Scale())
    del net[1][0]
    assert names(net) == ["0.0.w", "0.1.w", "0.2.w", "0.3.w", "1.0.w", "1.1.w"]
    net.insert(0, Scale())
    assert names(net) == ["0.w", "1.0.w", "1.1.w", "1.2.w", "1.3.w", "2.0.w", "2.1.w"]
    outer = nn.Cell()
    outer.net = net
    net[1].append(Scale())
    net[0] = Scale()
    assert names(outer)[0] == "net.0.w" and names(outer)[5] == "net.1.4.w"


# ---- CellDict
def test_cell_dict():
    cells = nn.CellDict({"a": Scale(1)})
    cells.update([("b", Scale(2))])
    cells.update(OrderedDict(c=Scale(3)))
    cells.update(nn.CellDict({"d": Scale(4)}))
    cells.update(iter([["e", Scale(5)]]))
    assert list(cells) == list(cells.keys()) == ["a", "b", "c", "d", "e"] and len(cells) == 5
    assert names(cells) == ["a.w", "b.w", "c.w", "d.w", "e.w"]
    cells["a"] = Scale(9)
    cells.update({"b": Scale(8)})
    assert factors(cells.values()) == [9, 8, 3, 4, 5] and cells.a is cells["a"]
    assert numbers(cells.pop("b").w) == [8.0] and "b" not in cells and 3 not in cells
    del cells["a"]
    assert [k for k, _ in cells.items()] == ["c", "d", "e"]
    for call in (lambda: cells["zz"], lambda: cells.pop("zz"), lambda: cells.__delitem__("zz")):
        with pytest.raises(KeyError, match="zz"):
            call()
    cells.clear()
    assert len(cells) == 0 and cells
    with pytest.raises(NotImplementedError, match="For 'CellDict', construct is not defined"):
        cells(tensor(1))
    assert list(nn.CellDict()) == list(nn.CellDict({})) == []


@pytest.mark.parametrize(
    "key, value, error, match",
    [
        ("_scope", Scale(1), KeyError, "must not be the name of an attribute of Cell, but got _scope"),
        ("construct", Scale(1), KeyError, "must not be the name of an attribute of Cell"),
        ("training", Scale(1), KeyError, "must not be the name of an attribute of Cell"),
        ("keys", Scale(1), KeyError, "must not be the name of an attribute of Cell"),
        ("a.b", Scale(1), KeyError, "key can not contain"),
        ("", Scale(1), KeyError, "key can not be empty string"),
        (3, Scale(1), TypeError, "the type of key should be string but got int"),
        ("x", None, TypeError, "cell can not be None"),
        ("x", 3, TypeError, "the type of cell should be Cell, but got int"),
        ("x", nn.CellList(), TypeError, "must not be a container of Cells itself, but got CellList"),
        ("x", nn.CellDict(), TypeError, "but got CellDict"),
    ],
)
def test_cell_dict_errors(key, value, error, match):
    cells = nn.CellDict()
    with pytest.raises(error, match=match):
        cells[key] = value
    assert len(cells) == 0


@pytest.mark.parametrize(
    "given, error, match",
    [
        (3, TypeError, "must be a dict or pairs of name and Cell, but got int"),
        (None, TypeError, "but got NoneType"),
        ([3], TypeError, "update sequence element #0 should be Iterable; but got int"),
        ([("a", Scale()), ("z",)], ValueError, "update sequence element #1, length should be 2; but has length 1"),
        (["abc"], ValueError, "length should be 2; but has length 3"),
    ],
)
def test_cell_dict_update_errors(given, error, match):
    for call in (nn.CellDict, nn.CellDict().update):
        with pytest.raises(error, match=match):
            call(given)


def test_only_one_argument():
    with pytest.raises(TypeError, match="at most one argument is taken, but got 2"):
        nn.CellDict({"a": Scale()}, {"b": Scale()})


# ---- all of them
def test_states_reach_the_members():
    for cells in (nn.SequentialCell(Scale()), nn.CellList([Scale()]), nn.CellDict({"a": Scale()})):
        member = next(iter(cells.cells()))
        assert cells.set_train() is cells and member.training
        assert cells.set_grad() is cells and member.requires_grad
        assert cells.set_grad(False) is cells and not member.requires_grad


def test_printed_form():
    assert repr(nn.CellList([Scale(), nn.ReLU()])) == "CellList(\n  (0): Scale()\n  (1): ReLU()\n)"
    assert repr(nn.CellDict({"a": nn.ReLU()})) == "CellDict(\n  (a): ReLU()\n)"
    assert repr(nn.SequentialCell()) == "SequentialCell()"


def test_copies():
    net = nn.SequentialCell(Scale(2), Scale(3))
    twin = copy.deepcopy(net)
    twin[0].w.set_data(tensor(10))
    assert numbers((net(tensor(1)), twin(tensor(1)))) == ([6.0], [30.0])
    assert factors(copy.deepcopy(nn.CellList([Scale(4)]))) == [4]
    assert list(copy.deepcopy(nn.CellDict({"a": Scale()}))) == ["a"]


def test_a_lone_child_that_is_a_list_itself_gives_its_last_place_as_prefix():
    def branch():
        return nn.SequentialCell(nn.Dense(1, 1, has_bias=False), nn.Dense(1, 1, has_bias=False))

    cells = nn.CellList()
    for _ in range(3):
        cells.append(branch())
    # Found with MindSpore 2.10, whose users' checkpoints have these names (mindcv's swin_tiny).
    assert [p.name for p in cells.get_parameters()] == [
        "0.0.weight", "0.1.weight", "0.1.0.weight", "0.1.1.weight", "0.2.0.weight", "0.2.1.weight",
    ]  # fmt: skip
