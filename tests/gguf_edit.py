"""Changes single things in a GGUF file: a value of the metadata, or what is said of a tensor.

edit(bytes, {NAME: CHANGE}) gives other bytes. NAME is a key of the metadata or a tensor. CHANGE of a key: a
value, None (removed), {"5": 9} (an element of a list) or {"type": 77} (its type's number alone); of a tensor:
None or {"name": ..., "dims": [...], "type": N, "offset": N, "fill": 1.0}. A name the file does not have is added.
"""
import math
import struct

from tiny_model import string, value

SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        numbers = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return numbers[0] if len(numbers) == 1 else list(numbers)

    def text(self):
        size = self.take("Q")
        self.at += size
        return self.data[self.at - size:self.at].decode()

    def value(self):
        """The bytes of a value with its type, and the ranges of its elements if it is a list."""
        begin, kind, elements = self.at, self.take("I"), []
        if kind == 8:
            self.text()
        elif kind == 9:
            inner, count = self.take("IQ")
            for _ in range(count):
                first = self.at
                self.at += SIZES[inner] if inner != 8 else 0
                if inner == 8:
                    self.text()
                elements.append((first - begin, self.at - begin))
        else:
            self.at += SIZES[kind]
        return self.data[begin:self.at], elements


def edited_value(old, change):
    raw, elements = old or (b"", [])
    if not isinstance(change, dict):
        return value(change)
    if "type" in change:
        return struct.pack("<I", change["type"]) + raw[4:]
    inner = struct.unpack_from("<I", raw, 4)[0]
    for place, item in sorted(change.items(), key=lambda pair: -int(pair[0])):  # from the back: places stay
        first, end = elements[int(place)]
        form = {4: "<I", 5: "<i", 6: "<f", 7: "<?"}.get(inner)
        raw = raw[:first] + (string(item) if inner == 8 else struct.pack(form, item)) + raw[end:]
    return raw


def edit(data, changes):
    reader, metadata, tensors = Reader(data), {}, {}
    reader.at = 8
    num_tensors, num_keys = reader.take("QQ")
    for _ in range(num_keys):
        key = reader.text()
        metadata[key] = reader.value()
    for _ in range(num_tensors):
        name = reader.text()
        rank = reader.take("I")
        dims = [reader.take("Q") for _ in range(rank)]
        kind, offset = reader.take("IQ")
        tensors[name] = {"name": name, "dims": dims, "type": kind, "offset": offset}
    blob = bytearray(data[reader.at + -reader.at % 32:])
    out = {key: raw for key, (raw, _) in metadata.items()}
    for name, change in changes.items():
        is_tensor = name in tensors or isinstance(change, dict) and "dims" in change
        if change is None:
            (tensors if is_tensor else out).pop(name)
        elif is_tensor:
            new = {"name": name, "type": 0, "offset": len(blob)} | tensors.get(name, {}) | change
            size = 4 * math.prod(new["dims"])
            if name not in tensors:
                blob += bytes(size + -size % 32)
            if "fill" in new:
                blob[new["offset"]:new["offset"] + size] = struct.pack("<f", new["fill"]) * (size // 4)
            tensors[name] = new
        else:
            out[name] = edited_value(metadata.get(name), change)
    head = data[:8] + struct.pack("<QQ", len(tensors), len(out))
    head += b"".join(string(key) + raw for key, raw in out.items())
    for tensor in tensors.values():
        dims = tensor["dims"]
        head += string(tensor["name"]) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, tensor["type"],
                                                     tensor["offset"])
    return head + bytes(-len(head) % 32) + bytes(blob)
