// `ingot bench --plot`: time against length, of prompts and of single tokens behind a context.
#ifndef INGOT_CLI_BENCH_PLOT_H
#define INGOT_CLI_BENCH_PLOT_H

#include "cli/loaded_model.h"

// Measures around every border between buckets and between KV pages and at lengths between, best of
// num_runs, writes the picture and prints the steps at the borders: what is behind one may take as
// long as what fills the same buckets, or page, to their end, and no longer.
Status bench_plot(Cli *cli, Model *model, const char *path, uint64_t num_runs) MUST_USE;

#endif
