"""Compiled kernels, and SciPy, that load at their first use."""

from typing import TYPE_CHECKING

from dist_ms.common.late_names import late_modules

if TYPE_CHECKING:
    from scipy import fft, linalg, optimize, special
    from scipy.linalg import lapack

    from dist_ms._ext import (
        activation,
        amx,
        attention,
        axis_reduction,
        batch_norm,
        borders,
        cast,
        column_sum,
        columns,
        counted_numbers,
        cross_entropy,
        ctc,
        depthwise,
        dnnl,
        dropout,
        embedding,
        extreme_places,
        few_rows,
        filling,
        gated,
        grid_sampling,
        group_norm,
        histogram,
        index_along,
        interleave,
        kronecker,
        label_likelihood,
        layer_norm,
        masked,
        moving_statistics,
        optimizer,
        ordering,
        pairwise,
        pointwise,
        recurrent_steps,
        resampling,
        running_extremes,
        scan,
        selection,
        sequences,
        softmax,
        softmax_lines,
        sorted_search,
        strided_copy,
        triangles,
        unique,
        vector_product,
        weighted_places,
        window_maxima,
        winograd,
    )

late_modules(__name__)
