"""A hook that notes what it sees."""

from tests.serial.autograd.shapes import plain


class Log(list):
    def hook(self, label, change=None):
        """A hook that notes what it gets and returns what `change` makes of it."""

        def hook(*grads):
            self.append((label, *map(plain, grads)))
            return None if change is None else change(*grads)

        return hook
