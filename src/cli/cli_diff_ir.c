// `ingot diff-ir`: what differs between two modules, op by op. Functions are matched by name, ops
// by their stable names (ir/stable_id.h); of what is left, ops of one kind and type are matched in
// order: they changed. Exit 0: nothing differs, 1: something does.
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/compiler_verbs.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/stable_id.h"
#include "ir/verify.h"

#define MAX_IR_BYTES ((uint64_t)1 << 32)

typedef struct Side {
    char *text;
    IrModule *m;
    const char **ids;   // by op index
    const IrOp **other; // by op index: the op it is matched with
} Side;

typedef struct Diff {
    Cli *cli;
    Side a, b;
    Arena arena;
    StrBuf out;
    JsonWriter json;
    uint32_t num_added, num_removed, num_changed;
} Diff;

typedef struct OpList {
    const IrOp **ops;
    size_t num, capacity;
} OpList;

static void list_op(IrOp *op, void *ctx) {
    OpList *list = ctx;
    ARRAY_RESERVE(list->ops, list->num, list->capacity);
    list->ops[list->num++] = op;
}

// The ops in a function or other op at the top of the module, itself first.
static OpList ops_of(const IrOp *top) {
    OpList list = {0};
    ir_walk((IrOp *)top, list_op, &list);
    return list;
}

// ---------------------------------------------------------------- reporting

static const char *line_of(Diff *d, const Side *side, const IrOp *op) {
    StrBuf text = {0};
    ir_print_op_line(side->m, op, (const char *const *)side->ids, &text);
    const char *line = arena_strndup(&d->arena, text.data, text.len);
    strbuf_deinit(&text);
    return line;
}

static void put_difference(Diff *d, const char *where, const char *what, const char *a,
                           const char *b) {
    if (d->cli->is_json) {
        json_begin_object(&d->json, NULL);
        json_put_string(&d->json, "in", where);
        json_put_string(&d->json, "what", what);
        if (a) json_put_string(&d->json, "a", a);
        if (b) json_put_string(&d->json, "b", b);
        json_end_object(&d->json);
        return;
    }
    strbuf_printf(&d->out, "%s: %s\n", where, what);
    if (a) strbuf_printf(&d->out, "  - %s\n", a);
    if (b) strbuf_printf(&d->out, "  + %s\n", b);
}

static const char *name_of(const IrOp *top) {
    const char *name = ir_op_attr(top, "sym_name") ? ir_symbol_name(top) : NULL;
    return name ? name : ir_op_info(top->kind)->name;
}

// ---------------------------------------------------------------- matching

static void match(Diff *d, const IrOp *x, const IrOp *y) {
    d->a.other[x->index] = y;
    d->b.other[y->index] = x;
}

static bool same_types(const IrOp *x, const IrOp *y) {
    if (x->kind != y->kind || x->num_results != y->num_results) return false;
    for (uint32_t i = 0; i < x->num_results; i++) {
        StrBuf a = {0}, b = {0};
        ir_print_type(x->results[i].type, &a);
        ir_print_type(y->results[i].type, &b);
        bool is_same = str_equal(a.data, b.data);
        strbuf_deinit(&a);
        strbuf_deinit(&b);
        if (!is_same) return false;
    }
    return true;
}

static int by_id(const void *x, const void *y, void *ctx) {
    const char *const *ids = ctx;
    const IrOp *const *a = x, *const *b = y;
    return strcmp(ids[(*a)->index], ids[(*b)->index]);
}

// Equal names, by merging the sorted lists (the functions themselves have no name and stay first).
static void match_by_id(Diff *d, const OpList *a, const OpList *b) {
    size_t n = a->num - 1, m = b->num - 1;
    const IrOp **x = base_alloc(n + 1, sizeof *x), **y = base_alloc(m + 1, sizeof *y);
    memcpy(x, a->ops + 1, n * sizeof *x);
    memcpy(y, b->ops + 1, m * sizeof *y);
    qsort_r(x, n, sizeof *x, by_id, d->a.ids);
    qsort_r(y, m, sizeof *y, by_id, d->b.ids);
    for (size_t i = 0, j = 0; i < n && j < m;) {
        int order = strcmp(d->a.ids[x[i]->index], d->b.ids[y[j]->index]);
        if (order == 0) match(d, x[i], y[j]);
        i += order <= 0;
        j += order >= 0;
    }
    free(x);
    free(y);
}

// Unmatched ops of one kind and type in order. Their readers shall not differ for it: they go by
// the name they had.
static void match_changed(Diff *d, const OpList *a, const OpList *b) {
    for (size_t i = 1; i < a->num; i++) {
        if (d->a.other[a->ops[i]->index]) continue;
        for (size_t j = 1; j < b->num; j++) {
            const IrOp *y = b->ops[j];
            if (d->b.other[y->index] || !same_types(a->ops[i], y)) continue;
            match(d, a->ops[i], y);
            d->b.ids[y->index] = d->a.ids[a->ops[i]->index];
            break;
        }
    }
}

static void compare_ops(Diff *d, const char *where, const OpList *a, const OpList *b) {
    for (size_t i = 0; i < a->num; i++) {
        const IrOp *x = a->ops[i], *y = d->a.other[x->index];
        const char *line = line_of(d, &d->a, x), *now = y ? line_of(d, &d->b, y) : NULL;
        if (now && str_equal(line, now)) continue;
        put_difference(d, where, now ? "changed" : "removed", line, now);
        d->num_changed += now != NULL;
        d->num_removed += now == NULL;
    }
    for (size_t i = 0; i < b->num; i++) {
        if (d->b.other[b->ops[i]->index]) continue;
        put_difference(d, where, "added", NULL, line_of(d, &d->b, b->ops[i]));
        d->num_added++;
    }
}

static void compare_tops(Diff *d, const IrOp *x, const IrOp *y) {
    OpList a = ops_of(x), b = ops_of(y);
    match(d, x, y);
    match_by_id(d, &a, &b);
    match_changed(d, &a, &b);
    compare_ops(d, name_of(x), &a, &b);
    free(a.ops);
    free(b.ops);
}

static const IrOp *find_top(const IrModule *m, const IrOp *like) {
    FOR_EACH_OP(op, ir_op_block(m->op, 0))
    if (op->kind == like->kind && str_equal(name_of(op), name_of(like))) return op;
    return NULL;
}

static void compare_modules(Diff *d) {
    const char *a = line_of(d, &d->a, d->a.m->op), *b = line_of(d, &d->b, d->b.m->op);
    if (!str_equal(a, b)) {
        put_difference(d, "module", "changed", a, b);
        d->num_changed++;
    }
    FOR_EACH_OP(x, ir_module_body(d->a.m)) {
        const IrOp *y = find_top(d->b.m, x);
        if (y) {
            compare_tops(d, x, y);
            continue;
        }
        put_difference(d, name_of(x), "removed", line_of(d, &d->a, x), NULL);
        d->num_removed++;
    }
    FOR_EACH_OP(y, ir_module_body(d->b.m)) {
        if (find_top(d->a.m, y)) continue;
        put_difference(d, name_of(y), "added", NULL, line_of(d, &d->b, y));
        d->num_added++;
    }
}

// ---------------------------------------------------------------- the verb

static Status open_side(Diff *d, const char *path, Side *side) {
    uint64_t len;
    TRY(file_read(path, MAX_IR_BYTES, &d->cli->sink, &side->text, &len));
    TRY(ir_parse(side->text, len, path, &d->cli->sink, &side->m));
    const IrVerifyOptions verify = {.allow_test_ops = true};
    TRY(ir_verify(side->m, &verify, &d->cli->sink));
    side->ids = ir_stable_ids(side->m, &d->arena);
    side->other = ARENA_ARRAY(&d->arena, const IrOp *, side->m->num_ops + 1);
    return STATUS_OK;
}

static void close_side(Side *side) {
    if (side->m) ir_module_destroy(side->m);
    free(side->text);
}

static void put_diff(Diff *d) {
    if (d->cli->is_json) {
        d->json.out = &d->out;
        json_begin_document(&d->json, "ingot-diff-ir");
        json_begin_array(&d->json, "differences");
    }
    compare_modules(d);
    if (d->cli->is_json) {
        json_end_array(&d->json);
        json_put_uint(&d->json, "added", d->num_added);
        json_put_uint(&d->json, "removed", d->num_removed);
        json_put_uint(&d->json, "changed", d->num_changed);
        json_end_object(&d->json);
    }
    put_document(&d->out);
}

Status verb_DIFF_IR(Cli *cli) {
    TRY(check_positional(cli, 2, 2, "two modules"));
    Diff d = {.cli = cli};
    arena_init(&d.arena);
    Status status = open_side(&d, cli->args.positional[0], &d.a);
    if (status == STATUS_OK) status = open_side(&d, cli->args.positional[1], &d.b);
    if (status == STATUS_OK) {
        put_diff(&d);
        if (d.num_added + d.num_removed + d.num_changed) status = STATUS_NO;
    }
    close_side(&d.a);
    close_side(&d.b);
    arena_deinit(&d.arena);
    return status;
}
