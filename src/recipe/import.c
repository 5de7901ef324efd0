// Writes the level-1 module of a model as text, from the family's templates, and parses it: the
// text is the simplest thing that can be looked at, and the parser and verifier check it. See
// import.h.
#include "recipe/import.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "recipe/fill.h"
#include "recipe/model_layouts.h"

enum { MAX_LAYER_FUNCTIONS = 64 }; // each is compiled for every bucket and CPU level

// A rotary table as the family describes it for one kind of layer.
typedef struct Rope {
    double base, scale;
    int64_t dim;
    const GgufTensor *factors; // NULL: none
} Rope;

// What the templates are filled in for: tokens of one sequence, or one token each of several.
typedef struct CallForm {
    const char *suffix;                         // of the functions' names
    const char *start_type, *pages_type, *rows; // rows: of the logits
    bool is_batch;
} CallForm;

enum { ONE_SEQUENCE, BATCH, NUM_CALL_FORMS };

typedef struct Importer {
    Model model;
    StrBuf text;
    CallForm forms[NUM_CALL_FORMS];
    size_t num_forms;
    const char *kv_type; // of one layer's K or V cache
    Rope *ropes;         // the different ones
    size_t num_ropes;
    size_t *kind_ropes;       // [kind] number of its table
    const char **layer_names; // [layer] the function it calls, without the suffix of the form
    const char **signatures;  // [layer] its kind and weight formats
} Importer;

// ---------------------------------------------------------------- module attributes

static void put_sizes(StrBuf *out, const char *key, uint32_t num, const int64_t *sizes) {
    if (num == 0) return;
    strbuf_printf(out, "%s[", key);
    for (uint32_t i = 0; i < num; i++)
        strbuf_printf(out, "%s%" PRId64 " : i64", i ? ", " : "", sizes[i]);
    strbuf_puts(out, "]");
}

// Only what is not fp32.
static void put_op_precisions(const Recipe *recipe, StrBuf *out) {
    const char *before = ", op_precision = {";
    for (int i = 0; i < NUM_OP_CLASSES; i++) {
        if (recipe->op_precisions[i] == PRECISION_FP32) continue;
        strbuf_printf(out, "%s%s = \"%s\"", before, op_class_info((OpClass)i)->name,
                      op_precision_info(recipe->op_precisions[i])->name);
        before = ", ";
    }
    if (*before == ',' && before[2] == 0) strbuf_putc(out, '}');
}

void import_put_config(const Recipe *recipe, StrBuf *out) {
    strbuf_puts(out, "ingot.config = {activations = ");
    ir_print_string(recipe->activations, strlen(recipe->activations), out);
    put_sizes(out, ", batches = ", recipe->num_batches, recipe->batches);
    put_sizes(out, ", buckets = ", recipe->num_buckets, recipe->buckets);
    put_op_precisions(recipe, out);
    if (recipe->is_rope_custom)
        strbuf_printf(out, ", custom_rope = \"%.9g\"", recipe->dims.rope_base);
    strbuf_printf(out,
                  ", kv = \"%s\", max_pages = %" PRId64 " : i64, num_pages = %" PRId64
                  " : i64, pack_gate_up = %s, pack_qkv = %s, "
                  "page_len = %" PRId64 " : i64, ",
                  recipe->kv, recipe->max_pages, recipe->num_pages,
                  recipe->is_gate_up_packed ? "true" : "false",
                  recipe->is_qkv_packed ? "true" : "false", recipe->page_len_tokens);
    for (uint32_t i = 0; i < recipe->relations.num; i++) {
        strbuf_puts(out, i ? ", " : "relations = [");
        ir_print_string(recipe->relations.of[i].text, strlen(recipe->relations.of[i].text), out);
    }
    strbuf_printf(out, "%s%sthreads = %" PRId64 " : i64}", recipe->relations.num ? "], " : "",
                  recipe->is_sync ? "sync = 1 : i64, " : "", recipe->target.threads);
}

// Names of tables, functions and values by number: the first has no number.
static const char *numbered(const Importer *im, const char *name, size_t number) {
    return number ? arena_printf(im->model.arena, "%s_%zu", name, number) : name;
}

// Rules with their lines: equal recipes, equal modules.
static void put_rules(Importer *im) {
    const Recipe *recipe = im->model.recipe;
    if (recipe->num_rules == 0) return;
    strbuf_puts(&im->text, ", ingot.rules = [");
    for (uint32_t i = 0; i < recipe->num_rules; i++) {
        const RecipeRule *rule = &recipe->rules[i];
        const char *at =
            arena_printf(im->model.arena, RECIPE_NEUTRAL_NAME ":%" PRIu32, rule->span.line);
        strbuf_puts(&im->text, i ? ", {at = " : "{at = ");
        ir_print_string(at, strlen(at), &im->text);
        strbuf_printf(&im->text, "%s%s, mode = \"%s\", pattern = \"%s\"}",
                      rule->is_atomic ? ", atomic = true" : "",
                      !rule->says_flash ? ""
                      : rule->is_flash  ? ", flash = true"
                                        : ", flash = false",
                      rule->mode, rule->pattern);
    }
    strbuf_puts(&im->text, "]");
}

static Status rope_expr(Importer *im, const DocNode *table, const char *key, const ExprScope *scope,
                        double *out) {
    const DocNode *node = NULL;
    TRY(model_child(&im->model, table, key, DOC_SCALAR, &node));
    return expr_eval(scope, node->text, node->span, im->model.sink, out);
}

// The tables of all kinds of layers, equal ones once.
static Status find_ropes(Importer *im) {
    const DocNode *table = NULL, *dim = NULL;
    Model *model = &im->model;
    TRY(model_child(model, model->arch, "rope_table", DOC_MAP, &table));
    TRY(model_child(model, table, "dim", DOC_SCALAR, &dim));
    const DocNode *factors = doc_find(table, "factors");
    im->ropes = ARENA_ARRAY(model->arena, Rope, model->num_kinds);
    im->kind_ropes = ARENA_ARRAY(model->arena, size_t, model->num_kinds);
    for (size_t kind = 0; kind < model->num_kinds; kind++) {
        const ExprScope *scope = &model->layers[model->kind_layers[kind]].scope;
        Rope rope = {.factors = factors ? model_find_tensor(model, factors->text, -1) : NULL};
        TRY(rope_expr(im, table, "base", scope, &rope.base));
        TRY(rope_expr(im, table, "scale", scope, &rope.scale));
        TRY(expr_eval_int(scope, dim->text, 2, 65536, dim->span, model->sink, &rope.dim));
        size_t i = 0;
        while (i < im->num_ropes &&
               (im->ropes[i].base != rope.base || im->ropes[i].scale != rope.scale ||
                im->ropes[i].dim != rope.dim))
            i++;
        if (i == im->num_ropes) im->ropes[im->num_ropes++] = rope;
        im->kind_ropes[kind] = i;
    }
    return STATUS_OK;
}

// rope.cos = {base = ..., dim = ..., kind = "cos", rows = ..., scale = ..., factors = "..."}
static void put_table(Importer *im, size_t number, const char *kind, int64_t rows) {
    const Rope *rope = &im->ropes[number];
    strbuf_printf(&im->text, "rope.%s = {base = %.17e : f64, dim = %" PRId64 " : i64, ",
                  numbered(im, kind, number), rope->base, rope->dim);
    if (rope->factors) {
        strbuf_puts(&im->text, "factors = ");
        ir_print_string(rope->factors->name, strlen(rope->factors->name), &im->text);
        strbuf_puts(&im->text, ", ");
    }
    strbuf_printf(&im->text, "kind = \"%s\", rows = %" PRId64 " : i64, scale = %.17e : f64}", kind,
                  rows, rope->scale);
}

static Status put_module_head(Importer *im) {
    int64_t rows = 0;
    TRY(find_ropes(im));
    TRY(expr_eval_int(&im->model.scope, "TABLE_LEN", 1, INT32_MAX, im->model.arch->span,
                      im->model.sink, &rows));
    strbuf_puts(&im->text, "module attributes {");
    import_put_config(im->model.recipe, &im->text);
    put_rules(im);
    strbuf_puts(&im->text, ", ingot.level = 1 : i64, ingot.tables = {");
    for (size_t i = 0; i < im->num_ropes; i++) {
        if (i) strbuf_puts(&im->text, ", ");
        put_table(im, i, "cos", rows);
        strbuf_puts(&im->text, ", ");
        put_table(im, i, "sin", rows);
    }
    strbuf_puts(&im->text, "}, ingot.version = 1 : i64} {\n");
    return STATUS_OK;
}

// ---------------------------------------------------------------- functions of the templates

// layer -1: tensors outside the layers. kind: whose numbers are visible, NO_KIND: the model's.
static const size_t NO_KIND = SIZE_MAX;

static void start_env(Importer *im, int64_t layer, size_t kind, const CallForm *form,
                      FillEnv *env) {
    Model *model = &im->model;
    const ExprScope *numbers =
        kind == NO_KIND ? &model->scope : &model->layers[model->kind_layers[kind]].scope;
    fill_env_init(env, model, layer, numbers);
    fill_env_text(env, "kv", model->recipe->kv);
    fill_env_text(env, "kv_type", im->kv_type);
    fill_env_text(env, "call", form->suffix);
    fill_env_text(env, "start_type", form->start_type);
    fill_env_text(env, "pages_type", form->pages_type);
    fill_env_text(env, "rows", form->rows);
    expr_define(&env->scope, "IS_BATCH", form->is_batch, NULL);
    if (kind != NO_KIND) fill_env_text(env, "kind", numbered(im, "", kind));
}

// One entry of a `for` list: words become texts, expressions names.
static Status bind_instance(FillEnv *env, const DocNode *instance) {
    TRY(doc_want_kind(instance, "an element of for", DOC_MAP, env->model->sink));
    FOR_EACH_DOC(entry, instance) {
        double value = 0;
        if (str_equal(entry->key, "suffix")) {
            fill_env_text(env, "suffix", entry->text);
            continue;
        }
        TRY(expr_eval(&env->scope, entry->text, entry->span, env->model->sink, &value));
        expr_define(&env->scope, entry->key, value, NULL);
    }
    return STATUS_OK;
}

static Status put_instances(Importer *im, const DocNode *function, size_t kind,
                            const CallForm *form) {
    const DocNode *ir = NULL, *instances = doc_find(function, "for");
    FillEnv env;
    TRY(model_child(&im->model, function, "ir", DOC_SCALAR, &ir));
    if (!instances) {
        start_env(im, -1, kind, form, &env);
        return fill_template(&env, ir, &im->text);
    }
    FOR_EACH_DOC(instance, instances) {
        start_env(im, -1, kind, form, &env);
        TRY(bind_instance(&env, instance));
        TRY(fill_template(&env, ir, &im->text));
    }
    return STATUS_OK;
}

// For every kind of layer, or for none in particular.
static Status put_kinds(Importer *im, const DocNode *function, bool is_per_kind,
                        const CallForm *form) {
    if (!is_per_kind) return put_instances(im, function, NO_KIND, form);
    for (size_t kind = 0; kind < im->model.num_kinds; kind++)
        TRY(put_instances(im, function, kind, form));
    return STATUS_OK;
}

// Functions that say `per: kind` are made for every kind of layer, ${kind} tells them apart; those
// that say `per: call` for every form of a call, told apart by ${call}.
static Status put_shared_functions(Importer *im) {
    const DocNode *functions = NULL;
    TRY(model_child(&im->model, im->model.arch, "functions", DOC_MAP, &functions));
    FOR_EACH_DOC(function, functions) {
        const DocNode *per = doc_find(function, "per");
        const char *text = per ? per->text : "";
        bool is_per_both = str_equal(text, "kind and call");
        bool is_per_kind = is_per_both || str_equal(text, "kind");
        bool is_per_call = is_per_both || str_equal(text, "call");
        if (per && !is_per_kind && !is_per_call)
            return diag_error(im->model.sink, DIAG_R0013, per->span,
                              "per can be kind, call, or kind and call");
        for (size_t f = 0; f < (is_per_call ? im->num_forms : 1); f++)
            TRY(put_kinds(im, function, is_per_kind, &im->forms[f]));
    }
    return STATUS_OK;
}

// A function with weights: embed, head, or the layer function of one layer.
static Status put_part(Importer *im, const char *part, const char *name, int64_t layer,
                       const CallForm *form) {
    const DocNode *node = NULL, *weights = NULL, *ir = NULL;
    TRY(model_child(&im->model, im->model.arch, part, DOC_MAP, &node));
    TRY(model_child(&im->model, node, "weights", DOC_LIST, &weights));
    TRY(model_child(&im->model, node, "ir", DOC_SCALAR, &ir));
    FillEnv env;
    StrBuf args = {0};
    start_env(im, layer, layer < 0 ? NO_KIND : im->model.layers[layer].kind, form, &env);
    Status status = fill_put_args(&env, weights, &args);
    if (status == STATUS_OK) {
        fill_env_text(&env, "name", name);
        fill_env_text(&env, "args", args.data ? args.data : "");
        status = fill_template(&env, ir, &im->text);
    }
    strbuf_deinit(&args);
    return status;
}

static const char *form_name(const Importer *im, const char *name, const CallForm *form) {
    return arena_printf(im->model.arena, "%s%s", name, form->suffix);
}

static const char *layer_signature(const Importer *im, int64_t layer) {
    const Model *model = &im->model;
    const ModelTensor *tensors = model->layer_tensors + (size_t)layer * model->num_layer_tensors;
    StrBuf text = {0};
    strbuf_printf(&text, "%zu ", model->layers[layer].kind);
    for (size_t i = 0; i < model->num_layer_tensors; i++)
        strbuf_printf(&text, "%s ",
                      tensors[i].tensor ? quant_info(tensors[i].tensor->format)->name : "-");
    const char *copy = arena_strndup(model->arena, text.data, text.len);
    strbuf_deinit(&text);
    return copy;
}

// Layers of one kind and with the same weight formats share a function: @layer, @layer_1, ...
static Status put_layers(Importer *im) {
    size_t num_layers = (size_t)im->model.num_layers;
    im->layer_names = ARENA_ARRAY(im->model.arena, const char *, num_layers);
    im->signatures = ARENA_ARRAY(im->model.arena, const char *, num_layers);
    size_t num_functions = 0;
    for (size_t layer = 0; layer < num_layers; layer++) {
        im->signatures[layer] = layer_signature(im, (int64_t)layer);
        for (size_t i = 0; i < layer && !im->layer_names[layer]; i++)
            if (str_equal(im->signatures[i], im->signatures[layer]))
                im->layer_names[layer] = im->layer_names[i];
        if (im->layer_names[layer]) continue;
        if (num_functions == MAX_LAYER_FUNCTIONS)
            return diag_error(im->model.sink, DIAG_F0016,
                              (DiagSpan){.file = gguf_path(im->model.gguf)},
                              "more than %d layers that all differ", MAX_LAYER_FUNCTIONS);
        im->layer_names[layer] = numbered(im, "layer", num_functions++);
        for (size_t f = 0; f < im->num_forms; f++)
            TRY(put_part(im, "layer", form_name(im, im->layer_names[layer], &im->forms[f]),
                         (int64_t)layer, &im->forms[f]));
    }
    return STATUS_OK;
}

// ---------------------------------------------------------------- @forward

// The weights of a part as SSA names or types, each after a comma; layer tensors are %NAME_LAYER.
static Status put_part_weights(Importer *im, const char *part, int64_t layer, bool as_types) {
    const DocNode *node = NULL, *weights = NULL;
    TRY(model_child(&im->model, im->model.arch, part, DOC_MAP, &node));
    TRY(model_child(&im->model, node, "weights", DOC_LIST, &weights));
    FOR_EACH_DOC(name, weights) {
        const GgufTensor *tensor = model_find_tensor(&im->model, name->text, layer);
        if (!tensor) continue;
        strbuf_puts(&im->text, ", ");
        if (as_types)
            fill_put_tensor_type(tensor, &im->text);
        else
            strbuf_printf(&im->text, "%%t%" PRIu32, tensor->index);
    }
    return STATUS_OK;
}

static void put_weight_arg(Importer *im, const GgufTensor *tensor) {
    strbuf_printf(&im->text, ",\n    %%t%" PRIu32 ": ", tensor->index);
    fill_put_tensor_type(tensor, &im->text);
    strbuf_puts(&im->text, " {ingot.param = ");
    ir_print_string(tensor->name, strlen(tensor->name), &im->text);
    const QuantInfo *info = quant_info(tensor->format);
    if (quant_is_block(info)) strbuf_printf(&im->text, ", ingot.quant = \"%s\"", info->name);
    strbuf_puts(&im->text, "}");
}

// Weights of a part that are not arguments yet (a tied head is its embedding).
static Status put_part_args(Importer *im, const char *part, int64_t layer, bool *is_declared) {
    const DocNode *node = NULL, *weights = NULL;
    TRY(model_child(&im->model, im->model.arch, part, DOC_MAP, &node));
    TRY(model_child(&im->model, node, "weights", DOC_LIST, &weights));
    FOR_EACH_DOC(name, weights) {
        const GgufTensor *tensor = model_find_tensor(&im->model, name->text, layer);
        if (!tensor || is_declared[tensor->index]) continue;
        is_declared[tensor->index] = true;
        put_weight_arg(im, tensor);
    }
    return STATUS_OK;
}

static Status name_value(Importer *im, const char *name, int64_t *out) {
    return expr_eval_int(&im->model.scope, name, 1, INT32_MAX, im->model.arch->span, im->model.sink,
                         out);
}

typedef struct ForwardTypes {
    const CallForm *form;
    const char *x, *table, *logits;
} ForwardTypes;

static Status forward_types(Importer *im, const CallForm *form, ForwardTypes *out) {
    int64_t embd = 0, table_len = 0, half = 0, vocab = 0;
    TRY(name_value(im, "EMBD", &embd));
    TRY(name_value(im, "TABLE_LEN", &table_len));
    TRY(name_value(im, "HALF", &half));
    TRY(name_value(im, "VOCAB", &vocab));
    Arena *arena = im->model.arena;
    out->form = form;
    out->x = arena_printf(arena, "tensor<?x%" PRId64 "xf32>", embd);
    out->table = arena_printf(arena, "tensor<%" PRId64 "x%" PRId64 "xf32>", table_len, half);
    out->logits = arena_printf(arena, "tensor<%sx%" PRId64 "xf32>", form->rows, vocab);
    return STATUS_OK;
}

static Status put_forward_head(Importer *im, const ForwardTypes *types) {
    StrBuf *text = &im->text;
    bool *is_declared = ARENA_ARRAY(im->model.arena, bool, gguf_num_tensors(im->model.gguf));
    strbuf_printf(text, "  func.func @forward%s(%%ids: tensor<?xi32>, %%start: %s, %%pages: %s",
                  types->form->suffix, types->form->start_type, types->form->pages_type);
    for (int64_t i = 0; i < im->model.num_layers; i++)
        for (int v = 0; v < 2; v++)
            strbuf_printf(text,
                          ",\n    %%%cc%" PRId64 ": %s {ingot.kv = \"%c\", ingot.layer = %" PRId64
                          " : i64}",
                          v ? 'v' : 'k', i, im->kv_type, v ? 'v' : 'k', i);
    for (size_t i = 0; i < im->num_ropes; i++)
        for (int is_sin = 0; is_sin < 2; is_sin++) {
            const char *name = numbered(im, is_sin ? "sin" : "cos", i);
            strbuf_printf(text, ",\n    %%%s: %s {ingot.param = \"rope.%s\"}", name, types->table,
                          name);
        }
    TRY(put_part_args(im, "embed", -1, is_declared));
    for (int64_t i = 0; i < im->model.num_layers; i++)
        TRY(put_part_args(im, "layer", i, is_declared));
    TRY(put_part_args(im, "head", -1, is_declared));
    strbuf_printf(text, ")\n    -> (%s", types->logits);
    for (int64_t i = 0; i < 2 * im->model.num_layers; i++) strbuf_printf(text, ", %s", im->kv_type);
    strbuf_printf(text, ")%s {\n", types->form->is_batch ? " attributes {ingot.batch}" : "");
    return STATUS_OK;
}

static Status put_layer_call(Importer *im, const ForwardTypes *types, int64_t layer) {
    StrBuf *text = &im->text;
    const char *x = layer ? arena_printf(im->model.arena, "%%x%" PRId64 "#0", layer) : "%x0";
    size_t rope = im->kind_ropes[im->model.layers[layer].kind];
    strbuf_printf(text,
                  "    %%x%" PRId64 ":3 = func.call @%s(%s, %%start, %%pages, %%kc%" PRId64
                  ", %%vc%" PRId64 ", %%%s, %%%s",
                  layer + 1, form_name(im, im->layer_names[layer], types->form), x, layer, layer,
                  numbered(im, "cos", rope), numbered(im, "sin", rope));
    TRY(put_part_weights(im, "layer", layer, false));
    strbuf_printf(text, ") : (%s, %s, %s, %s, %s, %s, %s", types->x, types->form->start_type,
                  types->form->pages_type, im->kv_type, im->kv_type, types->table, types->table);
    TRY(put_part_weights(im, "layer", layer, true));
    strbuf_printf(text, ") -> (%s, %s, %s) loc(\"blk.%" PRId64 "\"(", types->x, im->kv_type,
                  im->kv_type, layer);
    strbuf_puts(text, "\"" MODEL_NEUTRAL_NAME "\":0:0))\n");
    return STATUS_OK;
}

static Status put_forward(Importer *im, const CallForm *form) {
    StrBuf *text = &im->text;
    ForwardTypes types;
    TRY(forward_types(im, form, &types));
    TRY(put_forward_head(im, &types));
    int64_t num_layers = im->model.num_layers;
    strbuf_puts(text, "    %x0 = func.call @embed(%ids");
    TRY(put_part_weights(im, "embed", -1, false));
    strbuf_puts(text, ") : (tensor<?xi32>");
    TRY(put_part_weights(im, "embed", -1, true));
    strbuf_printf(text, ") -> %s\n", types.x);
    for (int64_t i = 0; i < num_layers; i++) TRY(put_layer_call(im, &types, i));
    strbuf_printf(text, "    %%logits = func.call @head%s(%%x%" PRId64 "#0", form->suffix,
                  num_layers);
    TRY(put_part_weights(im, "head", -1, false));
    strbuf_printf(text, ") : (%s", types.x);
    TRY(put_part_weights(im, "head", -1, true));
    strbuf_printf(text, ") -> %s\n    return %%logits", types.logits);
    for (int64_t i = 1; i <= num_layers; i++)
        strbuf_printf(text, ", %%x%" PRId64 "#1, %%x%" PRId64 "#2", i, i);
    strbuf_printf(text, " : %s", types.logits);
    for (int64_t i = 0; i < 2 * num_layers; i++) strbuf_printf(text, ", %s", im->kv_type);
    strbuf_puts(text, "\n  }\n");
    return STATUS_OK;
}

// ---------------------------------------------------------------- the whole

static Status describe_forms(Importer *im) {
    int64_t pages = 0;
    TRY(name_value(im, "PAGES", &pages));
    im->forms[ONE_SEQUENCE] =
        (CallForm){.suffix = "",
                   .start_type = "index",
                   .pages_type = arena_printf(im->model.arena, "tensor<%" PRId64 "xi32>", pages),
                   .rows = "1"};
    im->forms[BATCH] =
        (CallForm){.suffix = "_batch",
                   .start_type = "tensor<?xi32>",
                   .pages_type = arena_printf(im->model.arena, "tensor<?x%" PRId64 "xi32>", pages),
                   .rows = "?",
                   .is_batch = true};
    im->num_forms = im->model.recipe->num_batches > 0 ? NUM_CALL_FORMS : 1;
    return STATUS_OK;
}

static Status write_module(Importer *im) {
    int64_t kv_heads = 0, head_dim = 0, page_len = 0;
    TRY(name_value(im, "KV_HEADS", &kv_heads));
    TRY(name_value(im, "HEAD_DIM", &head_dim));
    TRY(name_value(im, "PAGE_LEN", &page_len));
    TRY(describe_forms(im));
    im->kv_type = arena_printf(
        im->model.arena, "tensor<%" PRId64 "x%" PRId64 "x%" PRId64 "x%" PRId64 "x%s>",
        im->model.recipe->num_pages, page_len, kv_heads, head_dim, im->model.recipe->kv);
    TRY(put_module_head(im));
    TRY(put_shared_functions(im));
    TRY(put_part(im, "embed", "embed", -1, &im->forms[ONE_SEQUENCE]));
    TRY(put_layers(im));
    for (size_t f = 0; f < im->num_forms; f++)
        TRY(put_part(im, "head", form_name(im, "head", &im->forms[f]), -1, &im->forms[f]));
    for (size_t f = 0; f < im->num_forms; f++) TRY(put_forward(im, &im->forms[f]));
    strbuf_puts(&im->text, "}\n");
    return STATUS_OK;
}

static Status parse_module(Importer *im, IrModule **out_module) {
    DiagSink *sink = im->model.sink;
    const char *text = arena_strndup(&sink->arena, im->text.data, im->text.len);
    IrModule *module = NULL;
    TRY(ir_parse(text, im->text.len, MODEL_NEUTRAL_NAME ".mlir", sink, &module));
    Status status = ir_verify(module, &(IrVerifyOptions){.level = 1}, sink);
    if (status == STATUS_OK)
        *out_module = module;
    else
        ir_module_destroy(module);
    return status;
}

Status import_model(const Recipe *recipe, Gguf *gguf, DiagSink *sink, IrModule **out_module) {
    Importer im = {0};
    Status status = model_init(&im.model, recipe, gguf, sink);
    if (status == STATUS_OK) status = model_check_layouts(&im.model);
    if (status == STATUS_OK) status = write_module(&im);
    if (status == STATUS_OK) status = parse_module(&im, out_module);
    strbuf_deinit(&im.text);
    return status;
}
