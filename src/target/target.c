// Reads target files; see target.h.
#include "target/target.h"

#include <math.h>
#include <string.h>

#include "text/doc.h"

static const TargetNumberInfo numbers[NUM_TARGET_NUMBERS] = {
#define TARGET_NUMBER(id, path_, unit_, min_, max_, sense_, meaning_)                              \
    [TARGET_##id] = {.path = (path_),                                                              \
                     .unit = (unit_),                                                              \
                     .meaning = (meaning_),                                                        \
                     .min = (min_),                                                                \
                     .max = (max_),                                                                \
                     .sense = TARGET_##sense_},
#include "target/target.def"
};

static const char *const kind_names[NUM_TARGET_KINDS] = {"cpu", "gpu", "npu"};

const TargetNumberInfo *target_number_info(TargetNumber number) {
    return &numbers[number];
}

const char *target_kind_name(TargetKind kind) {
    return kind_names[kind];
}

enum { MAX_PATH_CHARS = 64 };

typedef struct Reader {
    DiagSink *sink;
    const char *path;
    Target *target;
    const DocNode *sources;
    DiagSpan spans[NUM_TARGET_NUMBERS];
} Reader;

static Status faulty(Reader *r, DiagSpan span, const char *what, const char *name) {
    return diag_error(r->sink, DIAG_H0001, span, "%s %.60s", what, name);
}

// ---------------------------------------------------------------- numbers

static Status read_source(Reader *r, const DocNode *node, TargetNumber number) {
    const char *key = NULL, *text = NULL;
    TRY(doc_get_string(node, "a source", r->sink, &key));
    const DocNode *source = doc_find(r->sources, key);
    if (!source) return faulty(r, node->span, "no entry of sources is called", key);
    TRY(doc_get_string(source, key, r->sink, &text));
    r->target->sources[number] = text;
    return STATUS_OK;
}

static Status read_number(Reader *r, const DocNode *node, TargetNumber number) {
    const TargetNumberInfo *info = &numbers[number];
    if (node->kind != DOC_LIST || node->num_children != 2) {
        Status status = faulty(r, node->span, "a number and its source are wanted for", info->path);
        diag_write(r->sink, "[NUMBER, SOURCE], SOURCE being a key of sources:");
        return status;
    }
    double value = 0;
    TRY(doc_get_float(node->first, info->path, r->sink, &value));
    if (!(value >= info->min && value <= info->max))
        return diag_error(r->sink, DIAG_H0002, node->first->span,
                          "%s is %g, it lies between %g and %g %s", info->path, value, info->min,
                          info->max, info->unit);
    r->target->numbers[number] = value;
    r->spans[number] = node->first->span;
    return read_source(r, node->first->next, number);
}

// Entries of a map whose keys continue prefix: numbers, or maps of them.
static Status read_numbers(Reader *r, const DocNode *map, const char *prefix) {
    const char *known[NUM_TARGET_NUMBERS];
    for (int i = 0; i < NUM_TARGET_NUMBERS; i++) known[i] = numbers[i].path;
    TRY(doc_want_kind(map, "numbers", DOC_MAP, r->sink));
    FOR_EACH_DOC(node, map) {
        const char *path = arena_printf(&r->sink->arena, "%s%s", prefix, node->key);
        size_t len = strlen(path), found = NUM_TARGET_NUMBERS;
        bool is_group = false;
        for (size_t i = 0; i < NUM_TARGET_NUMBERS && len < MAX_PATH_CHARS; i++) {
            if (str_equal(known[i], path)) found = i;
            is_group |= strncmp(known[i], path, len) == 0 && known[i][len] == '.';
        }
        if (found < NUM_TARGET_NUMBERS) {
            TRY(read_number(r, node, (TargetNumber)found));
        } else if (is_group) {
            TRY(read_numbers(r, node, arena_printf(&r->sink->arena, "%s.", path)));
        } else {
            Status status = faulty(r, node->key_span, "no number is called", path);
            const char *nearest = str_nearest(path, known, NUM_TARGET_NUMBERS);
            if (nearest) diag_write(r->sink, "%s", nearest);
            return status;
        }
    }
    return STATUS_OK;
}

// ---------------------------------------------------------------- what must agree

static const struct {
    TargetNumber ops, peak;
} peaks[] = {
    {TARGET_OPS_F32, TARGET_PEAK_F32},   {TARGET_OPS_F16, TARGET_PEAK_F16},
    {TARGET_OPS_BF16, TARGET_PEAK_BF16}, {TARGET_OPS_INT8, TARGET_PEAK_INT8},
    {TARGET_OPS_FP8, TARGET_PEAK_FP8},
};

static Status check_peak(Reader *r, TargetNumber ops, TargetNumber peak) {
    enum { TOLERANCE_PERCENT = 5 }; // boost clocks are rounded and vary by part
    const double *n = r->target->numbers;
    if (n[ops] <= 0 || n[peak] <= 0 || n[TARGET_UNITS] <= 0 || n[TARGET_CLOCK_MHZ] <= 0)
        return STATUS_OK;
    double tera = n[TARGET_UNITS] * n[ops] * n[TARGET_CLOCK_MHZ] * 1e-6;
    double percent = (tera / n[peak] - 1) * 100;
    if (fabs(percent) <= (double)TOLERANCE_PERCENT) return STATUS_OK;
    double units = n[peak] / (n[ops] * n[TARGET_CLOCK_MHZ] * 1e-6);
    Status status =
        diag_error(r->sink, DIAG_H0003, r->spans[TARGET_UNITS],
                   "%g units contradict %s: %g units x %g x %g MHz are %.1f T/s, stated are %g "
                   "(%+.0f %%)",
                   n[TARGET_UNITS], numbers[peak].path, n[TARGET_UNITS], n[ops],
                   n[TARGET_CLOCK_MHZ], tera, n[peak], percent);
    diag_evidence(r->sink, "%s: %s", numbers[peak].path, r->target->sources[peak]);
    diag_write(r->sink, "units: %.0f, which the peak implies, or another peak, clock or %s", units,
               numbers[ops].path);
    return status;
}

static Status check_agreement(Reader *r) {
    const double *n = r->target->numbers;
    for (size_t i = 0; i < ARRAY_LEN(peaks); i++) TRY(check_peak(r, peaks[i].ops, peaks[i].peak));
    double bus = n[TARGET_MEM_BUS_BITS] / 8 * n[TARGET_MEM_PIN_RATE];
    if (bus > 0 && n[TARGET_MEM_RATE] > 0 && fabs(bus / n[TARGET_MEM_RATE] - 1) > 0.01) {
        Status status =
            diag_error(r->sink, DIAG_H0003, r->spans[TARGET_MEM_RATE],
                       "memory.gb_per_s is %g, the bus gives %g", n[TARGET_MEM_RATE], bus);
        diag_evidence(r->sink, "%g bits x %g Gbit/s / 8", n[TARGET_MEM_BUS_BITS],
                      n[TARGET_MEM_PIN_RATE]);
        return status;
    }
    if (n[TARGET_UNITS_DIE] > 0 && n[TARGET_UNITS] > n[TARGET_UNITS_DIE])
        return diag_error(r->sink, DIAG_H0003, r->spans[TARGET_UNITS], "%g units on a die of %g",
                          n[TARGET_UNITS], n[TARGET_UNITS_DIE]);
    return STATUS_OK;
}

// ---------------------------------------------------------------- the file

static Status read_words(Reader *r, const DocNode *node, const char **out, uint32_t *out_num) {
    if (node->kind == DOC_SCALAR)
        return doc_get_string(node, node->key, r->sink, &out[(*out_num)++]);
    TRY(doc_want_kind(node, node->key, DOC_LIST, r->sink));
    FOR_EACH_DOC(word, node) {
        if (*out_num == TARGET_MAX_WORDS)
            return faulty(r, word->span, "too many words in", node->key);
        TRY(doc_get_string(word, node->key, r->sink, &out[(*out_num)++]));
    }
    return STATUS_OK;
}

static Status read_kind(Reader *r, const DocNode *node) {
    const char *text = NULL;
    TRY(doc_get_string(node, "kind", r->sink, &text));
    for (int i = 0; i < NUM_TARGET_KINDS; i++) {
        if (!str_equal(text, kind_names[i])) continue;
        r->target->kind = (TargetKind)i;
        return STATUS_OK;
    }
    return faulty(r, node->span, "kind is cpu, gpu or npu, not", text);
}

static Status read_level(Reader *r, const DocNode *node) {
    const char *text = NULL;
    TRY(doc_get_string(node, "cpu_level", r->sink, &text));
    r->target->has_cpu_level = true;
    if (!str_equal(text, "native") && cpu_level_find(text, &r->target->cpu_level)) return STATUS_OK;
    return faulty(r, node->span, "there is no CPU level", text);
}

static Status read_entry(Reader *r, const DocNode *node) {
    Target *t = r->target;
    const struct {
        const char *key, **out;
    } texts[] = {
        {"target", &t->name},
        {"title", &t->title},
        {"gfx_arch", &t->gfx_arch},
        {"compute_capability", &t->compute_capability},
        {"ai_core_type", &t->ai_core_type},
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (str_equal(node->key, texts[i].key))
            return doc_get_string(node, node->key, r->sink, texts[i].out);
    if (str_equal(node->key, "kind")) return read_kind(r, node);
    if (str_equal(node->key, "cpu_level")) return read_level(r, node);
    if (str_equal(node->key, "arch")) return read_words(r, node, t->arch, &t->num_archs);
    if (str_equal(node->key, "brands")) return read_words(r, node, t->brands, &t->num_brands);
    if (str_equal(node->key, "sources") || str_equal(node->key, "numbers")) return STATUS_OK;
    return faulty(r, node->key_span, "a target file has no key", node->key);
}

static Status read_document(Reader *r, const DocNode *root) {
    TRY(doc_want_kind(root, "the target file", DOC_MAP, r->sink));
    FOR_EACH_DOC(node, root) TRY(read_entry(r, node));
    const DocNode *given = doc_find(root, "numbers");
    r->sources = doc_find(root, "sources");
    static const char *const needed[] = {"target", "title", "kind", "arch", "sources", "numbers"};
    for (size_t i = 0; i < ARRAY_LEN(needed); i++)
        if (!doc_find(root, needed[i]))
            return faulty(r, (DiagSpan){.file = r->path}, "the file lacks the key", needed[i]);
    TRY(doc_want_kind(r->sources, "sources", DOC_MAP, r->sink));
    TRY(read_numbers(r, given, ""));
    static const TargetNumber wanted[] = {TARGET_UNITS, TARGET_CLOCK_MHZ, TARGET_MEM_RATE};
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
        if (r->target->numbers[wanted[i]] <= 0)
            return faulty(r, given->span, "a machine needs the number", numbers[wanted[i]].path);
    // Codes and their loops go by halves and doubles of it.
    uint64_t vector = (uint64_t)r->target->numbers[TARGET_VECTOR_BYTES];
    if (vector & (vector - 1) || (double)vector != r->target->numbers[TARGET_VECTOR_BYTES])
        return diag_error(r->sink, DIAG_H0002, r->spans[TARGET_VECTOR_BYTES],
                          "%s is %g, it is a power of two", numbers[TARGET_VECTOR_BYTES].path,
                          r->target->numbers[TARGET_VECTOR_BYTES]);
    return check_agreement(r);
}

Status target_parse(const char *text, size_t len, const char *path, DiagSink *sink,
                    Target *out_target) {
    const DocNode *root = NULL;
    TRY(doc_parse(text, len, path, str_has_suffix(path, ".json") ? DOC_JSON : DOC_YAML, sink,
                  &root));
    Target target = {0};
    Reader r = {.sink = sink, .path = path, .target = &target};
    TRY(read_document(&r, root));
    *out_target = target;
    return STATUS_OK;
}

Status target_load(const char *path, DiagSink *sink, Target *out_target) {
    const DocNode *root = NULL;
    TRY(doc_load(path, sink, &root));
    Target target = {0};
    Reader r = {.sink = sink, .path = path, .target = &target};
    TRY(read_document(&r, root));
    *out_target = target;
    return STATUS_OK;
}

// ---------------------------------------------------------------- print

void target_print(const Target *t, StrBuf *out) {
    strbuf_printf(out, "%s: %s\n  kind %s, arch", t->name, t->title, kind_names[t->kind]);
    for (uint32_t i = 0; i < t->num_archs; i++) strbuf_printf(out, " %s", t->arch[i]);
    if (t->has_cpu_level)
        strbuf_printf(out, ", code of level %s", cpu_level_info(t->cpu_level)->name);
    else
        strbuf_puts(out, ", planned and predicted only: no backend makes code for it");
    strbuf_putc(out, '\n');
    for (int i = 0; i < NUM_TARGET_NUMBERS; i++) {
        if (t->numbers[i] <= 0) continue;
        strbuf_printf(out, "  %-24s %12.10g %-10s %s\n", numbers[i].path, t->numbers[i],
                      numbers[i].unit, numbers[i].meaning);
        strbuf_printf(out, "  %-24s   from: %s\n", "", t->sources[i]);
    }
}
