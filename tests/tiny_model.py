"""Tiny random LLaMA models as GGUF files, and what they must answer.

make_model writes a model whose weights are random blocks of any storage format. Reference evaluates the
published definition in float64 on the decoded weights, in plain Python: independent of everything in
src/. Same arguments, same bytes.
"""
import math
import random
import struct

# name: (GGUF type number, elements per block, bytes per block)
FORMATS = {
    "F32": (0, 1, 4), "F16": (1, 1, 2), "BF16": (30, 1, 2), "Q8_0": (8, 32, 34), "Q4_0": (2, 32, 18),
    "Q4_1": (3, 32, 20), "Q5_0": (6, 32, 22), "Q5_1": (7, 32, 24), "Q4_K": (12, 256, 144),
    "Q5_K": (13, 256, 176), "Q6_K": (14, 256, 210),
}
CHAT_TEMPLATE = ("{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + "
                 "message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
                 "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}")


# ---------------------------------------------------------------- formats

def half(value):
    return struct.pack("<e", value)


def from_half(data, at):
    return struct.unpack_from("<e", data, at)[0]


def bf16(value):
    return struct.pack("<f", value)[2:]


def scale_and_min(packed, j):
    """The j-th 6-bit pair of the 12 packed bytes of Q4_K and Q5_K."""
    if j < 4:
        return packed[j] & 63, packed[j + 4] & 63
    return (packed[j + 4] & 15) | (packed[j - 4] >> 6 << 4), (packed[j + 4] >> 4) | (packed[j] >> 6 << 4)


def random_block(rng, name, std):
    """One block whose elements have a standard deviation of about std."""
    codes = lambda n: bytes(rng.getrandbits(8) for _ in range(n))
    scale = std * rng.uniform(0.7, 1.4)
    if name == "F32":
        return struct.pack("<f", rng.gauss(0, std))
    if name == "F16":
        return half(rng.gauss(0, std))
    if name == "BF16":
        return bf16(rng.gauss(0, std))
    if name == "Q8_0":
        return half(scale / 74) + codes(32)
    if name == "Q4_0":
        return half(scale / 4.6) + codes(16)
    if name == "Q4_1":
        return half(scale / 4.6) + half(-7.5 * scale / 4.6) + codes(16)
    if name == "Q5_0":
        return half(scale / 9.2) + codes(20)
    if name == "Q5_1":
        return half(scale / 9.2) + half(-15.5 * scale / 9.2) + codes(20)
    if name == "Q4_K":
        return half(scale / 4.6 / 36) + half(7.5 * scale / 4.6 / 36) + codes(140)
    if name == "Q5_K":
        return half(scale / 9.2 / 36) + half(15.5 * scale / 9.2 / 36) + codes(172)
    if name == "Q6_K":
        return codes(192) + bytes(rng.randrange(30, 100) for _ in range(16)) + half(scale / 18.5 / 65)
    raise ValueError(name)


def decode_block(name, data, at):
    """The elements of the block at data[at:]."""
    if name == "F32":
        return [struct.unpack_from("<f", data, at)[0]]
    if name == "F16":
        return [from_half(data, at)]
    if name == "BF16":
        return [struct.unpack("<f", b"\0\0" + data[at:at + 2])[0]]
    if name == "Q8_0":
        d = from_half(data, at)
        return [d * q for q in struct.unpack_from("32b", data, at + 2)]
    if name in ("Q4_0", "Q4_1"):
        d, low = from_half(data, at), 4 if name == "Q4_1" else 2
        m = from_half(data, at + 2) if name == "Q4_1" else -8 * d
        nibbles = data[at + low:at + low + 16]
        return [d * (q & 15) + m for q in nibbles] + [d * (q >> 4) + m for q in nibbles]
    if name in ("Q5_0", "Q5_1"):
        d, low = from_half(data, at), 4 if name == "Q5_1" else 2
        m = from_half(data, at + 2) if name == "Q5_1" else -16 * d
        high = struct.unpack_from("<I", data, at + low)[0]
        nibbles = data[at + low + 4:at + low + 20]
        return ([d * ((q & 15) | (high >> j & 1) << 4) + m for j, q in enumerate(nibbles)] +
                [d * ((q >> 4) | (high >> (j + 16) & 1) << 4) + m for j, q in enumerate(nibbles)])
    if name in ("Q4_K", "Q5_K"):
        d, dmin, packed = from_half(data, at), from_half(data, at + 2), data[at + 4:at + 16]
        high = data[at + 16:at + 48] if name == "Q5_K" else bytes(32)
        nibbles = data[at + (48 if name == "Q5_K" else 16):]
        out = []
        for j in range(8):
            sc, mn = scale_and_min(packed, j)
            for k in range(32):
                q = nibbles[j // 2 * 32 + k] >> (4 * (j % 2)) & 15 | (high[k] >> j & 1) << 4
                out.append(d * sc * q - dmin * mn)
        return out
    if name == "Q6_K":
        low, high, scales = data[at:at + 128], data[at + 128:at + 192], data[at + 192:at + 208]
        d, out = from_half(data, at + 208), []
        for n in range(2):
            for part in range(4):
                for k in range(32):
                    nibble = low[n * 64 + part % 2 * 32 + k] >> (part // 2 * 4) & 15
                    q = nibble | (high[n * 32 + k] >> (2 * part) & 3) << 4
                    sc = scales[n * 8 + part * 2 + k // 16]
                    out.append(d * (sc - 256 if sc > 127 else sc) * (q - 32))
        return out
    raise ValueError(name)


# ---------------------------------------------------------------- the file

def string(text):
    data = text.encode("utf-8")
    return struct.pack("<Q", len(data)) + data


def value(item):
    """Type number and bytes of a metadata value."""
    if isinstance(item, bool):
        return struct.pack("<IB", 7, item)
    if isinstance(item, int):
        return struct.pack("<II", 4, item)
    if isinstance(item, float):
        return struct.pack("<If", 6, item)
    if isinstance(item, str):
        return struct.pack("<I", 8) + string(item)
    if isinstance(item[0], str):
        return struct.pack("<IIQ", 9, 8, len(item)) + b"".join(map(string, item))
    return struct.pack("<IIQ", 9, 5, len(item)) + struct.pack(f"<{len(item)}i", *item)


def byte_letters():
    """How byte-level vocabularies write each byte (GPT-2)."""
    plain = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    letters, extra = {}, 0
    for byte in range(256):
        if byte in plain:
            letters[byte] = chr(byte)
        else:
            letters[byte] = chr(256 + extra)
            extra += 1
    return [letters[byte] for byte in range(256)]


def make_model(path, layers=2, dim=64, ffn=160, heads=4, kv_heads=2, weights="F32", tied=True, seed=1,
               context=256, head=None, vocab_multiple=1):
    """Writes the file; returns the Reference of the same model."""
    rng = random.Random(seed)
    controls = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    tokens = controls + byte_letters() + ["he", "ll", "hell"]
    tokens += [f"<pad{i}>" for i in range(-len(tokens) % vocab_multiple)]
    num_named = len(tokens)
    tokens += [f"<unused_{i}>" for i in range(-len(tokens) % 16)]  # of no text
    merges = ["h e", "l l", "he ll"]
    head_dim = dim // heads
    metadata = {
        "general.architecture": "llama", "general.name": "tiny", "llama.block_count": layers,
        "llama.context_length": context, "llama.embedding_length": dim,
        "llama.feed_forward_length": ffn, "llama.attention.head_count": heads,
        "llama.attention.head_count_kv": kv_heads, "llama.rope.freq_base": 10000.0,
        "llama.attention.layer_norm_rms_epsilon": 1e-5, "llama.rope.dimension_count": head_dim,
        "llama.vocab_size": len(tokens), "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "smollm", "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": ([3] * len(controls) + [1] * (num_named - len(controls)) +
                                      [5] * (len(tokens) - num_named)),
        "tokenizer.ggml.merges": merges, "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2, "tokenizer.ggml.unknown_token_id": 0,
        "tokenizer.ggml.add_bos_token": False, "tokenizer.chat_template": CHAT_TEMPLATE,
    }
    kv_dim, std = head_dim * kv_heads, dim ** -0.5
    plan = [("token_embd.weight", (len(tokens), dim), 0.5, head or weights)]
    if not tied:
        plan.append(("output.weight", (len(tokens), dim), 4 * std, head or weights))
    plan.append(("output_norm.weight", (dim,), 0, "F32"))
    for i in range(layers):
        for name, shape, deviation in (
                ("attn_norm", (dim,), 0), ("attn_q", (dim, dim), 2 * std), ("attn_k", (kv_dim, dim), 2 * std),
                ("attn_v", (kv_dim, dim), std), ("attn_output", (dim, dim), std), ("ffn_norm", (dim,), 0),
                ("ffn_gate", (ffn, dim), std), ("ffn_up", (ffn, dim), std),
                ("ffn_down", (dim, ffn), ffn ** -0.5)):
            plan.append((f"blk.{i}.{name}.weight", shape, deviation,
                         weights if deviation else "F32"))
    infos, blobs, decoded, offset = [], [], {}, 0
    for name, shape, deviation, form in plan:
        number, block_elems, _ = FORMATS[form]
        count = math.prod(shape)
        if deviation:
            data = b"".join(random_block(rng, form, deviation) for _ in range(count // block_elems))
        else:
            data = b"".join(struct.pack("<f", 1 + 0.1 * rng.gauss(0, 1)) for _ in range(count))
        decoded[name] = decode_rows(form, data, shape)
        data += bytes(-len(data) % 32)
        dims = shape[::-1]
        infos.append(string(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, number, offset))
        blobs.append(data)
        offset += len(data)
    header = b"GGUF" + struct.pack("<IQQ", 3, len(plan), len(metadata))
    header += b"".join(string(key) + value(item) for key, item in metadata.items()) + b"".join(infos)
    with open(path, "wb") as out:
        out.write(header + bytes(-len(header) % 32) + b"".join(blobs))
    return Reference(decoded, layers, heads, kv_heads, head_dim)


def decode_rows(form, data, shape):
    _, block_elems, block_bytes = FORMATS[form]
    flat = []
    for at in range(0, len(data), block_bytes):
        flat += decode_block(form, data, at)
    if len(shape) == 1:
        return flat
    return [flat[row * shape[1]:(row + 1) * shape[1]] for row in range(shape[0])]


# ---------------------------------------------------------------- the definition

def product(matrix, x):
    return [math.fsum(map(lambda a, b: a * b, row, x)) for row in matrix]


def norm(x, weight):
    scale = 1 / math.sqrt(math.fsum(v * v for v in x) / len(x) + float(struct.unpack("<f", struct.pack("<f", 1e-5))[0]))
    return [v * scale * w for v, w in zip(x, weight)]


class Reference:
    """A LLaMA decoder in float64: RMS norm, rotary embedding of adjacent pairs, grouped-query attention,
    SwiGLU, residuals."""

    def __init__(self, tensors, layers, heads, kv_heads, head_dim):
        self.tensors, self.layers, self.head_dim = tensors, layers, head_dim
        self.heads, self.kv_heads = heads, kv_heads
        self.head = tensors.get("output.weight", tensors["token_embd.weight"])

    def rotate(self, x, position):
        out = []
        for i in range(0, len(x), 2):
            angle = position * 10000.0 ** (-(i % self.head_dim) / self.head_dim)
            c, s = math.cos(angle), math.sin(angle)
            out += [x[i] * c - x[i + 1] * s, x[i] * s + x[i + 1] * c]
        return out

    def attend(self, q, keys, values):
        d, group, out = self.head_dim, self.heads // self.kv_heads, []
        for h in range(self.heads):
            at = h // group * d
            scores = [math.fsum(a * b for a, b in zip(q[h * d:h * d + d], k[at:at + d])) / math.sqrt(d)
                      for k in keys]
            top = max(scores)
            parts = [math.exp(s - top) for s in scores]
            total = math.fsum(parts)
            out += [math.fsum(p * v[at + j] for p, v in zip(parts, values)) / total for j in range(d)]
        return out

    def log_probabilities(self, ids):
        """Natural-log probabilities of the token after ids."""
        caches = [([], []) for _ in range(self.layers)]
        x = None
        for position, token in enumerate(ids):
            x = list(self.tensors["token_embd.weight"][token])
            for i, (keys, values) in enumerate(caches):
                w = lambda name, i=i: self.tensors[f"blk.{i}.{name}.weight"]
                h = norm(x, w("attn_norm"))
                keys.append(self.rotate(product(w("attn_k"), h), position))
                values.append(product(w("attn_v"), h))
                a = self.attend(self.rotate(product(w("attn_q"), h), position), keys, values)
                x = [p + q for p, q in zip(x, product(w("attn_output"), a))]
                h = norm(x, w("ffn_norm"))
                gate, up = product(w("ffn_gate"), h), product(w("ffn_up"), h)
                mid = [g / (1 + math.exp(-g)) * u for g, u in zip(gate, up)]
                x = [p + q for p, q in zip(x, product(w("ffn_down"), mid))]
        logits = product(self.head, norm(x, self.tensors["output_norm.weight"]))
        top = max(logits)
        total = top + math.log(math.fsum(math.exp(v - top) for v in logits))
        return [v - total for v in logits]

    def entry(self, name, ids, listed=64):
        """What `ingot eval --reference` reads, with full precision."""
        logs = self.log_probabilities(ids)
        order = sorted(range(len(logs)), key=lambda i: -logs[i])
        return {"name": name, "ids": ids, "top": [[i, logs[i]] for i in order[:listed]],
                "greedy": [], "gap": []}
