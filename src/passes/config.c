// Reads the settings a recipe left on the module; see pass.h.
#include "abi/plan.h"
#include "passes/pass.h"

static Status bad_entry(const IrModule *m, DiagSink *sink, const char *key, const char *allowed) {
    Status status =
        diag_error(sink, DIAG_P0002, ir_loc_span(m->op->loc),
                   "module attribute ingot.config: entry '%s' is missing or wrong", key);
    diag_write(sink, "%s", allowed);
    return status;
}

static bool read_string(const IrAttr *config, const char *key, const char *const *allowed,
                        const char **out) {
    const IrAttr *attr = ir_attr_dict_find(config, key);
    if (!attr || attr->kind != IR_ATTR_STRING) return false;
    for (; *allowed; allowed++) {
        if (!str_equal(*allowed, attr->str)) continue;
        *out = *allowed;
        return true;
    }
    return false;
}

static bool read_int(const IrAttr *config, const char *key, int64_t lo, int64_t hi, int64_t *out) {
    const IrAttr *attr = ir_attr_dict_find(config, key);
    if (!attr || attr->kind != IR_ATTR_INT || attr->i < lo || attr->i > hi) return false;
    *out = attr->i;
    return true;
}

static bool read_bool(const IrAttr *config, const char *key, bool *out) {
    const IrAttr *attr = ir_attr_dict_find(config, key);
    if (!attr) return true;
    if (attr->kind != IR_ATTR_BOOL) return false;
    *out = attr->i != 0;
    return true;
}

// At most 32 ascending numbers; none where the key is absent.
static bool read_sizes(const IrAttr *config, const char *key, int64_t lo, int64_t hi,
                       int64_t sizes[32], uint32_t *out_num) {
    const IrAttr *list = ir_attr_dict_find(config, key);
    *out_num = 0;
    if (!list) return true;
    if (list->kind != IR_ATTR_ARRAY || list->num_elems > 32) return false;
    for (size_t i = 0; i < list->num_elems; i++) {
        const IrAttr *size = list->elems[i];
        if (size->kind != IR_ATTR_INT || size->i < lo || size->i > hi ||
            (i > 0 && size->i <= sizes[i - 1]))
            return false;
        sizes[(*out_num)++] = size->i;
    }
    return true;
}

// op_precision = {softmax = "fp16", ...}: classes that are not there are fp32.
static bool read_op_precisions(const IrAttr *config, OpPrecision out[NUM_OP_CLASSES]) {
    const IrAttr *dict = ir_attr_dict_find(config, "op_precision");
    if (!dict) return true;
    if (dict->kind != IR_ATTR_DICT) return false;
    for (size_t i = 0; i < dict->num_entries; i++) {
        const IrAttr *name = dict->entries[i].attr;
        OpClass class;
        OpPrecision precision;
        if (name->kind != IR_ATTR_STRING || !op_class_find(dict->entries[i].name, &class) ||
            !op_precision_find(name->str, &precision))
            return false;
        out[class] = precision;
    }
    return true;
}

// Settings of a language model.
static Status read_model(const IrModule *m, const IrAttr *config, DiagSink *sink, PassConfig *c) {
    static const char *const activations[] = {"int8", "bf16", "f32", NULL};
    static const char *const kv[] = {"f16", "f32", NULL};
    if (!read_string(config, "activations", activations, &c->activations))
        return bad_entry(m, sink, "activations", "activations = \"int8\" | \"bf16\" | \"f32\"");
    if (!read_string(config, "kv", kv, &c->kv))
        return bad_entry(m, sink, "kv", "kv = \"f16\" | \"f32\"");
    if (!read_op_precisions(config, c->op_precisions))
        return bad_entry(m, sink, "op_precision", "op_precision = {softmax = \"fp32\"}");
    if (!read_int(config, "page_len", 16, 4096, &c->page_len_tokens) || c->page_len_tokens % 16)
        return bad_entry(m, sink, "page_len", "page_len = N : i64, a multiple of 16 up to 4096");
    if (!read_int(config, "max_pages", 1, 1 << 20, &c->max_pages))
        return bad_entry(m, sink, "max_pages", "max_pages = N : i64, 1 to 1048576");
    c->num_pages = c->max_pages;
    if (ir_attr_dict_find(config, "num_pages") &&
        !read_int(config, "num_pages", c->max_pages, INT64_C(1) << 28, &c->num_pages))
        return bad_entry(m, sink, "num_pages", "num_pages = N : i64, from max_pages on");
    if (!read_sizes(config, "buckets", 1, 65536, c->buckets, &c->num_buckets) ||
        c->num_buckets == 0)
        return bad_entry(m, sink, "buckets", "buckets = [1, 512], 1 to 32 ascending sizes");
    if (!read_sizes(config, "batches", 2, 256, c->batches, &c->num_batches))
        return bad_entry(m, sink, "batches", "batches = [8, 32], ascending sizes from 2 to 256");
    if (!read_bool(config, "pack_qkv", &c->pack_qkv))
        return bad_entry(m, sink, "pack_qkv", "pack_qkv = true | false");
    if (!read_bool(config, "pack_gate_up", &c->pack_gate_up))
        return bad_entry(m, sink, "pack_gate_up", "pack_gate_up = true | false");
    return STATUS_OK;
}

Status pass_config_read(const IrModule *m, DiagSink *sink, PassConfig *out_config) {
    const IrAttr *config = ir_op_attr(m->op, "ingot.config");
    if (!config || config->kind != IR_ATTR_DICT)
        return bad_entry(m, sink, "(all)", "ingot.config = {activations = \"int8\", ...}");
    // A module that was compiled from text has settings of the machine alone.
    PassConfig c = {.pack_qkv = true, .pack_gate_up = true, .activations = "f32", .kv = "f32"};
    int64_t threads;
    if (!read_int(config, "threads", 1, PLAN_MAX_THREADS, &threads))
        return bad_entry(m, sink, "threads", "threads = N : i64, 1 to 256");
    c.threads = (uint32_t)threads;
    bool has_bound = ir_attr_dict_find(config, "max_scratch") != NULL;
    if (has_bound && !read_int(config, "max_scratch", 64, 256 << 10, &c.max_scratch_bytes))
        return bad_entry(m, sink, "max_scratch", "max_scratch = N : i64, 64 to 262144");
    bool has_sync = ir_attr_dict_find(config, "sync") != NULL;
    int64_t sync = 0;
    if (has_sync && !read_int(config, "sync", 0, 1, &sync))
        return bad_entry(m, sink, "sync", "sync = 1 : i64, or 0");
    c.is_sync = sync != 0;
    if (config->num_entries > 1 + (size_t)has_bound + (size_t)has_sync)
        TRY(read_model(m, config, sink, &c));
    *out_config = c;
    return STATUS_OK;
}

Status pass_target_read(const IrModule *m, DiagSink *sink, CpuLevel *out_level) {
    const IrAttr *target = ir_op_attr(m->op, "ingot.target");
    if (target && target->kind == IR_ATTR_STRING && !str_equal(target->str, "native") &&
        cpu_level_find(target->str, out_level))
        return STATUS_OK;
    Status status = diag_error(sink, DIAG_P0003, ir_loc_span(m->op->loc),
                               "the module names no CPU level to compile for");
    diag_write(sink, "module attributes {ingot.target = \"x86-64-v4\"}; `ingot compile` sets it");
    return status;
}

// bind-recipe: the settings the recipe left on the module are complete and within their ranges.
// Needs: ingot.config.  Keeps: everything.  Exact: nothing is computed.
Status pass_bind_recipe(IrModule *m, DiagSink *sink) {
    PassConfig config;
    return pass_config_read(m, sink, &config);
}
