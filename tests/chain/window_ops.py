"""The named convolutions and poolings of ops.def, with operands whose shapes follow from their names alone:
conv_2d_nhwc_hwcf reads [n, h, w, c] and weights [h, w, c, f]; pooling_ncw_max a window [w]."""
import os
import re

from support import ROOT

# Sizes by letter. What has a kernel, and what has none; n: images, g: groups, c, f: channels, m: results per channel.
KERNEL = {"n": 2, "g": 2, "c": 8, "f": 8, "m": 3}
GENERAL = {"n": 1, "g": 3, "c": 5, "f": 3, "m": 2}
# Of the result, of the window, its stride and dilation in each direction.
OUT, WINDOW, STRIDE, DILATION = ({"d": 2, "h": 5, "w": 3}, {"d": 2, "h": 3, "w": 2}, {"d": 1, "h": 2, "w": 3},
                                 {"d": 1, "h": 2, "w": 1})


def window_ops():
    with open(os.path.join(ROOT, "src", "ir", "ops.def"), encoding="utf-8") as file:
        names = re.findall(r'(?m)^OP\(\w+, "linalg\.((?:depthwise_)?conv_\w+|pooling_\w+)"', file.read())
    return names


def letters(name):
    """What each operand's dimensions are: of the input, the weights or window, the result."""
    if name.startswith("pooling_"):
        x = name.split("_")[1]
        return x, "".join(a for a in x if a in "dhw"), x
    parts = name.removeprefix("depthwise_").split("_")[1:]
    if len(parts) == 1:
        plain = "dhw"[3 - int(parts[0][0]):]
        return plain, plain, plain
    _, x, w = parts
    if name.startswith("depthwise_"):
        return x, w, x + "m" * w.endswith("m")
    return x, w, x.replace("c", "f")


def tensor(sizes, elem):
    return "tensor<" + "".join(f"{size}x" for size in sizes) + elem + ">"


def window_case(name, sizes, elem="f32"):
    """Types of input, weights and result, and the attributes."""
    x, w, y = letters(name)
    moves = "_" in name.removeprefix("depthwise_").removeprefix("conv_")
    stride, dilation = ({a: step[a] if moves else 1 for a in "dhw"} for step in (STRIDE, DILATION))
    read = {a: (OUT[a] - 1) * stride[a] + (WINDOW[a] - 1) * dilation[a] + 1 for a in "dhw"}
    types = [tensor([{**sizes, **of}[a] for a in dims], elem) for dims, of in ((x, read), (w, WINDOW), (y, OUT))]
    axes = [a for a in x if a in "dhw"]
    lists = (f"dense<[{', '.join(str(step[a]) for a in axes)}]> : tensor<{len(axes)}xi64>" for step in (dilation, stride))
    attributes = "{dilations = %s, strides = %s}" % tuple(lists) if moves else ""
    return types[:2], types[2], attributes
