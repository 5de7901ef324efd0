#!/usr/bin/env python3
"""Maps between convolutions in blocks of channels and channels-last: both are what float64 says (tests/cnn_models.py,
numpy), equal to each other and to the interpreter on the text that propagate-layout leaves, to the bit; which one is
taken follows the predicted cost, and says why."""
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import Skip, expect, expect_exit, main, run, run_well, scratch, with_numpy

np, cnn_models = with_numpy("numpy", "cnn_models")

EPSILON = 2.0 ** -23


def write_net(folder, build, shape, first=False, layout=None):
    if np is None:
        raise Skip("numpy is not installed")
    net = cnn_models.Net(shape, first=first, layout=layout)
    y = build(net, net.x)
    path = os.path.join(folder, f"{'first' if first else 'last'}_{layout}")
    net.write(path, y)
    return net, y, path


def compiled(path, *options):
    run_well("compile", path + ".mlir", "--model", path + ".gguf", "-o", path + ".ingot", *options)
    return json.loads(run_well("explain", path + ".ingot", "--json"))["layouts"]


def answered(path, x):
    np.save(path + ".x.npy", x)
    run_well("run", path + ".ingot", "--input", path + ".x.npy", "--output", path + ".y.npy")
    return np.load(path + ".y.npy")


def interpreted(folder, net, path):
    """The dump of propagate-layout on the same input and parameters."""
    (dump,) = [name for name in os.listdir(folder) if name.endswith("-propagate-layout.mlir")]
    inputs = ["--input", f"x={path}.x.npy"]
    for name, data in net.used_params().items():
        np.save(os.path.join(folder, name + ".npy"), np.ascontiguousarray(data))
        inputs += ["--input", f"{name}={folder}/{name}.npy"]
    with open(os.path.join(folder, dump)) as text:
        found = text.read()
    out = os.path.join(folder, "interpreted.npy")
    run_well("opt", os.path.join(folder, dump), "--run", *inputs, "--result", out)
    return found, np.load(out)


def both_ways(build, shape, first=False, cpu=None):
    """Bound: 4 eps of the largest value for the root of the terms of every layer, as in test_cnn.py."""
    x = None
    with scratch() as folder:
        got = {}
        for layout in ("channels-last", "blocked"):
            net, y, path = write_net(folder, build, shape, first, layout)
            if x is None:
                x = np.random.default_rng(3).standard_normal(net.x[1]).astype(np.float32)
                want = net.answer(y, x)
            given = np.ascontiguousarray(x.transpose(0, 3, 1, 2)) if first else x
            options = ["--dump-ir-after=propagate-layout", f"--dump-dir={folder}"] + (["--cpu", cpu] if cpu else [])
            notes = compiled(path, *options)
            got[layout] = answered(path, given)
            text, again = interpreted(folder, net, path)
            expect((again == got[layout]).all(), f"{layout}: the interpreter gives other bits")
            blocks = sum(note["chosen"]["layout"] == "blocked" for note in notes)
            expect((blocks > 0) == (layout == "blocked"), f"{blocks} maps in blocks where {layout} was asked for")
    last, blocked = got["channels-last"], got["blocked"]
    expect((last == blocked).all(), "the layouts give other bits")
    weights = [net.params[node[1][1]] for node in net.nodes if node[0] in ("Conv", "Gemm")]
    bound = sum(4 * EPSILON * (w.size / w.shape[-1]) ** 0.5 for w in weights) * np.abs(want).max()
    blocked = blocked.transpose(0, 2, 3, 1) if first and blocked.ndim == 4 else blocked
    off = float(np.abs(blocked - want).max())
    expect(off <= bound, f"off by {off:.3g}, bound {bound:.3g}")
    return notes, text


def relayouts(text):
    return len(re.findall(r"ingot\.relayout", text))


# ---- networks

def mixed(net, x):
    """Padding, stride, norm, residual, depthwise, pool, concatenation of whole blocks, both resizes."""
    a = net.block(x, 32)
    b = net.relu(net.add(net.batch_norm(net.conv(a, 32, 1)), a))
    c = net.block(net.block(b, 32, stride=2, depthwise=True), 48, r=1)
    d = net.max_pool(c, 3, 2, 1)
    # A resize of channels-first maps is turned back around it: left out there.
    e = net.concat(d, net.block(d, 32)) if net.first else net.concat(net.resize(net.upsample(d), c[1][1:3]), c)
    return net.dense(net.global_average(net.block(e, 16)), 16)


def check_mixed():
    notes, text = both_ways(mixed, (2, 9, 11, 16))
    expect(relayouts(text) == 1, f"{relayouts(text)} relayouts, where only the input must be turned")
    expect(all(note["chosen"]["layout"] == "blocked" for note in notes), notes)


def check_mixed_channels_first():
    """The transposition at the network's edge writes blocks itself."""
    _, text = both_ways(mixed, (1, 9, 11, 16), first=True)
    expect(relayouts(text) == 0, f"{relayouts(text)} relayouts in a network that is turned anyway")


def check_narrow_vectors():
    """Two vectors of a block, and two rows at once."""
    both_ways(lambda net, x: net.block(net.block(x, 48), 32), (1, 7, 6, 32), cpu="x86-64-v3")


def check_groups():
    """Groups of whole blocks, dilated; the last convolution's result has two tiles of 16."""
    def build(net, x):
        y = net.relu(net.conv(x, 96, 3, groups=3, dilation=2))
        return net.conv(net.conv(y, 32, 3, stride=(2, 1), pad=(0, 1), groups=2), 32, (1, 3))
    both_ways(build, (2, 9, 10, 48))


def check_what_is_no_whole_block():
    """A map of 24 channels, groups of 8 and a concatenation inside of a block stay channels-last and say so; the maps
    beside them can still be in blocks."""
    def build(net, x):
        a = net.concat(net.conv(x, 24, 3), net.conv(x, 40, 1))
        return net.conv(net.block(net.block(a, 32), 32, groups=4), 16, 1)
    notes, _ = both_ways(build, (1, 6, 7, 16))
    why = [other["reason"] for note in notes for other in note["alternatives"] if other["layout"] == "blocked"]
    for words in ("24 channels are no whole blocks of 16", "40 channels are put at channel 24", "8 channels of a group"):
        expect(any(words in reason for reason in why), f"'{words}' is none of {why}")


# ---- the choice

def chain(net, x):
    return net.block(net.block(net.block(x, 64), 64), 64)


def notes_of(size, machine=None):
    with scratch() as folder:
        _, _, path = write_net(folder, chain, (1, size, size, 64))
        options = ["--cpu", "x86-64-v4"]
        if machine:
            with open(os.path.join(folder, "machine.yaml"), "w") as out:
                out.write(machine)
            options += ["--target-file", os.path.join(folder, "machine.yaml")]
        run_well("compile", path + ".mlir", "--model", path + ".gguf", "-o", path + ".ingot", *options)
        shown = run_well("explain", path + ".ingot").decode()
        return json.loads(run_well("explain", path + ".ingot", "--json"))["layouts"], shown


def check_choice():
    """Maps that leave the second cache are put into blocks between the convolutions, the network's own stay as they
    are: a copy costs more. Maps that do not leave it stay too. The chosen one is the cheaper."""
    large, shown = notes_of(96)
    expect([note["chosen"]["layout"] for note in large] == ["channels-last", "blocked", "blocked", "channels-last"],
           large)
    expect("blocked" in shown and "copy at its edges" in shown, shown)
    small, _ = notes_of(16)
    expect(all(note["chosen"]["layout"] == "channels-last" for note in small), small)
    for note in large + small:
        (other,) = note["alternatives"]
        least = 0.01 * note["conv_clocks"] if note["chosen"]["layout"] == "channels-last" else 0
        expect(note["chosen"]["clocks"] <= other["clocks"] + least + 1, f"not the cheaper: {note}")
        expect(note["chosen"]["reason"] and other["reason"], f"no reason: {note}")


def check_choice_follows_the_machine():
    """The same network: on a machine whose second cache holds the maps nothing is in blocks."""
    data = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "data", "targets", "x86-64-v4.yaml")
    with open(data) as text:
        text = text.read()
    wide = text.replace("bytes: [1048576, T]", "bytes: [16777216, T]")
    expect(wide != text, "the target's second cache is not of 1 MB")
    notes, _ = notes_of(96, wide)
    expect(all(note["chosen"]["layout"] == "channels-last" for note in notes), notes)


def check_unknown_layout_refused():
    with scratch() as folder:
        _, _, path = write_net(folder, chain, (1, 4, 4, 64), layout="tiled")
        done = run("compile", path + ".mlir", "--model", path + ".gguf", "-o", path + ".ingot")
        expect_exit(done, 3)
        expect("tiled" in done.stderr.decode() and '"blocked"' in done.stderr.decode(), done.stderr)


def check_dumps():
    """Stock MLIR verifies what every pass leaves of maps in blocks; both passes find nothing to do the second time;
    --verify-each agrees."""
    with scratch() as folder:
        _, _, path = write_net(folder, mixed, (1, 6, 6, 16), layout="blocked")
        run_well("compile", path + ".mlir", "--model", path + ".gguf", "-o", path + ".ingot", "--dump-ir-after=all",
                 f"--dump-dir={folder}", "--verify-each")
        tool = shutil.which("mlir-opt-22")
        for name in sorted(name for name in os.listdir(folder) if re.match(r"\d+-.*\.mlir", name)):
            if tool:
                done = subprocess.run([tool, "--verify-each", os.path.join(folder, name)], capture_output=True)
                expect(done.returncode == 0, f"{name}: {done.stderr.decode()[:300]}")
            again = re.match(r"\d+-(layout-optimize|propagate-layout)\.mlir", name)
            if again:
                once = run_well("opt", os.path.join(folder, name))
                twice = run_well("opt", os.path.join(folder, name), "--pipeline=" + again.group(1))
                strip = lambda text: re.sub(rb'ingot.passes = \[[^\]]*\]', b"", text)
                expect(strip(once) == strip(twice), f"{again.group(1)} is no no-op on what it made")


if __name__ == "__main__":
    main(globals())
