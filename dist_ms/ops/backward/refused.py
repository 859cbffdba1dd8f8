"""Gradients of operations that are not built here; making one of them says what to do instead."""

from dist_ms.common.refusing import refused

__all__ = [
    "AddLayerNormGrad",
    "AvgPoolGradVm",
    "BNTrainingReduceGrad",
    "BNTrainingUpdateGrad",
    "BasicLSTMCellCStateGrad",
    "BasicLSTMCellInputGrad",
    "BasicLSTMCellWeightGrad",
    "BatchNormElemtGrad",
    "BatchNormReduceGrad",
    "Dilation2DBackpropFilter",
    "Dilation2DBackpropInput",
    "DynamicGRUV2Grad",
    "DynamicRNNGrad",
    "EmbeddingLookupCommGrad",
    "FlashAttentionScoreGrad",
    "GRUV2Grad",
    "GruGradData",
    "GruGradWeight",
    "LSTMGrad",
    "LSTMGradData",
    "LSTMGradWeight",
    "LightningIndexerGrad",
    "MapTensorGetGrad",
    "MaxPoolGradWithMask",
    "MoeTokenPermuteGrad",
    "MoeTokenUnpermuteGrad",
    "MultiScaleDeformableAttnGrad",
    "NeighborExchangeV2Grad",
    "NsaCompressGrad",
    "NsaSelectAttentionGrad",
    "PSROIPoolingGrad",
    "ParallelResizeBilinearGrad",
    "PsROIPoolingGrad",
    "RefToEmbed",
    "RotaryPositionEmbeddingGrad",
    "SparseFlashAttentionGrad",
    "SpeedFusionAttentionGrad",
    "SyncBatchNormGrad",
    "WKVGrad",
]

_ASCEND = (
    "has no part of an operation that MindSpore has on Ascend only",
    "Take the gradient of your function with ms.grad.",
)
_RECURRENT = (
    "keeps nothing of a recurrence in the form that this gradient reads",
    "Take the gradient of nn.LSTM, nn.GRU or ops.LSTM with ms.grad.",
)
_TABLES = ("has no hash tables as parameters", "Use nn.Embedding.")
_EXCHANGED = (
    "does not cut an operation over devices",
    "Use the collectives of ops.communication, which have gradients.",
)

AddLayerNormGrad = refused("AddLayerNormGrad", *_ASCEND)
AvgPoolGradVm = refused("AvgPoolGradVm", *_ASCEND)
BNTrainingReduceGrad = refused("BNTrainingReduceGrad", *_ASCEND)
BNTrainingUpdateGrad = refused("BNTrainingUpdateGrad", *_ASCEND)
BasicLSTMCellCStateGrad = refused("BasicLSTMCellCStateGrad", *_ASCEND)
BasicLSTMCellInputGrad = refused("BasicLSTMCellInputGrad", *_ASCEND)
BasicLSTMCellWeightGrad = refused("BasicLSTMCellWeightGrad", *_ASCEND)
BatchNormElemtGrad = refused("BatchNormElemtGrad", *_ASCEND)
BatchNormReduceGrad = refused("BatchNormReduceGrad", *_ASCEND)
Dilation2DBackpropFilter = refused("Dilation2DBackpropFilter", *_ASCEND)
Dilation2DBackpropInput = refused("Dilation2DBackpropInput", *_ASCEND)
DynamicGRUV2Grad = refused("DynamicGRUV2Grad", *_ASCEND)
DynamicRNNGrad = refused("DynamicRNNGrad", *_ASCEND)
FlashAttentionScoreGrad = refused("FlashAttentionScoreGrad", *_ASCEND)
LightningIndexerGrad = refused("LightningIndexerGrad", *_ASCEND)
MaxPoolGradWithMask = refused("MaxPoolGradWithMask", *_ASCEND)
MoeTokenPermuteGrad = refused("MoeTokenPermuteGrad", *_ASCEND)
MoeTokenUnpermuteGrad = refused("MoeTokenUnpermuteGrad", *_ASCEND)
MultiScaleDeformableAttnGrad = refused("MultiScaleDeformableAttnGrad", *_ASCEND)
NsaCompressGrad = refused("NsaCompressGrad", *_ASCEND)
NsaSelectAttentionGrad = refused("NsaSelectAttentionGrad", *_ASCEND)
PSROIPoolingGrad = refused("PSROIPoolingGrad", *_ASCEND)
ParallelResizeBilinearGrad = refused("ParallelResizeBilinearGrad", *_ASCEND)
PsROIPoolingGrad = refused("PsROIPoolingGrad", *_ASCEND)
RotaryPositionEmbeddingGrad = refused("RotaryPositionEmbeddingGrad", *_ASCEND)
SparseFlashAttentionGrad = refused("SparseFlashAttentionGrad", *_ASCEND)
SpeedFusionAttentionGrad = refused("SpeedFusionAttentionGrad", *_ASCEND)
SyncBatchNormGrad = refused("SyncBatchNormGrad", *_ASCEND)
WKVGrad = refused("WKVGrad", *_ASCEND)
GRUV2Grad = refused("GRUV2Grad", *_RECURRENT)
GruGradData = refused("GruGradData", *_RECURRENT)
GruGradWeight = refused("GruGradWeight", *_RECURRENT)
LSTMGrad = refused("LSTMGrad", *_RECURRENT)
LSTMGradData = refused("LSTMGradData", *_RECURRENT)
LSTMGradWeight = refused("LSTMGradWeight", *_RECURRENT)
MapTensorGetGrad = refused("MapTensorGetGrad", *_TABLES)
RefToEmbed = refused("RefToEmbed", *_TABLES)
EmbeddingLookupCommGrad = refused("EmbeddingLookupCommGrad", *_EXCHANGED)
NeighborExchangeV2Grad = refused("NeighborExchangeV2Grad", *_EXCHANGED)
