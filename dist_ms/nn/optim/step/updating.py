"""What optimizers of every form have in common: before an update the ranks see that it is the same on all."""

from __future__ import annotations

from typing import Any

from dist_ms.common.checks import check_bool
from dist_ms.nn.cell import Cell
from dist_ms.parallel.replicas.check import ReplicaCheck


class ReplicatedUpdate(Cell):
    """A Cell that updates its `parameters` when it is called with their gradients.

    On several ranks that train together it compares gradients before the first update, and weights from then on (see
    `dist_ms.parallel.replicas`).

    Attributes:
        element_wise: a fact about the class: the new value of an element depends on nothing of other elements, so that
            ranks and servers may update parts of a tensor. A subclass that overrides a part of the rule loses it,
            unless it says so itself.
        rule_parts: the methods that make up the rule.
    """

    parameters: Any
    _replica_check: ReplicaCheck
    element_wise = False
    rule_parts: tuple[str, ...] = ("construct", "update_one")
    _local = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.__dict__["_replica_check"] = ReplicaCheck()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "element_wise" not in vars(cls) and any(name in vars(cls) for name in cls.rule_parts):
            cls.element_wise = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self._local:
            gradients = args[0] if args else next(iter(kwargs.values()), None)
            self._replica_check.before_update(self.cls_name, self.parameters, gradients)
        return super().__call__(*args, **kwargs)

    @property
    def local(self) -> bool:
        """Whether this optimizer trains weights of this rank alone, whatever the parallel mode says; False by default.

        Set it on purpose, before a train step is made and before the first update: from there on the ranks' weights
        part. A train step made with such an optimizer reduces no gradients.

        Raises:
            TypeError: if something else than a bool is assigned.

        Examples:
            >>> import dist_ms as ms
            >>> opt = ms.nn.SGD([ms.Parameter(ms.Tensor([1.0]), name="w")])
            >>> opt.local = True
        """
        return self._local

    @local.setter
    def local(self, value: bool) -> None:
        self.__dict__["_local"] = check_bool(value, "local", self.cls_name)
        for parameter in self.parameters:
            parameter.looked_after = True
