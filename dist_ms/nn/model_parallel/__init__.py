"""Layers whose parameters are cut over the ranks: each rank holds a shard and trains it alone.

They work beside data-parallel layers, on the ranks' own batches: a layer gathers what it needs of all batches, computes
with its shard, and gives each rank the results of its batch. Shards are `layerwise_parallel`: never broadcast, their
gradients never reduced, every rank saves its own.
"""

from dist_ms.nn.model_parallel.dense import ColumnParallelDense, RowParallelDense
from dist_ms.nn.model_parallel.embedding import ParallelEmbedding

__all__ = ["ColumnParallelDense", "ParallelEmbedding", "RowParallelDense"]
