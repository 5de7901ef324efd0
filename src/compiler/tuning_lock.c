// Reads and writes tuning locks; see tuning_lock.h.
#include "compiler/tuning_lock.h"

#include <string.h>

#include "text/doc.h"

typedef struct LockReader {
    IrModule *m;
    DiagSink *sink;
} LockReader;

static Status faulty(LockReader *r, DiagSpan span, const char *what, const char *name) {
    return diag_error(r->sink, DIAG_P0071, span, "%s %.60s", what, name);
}

// The entry of a map that must be there.
static Status want(LockReader *r, const DocNode *map, const char *key, const DocNode **out) {
    *out = doc_find(map, key);
    return *out ? STATUS_OK : faulty(r, map->span, "this entry has no", key);
}

// Every key of the map is one of these.
static Status check_keys(LockReader *r, const DocNode *map, const char *what,
                         const char *const *known, size_t num_known) {
    TRY(doc_want_kind(map, what, DOC_MAP, r->sink));
    FOR_EACH_DOC(node, map) {
        bool is_known = false;
        for (size_t i = 0; i < num_known; i++) is_known |= str_equal(node->key, known[i]);
        if (is_known) continue;
        Status status = faulty(r, node->key_span, "a tuning lock has no key", node->key);
        const char *nearest = str_nearest(node->key, known, num_known);
        if (nearest) diag_write(r->sink, "%s", nearest);
        return status;
    }
    return STATUS_OK;
}

static Status read_candidate(LockReader *r, const DocNode *node, TuningEntry *out) {
    static const char *const keys[] = {"lanes",  "row_tile", "col_tile",
                                       "unroll", "band",     "measured_ns"};
    TRY(check_keys(r, node, "a candidate", keys, ARRAY_LEN(keys)));
    const struct {
        const char *key;
        int64_t max, *out;
    } numbers[] = {
        {"lanes", 16, &out->schedule.lanes},
        {"row_tile", SCHEDULE_MAX_SUMS, &out->schedule.row_tile},
        {"col_tile", SCHEDULE_MAX_SUMS, &out->schedule.col_tile},
        {"unroll", 16, &out->schedule.unroll},
        {"measured_ns", INT64_MAX, &out->measured_ns},
    };
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        const DocNode *value;
        TRY(want(r, node, numbers[i].key, &value));
        TRY(doc_get_int(value, numbers[i].key, 1, numbers[i].max, r->sink, numbers[i].out));
    }
    const DocNode *band = doc_find(node, "band");
    if (band) TRY(doc_get_int(band, "band", 1, SCHEDULE_MAX_BAND, r->sink, &out->schedule.band));
    if (schedule_is_valid(&out->schedule)) return STATUS_OK;
    return diag_error(
        r->sink, DIAG_P0071, node->span,
        "no code has this schedule: lanes are 8 or 16, row_tile x col_tile at most %d",
        SCHEDULE_MAX_SUMS);
}

static bool is_key(const char *text) {
    return strlen(text) == TUNING_KEY_CHARS && strspn(text, "0123456789abcdef") == TUNING_KEY_CHARS;
}

static Status read_kernel(LockReader *r, const DocNode *node) {
    static const char *const keys[] = {"name", "key", "level", "candidates"};
    TRY(check_keys(r, node, "a kernel", keys, ARRAY_LEN(keys)));
    const DocNode *name, *key, *level, *list;
    const char *text;
    TuningEntry entry = {0}, before;
    TRY(want(r, node, "name", &name));
    TRY(doc_get_string(name, "name", r->sink, &text));
    TRY(want(r, node, "key", &key));
    TRY(doc_get_string(key, "key", r->sink, &entry.key));
    if (!is_key(entry.key)) return faulty(r, key->span, "16 hex digits are wanted, not", entry.key);
    TRY(want(r, node, "level", &level));
    TRY(doc_get_string(level, "level", r->sink, &text));
    if (str_equal(text, "native") || !cpu_level_find(text, &entry.level))
        return faulty(r, level->span, "there is no CPU level", text);
    TRY(want(r, node, "candidates", &list));
    TRY(doc_want_kind(list, "candidates", DOC_LIST, r->sink));
    if (!list->first) return faulty(r, list->span, "there are no candidates of", entry.key);
    for (const DocNode *next = list->first->next; next; next = next->next) {
        TuningEntry other = {0}; // not taken, but no less checked
        TRY(read_candidate(r, next, &other));
    }
    TRY(read_candidate(r, list->first, &entry));
    if (tuning_find(r->m, entry.key, entry.level, &before))
        return faulty(r, key->span, "a second entry for the same level has the key", entry.key);
    tuning_add(r->m, &entry);
    return STATUS_OK;
}

static Status read_lock(const DocNode *root, IrModule *m, DiagSink *sink) {
    static const char *const keys[] = {"version", "kernels"};
    LockReader r = {m, sink};
    const DocNode *version, *kernels;
    int64_t number;
    TRY(check_keys(&r, root, "a tuning lock", keys, ARRAY_LEN(keys)));
    TRY(want(&r, root, "version", &version));
    TRY(doc_get_int(version, "version", 1, 1, sink, &number));
    TRY(want(&r, root, "kernels", &kernels));
    TRY(doc_want_kind(kernels, "kernels", DOC_LIST, sink));
    FOR_EACH_DOC(node, kernels) TRY(read_kernel(&r, node));
    return STATUS_OK;
}

Status tuning_lock_load(const char *path, IrModule *m, DiagSink *sink) {
    const DocNode *root;
    TRY(doc_load(path, sink, &root));
    return read_lock(root, m, sink);
}

Status tuning_lock_parse(const char *text, size_t len, const char *path, IrModule *m,
                         DiagSink *sink) {
    const DocNode *root;
    TRY(doc_parse(text, len, path, DOC_YAML, sink, &root));
    return read_lock(root, m, sink);
}

static bool has_text(const IrAttr *attr, const char *text) {
    return attr && attr->kind == IR_ATTR_STRING && str_equal(attr->str, text);
}

uint32_t tuning_lock_check(const IrModule *m, CpuLevel level, const char *path, DiagSink *sink) {
    const IrAttr *list = ir_op_attr(m->op, "ingot.tuning");
    uint32_t num_taken = 0, num_idle = 0;
    const char *idle = NULL;
    for (size_t i = 0; list && i < list->num_elems; i++) {
        if (list->elems[i]->kind != IR_ATTR_DICT) continue; // an edited dump
        const IrAttr *key = ir_attr_dict_find(list->elems[i], "key");
        if (!key || key->kind != IR_ATTR_STRING ||
            !has_text(ir_attr_dict_find(list->elems[i], "level"), cpu_level_info(level)->name))
            continue;
        uint32_t found = 0;
        for (const IrOp *op = ir_op_block(m->op, 0)->first; op; op = op->next)
            found += has_text(ir_op_attr(op, "ingot.key"), key->str);
        num_taken += found;
        num_idle += found == 0;
        if (found == 0 && !idle) idle = key->str;
    }
    if (idle) {
        diag_report(sink, DIAG_WARNING, DIAG_P0072, (DiagSpan){.file = path},
                    "%u of the lock's kernels for %s are none of this model's, %s the first",
                    num_idle, cpu_level_info(level)->name, idle);
        diag_write(sink, "ingot tune, which measures the kernels of this recipe and build");
    }
    return num_taken;
}

void tuning_lock_put(const TuningKernel *kernels, size_t num_kernels, StrBuf *out) {
    strbuf_puts(out, "# Measured schedules; the first candidate of each kernel is taken.\n"
                     "version: 1\nkernels:");
    if (num_kernels == 0) strbuf_puts(out, " []");
    strbuf_putc(out, '\n');
    for (size_t k = 0; k < num_kernels; k++) {
        const TuningKernel *kernel = &kernels[k];
        strbuf_printf(out, "  - name: %s\n    key: \"%s\"\n    level: %s\n    candidates:\n",
                      kernel->name, kernel->key, kernel->level);
        for (size_t i = 0; i < kernel->num_candidates; i++) {
            const TuningCandidate *c = &kernel->candidates[i];
            strbuf_printf(out,
                          "      - {lanes: %lld, row_tile: %lld, col_tile: %lld, unroll: %lld, ",
                          (long long)c->s.lanes, (long long)c->s.row_tile, (long long)c->s.col_tile,
                          (long long)c->s.unroll);
            if (c->s.band) strbuf_printf(out, "band: %lld, ", (long long)c->s.band);
            strbuf_printf(out, "measured_ns: %.0f}\n", MAX(c->measured_ns, 1));
        }
    }
}
