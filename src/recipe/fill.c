// Expands templates line by line; see fill.h.
#include "recipe/fill.h"

#include <inttypes.h>
#include <string.h>

#include "ir/print.h"

enum { MAX_IF_DEPTH = 8, MAX_PLACEHOLDER_BYTES = 200 };

void fill_env_init(FillEnv *env, const Model *model, int64_t layer, const ExprScope *numbers) {
    *env = (FillEnv){.model = model, .layer = layer};
    env->scope = (ExprScope){.parent = numbers, .arena = model->arena};
    size_t num_tensors = layer < 0 ? model->num_tensors : model->num_layer_tensors;
    const ModelTensor *tensors =
        layer < 0 ? model->tensors : model->layer_tensors + (size_t)layer * num_tensors;
    for (size_t i = 0; i < num_tensors; i++) {
        const ModelTensor *t = &tensors[i];
        bool is_f32 = t->tensor && str_equal(model_tensor_elem(t->tensor), "f32");
        expr_define(&env->scope, arena_printf(model->arena, "HAS_%s", t->as), t->tensor != NULL,
                    NULL);
        expr_define(&env->scope, arena_printf(model->arena, "IS_F32_%s", t->as), is_f32, NULL);
    }
}

void fill_env_text(FillEnv *env, const char *name, const char *text) {
    BUG_IF(env->num_texts == ARRAY_LEN(env->texts), "too many texts");
    env->texts[env->num_texts][0] = name;
    env->texts[env->num_texts++][1] = text;
}

void fill_put_tensor_type(const GgufTensor *tensor, StrBuf *out) {
    strbuf_puts(out, "tensor<");
    for (uint32_t i = tensor->num_dims; i-- > 0;)
        strbuf_printf(out, "%" PRIu64 "x", tensor->dims[i]);
    strbuf_printf(out, "%s>", model_tensor_elem(tensor));
}

static Status want_tensor(const FillEnv *env, const DocNode *node, const char *as,
                          const GgufTensor **out) {
    *out = model_find_tensor(env->model, as, env->layer);
    if (*out) return STATUS_OK;
    return diag_error(env->model->sink, DIAG_R0013, node->span, "no tensor is called %.40s here",
                      as);
}

Status fill_put_args(const FillEnv *env, const DocNode *names, StrBuf *out) {
    bool is_first = true;
    FOR_EACH_DOC(name, names) {
        const GgufTensor *tensor = model_find_tensor(env->model, name->text, env->layer);
        const ExprName *known =
            expr_find(&env->scope, arena_printf(env->model->arena, "HAS_%s", name->text),
                      strlen(name->text) + 4);
        if (!tensor && known) continue; // optional and absent
        TRY(want_tensor(env, name, name->text, &tensor));
        strbuf_printf(out, "%s%%%s: ", is_first ? "" : ", ", name->text);
        is_first = false;
        fill_put_tensor_type(tensor, out);
        const QuantInfo *info = quant_info(tensor->format);
        if (quant_is_block(info)) strbuf_printf(out, " {ingot.quant = \"%s\"}", info->name);
    }
    return STATUS_OK;
}

// ---------------------------------------------------------------- placeholders

static Status put_placeholder(const FillEnv *env, const DocNode *node, const char *text,
                              StrBuf *out) {
    const Model *model = env->model;
    for (size_t i = 0; i < env->num_texts; i++)
        if (str_equal(env->texts[i][0], text)) {
            strbuf_puts(out, env->texts[i][1]);
            return STATUS_OK;
        }
    const GgufTensor *tensor = NULL;
    if (str_has_prefix(text, "f32 ")) {
        double value = 0;
        TRY(expr_eval(&env->scope, text + 4, node->span, model->sink, &value));
        strbuf_printf(out, "%.9e", value);
    } else if (str_has_prefix(text, "type ")) {
        TRY(want_tensor(env, node, text + 5, &tensor));
        fill_put_tensor_type(tensor, out);
    } else if (str_has_prefix(text, "elem ")) {
        TRY(want_tensor(env, node, text + 5, &tensor));
        strbuf_puts(out, model_tensor_elem(tensor));
    } else if (str_has_prefix(text, "loc ")) {
        TRY(want_tensor(env, node, text + 4, &tensor));
        strbuf_puts(out, "loc(");
        ir_print_string(tensor->name, strlen(tensor->name), out);
        strbuf_puts(out, "(\"" MODEL_NEUTRAL_NAME "\":0:0))");
    } else {
        int64_t value = 0;
        TRY(expr_eval_int(&env->scope, text, 0, INT64_MAX / 1024, node->span, model->sink, &value));
        strbuf_printf(out, "%" PRId64, value);
    }
    return STATUS_OK;
}

static Status put_line(const FillEnv *env, const DocNode *node, const char *line, size_t len,
                       StrBuf *out) {
    const char *end = line + len;
    while (line < end) {
        const char *dollar = memchr(line, '$', (size_t)(end - line));
        if (!dollar || dollar + 1 == end || dollar[1] != '{') dollar = end;
        strbuf_append(out, line, (size_t)(dollar - line));
        if (dollar == end) break;
        const char *close = memchr(dollar, '}', (size_t)(end - dollar));
        if (!close || close - dollar - 2 > MAX_PLACEHOLDER_BYTES)
            return diag_error(env->model->sink, DIAG_R0013, node->span, "${ without } in '%.60s'",
                              dollar);
        const char *text =
            arena_strndup(env->model->arena, dollar + 2, (size_t)(close - dollar - 2));
        TRY(put_placeholder(env, node, text, out));
        line = close + 1;
    }
    strbuf_putc(out, '\n');
    return STATUS_OK;
}

// ---------------------------------------------------------------- @if

typedef struct Conditions {
    bool is_taken[MAX_IF_DEPTH]; // this branch
    bool is_shown[MAX_IF_DEPTH]; // this branch and everything around it
    unsigned depth;
} Conditions;

static Status directive(const FillEnv *env, const DocNode *node, const char *text,
                        Conditions *ifs) {
    DiagSink *sink = env->model->sink;
    bool outer = ifs->depth < 2 || ifs->is_shown[ifs->depth - 2];
    if (str_has_prefix(text, "@if ")) {
        double truth = 0;
        bool is_shown = ifs->depth == 0 || ifs->is_shown[ifs->depth - 1];
        if (ifs->depth == MAX_IF_DEPTH)
            return diag_error(sink, DIAG_R0013, node->span, "@if nested too deep");
        if (is_shown) TRY(expr_eval(&env->scope, text + 4, node->span, sink, &truth));
        ifs->is_taken[ifs->depth] = truth != 0;
        ifs->is_shown[ifs->depth++] = is_shown && truth != 0;
    } else if (str_equal(text, "@else") && ifs->depth > 0) {
        ifs->is_taken[ifs->depth - 1] = !ifs->is_taken[ifs->depth - 1];
        ifs->is_shown[ifs->depth - 1] = outer && ifs->is_taken[ifs->depth - 1];
    } else if (str_equal(text, "@end") && ifs->depth > 0) {
        ifs->depth--;
    } else {
        return diag_error(sink, DIAG_R0013, node->span, "line '%.40s' is not understood", text);
    }
    return STATUS_OK;
}

Status fill_template(const FillEnv *env, const DocNode *node, StrBuf *out) {
    Conditions ifs = {0};
    for (const char *line = node->text; *line;) {
        size_t len = strcspn(line, "\n"), blanks = MIN(strspn(line, " "), len);
        if (line[blanks] == '@') {
            const char *text = arena_strndup(env->model->arena, line + blanks, len - blanks);
            TRY(directive(env, node, text, &ifs));
        } else if (ifs.depth == 0 || ifs.is_shown[ifs.depth - 1]) {
            TRY(put_line(env, node, line, len, out));
        }
        line += len + (line[len] == '\n');
    }
    if (ifs.depth)
        return diag_error(env->model->sink, DIAG_R0013, node->span, "an @if without @end");
    return STATUS_OK;
}
