"""Tell of which chapter of Python's documentation a paragraph is, with a bidirectional LSTM.

Alone: python examples/text_lstm.py     On 2 ranks: dist-ms run -n 2 examples/text_lstm.py
On 2 ranks of one core: 66.7 % told, where the largest chapter has 22.8 % (6 seconds).
Hochreiter and Schmidhuber, Long short-term memory, 1997. The text is what CPython ships for `help()`.
"""

import argparse
import re
from collections import Counter
from pydoc_data.topics import topics

import numpy as np

import dist_ms as ms
import dist_ms.dataset as ds
from dist_ms import nn, ops, train
from dist_ms.communication import get_group_size, get_rank, init

CHAPTERS = ("specialnames", "compound", "types", "formatstrings", "typesseq", "string-methods", "debugger")


class Classifier(nn.Cell):
    """Logits (N, chapters) of paragraphs (N, length) of word numbers, with zeros behind the last word."""

    def __init__(self, words, width=64):
        super().__init__()
        self.embedding, self.dropout = nn.Embedding(words, width), nn.Dropout(p=0.5)
        self.lstm = nn.LSTM(width, width, batch_first=True, bidirectional=True)
        self.head = nn.Dense(2 * width, len(CHAPTERS))

    def construct(self, ids):
        length = (ids > 0).sum(axis=1).astype(ms.int32)
        x = self.dropout(self.embedding(ids))
        _, (last, _) = self.lstm(x, seq_length=length)  # what each direction knows at its end: (2, N, width)
        return self.head(self.dropout(ops.cat((last[0], last[1]), 1)))


def paragraphs(length):
    """Word lists and chapter numbers to train on, and to test with: every fifth paragraph of a chapter."""
    parts = ([], []), ([], [])
    for label, chapter in enumerate(CHAPTERS):
        for i, paragraph in enumerate(re.split(r"\n\s*\n", topics[chapter])):
            words = re.findall(r"\w+|[^\w\s]", paragraph.lower())
            pieces = [words[start : start + length] for start in range(0, len(words), length)]
            pieces = [piece for piece in pieces if len(piece) >= 8]
            texts, labels = parts[i % 5 == 4]
            texts += pieces
            labels += [label] * len(pieces)
    return parts


def rows(part, number, length, batch, training):
    """This rank's shard as batches of word numbers and chapters; 1 stands for words that are not known."""
    texts, labels = part
    ids = np.zeros((len(texts), length), np.int32)
    for row, words in zip(ids, texts, strict=True):
        row[: len(words)] = [number.get(word, 1) for word in words]
    shard = {"num_shards": get_group_size(), "shard_id": get_rank(), "shuffle": training}
    data = ds.NumpySlicesDataset((ids, np.array(labels, np.int32)), ["ids", "chapter"], **shard)
    return data.batch(batch, drop_remainder=training)


def main():
    """Train, and tell the accuracy on paragraphs that were not trained on, chapter by chapter."""
    parser = argparse.ArgumentParser(description="Tell the chapters of paragraphs apart.")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch", type=int, default=32, help="paragraphs per step over all ranks")
    parser.add_argument("--length", type=int, default=48, help="words of a paragraph at most")
    args = parser.parse_args()
    init()
    ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)
    ms.set_seed(1)
    known, unknown = paragraphs(args.length)
    counts = Counter(word for words in known[0] for word in words)
    number = {word: i for i, word in enumerate(sorted(w for w, n in counts.items() if n > 1), start=2)}
    net = Classifier(len(number) + 2)
    optimizer = nn.AdamWeightDecay(net.trainable_params(), 3e-3, weight_decay=0.01)
    metrics = {"accuracy": train.Accuracy(), "f1": train.F1()}
    model = train.Model(net, nn.CrossEntropyLoss(), optimizer, metrics=metrics, gradient_clip_norm=1.0)
    bar = [train.ProgressBar()]
    model.train(args.epochs, rows(known, number, args.length, args.batch // get_group_size(), True), callbacks=bar)
    found = model.eval(rows(unknown, number, args.length, 64, False))
    if get_rank() == 0:
        largest = max(Counter(unknown[1]).values()) / len(unknown[1])
        print(f"{len(known[1])} paragraphs trained on, {len(unknown[1])} tested, {len(number)} words known")
        for chapter, f1 in zip(CHAPTERS, found["f1"], strict=True):
            print(f"  {chapter:15} F1 {f1:.2f}")
        where = f"({largest:.2%} is the largest chapter) on {get_group_size()} rank(s)"
        print(f"test accuracy {found['accuracy']:.2%} {where}")


if __name__ == "__main__":
    main()
