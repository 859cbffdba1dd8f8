"""Parameters and buffers: tensors that a Cell keeps, their flags, and values that are made later."""

from dist_ms.common.parameter.parameter import (
    Parameter,
    ParameterTuple,
    _Buffer,
    _is_parameter_generated,
    check_unique_names,
    no_init_parameters,
)

__all__ = ["Parameter", "ParameterTuple", "_Buffer", "_is_parameter_generated", "no_init_parameters"]
