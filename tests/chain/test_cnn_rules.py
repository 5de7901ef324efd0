#!/usr/bin/env python3
"""The fusion rule conv_relu_bn: what it forbids stays apart, what it requires is joined or refused with what is in
the way. Batch norm goes into a convolution's weights only where that is proven: statistics along another axis, a
broadcast scale, a norm whose numbers are no parameters and statistics of another length are told apart, and where
they are allowed the answer is right. The reference is float64 (tests/cnn_models.py, numpy)."""
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
sys.path.insert(0, HERE)
from support import Skip, expect, expect_exit, main, run, run_well, scratch, with_numpy
from test_subgraph import calls_and_reasons

np, cnn_models = with_numpy("numpy", "cnn_models")

EPSILON = 2.0 ** -23
SIZE = 16  # of a map, and its channels: an axis that is mistaken for another has the right length


def network(**options):
    if np is None:
        raise Skip("numpy is not installed")
    return cnn_models.single(size=SIZE, channels=SIZE, k=SIZE, **options)


def write(folder, net, y, mode, edit=lambda text: text, params=None):
    """A recipe with the module; returns its path without ending."""
    path = os.path.join(folder, "net")
    net.write(path, y)
    with open(path + ".mlir", "w") as out:
        out.write(edit(net.module(y)))
    if params:
        cnn_models.write_gguf(path + ".gguf", {**net.used_params(), **params})
    rule = f"fusion_rules: [{{pattern: conv_relu_bn, mode: {mode}}}]\n"
    with open(path + ".yaml", "w") as out:
        out.write("version: 1\nmodel_name: net\nmodel: net.gguf\nsubgraph: {file: net.mlir}\n" + rule)
    return path


def answer(path, net):
    """Compiles and runs; the input, the result and what inspect says."""
    x = np.random.default_rng(3).standard_normal(net.x[1]).astype(np.float32)
    run_well("compile", path + ".yaml", "-o", path + ".ingot")
    np.save(path + ".x.npy", x)
    run_well("run", path + ".ingot", "--input", path + ".x.npy", "--output", path + ".y.npy")
    return x, np.load(path + ".y.npy"), json.loads(run_well("inspect", path + ".ingot", "--json"))


def near(got, want):
    """Sums of 9 x 16 products and the roundings of a norm, of at most 4 times the largest result."""
    bound = 2 * EPSILON * (9 * SIZE + 5) * 4 * np.abs(want).max()
    off = float(np.abs(got - want).max())
    expect(off <= bound, f"off by {off:.3g}, bound {bound:.3g}")


def refused(path, *words):
    done = run("compile", path + ".yaml", "-o", path + ".ingot")
    expect_exit(done, 1)
    for word in (b"P0061", b"conv_relu_bn", *words):
        expect(word in done.stderr, f"{word} is not in: {done.stderr.decode()[:600]}")


def check_forbidden_stays_apart():
    """Three buffers instead of one, and the same answer but for the place of the product."""
    net, y = network()
    seen = {}
    for mode in ("allow", "require", "forbid"):
        with scratch() as folder:
            path = write(folder, net, y, mode)
            x, got, artifact = answer(path, net)
            near(got, net.answer(y, x))
            (arena,) = [p["bytes"] for p in artifact["memory"]["parts"] if p["name"] == "arena"]
            seen[mode] = (len(artifact["kernels"]), arena)
    expect(seen["allow"][0] == seen["require"][0] == 1, f"kernels and arena: {seen}")
    image = SIZE * SIZE * SIZE * 4
    expect(seen["forbid"][0] > 1 and seen["forbid"][1] >= image, f"kernels and arena: {seen}")


def check_odd_channels():
    """Channels that fill no tile, depthwise and in groups too: required, the convolution is joined with what follows
    it, or it is refused with what is in the way; forbidden, it is apart; and no buffer is without a reason."""
    if np is None:
        raise Skip("numpy is not installed")
    seen = {}
    for name, channels, k, options in (("5", 16, 5, {}), ("19", 8, 19, {}), ("1x1", 16, 5, {"r": 1}),
                                       ("depthwise", 12, 12, {"depthwise": True}), ("12", 12, 12, {}),
                                       ("groups", 12, 8, {"groups": 4}), ("16", 16, 16, {})):
        for mode in ("forbid", "allow", "require"):
            net = cnn_models.Net((1, 7, 7, channels))
            y = net.relu(net.batch_norm(net.conv(net.x, k, options.get("r", 3), **{
                key: value for key, value in options.items() if key != "r"})))
            with scratch() as folder:
                path = write(folder, net, y, mode)
                done = run("compile", path + ".yaml", "-o", path + ".ingot")
                if mode == "require" and done.returncode:
                    # The convolution and the norm's shift, each by its line; and which channels fill no tile.
                    tiles = () if "groups" in options else (b"%d of " % k, b"channels; %d fill no tiles" % k)
                    refused(path, b"stay apart", b"evidence: ", *tiles)
                    lines = re.findall(rb"\(net\.mlir:(\d+)\)", done.stderr)
                    expect(len(set(lines)) == 2, done.stderr.decode()[:600])
                    seen[name, mode] = None
                    continue
                x, got, artifact = answer(path, net)
                near(got, net.answer(y, x))
                record = json.loads(run_well("explain", path + ".ingot", "--json"))
                inner = [b for b in record["buffers"] if not b["in_kernel"] and b["consumer"]]
                expect(all(b["reason"] != "result" for b in inner), f"{name}, {mode}: {inner}")
                (rule,) = [r for r in record["rules"] if r["pattern"] == "conv_relu_bn"]
                if mode != "allow":
                    few, many = ("num_applied", "num_apart") if mode == "forbid" else ("num_apart", "num_applied")
                    expect(rule[few] == 0 < rule[many], f"{name}, {mode}: {rule}")
                seen[name, mode] = len(artifact["kernels"])
    for name, mode in seen:
        if mode == "require":
            joined = seen[name, mode]
            expect(joined is None or joined < seen[name, "forbid"], f"{name}: {seen}")
    return ", ".join(f"{name}: {'joined' if joined else 'refused'}" for (name, mode), joined in seen.items()
                     if mode == "require")


def check_explained():
    net, y = network()
    for mode, outcome in (("forbid", "not applied"), ("require", "applied")):
        with scratch() as folder:
            path = write(folder, net, y, mode)
            report = json.loads(run_well("explain", path + ".yaml", "--json"))
            (rule,) = [r for r in report["rules"] if r["pattern"] == "conv_relu_bn"]
            expect(rule["mode"] == mode and rule["outcome"] == outcome, f"{rule['mode']}: {rule['outcome']}")
            if mode == "forbid":
                (edge,) = [e for e in report["edges"] if e["pattern"] == "conv_relu_bn"]
                expect("user" in [r["reason"] for r in edge["reasons"]], f"no reason: {edge['reasons']}")
                expect(edge["recipe"] == "recipe:5", f"no line of the recipe: {edge['recipe']}")


def check_statistics_along_another_axis():
    net, y = network()

    def edit(text):
        return text.replace("#ch4 = affine_map<(d0, d1, d2, d3) -> (d3)>", "#ch4 = affine_map<(d0, d1, d2, d3) -> (d2)>")

    with scratch() as folder:
        refused(write(folder, net, y, "require", edit), b"dimension 2", b"channels")
        x, got, _ = answer(write(folder, net, y, "allow", edit), net)
    p = {k[-1]: v.astype(np.float64)[:, None] for k, v in net.params.items()}  # by letter; along w
    (w,) = [v.astype(np.float64) for k, v in net.params.items() if k.endswith("_w")]
    c = cnn_models.conv(x.astype(np.float64), w, [1, 1], [1, 1], 1, [1, 1])
    near(got, np.maximum((c - p["m"]) / np.sqrt(p["v"] + cnn_models.EPS) * p["g"] + p["b"], 0))


def check_broadcast_scale():
    net, y = network()
    (gamma,) = [k for k in net.params if k.endswith("_g")]
    scale = np.array([1.25], np.float32)

    def edit(text):
        text = text.replace(f'%{gamma}: tensor<{SIZE}xf32>', f'%{gamma}: tensor<1xf32>')
        text = text.replace("[#id4, #ch4,", "[#id4, affine_map<(d0, d1, d2, d3) -> (0)>,")
        head, tail = text.split(f"%{gamma},", 1)
        return head + f"%{gamma}," + tail.replace(f"tensor<{SIZE}xf32>", "tensor<1xf32>", 1)

    with scratch() as folder:
        refused(write(folder, net, y, "require", edit, {gamma: scale}), b"tensor<1xf32>", b"each channel")
        x, got, _ = answer(write(folder, net, y, "allow", edit, {gamma: scale}), net)
    net.params[gamma] = np.full(SIZE, 1.25, np.float32)
    near(got, net.answer(y, x))


def check_statistics_of_another_length():
    """64 channels, and a norm made for 128: no index fits both."""
    net, y = network()
    (mean,) = [k for k in net.params if k.endswith("_m")]

    def edit(text):
        text = text.replace(f'%{mean}: tensor<{SIZE}xf32>', f'%{mean}: tensor<{2 * SIZE}xf32>')
        head, tail = text.split(f"%{mean},", 1)
        types = tail.split("tensor<16xf32>")
        return head + f"%{mean}," + "tensor<16xf32>".join(types[:3]) + f"tensor<{2 * SIZE}xf32>" + \
            "tensor<16xf32>".join(types[3:])

    with scratch() as folder:
        path = write(folder, net, y, "require", edit)
        done = run("compile", path + ".yaml", "-o", path + ".ingot")
        expect(done.returncode not in (0, 70), f"exit {done.returncode}")
        for word in (str(SIZE).encode(), str(2 * SIZE).encode()):
            expect(word in done.stderr, f"{word} is not in: {done.stderr.decode()[:600]}")


def check_norm_of_what_is_no_parameter():
    net, y = network()
    (mean,) = [k for k in net.params if k.endswith("_m")]

    def edit(text):
        return text.replace(f'%{mean}: tensor<{SIZE}xf32> {{ingot.param = "{mean}"}}', f"%{mean}: tensor<{SIZE}xf32>")

    with scratch() as folder:
        refused(write(folder, net, y, "require", edit), b"no parameter", b"when the network runs")


def check_convolution_with_another_reader():
    net, _ = network()
    c = net.conv(net.x, SIZE, 3)
    y = net.add(net.batch_norm(c), c)
    with scratch() as folder:
        refused(write(folder, net, y, "require"), b"other readers")


def check_scale_that_is_no_norm():
    """Elementwise ops behind a convolution: what is in the way is the operand, not the sum, which also fuses."""
    for where, length, outcome in (("d3", SIZE, None), ("d2", SIZE, b"through"), ("0", 1, b"through")):
        net, _ = network()
        c = net.conv(net.x, SIZE, 3)
        net.param("scale", (length,))
        maps = ["#id4", f"affine_map<(d0, d1, d2, d3) -> ({where})>", "#id4"]
        net.generic(maps, [c, ("scale", (length,))], c[1], ["a", "b"], ["%y = arith.mulf %a, %b : f32"], "scaled")
        with scratch() as folder:
            path = write(folder, net, ("scaled", c[1]), "require")
            if outcome:
                refused(path, b"map: operand 1", outcome, b"channels")
            else:
                run_well("compile", path + ".yaml", "-o", path + ".ingot")


def check_convolution_that_is_a_result():
    net, _ = network()
    c = net.conv(net.x, SIZE, 3)
    y = net.relu(c)

    def edit(text):
        kind = cnn_models.tensor(c[1])
        return text.replace(f"-> {kind} {{", f"-> ({kind}, {kind}) {{", 1).replace(
            f"return %{y[0]} : {kind}", f"return %{y[0]}, %{c[0]} : {kind}, {kind}")

    with scratch() as folder:
        refused(write(folder, net, y, "require", edit), b"multi-use", b"returns it")


def placed_norm(where):
    """A batch norm that is not the next op of its convolution: behind a relu, or in front of the padding of the next."""
    net = cnn_models.Net((1, SIZE, SIZE, SIZE))
    c = net.conv(net.x, SIZE, 3)
    if where == "behind a relu":
        return net, net.batch_norm(net.relu(c))
    return net, net.conv(net.relu(net.batch_norm(c)), SIZE, 3, 1, 1)


def check_norm_elsewhere():
    """Not folded through what is between: the answer is that of the network as it stands."""
    if np is None:
        raise Skip("numpy is not installed")
    for where in ("behind a relu", "in front of padding"):
        net, y = placed_norm(where)
        with scratch() as folder:
            path = write(folder, net, y, "allow")
            x, got, artifact = answer(path, net)
            near(got, net.answer(y, x))
            report = json.loads(run_well("explain", path + ".yaml", "--json"))
            (rule,) = [r for r in report["rules"] if r["pattern"] == "conv_relu_bn"]
            notes = [p for p in rule["places"] if "the norm" in p["what"] and p["applied"]]
            expect(bool(notes) == (where != "behind a relu"), f"{where}: {rule['places']}")
            expect(artifact["kernels"], "no kernels")


def check_every_edge_of_a_network():
    """Depthwise, pointwise and strided convolutions, pooling and a product: each value between two kernels has a record
    with its reasons; the record is the same for the same network compiled again."""
    if np is None:
        raise Skip("numpy is not installed")
    net, y = cnn_models.mobile(size=16)
    records = []
    for _ in range(2):
        with scratch() as folder:
            path, dumps = write(folder, net, y, "forbid"), os.path.join(folder, "ir")
            records.append(json.loads(run_well("explain", path + ".yaml", "--json")))
            if len(records) == 1:
                run_well("compile", path + ".yaml", "--dry-run", "--dump-ir-after=hold-fusion", f"--dump-dir={dumps}")
                with open(os.path.join(dumps, os.listdir(dumps)[0]), encoding="utf-8") as file:
                    wanted = calls_and_reasons(file.read())
    expect(records[0] == records[1], "two builds give two records")
    apart = [e for e in records[0]["edges"] if not e["applied"]]
    known = {tuple(e[end]["op"].split(":")[0].lstrip("@") for end in ("producer", "consumer")) for e in apart}
    expect(known == wanted, f"edges {known - wanted}, calls {wanted - known}")
    for edge in apart:
        expect(edge["reasons"] and edge["reason"] == edge["reasons"][0]["reason"], edge)
        expect(all(r["detail"] and r["meaning"] and r["write"] for r in edge["reasons"]), edge)
        expect(edge["bytes"] and edge["predicted_ns"], edge)
        if edge["pattern"] == "conv_relu_bn": # what the recipe says is why, whatever else there is
            expect(edge["reason"] == "user" and edge["recipe"] == "recipe:5", edge)
    return f"{len(records[0]['edges'])} edges, {len(apart)} apart"


if __name__ == "__main__":
    main(globals())
