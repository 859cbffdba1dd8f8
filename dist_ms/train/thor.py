"""ConvertNetUtils and ConvertModelUtils: networks and models whose layers collect what THOR reads."""

from __future__ import annotations

from typing import Any

from dist_ms.common.checks import check_type
from dist_ms.nn import Cell
from dist_ms.nn.layer.thor_conversion import convert
from dist_ms.nn.optim.thor import _Thor
from dist_ms.train.model import Model

__all__ = ["ConvertModelUtils", "ConvertNetUtils", "ModelThor"]


class ConvertNetUtils:
    """Replaces the Dense, Conv2d, Embedding and EmbeddingLookup layers of networks by those that THOR reads.

    Examples:
        >>> import dist_ms as ms
        >>> net = ms.nn.SequentialCell(ms.nn.Dense(2, 1))
        >>> ms.ConvertNetUtils().convert_to_thor_net(net)
        >>> type(net[0]).__name__
        'DenseThor'
    """

    def convert_to_thor_net(self, net: Cell) -> None:
        """Replace the layers in a network, which keep their parameters; convolutions in groups and frozen layers stay.

        Args:
            net: the network.

        Raises:
            TypeError: if it is no Cell.
        """
        check_type(net, "net", "convert_to_thor_net", Cell)
        convert(net)


class ModelThor(Model):
    """A Model that trains with `nn.thor`, which itself knows in which steps its layers collect; see `Model`."""


class ConvertModelUtils:
    """Makes models that train with `nn.thor`.

    Examples:
        >>> import dist_ms as ms
        >>> net, loss = ms.nn.SequentialCell(ms.nn.Dense(2, 1)), ms.nn.MSELoss()
        >>> ms.ConvertNetUtils().convert_to_thor_net(net)
        >>> optimizer = ms.nn.thor(net, ms.Tensor([0.1]), ms.Tensor([0.1]), 0.9)
        >>> model = ms.Model(net, loss, optimizer)
        >>> model = ms.ConvertModelUtils().convert_to_thor_model(model, net, loss, optimizer)
    """

    @staticmethod
    def convert_to_thor_model(
        model: Model,
        network: Cell,
        loss_fn: Any = None,
        optimizer: Any = None,
        metrics: Any = None,
        amp_level: str = "O0",
        loss_scale_manager: Any = None,
        keep_batchnorm_fp32: bool = False,
    ) -> Model:
        """Return a model that trains with THOR, or the one that is given where the optimizer is another.

        Args:
            model: the model.
            network, loss_fn, optimizer, metrics, amp_level, loss_scale_manager, keep_batchnorm_fp32: as in `Model`.

        Raises:
            TypeError: if `model` is no Model.
        """
        check_type(model, "model", "convert_to_thor_model", Model)
        if not isinstance(optimizer, _Thor):
            return model
        settings: dict[str, Any] = {"keep_batchnorm_fp32": keep_batchnorm_fp32} if amp_level != "O0" else {}
        if loss_scale_manager is not None:
            settings["loss_scale_manager"] = loss_scale_manager
        return ModelThor(network, loss_fn, optimizer, metrics, amp_level=amp_level, **settings)
