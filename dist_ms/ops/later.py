"""Files of this floor that load when one of their names is first used, so that importing dist_ms stays quick.

A test compares the names with the files' own `__all__`.
"""

LATER = {
    "updates.adagrad_updates": """
        ApplyAdagrad ApplyAdagradDA ApplyAdagradV2 ApplyFtrl ApplyProximalAdagrad ApplyProximalGradientDescent
        FusedSparseFtrl FusedSparseProximalAdagrad SparseApplyFtrl
    """.split(),
    "updates.adam_updates": """
        Adam AdamNoUpdateParam AdamWeightDecay ApplyAdaMax ApplyAdamWithAmsgrad ApplyAdamWithAmsgradV2
    """.split(),
    "pooling_windows.adaptive_pooling": """
        AdaptiveAvgPool2D AdaptiveAvgPool3D AdaptiveMaxPool2D adaptive_avg_pool1d adaptive_avg_pool2d
        adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d
    """.split(),
    "pooling_windows.argmax_pooling": """
        AdaptiveMaxPool3D MaxPool3DWithArgmax MaxPoolWithArgmaxV2 MaxUnpool2D MaxUnpool3D
    """.split(),
    "special_functions.bessel": """
        BesselI0 BesselI0e BesselI1 BesselI1e BesselJ0 BesselJ1 BesselK0 BesselK0e BesselK1 BesselK1e BesselY0
        BesselY1 bessel_i0 bessel_i0e bessel_i1 bessel_i1e bessel_j0 bessel_j1 bessel_k0 bessel_k0e bessel_k1
        bessel_k1e bessel_y0 bessel_y1
    """.split(),
    "special_functions.beta_function": """
        Betainc
    """.split(),
    "images.bounding_boxes": """
        BoundingBoxDecode BoundingBoxEncode NonMaxSuppressionWithOverlaps bounding_box_decode
        bounding_box_encode
    """.split(),
    "images.box_crops": """
        CropAndResize ExtractGlimpse ROIAlign crop_and_resize
    """.split(),
    "drawing_numbers.candidate_samplers": """
        Cauchy LogNormalReverse LogUniformCandidateSampler ParameterizedTruncatedNormal TruncatedNormal
        UniformCandidateSampler log_uniform_candidate_sampler uniform_candidate_sampler
    """.split(),
    "reducing.clipping": """
        clip_by_global_norm clip_by_norm
    """.split(),
    "convolutions.columns": """
        Col2Im Im2Col col2im
    """.split(),
    "elementwise.complex_numbers": """
        Angle Complex ComplexAbs Conj Imag Polar Real angle conj imag is_complex polar real view_as_real
    """.split(),
    "flow.control_flow": """
        ForiLoop Scan WhileLoop
    """.split(),
    "convolutions.conv": """

    """.split(),
    "convolutions.conv_functions": """
        conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d
    """.split(),
    "convolutions.conv_primitives": """
        Conv2D Conv2DBackpropFilter Conv2DBackpropInput Conv2DTranspose Conv3D Conv3DTranspose
    """.split(),
    "creating.create_primitives": """
        Eps Eye Fill FillV2 LinSpace Ones OnesLike Range Zeros ZerosLike
    """.split(),
    "losses.ctc_primitives": """
        CTCGreedyDecoder CTCLoss CTCLossV2 ctc_greedy_decoder
    """.split(),
    "flow.debugging": """
        Assert CheckNumerics Depend FloatStatus Identity NPUAllocFloatStatus NPUClearFloatStatus
        NPUGetFloatStatus Print deepcopy depend identity print_
    """.split(),
    "convolutions.deformable": """
        DeformableOffsets deformable_conv2d
    """.split(),
    "custom.custom": ["Custom"],
    "custom.hybrid": ["kernel"],
    "custom.registration": ["CustomRegOp", "DataType", "custom_info_register"],
    "linear_algebra.decompositions": """
        LogMatrixDeterminant MatrixDeterminant MatrixInverse det inverse log_matrix_determinant logdet
        matrix_determinant slogdet
    """.split(),
    "flow.derivatives": """
        derivative jet
    """.split(),
    "linear_algebra.distances": """
        Cdist Pdist cdist cosine_similarity pdist
    """.split(),
    "drawing_numbers.distribution_functions": """
        gamma laplace poisson random_poisson standard_laplace
    """.split(),
    "drawing_numbers.distributions": """
        Bernoulli RandomCategorical Randperm RandpermV2 bernoulli multinomial random_categorical
    """.split(),
    "drawing_numbers.drawing": """
        normal rand rand_like randint randint_like randn randn_like randperm shuffle standard_normal uniform
    """.split(),
    "creating.encoding": """
        OneHot one_hot sequence_mask
    """.split(),
    "linear_algebra.factorisations": """
        Eig Geqrf MatrixLogarithm Orgqr Qr Svd eig eigvals geqrf orgqr qr svd
    """.split(),
    "layers.flash_attention": """
        flash_attention_score
    """.split(),
    "shaping.format_maps": """
        DataFormatDimMap DataFormatVecPermute MapUniform
    """.split(),
    "signals.fourier": """
        fft fft2 fftfreq fftn fftshift hfft hfft2 hfftn ifft ifft2 ifftn ifftshift ihfft ihfft2 ihfftn irfft
        irfft2 irfftn rfft rfft2 rfftfreq rfftn
    """.split(),
    "pooling_windows.fractional_pooling": """
        FractionalMaxPool3DWithFixedKsize FractionalMaxPoolWithFixedKsize fractional_max_pool2d
        fractional_max_pool3d
    """.split(),
    "pooling_windows.fractional_stretches": """
        FractionalAvgPool FractionalMaxPool
    """.split(),
    "updates.fused_updates": """
        FusedAdaFactor FusedAdaFactorWithGlobalNorm FusedCastAdamWeightDecay
    """.split(),
    "updates.gradient_updates": """
        ApplyAdadelta ApplyAddSign ApplyCenteredRMSProp ApplyGradientDescent ApplyMomentum ApplyPowerSign
        ApplyRMSProp SGD
    """.split(),
    "images.grid_sampling": """
        AffineGrid GridSampler2D GridSampler3D affine_grid grid_sample
    """.split(),
    "activations.hard_activation": """
        HShrink HSigmoid HSwish SoftShrink hardshrink hardsigmoid hardswish hardtanh softshrink tanhshrink
    """.split(),
    "images.image_colors": """
        AdjustHue AdjustSaturation HSVToRGB RGBToHSV
    """.split(),
    "images.image_resizing": """
        ResizeArea ResizeBicubic ResizeBilinearV2 ResizeLinear1D ResizeNearestNeighbor ResizeNearestNeighborV2
        UpsampleNearest3D UpsampleTrilinear3D
    """.split(),
    "special_functions.incomplete_gamma": """
        Igamma Igammac Mvlgamma Zeta igamma igammac zeta
    """.split(),
    "losses.likelihood_loss": """
        gaussian_nll_loss
    """.split(),
    "linear_algebra.linear_systems": """
        Lstsq LuSolve LuUnpack MatrixPower MatrixSolve MatrixSolveLs MatrixTriangularSolve cond lstsq lu_solve
        lu_unpack matrix_solve pinv
    """.split(),
    "picking.lookups": """
        CheckValid Coalesce IOU InTopK ListDiff LowerBound NthElement ScatterAddWithAxis SubAndFilter UpperBound
        check_valid intopk iou
    """.split(),
    "losses.loss": """
        binary_cross_entropy binary_cross_entropy_with_logits huber_loss kl_div l1_loss mse_loss smooth_l1_loss
    """.split(),
    "losses.loss_primitives": """
        BCEWithLogitsLoss BinaryCrossEntropy KLDivLoss MultiMarginLoss MultilabelMarginLoss NLLLoss
        SigmoidCrossEntropyWithLogits SmoothL1Loss SoftMarginLoss TripletMarginLoss
    """.split(),
    "layers.lstm": """
        LSTM
    """.split(),
    "flow.mapping": """
        HyperMap Map Morph MultitypeFuncGraph Partial constexpr partial prim_arg_register prim_attr_register
    """.split(),
    "losses.margin_loss": """
        cosine_embedding_loss hinge_embedding_loss margin_ranking_loss multi_margin_loss multilabel_margin_loss
        multilabel_soft_margin_loss soft_margin_loss triplet_margin_loss
    """.split(),
    "linear_algebra.matrix_diagonals": """
        MatrixBandPart MatrixDiagPartV3 MatrixDiagV3 MatrixSetDiagV3 matrix_band_part matrix_diag
        matrix_diag_part matrix_set_diag
    """.split(),
    "reducing.log_sums": ["logsumexp"],
    "linear_algebra.matrix_primitives": ["CholeskyInverse", "FillDiagonal", "NuclearNorm"],
    "convolutions.volume_patches": ["ExtractVolumePatches"],
    "reducing.moments": """
        Median ReduceStd cov median nanmean nanmedian nanquantile nansum quantile std std_mean var
        var_mean
    """.split(),
    "layers.group_norm": "group_norm instance_norm".split(),
    "layers.normalization": """
        L2Normalize LRN RmsNorm lrn rms_norm
    """.split(),
    "reducing.norms": """
        L2Loss LpNorm Renorm SquareSumAll dist matrix_norm norm renorm
        vector_norm
    """.split(),
    "picking.parameter_scattering": """
        ScatterAdd ScatterDiv ScatterMax ScatterMin ScatterMul ScatterNdAdd ScatterNdDiv ScatterNdMax
        ScatterNdMin ScatterNdMul ScatterNdSub ScatterNdUpdate ScatterNonAliasingAdd ScatterSub ScatterUpdate
        scatter_add scatter_div scatter_max scatter_min scatter_mul scatter_nd_add scatter_nd_div scatter_nd_max
        scatter_nd_min scatter_nd_mul scatter_nd_sub scatter_nd_update scatter_update
    """.split(),
    "pooling_windows.pooling": """

    """.split(),
    "pooling_windows.pooling_functions": """
        avg_pool1d avg_pool2d avg_pool3d lp_pool1d lp_pool2d max_pool2d max_pool3d
    """.split(),
    "pooling_windows.pooling_primitives": """
        AvgPool AvgPool3D MaxPool MaxPool3D MaxPoolWithArgmax
    """.split(),
    "linear_algebra.products": """
        Addcdiv Addcmul Cross Lerp addcdiv addcmul batch_dot cross diff dot kron ldexp lerp matrix_power
        tensor_dot trapz vander
    """.split(),
    "linear_algebra.products_added": """
        addbmm addmm addmv addr baddbmm
    """.split(),
    "drawing_numbers.random_choices": """
        MultinomialWithReplacement NonDeterministicInts RandomChoiceWithMask choice_with_mask
        multinomial_with_replacement
    """.split(),
    "drawing_numbers.random_primitives": """
        Gamma Multinomial Poisson RandomGamma RandomPoisson RandomShuffle StandardLaplace StandardNormal
        UniformInt UniformReal random_gamma
    """.split(),
    "shaping.rearranging": """
        ReverseSequence ReverseV2 Roll flip fliplr flipud reverse reverse_sequence roll rot90
    """.split(),
    "activations.rectifiers": """
        CeLU Elu PReLU ReLU6 SeLU celu elu leaky_relu prelu relu6 rrelu selu threshold
    """.split(),
    "shaping.repeating": """
        Meshgrid Tile cartesian_prod combinations meshgrid repeat_elements repeat_interleave tile
    """.split(),
    "picking.replacing": """
        InplaceAdd InplaceIndexAdd InplaceSub InplaceUpdate InplaceUpdateV2 inplace_add inplace_sub
        inplace_update select_scatter slice_scatter
    """.split(),
    "elementwise.rounding": """
        Ceil Floor Rint Round Trunc ceil floor frac rint round trunc
    """.split(),
    "updates.row_updates": """
        FusedSparseAdam FusedSparseLazyAdam SparseApplyAdagradV2 SparseApplyRMSProp
    """.split(),
    "reducing.scanning": """
        CumProd CumSum Cummax Cummin CumulativeLogsumexp cummax cummin cumprod cumsum logcumsumexp
    """.split(),
    "picking.nd_indexing": ["GatherNd", "ScatterNd", "gather_nd", "scatter_nd"],
    "picking.scattering": """
        TensorScatterAdd TensorScatterDiv TensorScatterMax TensorScatterMin TensorScatterMul TensorScatterSub
        TensorScatterUpdate tensor_scatter_add tensor_scatter_div tensor_scatter_max tensor_scatter_min
        tensor_scatter_mul tensor_scatter_sub tensor_scatter_update
    """.split(),
    "picking.scattering_along": """
        IndexAdd IndexFill IndexPut TensorScatterElements index_add index_fill index_put inplace_index_add
        scatter tensor_scatter_elements
    """.split(),
    "reducing.segments": """
        Bincount Histogram UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd UnsortedSegmentSum bincount
        histc unsorted_segment_max unsorted_segment_min unsorted_segment_prod unsorted_segment_sum
    """.split(),
    "picking.sequences": """
        EditDistance NoRepeatNGram RaggedRange
    """.split(),
    "shaping.small_arrays": """
        Bucketize ChannelShuffle CompareAndBitpack IdentityN InvertPermutation UnravelIndex scalar_cast
    """.split(),
    "activations.smooth_activation": """
        FastGeLU FastGelu GLU LogSigmoid Mish SiLU Softplus Softsign fast_gelu glu logsigmoid mish silu softplus
        softsign
    """.split(),
    "losses.softmax_cross_entropy": """
        SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits
    """.split(),
    "reducing.sorted_segments": """
        SegmentMax SegmentMean SegmentMin SegmentProd SegmentSum
    """.split(),
    "reducing.sorting": """
        SearchSorted Sort TopK argsort bucketize msort searchsorted sort top_k topk
    """.split(),
    "reducing.uniqueness": """
        Unique UniqueConsecutive UniqueWithPad unique unique_consecutive unique_with_pad
    """.split(),
    "shaping.space_blocks": """
        BatchToSpaceND DepthToSpace SpaceToBatchND SpaceToDepth batch_to_space_nd space_to_batch_nd
    """.split(),
    "sparse.sparse_elementwise": """
        coo_abs coo_acos coo_acosh coo_asin coo_asinh coo_atan coo_atanh coo_ceil coo_cos coo_cosh coo_exp
        coo_expm1 coo_floor coo_inv coo_isfinite coo_isinf coo_isnan coo_log coo_log1p coo_neg coo_relu
        coo_relu6 coo_round coo_sigmoid coo_sin coo_sinh coo_softsign coo_sqrt coo_square coo_tan coo_tanh
        csr_abs csr_acos csr_acosh csr_asin csr_asinh csr_atan csr_atanh csr_ceil csr_cos csr_cosh csr_exp
        csr_expm1 csr_floor csr_inv csr_isfinite csr_isinf csr_isnan csr_log csr_log1p csr_neg csr_relu
        csr_relu6 csr_round csr_sigmoid csr_sin csr_sinh csr_softsign csr_sqrt csr_square csr_tan csr_tanh
    """.split(),
    "sparse.sparse_primitives": """
        SparseSlice SparseTensorDenseAdd SparseTensorDenseMatmul SparseToDense sparse_segment_mean
    """.split(),
    "special_functions.special": """
        Digamma Erf Erfc Erfinv Gcd Heaviside Lcm Lgamma NextAfter Polygamma copysign digamma erf erfc erfinv
        gcd heaviside i0 lcm lgamma mvlgamma nextafter polygamma
    """.split(),
    "signals.spectrogram": """
        FFTWithSize STFT stft
    """.split(),
    "images.box_samples": """
        SampleDistortedBoundingBoxV2
    """.split(),
    "images.scale_translate": """
        ScaleAndTranslate
    """.split(),
    "flow.summaries": """
        HistogramSummary ImageSummary ScalarSummary TensorSummary
    """.split(),
    "images.suppression": """
        CombinedNonMaxSuppression NMSWithMask
    """.split(),
    "linear_algebra.tensor_series": """
        LogSpace TridiagonalMatMul
    """.split(),
    "linear_algebra.triangles": """
        Diag DiagPart Trace Tril TrilIndices Triu TriuIndices diag diag_embed diagflat diagonal diagonal_scatter
        trace tril tril_indices triu triu_indices
    """.split(),
    "elementwise.trigonometry": """
        ACos Acosh Asin Asinh Atan Atan2 Atanh Cos Cosh Sin Sinc Sinh Tan acos acosh arccos arccosh arcsin
        arcsinh arctan arctan2 arctanh asin asinh atan atan2 atanh cos cosh deg2rad rad2deg sin sinc sinh tan
    """.split(),
    "pooling_windows.unpooling": """
        max_unpool1d max_unpool2d max_unpool3d
    """.split(),
    "signals.window_functions": """
        BartlettWindow BlackmanWindow HammingWindow bartlett_window blackman_window hamming_window hann_window
        kaiser_window
    """.split(),
}
