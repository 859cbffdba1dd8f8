"""BERT with its head for masked words, and GPT-2, of `nn` cells: what Hugging Face's checkpoints are loaded into."""

import numpy as np

import dist_ms as ms
from dist_ms import nn, ops

VOCABULARY, WIDTH, HEADS, LAYERS, POSITIONS = 31, 16, 2, 2, 12

BERT_NAMES = {
    r"^bert\.embeddings\.(\w+)_embeddings": r"\1",
    r"^bert\.embeddings\.LayerNorm": "norm",
    r"^bert\.encoder\.layer": "layers",
    r"attention\.self\.": "",
    r"attention\.output\.dense": "project",
    r"attention\.output\.LayerNorm": "norm1",
    r"intermediate\.dense": "widen",
    r"output\.dense": "narrow",
    r"output\.LayerNorm": "norm2",
    r"^cls\.predictions\.transform\.": "head_",
    r"^cls\.predictions\.bias": "head_bias",
    "LayerNorm": "norm",
}
GPT2_NAMES = {
    r"^transformer\.": "",
    r"attn\.c_attn": "qkv",
    r"attn\.c_proj": "project",
    r"mlp\.c_fc": "widen",
    r"mlp\.c_proj": "narrow",
}


def attend(query, key, value, mask):
    """Attention of several heads; `mask` is added to the scores."""
    rows, length, width = query.shape
    query, key, value = (
        x.reshape(rows, length, HEADS, width // HEADS).transpose(0, 2, 1, 3) for x in (query, key, value)
    )
    scores = ops.matmul(query, key.transpose(0, 1, 3, 2)) / (width // HEADS) ** 0.5 + mask
    return ops.matmul(ops.softmax(scores, -1), value).transpose(0, 2, 1, 3).reshape(rows, length, width)


class BertLayer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = (nn.Dense(WIDTH, WIDTH) for _ in range(3))
        self.project, self.norm1 = nn.Dense(WIDTH, WIDTH), nn.LayerNorm((WIDTH,), epsilon=1e-12)
        self.widen, self.narrow = nn.Dense(WIDTH, 24), nn.Dense(24, WIDTH)
        self.norm2, self.gelu = nn.LayerNorm((WIDTH,), epsilon=1e-12), nn.GELU(approximate=False)

    def construct(self, x, mask):
        x = self.norm1(x + self.project(attend(self.query(x), self.key(x), self.value(x), mask)))
        return self.norm2(x + self.narrow(self.gelu(self.widen(x))))


class Bert(nn.Cell):
    RENAME, TRANSPOSE = BERT_NAMES, None

    def __init__(self):
        super().__init__()
        self.word, self.position = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(POSITIONS, WIDTH)
        self.token_type, self.norm = nn.Embedding(2, WIDTH), nn.LayerNorm((WIDTH,), epsilon=1e-12)
        self.layers = nn.CellList([BertLayer() for _ in range(LAYERS)])
        self.head_dense, self.head_norm = nn.Dense(WIDTH, WIDTH), nn.LayerNorm((WIDTH,), epsilon=1e-12)
        self.head_bias = ms.Parameter(ms.Tensor(np.zeros(VOCABULARY, np.float32)))
        self.gelu = nn.GELU(approximate=False)

    def construct(self, ids, mask, types):
        x = self.word(ids) + self.position(ops.arange(ids.shape[1])) + self.token_type(types)
        x = self.norm(x)
        mask = (1.0 - mask.astype(ms.float32))[:, None, None, :] * -1e9
        for layer in self.layers:
            x = layer(x, mask)
        x = self.head_norm(self.gelu(self.head_dense(x)))
        return ops.matmul(x, self.word.embedding_table.T) + self.head_bias


class GPT2Layer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm((WIDTH,), epsilon=1e-5), nn.LayerNorm((WIDTH,), epsilon=1e-5)
        self.qkv, self.project = nn.Dense(WIDTH, 3 * WIDTH), nn.Dense(WIDTH, WIDTH)
        self.widen, self.narrow = nn.Dense(WIDTH, 4 * WIDTH), nn.Dense(4 * WIDTH, WIDTH)
        self.gelu = nn.GELU(approximate=True)

    def construct(self, x, mask):
        x = x + self.project(attend(*ops.split(self.qkv(self.ln_1(x)), WIDTH, axis=-1), mask))
        return x + self.narrow(self.gelu(self.widen(self.ln_2(x))))


class GPT2(nn.Cell):
    RENAME, TRANSPOSE = GPT2_NAMES, r"\.c_\w+\.weight$"

    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(POSITIONS, WIDTH)
        self.h, self.ln_f = nn.CellList([GPT2Layer() for _ in range(LAYERS)]), nn.LayerNorm((WIDTH,), epsilon=1e-5)

    def construct(self, ids, mask, types):
        x = self.wte(ids) + self.wpe(ops.arange(ids.shape[1]))
        mask = ms.Tensor(np.triu(np.full((ids.shape[1], ids.shape[1]), -1e9, np.float32), 1))
        for layer in self.h:
            x = layer(x, mask)
        return ops.matmul(self.ln_f(x), self.wte.embedding_table.T)
