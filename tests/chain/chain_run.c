// See chain_run.h.
#include "chain_run.h"

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ir/interp.h"
#include "ir/print.h"

// ---------------------------------------------------------------- parameters

static void append_param(ChainRun *run, const char *name, const IrAttr *plane, StrBuf *out) {
    ImportParam param = {0};
    tiny_chain_expect_ok(
        run->chain, import_param_data(run->m, run->chain->gguf, name, &run->chain->sink, &param));
    const QuantInfo *info = quant_info(param.format);
    if (!plane) strbuf_append(out, param.data, param.len_bytes);
    for (uint32_t p = 0; plane && p < info->num_planes; p++) {
        if (!str_equal(info->planes[p].suffix, plane->str)) continue;
        uint64_t elems = 1, blocks = param.len_bytes / info->block_bytes;
        for (uint32_t d = 0; d < info->planes[p].rank; d++) elems *= info->planes[p].dims[d];
        uint64_t bytes = blocks * elems * info->planes[p].elem_bytes;
        char *data = base_alloc(bytes, 1);
        quant_split_plane(param.format, p, param.data, blocks, (uint8_t *)data);
        strbuf_append(out, data, bytes);
        free(data);
    }
    import_param_deinit(&param);
}

// name: a string or an array of them, stacked by rows.
static void *load_param(ChainRun *run, const IrAttr *name, const IrAttr *plane,
                        const IrType *type) {
    StrBuf bytes = {0};
    if (name->kind == IR_ATTR_STRING) append_param(run, name->str, plane, &bytes);
    for (size_t i = 0; name->kind == IR_ATTR_ARRAY && i < name->num_elems; i++)
        append_param(run, name->elems[i]->str, plane, &bytes);
    assert_int_equal(bytes.len, ir_type_num_elems(type) * ir_type_bytes(type->elem));
    return bytes.data;
}

static IrInterpValue shaped(const IrType *type, void *data) {
    uint64_t len = (uint64_t)ir_type_num_elems(type) * ir_type_bytes(type->elem);
    return (IrInterpValue){.type = type, .data = data, .len_bytes = len};
}

// What an init function makes of weights.
static void *run_init(ChainRun *run, const IrAttr *init, const IrAttr *init_args) {
    const IrOp *func = ir_symbol_find(run->m, init->str);
    assert_non_null(func);
    const IrType *type = ir_func_type(func);
    IrInterpValue args[16] = {0}, result = {0};
    uint32_t n = (uint32_t)init_args->num_elems;
    bool is_level_1 = type->num_results == 1;
    assert_true(n < 12 && type->num_inputs == n + (is_level_1 ? 0 : 3));
    for (uint32_t i = 0; i < n; i++) {
        const IrAttr *arg = init_args->elems[i];
        args[i] =
            shaped(type->inputs[i], load_param(run, ir_attr_dict_find(arg, "param"),
                                               ir_attr_dict_find(arg, "plane"), type->inputs[i]));
    }
    if (!is_level_1) {
        args[n] = shaped(type->inputs[n], NULL);
        args[n].data = base_alloc(args[n].len_bytes, 1);
        args[n + 1] = args[n + 2] = (IrInterpValue){.type = type->inputs[n + 1]};
        args[n + 2].bits = 1;
    }
    tiny_chain_expect_ok(run->chain,
                         ir_interp_call(run->m, init->str, type->num_inputs, args,
                                        is_level_1 ? 1 : 0, &result, NULL, &run->chain->sink));
    for (uint32_t i = 0; i < n; i++) free(args[i].data);
    return is_level_1 ? result.data : args[n].data;
}

// ---------------------------------------------------------------- the interpreter

void chain_run_open(ChainRun *run, TinyChain *chain, IrModule *m) {
    *run = (ChainRun){.chain = chain, .m = m};
}

void chain_run_close(ChainRun *run) {
    for (uint32_t i = 0; i < CHAIN_MAX_CACHES; i++) free(run->caches[i]);
    *run = (ChainRun){0};
}

static IrOp *find_entry(IrModule *m, uint32_t bucket) {
    FOR_EACH_OP(op, ir_module_body(m)) {
        const IrAttr *attr = op->kind == IR_FUNC_FUNC ? ir_op_attr(op, "ingot.bucket") : NULL;
        if (attr && !ir_op_attr(op, "sym_visibility") && attr->i == (int64_t)bucket) return op;
    }
    fail_msg("no entry for %u tokens", bucket);
    return NULL;
}

typedef struct Call {
    IrInterpValue args[CHAIN_MAX_ARGS];
    bool is_owned[CHAIN_MAX_ARGS];
    uint32_t num_args, num_caches, num_indices, num_words;
    int32_t tokens[256];
    int32_t pages[64];
    float *logits; // the result buffer of a level-2 entry
} Call;

static void bind(ChainRun *run, Call *call, const IrOp *entry, uint32_t i, uint32_t n) {
    const IrType *type = ir_func_type(entry)->inputs[i];
    const IrAttr *param = ir_func_arg_attr(entry, i, "ingot.param"),
                 *init = ir_func_arg_attr(entry, i, "ingot.init");
    IrInterpValue *arg = &call->args[i];
    if (type->kind == IR_TYPE_INDEX) {
        *arg =
            (IrInterpValue){.type = type, .bits = call->num_indices++ == 0 ? run->num_tokens : n};
        return;
    }
    *arg = shaped(type, NULL);
    call->is_owned[i] = true;
    if (param)
        arg->data = load_param(run, param, ir_func_arg_attr(entry, i, "ingot.plane"), type);
    else if (init)
        arg->data = run_init(run, init, ir_func_arg_attr(entry, i, "ingot.init_args"));
    else if (ir_func_arg_attr(entry, i, "ingot.kv")) {
        uint32_t cache = call->num_caches++;
        assert_true(cache < CHAIN_MAX_CACHES);
        if (!run->caches[cache]) run->caches[cache] = base_alloc(arg->len_bytes, 1);
        run->cache_bytes[cache] = arg->len_bytes;
        arg->data = run->caches[cache];
        call->is_owned[i] = false;
    } else if (type->elem->kind == IR_TYPE_INT && type->elem->width == 32) {
        arg->data = call->num_words++ == 0 ? call->tokens : call->pages;
        call->is_owned[i] = false;
    } else { // the arena or the logits
        arg->data = base_alloc(arg->len_bytes, 1);
        if (ir_func_arg_attr(entry, i, "ingot.result")) call->logits = arg->data;
    }
}

void chain_run_feed(ChainRun *run, uint32_t bucket, const int32_t *ids, uint32_t n, float *logits) {
    const IrOp *entry = find_entry(run->m, bucket);
    Call *call = base_alloc(1, sizeof *call);
    call->num_args = ir_func_type(entry)->num_inputs;
    assert_true(call->num_args <= CHAIN_MAX_ARGS && n <= bucket);
    memcpy(call->tokens, ids, n * sizeof *ids);
    int32_t num_pages = (int32_t)(run->chain->context / TINY_PAGE_LEN);
    for (int32_t i = 0; i < num_pages; i++)
        call->pages[i] = (uint32_t)i < run->num_lost_pages ? INT32_MAX : num_pages - 1 - i;
    for (uint32_t i = 0; i < call->num_args; i++) bind(run, call, entry, i, n);
    IrInterpValue results[1 + CHAIN_MAX_CACHES] = {0};
    uint32_t num_results = ir_func_type(entry)->num_results;
    IrInterpOptions options = {.max_bytes = 1u << 30};
    tiny_chain_expect_ok(run->chain,
                         ir_interp_call(run->m, ir_symbol_name(entry), call->num_args, call->args,
                                        num_results, results, &options, &run->chain->sink));
    uint64_t len = run->chain->model.vocab * sizeof *logits;
    if (num_results > 0) {
        assert_int_equal(results[0].len_bytes, len);
        memcpy(logits, results[0].data, len);
        for (uint32_t i = 1; i < num_results; i++)
            memcpy(run->caches[i - 1], results[i].data, run->cache_bytes[i - 1]);
    } else
        memcpy(logits, call->logits, len);
    for (uint32_t i = 0; i < num_results; i++) ir_interp_result_deinit(&results[i]);
    for (uint32_t i = 0; i < call->num_args; i++)
        if (call->is_owned[i]) free(call->args[i].data);
    free(call);
    run->num_tokens += n;
}

// ---------------------------------------------------------------- files

static void write_file(const char *path, const char *bytes, size_t len) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

char *chain_read_file(const char *path, size_t *out_len) {
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("%s is missing", path);
    fseek(file, 0, SEEK_END);
    long len = ftell(file);
    rewind(file);
    char *bytes = base_alloc((size_t)len + 1, 1);
    assert_int_equal(fread(bytes, 1, (size_t)len, file), len);
    fclose(file);
    *out_len = (size_t)len;
    return bytes;
}

void chain_folder_open(ChainFolder *f, TinyChain *chain) {
    *f = (ChainFolder){.chain = chain};
    snprintf(f->path, sizeof f->path, "/tmp/ingot-test-XXXXXX");
    assert_non_null(mkdtemp(f->path));
    snprintf(f->recipe, sizeof f->recipe, "%s/tiny.yaml", f->path);
    snprintf(f->model, sizeof f->model, "%s/tiny.gguf", f->path);
    snprintf(f->artifact, sizeof f->artifact, "%s/tiny.ingot", f->path);
    snprintf(f->dump, sizeof f->dump, "%s/edited.mlir", f->path);
    write_file(f->recipe, chain->recipe_text.data, chain->recipe_text.len);
    write_file(f->model, chain->bytes.data, chain->bytes.len);
}

void chain_folder_close(ChainFolder *f) {
    DIR *dir = opendir(f->path);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[512];
        snprintf(path, sizeof path, "%s/%.250s", f->path, entry->d_name);
        if (entry->d_name[0] != '.') unlink(path);
    }
    closedir(dir);
    rmdir(f->path);
}

void chain_folder_compile(ChainFolder *f, const CompileOptions *options) {
    CompileOptions o = options ? *options : (CompileOptions){0};
    o.recipe_path = f->recipe;
    o.model_path = f->model;
    if (!o.out_path) o.out_path = f->artifact;
    CompileReport report;
    tiny_chain_expect_ok(f->chain, compile_run(&o, &f->chain->sink, &report));
    compile_report_deinit(&report);
}

void chain_folder_resume(ChainFolder *f, const IrModule *m) {
    StrBuf text = {0};
    ir_print(m, NULL, &text);
    write_file(f->dump, text.data, text.len);
    strbuf_deinit(&text);
    chain_folder_compile(f, &(CompileOptions){.resume_from = f->dump});
}

// ---------------------------------------------------------------- the executor

void chain_artifact_open(ChainArtifact *a, ChainFolder *folder, uint32_t num_threads,
                         const char *level) {
    *a = (ChainArtifact){.chain = folder->chain};
    DiagSink *sink = &folder->chain->sink;
    tiny_chain_expect_ok(a->chain, artifact_open(folder->artifact, sink, &a->artifact));
    ExecutorOptions options = {.num_threads = num_threads, .cpu_level = level};
    tiny_chain_expect_ok(a->chain, executor_open(&a->artifact, &options, sink, &a->executor));
    a->session = session_create(a->executor);
    assert_non_null(a->session);
}

void chain_artifact_close(ChainArtifact *a) {
    session_destroy(a->session);
    executor_close(a->executor);
    artifact_close(&a->artifact);
}

void chain_artifact_feed(ChainArtifact *a, const int32_t *ids, uint32_t n, float *logits) {
    tiny_chain_expect_ok(a->chain, session_prefill(a->session, ids, n, &a->chain->sink));
    memcpy(logits, session_logits(a->session), a->chain->model.vocab * sizeof *logits);
}

double chain_distance(const TinyChain *chain, const float *a, const float *b) {
    double largest = 0, difference = 0;
    for (uint32_t i = 0; i < chain->model.vocab; i++) {
        largest = fmax(largest, fabs((double)b[i]));
        difference = fmax(difference, fabs((double)a[i] - (double)b[i]));
        if (isnan(a[i]) || isnan(b[i])) fail_msg("logit %u is not a number", i);
    }
    assert_true(largest > 0.01);
    return difference / largest;
}
