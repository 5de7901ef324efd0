#!/usr/bin/env python3
"""Writes a model file of the shape of LLaMA 7B (or smaller) with random Q4_0 weights, some gigabytes, as a stream:

  large_model.py OUT.gguf [LAYERS]

Its answers mean nothing; bytes, times and shapes are those of the real one."""
import os
import random
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tiny_model import string, value, vocabulary

LAYERS, DIM, FFN, HEADS, VOCAB, CONTEXT = 32, 4096, 11008, 32, 32000, 2048
BLOCK_ELEMS, BLOCK_BYTES = 32, 18  # Q4_0: a scale in f16, 16 bytes of codes
F32, Q4_0 = 0, 2
PIECE_BLOCKS = 1 << 16


def pieces(rng):
    """Random blocks with scales around 0.01, so that activations neither vanish nor overflow."""
    scales = [struct.pack("<e", rng.uniform(0.002, 0.004)) for _ in range(256)]
    return b"".join(rng.choice(scales) + rng.randbytes(16) for _ in range(PIECE_BLOCKS))


def plan(layers):
    yield "token_embd.weight", (VOCAB, DIM)
    for i in range(layers):
        for name, shape in (("attn_norm", (DIM,)), ("attn_q", (DIM, DIM)), ("attn_k", (DIM, DIM)), ("attn_v", (DIM, DIM)),
                            ("attn_output", (DIM, DIM)), ("ffn_norm", (DIM,)), ("ffn_gate", (FFN, DIM)),
                            ("ffn_up", (FFN, DIM)), ("ffn_down", (DIM, FFN))):
            yield f"blk.{i}.{name}.weight", shape
    yield "output_norm.weight", (DIM,)
    yield "output.weight", (VOCAB, DIM)


def bytes_of(shape):
    return 4 * shape[0] if len(shape) == 1 else shape[0] * shape[1] // BLOCK_ELEMS * BLOCK_BYTES


def metadata(layers):
    _, words = vocabulary("spm", VOCAB)
    return {"general.architecture": "llama", "general.name": "large", "llama.block_count": layers,
            "llama.context_length": CONTEXT, "llama.embedding_length": DIM, "llama.feed_forward_length": FFN,
            "llama.attention.head_count": HEADS, "llama.attention.head_count_kv": HEADS,
            "llama.rope.freq_base": 10000.0, "llama.attention.layer_norm_rms_epsilon": 1e-6,
            "llama.rope.dimension_count": DIM // HEADS, "llama.vocab_size": VOCAB, **words}


def make_large_model(path, layers=LAYERS, seed=1):
    rng, infos, offset = random.Random(seed), [], 0
    for name, shape in plan(layers):
        kind = F32 if len(shape) == 1 else Q4_0
        infos.append(string(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape[::-1], kind, offset))
        offset += bytes_of(shape) + -bytes_of(shape) % 32
    keys = metadata(layers)
    header = b"GGUF" + struct.pack("<IQQ", 3, len(infos), len(keys))
    header += b"".join(string(key) + value(item) for key, item in keys.items()) + b"".join(infos)
    piece, ones = pieces(rng), struct.pack("<f", 1.0)
    with open(path, "wb") as out:
        out.write(header + bytes(-len(header) % 32))
        for _, shape in plan(layers):
            left = bytes_of(shape)
            padding = -left % 32
            if len(shape) == 1:
                out.write(ones * shape[0] + bytes(padding))
                continue
            at = rng.randrange(PIECE_BLOCKS) * BLOCK_BYTES  # rows of different matrices differ
            while left:
                part = piece[at:at + left]
                out.write(part)
                left, at = left - len(part), 0
            out.write(bytes(padding))


if __name__ == "__main__":
    make_large_model(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else LAYERS)
