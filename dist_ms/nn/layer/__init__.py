"""Layers, by subject."""

import typing as _typing

from dist_ms.common.late_names import late_names as _late_names

if _typing.TYPE_CHECKING:
    from dist_ms.nn.layer.activation import *
    from dist_ms.nn.layer.attention.multihead import *
    from dist_ms.nn.layer.attention.transformer_layers import *
    from dist_ms.nn.layer.basic import *
    from dist_ms.nn.layer.combined import *
    from dist_ms.nn.layer.container import *
    from dist_ms.nn.layer.conv import *
    from dist_ms.nn.layer.conv_transpose import *
    from dist_ms.nn.layer.dense import *
    from dist_ms.nn.layer.dropout import *
    from dist_ms.nn.layer.embedding import *
    from dist_ms.nn.layer.embeddings.field_embedding import *
    from dist_ms.nn.layer.extended.layers import *
    from dist_ms.nn.layer.extended.linear import *
    from dist_ms.nn.layer.image import *
    from dist_ms.nn.layer.images.image_parts import *
    from dist_ms.nn.layer.images.image_quality import *
    from dist_ms.nn.layer.mathematics.functions import *
    from dist_ms.nn.layer.mathematics.jacobian_products import *
    from dist_ms.nn.layer.mathematics.matrices import *
    from dist_ms.nn.layer.mathematics.sparse_products import *
    from dist_ms.nn.layer.mathematics.special_functions import *
    from dist_ms.nn.layer.normalization import *
    from dist_ms.nn.layer.padding import *
    from dist_ms.nn.layer.pooling import *
    from dist_ms.nn.layer.pooling_windows.adaptive_pooling import *
    from dist_ms.nn.layer.pooling_windows.fractional_pooling import *
    from dist_ms.nn.layer.pooling_windows.unpooling import *
    from dist_ms.nn.layer.recurrent.rnn import *
    from dist_ms.nn.layer.recurrent.rnn_cells import *
    from dist_ms.nn.layer.shaped_activation import *
    from dist_ms.nn.layer.sync_batch_norm import *
    from dist_ms.nn.layer.thor import *
    from dist_ms.nn.layer.transformer import *

_late_names(__name__)
