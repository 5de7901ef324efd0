// Targets of a recipe against the hardware table: which machine an entry means, and whether the
// numbers it gives are those of that machine. See recipe.h.
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "recipe/recipe.h"

typedef struct Matcher {
    const DiagSpan *spans;
    DiagSink *sink;
    const RecipeTarget *target;
    const Target **left; // machines it can still be
    size_t num_left;
} Matcher;

static bool equal_words(const char *a, const char *b) {
    for (; *a && tolower((unsigned char)*a) == tolower((unsigned char)*b); a++) b++;
    return !*a && !*b;
}

static bool has_word(const char *const *words, uint32_t num, const char *word) {
    for (uint32_t i = 0; i < num; i++)
        if (equal_words(words[i], word)) return true;
    return false;
}

// A machine's own name, its architecture, or what it is sold as.
static bool is_called(const Target *t, const char *word, bool by_arch) {
    return equal_words(t->name, word) || has_word(t->brands, t->num_brands, word) ||
           (by_arch && has_word(t->arch, t->num_archs, word));
}

static DiagSpan span_of(const Matcher *m, RecipeKey key) {
    return m->spans[key].line ? m->spans[key] : m->target->span;
}

static const char *last_part(RecipeKey key) {
    const char *path = recipe_key_info(key)->path, *dot = strrchr(path, '.');
    return dot ? dot + 1 : path;
}

// Every architecture of the table, once.
static void write_archs(Matcher *m, const TargetTable *table) {
    const char *seen[64];
    size_t num = 0;
    StrBuf all = {0};
    for (size_t i = 0; i < table->num_targets; i++)
        for (uint32_t k = 0; k < table->targets[i].num_archs; k++) {
            const char *arch = table->targets[i].arch[k];
            if (num == ARRAY_LEN(seen) || has_word(seen, (uint32_t)num, arch)) continue;
            strbuf_printf(&all, "%s%s", num ? " | " : "", arch);
            seen[num++] = arch;
        }
    diag_evidence(m->sink, "ingot compile --list-targets prints the table");
    diag_write(m->sink, "arch: %s", all.data);
    strbuf_deinit(&all);
}

static Status match_name(Matcher *m, const TargetTable *table) {
    const RecipeTarget *t = m->target;
    for (size_t i = 0; i < table->num_targets; i++) {
        const Target *machine = &table->targets[i];
        if (t->name && !is_called(machine, t->name, false)) continue;
        if (t->arch && !is_called(machine, t->arch, true)) continue;
        // An exact name means that machine alone.
        bool is_exact = t->name && equal_words(machine->name, t->name);
        if (is_exact) m->num_left = 0;
        m->left[m->num_left++] = machine;
        if (is_exact) break;
    }
    if (m->num_left > 0) return STATUS_OK;
    if (t->name) return target_unknown(table, t->name, span_of(m, RECIPE_TARGET_NAME), m->sink);
    const char *words[256];
    size_t num = 0;
    for (size_t i = 0; i < table->num_targets; i++) {
        const Target *machine = &table->targets[i];
        for (uint32_t k = 0; k < machine->num_archs && num < ARRAY_LEN(words); k++)
            words[num++] = machine->arch[k];
        for (uint32_t k = 0; k < machine->num_brands && num < ARRAY_LEN(words); k++)
            words[num++] = machine->brands[k];
    }
    Status status = diag_error(m->sink, DIAG_H0004, span_of(m, RECIPE_TARGET_ARCH),
                               "no machine of the hardware table has the arch %.60s", t->arch);
    const char *nearest = str_nearest(t->arch, words, num);
    if (nearest)
        diag_write(m->sink, "arch: %s", nearest);
    else
        write_archs(m, table);
    return status;
}

static const char *text_of(const Target *machine, RecipeKey key) {
    return key == RECIPE_TARGET_GFX          ? machine->gfx_arch
           : key == RECIPE_TARGET_CAPABILITY ? machine->compute_capability
                                             : machine->ai_core_type;
}

// Keeps the machines of which the text is `given`.
static Status match_text(Matcher *m, RecipeKey key, const char *given) {
    if (!given) return STATUS_OK;
    size_t num = 0;
    const Target *first = m->left[0];
    const char *right = NULL;
    for (size_t i = 0; i < m->num_left; i++) {
        const char *text = text_of(m->left[i], key);
        if (text) right = text;
        if (text && equal_words(text, given)) m->left[num++] = m->left[i];
    }
    m->num_left = num;
    if (num > 0) return STATUS_OK;
    if (!right)
        return diag_error(m->sink, DIAG_H0009, span_of(m, key), "%s means nothing for %s",
                          last_part(key), first->title);
    Status status = diag_error(m->sink, DIAG_H0005, span_of(m, key), "%s %.40s contradicts %s, %s",
                               last_part(key), given, first->name, right);
    diag_write(m->sink, "%s: %s", last_part(key), right);
    return status;
}

// Where machines of one arch differ in the code they need, the recipe has to say which.
static Status want_text(Matcher *m, RecipeKey key) {
    const char *first = text_of(m->left[0], key);
    for (size_t i = 1; i < m->num_left; i++) {
        const char *text = text_of(m->left[i], key);
        if (!first || !text || equal_words(first, text)) continue;
        Status status =
            diag_error(m->sink, DIAG_H0008, span_of(m, RECIPE_TARGET_ARCH),
                       "%s is missing: it can be %s or %s", last_part(key), first, text);
        diag_write(m->sink, "%s: %s", last_part(key), first);
        return status;
    }
    return STATUS_OK;
}

// Keeps the machines of which the number, in units of `unit`, is `given` within 1 %.
static Status match_number(Matcher *m, RecipeKey key, int64_t given, TargetNumber number,
                           double unit) {
    if (given == 0) return STATUS_OK;
    size_t num = 0;
    const Target *first = m->left[0];
    for (size_t i = 0; i < m->num_left; i++) {
        double value = m->left[i]->numbers[number] / unit;
        if (value > 0 && fabs((double)given / value - 1) <= 0.01) m->left[num++] = m->left[i];
    }
    if (num > 0) {
        m->num_left = num;
        return STATUS_OK;
    }
    if (first->numbers[number] <= 0) return STATUS_OK; // nothing is known to contradict it
    Status status = diag_error(m->sink, DIAG_H0005, span_of(m, key),
                               "%s %lld contradicts the hardware table: %s has %g", last_part(key),
                               (long long)given, first->name, first->numbers[number] / unit);
    diag_evidence(m->sink, "%s of %s: %s", target_number_info(number)->path, first->name,
                  first->sources[number]);
    diag_write(m->sink, "%s: %.0f", last_part(key), first->numbers[number] / unit);
    return status;
}

// Of every number the one that can be relied on whichever machine it is.
static Target careful(const Matcher *m, const char *word) {
    Target t = *m->left[0];
    t.name = word;
    t.title = "the least of several machines";
    for (size_t i = 1; i < m->num_left; i++) {
        const Target *other = m->left[i];
        t.has_cpu_level &= other->has_cpu_level;
        t.cpu_level = MIN(t.cpu_level, other->cpu_level);
        for (int n = 0; n < NUM_TARGET_NUMBERS; n++) {
            double a = t.numbers[n], b = other->numbers[n];
            bool takes_other =
                target_number_info((TargetNumber)n)->sense == TARGET_MORE ? b > a : b < a;
            if (!takes_other && b > 0) continue;
            t.numbers[n] = b;
            t.sources[n] = other->sources[n];
        }
    }
    return t;
}

static void warn_several(const Matcher *m, const char *word, const Target *taken) {
    StrBuf names = {0};
    for (size_t i = 0; i < m->num_left; i++)
        strbuf_printf(&names, "%s%s", i ? ", " : "", m->left[i]->name);
    RecipeKey key = m->target->name ? RECIPE_TARGET_NAME : RECIPE_TARGET_ARCH;
    diag_report(m->sink, DIAG_WARNING, DIAG_H0006, span_of(m, key),
                "%s means several machines: planned with %g units, %g GB/s, a second cache of %.0f "
                "MiB, the least of each",
                word, taken->numbers[TARGET_UNITS], taken->numbers[TARGET_MEM_RATE],
                taken->numbers[TARGET_L2_BYTES] / (1 << 20));
    diag_write(m->sink, "name: one of %s", names.data);
    strbuf_deinit(&names);
}

static Status check_cores(Matcher *m) {
    const char *preference = m->target->ai_core_preference;
    if (!preference) return STATUS_OK;
    if (m->left[0]->kind != TARGET_NPU)
        return diag_error(m->sink, DIAG_H0009, span_of(m, RECIPE_TARGET_AI_PREFERENCE),
                          "ai_core_preference means nothing for %s", m->left[0]->title);
    if (!str_equal(preference, "cube")) return STATUS_OK;
    diag_report(m->sink, DIAG_WARNING, DIAG_H0013, span_of(m, RECIPE_TARGET_AI_PREFERENCE),
                "norms, softmax and rotary positions run on vector cores whatever is preferred");
    diag_write(m->sink, "ai_core_preference: balanced");
    return STATUS_OK;
}

// x86_64 alone is planned for by CPU level, with the numbers the recipe gives.
static bool is_plain_cpu(const RecipeTarget *t) {
    return !t->name && (!t->arch || str_equal(t->arch, "x86_64"));
}

Status recipe_check_target(const Recipe *recipe, const DiagSpan *spans, RecipeTarget *target,
                           DiagSink *sink) {
    Matcher m = {.spans = spans, .sink = sink, .target = target};
    (void)recipe;
    if (!target->arch && !target->name) target->arch = "x86_64";
    TargetTable table;
    TRY(target_table_load(sink, &table));
    m.left = ARENA_ARRAY(&sink->arena, const Target *, table.num_targets + 1);
    if (is_plain_cpu(target)) {
        const Target *least = target_find(&table, cpu_level_info(CPU_LEVEL_V3)->name);
        if (!least) return target_unknown(&table, "x86-64-v3", target->span, sink);
        m.left[m.num_left++] = least;
    } else
        TRY(match_name(&m, &table));
    TRY(match_text(&m, RECIPE_TARGET_CAPABILITY, target->compute_capability));
    TRY(match_text(&m, RECIPE_TARGET_GFX, target->gfx_arch));
    TRY(match_text(&m, RECIPE_TARGET_AI_TYPE, target->ai_core_type));
    TRY(check_cores(&m));
    if (target->sm_count && m.left[0]->kind != TARGET_GPU)
        return diag_error(sink, DIAG_H0009, span_of(&m, RECIPE_TARGET_SM_COUNT),
                          "sm_count means nothing for %s; its key is core_count", m.left[0]->title);
    if (is_plain_cpu(target)) return STATUS_OK;
    const double mib = 1 << 20;
    TRY(match_number(&m, RECIPE_TARGET_SM_COUNT, target->sm_count, TARGET_UNITS, 1));
    TRY(match_number(&m, RECIPE_TARGET_CORE_COUNT, target->core_count, TARGET_UNITS, 1));
    TRY(match_number(&m, RECIPE_TARGET_L2_MB, target->l2_cache_mb, TARGET_L2_BYTES, mib));
    TRY(match_number(&m, RECIPE_TARGET_BANDWIDTH, target->mem_bandwidth_gbps, TARGET_MEM_RATE, 1));
    TRY(want_text(&m, RECIPE_TARGET_GFX));
    target->has_machine = true;
    target->machine = *m.left[0];
    if (m.num_left == 1) return STATUS_OK;
    const char *word = target->name ? target->name : target->arch;
    target->machine = careful(&m, word);
    warn_several(&m, word, &target->machine);
    return STATUS_OK;
}

const char *recipe_target_name(const RecipeTarget *t) {
    return t->name ? t->name : t->has_machine ? t->machine.name : t->arch;
}

Status recipe_select_target(Recipe *recipe, const char *name, DiagSink *sink) {
    uint32_t num = 0;
    StrBuf names = {0};
    for (uint32_t i = 0; i < recipe->num_targets; i++) {
        const RecipeTarget *t = &recipe->targets[i];
        strbuf_printf(&names, "%s%s", i ? ", " : "", recipe_target_name(t));
        bool is_it = (t->name && equal_words(t->name, name)) ||
                     (t->arch && equal_words(t->arch, name)) ||
                     (t->has_machine && equal_words(t->machine.name, name));
        if (is_it && num++ == 0) recipe->target = *t;
    }
    Status status = STATUS_OK;
    if (num != 1) {
        status = diag_error(sink, DIAG_H0012, (DiagSpan){.file = recipe->path},

                            "%u targets of the recipe are called %.60s", num, name);
        diag_write(sink, "--target=NAME with one of %s", names.data);
    }
    strbuf_deinit(&names);
    return status;
}
