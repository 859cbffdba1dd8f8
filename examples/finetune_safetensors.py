"""Fine-tune a network on thirty images, from a checkpoint of the kind that PyTorch's users publish.

Alone: python examples/finetune_safetensors.py     On 2 ranks: dist-ms run -n 2 examples/finetune_safetensors.py
On 2 ranks of one core, three images of each digit: 82.4 % told, from nothing 63.1 % (4 seconds).

The checkpoint is a folder of safetensors files with an index, and its names are PyTorch's; where there is none yet,
this program trains a network on 800 scans and writes one.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file
from sklearn.datasets import load_digits

import dist_ms as ms
import dist_ms.dataset as ds
from dist_ms import mint, train
from dist_ms.communication import get_comm, get_group_size, get_rank, init
from dist_ms.mint import nn


class Net(ms.nn.Cell):
    """Convolutions and a head; of the cells in `mint.nn`, which name their parameters as PyTorch does."""

    def __init__(self, classes):
        super().__init__()
        self.convolutions = ms.nn.SequentialCell(
            nn.Conv2d(1, 32, 3, padding=1), nn.GroupNorm(4, 32), nn.ReLU(),
            nn.Conv2d(32, 64, 3, padding=1), nn.GroupNorm(4, 64), nn.ReLU(), nn.MaxPool2d(2),
        )  # fmt: skip
        self.features, self.head = nn.Linear(64 * 4 * 4, 64), nn.Linear(64, classes)

    def construct(self, images):
        """Logits (N, classes) of images (N, 1, 8, 8)."""
        return self.head(mint.nn.functional.relu(self.features(mint.flatten(self.convolutions(images), 1))))


def scans():
    """Images and labels of a scanner's digits, and of ours."""
    pixels, labels = load_digits(return_X_y=True)
    images, labels = (pixels / 16).astype(np.float32).reshape(-1, 1, 8, 8), labels.astype(np.int32)
    ours = (images[900:] > 0.5).astype(np.float32)  # other writers, and a scanner that knows black and white alone
    return (images[:900], labels[:900]), (ours, labels[900:])


def rows(columns, batch, training=True):
    """This rank's shard in batches; `batch` is of all ranks."""
    shard = {"num_shards": get_group_size(), "shard_id": get_rank(), "shuffle": training}
    data = ds.NumpySlicesDataset(columns, ["image", "label"], **shard)
    return data.batch(batch // get_group_size(), drop_remainder=training)


def fit(net, epochs, training, test, rates=(1e-3, 1e-3)):
    """Train, with one learning rate for the head and one for all before it; return the accuracy on all test rows."""
    head = net.head.trainable_params()
    before = [p for p in net.trainable_params() if all(p is not q for q in head)]
    groups = [{"params": params, "lr": rate} for params, rate in zip((head, before), rates, strict=True)]
    adam = ms.nn.Adam(groups, rates[0])
    model = train.Model(net, nn.CrossEntropyLoss(), adam, metrics={"accuracy"})
    model.train(epochs, training)
    return model.eval(test)["accuracy"]


def write(net, folder):
    """Publish a network: its parameters in two files, and the index that names the file of each."""
    folder.mkdir(parents=True)
    arrays = {f"model.{name}": parameter.asnumpy() for name, parameter in net.parameters_and_names()}
    names, files = sorted(arrays), [f"model-0000{i}-of-00002.safetensors" for i in (1, 2)]
    for file, part in zip(files, (names[::2], names[1::2]), strict=True):
        save_file({name: arrays[name] for name in part}, folder / file)
    index = {"weight_map": {name: files[i % 2] for i, name in enumerate(names)}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def main():
    """Fine-tune, and train the same network from nothing beside it."""
    parser = argparse.ArgumentParser(description="Fine-tune from a checkpoint in safetensors files.")
    parser.add_argument("--checkpoint", type=Path, default=Path("pretrained"), help="a folder; written if missing")
    parser.add_argument("--images", type=int, default=3, help="ours of each digit to fine-tune on")
    parser.add_argument("--epochs", type=int, default=30)
    args = parser.parse_args()
    init()
    ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)
    ms.set_seed(1)
    (images, labels), (ours, classes) = scans()
    if not all(get_comm().gather_objects(args.checkpoint.exists())):
        learnt = Net(10)
        known, unknown = (images[:800], labels[:800]), (images[800:], labels[800:])
        accuracy = fit(learnt, 12, rows(known, 48), rows(unknown, 64, False))
        if get_rank() == 0:
            write(learnt, args.checkpoint)
            print(f"learnt scans ({accuracy:.2%} of others told) and wrote {args.checkpoint}")
        get_comm().barrier()
    few = np.concatenate([np.flatnonzero(classes == digit)[: args.images] for digit in range(10)])
    others = np.setdiff1d(np.arange(len(ours)), few)
    training, test = rows((ours[few], classes[few]), 10), rows((ours[others], classes[others]), 64, False)
    fresh, tuned = Net(10), Net(10)
    # The checkpoint's names start with "model."; its head stays behind, as ours is to be learnt anew.
    rename = {r"^model\.head.*": "", r"^model\.": ""}
    train.load_torch_checkpoint(str(args.checkpoint), tuned, rename=rename, strict=False)
    # What is known moves slowly, what is new fast.
    found = [fit(tuned, args.epochs, training, test, (1e-2, 1e-4)), fit(fresh, args.epochs, training, test)]
    if get_rank() == 0:
        print(f"test accuracy {found[0]:.2%} fine-tuned, {found[1]:.2%} from nothing, on {get_group_size()} rank(s)")


if __name__ == "__main__":
    main()
