"""Tiny random models as GGUF files, and what they must answer.

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
    "Q5_K": (13, 256, 176), "Q6_K": (14, 256, 210), "IQ4_NL": (20, 32, 18),
}
IQ4_LEVELS = (-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113)
# How a family differs from the first. halves: elements i and i + d/2 of a head turn together, else 2i and
# 2i + 1; bias: of q, k, v; head_norm: of each head of q and k; post_norm: of both halves of a layer; gelu:
# its tanh form, else SiLU; whole_norm: all heads normed together; pre_norm false: no norms in front; scaled: embeddings times sqrt(dim); window: every `pattern`th layer sees all and
# turns by rope_base, the others see the last `window` tokens and turn by 10000; linear: positions are divided
# by it (not in layers with a window); score_dim: scores are divided by its root, else by that of the head size.
# tokenizer: the kind its published models have, of TOKENIZERS.
FAMILIES = {
    "llama": {"tokenizer": "smollm"},
    "qwen2": {"tokenizer": "qwen2", "halves": True, "bias": True},
    "qwen3": {"tokenizer": "qwen2", "halves": True, "head_norm": True},
    "olmo2": {"tokenizer": "dbrx", "halves": True, "head_norm": True, "whole_norm": True, "pre_norm": False, "post_norm": True,
              "window": 12, "pattern": 4, "is_pattern_listed": True},
    "gemma": {"tokenizer": "gemma", "halves": True, "gelu": True, "scaled": True},
    "gemma3": {"tokenizer": "gemma", "halves": True, "head_norm": True, "post_norm": True, "gelu": True, "scaled": True,
               "window": 12, "pattern": 6, "rope_base": 1e6},
}
# How each kind cuts SAMPLE, by the published rules: the digits of byte-level vocabularies stand alone or up to
# three together, line ends go with the signs before them or not; SentencePiece has blanks in its tokens, one
# in front of the text unless it says otherwise, and single bytes for what it has no token for.
SAMPLE = "hell 12!\nhe"
TOKENIZERS = {
    "smollm": ["hell", "\u0120", "1", "2", "!", "\u010a", "he"],
    "qwen2": ["hell", "\u0120", "1", "2", "!\u010a", "he"],
    "dbrx": ["hell", "\u0120", "12", "!\u010a", "he"],
    "spm": ["\u2581hell", "\u2581", "<0x31>", "<0x32>", "<0x21>", "<0x0A>", "he"],
    "gemma": ["hell", "\u2581", "<0x31>", "<0x32>", "<0x21>", "<0x0A>", "he"],
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
    if name == "IQ4_NL":  # its levels have a standard deviation of 69.6
        return half(scale / 69.6) + codes(16)
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
    if name == "IQ4_NL":
        d, nibbles = from_half(data, at), data[at + 2:at + 18]
        return [d * IQ4_LEVELS[q & 15] for q in nibbles] + [d * IQ4_LEVELS[q >> 4] for q in nibbles]
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
    if isinstance(item[0], float):
        return struct.pack("<IIQ", 9, 6, len(item)) + struct.pack(f"<{len(item)}f", *item)
    if isinstance(item[0], bool):
        return struct.pack("<IIQ", 9, 7, len(item)) + bytes(item)
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


def byte_level_vocabulary(kind):
    """Tokens, how many of them are no text, metadata."""
    controls = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    merges = ["h e", "l l", "he ll", "1 2", "! \u010a"]
    return controls + byte_letters() + [merge.replace(" ", "") for merge in merges], {
        "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": kind, "tokenizer.ggml.merges": merges,
        "tokenizer.ggml.add_bos_token": False}


def sentence_vocabulary(kind):
    pieces = ["\u2581hell", "hell", "ll", "he", "\u2581", "h", "e", "l"]
    tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)] + pieces
    return tokens, {"tokenizer.ggml.model": "llama", "tokenizer.ggml.add_space_prefix": kind == "spm",
                    "tokenizer.ggml.add_bos_token": True}


def vocabulary(kind, multiple):
    """Tokens, and the metadata that says what they are."""
    is_sentence = kind in ("spm", "gemma")
    tokens, metadata = sentence_vocabulary(kind) if is_sentence else byte_level_vocabulary(kind)
    types = [3] * 3 + [6 if is_sentence else 1] * 256 + [1] * (len(tokens) - 259)
    tokens += [f"<pad{i}>" for i in range(-len(tokens) % multiple)]
    types += [1] * (len(tokens) - len(types))
    tokens += [f"<unused_{i}>" for i in range(-len(tokens) % 16)]  # of no text
    types += [5] * (len(tokens) - len(types))
    if is_sentence:
        metadata["tokenizer.ggml.scores"] = [-float(i) for i in range(len(tokens))]
    return tokens, metadata | {
        "tokenizer.ggml.tokens": tokens, "tokenizer.ggml.token_type": types, "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2, "tokenizer.ggml.unknown_token_id": 0,
        "tokenizer.chat_template": CHAT_TEMPLATE}


def make_model(path, layers=2, dim=64, ffn=160, heads=4, kv_heads=2, weights="F32", tied=True, seed=1,
               context=256, head=None, vocab_multiple=1, family="llama", head_dim=None, more_metadata=None, **changes):
    """Writes the file; returns the Reference of the same model. changes: of the family's traits."""
    traits = {**FAMILIES[family], **changes}
    rng = random.Random(seed)
    tokens, words = vocabulary(traits["tokenizer"], vocab_multiple)
    head_dim = head_dim or dim // heads
    a = family
    metadata = {
        "general.architecture": family, "general.name": "tiny", f"{a}.block_count": layers,
        f"{a}.context_length": context, f"{a}.embedding_length": dim,
        f"{a}.feed_forward_length": ffn, f"{a}.attention.head_count": heads,
        f"{a}.attention.head_count_kv": kv_heads, f"{a}.rope.freq_base": traits.get("rope_base", 10000.0),
        f"{a}.attention.layer_norm_rms_epsilon": 1e-5, f"{a}.rope.dimension_count": head_dim,
        f"{a}.vocab_size": len(tokens), **words,
    }
    if head_dim * heads != dim:
        metadata.update({f"{a}.attention.key_length": head_dim, f"{a}.attention.value_length": head_dim})
    if "window" in traits:
        metadata[f"{a}.attention.sliding_window"] = traits["window"]
        if traits.get("is_pattern_listed"):
            metadata[f"{a}.attention.sliding_window_pattern"] = [
                (i + 1) % traits["pattern"] != 0 for i in range(layers)]
        elif traits["pattern"] != FAMILIES[family]["pattern"]:
            metadata[f"{a}.attention.sliding_window_pattern"] = traits["pattern"]
    q_dim, kv_dim, std = head_dim * heads, head_dim * kv_heads, dim ** -0.5
    if "linear" in traits:
        metadata.update({f"{a}.rope.scaling.type": "linear", f"{a}.rope.scaling.factor": traits["linear"]})
    metadata.update(more_metadata or {})
    plan = [("token_embd.weight", (len(tokens), dim), 0.1 if traits.get("scaled") else 0.5, head or weights)]
    if not tied:
        plan.append(("output.weight", (len(tokens), dim), 4 * std, head or weights))
    plan.append(("output_norm.weight", (dim,), 0, "F32"))
    for i in range(layers):
        for name, shape, deviation in (
                ("attn_norm", (dim,), 0), ("attn_q", (q_dim, dim), 2 * std), ("attn_k", (kv_dim, dim), 2 * std),
                ("attn_v", (kv_dim, dim), std), ("attn_output", (dim, q_dim), std), ("ffn_norm", (dim,), 0),
                ("ffn_gate", (ffn, dim), std), ("ffn_up", (ffn, dim), std),
                ("ffn_down", (dim, ffn), ffn ** -0.5)):
            if name in ("attn_norm", "ffn_norm") and not traits.get("pre_norm", True):
                continue
            plan.append((f"blk.{i}.{name}.weight", shape, deviation,
                         weights if deviation else "F32"))
        more = []
        if traits.get("bias"):
            more += [("attn_q.bias", q_dim), ("attn_k.bias", kv_dim), ("attn_v.bias", kv_dim)]
        if traits.get("head_norm"):
            sizes = (q_dim, kv_dim) if traits.get("whole_norm") else (head_dim, head_dim)
            more += [("attn_q_norm.weight", sizes[0]), ("attn_k_norm.weight", sizes[1])]
        if traits.get("post_norm"):
            more += [("post_attention_norm.weight", dim), ("post_ffw_norm.weight", dim)]
        plan += [(f"blk.{i}.{name}", (size,), 0, "F32") for name, size in more]
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
    return Reference(decoded, layers, heads, kv_heads, head_dim, traits)


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
    """A decoder in float64: RMS norm, rotary embedding, grouped-query attention, gated feed-forward,
    residuals, and the traits of its family."""

    def __init__(self, tensors, layers, heads, kv_heads, head_dim, traits):
        self.tensors, self.layers, self.head_dim, self.traits = tensors, layers, head_dim, traits
        self.heads, self.kv_heads = heads, kv_heads
        self.head = tensors.get("output.weight", tensors["token_embd.weight"])

    def is_local(self, layer):
        return "window" in self.traits and (layer + 1) % self.traits["pattern"] != 0

    def rotate(self, x, position, layer):
        d = self.head_dim
        base = 10000.0 if self.is_local(layer) else self.traits.get("rope_base", 10000.0)
        scale = 1 if self.is_local(layer) else 1 / self.traits.get("linear", 1)
        pairs = ([(i, i + d // 2) for i in range(d // 2)] if self.traits.get("halves") else
                 [(i, i + 1) for i in range(0, d, 2)])
        out = list(x)
        for at in range(0, len(x), d):
            for number, (i, j) in enumerate(pairs):
                angle = position * scale * base ** (-2 * number / d)
                c, s = math.cos(angle), math.sin(angle)
                out[at + i] = x[at + i] * c - x[at + j] * s
                out[at + j] = x[at + j] * c + x[at + i] * s
        return out

    def project(self, kind, h, position, layer):
        """Queries ("q"), keys ("k") or values ("v") of one token."""
        tensor = lambda name: self.tensors.get(f"blk.{layer}.attn_{kind}{name}")
        out = product(tensor(".weight"), h)
        if self.traits.get("bias"):
            out = [x + b for x, b in zip(out, tensor(".bias"))]
        if kind == "v":
            return out
        if self.traits.get("head_norm"):
            size = len(out) if self.traits.get("whole_norm") else self.head_dim
            out = [x for at in range(0, len(out), size)
                   for x in norm(out[at:at + size], tensor("_norm.weight"))]
        return self.rotate(out, position, layer)

    def attend(self, q, keys, values):
        d, group, out = self.head_dim, self.heads // self.kv_heads, []
        root = math.sqrt(self.traits.get("score_dim", d))
        for h in range(self.heads):
            at = h // group * d
            scores = [math.fsum(a * b for a, b in zip(q[h * d:h * d + d], k[at:at + d])) / root
                      for k in keys]
            top = max(scores)
            parts = [math.exp(s - top) for s in scores]
            total = math.fsum(parts)
            out += [math.fsum(p * v[at + j] for p, v in zip(parts, values)) / total for j in range(d)]
        return out

    def activate(self, g):
        if not self.traits.get("gelu"):
            return g / (1 + math.exp(-g))
        return 0.5 * g * (1 + math.tanh(math.sqrt(2 / math.pi) * (g + 0.044715 * g ** 3)))

    def log_probabilities(self, ids):
        """Natural-log probabilities of the token after ids."""
        caches = [([], []) for _ in range(self.layers)]
        x = None
        for position, token in enumerate(ids):
            x = list(self.tensors["token_embd.weight"][token])
            if self.traits.get("scaled"):
                x = [v * math.sqrt(len(x)) for v in x]
            for i, (keys, values) in enumerate(caches):
                w = lambda name, i=i: self.tensors[f"blk.{i}.{name}.weight"]
                pre = lambda y, name: norm(y, w(name)) if self.traits.get("pre_norm", True) else y
                post = lambda y, name: norm(y, w(name)) if self.traits.get("post_norm") else y
                h = pre(x, "attn_norm")
                keys.append(self.project("k", h, position, i))
                values.append(self.project("v", h, position, i))
                first = max(0, position + 1 - self.traits["window"]) if self.is_local(i) else 0
                a = self.attend(self.project("q", h, position, i), keys[first:], values[first:])
                a = post(product(w("attn_output"), a), "post_attention_norm")
                x = [p + q for p, q in zip(x, a)]
                h = pre(x, "ffn_norm")
                gate, up = product(w("ffn_gate"), h), product(w("ffn_up"), h)
                mid = [self.activate(g) * u for g, u in zip(gate, up)]
                x = [p + q for p, q in zip(x, post(product(w("ffn_down"), mid), "post_ffw_norm"))]
        logits = product(self.head, norm(x, self.tensors["output_norm.weight"]))
        top = max(logits)
        total = top + math.log(math.fsum(math.exp(v - top) for v in logits))
        return [v - total for v in logits]

    def entry(self, name, ids, listed=64, num_greedy=0):
        """What `ingot eval --reference` reads, with full precision."""
        logs = self.log_probabilities(ids)
        order = sorted(range(len(logs)), key=lambda i: -logs[i])
        return {"name": name, "ids": ids, "top": [[i, logs[i]] for i in order[:listed]],
                **self.continuation(ids, num_greedy)}

    def continuation(self, ids, num_tokens):
        greedy, gaps = [], []
        for _ in range(num_tokens):
            logs = self.log_probabilities(ids + greedy)
            best, second = sorted(range(len(logs)), key=lambda i: -logs[i])[:2]
            greedy.append(best)
            gaps.append(logs[best] - logs[second])
        return {"greedy": greedy, "gap": gaps}
