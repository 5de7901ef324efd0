"""Convolutional networks with random weights: as a level-1 module with a GGUF file of parameters beside it,
as ONNX (where the onnx package is there), and as what they must answer, in float64.

One description makes all three. The module is channels-last and says what its author would say: pads, crops
and batch norms as ops of their own. Needs numpy.
"""
import struct

import numpy as np

HEAD = """#id4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#ch4 = affine_map<(d0, d1, d2, d3) -> (d3)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#ch2 = affine_map<(d0, d1) -> (d1)>
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#nk = affine_map<(d0, d1, d2) -> (d1, d2)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
"""
EPS = 1e-5


def tensor(shape):
    return "tensor<" + "x".join(map(str, shape)) + "xf32>"


def parallel(rank):
    return "[" + ", ".join(['"parallel"'] * rank) + "]"


def number(value):
    return struct.pack(">f", value).hex().join(["0x", ""]).upper().replace("X", "x")


class Net:
    """Values are (name, shape) with shape [n, h, w, c] or [n, k]; ONNX names are the same."""

    def __init__(self, shape, seed=1):
        self.rng = np.random.default_rng(seed)
        self.params, self.lines, self.nodes, self.steps, self.count = {}, [], [], [], 0
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

    def step(self, name, shape, function, node):
        """function(values) -> float64 array; node: arguments of onnx.helper.make_node or a list of them."""
        self.steps.append((name, function))
        self.nodes += node if isinstance(node, list) else [node]
        self.shapes[name] = tuple(shape)
        return (name, tuple(shape))

    def filled(self, shape, constant):
        empty, full = self.name(), self.name()
        self.emit(f"%{empty} = tensor.empty() : {tensor(shape)}")
        self.emit(f"%{full} = linalg.fill ins(%{constant} : f32) outs(%{empty} : {tensor(shape)}) -> {tensor(shape)}")
        return full

    def generic(self, maps, ins, shape, args, body, result):
        """ins: (name, shape) pairs; body lines yield %y."""
        empty = self.name()
        self.emit(f"%{empty} = tensor.empty() : {tensor(shape)}")
        names = ", ".join("%" + n for n, _ in ins)
        types = ", ".join(tensor(s) for _, s in ins)
        block = ", ".join(f"%{a}: f32" for a in args + ["o"])
        self.emit(f"%{result} = linalg.generic {{indexing_maps = [{', '.join(maps)}], "
                  f"iterator_types = {parallel(len(shape))}}} ins({names} : {types}) "
                  f"outs(%{empty} : {tensor(shape)}) {{")
        self.emit(f"^bb0({block}):")
        for line in body:
            self.emit("  " + line)
        self.emit("  linalg.yield %y : f32")
        self.emit(f"}} -> {tensor(shape)}")

    # ---- layers

    def window(self, x, r, stride, pad, constant):
        """x padded and cropped to exactly what windows of r by r at this stride read."""
        name, (n, h, w, c) = x
        out = [(size + 2 * pad - r) // stride + 1 for size in (h, w)]
        need = [(o - 1) * stride + r for o in out]
        high = [need[0] - h - pad, need[1] - w - pad]
        if min(high) < 0:
            h, w = h + min(high[0], 0), w + min(high[1], 0)
            cut = self.name()
            self.emit(f"%{cut} = tensor.extract_slice %{name}[0, 0, 0, 0] [{n}, {h}, {w}, {c}] [1, 1, 1, 1] : "
                      f"{tensor(x[1])} to {tensor((n, h, w, c))}")
            name, high = cut, [max(high[0], 0), max(high[1], 0)]
        shape = (n, h + pad + high[0], w + pad + high[1], c)
        if shape != (n, h, w, c):
            padded = self.name()
            self.emit(f"%{padded} = tensor.pad %{name} low[0, {pad}, {pad}, 0] high[0, {high[0]}, {high[1]}, 0] {{")
            self.emit("^bb0(%i0: index, %i1: index, %i2: index, %i3: index):")
            self.emit(f"  tensor.yield %{constant} : f32")
            self.emit(f"}} : {tensor((n, h, w, c))} to {tensor(shape)}")
            name = padded
        return (name, shape), out

    def conv(self, x, k, r, stride=1, pad=None, depthwise=False):
        pad = r // 2 if pad is None else pad
        n, h, w, c = x[1]
        inside, out = self.window(x, r, stride, pad, "zero")
        shape = (n, out[0], out[1], k)
        weight = self.name() + "_w"
        form = (r, r, c) if depthwise else (r, r, c, k)
        self.param(weight, form, scale=(2.0 / (r * r * (1 if depthwise else c))) ** 0.5)
        start, y = self.filled(shape, "zero"), self.name()
        op = "depthwise_conv_2d_nhwc_hwc" if depthwise else "conv_2d_nhwc_hwcf"
        self.emit(f"%{y} = linalg.{op} {{dilations = dense<1> : tensor<2xi64>, "
                  f"strides = dense<{stride}> : tensor<2xi64>}} ins(%{inside[0]}, %{weight} : {tensor(inside[1])}, "
                  f"{tensor(form)}) outs(%{start} : {tensor(shape)}) -> {tensor(shape)}")
        attributes = dict(kernel_shape=[r, r], strides=[stride] * 2, pads=[pad] * 4, group=c if depthwise else 1)
        return self.step(y, shape, lambda v: conv(v[x[0]], v[weight], stride, pad, depthwise),
                         ("Conv", [x[0], weight], [y], attributes))

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

    def block(self, x, k, r=3, stride=1, depthwise=False):
        return self.relu(self.batch_norm(self.conv(x, k, r, stride, depthwise=depthwise)))

    def max_pool(self, x, r, stride, pad=0):
        n, _, _, c = x[1]
        inside, out = self.window(x, r, stride, pad, "ninf")
        shape = (n, out[0], out[1], c)
        start, size, y = self.filled(shape, "ninf"), self.name(), self.name()
        self.emit(f"%{size} = tensor.empty() : {tensor((r, r))}")
        self.emit(f"%{y} = linalg.pooling_nhwc_max {{dilations = dense<1> : tensor<2xi64>, "
                  f"strides = dense<{stride}> : tensor<2xi64>}} ins(%{inside[0]}, %{size} : {tensor(inside[1])}, "
                  f"{tensor((r, r))}) outs(%{start} : {tensor(shape)}) -> {tensor(shape)}")
        return self.step(y, shape, lambda v: pool(v[x[0]], r, stride, pad),
                         ("MaxPool", [x[0]], [y], dict(kernel_shape=[r, r], strides=[stride] * 2, pads=[pad] * 4)))

    def global_average(self, x):
        """[n, h, w, c] -> [n, c]"""
        name, (n, h, w, c) = x
        start, size, total, mean, y = self.filled((n, 1, 1, c), "zero"), *(self.name() for _ in range(4))
        part = f"part{h * w}"
        self.constants[part] = 1.0 / (h * w)
        self.emit(f"%{size} = tensor.empty() : {tensor((h, w))}")
        self.emit(f"%{total} = linalg.pooling_nhwc_sum {{dilations = dense<1> : tensor<2xi64>, "
                  f"strides = dense<1> : tensor<2xi64>}} ins(%{name}, %{size} : {tensor(x[1])}, {tensor((h, w))}) "
                  f"outs(%{start} : {tensor((n, 1, 1, c))}) -> {tensor((n, 1, 1, c))}")
        self.generic(["#id4", "#id4"], [(total, (n, 1, 1, c))], (n, 1, 1, c), ["a"],
                     [f"%y = arith.mulf %a, %{part} : f32"], mean)
        self.emit(f"%{y} = tensor.collapse_shape %{mean} [[0, 1, 2], [3]] : {tensor((n, 1, 1, c))} into "
                  f"{tensor((n, c))}")
        return self.step(y, (n, c), lambda v: v[name].mean(axis=(1, 2)),
                         [("GlobalAveragePool", [name], [mean], {}), ("Flatten", [mean], [y], {})])

    def dense(self, x, k):
        name, (n, c) = x
        weight, bias, total, y = self.name() + "_w", self.name() + "_b", self.name(), self.name()
        self.param(weight, (k, c), c ** -0.5)
        self.param(bias, (k,), 0.1)
        start = self.filled((n, k), "zero")
        self.emit(f"%{total} = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%{name}, %{weight} : "
                  f"{tensor((n, c))}, {tensor((k, c))}) outs(%{start} : {tensor((n, k))}) -> {tensor((n, k))}")
        self.generic(["#id2", "#ch2", "#id2"], [(total, (n, k)), (bias, (k,))], (n, k), ["a", "b"],
                     ["%y = arith.addf %a, %b : f32"], y)
        return self.step(y, (n, k), lambda v: v[name] @ v[weight].T + v[bias],
                         ("Gemm", [name, weight, bias], [y], {"transB": 1}))

    def upsample(self, x):
        """Nearest, twice the size."""
        name, (n, h, w, c) = x
        empty, wide, y = self.name(), self.name(), self.name()
        six, shape = (n, h, 2, w, 2, c), (n, 2 * h, 2 * w, c)
        self.emit(f"%{empty} = tensor.empty() : {tensor(six)}")
        self.emit(f"%{wide} = linalg.broadcast ins(%{name} : {tensor(x[1])}) outs(%{empty} : {tensor(six)}) "
                  "dimensions = [2, 4]")
        self.emit(f"%{y} = tensor.collapse_shape %{wide} [[0], [1, 2], [3, 4], [5]] : {tensor(six)} into "
                  f"{tensor(shape)}")
        self.params[y + "_scales"] = np.array([1, 1, 2, 2], np.float32)
        return self.step(y, shape, lambda v: v[name].repeat(2, axis=1).repeat(2, axis=2),
                         ("Resize", [name, "", y + "_scales"], [y],
                          dict(mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")))

    def concat(self, a, b):
        n, h, w, _ = a[1]
        shape = (n, h, w, a[1][3] + b[1][3])
        empty, first, y = self.name(), self.name(), self.name()
        self.emit(f"%{empty} = tensor.empty() : {tensor(shape)}")
        for part, into, out, at in ((a, empty, first, 0), (b, first, y, a[1][3])):
            sizes = ", ".join(map(str, part[1]))
            self.emit(f"%{out} = tensor.insert_slice %{part[0]} into %{into}[0, 0, 0, {at}] [{sizes}] [1, 1, 1, 1] : "
                      f"{tensor(part[1])} into {tensor(shape)}")
        return self.step(y, shape, lambda v: np.concatenate([v[a[0]], v[b[0]]], axis=3),
                         ("Concat", [a[0], b[0]], [y], {"axis": 1}))

    # ---- what comes out

    def used_params(self):
        return {k: v for k, v in self.params.items() if not k.endswith("_scales")}

    def module(self, y):
        args = [f"%x: {tensor(self.x[1])}"]
        args += [f'%{k}: {tensor(v.shape)} {{ingot.param = "{k}"}}' for k, v in self.used_params().items()]
        constants = [f"  %{k} = arith.constant {number(v)} : f32" for k, v in self.constants.items()]
        return "\n".join([HEAD + f"func.func @main({', '.join(args)}) -> {tensor(y[1])} {{"] + constants +
                         self.lines + [f"  return %{y[0]} : {tensor(y[1])}", "}", ""])

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

def windows(x, r, stride, pad, around):
    n, h, w, c = x.shape
    padded = np.full((n, h + 2 * pad, w + 2 * pad, c), around)
    padded[:, pad:pad + h, pad:pad + w] = x
    oh, ow = (h + 2 * pad - r) // stride + 1, (w + 2 * pad - r) // stride + 1
    for i in range(r):
        for j in range(r):
            yield i, j, padded[:, i:i + (oh - 1) * stride + 1:stride, j:j + (ow - 1) * stride + 1:stride]


def conv(x, w, stride, pad, depthwise):
    return sum(part * w[i, j] if depthwise else part @ w[i, j]
               for i, j, part in windows(x, w.shape[0], stride, pad, 0.0))


def pool(x, r, stride, pad):
    return np.max([part for _, _, part in windows(x, r, stride, pad, -np.inf)], axis=0)


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

def resnet18(batch=1, size=224, width=64, classes=1000):
    """The shape of ResNet-18 at width 64 and size 224."""
    net = Net((batch, size, size, 3))
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


def unet(batch=1, size=64, width=16, classes=8):
    """Three levels down and up."""
    net = Net((batch, size, size, 3))
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


def mobile(batch=1, size=32, width=16, classes=16):
    """Depthwise and pointwise convolutions."""
    net = Net((batch, size, size, 3))
    x = net.block(net.x, width, stride=2)
    for number in range(4):
        x = net.block(x, x[1][3], stride=1 + number % 2, depthwise=True)
        x = net.block(x, width << number // 2, r=1)
    return net, net.dense(net.global_average(x), classes)


def single(batch=1, size=128, channels=64, k=64, r=3, depthwise=False):
    net = Net((batch, size, size, channels))
    return net, net.block(net.x, k, r, depthwise=depthwise)


NETWORKS = {"resnet18": resnet18, "unet": unet, "mobile": mobile, "single": single}
