"""SequentialCell, CellList and CellDict."""

from collections import OrderedDict

import pytest

from dist_ms import Parameter, Tensor, nn


class Scale(nn.Cell):
    def __init__(self, factor):
        super().__init__()
        self.w = Parameter(Tensor([float(factor)]), name="w")

    def construct(self, x):
        return x * self.w


def names(cell):
    return [p.name for p in cell.get_parameters()]


def test_sequential_runs_in_order_and_names_by_place():
    net = nn.SequentialCell(Scale(2), Scale(3))
    assert net(Tensor([1.0])).asnumpy() == 6.0
    assert names(net) == ["0.w", "1.w"]
    net.append(Scale(4))
    net.insert(0, Scale(5))
    assert names(net) == ["0.w", "1.w", "2.w", "3.w"] and net[0].w.asnumpy() == 5.0
    del net[0]
    assert names(net) == ["0.w", "1.w", "2.w"] and len(net) == 3
    assert names(net[0:2]) == ["0.w", "1.w"] and isinstance(net[1:], nn.SequentialCell)
    net[-1] = Scale(7)
    assert net[2].w.asnumpy() == 7.0 and names(net)[2] == "2.w"
    assert [c.w.asnumpy()[0] for c in reversed(net)] == [7.0, 3.0, 2.0]


def test_sequential_from_list_and_dict():
    assert len(nn.SequentialCell([Scale(1), Scale(2)])) == 2
    net = nn.SequentialCell(OrderedDict([("x", Scale(1)), ("y", Scale(2))]))
    assert names(net) == ["x.w", "y.w"]
    x = Tensor([1.0])
    assert nn.SequentialCell()(x) is x


def test_sequential_errors():
    net = nn.SequentialCell(Scale(1))
    with pytest.raises(TypeError, match="the type of 'index' must be int, but got float"):
        net[1.5]
    with pytest.raises(IndexError, match=r"must be a number in range \[-1, 1\), but got 9"):
        net[9]
    with pytest.raises(TypeError, match="each cell must be subclass of Cell, but got int"):
        net.append(3)
    with pytest.raises(TypeError):
        nn.SequentialCell(3)
    with pytest.raises(TypeError):
        net[0] = 3


def test_cell_list_is_a_list():
    cells = nn.CellList([Scale(1), Scale(2)])
    cells.append(Scale(3))
    cells.extend([Scale(4)])
    cells.insert(0, Scale(5))
    cells += [Scale(6)]
    assert names(cells) == [f"{i}.w" for i in range(6)]
    assert [c.w.asnumpy()[0] for c in cells] == [5, 1, 2, 3, 4, 6]
    assert names(cells[1:3]) == ["1.w", "2.w"] and cells[-1].w.asnumpy() == 6
    del cells[0:2]
    assert names(cells) == ["0.w", "1.w", "2.w", "3.w"]
    assert cells[0] in cells and Scale(1) not in cells
    with pytest.raises(NotImplementedError):
        cells(Tensor([1.0]))


def test_cell_list_errors():
    cells = nn.CellList([Scale(1)])
    for call, error in (
        (lambda: cells.append(3), TypeError),
        (lambda: cells.extend(3), TypeError),
        (lambda: cells.insert("a", Scale(1)), TypeError),
        (lambda: cells.insert(99, Scale(1)), IndexError),
        (lambda: cells[4], IndexError),
        (lambda: cells.append(nn.CellDict({})) if False else cells.extend([nn.CellDict()]), TypeError),
    ):
        with pytest.raises(error):
            call()


def test_names_inside_a_parent():
    class Net(nn.Cell):
        def __init__(self, auto_prefix=True):
            super().__init__(auto_prefix=auto_prefix)
            self.l = nn.CellList([Scale(1)])
            self.d = nn.CellDict({"a": Scale(1)})

    net = Net()
    net.l.append(Scale(2))
    net.d["b"] = Scale(2)
    assert names(net) == ["l.0.w", "l.1.w", "d.a.w", "d.b.w"]
    assert names(Net(auto_prefix=False)) == ["0.w", "a.w"]
    assert names(nn.CellList([Scale(1)], auto_prefix=False)) == ["w"]


def test_cell_dict():
    cells = nn.CellDict({"a": Scale(1)})
    cells.update([("b", Scale(2))])
    cells.update(OrderedDict(c=Scale(3)))
    assert list(cells) == list(cells.keys()) == ["a", "b", "c"] and len(cells) == 3
    assert names(cells) == ["a.w", "b.w", "c.w"]
    assert cells.pop("b").w.asnumpy() == 2 and "b" not in cells
    assert [k for k, _ in cells.items()] == ["a", "c"] and len(list(cells.values())) == 2
    del cells["a"]
    cells.clear()
    assert len(cells) == 0
    with pytest.raises(NotImplementedError):
        cells(Tensor([1.0]))


@pytest.mark.parametrize(
    "key, value, error",
    [
        ("_scope", Scale(1), KeyError),
        ("a.b", Scale(1), KeyError),
        ("", Scale(1), KeyError),
        (3, Scale(1), TypeError),
        ("x", None, TypeError),
        ("x", 3, TypeError),
        ("x", nn.CellList(), TypeError),
        ("construct", Scale(1), KeyError),
    ],
)
def test_cell_dict_errors(key, value, error):
    with pytest.raises(error):
        nn.CellDict()[key] = value


def test_cell_dict_update_errors():
    with pytest.raises(TypeError, match="iterable of key-value pairs"):
        nn.CellDict().update(3)
    with pytest.raises(ValueError, match="length should be 2"):
        nn.CellDict().update([("z",)])
