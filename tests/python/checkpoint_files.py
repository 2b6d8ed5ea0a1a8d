"""Checkpoints by hand, written and read without the package, and the command about them."""

import json
import struct

import numpy as np
import widthwise as ww
from widthwise import cli


def written(path, tensors, metadata=None):
    """A file of {name: (kind, shape, bytes)}."""
    header, body = {}, b""
    for name, (kind, shape, data) in tensors.items():
        header[name] = {
            "dtype": kind,
            "shape": list(shape),
            "data_offsets": [len(body), len(body) + len(data)],
        }
        body += data
    if metadata:
        header["__metadata__"] = metadata
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)


def sharded(folder, groups, metadata=None, told=None):
    """A file a group, and the path of their index."""
    folder.mkdir()
    names = {}
    for i, tensors in enumerate(groups):
        file = f"model-{i + 1:05}-of-{len(groups):05}.safetensors"
        written(folder / file, tensors, metadata)
        names |= dict.fromkeys(tensors, file)
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": told or {}, "weight_map": names}))
    return index


def parts(path):
    """Of a file: its header, its metadata, and each tensor's bytes."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    metadata = header.pop("__metadata__", {})
    body = data[8 + length :]
    found = {name: body[slice(*facts["data_offsets"])] for name, facts in header.items()}
    places = sorted(facts["data_offsets"] for facts in header.values())
    assert sum(places, [])[1:-1:2] == sum(places, [])[2::2] and places[-1][1] == len(body)
    return header, metadata, found


INDEX = "model.safetensors.index.json"


def run(capsys, *arguments):
    status = cli.main([*map(str, arguments)])
    out, err = capsys.readouterr()
    return status, out, err


def quantize(capsys, *arguments):
    status, out, err = run(capsys, "quantize", *arguments, "--json")
    assert status == 0, err
    facts = json.loads(out)
    return {row["array"]: row for row in facts["arrays"]}, facts


def refused(capsys, *arguments):
    status, _, err = run(capsys, "quantize", *arguments)
    assert status == 2 and err.count("\n") == 1, (status, err)
    return err


def f32(x):
    return ("F32", np.shape(x), np.float32(x).tobytes())


def tensors_of(seed=0):
    """All kinds: weights of several shapes, what is skipped by name, what is no float."""
    rng = np.random.default_rng(seed)
    draw = lambda *shape: (rng.standard_normal(shape) * 0.1).astype(np.float32)  # noqa: E731
    bf16 = ww.array(draw(6, 10), "bfloat16").bits
    return {
        "model.embed_tokens.weight": f32(draw(7, 8)),
        "model.layers.0.attn.q.weight": f32(draw(8, 12)),
        "model.layers.0.attn.q.bias": f32(draw(8)),
        "model.layers.0.ln_1.weight": f32(draw(12)),
        "model.layers.0.conv.weight": f32(draw(5, 3, 3, 3)),
        "model.layers.1.mlp.weight": ("BF16", (6, 10), bf16.tobytes()),
        "model.layers.1.half.weight": ("F16", (3, 5), draw(3, 5).astype(np.float16).tobytes()),
        "model.layers.1.double.weight": ("F64", (2, 3), draw(2, 3).astype(np.float64).tobytes()),
        "model.norm.weight": f32(draw(12)),
        "odd": f32(draw(3, 7)),
        "scalar": f32(0.5),
        "ids": ("I64", (2,), np.int64([1 << 40, -1]).tobytes()),
        "mask": ("BOOL", (3,), bytes([1, 0, 1])),
        "fp8.weight": ("F8_E4M3", (2, 2), bytes([0x38, 0x39, 1, 0])),
        "packed": ("F4", (2, 3), b"\x12\x34\x56"),
        "phase": ("C64", (1,), np.complex64([1 + 2j]).tobytes()),
        "none": ("F32", (0, 3), b""),
    }


METADATA = {"format": "pt", "note": 'a "quoted" ½'}
KEPT = {
    "model.embed_tokens.weight": "embedding",
    "model.layers.0.attn.q.bias": "bias",
    "model.layers.0.ln_1.weight": "norm",
    "model.norm.weight": "norm",
    "scalar": "vector",
    "ids": "no float",
    "mask": "no float",
    "fp8.weight": "narrow",
    "packed": "no float",
    "phase": "no float",
    "none": "empty",
}


def in_file(tmp_path):
    """A path, and what lies there."""
    tensors = tensors_of()
    path = tmp_path / "in.safetensors"
    written(path, tensors, METADATA)
    return path, tensors


def values(tensors, name):
    kind, shape, data = tensors[name]
    if kind == "BF16":
        return ww.from_bits(np.frombuffer(data, np.uint16), "bfloat16").to_float64().reshape(shape)
    dtype = {"F32": np.float32, "F16": np.float16, "F64": np.float64}[kind]
    return np.frombuffer(data, dtype).astype(np.float64).reshape(shape)


def split(tensors):
    """For three files."""
    names = list(tensors)
    return [{n: tensors[n] for n in names[i::3]} for i in range(3)]
