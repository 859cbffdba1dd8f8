"""Train a small GPT on the English text that Python ships, character by character, and let it write.

Alone: python examples/char_gpt.py     On 2 ranks: dist-ms run -n 2 examples/char_gpt.py
On 2 ranks of one core: 2.02 nats per character of text that it has not seen, after 600 steps (1 minute).
"""

import argparse
from pydoc_data.topics import topics

import numpy as np

import dist_ms as ms
from dist_ms import nn, ops, train
from dist_ms.communication import get_group_size, get_rank, init


class Block(nn.Cell):
    """Attention to the characters before, then a dense network, each added to its input."""

    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm((width,)), nn.LayerNorm((width,))
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.dense = nn.SequentialCell(nn.Dense(width, 4 * width), nn.GELU(), nn.Dense(4 * width, width))

    def construct(self, x, later):
        """`later` is True where a character must not look."""
        y = self.norm1(x)
        x = x + self.attention(y, y, y, attn_mask=later, need_weights=False)[0]
        return x + self.dense(self.norm2(x))


class GPT(nn.Cell):
    """Logits of the next character at each place of texts (batch, length)."""

    def __init__(self, characters, length, width=128, heads=4, depth=3):
        super().__init__()
        self.length = length
        self.character, self.place = nn.Embedding(characters, width), nn.Embedding(length, width)
        self.blocks = nn.CellList([Block(width, heads) for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm((width,)), nn.Dense(width, characters)
        self.later = ms.Tensor(np.triu(np.ones((length, length), bool), 1))

    def construct(self, ids):
        n = ids.shape[1]
        x = self.character(ids) + self.place(ops.arange(n))
        for block in self.blocks:
            x = block(x, self.later[:n, :n])
        return self.head(self.norm(x))


class NextCharacter(nn.Cell):
    """The mean cross entropy, in nats, of each character after those before it."""

    def construct(self, logits, ids):
        return ops.cross_entropy(logits.reshape(-1, logits.shape[-1]), ids.reshape(-1))


def batches(text, length, batch, steps, seed):
    """Pieces of a text and the same a character later: this rank's rows of batches that all ranks draw alike."""
    draw, rank, size = np.random.RandomState(seed), get_rank(), get_group_size()
    for _ in range(steps):
        starts = draw.randint(0, len(text) - length - 1, batch)[rank::size]
        pieces = np.stack([text[s : s + length + 1] for s in starts])
        yield pieces[:, :-1], pieces[:, 1:]


def write(net, ids, count, draw):
    """Continue a text by so many characters, drawn as the network says."""
    net.set_train(False)
    ids = list(ids)
    for _ in range(count):
        logits = net(ms.Tensor([ids[-net.length :]], ms.int32))[0, -1].asnumpy().astype(np.float64) / 0.8
        chances = np.exp(logits - logits.max())
        ids.append(int(draw.choice(len(chances), p=chances / chances.sum())))
    return ids


def main():
    """Train, tell the loss on text that was not trained on, and write."""
    parser = argparse.ArgumentParser(description="Train a small GPT on Python's own documentation.")
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--batch", type=int, default=32, help="pieces of text per step over all ranks")
    parser.add_argument("--length", type=int, default=96, help="characters of a piece")
    parser.add_argument("--write", type=int, default=300, help="characters to write")
    args = parser.parse_args()
    init()
    ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)
    ms.set_seed(1)
    words = "\n".join(topics[key] for key in sorted(topics))
    characters = sorted(set(words))
    number = {c: i for i, c in enumerate(characters)}
    text = np.array([number[c] for c in words], np.int32)
    cut = len(text) * 9 // 10
    net = GPT(len(characters), args.length)
    rate = nn.WarmUpLR(2e-3, max(1, args.steps // 20))
    adam = nn.AdamWeightDecay(net.trainable_params(), rate, weight_decay=0.01)
    model = train.Model(net, NextCharacter(), adam, metrics={"loss": nn.Loss()}, gradient_clip_norm=1.0)
    said = [train.LossMonitor(100)] if get_rank() == 0 else []
    model.train(1, list(batches(text[:cut], args.length, args.batch, args.steps, 0)), callbacks=said)
    loss = model.eval(list(batches(text[cut:], args.length, args.batch, 10, 1)))["loss"]
    if get_rank() == 0:
        print(f"test loss {loss:.3f} nats per character on {get_group_size()} rank(s); the network writes:")
        start = [number[c] for c in "The statement "]
        print("".join(characters[i] for i in write(net, start, args.write, np.random.RandomState(0))))


if __name__ == "__main__":
    main()
