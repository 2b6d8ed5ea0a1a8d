"""all-MiniLM-L6-v2 in NumPy: a BERT of six layers, whose mean is a sentence's embedding.

The steps: Devlin et al., arXiv:1810.04805; sizes as the model's config.json has them.
"""

import math

import numpy as np

LAYERS, HEADS, EPSILON = 6, 12, 1e-12


def embeddings(weights, tokens):
    """Of rows of token numbers, all of one length, as unit vectors."""
    w = {name.removeprefix("bert."): np.float32(x) for name, x in weights.items()}
    x = w["embeddings.word_embeddings.weight"][tokens]
    x = x + w["embeddings.position_embeddings.weight"][: tokens.shape[1]]
    x = normed(x + w["embeddings.token_type_embeddings.weight"][0], w, "embeddings.LayerNorm")
    for i in range(LAYERS):
        x = layer(x, w, f"encoder.layer.{i}.")
    mean = x.mean(axis=1)
    return mean / np.linalg.norm(mean, axis=1, keepdims=True)


def layer(x, w, name):
    heads = [
        linear(x, w, f"{name}attention.self.{part}").reshape(*x.shape[:2], HEADS, -1)
        for part in ("query", "key", "value")
    ]
    query, key, value = (part.transpose(0, 2, 1, 3) for part in heads)
    shares = softmax(query @ key.transpose(0, 1, 3, 2) / math.sqrt(query.shape[-1]))
    seen = (shares @ value).transpose(0, 2, 1, 3).reshape(x.shape)
    seen = linear(seen, w, name + "attention.output.dense")
    x = normed(x + seen, w, name + "attention.output.LayerNorm")
    inner = gelu(linear(x, w, name + "intermediate.dense"))
    return normed(x + linear(inner, w, name + "output.dense"), w, name + "output.LayerNorm")


def linear(x, w, name):
    return x @ w[name + ".weight"].T + w[name + ".bias"]


def normed(x, w, name):
    x = x - x.mean(axis=-1, keepdims=True)
    x = x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + EPSILON)
    return x * w[name + ".weight"] + w[name + ".bias"]


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def gelu(x):
    erf = np.vectorize(math.erf, otypes=[np.float32])
    return x / 2 * (1 + erf(x / math.sqrt(2)))
