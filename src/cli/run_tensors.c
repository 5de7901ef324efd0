// `ingot run` of an artifact that takes tensors: arguments from .npy files, results into them.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/loaded_model.h"
#include "cli/run_tensors.h"
#include "cli/tensor_files.h"
#include "runtime/api.h"

enum { MAX_RESULTS = 256 };

typedef struct Run {
    IngotModel *model;
    const char *entry; // NULL: the only one
    IngotTensor results[MAX_RESULTS];
    uint32_t num_results;
    uint64_t open_ns, run_ns, warm_up_ns; // 0: not warmed up
} Run;

bool run_tensors_is_wanted(const Cli *cli) {
    return args_has(&cli->args, OPT_INPUT) || args_has(&cli->args, OPT_OUTPUTS) ||
           args_has(&cli->args, OPT_ENTRY);
}

// The entry's first version: what its arguments and results are called. -1: there is none.
static int64_t first_version(const Run *run) {
    for (uint32_t e = 0; e < ingot_model_num_entries(run->model); e++)
        if (!run->entry || str_equal(ingot_entry_name(run->model, e), run->entry)) return e;
    return -1;
}

// A file without a name stands for the only argument.
static Status name_inputs(Cli *cli, const Run *run, TensorFiles *files) {
    int64_t version = first_version(run);
    for (size_t i = 0; i < files->num; i++) {
        if (files->tensors[i].name) continue;
        uint32_t num = version < 0 ? 1 : ingot_entry_num_arguments(run->model, (uint32_t)version);
        if (num != 1 || files->num != 1) {
            Status status = usage_error(&cli->sink, DIAG_U0004,
                                        "--input %s: there are %u arguments, and it names none",
                                        files->paths[i], num);
            if (num)
                diag_write(&cli->sink, "--input %s=%s",
                           ingot_entry_argument(run->model, (uint32_t)version, 0).name,
                           files->paths[i]);
            return status;
        }
        files->tensors[i].name =
            version < 0 ? "" : ingot_entry_argument(run->model, (uint32_t)version, 0).name;
    }
    return STATUS_OK;
}

static Status open_artifact(Cli *cli, Run *run) {
    uint64_t begin = clock_ns();
    IngotOptions options = {.cpu_level = args_text(&cli->args, OPT_CPU, NULL)};
    TRY(get_threads(cli, &options.num_threads));
    if (!args_has(&cli->args, OPT_THREADS) && !getenv("INGOT_THREADS")) options.num_threads = 0;
    IngotError *error = NULL;
    IngotStatus opened = ingot_model_open(cli->args.positional[0], &options, &run->model, &error);
    TRY(take_error(cli, opened, error));
    run->open_ns = clock_ns() - begin;
    if (!args_has(&cli->args, OPT_WARM_UP)) return STATUS_OK;
    begin = clock_ns();
    opened = ingot_model_warm_up(run->model, &error);
    TRY(take_error(cli, opened, error));
    run->warm_up_ns = clock_ns() - begin;
    return STATUS_OK;
}

static Status call(Cli *cli, Run *run, const TensorFiles *files) {
    int64_t version = first_version(run);
    run->num_results = version < 0 ? 0
                                   : MIN(ingot_entry_num_results(run->model, (uint32_t)version),
                                         (uint32_t)MAX_RESULTS);
    uint64_t begin = clock_ns();
    IngotError *error = NULL;
    IngotStatus status = ingot_call(run->model, run->entry, files->tensors, files->num,
                                    run->results, run->num_results, &error);
    TRY(take_error(cli, status, error));
    run->run_ns = clock_ns() - begin;
    return STATUS_OK;
}

static void put_json(const Run *run) {
    IngotModelInfo info = ingot_model_info(run->model);
    StrBuf out = {0};
    JsonWriter json = {.out = &out};
    json_begin_object(&json, NULL);
    json_put_string(&json, "schema", "ingot-run-tensors");
    json_put_uint(&json, "schema_version", 1);
    json_begin_array(&json, "results");
    for (uint32_t i = 0; i < run->num_results; i++) {
        const IngotTensor *result = &run->results[i];
        json_begin_object(&json, NULL);
        json_put_string(&json, "name", result->name);
        json_put_string(&json, "type", result->type);
        json_begin_array(&json, "shape");
        for (uint32_t d = 0; d < result->rank; d++) json_put_int(&json, NULL, result->dims[d]);
        json_end_array(&json);
        json_put_uint(&json, "bytes", result->len_bytes);
        json_end_object(&json);
    }
    json_end_array(&json);
    json_put_uint(&json, "run_ns", run->run_ns);
    json_put_uint(&json, "open_ns", run->open_ns);
    if (run->warm_up_ns) json_put_uint(&json, "warm_up_ns", run->warm_up_ns);
    json_put_uint(&json, "peak_rss_bytes", peak_rss_bytes());
    json_put_string(&json, "cpu_level", info.cpu_level);
    json_put_uint(&json, "threads", info.num_threads);
    json_end_object(&json);
    put_document(&out);
}

static void put_text(const Run *run) {
    char memory[32];
    StrBuf types = {0};
    for (uint32_t i = 0; i < run->num_results; i++) {
        strbuf_printf(&types, "%s%s: ", i ? ", " : "", run->results[i].name);
        put_tensor_type(&types, &run->results[i]);
    }
    fprintf(stderr, "%s; %.3f ms; peak memory %s bytes\n", types.data ? types.data : "no result",
            (double)run->run_ns * 1e-6, grouped(peak_rss_bytes(), memory));
    strbuf_deinit(&types);
}

Status run_tensors(Cli *cli) {
    Run *run = base_alloc(1, sizeof *run);
    TensorFiles *files = base_alloc(1, sizeof *files);
    run->entry = args_text(&cli->args, OPT_ENTRY, NULL);
    Status status = tensor_files_read(cli, files);
    if (status == STATUS_OK) status = open_artifact(cli, run);
    if (status == STATUS_OK) status = name_inputs(cli, run, files);
    if (status == STATUS_OK) status = call(cli, run, files);
    if (status == STATUS_OK) status = tensor_files_write(cli, run->results, run->num_results);
    if (status == STATUS_OK && cli->is_json)
        put_json(run);
    else if (status == STATUS_OK && !cli->is_quiet)
        put_text(run);
    tensor_files_deinit(files);
    ingot_model_close(run->model);
    free(files);
    free(run);
    return status;
}
