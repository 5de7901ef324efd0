#!/usr/bin/env python3
"""Ingot against llama.cpp in one run: the two take turns, each cell is the median of the ratios.

Cells: prefill of 512 tokens, decode of 64 tokens from an empty context, decode of 64 tokens behind
512. llama.cpp runs with flash attention off and on; a cell counts its better median. Its processes are
stopped (SIGSTOP) while it is not their turn, so that no spinning thread disturbs the other.

Prints a markdown table; --json FILE writes all single measurements too.
"""
import argparse
import json
import os
import platform
import signal
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CELLS = [
    {"name": "prefill 512", "prefill": 512, "decode": 0, "depth": 0},
    {"name": "decode 64", "prefill": 0, "decode": 64, "depth": 0},
    {"name": "decode 64 behind 512", "prefill": 0, "decode": 64, "depth": 512},
]


def say(text):
    print("bench: " + text, file=sys.stderr, flush=True)


class Peer:
    """A llama.cpp process with the model loaded, asleep between its turns."""

    def __init__(self, model, threads, flash):
        self.name = "flash attention " + ("on" if flash else "off")
        self.process = subprocess.Popen(
            [sys.executable, os.path.join(HERE, "peer.py"), model, "--threads", str(threads),
             "--flash", str(int(flash))], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.hello = self.answer()
        self.sleep()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"bench: llama.cpp ({self.name}) ended with {self.process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise SystemExit(f"bench: llama.cpp: {answer['error']}")
        return answer

    def sleep(self):
        self.process.send_signal(signal.SIGSTOP)

    def tokens_per_s(self, cell):
        self.process.send_signal(signal.SIGCONT)
        command = {key: cell[key] for key in ("prefill", "decode", "depth")}
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        times = self.answer()
        self.sleep()
        kind = "prefill" if cell["prefill"] else "decode"
        return cell[kind] * 1e9 / times[kind + "_ns"]

    def close(self):
        self.process.kill()
        self.process.wait()


class Ingot:
    def __init__(self, program, artifact, threads):
        self.program, self.artifact, self.threads = program, artifact, threads

    def tokens_per_s(self, cell):
        done = subprocess.run(
            [self.program, "bench", self.artifact, "--json", "--quiet", "--runs", "1", "--threads",
             str(self.threads), "--prefill", str(cell["prefill"]), "--decode", str(cell["decode"]),
             "--depth", str(cell["depth"])], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"bench: ingot bench failed:\n{done.stderr}")
        document = json.loads(done.stdout)
        self.peak_rss_bytes = document["peak_rss_bytes"]
        self.start_ns = document["start_ns"]
        return document[("prefill" if cell["prefill"] else "decode") + "_tokens_per_s"]


def work_of(program, model):
    """(multiply-adds per prompt token, bytes of weights read per generated token)."""
    done = subprocess.run([program, "inspect", model, "--json"], capture_output=True, text=True,
                          check=True)
    tensors = json.loads(done.stdout)["tensors"]
    names = {t["name"] for t in tensors}
    is_tied = "output.weight" not in names
    per_token, weights_bytes = 0, 0
    for tensor in tensors:
        is_embedding = tensor["name"] == "token_embd.weight"
        is_head = tensor["name"] == "output.weight" or (is_embedding and is_tied)
        if len(tensor["shape"]) == 2 and not is_head and not is_embedding:
            per_token += tensor["shape"][0] * tensor["shape"][1]
        if not is_embedding or is_tied:
            weights_bytes += tensor["bytes"]
    return per_token, weights_bytes


def measure_peak(build_dir, threads, megabytes):
    peak = os.path.join(build_dir, "tests", "bench", "peak")
    if not os.path.exists(peak):
        return None
    done = subprocess.run([peak, str(threads), str(megabytes)], capture_output=True, text=True,
                          check=True)
    return json.loads(done.stdout)


def median_and_range(values, digits):
    middle = statistics.median(values)
    return f"{middle:.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def measure_cells(args, ours, peers):
    results = []
    for cell in CELLS:
        speeds = {"ingot": [], peers[0].name: [], peers[1].name: []}
        for turn in range(args.runs + 1):  # the first is the warm-up
            row = [ours.tokens_per_s(cell)] + [peer.tokens_per_s(cell) for peer in peers]
            if turn:
                for name, speed in zip(speeds, row):
                    speeds[name].append(speed)
        best = max(peers, key=lambda p: statistics.median(speeds[p.name]))
        ratios = [a / b for a, b in zip(speeds["ingot"], speeds[best.name])]
        say(f"{cell['name']}: {statistics.median(ratios):.2f}x")
        results.append({"cell": cell, "speeds": speeds, "best_peer": best.name, "ratios": ratios})
    return results


def bench_model(args, model, recipe):
    with tempfile.TemporaryDirectory(prefix="ingot-bench-") as folder:
        artifact = os.path.join(folder, "model.ingot")
        say(f"compiling {os.path.basename(model)}")
        subprocess.run([args.ingot, "compile", recipe, "--model", model, "-o", artifact, "--quiet"],
                       check=True)
        ours = Ingot(args.ingot, artifact, args.threads)
        peers = []
        try:
            peers = [Peer(model, args.threads, flash) for flash in (False, True)]
            results = measure_cells(args, ours, peers)
        finally:
            for peer in peers:
                peer.close()
    peak = measure_peak(os.path.dirname(os.path.abspath(args.ingot)), args.threads,
                        max(1, os.path.getsize(model) >> 20))
    return {"model": os.path.basename(model), "results": results, "peer": peers[0].hello,
            "peak": peak, "work": work_of(args.ingot, model),
            "peak_rss_bytes": ours.peak_rss_bytes, "start_ns": ours.start_ns}


def share(report, result):
    """What part of the machine's measured peak our median is."""
    peak = report["peak"]
    if not peak:
        return "-"
    speed = statistics.median(result["speeds"]["ingot"])
    multiply_adds, weights_bytes = report["work"]
    if result["cell"]["prefill"]:
        return f"{100 * speed * multiply_adds * 2 / peak['int8_ops_per_s']:.0f} % of int8 peak"
    return f"{100 * speed * weights_bytes / peak['read_bytes_per_s']:.0f} % of read bandwidth"


def put_table(report, args):
    print(f"\n### {report['model']}, {args.threads} threads, {args.runs} turns\n")
    print("| cell | Ingot tokens/s | llama.cpp tokens/s, flash attention off | on "
          "| ratio to the better one | of the machine |")
    print("|---|---:|---:|---:|---:|---:|")
    for result in report["results"]:
        speeds = list(result["speeds"].values())
        print(f"| {result['cell']['name']} | " +
              " | ".join(f"{statistics.median(s):.0f}" if statistics.median(s) >= 100 else
                         f"{statistics.median(s):.1f}" for s in speeds) +
              f" | {median_and_range(result['ratios'], 2)} | {share(report, result)} |")
    print(f"\nIngot: start {report['start_ns'] / 1e6:.0f} ms, peak memory "
          f"{report['peak_rss_bytes'] / 1e6:.0f} MB.")
    if report["peak"]:
        print(f"Machine, measured with {args.threads} threads: "
              f"{report['peak']['int8_ops_per_s'] / 1e9:.0f} int8 GOPS, "
              f"{report['peak']['read_bytes_per_s'] / 1e9:.1f} GB/s reading "
              f"{report['peak']['megabytes']} MB.")


def cpu_name():
    with open("/proc/cpuinfo", encoding="utf-8") as source:
        for line in source:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--default-model", help=argparse.SUPPRESS)
    parser.add_argument("--model", action="append", help="GGUF file, may be given several times")
    parser.add_argument("--recipe", required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--json", help="file for all single measurements")
    args = parser.parse_args()

    reports = [bench_model(args, model, args.recipe)
               for model in args.model or [args.default_model]]
    peer = reports[0]["peer"]
    print(f"{cpu_name()}, {os.cpu_count()} processors, load average "
          f"{os.getloadavg()[0]:.2f}, Linux {platform.release()}.")
    print(f"llama.cpp as built by llama-cpp-python {peer['version']}: {peer['system'].strip(' |')}")
    print("Each ratio is one turn of both, one after the other; median (range) of all turns.")
    for report in reports:
        put_table(report, args)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as out:
            json.dump(reports, out, indent=1)


if __name__ == "__main__":
    main()
