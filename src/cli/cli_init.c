// `ingot init MODEL -o RECIPE`: a recipe for a model file and this machine, with what every key
// says. The values come from the file (context), the machine (level, threads, memory that is free)
// and the plan, which is made of the very text that is written: what is written compiles.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/compiler_verbs.h"
#include "compiler/compile.h"
#include "recipe/recipe.h"
#include "weights/gguf.h"

enum {
    LEAST_CONTEXT = 256,
    WIDTH = 96,
    VALUE_CHARS = 64,
    // What code takes is known only once it is made: room for it beside the plan.
    CODE_ROOM_BYTES = 64 << 20,
};

typedef struct Init {
    const char *model, *out;
    Gguf *gguf;
    CpuLevel level;
    bool has_level;
    uint64_t free_bytes, plan_bytes; // 0: not known
    uint64_t model_context;          // 0: the file does not say
    int64_t context, page_len;
    const char *values[NUM_RECIPE_KEYS]; // NULL: the key is left to its default
    Arena *arena;
} Init;

// ---------------------------------------------------------------- facts

static uint64_t first_number(const char *path, const char *format) {
    FILE *file = fopen(path, "re");
    unsigned long long value = 0;
    char line[256];
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, format, &value) == 1) break;
    if (file) fclose(file);
    return value;
}

// What a process may still take here: what is available, and what its control group allows.
static uint64_t free_memory(void) {
    uint64_t available = first_number("/proc/meminfo", "MemAvailable: %llu") * 1024;
    uint64_t most = first_number("/sys/fs/cgroup/memory.max", "%llu");
    uint64_t used = first_number("/sys/fs/cgroup/memory.current", "%llu");
    if (most && most > used && most - used < available) return most - used;
    return available;
}

// Text of a file, as a word of a comment or a name: what is no plain letter becomes '?'.
static const char *plain(Arena *arena, const char *bytes, uint64_t len) {
    char *out = arena_strndup(arena, bytes, (size_t)MIN(len, (uint64_t)VALUE_CHARS));
    for (char *c = out; *c; c++)
        if (*c < ' ' || *c > '~') *c = '?';
    return out;
}

static const char *string_of(const Init *in, const char *key, const char *otherwise) {
    GgufString text;
    if (!gguf_get_string(in->gguf, key, &text) || text.len == 0) return otherwise;
    return plain(in->arena, text.data, text.len);
}

static const char *quoted(const Init *in, const char *text) {
    StrBuf out = {0};
    strbuf_put_json_string(&out, text, strlen(text));
    const char *kept = arena_strndup(in->arena, out.data, out.len);
    strbuf_deinit(&out);
    return kept;
}

static const char *model_name(const Init *in) {
    const char *slash = strrchr(in->model, '/'), *file = slash ? slash + 1 : in->model;
    size_t len = strlen(file) - (str_has_suffix(file, ".gguf") ? strlen(".gguf") : 0);
    return quoted(in, string_of(in, "general.name", plain(in->arena, file, len)));
}

// As the recipe finds it from its own folder.
static const char *model_path(const Init *in) {
    char model[PATH_MAX], folder[PATH_MAX];
    const char *slash = in->out ? strrchr(in->out, '/') : NULL;
    const char *beside =
        slash ? arena_strndup(in->arena, in->out, (size_t)(slash - in->out) + 1) : ".";
    if (!realpath(in->model, model)) return quoted(in, in->model);
    size_t len = in->out && realpath(beside, folder) ? strlen(folder) : 0;
    bool is_beside = len && strncmp(model, folder, len) == 0 && model[len] == '/' &&
                     !strchr(model + len + 1, '/');
    return quoted(in, is_beside ? model + len + 1 : model);
}

static void choose_values(Init *in) {
    Arena *a = in->arena;
    const char **v = in->values;
    int64_t chunk = MIN(in->context, (int64_t)512);
    v[RECIPE_VERSION] = "1";
    v[RECIPE_MODEL_NAME] = model_name(in);
    v[RECIPE_MODEL] = model_path(in);
    v[RECIPE_WEIGHTS] = "as_stored";
    v[RECIPE_ACTIVATIONS] = "int8";
    v[RECIPE_KV_CACHE] = "f16";
    v[RECIPE_SEQ_MIN] = "1";
    v[RECIPE_SEQ_MAX] = v[RECIPE_SEQ_STEP] = arena_printf(a, "%lld", (long long)chunk);
    v[RECIPE_KV_MAX] = arena_printf(a, "%lld", (long long)in->context);
    v[RECIPE_TARGET_ARCH] = "x86_64";
    if (in->has_level) v[RECIPE_TARGET_CPU] = cpu_level_info(in->level)->name;
    v[RECIPE_TARGET_THREADS] =
        arena_printf(a, "%u", MIN(cpu_usable_threads(), (uint32_t)PLAN_MAX_THREADS));
    v[RECIPE_PAGE_LEN] = arena_printf(a, "%lld", (long long)in->page_len);
    if (in->plan_bytes)
        v[RECIPE_MAX_MEMORY] = arena_printf(
            a, "\"%llu MiB\"",
            (unsigned long long)((in->plan_bytes + CODE_ROOM_BYTES + (1 << 20) - 1) >> 20));
}

// ---------------------------------------------------------------- the text

static void put_indent(StrBuf *out, size_t indent) {
    for (size_t i = 0; i < indent; i++) strbuf_putc(out, ' ');
}

// "# text", in lines of at most WIDTH columns.
static void put_comment(StrBuf *out, size_t indent, const char *text) {
    while (*text) {
        size_t room = WIDTH - indent, len = strlen(text);
        if (len > room) {
            len = room;
            while (len > 1 && text[len] != ' ') len--;
        }
        put_indent(out, indent);
        strbuf_printf(out, "# %.*s\n", (int)len, text);
        text += len;
        while (*text == ' ') text++;
    }
}

static bool has_value_below(const Init *in, const char *path, size_t len) {
    for (int i = 0; i < NUM_RECIPE_KEYS; i++)
        if (in->values[i] && strncmp(recipe_key_info((RecipeKey)i)->path, path, len) == 0)
            return true;
    return false;
}

// The lines that open what the key is in, and the one before was not. Returns the key's indent.
static size_t put_sections(const Init *in, const char *path, const char *before, StrBuf *out) {
    size_t indent = 0;
    for (const char *at = path, *dot; (dot = strchr(at, '.')) != NULL; at = dot + 1) {
        size_t len = (size_t)(dot - path) + 1, name = (size_t)(dot - at);
        bool is_list = dot > at && dot[-1] == ']';
        if (strncmp(path, before, len) != 0) {
            if (indent == 0) strbuf_putc(out, '\n');
            put_indent(out, indent);
            strbuf_printf(out, "%s%.*s:\n", has_value_below(in, path, len) ? "" : "#",
                          (int)(is_list ? name - 2 : name), at);
        }
        indent += is_list ? 4 : 2;
    }
    return indent;
}

// The key that opens the element of its list: the first with a value, or the first there is.
static bool opens_element(const Init *in, RecipeKey key) {
    const char *path = recipe_key_info(key)->path, *list = strstr(path, "[].");
    int first = -1, first_set = -1;
    for (int i = NUM_RECIPE_KEYS - 1; list && i >= 0; i--) {
        const RecipeKeyInfo *info = recipe_key_info((RecipeKey)i);
        if (info->scope == RECIPE_OF_SUBGRAPH ||
            strncmp(info->path, path, (size_t)(list - path) + 3) != 0)
            continue;
        first = i;
        if (in->values[i]) first_set = i;
    }
    return list && (int)key == (first_set >= 0 ? first_set : first);
}

// What a key in a comment shows: its default, or a value of its kind.
static const char *example(const Init *in, RecipeKey key) {
    const RecipeKeyInfo *info = recipe_key_info(key);
    if (info->default_text && *info->default_text) return info->default_text;
    switch (key) {
    case RECIPE_RULE_PATTERN: return "attn_softmax"; // which every other key of a rule fits
    case RECIPE_DIMS_ARCH: return quoted(in, string_of(in, "general.architecture", "..."));
    case RECIPE_RELATIONS:
        return arena_printf(in->arena, "[\"batch_size * kv_cache_seq_len <= %s\"]",
                            in->values[RECIPE_KV_MAX]);
    case RECIPE_RULE_FLASH_VERSION: return "2";
    case RECIPE_LAYOUT_NAME: return "input_ids";
    case RECIPE_LAYOUT_DTYPE: return "i32";
    case RECIPE_LAYOUT_SHAPE: return "[batch, -1]";
    case RECIPE_UNSUPPORTED_OPS: return "[\"linalg.conv_2d_nhwc_hwcf\"]";
    case RECIPE_RESERVE: return "\"1 MB\"";
    case RECIPE_DIMS_ROPE_BASE: return "10000";
    case RECIPE_DIMS_NORM_EPS: return "1e-5";
    default: break;
    }
    switch (info->type) {
    case RECIPE_TYPE_INT: return arena_printf(in->arena, "%lld", (long long)info->min);
    case RECIPE_TYPE_BOOL: return "true";
    case RECIPE_TYPE_WORD:
        return arena_printf(in->arena, "%.*s", (int)strcspn(info->choices, " "), info->choices);
    case RECIPE_TYPE_SIZE: return "4GiB";
    case RECIPE_TYPE_INTS: return arena_printf(in->arena, "[%lld]", (long long)info->min);
    default: return "\"...\"";
    }
}

static void put_key(const Init *in, RecipeKey key, const char *before, StrBuf *out) {
    const RecipeKeyInfo *info = recipe_key_info(key);
    const char *leaf = strrchr(info->path, '.') ? strrchr(info->path, '.') + 1 : info->path;
    if (*before && strchr(before, '.') && !strchr(info->path, '.')) strbuf_putc(out, '\n');
    size_t indent = put_sections(in, info->path, before, out);
    put_comment(out, indent, info->doc);
    bool opens = opens_element(in, key);
    const char *value = in->values[key];
    put_indent(out, opens ? indent - 2 : indent);
    strbuf_printf(out, "%s%s%s: %s\n", value ? "" : "#", opens ? "- " : "", leaf,
                  value ? value : example(in, key));
}

static void put_facts(const Init *in, StrBuf *out) {
    const GgufValue *tokens = gguf_find(in->gguf, "tokenizer.ggml.tokens");
    GgufString template_text;
    bool has_template = gguf_get_string(in->gguf, "tokenizer.chat_template", &template_text);
    Arena *a = in->arena;
    put_comment(
        out, 0,
        "Made by `ingot init`: what stands here is for this model file and this machine. What else "
        "may be set follows a # without a blank, with what is taken without it or an example: take "
        "that # away, and those of the lines it stands under.");
    put_comment(out, 0,
                arena_printf(a, "model: family %s, %zu tensors, %llu bytes, made for %llu tokens",
                             string_of(in, "general.architecture", "unknown"),
                             gguf_num_tensors(in->gguf),
                             (unsigned long long)gguf_len_bytes(in->gguf),
                             (unsigned long long)in->model_context));
    put_comment(out, 0,
                arena_printf(a, "tokenizer: %s, rules %s, %llu tokens, %s chat template",
                             string_of(in, "tokenizer.ggml.model", "none"),
                             string_of(in, "tokenizer.ggml.pre", "of its kind"),
                             tokens ? (unsigned long long)tokens->array.count : 0ull,
                             has_template ? "a" : "no"));
    put_comment(out, 0,
                arena_printf(a, "machine: %s, %u threads, %llu bytes of memory were free",
                             in->has_level ? cpu_level_info(in->level)->name
                                           : "no level that code is made for",
                             cpu_usable_threads(), (unsigned long long)in->free_bytes));
    if (in->plan_bytes)
        put_comment(
            out, 0,
            arena_printf(a, "plan: %llu bytes beside the code, for which max_memory_gb has %d more",
                         (unsigned long long)in->plan_bytes, CODE_ROOM_BYTES));
}

// Keys of a list's element stand under the one that opens it, in their order.
static void put_in_turn(const Init *in, RecipeKey key, const char **before, StrBuf *out) {
    const char *path = recipe_key_info(key)->path, *list = strstr(path, "[].");
    size_t len = list ? (size_t)(list - path) + 3 : 0;
    bool is_new = list && strncmp(path, *before, len) != 0;
    for (int i = 0; is_new && i < NUM_RECIPE_KEYS; i++) {
        const char *other = recipe_key_info((RecipeKey)i)->path;
        if (strncmp(other, path, len) != 0 || !opens_element(in, (RecipeKey)i)) continue;
        put_key(in, (RecipeKey)i, *before, out);
        *before = other;
    }
    if (list && opens_element(in, key)) return;
    put_key(in, key, *before, out);
    *before = path;
}

static void put_recipe(Init *in, StrBuf *out) {
    const char *before = "";
    choose_values(in);
    put_facts(in, out);
    strbuf_putc(out, '\n');
    for (int i = 0; i < NUM_RECIPE_KEYS; i++)
        if (recipe_key_info((RecipeKey)i)->scope != RECIPE_OF_SUBGRAPH)
            put_in_turn(in, (RecipeKey)i, &before, out);
}

// ---------------------------------------------------------------- the plan

// Plans what is written so far; the temporary file stands for the recipe.
static Status plan(Cli *cli, Init *in, const char *folder) {
    char path[TEMP_FOLDER_CHARS + 16];
    snprintf(path, sizeof path, "%s/recipe.yaml", folder);
    StrBuf text = {0};
    in->plan_bytes = 0;
    put_recipe(in, &text);
    Status status = file_write(path, NULL, text.data, text.len, &cli->sink);
    strbuf_deinit(&text);
    if (status != STATUS_OK) return status;
    const CompileOptions options = {
        .recipe_path = path, .model_path = in->model, .is_dry_run = true, .is_check = true};
    CompileReport report;
    status = compile_run(&options, &cli->sink, &report);
    in->plan_bytes = status == STATUS_OK ? report.total_bytes : 0;
    compile_report_deinit(&report);
    unlink(path);
    return status;
}

// The longest context, halved until the plan leaves a fifth of what is free.
static Status choose_context(Cli *cli, Init *in, const char *folder) {
    uint64_t context = in->model_context ? in->model_context : 2048;
    in->context = (int64_t)MIN(context, (uint64_t)recipe_key_info(RECIPE_KV_MAX)->max);
    for (;; in->context = MAX(in->context / 2, (int64_t)LEAST_CONTEXT)) {
        in->page_len = in->context % 64 == 0 || in->context > 1024 ? 64 : 16;
        if (in->context > in->page_len) in->context -= in->context % in->page_len; // whole pages
        TRY(plan(cli, in, folder));
        uint64_t need = in->plan_bytes + CODE_ROOM_BYTES, room = in->free_bytes / 5 * 4;
        if (!in->free_bytes || need <= room) return STATUS_OK;
        if (in->context > LEAST_CONTEXT) continue;
        diag_report(&cli->sink, DIAG_ERROR, DIAG_M0001, (DiagSpan){.file = in->model},
                    "a context of %lld tokens takes %llu bytes, and %llu are free here",
                    (long long)in->context, (unsigned long long)need,
                    (unsigned long long)in->free_bytes);
        diag_write(&cli->sink, "a machine with more memory, or a model file with fewer bits");
        return STATUS_LIMIT;
    }
}

static Status check_output(Cli *cli, const Init *in) {
    const char *const inputs[] = {in->model, NULL};
    if (!in->out) return STATUS_OK;
    TRY(file_check_output(in->out, inputs, &cli->sink));
    if (args_has(&cli->args, OPT_FORCE) || access(in->out, F_OK) != 0) return STATUS_OK;
    Status status = usage_error(&cli->sink, DIAG_U0005, "%s is there already", in->out);
    diag_write(&cli->sink, "--force, or another name");
    return status;
}

static Status init_recipe(Cli *cli, Init *in) {
    char folder[TEMP_FOLDER_CHARS];
    char arch_key[2 * VALUE_CHARS];
    snprintf(arch_key, sizeof arch_key, "%s.context_length",
             string_of(in, "general.architecture", ""));
    (void)gguf_get_u64(in->gguf, arch_key, &in->model_context);
    in->has_level = cpu_host_level(&in->level);
    in->free_bytes = free_memory();
    TRY(make_temp_folder(cli, "init", folder));
    Status status = choose_context(cli, in, folder);
    rmdir(folder);
    if (status != STATUS_OK) return status;
    StrBuf text = {0};
    put_recipe(in, &text);
    if (in->out) {
        status = file_write(in->out, NULL, text.data, text.len, &cli->sink);
        strbuf_deinit(&text);
    } else {
        put_document(&text);
    }
    return status;
}

Status verb_INIT(Cli *cli) {
    TRY(check_positional(cli, 1, 1, "a model file"));
    const char *out = args_text(&cli->args, OPT_OUTPUT, NULL);
    if (!out)
        return usage_error(&cli->sink, DIAG_U0005,
                           "`ingot init` needs -o RECIPE.yaml, or -o - for standard output");
    Init *in = base_alloc(1, sizeof *in);
    *in = (Init){.model = cli->args.positional[0],
                 .out = str_equal(out, "-") ? NULL : out,
                 .arena = &cli->sink.arena};
    Status status = check_output(cli, in);
    if (status == STATUS_OK) status = gguf_open(in->model, &cli->sink, &in->gguf);
    if (status == STATUS_OK) status = init_recipe(cli, in);
    if (in->gguf) gguf_close(in->gguf);
    free(in);
    return status;
}
