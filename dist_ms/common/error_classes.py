"""Which class of exception MindSpore raises for an argument where it departs from the rule.

The rule is TypeError for a wrong type, ValueError for a wrong value. Keys are "owner.argument", as in the texts of
the errors. Read only when an error is to be raised.
"""

from __future__ import annotations

_FOR_TYPES: dict[type[Exception], str] = {
    ValueError: (
        "move_to.blocking interpolate.recompute_scale_factor interpolate.align_corners MaxPool2d.return_indices "
        "SpaceToBatchND.paddings BatchToSpaceND.crops max_unpool1d.output_size max_unpool2d.output_size "
        "max_unpool3d.output_size channel_shuffle.groups Unfold.strides "
        "Tensor.sum_to_size.size"
    ),
    RuntimeError: "uniform.shape",
    KeyError: "IOU.mode",
}
_FOR_VALUES: dict[type[Exception], str] = {
    RuntimeError: "renorm.axis index_fill.axis CumulativeLogsumexp.axis rot90.dims",
    TypeError: "BatchNorm.eps",
    KeyError: "IOU.mode",
}


def _by_key(table: dict[type[Exception], str]) -> dict[str, type[Exception]]:
    return {key: error for error, keys in table.items() for key in keys.split()}


_OF_TYPE, _OF_VALUE = _by_key(_FOR_TYPES), _by_key(_FOR_VALUES)


def of_type(name: str, owner: str | None) -> type[Exception]:
    """The class to raise for a value of a wrong type.

    Examples:
        >>> from dist_ms.common.error_classes import of_type
        >>> of_type("blocking", "move_to"), of_type("input", "relu")
        (<class 'ValueError'>, <class 'TypeError'>)
    """
    return _OF_TYPE.get(f"{owner}.{name}", TypeError)


def of_value(name: str, owner: str | None) -> type[Exception]:
    """The class to raise for a wrong value.

    Examples:
        >>> from dist_ms.common.error_classes import of_value
        >>> of_value("axis", "renorm"), of_value("axis", "Softmax")
        (<class 'RuntimeError'>, <class 'ValueError'>)
    """
    return _OF_VALUE.get(f"{owner}.{name}", ValueError)
