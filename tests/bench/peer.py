#!/usr/bin/env python3
"""llama.cpp as a peer: loads a model, then answers one JSON command a line with one JSON line.

{"prefill": N, "decode": M, "depth": D} -> {"prefill_ns": ..., "decode_ns": ...}
The context is filled with D tokens first (not timed); prefill reads N tokens in one batch, decode M
tokens one by one behind what is there, the logits of every one fetched.
"""
import argparse
import ctypes
import json
import sys
import time

import llama_cpp


def fail(what):
    print(json.dumps({"error": what}), flush=True)
    sys.exit(1)


class Peer:
    def __init__(self, path, threads, flash, context):
        llama_cpp.llama_backend_init()
        quiet = llama_cpp.llama_log_callback(lambda level, text, data: None)
        self.keep = quiet
        llama_cpp.llama_log_set(quiet, ctypes.c_void_p(0))
        model_params = llama_cpp.llama_model_default_params()
        model_params.n_gpu_layers = 0
        self.model = llama_cpp.llama_load_model_from_file(path.encode(), model_params)
        if not self.model:
            fail(f"cannot load {path}")
        params = llama_cpp.llama_context_default_params()
        params.n_ctx = context
        params.n_batch = context
        params.n_ubatch = 512
        params.n_threads = threads
        params.n_threads_batch = threads
        if hasattr(params, "flash_attn_type"):
            params.flash_attn_type = 1 if flash else 0
        else:
            params.flash_attn = bool(flash)
        self.context = llama_cpp.llama_new_context_with_model(self.model, params)
        if not self.context:
            fail("cannot make a context")
        self.vocab_size = llama_cpp.llama_n_vocab(llama_cpp.llama_model_get_vocab(self.model))

    def feed(self, count, one_by_one):
        step = 1 if one_by_one else count
        tokens = (llama_cpp.llama_token * count)(*((17 + 13 * i) % 1000 + 100 for i in range(count)))
        for at in range(0, count, step):
            part = ctypes.cast(ctypes.addressof(tokens) + 4 * at,
                               ctypes.POINTER(llama_cpp.llama_token))
            if llama_cpp.llama_decode(self.context, llama_cpp.llama_batch_get_one(part, step)):
                fail("llama_decode failed")
            logits = llama_cpp.llama_get_logits(self.context)
            self.last = logits[self.vocab_size - 1]

    def run(self, prefill, decode, depth):
        llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(self.context), True)
        times = {}
        if depth:
            self.feed(depth, False)
        if prefill:
            start = time.perf_counter_ns()
            self.feed(prefill, False)
            times["prefill_ns"] = time.perf_counter_ns() - start
        if decode:
            start = time.perf_counter_ns()
            self.feed(decode, True)
            times["decode_ns"] = time.perf_counter_ns() - start
        return times


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--flash", type=int, default=0)
    parser.add_argument("--context", type=int, default=2048)
    args = parser.parse_args()
    peer = Peer(args.model, args.threads, args.flash, args.context)
    print(json.dumps({"version": llama_cpp.__version__,
                      "system": llama_cpp.llama_print_system_info().decode()}), flush=True)
    for line in sys.stdin:
        print(json.dumps(peer.run(**json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
