"""Small cells that the tests of Cell share."""

from dist_ms import Parameter, Tensor, nn


def tensor(*values):
    """A one-dimensional float32 Tensor."""
    return Tensor([float(v) for v in values])


def numbers(value):
    """Tensors as lists of numbers, in their nesting."""
    if isinstance(value, Tensor):
        return value.asnumpy().tolist()
    if isinstance(value, dict):
        return {k: numbers(v) for k, v in value.items()}
    return type(value)(map(numbers, value)) if isinstance(value, (tuple, list)) else value


def names(cell):
    """The names of a cell's parameters."""
    return [p.name for p in cell.get_parameters()]


class Scale(nn.Cell):
    """x times a parameter `w`."""

    def __init__(self, factor=1.0):
        super().__init__()
        self.w = Parameter(tensor(factor), name="w")

    def construct(self, x):
        return x * self.w


class Double(nn.Cell):
    """x times two."""

    def construct(self, x):
        return x * 2


class Inner(nn.Cell):
    """A parameter with a name of its own, and one that is not trained."""

    def __init__(self):
        super().__init__()
        self.v = Parameter(tensor(1), name="other")
        self.u = Parameter(tensor(1, 2), requires_grad=False)

    def construct(self, x):
        return x * self.v


class Outer(nn.Cell):
    """Two children and a parameter."""

    def __init__(self, auto_prefix=True):
        super().__init__(auto_prefix=auto_prefix)
        self.w = Parameter(tensor(3), name="explicit")
        self.a = Inner()
        self.b = Inner()

    def construct(self, x):
        return self.b(self.a(x)) * self.w
