// What sets a part of the memory table; see set_by.h. Here a part is connected with the keys that
// change its bytes; a test changes every key and looks at which parts follow.
#include "compiler/set_by.h"

#include <string.h>

enum { MAX_KEYS = 14, NO_KEY = NUM_RECIPE_KEYS };

typedef struct PartReason {
    const char *part;
    bool has_model; // the model file too: shapes, formats, vocabulary
    RecipeKey keys[MAX_KEYS];
} PartReason;

#define KEYS(...)                                                                                  \
    { __VA_ARGS__, (RecipeKey)NO_KEY }
static const PartReason reasons[] = {
    {"weights", true, KEYS(RECIPE_WEIGHTS, RECIPE_ACTIVATIONS, RECIPE_KV_MAX, RECIPE_SEQ_MAX)},
    {"kv pages", true,
     KEYS(RECIPE_KV_MAX, RECIPE_BATCH_MAX, RECIPE_PAGE_LEN, RECIPE_MAX_PAGES, RECIPE_KV_CACHE,
          RECIPE_RELATIONS)},
    {"arena", true, KEYS(RECIPE_SEQ_MAX, RECIPE_BATCH_MAX, RECIPE_ACTIVATIONS)},
    {"scratch", false, KEYS(RECIPE_TARGET_THREADS)},
    {"io", true, KEYS(RECIPE_SEQ_MAX, RECIPE_BATCH_MAX, RECIPE_KV_MAX)},
    {"code", false,
     KEYS(RECIPE_TARGET_CPU, RECIPE_ACTIVATIONS, RECIPE_SEQ_MAX, RECIPE_SEQ_STEP, RECIPE_SEQ_HOT,
          RECIPE_BATCH_MAX, RECIPE_BATCH_STEP, RECIPE_BATCH_HOT)},
    {"tables", true,
     KEYS(RECIPE_SEQ_MAX, RECIPE_SEQ_STEP, RECIPE_SEQ_HOT, RECIPE_BATCH_MAX, RECIPE_BATCH_STEP,
          RECIPE_BATCH_HOT, RECIPE_TARGET_CPU, RECIPE_RELATIONS)},
    {"run time", true,
     KEYS(RECIPE_TARGET_THREADS, RECIPE_SEQ_MAX, RECIPE_SEQ_STEP, RECIPE_SEQ_HOT, RECIPE_BATCH_MAX,
          RECIPE_BATCH_STEP, RECIPE_BATCH_HOT, RECIPE_KV_MAX, RECIPE_PAGE_LEN, RECIPE_RELATIONS)},
    {"reserve", false, KEYS(RECIPE_RESERVE)},
};

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void put_key(const SetByInputs *in, RecipeKey key, const char *separator, StrBuf *out) {
    const RecipeKeyInfo *info = recipe_key_info(key);
    uint32_t line = in->recipe ? in->recipe->spans[key].line : 0;
    bool has_default = info->default_text && *info->default_text;
    if (key == RECIPE_TARGET_THREADS && in->has_threads_option)
        strbuf_printf(out, "%s--threads", separator);
    else if (key == RECIPE_TARGET_CPU && in->has_cpu_option)
        strbuf_printf(out, "%s--cpu", separator);
    else if (line)
        strbuf_printf(out, "%s" RECIPE_NEUTRAL_NAME ":%u %s", separator, line, info->path);
    else if (has_default)
        strbuf_printf(out, "%sdefault %s: %s", separator, info->path, info->default_text);
    // Else it follows from others, which are named.
}

// Of IR text: its file, and the machine where neither an option nor a recipe takes its place.
static void put_text_reason(const SetByInputs *in, const char *part, StrBuf *out) {
    bool is_code = str_equal(part, "code");
    bool has_option = is_code ? in->has_cpu_option : in->has_threads_option;
    strbuf_puts(out, in->recipe ? RECIPE_NEUTRAL_NAME : base_name(in->recipe_path));
    if (!is_code && !str_equal(part, "scratch") && !str_equal(part, "run time")) return;
    if (in->recipe)
        put_key(in, is_code ? RECIPE_TARGET_CPU : RECIPE_TARGET_THREADS, ", ", out);
    else if (has_option)
        strbuf_puts(out, is_code ? ", --cpu" : ", --threads");
    else
        strbuf_puts(out, is_code ? ", CPU level of this machine" : ", threads of this machine");
}

void set_by_put(const SetByInputs *in, const char *part, StrBuf *out) {
    if (str_equal(part, SET_BY_PROCESS)) {
        strbuf_puts(out, "measured: C library; stacks; heap");
        return;
    }
    if (in->is_text && !str_equal(part, "reserve")) {
        put_text_reason(in, part, out);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
        const PartReason *reason = &reasons[i];
        if (!str_equal(reason->part, part)) continue;
        size_t begin = out->len;
        for (size_t k = 0; reason->keys[k] != (RecipeKey)NO_KEY; k++)
            put_key(in, reason->keys[k], out->len > begin ? ", " : "", out);
        if (out->len == begin && !reason->has_model)
            strbuf_printf(out, "default %s: 0", recipe_key_info(reason->keys[0])->path);
        if (reason->has_model)
            strbuf_printf(out, "%s%s", out->len > begin ? ", " : "", base_name(in->model_path));
        return;
    }
    BUG("no reason is known for memory part '%s'", part);
}
