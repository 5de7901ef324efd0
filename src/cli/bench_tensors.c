// Measures entries that take tensors; see bench_tensors.h.
#include "cli/bench_tensors.h"

#include <stdlib.h>
#include <string.h>

#include "abi/dtype.h"
#include "base/float16.h"
#include "cli/bench_predicted.h"
#include "cli/tensor_files.h"

enum { RUN_NS = 50000000 }; // a run is as many calls as this takes, at least one

// An index of 0 is in range everywhere.
static void fill_argument(const IngotTensor *argument) {
    memset(argument->data, 0, argument->len_bytes);
    Dtype dtype;
    if (!dtype_find(argument->type, &dtype)) return;
    uint64_t state = 1;
    size_t elem_bytes = dtype_info(dtype)->bytes;
    uint8_t *at = argument->data, *end = at + argument->len_bytes;
    for (; at < end; at += elem_bytes) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        float single = (float)(state >> 40) * 0x1p-24f - 0.5f;
        double wide = (double)single;
        uint16_t half = f16_from_f32(single), brain = bf16_from_f32(single);
        if (dtype == DTYPE_F64) memcpy(at, &wide, elem_bytes);
        if (dtype == DTYPE_F32) memcpy(at, &single, elem_bytes);
        if (dtype == DTYPE_F16) memcpy(at, &half, elem_bytes);
        if (dtype == DTYPE_BF16) memcpy(at, &brain, elem_bytes);
    }
}

TensorCall tensor_call_prepare(const Model *model, uint32_t entry) {
    uint32_t num = ingot_entry_num_arguments(model->handle, entry);
    TensorCall call = {.entry = ingot_entry_name(model->handle, entry), .num = num};
    call.arguments = base_alloc(MAX(num, 1u), sizeof *call.arguments);
    for (uint32_t i = 0; i < num; i++) {
        call.arguments[i] = ingot_entry_argument(model->handle, entry, i);
        fill_argument(&call.arguments[i]);
    }
    return call;
}

Status tensor_call_run(Cli *cli, Model *model, const TensorCall *call) {
    IngotError *error = NULL;
    IngotStatus status =
        ingot_call(model->handle, call->entry, call->arguments, call->num, NULL, 0, &error);
    return take_error(cli, status, error);
}

void tensor_call_deinit(TensorCall *call) {
    free(call->arguments);
    *call = (TensorCall){0};
}

// ---- the verb's part

typedef struct EntryTimes {
    double median_ns, min_ns, max_ns; // of one call, over the runs
} EntryTimes;

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static Status measure_run(Cli *cli, Model *model, const TensorCall *call, double *out_ns) {
    uint64_t begin = clock_ns(), calls = 0;
    do {
        TRY(tensor_call_run(cli, model, call));
        calls++;
    } while (clock_ns() - begin < RUN_NS);
    *out_ns = (double)(clock_ns() - begin) / (double)calls;
    return STATUS_OK;
}

static Status measure_entry(Cli *cli, Model *model, uint32_t entry, uint64_t num_runs,
                            EntryTimes *out) {
    TensorCall call = tensor_call_prepare(model, entry);
    double *ns = base_alloc(num_runs + 1, sizeof *ns);
    Status status = STATUS_OK;
    for (uint64_t i = 0; i <= num_runs && status == STATUS_OK;
         i++) // the last place is the warm-up's
        status = measure_run(cli, model, &call, &ns[i ? i - 1 : num_runs]);
    if (status == STATUS_OK) {
        array_sort(ns, num_runs, sizeof *ns, by_value);
        double middle = ns[num_runs / 2];
        *out = (EntryTimes){num_runs % 2 ? middle : (ns[num_runs / 2 - 1] + middle) / 2, ns[0],
                            ns[num_runs - 1]};
    }
    free(ns);
    tensor_call_deinit(&call);
    return status;
}

static void put_arguments(const Model *model, uint32_t entry, StrBuf *out) {
    for (uint32_t i = 0; i < ingot_entry_num_arguments(model->handle, entry); i++) {
        IngotTensor argument = ingot_entry_argument(model->handle, entry, i);
        strbuf_puts(out, i ? ", " : "");
        put_tensor_type(out, &argument);
    }
}

static void put_text(const Model *model, const EntryTimes *times, uint64_t num_runs, StrBuf *out) {
    strbuf_printf(out, "%s, %u threads, %zu runs after a warm-up\n\n", model->path,
                  model->info.num_threads, (size_t)num_runs);
    strbuf_puts(out, "| entry | arguments | ms a call, median | range |\n|---|---|---:|---:|\n");
    for (uint32_t e = 0; e < ingot_model_num_entries(model->handle); e++) {
        strbuf_printf(out, "| %s | ", ingot_entry_name(model->handle, e));
        put_arguments(model, e, out);
        strbuf_printf(out, " | %.4g | %.4g to %.4g |\n", times[e].median_ns * 1e-6,
                      times[e].min_ns * 1e-6, times[e].max_ns * 1e-6);
    }
}

static void put_json(const Model *model, const EntryTimes *times, uint64_t num_runs,
                     JsonWriter *json) {
    json_begin_document(json, "ingot-bench");
    json_put_uint(json, "threads", model->info.num_threads);
    json_put_uint(json, "runs", num_runs);
    json_put_uint(json, "start_ns", model->open_ns);
    json_begin_array(json, "entries");
    for (uint32_t e = 0; e < ingot_model_num_entries(model->handle); e++) {
        json_begin_object(json, NULL);
        json_put_string(json, "entry", ingot_entry_name(model->handle, e));
        StrBuf arguments = {0};
        put_arguments(model, e, &arguments);
        json_put_string(json, "arguments", arguments.data ? arguments.data : "");
        strbuf_deinit(&arguments);
        json_put_real(json, "call_ns", times[e].median_ns);
        json_put_real(json, "call_ns_min", times[e].min_ns);
        json_put_real(json, "call_ns_max", times[e].max_ns);
        json_end_object(json);
    }
    json_end_array(json);
}

Status bench_tensors(Cli *cli, Model *model, uint64_t num_runs) {
    uint32_t num = ingot_model_num_entries(model->handle);
    EntryTimes *times = base_alloc(MAX(num, 1u), sizeof *times);
    PredictedRows predicted = {0};
    Status status = STATUS_OK;
    progress_begin("bench");
    for (uint32_t e = 0; e < num && status == STATUS_OK; e++) {
        status = measure_entry(cli, model, e, num_runs, &times[e]);
        progress_update(e + 1, num, "entries");
    }
    progress_end();
    if (status == STATUS_OK) status = bench_predicted(cli, model, 0, &predicted);
    StrBuf out = {0};
    JsonWriter json = {.out = &out};
    if (status == STATUS_OK && cli->is_json) {
        put_json(model, times, num_runs, &json);
        bench_predicted_put_json(&predicted, &json);
        json_end_object(&json);
    } else if (status == STATUS_OK) {
        put_text(model, times, num_runs, &out);
        bench_predicted_put_text(&predicted, &out);
    }
    if (status == STATUS_OK) put_document(&out);
    bench_predicted_deinit(&predicted);
    free(times);
    return status;
}
