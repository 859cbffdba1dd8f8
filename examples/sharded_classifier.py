"""Classify handwritten digits with wide layers cut over the ranks, beside data-parallel convolutions.

Alone: python examples/sharded_classifier.py     On 2 ranks: dist-ms run -n 2 examples/sharded_classifier.py

Every rank trains the convolutions on its own batch, and their gradients are averaged. Of the two wide layers behind
them each rank holds and trains its part alone: the first is cut by its outputs, the second by its inputs, and a table
of one vector per class by its rows. A digit's scores are how well its features agree with each class's vector.
"""

import argparse

import numpy as np
from sklearn.datasets import load_digits

import dist_ms as ms
import dist_ms.dataset as ds
from dist_ms import Tensor, nn, ops, train
from dist_ms.communication import get_comm, get_group_size, get_rank, init
from dist_ms.nn.model_parallel import ColumnParallelDense, ParallelEmbedding, RowParallelDense

CLASSES, FEATURES = 10, 32


class ShardedClassifier(nn.Cell):
    """Convolutions on every rank, then layers of which every rank holds a part."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.convolutions = nn.SequentialCell(
            nn.Conv2d(1, 16, 3), nn.ReLU(), nn.Conv2d(16, 32, 3), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten()
        )
        self.widen = ColumnParallelDense(32 * 4 * 4, width)
        self.narrow = RowParallelDense(width, FEATURES)
        self.classes = ParallelEmbedding(CLASSES, FEATURES)
        self.every_class = Tensor(np.arange(CLASSES, dtype=np.int32))

    def construct(self, images: Tensor) -> Tensor:
        """The score of every class: (images, classes)."""
        features = self.narrow(ops.relu(self.widen(self.convolutions(images))))
        return ops.matmul(features, self.classes(self.every_class).T)


def digits(part: str, batch: int) -> ds.NumpySlicesDataset:
    """This rank's shard of the training images (the first 80 %) or of the test images, in batches."""
    pixels, labels = load_digits(return_X_y=True)
    order = np.random.RandomState(0).permutation(len(labels))
    cut = len(order) * 4 // 5
    order = order[:cut] if part == "train" else order[cut:]
    columns = (pixels[order] / 16.0).astype(np.float32).reshape(-1, 1, 8, 8), labels[order].astype(np.int32)
    shard = {"num_shards": get_group_size(), "shard_id": get_rank()}
    data = ds.NumpySlicesDataset(columns, ["image", "label"], shuffle=part == "train", **shard)
    return data.batch(batch, drop_remainder=part == "train")


def main() -> None:
    """Train and report the test accuracy and what each rank holds."""
    parser = argparse.ArgumentParser(description="Classify digits with layers that are cut over the ranks.")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch", type=int, default=48, help="images per step over all ranks")
    parser.add_argument("--width", type=int, default=2048, help="outputs of the wide layer over all ranks")
    args = parser.parse_args()
    init()
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    ms.set_seed(1)
    net = ShardedClassifier(args.width)
    model = train.Model(net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 1e-3), metrics={"accuracy"})
    model.train(args.epochs, digits("train", args.batch // get_group_size()))
    accuracy = model.eval(digits("test", 60))["accuracy"]
    weights = sum(p.size for p in net.trainable_params())
    shards = sum(p.size for p in net.trainable_params() if p.layerwise_parallel)
    held = get_comm().gather_objects((weights, shards))
    if get_rank() == 0:
        for rank, (total, own) in enumerate(held):
            print(f"rank {rank} holds {total:,} weights, {own:,} of them its own")
        print(f"test accuracy {accuracy:.2%} on {get_group_size()} rank(s)")


if __name__ == "__main__":
    main()
