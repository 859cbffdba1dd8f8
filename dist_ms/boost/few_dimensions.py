"""DimReduce: steps of second order in the few directions that weights have moved in, of first order beside them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dist_ms.common.checks import check_positive_int
from dist_ms.common.parameter import Parameter, ParameterTuple
from dist_ms.common.tensor import Tensor, from_array
from dist_ms.nn.cell import Cell
from dist_ms.parallel.mode import world_comm

__all__ = ["DimReduce"]

_SEARCHED = 2  # steps of the line search: rho^0, rho^1
_LEAST = 1e-20  # of the product that the inverse Hessian is updated with


class DimReduce(Cell):
    r"""Trains in the space of principal components with a quasi-Newton method, outside of it with momentum.

    With the components P, their gradient :math:`g_k = P g` and the inverse Hessian B the step is
    :math:`s = -\rho^m B g_k` for the first m of 0 and 1 with :math:`loss(w + P^T s) < loss(w) + \sigma g_k^T s`,
    or none. Beside it the momentum :math:`v \leftarrow \gamma v + g - P^T g_k` takes a step of :math:`-\alpha v`.

    Args:
        network: returns the loss.
        optimizer: an SGD with the learning rate 1.
        weight: the parameters.
        pca_mat_local: this rank's share of the components, a row each.
        n_components: how many components all ranks have.
        rho, gamma, alpha, sigma: the numbers above.
        rank: this rank's number.
        rank_size: how many ranks.

    Examples:
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> dense = ms.nn.Dense(2, 1, weight_init="ones", has_bias=False)
        >>> net, weights = ms.nn.WithLossCell(dense, ms.nn.MSELoss()), dense.trainable_params()
        >>> step = ms.boost.DimReduce(net, ms.nn.SGD(weights, 1.0), weights, np.eye(1, 2), 1, 0.5, 0.9, 0.1, 0.4, 0, 1)
        >>> x, y = ms.Tensor([[0.5, 0.0]]), ms.Tensor([[0.0]])
        >>> grads = ms.grad(net, None, weights)(x, y)
        >>> _ = step(net(x, y), grads, ms.Tensor(1.0), weights, [w.clone() for w in weights], x, y)
        >>> print(dense.weight.asnumpy())
        [[0.5 1. ]]
    """

    def __init__(
        self,
        network: Cell,
        optimizer: Cell,
        weight: Sequence[Parameter],
        pca_mat_local: np.ndarray,
        n_components: int,
        rho: float,
        gamma: float,
        alpha: float,
        sigma: float,
        rank: int,
        rank_size: int,
    ) -> None:
        super().__init__()
        self.network, self.optimizer = network, optimizer
        self.rho, self.gamma, self.alpha, self.sigma = rho, gamma, alpha, sigma
        self.rank, self.rank_size = rank, rank_size
        self.n_components = check_positive_int(n_components, "n_components", "DimReduce")
        share = math.ceil(n_components / rank_size)
        size = sum(p.size for p in weight)
        self._components = np.asarray(pca_mat_local, np.float32)
        if self._components.shape != (share, size):
            raise ValueError(
                f"For 'DimReduce', 'pca_mat_local' must have the shape {(share, size)}, but got {pca_mat_local.shape}."
            )
        self._share = slice(rank * share, (rank + 1) * share)
        zeros = np.zeros((n_components, 1), np.float32)
        self.gk_last = Parameter(Tensor(zeros), name="gk_last")
        self.gk_last_init = Parameter(Tensor(False), name="gk_last_init")
        self.bk = Parameter(Tensor(np.eye(n_components, dtype=np.float32)), name="bk")
        self.sk = Parameter(Tensor(zeros), name="sk")
        self.grad_res_momentum = ParameterTuple(weight).clone(prefix="grad_res_momentum", init="zeros")

    def construct(
        self,
        loss: Tensor,
        old_grad: Sequence[Tensor],
        loss_scale: Tensor,
        weight: Sequence[Parameter],
        weight_clone: Sequence[Tensor],
        *inputs: Any,
    ) -> Tensor:
        """Take a step and return the loss. Every rank calls it.

        Args:
            loss: the loss of this batch.
            old_grad: its gradients.
            loss_scale: what they are divided by.
            weight: the parameters.
            weight_clone: copies of them, which are kept up to date.
            inputs: the batch.
        """
        scale = float(np.ravel(loss_scale.asnumpy())[0])
        grads = [g.asnumpy().astype(np.float32) / np.float32(scale) for g in old_grad]
        flat = np.concatenate([g.ravel() for g in grads])
        before = self._mean(loss)
        own = self._components @ flat
        gathered = world_comm().all_gather(own) if self.rank_size > 1 else own
        gk = gathered.reshape(-1, 1)[: self.n_components]
        old = [p.asnumpy().copy() for p in (self.bk, self.gk_last)]
        dk = self._direction(gk)
        padded = np.zeros(len(self._components) * self.rank_size, np.float32)
        padded[: len(dk)] = dk.ravel()
        back = np.stack([self._components.T @ padded[self._share], self._components.T @ own])
        if self.rank_size > 1:
            world_comm().all_reduce(back)
        rho = self._searched(before, float((gk.T @ dk).item()), dk, back[0], weight, weight_clone, inputs)
        if rho == 0.0:
            for p, value in zip((self.bk, self.gk_last), old):
                p.set_data(Tensor(value))
        changes = []
        for moment, grad, step, inside in zip(
            self.grad_res_momentum, grads, self._cut(back[0], weight), self._cut(back[1], weight)
        ):
            v = np.float32(self.gamma) * moment.asnumpy() + grad - inside
            moment.set_data(Tensor(v))
            changes.append(np.float32(self.alpha) * v - np.float32(rho) * step)
        self.optimizer(tuple(from_array(c) for c in changes))
        for kept, p in zip(weight_clone, weight):
            kept.assign_value(p)
        return loss

    def _mean(self, loss: Tensor) -> float:
        """The mean of a loss over the ranks."""
        value = loss.asnumpy().astype(np.float64).reshape(-1)
        return float(world_comm().all_reduce(value, scale=1 / self.rank_size)[0] if self.rank_size > 1 else value[0])

    @staticmethod
    def _cut(flat: np.ndarray, weight: Sequence[Parameter]) -> list[np.ndarray]:
        """Pieces of a row of all weights, in their shapes."""
        ends = np.cumsum([p.size for p in weight])[:-1]
        return [part.reshape(p.shape) for part, p in zip(np.split(flat, ends), weight)]

    def _direction(self, gk: np.ndarray) -> np.ndarray:
        """The quasi-Newton step, after an update of the inverse Hessian with the last step."""
        bk, sk = self.bk.asnumpy(), self.sk.asnumpy()
        if self.gk_last_init.asnumpy():
            yk = gk - self.gk_last.asnumpy()
            product = float((yk.T @ sk).item())
            if product > _LEAST:
                turned = np.eye(self.n_components, dtype=np.float32) - (yk / product) @ sk.T
                bk = turned.T @ bk @ turned + (sk / product) @ sk.T
                self.bk.set_data(Tensor(bk.astype(np.float32)))
        else:
            self.gk_last_init.set_data(Tensor(True))
        self.gk_last.set_data(Tensor(gk.astype(np.float32)))
        return -(bk @ gk)

    def _searched(
        self,
        before: float,
        slope: float,
        dk: np.ndarray,
        direction: np.ndarray,
        weight: Sequence[Parameter],
        weight_clone: Sequence[Tensor],
        inputs: tuple,
    ) -> float:
        """The first power of rho whose step lowers the loss enough; 0 if none does. The weights are as before."""
        pieces = self._cut(direction, weight)
        for power in range(_SEARCHED):
            rho = self.rho**power
            self.optimizer(tuple(from_array(np.float32(-rho) * piece) for piece in pieces))
            after = self._mean(self.network(*inputs))
            for p, kept in zip(weight, weight_clone):
                p.set_data(from_array(kept.asnumpy().copy()))
            if before + self.sigma * rho * slope > after:
                self.sk.set_data(Tensor((rho * dk).astype(np.float32)))
                return rho
        return 0.0
