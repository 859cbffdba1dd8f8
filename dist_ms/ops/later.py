"""Files of this floor that load when one of their names is first used, so that importing dist_ms stays quick.

A test compares the names with the files' own `__all__`.
"""

LATER = {
    "adagrad_updates": """
        ApplyAdagrad ApplyAdagradDA ApplyAdagradV2 ApplyFtrl ApplyProximalAdagrad ApplyProximalGradientDescent
        FusedSparseFtrl FusedSparseProximalAdagrad SparseApplyFtrl
    """.split(),
    "adam_updates": """
        Adam AdamNoUpdateParam AdamWeightDecay ApplyAdaMax ApplyAdamWithAmsgrad ApplyAdamWithAmsgradV2
    """.split(),
    "adaptive_pooling": """
        AdaptiveAvgPool2D AdaptiveAvgPool3D AdaptiveMaxPool2D adaptive_avg_pool1d adaptive_avg_pool2d
        adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d
    """.split(),
    "argmax_pooling": """
        AdaptiveMaxPool3D MaxPool3DWithArgmax MaxPoolWithArgmaxV2 MaxUnpool2D MaxUnpool3D
    """.split(),
    "bessel": """
        BesselI0 BesselI0e BesselI1 BesselI1e BesselJ0 BesselJ1 BesselK0 BesselK0e BesselK1 BesselK1e BesselY0
        BesselY1 bessel_i0 bessel_i0e bessel_i1 bessel_i1e bessel_j0 bessel_j1 bessel_k0 bessel_k0e bessel_k1
        bessel_k1e bessel_y0 bessel_y1
    """.split(),
    "beta_function": """
        Betainc
    """.split(),
    "bounding_boxes": """
        BoundingBoxDecode BoundingBoxEncode NonMaxSuppressionWithOverlaps bounding_box_decode
        bounding_box_encode
    """.split(),
    "box_crops": """
        CropAndResize ExtractGlimpse ROIAlign crop_and_resize
    """.split(),
    "candidate_samplers": """
        Cauchy LogNormalReverse LogUniformCandidateSampler ParameterizedTruncatedNormal TruncatedNormal
        UniformCandidateSampler log_uniform_candidate_sampler uniform_candidate_sampler
    """.split(),
    "columns": """
        Col2Im Im2Col col2im
    """.split(),
    "control_flow": """
        ForiLoop Scan WhileLoop
    """.split(),
    "create_primitives": """
        Eps Eye Fill FillV2 LinSpace Ones OnesLike Range Zeros ZerosLike
    """.split(),
    "ctc_primitives": """
        CTCGreedyDecoder CTCLoss CTCLossV2 ctc_greedy_decoder
    """.split(),
    "derivatives": """
        derivative jet
    """.split(),
    "distances": """
        Cdist Pdist cdist cosine_similarity pdist
    """.split(),
    "distributions": """
        Bernoulli RandomCategorical Randperm bernoulli multinomial random_categorical
    """.split(),
    "encoding": """
        OneHot one_hot sequence_mask
    """.split(),
    "factorisations": """
        Eig Geqrf MatrixLogarithm Orgqr Qr Svd eig eigvals geqrf orgqr qr svd
    """.split(),
    "format_maps": """
        DataFormatDimMap DataFormatVecPermute MapUniform
    """.split(),
    "fourier": """
        fft fft2 fftfreq fftn fftshift hfft hfft2 hfftn ifft ifft2 ifftn ifftshift ihfft ihfft2 ihfftn irfft
        irfft2 irfftn rfft rfft2 rfftfreq rfftn
    """.split(),
    "fractional_pooling": """
        FractionalMaxPool3DWithFixedKsize FractionalMaxPoolWithFixedKsize fractional_max_pool2d
        fractional_max_pool3d
    """.split(),
    "gradient_updates": """
        ApplyAdadelta ApplyAddSign ApplyCenteredRMSProp ApplyGradientDescent ApplyMomentum ApplyPowerSign
        ApplyRMSProp SGD
    """.split(),
    "image_colors": """
        AdjustHue AdjustSaturation HSVToRGB RGBToHSV
    """.split(),
    "image_resizing": """
        ResizeArea ResizeBicubic ResizeBilinearV2 ResizeLinear1D ResizeNearestNeighbor ResizeNearestNeighborV2
        UpsampleNearest3D UpsampleTrilinear3D
    """.split(),
    "incomplete_gamma": """
        Igamma Igammac Mvlgamma Zeta igamma igammac zeta
    """.split(),
    "likelihood_loss": """
        gaussian_nll_loss
    """.split(),
    "linear_systems": """
        Lstsq LuSolve LuUnpack MatrixPower MatrixSolve MatrixSolveLs MatrixTriangularSolve cond lstsq lu_solve
        lu_unpack matrix_solve pinv
    """.split(),
    "lookups": """
        CheckValid Coalesce IOU InTopK ListDiff LowerBound NthElement ScatterAddWithAxis SubAndFilter UpperBound
        check_valid intopk iou
    """.split(),
    "loss_primitives": """
        BCEWithLogitsLoss BinaryCrossEntropy KLDivLoss L2Loss MultiMarginLoss MultilabelMarginLoss NLLLoss
        SigmoidCrossEntropyWithLogits SmoothL1Loss SoftMarginLoss TripletMarginLoss
    """.split(),
    "lstm": """
        LSTM
    """.split(),
    "matrix_diagonals": """
        MatrixBandPart MatrixDiagPartV3 MatrixDiagV3 MatrixSetDiagV3 matrix_band_part matrix_diag
        matrix_diag_part matrix_set_diag
    """.split(),
    "moments": """
        Median ReduceStd cov logsumexp median nanmean nanmedian nanquantile nansum quantile std std_mean var
        var_mean
    """.split(),
    "parameter_scattering": """
        ScatterAdd ScatterDiv ScatterMax ScatterMin ScatterMul ScatterNdAdd ScatterNdDiv ScatterNdMax
        ScatterNdMin ScatterNdMul ScatterNdSub ScatterNdUpdate ScatterNonAliasingAdd ScatterSub ScatterUpdate
        scatter_add scatter_div scatter_max scatter_min scatter_mul scatter_nd_add scatter_nd_div scatter_nd_max
        scatter_nd_min scatter_nd_mul scatter_nd_sub scatter_nd_update scatter_update
    """.split(),
    "products_added": """
        addbmm addmm addmv addr baddbmm
    """.split(),
    "random_choices": """
        NonDeterministicInts RandomChoiceWithMask choice_with_mask
    """.split(),
    "random_primitives": """
        Gamma Multinomial Poisson RandomGamma RandomPoisson RandomShuffle StandardLaplace StandardNormal
        UniformInt UniformReal
    """.split(),
    "rearranging": """
        ReverseSequence ReverseV2 Roll flip fliplr flipud reverse reverse_sequence roll rot90
    """.split(),
    "replacing": """
        InplaceAdd InplaceIndexAdd InplaceSub InplaceUpdate InplaceUpdateV2 inplace_add inplace_sub
        inplace_update select_scatter slice_scatter
    """.split(),
    "row_updates": """
        FusedSparseAdam FusedSparseLazyAdam SparseApplyAdagradV2 SparseApplyRMSProp
    """.split(),
    "scanning": """
        CumProd CumSum Cummax Cummin CumulativeLogsumexp cummax cummin cumprod cumsum logcumsumexp
    """.split(),
    "sequences": """
        EditDistance NoRepeatNGram RaggedRange
    """.split(),
    "small_arrays": """
        Bucketize ChannelShuffle CompareAndBitpack IdentityN InvertPermutation UnravelIndex scalar_cast
    """.split(),
    "sorted_segments": """
        SegmentMax SegmentMean SegmentMin SegmentProd SegmentSum
    """.split(),
    "sorting": """
        SearchSorted Sort TopK Unique UniqueConsecutive argsort bucketize msort searchsorted sort top_k topk
        unique unique_consecutive unique_with_pad
    """.split(),
    "space_blocks": """
        BatchToSpaceND DepthToSpace SpaceToBatchND SpaceToDepth batch_to_space_nd space_to_batch_nd
    """.split(),
    "sparse_elementwise": """
        coo_abs coo_acos coo_acosh coo_asin coo_asinh coo_atan coo_atanh coo_ceil coo_cos coo_cosh coo_exp
        coo_expm1 coo_floor coo_inv coo_isfinite coo_isinf coo_isnan coo_log coo_log1p coo_neg coo_relu
        coo_relu6 coo_round coo_sigmoid coo_sin coo_sinh coo_softsign coo_sqrt coo_square coo_tan coo_tanh
        csr_abs csr_acos csr_acosh csr_asin csr_asinh csr_atan csr_atanh csr_ceil csr_cos csr_cosh csr_exp
        csr_expm1 csr_floor csr_inv csr_isfinite csr_isinf csr_isnan csr_log csr_log1p csr_neg csr_relu
        csr_relu6 csr_round csr_sigmoid csr_sin csr_sinh csr_softsign csr_sqrt csr_square csr_tan csr_tanh
    """.split(),
    "sparse_primitives": """
        SparseSlice SparseTensorDenseAdd SparseTensorDenseMatmul SparseToDense sparse_segment_mean
    """.split(),
    "special": """
        Digamma Erf Erfc Erfinv Gcd Heaviside Lcm Lgamma NextAfter Polygamma copysign digamma erf erfc erfinv
        gcd heaviside i0 lcm lgamma mvlgamma nextafter polygamma
    """.split(),
    "spectrogram": """
        FFTWithSize STFT stft
    """.split(),
    "suppression": """
        CombinedNonMaxSuppression NMSWithMask
    """.split(),
    "tensor_series": """
        LogSpace TridiagonalMatMul
    """.split(),
    "unpooling": """
        max_unpool1d max_unpool2d max_unpool3d
    """.split(),
    "window_functions": """
        BartlettWindow BlackmanWindow HammingWindow bartlett_window blackman_window hamming_window hann_window
        kaiser_window
    """.split(),
}
