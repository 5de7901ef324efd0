// Searches for the first op that overflows, and for what cures it; see overflow_probe.h.
#include "compiler/overflow_probe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/weights_image.h"
#include "ir/interp.h"
#include "passes/entry.h"
#include "passes/pass.h"
#include "recipe/import.h"
#include "recipe/recipe.h"

// An op of the module as it is imported.
typedef struct Origin {
    uint32_t line, col;
    const char *function;
    int class; // an OpClass, or NUM_OP_CLASSES: none
    bool is_product;
} Origin;

// One module, made with the precisions of the moment.
typedef struct Trial {
    const ProbeOptions *o;
    Gguf *gguf;
    Arena *arena;
    DiagSink *sink;
    IrModule *m;
    const IrOp *entry;
    Origin *origins;
    size_t num_origins, capacity;
    WeightsImage image;
    uint8_t *weights;
    uint8_t **caches; // in the order of the entry's results
    uint32_t num_caches;
    const char *bad_param;
    int guess; // what the op found belongs to: an OpClass, or NUM_OP_CLASSES: a cache
} Trial;

// ---------------------------------------------------------------- the module

static void note_origin(IrOp *op, void *ctx) {
    Trial *t = ctx;
    const IrOp *func = ir_op_parent(op);
    if (!func || func->kind != IR_FUNC_FUNC || !op->loc) return;
    DiagSpan span = ir_loc_span(op->loc);
    Origin origin = {.line = span.line,
                     .col = span.col,
                     .function = arena_strdup(t->arena, ir_symbol_name(func)),
                     .class = NUM_OP_CLASSES,
                     .is_product = op->kind == IR_LINALG_MATMUL || op->kind == IR_LINALG_CONTRACT};
    const IrAttr *attr = ir_op_attr(op, "ingot.op_class");
    OpClass class;
    if (attr && attr->kind == IR_ATTR_STRING && op_class_find(attr->str, &class))
        origin.class = (int)class;
    ARRAY_RESERVE(t->origins, t->num_origins, t->capacity);
    t->origins[t->num_origins++] = origin;
}

static const Origin *origin_of(const Trial *t, const IrOp *op) {
    DiagSpan span = ir_loc_span(op->loc);
    for (size_t i = 0; i < t->num_origins && span.line; i++)
        if (t->origins[i].line == span.line && t->origins[i].col == span.col) return &t->origins[i];
    return NULL;
}

static bool is_bad_float(const IrType *elem, const uint8_t *at) {
    uint16_t half;
    float single;
    switch (elem->kind) {
    case IR_TYPE_F16: memcpy(&half, at, sizeof half); return (half & 0x7c00) == 0x7c00;
    case IR_TYPE_BF16: memcpy(&half, at, sizeof half); return (half & 0x7f80) == 0x7f80;
    case IR_TYPE_F32: memcpy(&single, at, sizeof single); return !isfinite(single);
    default: return false;
    }
}

// The name of a parameter, or those of several that are one.
static const char *param_name(const Trial *t, const IrAttr *param) {
    if (param->kind == IR_ATTR_STRING) return arena_strdup(t->arena, param->str);
    StrBuf text = {0};
    for (size_t i = 0; i < param->num_elems; i++)
        strbuf_printf(&text, "%s%s", i ? " + " : "", param->elems[i]->str);
    const char *name = arena_strdup(t->arena, text.data ? text.data : "");
    strbuf_deinit(&text);
    return name;
}

static void look_at_param(Trial *t, const IrType *type, const IrAttr *param, const uint8_t *data) {
    uint64_t bytes = ir_type_bytes(type->elem), num = (uint64_t)ir_type_num_elems(type);
    for (uint64_t i = 0; i < num && !t->bad_param; i++)
        if (is_bad_float(type->elem, data + i * bytes)) t->bad_param = param_name(t, param);
}

static const IrOp *find_entry(IrModule *m) {
    FOR_EACH_OP(op, ir_module_body(m)) {
        const IrAttr *bucket = is_public_func(op) ? ir_op_attr(op, "ingot.bucket") : NULL;
        if (bucket && bucket->i == 1 && !entry_is_batch(op)) return op;
    }
    return NULL;
}

static Status load_weights(Trial *t) {
    TRY(weights_image_layout(t->m, t->sink, &t->image));
    if (t->image.len_bytes > t->o->max_bytes) return STATUS_LIMIT;
    t->weights = base_alloc(t->image.len_bytes + 1, 1);
    WeightsSource source = {.m = t->m, .gguf = t->gguf};
    TRY(weights_image_fill(&t->image, &source, t->weights, t->sink));
    const IrType *type = ir_func_type(t->entry);
    for (uint32_t i = 0; i < type->num_inputs; i++) {
        const ImageItem *item = weights_image_find(&t->image, t->entry, i);
        if (item && item->param)
            look_at_param(t, type->inputs[i], item->param, t->weights + item->offset);
    }
    return STATUS_OK;
}

static Status trial_open(Trial *t, const Recipe *recipe) {
    TRY(import_model(recipe, t->gguf, t->sink, &t->m));
    ir_walk(t->m->op, note_origin, t);
    PassId ids[NUM_PASSES];
    size_t num = 0;
    for (PassId id = (PassId)0; id <= PASS_assign_precision; id = (PassId)(id + 1)) ids[num++] = id;
    TRY(pass_pipeline_run(t->m, &(PassPipeline){.ids = ids, .num_ids = num}, t->sink));
    t->entry = find_entry(t->m);
    BUG_IF(!t->entry, "a language model without an entry of one token");
    t->caches = base_alloc(ir_func_type(t->entry)->num_inputs, sizeof *t->caches);
    return load_weights(t);
}

static void trial_close(Trial *t) {
    for (uint32_t i = 0; i < t->num_caches; i++) free(t->caches[i]);
    free(t->caches);
    free(t->weights);
    free(t->origins);
    weights_image_deinit(&t->image);
    ir_module_destroy(t->m);
}

// ---------------------------------------------------------------- what was found

// The op directly in a function that op is, or is inside of.
static const IrOp *structured_op(const IrOp *op) {
    for (const IrOp *parent; (parent = ir_op_parent(op)) && parent->kind != IR_FUNC_FUNC;)
        op = parent;
    return op;
}

// The call that the function's arguments come from: calls are under way, the innermost first.
typedef struct Frame {
    const IrInterpEvents *events;
    uint32_t depth;
} Frame;

static const IrAttr *param_behind(const Trial *t, const IrValue *value, Frame frame,
                                  uint32_t steps) {
    if (value->def_block) {
        if (ir_block_parent(value->def_block) == t->entry)
            return ir_func_arg_attr(t->entry, value->number, "ingot.param");
        if (frame.depth >= frame.events->num_calls) return NULL;
        const IrOp *call = frame.events->calls[frame.depth++];
        return call->num_operands > value->number
                   ? param_behind(t, ir_op_operand(call, value->number), frame, steps)
                   : NULL;
    }
    const IrAttr *found = NULL;
    if (value->def_op->kind == IR_FUNC_CALL) return NULL; // what a layer is made of lies behind it
    for (uint32_t i = 0; steps && i < value->def_op->num_operands && !found; i++)
        found = param_behind(t, ir_op_operand(value->def_op, i), frame, steps - 1);
    return found;
}

static const IrAttr *param_near(const Trial *t, const IrOp *op, const IrInterpEvents *events) {
    const IrAttr *found = NULL;
    for (uint32_t steps = 0; steps < 4 && !found; steps++)
        for (uint32_t i = 0; i < op->num_operands && !found; i++)
            found = param_behind(t, ir_op_operand(op, i), (Frame){.events = events}, steps);
    return found;
}

static int64_t layer_of(const Trial *t, const IrInterpEvents *events) {
    for (uint32_t c = events->num_calls; c-- > 0;) {
        const IrOp *call = events->calls[c];
        for (uint32_t i = 0; i < call->num_operands; i++) {
            const IrValue *value = ir_op_operand(call, i);
            if (!value->def_block || ir_block_parent(value->def_block) != t->entry) continue;
            const IrAttr *layer = ir_func_arg_attr(t->entry, value->number, "ingot.layer");
            if (layer) return layer->i;
        }
    }
    return -1;
}

static bool are_of_one_place(const IrOp *a, const IrOp *b) {
    DiagSpan x = ir_loc_span(a->loc), y = ir_loc_span(b->loc);
    return x.line == y.line && x.col == y.col;
}

// Is op a product, or a part of what is multiplied?
static bool is_of_product(const IrOp *op, uint32_t steps) {
    if (ir_op_attr(op, "ingot.contract")) return true;
    for (uint32_t r = 0; steps && r < op->num_results; r++) FOR_EACH_USE(use, ir_op_result(op, r)) {
            const IrOp *user = structured_op(use->owner);
            if (are_of_one_place(op, user) && is_of_product(user, steps - 1)) return true;
        }
    return false;
}

// Products made of several have no place of their own: what is not theirs is a cache.
static int guess_class(const Origin *origin, const IrOp *op) {
    if (!origin) return is_of_product(op, 4) ? OP_CLASS_MATMUL : NUM_OP_CLASSES;
    bool has_class = origin->class != NUM_OP_CLASSES;
    bool is_product = has_class && op_class_info((OpClass)origin->class)->is_product;
    if (is_product || !origin->is_product || (has_class && !is_of_product(op, 4)))
        return origin->class;
    return OP_CLASS_MATMUL;
}

static void describe(Trial *t, const IrInterpEvents *events, uint32_t token, ProbePlace *out) {
    const IrOp *outer = structured_op(events->op);
    const Origin *origin = origin_of(t, outer);
    const IrAttr *param = param_near(t, outer, events);
    const char *inner_name = ir_op_info(events->op->kind)->name;
    const char *outer_name = ir_op_info(outer->kind)->name;
    *out = (ProbePlace){
        .is_found = true,
        .is_nan = events->is_nan,
        .token = token,
        .layer = layer_of(t, events),
        .op = outer == events->op ? arena_strdup(t->arena, outer_name)
                                  : arena_printf(t->arena, "%s in %s", inner_name, outer_name),
        .function =
            origin ? origin->function : arena_strdup(t->arena, ir_symbol_name(ir_op_parent(outer))),
        .weights = param ? param_name(t, param) : NULL,
    };
    t->guess = guess_class(origin, outer);
}

// ---------------------------------------------------------------- one run

typedef struct Feed {
    IrInterpValue *args, *results;
    int32_t token;
    int32_t *pages;
} Feed;

static void bind(Trial *t, Feed *feed, uint32_t position) {
    const IrType *type = ir_func_type(t->entry);
    uint32_t num_scalars = 0, num_words = 0, num_caches = 0;
    for (uint32_t i = 0; i < type->num_inputs; i++) {
        IrInterpValue *arg = &feed->args[i];
        *arg = (IrInterpValue){.type = type->inputs[i]};
        if (!ir_type_is_shaped(type->inputs[i])) { // the first position, the number of tokens
            arg->bits = num_scalars++ == 0 ? position : 1;
            continue;
        }
        uint64_t num = (uint64_t)ir_type_num_elems(arg->type);
        arg->len_bytes = num * ir_type_bytes(arg->type->elem);
        const ImageItem *item = weights_image_find(&t->image, t->entry, i);
        if (item) {
            arg->data = t->weights + item->offset;
        } else if (ir_func_arg_attr(t->entry, i, "ingot.kv")) {
            if (num_caches == t->num_caches)
                t->caches[t->num_caches++] = base_alloc(arg->len_bytes + 1, 1);
            arg->data = t->caches[num_caches++];
        } else if (num_words++ == 0) {
            arg->data = &feed->token;
        } else {
            if (!feed->pages) feed->pages = base_alloc(num + 1, sizeof *feed->pages);
            for (uint64_t p = 0; p < num; p++) feed->pages[p] = (int32_t)p;
            arg->data = feed->pages;
        }
    }
}

static Status feed_one(Trial *t, Feed *feed, uint32_t position, IrInterpEvents *events) {
    const IrType *type = ir_func_type(t->entry);
    feed->token = t->o->ids[position];
    bind(t, feed, position);
    IrInterpOptions options = {.max_bytes = t->image.len_bytes + (UINT64_C(8) << 30),
                               .events = events};
    TRY(ir_interp_call(t->m, ir_symbol_name(t->entry), type->num_inputs, feed->args,
                       type->num_results, feed->results, &options, t->sink));
    for (uint32_t i = 0; i < type->num_results; i++) {
        bool is_cache = i > 0 && i - 1 < t->num_caches;
        if (is_cache) memcpy(t->caches[i - 1], feed->results[i].data, feed->results[i].len_bytes);
        ir_interp_result_deinit(&feed->results[i]);
    }
    return STATUS_OK;
}

static Status run_tokens(Trial *t, ProbePlace *out) {
    const IrType *type = ir_func_type(t->entry);
    Feed feed = {.args = base_alloc(type->num_inputs + 1, sizeof *feed.args),
                 .results = base_alloc(type->num_results + 1, sizeof *feed.results)};
    IrInterpEvents events = {0};
    Status status = STATUS_OK;
    for (uint32_t i = 0; i < t->o->num_ids && status == STATUS_OK && !events.op; i++) {
        status = feed_one(t, &feed, i, &events);
        if (t->o->progress) t->o->progress(i + 1, t->o->num_ids, t->o->progress_ctx);
        if (events.op) describe(t, &events, i, out);
    }
    free(feed.args);
    free(feed.results);
    free(feed.pages);
    return status;
}

// ---------------------------------------------------------------- the search

typedef struct Search {
    const ProbeOptions *o;
    Recipe *recipe;
    Gguf *gguf;
    DiagSink *sink;
    Arena *arena;
    ProbeReport *report;
    // Of a class, and of caches as the last: was it widened, from what?
    bool is_wide[NUM_OP_CLASSES + 1];
    const char *words[NUM_OP_CLASSES + 1];
    int guess;
} Search;

static Status run_once(Search *s, ProbePlace *out) {
    *out = (ProbePlace){0};
    DiagSink quiet; // what the recipe is warned of was said when it was compiled
    diag_sink_init(&quiet);
    recipe_derive_precisions(s->recipe, &quiet);
    diag_sink_deinit(&quiet);
    Trial t = {.o = s->o, .gguf = s->gguf, .arena = s->arena, .sink = s->sink};
    Status status = trial_open(&t, s->recipe);
    if (status == STATUS_OK) status = run_tokens(&t, out);
    s->report->num_runs++;
    s->report->bad_param = t.bad_param;
    s->guess = t.guess;
    trial_close(&t);
    return status;
}

// False if class c is in full precision already.
static bool widen(Search *s, int c) {
    bool is_cache = c == NUM_OP_CLASSES;
    bool is_narrow =
        is_cache ? str_equal(s->recipe->kv, "f16") : s->recipe->op_precisions[c] != PRECISION_FP32;
    const char **word = is_cache ? &s->recipe->kv : &s->recipe->op_words[c];
    if (!is_narrow || s->is_wide[c]) return false;
    s->words[c] = *word;
    s->is_wide[c] = true;
    *word = is_cache ? "f32" : op_precision_info(PRECISION_FP32)->name;
    return true;
}

static void narrow_again(Search *s, int c) {
    *(c == NUM_OP_CLASSES ? &s->recipe->kv : &s->recipe->op_words[c]) = s->words[c];
    s->is_wide[c] = false;
}

// What the place belongs to, or everything where that is wide already; false: so is everything.
static bool widen_for_place(Search *s) {
    if (widen(s, s->guess)) return true;
    bool is_any = false;
    for (int c = 0; c <= NUM_OP_CLASSES; c++) is_any |= widen(s, c);
    return is_any;
}

// Takes back what the others make needless.
static Status drop_needless(Search *s) {
    uint32_t num = 0;
    for (int c = 0; c <= NUM_OP_CLASSES; c++) num += s->is_wide[c];
    for (int c = 0; c <= NUM_OP_CLASSES && num > 1; c++) {
        ProbePlace place;
        if (!s->is_wide[c]) continue;
        narrow_again(s, c);
        TRY(run_once(s, &place));
        if (place.is_found)
            widen(s, c);
        else
            num--;
    }
    return STATUS_OK;
}

static const char *cure_text(const Search *s) {
    StrBuf text = {0};
    for (int c = 0; c < NUM_OP_CLASSES; c++)
        if (s->is_wide[c])
            strbuf_printf(&text, "%s%s_precision: %s", text.len ? ", " : "",
                          op_class_info((OpClass)c)->name, op_precision_info(PRECISION_FP32)->name);
    if (s->is_wide[NUM_OP_CLASSES]) strbuf_printf(&text, "%skv_cache: f32", text.len ? ", " : "");
    const char *result = text.len ? arena_strdup(s->arena, text.data) : NULL;
    strbuf_deinit(&text);
    return result;
}

static Status search(Search *s) {
    TRY(run_once(s, &s->report->first));
    bool is_found = s->report->first.is_found;
    for (ProbePlace place; is_found && widen_for_place(s); is_found = place.is_found)
        TRY(run_once(s, &place));
    if (is_found || !s->report->first.is_found) return STATUS_OK;
    TRY(drop_needless(s));
    s->report->cure = cure_text(s);
    return STATUS_OK;
}

Status probe_run(const ProbeOptions *options, DiagSink *sink, Arena *arena,
                 ProbeReport *out_report) {
    *out_report = (ProbeReport){0};
    Search s = {.o = options, .sink = sink, .arena = arena, .report = out_report};
    Status status = recipe_load(options->recipe_path, sink, &s.recipe);
    const char *model = options->model_path ? options->model_path
                        : s.recipe          ? s.recipe->model_path
                                            : NULL;
    BUG_IF(status == STATUS_OK && !model, "a model that was run has no file");
    if (status == STATUS_OK) status = gguf_open(model, sink, &s.gguf);
    if (status == STATUS_OK) status = search(&s);
    if (s.gguf) gguf_close(s.gguf);
    if (s.recipe) recipe_destroy(s.recipe);
    return status;
}
