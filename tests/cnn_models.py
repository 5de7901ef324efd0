"""Convolutional networks with random weights: as a level-1 module with a GGUF file of parameters beside it,
as ONNX (where the onnx package is there), and as what they must answer, in float64.

One description makes all three. The module is channels-last, or channels-first, and says what its author would say:
pads, crops and batch norms as ops of their own. Needs numpy.
"""
import struct

import numpy as np

HEAD = """#id4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#ch2 = affine_map<(d0, d1) -> (d1)>
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#nk = affine_map<(d0, d1, d2) -> (d1, d2)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
"""
EPS = 1e-5


def tensor(shape):
    return "tensor<" + "x".join(map(str, shape)) + "xf32>"


def iterators(num_parallel, num_sums=0):
    return "[" + ", ".join(['"parallel"'] * num_parallel + ['"reduction"'] * num_sums) + "]"


def number(value):
    return struct.pack(">f", value).hex().join(["0x", ""]).upper().replace("X", "x")


class Net:
    """Values are (name, shape) with shape [n, h, w, c] or [n, k]; ONNX names are the same. With first, the module
    holds maps as [n, c, h, w]; layout: what it asks for between convolutions (ingot.map_layout)."""

    def __init__(self, shape, seed=1, first=False, layout=None):
        self.first, self.layout = first, layout
        self.rng = np.random.default_rng(seed)
        self.params, self.lines, self.nodes, self.steps, self.count = {}, [], [], [], 0
        self.stored = {}  # parameters whose form in the module is another
        self.shapes = {"x": tuple(shape)}
        self.x = ("x", tuple(shape))
        self.constants = {"zero": 0.0, "eps": EPS, "ninf": float("-inf")}

    # ---- naming

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def param(self, name, shape, scale=1.0, shift=0.0):
        data = self.rng.standard_normal(shape) * scale + shift
        self.params[name] = data.astype(np.float32)
        return name

    def emit(self, text):
        self.lines.append("  " + text)

    def order(self, values):
        """Of the module's dimensions, from n, h, w, c."""
        values = list(values)
        return [values[0], values[3], values[1], values[2]] if self.first and len(values) == 4 else values

    def type(self, shape):
        return tensor(self.order(shape))

    def numbers(self, *values):
        return "[" + ", ".join(map(str, self.order(values))) + "]"

    def step(self, name, shape, function, node):
        """function(values) -> float64 array; node: arguments of onnx.helper.make_node or a list of them."""
        self.steps.append((name, function))
        if node:  # else ONNX has no such op
            self.nodes += node if isinstance(node, list) else [node]
        self.shapes[name] = tuple(shape)
        return (name, tuple(shape))

    def plain_empty(self, shape):
        empty = self.name()
        self.emit(f"%{empty} = tensor.empty() : {tensor(shape)}")
        return empty

    def plain_filled(self, shape, constant="zero"):
        """Of a shape as the module has it."""
        empty, full, kind = self.plain_empty(shape), self.name(), tensor(shape)
        self.emit(f"%{full} = linalg.fill ins(%{constant} : f32) outs(%{empty} : {kind}) -> {kind}")
        return full

    def generic(self, maps, ins, shape, args, body, result):
        """ins: (name, shape) pairs; body lines yield %y."""
        empty, kind = self.name(), self.type(shape)
        self.emit(f"%{empty} = tensor.empty() : {kind}")
        names = ", ".join("%" + n for n, _ in ins)
        types = ", ".join(self.type(s) for _, s in ins)
        block = ", ".join(f"%{a}: f32" for a in args + ["o"])
        self.emit(f"%{result} = linalg.generic {{indexing_maps = [{', '.join(maps)}], "
                  f"iterator_types = {iterators(len(shape))}}} ins({names} : {types}) "
                  f"outs(%{empty} : {kind}) {{")
        self.emit(f"^bb0({block}):")
        for line in body:
            self.emit("  " + line)
        self.emit("  linalg.yield %y : f32")
        self.emit(f"}} -> {kind}")

    # ---- layers

    def window(self, x, r, stride, pad, constant, dilation=(1, 1)):
        """x padded and cropped to exactly what windows of r at this stride read; all are pairs."""
        name, (n, h, w, c) = x
        reach = [(k - 1) * d + 1 for k, d in zip(r, dilation)]
        out = [(size + 2 * p - k) // s + 1 for size, k, s, p in zip((h, w), reach, stride, pad)]
        need = [(o - 1) * s + k for o, k, s in zip(out, reach, stride)]
        high = [need[0] - h - pad[0], need[1] - w - pad[1]]
        if min(high) < 0:
            h, w = h + min(high[0], 0), w + min(high[1], 0)
            cut = self.name()
            self.emit(f"%{cut} = tensor.extract_slice %{name}[0, 0, 0, 0] {self.numbers(n, h, w, c)} [1, 1, 1, 1] : "
                      f"{self.type(x[1])} to {self.type((n, h, w, c))}")
            name, high = cut, [max(high[0], 0), max(high[1], 0)]
        shape = (n, h + pad[0] + high[0], w + pad[1] + high[1], c)
        if shape != (n, h, w, c):
            padded = self.name()
            self.emit(f"%{padded} = tensor.pad %{name} low{self.numbers(0, *pad, 0)} high{self.numbers(0, *high, 0)} {{")
            self.emit("^bb0(%i0: index, %i1: index, %i2: index, %i3: index):")
            self.emit(f"  tensor.yield %{constant} : f32")
            self.emit(f"}} : {self.type((n, h, w, c))} to {self.type(shape)}")
            name = padded
        return (name, shape), out

    def conv(self, x, k, r, stride=1, pad=None, depthwise=False, groups=1, dilation=1):
        """r, stride, pad, dilation: one number, or one per direction."""
        r, stride, dilation = pair(r), pair(stride), pair(dilation)
        pad = pair([size // 2 * d for size, d in zip(r, dilation)] if pad is None else pad)
        n, h, w, c = x[1]
        groups = c if depthwise else groups
        inside, out = self.window(x, r, stride, pad, "zero", dilation)
        shape = (n, out[0], out[1], k)
        weight = self.name() + "_w"
        self.param(weight, (*r, c) if depthwise else (*r, c // groups, k), (2.0 * groups / (r[0] * r[1] * c)) ** 0.5)
        windows = f"{{dilations = dense<{dilation}> : tensor<2xi64>, strides = dense<{stride}> : tensor<2xi64>}}"
        if self.first:
            y = self.conv_first(inside, weight, shape, groups, windows)
        elif groups > 1 and not depthwise:
            y = self.conv_grouped(inside, weight, shape, groups, stride, dilation)
        else:
            start, y = self.plain_filled(shape), self.name()
            op = "depthwise_conv_2d_nhwc_hwc" if depthwise else "conv_2d_nhwc_hwcf"
            self.emit(f"%{y} = linalg.{op} {windows} ins(%{inside[0]}, %{weight} : {tensor(inside[1])}, "
                      f"{tensor(self.params[weight].shape)}) outs(%{start} : {tensor(shape)}) -> {tensor(shape)}")
        attributes = dict(kernel_shape=r, strides=stride, dilations=dilation, pads=pad * 2, group=groups)
        return self.step(y, shape, lambda v: conv(v[x[0]], v[weight], stride, pad, groups, dilation),
                         ("Conv", [x[0], weight], [y], attributes))

    def reshape(self, op, value, parts, shape):
        """tensor.expand_shape or collapse_shape by parts."""
        name, out = value[0], self.name()
        sizes = f" output_shape {list(shape)}" if op == "expand_shape" else ""
        self.emit(f"%{out} = tensor.{op} %{name} {parts}{sizes} : {tensor(value[1])} into {tensor(shape)}")
        return out, list(shape)

    def conv_first(self, x, weight, shape, groups, windows):
        """Weights lie as [k, c / groups, r, s]."""
        inside, shape = (x[0], self.order(x[1])), self.order(shape)
        n, k, oh, ow = shape
        data = self.params[weight]
        data = (data[:, :, None] if data.ndim == 3 else data).transpose(3, 2, 0, 1)
        self.stored[weight] = data
        w, op, y = (weight, data.shape), "conv_2d_nchw_fchw", self.name()
        if groups > 1:
            op = "conv_2d_ngchw_fgchw"
            _, c, h, width = inside[1]
            inside = self.reshape("expand_shape", inside, [[0], [1, 2], [3], [4]], [n, groups, c // groups, h, width])
            wide = self.reshape("expand_shape", w, [[0, 1], [2], [3], [4]], [groups, k // groups, *data.shape[1:]])
            form, shape = [wide[1][1], groups, *wide[1][2:]], [n, groups, k // groups, oh, ow]
            empty, turned = self.plain_empty(form), self.name()
            self.emit(f"%{turned} = linalg.transpose ins(%{wide[0]} : {tensor(wide[1])}) outs(%{empty} : "
                      f"{tensor(form)}) permutation = [1, 0, 2, 3, 4]")
            w = (turned, form)
        start = self.plain_filled(shape)
        self.emit(f"%{y} = linalg.{op} {windows} ins(%{inside[0]}, %{w[0]} : {tensor(inside[1])}, {tensor(w[1])}) "
                  f"outs(%{start} : {tensor(shape)}) -> {tensor(shape)}")
        if groups > 1:
            return self.reshape("collapse_shape", (y, shape), [[0], [1, 2], [3], [4]], [n, k, oh, ow])[0]
        return y

    def conv_grouped(self, x, weight, shape, groups, stride, dilation):
        """Channels-last in groups has no named op: a sum of products over [n, h, w, groups, c / groups]."""
        last = [[0], [1], [2], [3, 4]]
        n, h, w, c = x[1]
        k, form = shape[3], self.params[weight].shape
        inside = self.reshape("expand_shape", x, last, [n, h, w, groups, c // groups])
        by_group = self.reshape("expand_shape", (weight, form), last, [*form[:3], groups, k // groups])
        to = [*shape[:3], groups, k // groups]
        start, y = self.plain_filled(to), self.name()
        rows, columns = (f"d{i} * {a} + d{i + 4} * {b}" for i, a, b in zip((1, 2), stride, dilation))
        head = "affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> "
        self.emit(f"%{y} = linalg.generic {{indexing_maps = [{head}(d0, {rows}, {columns}, d3, d7)>, "
                  f"{head}(d5, d6, d7, d3, d4)>, {head}(d0, d1, d2, d3, d4)>], iterator_types = "
                  f"{iterators(5, 3)}}} ins(%{inside[0]}, %{by_group[0]} : "
                  f"{tensor(inside[1])}, {tensor(by_group[1])}) outs(%{start} : {tensor(to)}) {{")
        for line in ("^bb0(%a: f32, %b: f32, %s: f32):", "  %0 = arith.mulf %a, %b : f32",
                     "  %y = arith.addf %s, %0 : f32", "  linalg.yield %y : f32"):
            self.emit(line)
        self.emit(f"}} -> {tensor(to)}")
        return self.reshape("collapse_shape", (y, to), last, shape)[0]

    def batch_norm(self, x):
        name, shape = x
        base, y = self.name(), self.name()
        c = shape[3]
        g, b = self.param(base + "_g", (c,), 0.1, 1.0), self.param(base + "_b", (c,), 0.1)
        mean, var = self.param(base + "_m", (c,), 0.1), base + "_v"
        self.params[var] = self.rng.uniform(0.5, 1.5, (c,)).astype(np.float32)
        ins = [(name, shape)] + [(p, (c,)) for p in (g, b, mean, var)]
        self.generic(["#id4"] + ["#ch4"] * 4 + ["#id4"], ins, shape, ["a", "g", "b", "m", "v"],
                     ["%0 = arith.addf %v, %eps : f32", "%1 = math.rsqrt %0 : f32",
                      "%2 = arith.subf %a, %m : f32", "%3 = arith.mulf %2, %1 : f32",
                      "%4 = arith.mulf %3, %g : f32", "%y = arith.addf %4, %b : f32"], y)
        return self.step(y, shape, lambda v: (v[name] - v[mean]) / np.sqrt(v[var] + EPS) * v[g] + v[b],
                         ("BatchNormalization", [name, g, b, mean, var], [y], {"epsilon": EPS}))

    def relu(self, x):
        name, shape = x
        y = self.name()
        self.generic(["#id4", "#id4"], [x], shape, ["a"], ["%y = arith.maximumf %a, %zero : f32"], y)
        return self.step(y, shape, lambda v: np.maximum(v[name], 0), ("Relu", [name], [y], {}))

    def add(self, a, b):
        y = self.name()
        self.generic(["#id4"] * 3, [a, b], a[1], ["a", "b"], ["%y = arith.addf %a, %b : f32"], y)
        return self.step(y, a[1], lambda v: v[a[0]] + v[b[0]], ("Add", [a[0], b[0]], [y], {}))

    def block(self, x, k, r=3, stride=1, depthwise=False, groups=1):
        return self.relu(self.batch_norm(self.conv(x, k, r, stride, depthwise=depthwise, groups=groups)))

    def turn(self, value, to_last):
        """Channels to the end, or back: pooling has named ops for channels-last alone."""
        if not self.first:
            return value[0]
        n, h, w, c = value[1]
        forms = [[n, c, h, w], [n, h, w, c]]
        from_, to = forms if to_last else forms[::-1]
        empty, turned = self.plain_empty(to), self.name()
        self.emit(f"%{turned} = linalg.transpose ins(%{value[0]} : {tensor(from_)}) outs(%{empty} : {tensor(to)}) "
                  f"permutation = {[0, 2, 3, 1] if to_last else [0, 3, 1, 2]}")
        return turned

    def pool(self, x, r, stride, kind, start):
        """Of x, padded as it must be; a named op of channels-last maps."""
        (n, h, w, c), out = x[1], [(size - k) // s + 1 for size, k, s in zip(x[1][1:3], r, stride)]
        inside, to = self.turn(x, True), [n, *out, c]
        full, size, made = self.plain_filled(to, start), self.plain_empty(r), self.name()
        self.emit(f"%{made} = linalg.pooling_nhwc_{kind} {{dilations = dense<1> : tensor<2xi64>, "
                  f"strides = dense<{stride}> : tensor<2xi64>}} ins(%{inside}, %{size} : {tensor(x[1])}, "
                  f"{tensor(r)}) outs(%{full} : {tensor(to)}) -> {tensor(to)}")
        return self.turn((made, to), False), tuple(to)

    def max_pool(self, x, r, stride, pad=0):
        r, stride, pad = pair(r), pair(stride), pair(pad)
        inside, _ = self.window(x, r, stride, pad, "ninf")
        y, shape = self.pool(inside, r, stride, "max", "ninf")
        return self.step(y, shape, lambda v: pool(v[x[0]], r, stride, pad),
                         ("MaxPool", [x[0]], [y], dict(kernel_shape=r, strides=stride, pads=pad * 2)))

    def average(self, x, r, stride):
        """Sums of windows, divided by their size."""
        total, shape = self.pool(x, r, stride, "sum", "zero")
        part, mean = f"part{r[0] * r[1]}", self.name()
        self.constants[part] = 1.0 / (r[0] * r[1])
        self.generic(["#id4", "#id4"], [(total, shape)], shape, ["a"], [f"%y = arith.mulf %a, %{part} : f32"], mean)
        return mean, shape

    def adaptive_average(self, x, size):
        """To size: whole windows where the map divides, else windows of unequal length by a mask, their bounds
        floor(o h / size) to ceil((o + 1) h / size)."""
        name, (n, h, w, c) = x
        size = pair(size)
        if h % size[0] == 0 and w % size[1] == 0:
            window = [h // size[0], w // size[1]]
            y, shape = self.average(x, window, window)
        else:
            y, shape = self.masked_average(x, size), (n, *size, c)
        return self.step(y, shape, lambda v: adaptive(v[name], size), None)

    def masked_average(self, x, size):
        name, (n, h, w, c) = x
        inside, to, y = self.turn(x, True), [n, *size, c], self.name()
        start = self.plain_filled(to)
        head = "affine_map<(d0, d1, d2, d3, d4, d5) -> "
        self.emit(f"%{y} = linalg.generic {{indexing_maps = [{head}(d0, d4, d5, d3)>, {head}(d0, d1, d2, d3)>], "
                  f"iterator_types = {iterators(4, 2)}}} ins(%{inside} : "
                  f"{tensor((n, h, w, c))}) outs(%{start} : {tensor(to)}) {{")
        lines = ["^bb0(%a: f32, %s: f32):"]
        for axis, (length, parts) in enumerate(zip((h, w), size)):
            o, i = f"%o{axis}", f"%i{axis}"
            lines += [f"  {o} = linalg.index {axis + 1} : index", f"  {i} = linalg.index {axis + 4} : index",
                      f"  %b{axis} = affine.apply affine_map<(d0) -> ((d0 * {length}) floordiv {parts})>({o})",
                      f"  %e{axis} = affine.apply affine_map<(d0) -> ((d0 * {length} + {length}) ceildiv {parts})>"
                      f"({o})",
                      f"  %p{axis} = arith.cmpi sge, {i}, %b{axis} : index",
                      f"  %q{axis} = arith.cmpi slt, {i}, %e{axis} : index",
                      f"  %r{axis} = arith.andi %p{axis}, %q{axis} : i1",
                      f"  %n{axis} = arith.subi %e{axis}, %b{axis} : index"]
        lines += ["  %in = arith.andi %r0, %r1 : i1", "  %n = arith.muli %n0, %n1 : index",
                  "  %ni = arith.index_cast %n : index to i32", "  %nf = arith.sitofp %ni : i32 to f32",
                  "  %part = arith.divf %a, %nf : f32", "  %sum = arith.addf %s, %part : f32",
                  "  %y = arith.select %in, %sum, %s : f32", "  linalg.yield %y : f32"]
        for line in lines:
            self.emit(line)
        self.emit(f"}} -> {tensor(to)}")
        return self.turn((y, to), False)

    def global_average(self, x):
        """[n, h, w, c] -> [n, c]"""
        name, (n, h, w, c) = x
        mean, _ = self.average(x, [h, w], [1, 1])
        parts = [[0], [1, 2, 3]] if self.first else [[0, 1, 2], [3]]
        y, _ = self.reshape("collapse_shape", (mean, self.order((n, 1, 1, c))), parts, (n, c))
        return self.step(y, (n, c), lambda v: v[name].mean(axis=(1, 2)),
                         [("GlobalAveragePool", [name], [mean], {}), ("Flatten", [mean], [y], {})])

    def places(self, x):
        """[n, h, w, c] -> [n h w, c]"""
        name, (n, h, w, c) = x
        last = (self.turn(x, True), [n, h, w, c])
        y, _ = self.reshape("collapse_shape", last, [[0, 1, 2], [3]], (n * h * w, c))
        return self.step(y, (n * h * w, c), lambda v: v[name].reshape(-1, c), None)

    def dense(self, x, k):
        name, (n, c) = x
        weight, bias, total, y = self.name() + "_w", self.name() + "_b", self.name(), self.name()
        self.param(weight, (k, c), c ** -0.5)
        self.param(bias, (k,), 0.1)
        start = self.plain_filled((n, k))
        self.emit(f"%{total} = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%{name}, %{weight} : "
                  f"{tensor((n, c))}, {tensor((k, c))}) outs(%{start} : {tensor((n, k))}) -> {tensor((n, k))}")
        self.generic(["#id2", "#ch2", "#id2"], [(total, (n, k)), (bias, (k,))], (n, k), ["a", "b"],
                     ["%y = arith.addf %a, %b : f32"], y)
        return self.step(y, (n, k), lambda v: v[name] @ v[weight].T + v[bias],
                         ("Gemm", [name, weight, bias], [y], {"transB": 1}))

    def upsample(self, x):
        """Nearest, twice the size."""
        name, (n, h, w, c) = x
        shape = (n, 2 * h, 2 * w, c)
        six = [n, c, h, 2, w, 2] if self.first else [n, h, 2, w, 2, c]
        empty, wide = self.plain_empty(six), self.name()
        self.emit(f"%{wide} = linalg.broadcast ins(%{name} : {self.type(x[1])}) outs(%{empty} : {tensor(six)}) "
                  f"dimensions = {[3, 5] if self.first else [2, 4]}")
        parts = [[0], [1], [2, 3], [4, 5]] if self.first else [[0], [1, 2], [3, 4], [5]]
        y, _ = self.reshape("collapse_shape", (wide, six), parts, self.order(shape))
        self.params[y + "_scales"] = np.array([1, 1, 2, 2], np.float32)
        return self.step(y, shape, lambda v: v[name].repeat(2, axis=1).repeat(2, axis=2),
                         ("Resize", [name, "", y + "_scales"], [y],
                          dict(mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")))

    def resize(self, x, size):
        """Nearest, to any size: place o reads floor(o h / size)."""
        name, (n, h, w, c) = x
        size = pair(size)
        shape, empty, y = (n, *size, c), self.plain_empty(self.order((n, *size, c))), self.name()
        at = self.order(["%o0", "%h", "%w", "%o1" if self.first else "%o3"])
        rows, columns = (2, 3) if self.first else (1, 2)
        self.emit(f"%{y} = linalg.generic {{indexing_maps = [#id4], iterator_types = {iterators(4)}}} "
                  f"outs(%{empty} : {self.type(shape)}) {{")
        for line in (["^bb0(%o: f32):"] + [f"  %o{i} = linalg.index {i} : index" for i in range(4)] +
                     [f"  %h = affine.apply affine_map<(d0) -> ((d0 * {h}) floordiv {size[0]})>(%o{rows})",
                      f"  %w = affine.apply affine_map<(d0) -> ((d0 * {w}) floordiv {size[1]})>(%o{columns})",
                      f"  %y = tensor.extract %{name}[{', '.join(at)}] : {self.type(x[1])}",
                      "  linalg.yield %y : f32"]):
            self.emit(line)
        self.emit(f"}} -> {self.type(shape)}")
        return self.step(y, shape, lambda v: nearest(v[name], size), None)

    def concat(self, a, b):
        n, h, w, _ = a[1]
        shape = (n, h, w, a[1][3] + b[1][3])
        empty, first, y = self.plain_empty(self.order(shape)), self.name(), self.name()
        for part, into, out, at in ((a, empty, first, 0), (b, first, y, a[1][3])):
            self.emit(f"%{out} = tensor.insert_slice %{part[0]} into %{into}{self.numbers(0, 0, 0, at)} "
                      f"{self.numbers(*part[1])} [1, 1, 1, 1] : {self.type(part[1])} into {self.type(shape)}")
        return self.step(y, shape, lambda v: np.concatenate([v[a[0]], v[b[0]]], axis=3),
                         ("Concat", [a[0], b[0]], [y], {"axis": 1}))

    # ---- what comes out

    def used_params(self):
        return {k: self.stored.get(k, v) for k, v in self.params.items() if not k.endswith("_scales")}

    def module(self, y):
        args = [f"%x: {self.type(self.x[1])}"]
        args += [f'%{k}: {tensor(v.shape)} {{ingot.param = "{k}"}}' for k, v in self.used_params().items()]
        constants = [f"  %{k} = arith.constant {number(v)} : f32" for k, v in self.constants.items()]
        channel = f"#ch4 = affine_map<(d0, d1, d2, d3) -> (d{1 if self.first else 3})>\n"
        asked = f'module attributes {{ingot.map_layout = "{self.layout}"}} {{\n' if self.layout else ""
        return "\n".join([HEAD + channel + asked + f"func.func @main({', '.join(args)}) -> {self.type(y[1])} {{"] +
                         constants + self.lines + [f"  return %{y[0]} : {self.type(y[1])}", "}", ""] +
                         ["}", ""] * (self.layout is not None))

    def write(self, path, y):
        """path.mlir and path.gguf"""
        with open(path + ".mlir", "w") as out:
            out.write(self.module(y))
        write_gguf(path + ".gguf", self.used_params())

    def answer(self, y, x):
        values = {k: v.astype(np.float64) for k, v in self.params.items()}
        values[self.x[0]] = x.astype(np.float64)
        for name, function in self.steps:
            values[name] = function(values)
        return values[y[0]]

    def onnx(self, y):
        """The same network in NCHW."""
        import onnx
        from onnx import TensorProto, helper, numpy_helper

        def nchw(shape):
            return [shape[0], shape[3], shape[1], shape[2]] if len(shape) == 4 else list(shape)

        weights = []
        for key, data in self.params.items():
            if data.ndim == 4:
                data = np.ascontiguousarray(data.transpose(3, 2, 0, 1))
            elif data.ndim == 3:
                data = np.ascontiguousarray(data.transpose(2, 0, 1)[:, None])
            weights.append(numpy_helper.from_array(data, key))
        nodes = [helper.make_node(kind, ins, outs, **attributes) for kind, ins, outs, attributes in self.nodes]
        graph = helper.make_graph(
            nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, nchw(self.x[1]))],
            [helper.make_tensor_value_info(y[0], TensorProto.FLOAT, nchw(y[1]))], weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.checker.check_model(model)
        return model


# ---------------------------------------------------------------- reference

def pair(value):
    """One number per direction."""
    return list(value) if isinstance(value, (list, tuple)) else [value, value]


def windows(x, r, stride, pad, around, dilation=(1, 1)):
    n, h, w, c = x.shape
    padded = np.full((n, h + 2 * pad[0], w + 2 * pad[1], c), around)
    padded[:, pad[0]:pad[0] + h, pad[1]:pad[1] + w] = x
    oh, ow = ((size + 2 * p - (k - 1) * d - 1) // s + 1
              for size, p, k, d, s in zip((h, w), pad, r, dilation, stride))
    for i in range(r[0]):
        for j in range(r[1]):
            top, left = i * dilation[0], j * dilation[1]
            yield i, j, padded[:, top:top + (oh - 1) * stride[0] + 1:stride[0],
                               left:left + (ow - 1) * stride[1] + 1:stride[1]]


def conv(x, w, stride, pad, groups, dilation):
    if w.ndim == 3:
        return sum(part * w[i, j] for i, j, part in windows(x, w.shape[:2], stride, pad, 0.0, dilation))
    k, c = w.shape[3] // groups, w.shape[2]
    return np.concatenate([sum(part @ w[i, j, :, g * k:(g + 1) * k] for i, j, part in
                               windows(x[..., g * c:(g + 1) * c], w.shape[:2], stride, pad, 0.0, dilation))
                           for g in range(groups)], axis=3)


def pool(x, r, stride, pad):
    return np.max([part for _, _, part in windows(x, r, stride, pad, -np.inf)], axis=0)


def adaptive(x, size):
    def bounds(o, parts, length):
        return slice(o * length // parts, -(-(o + 1) * length // parts))
    return np.stack([np.stack([x[:, bounds(i, size[0], x.shape[1]), bounds(j, size[1], x.shape[2])].mean(axis=(1, 2))
                               for j in range(size[1])], axis=1) for i in range(size[0])], axis=1)


def nearest(x, size):
    rows, columns = (np.arange(s) * length // s for s, length in zip(size, x.shape[1:3]))
    return x[:, rows][:, :, columns]


# ---------------------------------------------------------------- parameters

def write_gguf(path, params):
    """F32 tensors of at most four dimensions; dimensions are stored fastest first."""
    def text(s):
        return struct.pack("<Q", len(s)) + s.encode()

    infos, data, offset = b"", [], 0
    for key, value in params.items():
        infos += text(key) + struct.pack("<I", value.ndim) + struct.pack(f"<{value.ndim}Q", *value.shape[::-1])
        infos += struct.pack("<IQ", 0, offset)
        raw = value.astype("<f4").tobytes()
        raw += bytes(-len(raw) % 32)
        data.append(raw)
        offset += len(raw)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(params), 0) + infos
    with open(path, "wb") as out:
        out.write(head + bytes(-len(head) % 32) + b"".join(data))


# ---------------------------------------------------------------- networks

def resnet18(batch=1, size=224, width=64, classes=1000, first=False):
    """The shape of ResNet-18 at width 64 and size 224."""
    net = Net((batch, size, size, 3), first=first)
    x = net.relu(net.batch_norm(net.conv(net.x, width, 7, 2, 3)))
    x = net.max_pool(x, 3, 2, 1)
    for stage in range(4):
        for number in range(2):
            k, stride = width << stage, 2 if stage and not number else 1
            y = net.batch_norm(net.conv(net.block(x, k, stride=stride), k, 3))
            if stride != 1:
                x = net.batch_norm(net.conv(x, k, 1, 2, 0))
            x = net.relu(net.add(y, x))
    return net, net.dense(net.global_average(x), classes)


def unet(batch=1, size=64, width=16, classes=8, first=False):
    """Three levels down and up."""
    net = Net((batch, size, size, 3), first=first)
    levels, x = [], net.x
    for level in range(3):
        x = net.block(net.block(x, width << level), width << level)
        if level < 2:
            levels.append(x)
            x = net.max_pool(x, 2, 2)
    for level in (1, 0):
        x = net.concat(net.upsample(x), levels[level])
        x = net.block(net.block(x, width << level), width << level)
    return net, net.conv(x, classes, 1)


def mobile(batch=1, size=32, width=16, classes=16, first=False):
    """Depthwise and pointwise convolutions."""
    net = Net((batch, size, size, 3), first=first)
    x = net.block(net.x, width, stride=2)
    for number in range(4):
        x = net.block(x, x[1][3], stride=1 + number % 2, depthwise=True)
        x = net.block(x, width << number // 2, r=1)
    return net, net.dense(net.global_average(x), classes)


def single(batch=1, size=128, channels=64, k=64, r=3, depthwise=False, groups=1):
    net = Net((batch, size, size, channels))
    return net, net.block(net.x, k, r, depthwise=depthwise, groups=groups)


NETWORKS = {"resnet18": resnet18, "unet": unet, "mobile": mobile, "single": single}
