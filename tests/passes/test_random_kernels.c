// Random kernels through bufferize and lower-linalg: the interpreter gives the same bits before and
// after. Values are small whole numbers, so float sums do not depend on their order.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/interp.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "passes/lower_linalg.h"
#include "passes/pass.h"

enum { MAX_VALUES = 40, MAX_RESULTS = 4, NUM_KERNELS = 300, NUM_INPUTS = 4, TABLE_ROWS = 7 };

static uint64_t random_state;
static uint32_t pick(uint32_t below) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)((random_state >> 20) % below);
}

// A tensor value of the kernel being written: %vN, leading size rows.
typedef struct Value {
    int number;
    uint32_t rank;
    int64_t shape[4];
    bool is_f16;
} Value;

typedef struct Writer {
    StrBuf text;
    int next;
    Value values[MAX_VALUES];
    uint32_t num_values;
    int64_t rows;
    bool is_whole; // ops may mix rows
} Writer;

static const char *type_of(const Value *v) {
    static char buffers[8][96];
    static int which;
    char *out = buffers[which = (which + 1) % 8];
    int at = snprintf(out, 96, "tensor<");
    for (uint32_t d = 0; d < v->rank; d++)
        at += snprintf(out + at, 96 - (size_t)at, "%dx", (int)v->shape[d]);
    snprintf(out + at, 96 - (size_t)at, "%s>", v->is_f16 ? "f16" : "f32");
    return out;
}

static Value make(Writer *w, uint32_t rank, int64_t a, int64_t b, int64_t c) {
    return (Value){.number = w->next++, .rank = rank, .shape = {a, b, c}};
}

static void keep(Writer *w, Value v) {
    if (w->num_values < MAX_VALUES) w->values[w->num_values++] = v;
}

static Value any(Writer *w) {
    return w->values[pick(w->num_values)];
}

static bool any_of_rank(Writer *w, uint32_t rank, bool is_f16, Value *out) {
    for (int tries = 0; tries < 20; tries++) {
        *out = any(w);
        if (out->rank == rank && out->is_f16 == is_f16) return true;
    }
    return false;
}

static Value empty(Writer *w, Value like) {
    like.number = w->next++;
    strbuf_printf(&w->text, "    %%v%d = tensor.empty() : %s\n", like.number, type_of(&like));
    return like;
}

static const char *map_of(const char *results, uint32_t num_dims) {
    static char buffers[8][128];
    static int which;
    static const char *const dims[] = {"", "d0", "d0, d1", "d0, d1, d2"};
    char *out = buffers[which = (which + 1) % 8];
    snprintf(out, 128, "affine_map<(%s) -> (%s)>", dims[num_dims], results);
    return out;
}

static const char *identity(uint32_t rank) {
    static const char *const dims[] = {"", "d0", "d0, d1", "d0, d1, d2"};
    return map_of(dims[rank], rank);
}

static const char *iterators(uint32_t rank, uint32_t reduction) {
    static char buffers[4][96];
    static int which;
    char *out = buffers[which = (which + 1) % 4];
    int at = 0;
    for (uint32_t d = 0; d < rank; d++)
        at += snprintf(out + at, 96 - (size_t)at, "%s\"%s\"", d ? ", " : "",
                       d == reduction ? "reduction" : "parallel");
    return out;
}

static const uint32_t NONE = 9;

// %r = generic(ins) with the given maps; the body computes %y of type f32 from %a (and %b) of type
// f32.
static Value generic(Writer *w, uint32_t loops, uint32_t reduction, const Value *a,
                     const char *map_a, const Value *b, const char *map_b, Value out,
                     const char *map_out, const char *body) {
    Value init = out.number >= 0 ? out : empty(w, out), result = out;
    result.number = w->next++;
    StrBuf *t = &w->text;
    strbuf_printf(
        t, "    %%v%d = linalg.generic {indexing_maps = [%s, %s%s%s], iterator_types = [%s]}\n",
        result.number, map_a, b ? map_b : "", b ? ", " : "", map_out, iterators(loops, reduction));
    strbuf_printf(t, "        ins(%%v%d%s", a->number, "");
    if (b) strbuf_printf(t, ", %%v%d", b->number);
    strbuf_printf(t, " : %s", type_of(a));
    if (b) strbuf_printf(t, ", %s", type_of(b));
    strbuf_printf(t, ") outs(%%v%d : %s) {\n    ^bb0(%%a0: %s", init.number, type_of(&init),
                  a->is_f16 ? "f16" : "f32");
    if (b) strbuf_printf(t, ", %%b0: %s", b->is_f16 ? "f16" : "f32");
    strbuf_printf(t, ", %%o: %s):\n", out.is_f16 ? "f16" : "f32");
    if (a->is_f16) strbuf_puts(t, "      %a = arith.extf %a0 : f16 to f32\n");
    if (b && b->is_f16) strbuf_puts(t, "      %b = arith.extf %b0 : f16 to f32\n");
    // Without a cast the argument goes by the body's name for it.
    for (const char *c = body; *c; c++) {
        bool is_a = strncmp(c, "%a ", 3) == 0 || strncmp(c, "%a,", 3) == 0;
        bool is_b = strncmp(c, "%b ", 3) == 0 || strncmp(c, "%b,", 3) == 0;
        if ((is_a && !a->is_f16) || (is_b && b && !b->is_f16)) {
            strbuf_printf(t, "%%%c0", c[1]);
            c++;
        } else {
            strbuf_putc(t, *c);
        }
    }
    if (out.is_f16)
        strbuf_puts(t, "      %z = arith.truncf %y : f32 to f16\n      linalg.yield %z : f16\n");
    else
        strbuf_puts(t, "      linalg.yield %y : f32\n");
    strbuf_printf(t, "    } -> %s\n", type_of(&result));
    return result;
}

static const char *const unary_bodies[] = {
    "      %y = arith.negf %a : f32\n",
    "      %y = math.absf %a : f32\n",
    "      %y0 = arith.addf %a , %one : f32\n      %y1 = arith.minimumf %y0, %top : f32\n"
    "      %y = arith.maximumf %y1, %low : f32\n",
    "      %j = linalg.index 0 : index\n      %m = arith.remui %j, %two : index\n"
    "      %e = arith.cmpi eq, %m, %zero : index\n      %n = arith.negf %a : f32\n"
    "      %y = arith.select %e, %n, %a : f32\n",
    "      %y = arith.addf %a , %zf : f32\n",
};
static const char *const last_index_body =
    "      %%j = linalg.index %u : index\n      %%m = arith.remui %%j, %%two : index\n"
    "      %%e = arith.cmpi eq, %%m, %%zero : index\n      %%n = arith.negf %%a : f32\n"
    "      %%y = arith.select %%e, %%n, %%a : f32\n";
static const char *const binary_body =
    "      %y0 = arith.subf %a , %b : f32\n      %y1 = arith.minimumf %y0, %top : f32\n"
    "      %y = arith.maximumf %y1, %low : f32\n";

static void add_unary(Writer *w) {
    Value a = any(w), out = a;
    out.number = -1;
    if (pick(4) == 0) out.is_f16 = !out.is_f16;
    char body[512];
    uint32_t which = pick(6);
    if (which == 5)
        snprintf(body, sizeof body, last_index_body, a.rank - 1);
    else
        snprintf(body, sizeof body, "%s", unary_bodies[which]);
    keep(w,
         generic(w, a.rank, NONE, &a, identity(a.rank), NULL, NULL, out, identity(a.rank), body));
}

static bool same_shape(const Value *a, const Value *b) {
    if (a->rank != b->rank) return false;
    for (uint32_t d = 0; d < a->rank; d++)
        if (a->shape[d] != b->shape[d]) return false;
    return true;
}

static void add_binary(Writer *w) {
    Value a = any(w), b = any(w), out = a;
    out.number = -1;
    out.is_f16 = false;
    const char *map = NULL;
    if (same_shape(&a, &b))
        map = identity(a.rank);
    else if (b.rank == 1)
        map = map_of("d0", a.rank);
    else if (a.rank == 3 && b.rank == 2 && b.shape[1] == a.shape[1])
        map = map_of("d0, d1", 3);
    else if (a.rank == 3 && b.rank == 2 && b.shape[1] == a.shape[2])
        map = map_of("d0, d2", 3);
    if (!map) return;
    keep(w, generic(w, a.rank, NONE, &a, identity(a.rank), &b, map, out, identity(a.rank),
                    binary_body));
}

static const char *const fold_bodies[] = {
    "      %y = arith.addf %o, %a : f32\n",
    "      %y = arith.maximumf %a , %o : f32\n",
    "      %x = math.absf %a : f32\n      %y = arith.maximumf %o, %x : f32\n",
    "      %x = arith.mulf %a , %one : f32\n      %y = arith.minimumf %o, %x : f32\n",
    "      %c = arith.cmpf ogt, %o, %a : f32\n      %y = arith.select %c, %o, %a : f32\n",
};

// A sum, clamped so that numbers stay small, or an extremum.
static void add_fold(Writer *w) {
    Value a = any(w);
    if (a.rank < 2) return;
    uint32_t over = 1 + pick(a.rank - 1);
    Value start = a;
    start.rank--;
    start.is_f16 = false;
    for (uint32_t d = over; d + 1 < a.rank; d++) start.shape[d] = a.shape[d + 1];
    Value e = empty(w, start), z = e;
    z.number = w->next++;
    strbuf_printf(&w->text, "    %%v%d = linalg.fill ins(%s : f32) outs(%%v%d : %s) -> %s\n",
                  z.number, pick(2) ? "%zf" : "%one", e.number, type_of(&e), type_of(&e));
    const char *map = a.rank == 2 ? map_of("d0", 2)
                      : over == 1 ? map_of("d0, d2", 3)
                                  : map_of("d0, d1", 3);
    Value r =
        generic(w, a.rank, over, &a, identity(a.rank), NULL, NULL, z, map, fold_bodies[pick(5)]);
    Value out = r;
    out.number = -1;
    keep(w, generic(w, r.rank, NONE, &r, identity(r.rank), NULL, NULL, out, identity(r.rank),
                    unary_bodies[2]));
    if (pick(3) == 0) keep(w, z);
}

static void add_reshape(Writer *w) {
    Value a = any(w), r;
    if (a.rank == 3) {
        r = make(w, 2, a.shape[0], a.shape[1] * a.shape[2], 0);
        r.is_f16 = a.is_f16;
        strbuf_printf(&w->text,
                      "    %%v%d = tensor.collapse_shape %%v%d [[0], [1, 2]] : %s into %s\n",
                      r.number, a.number, type_of(&a), type_of(&r));
    } else if (a.rank == 2) {
        static const int64_t inners[] = {2, 4, 16, 3};
        int64_t inner = inners[pick(4)];
        if (a.shape[1] % inner) return;
        r = make(w, 3, a.shape[0], a.shape[1] / inner, inner);
        r.is_f16 = a.is_f16;
        strbuf_printf(&w->text,
                      "    %%v%d = tensor.expand_shape %%v%d [[0], [1, 2]] output_shape [%d, %d, "
                      "%d] : %s into %s\n",
                      r.number, a.number, (int)r.shape[0], (int)r.shape[1], (int)r.shape[2],
                      type_of(&a), type_of(&r));
    } else {
        return;
    }
    keep(w, r);
}

static void add_permuted(Writer *w) {
    Value a = any(w), out = a;
    out.number = -1;
    out.is_f16 = false;
    char results[64];
    if (a.rank == 2) {
        snprintf(results, sizeof results, "d0, -d1 + %d", (int)a.shape[1] - 1);
    } else if (a.rank == 3 && pick(2)) {
        snprintf(results, sizeof results, "d0, d1, -d2 + %d", (int)a.shape[2] - 1);
    } else if (a.rank == 3) {
        out.shape[1] = a.shape[2];
        out.shape[2] = a.shape[1];
        snprintf(results, sizeof results, "d0, d2, d1");
    } else {
        return;
    }
    const char *map = map_of(results, a.rank);
    keep(w, generic(w, a.rank, NONE, &a, map, NULL, NULL, out, identity(a.rank), unary_bodies[0]));
}

static void add_slice(Writer *w) {
    Value a;
    if (!any_of_rank(w, 2, pick(2), &a) || a.shape[1] < 2) return;
    int64_t len = 1 + pick((uint32_t)a.shape[1] - 1), at = pick((uint32_t)(a.shape[1] - len) + 1);
    Value r = make(w, 2, a.shape[0], len, 0);
    r.is_f16 = a.is_f16;
    strbuf_printf(&w->text,
                  "    %%v%d = tensor.extract_slice %%v%d[0, %d] [%d, %d] [1, 1] : %s to %s\n",
                  r.number, a.number, (int)at, (int)a.shape[0], (int)len, type_of(&a), type_of(&r));
    keep(w, r);
}

static void insert(Writer *w, const Value *from, const Value *into, int64_t at, Value *out) {
    *out = *into;
    out->number = w->next++;
    strbuf_printf(
        &w->text,
        "    %%v%d = tensor.insert_slice %%v%d into %%v%d[0, %d] [%d, %d] [1, 1] : %s into %s\n",
        out->number, from->number, into->number, (int)at, (int)from->shape[0], (int)from->shape[1],
        type_of(from), type_of(into));
}

static void add_concat(Writer *w) {
    Value a, b;
    bool is_f16 = pick(2);
    if (!any_of_rank(w, 2, is_f16, &a) || !any_of_rank(w, 2, is_f16, &b)) return;
    Value shape = make(w, 2, a.shape[0], a.shape[1] + b.shape[1], 0), first, both;
    shape.is_f16 = is_f16;
    Value e = empty(w, shape);
    insert(w, &a, &e, 0, &first);
    insert(w, &b, &first, a.shape[1], &both);
    keep(w, both);
}

// Overwrites a part of a value that may be read again.
static void add_patch(Writer *w) {
    Value a, b, r;
    bool is_f16 = pick(2);
    if (!any_of_rank(w, 2, is_f16, &a) || !any_of_rank(w, 2, is_f16, &b) || b.shape[1] > a.shape[1])
        return;
    insert(w, &b, &a, pick((uint32_t)(a.shape[1] - b.shape[1]) + 1), &r);
    keep(w, r);
}

static void add_gather(Writer *w) {
    static const int64_t widths[] = {5, 16, 40};
    Value r = make(w, 2, w->rows, widths[pick(3)], 0), e = empty(w, r);
    bool is_block = pick(2); // column in blocks of 16 by division
    strbuf_printf(&w->text,
                  "    %%v%d = linalg.generic {indexing_maps = [%s], iterator_types = [%s]} "
                  "outs(%%v%d : %s) {\n"
                  "    ^bb0(%%o: f32):\n      %%i = linalg.index 0 : index\n      %%j = "
                  "linalg.index 1 : index\n"
                  "      %%id = tensor.extract %%ids[%%i] : tensor<%dxi32>\n      %%r = "
                  "arith.index_cast %%id : i32 to index\n",
                  r.number, identity(2), iterators(2, NONE), e.number, type_of(&e), (int)w->rows);
    if (is_block)
        strbuf_puts(&w->text,
                    "      %k = arith.divui %j, %sixteen : index\n      %l = arith.remui %j, "
                    "%sixteen : index\n"
                    "      %y = tensor.extract %blocks[%r, %k, %l] : tensor<7x3x16xf32>\n");
    else
        strbuf_puts(&w->text, "      %y = tensor.extract %table[%r, %j] : tensor<7x40xf32>\n");
    strbuf_printf(&w->text, "      linalg.yield %%y : f32\n    } -> %s\n", type_of(&r));
    keep(w, r);
}

// Sums over the rows, or rows in reverse: only kernels that need not split may have them.
static void add_across_rows(Writer *w) {
    Value a, out;
    if (!w->is_whole || !any_of_rank(w, 2, false, &a)) return;
    out = a;
    out.number = -1;
    char results[64];
    snprintf(results, sizeof results, "-d0 + %d, d1", (int)a.shape[0] - 1);
    const char *map = map_of(results, 2);
    keep(w, generic(w, 2, NONE, &a, map, NULL, NULL, out, identity(2), unary_bodies[1]));
}

static void write_kernel(Writer *w, bool is_whole, char *out_results) {
    static const int64_t all_rows[] = {1, 3, 5};
    static const int64_t widths[] = {1, 4, 12, 16, 18, 32, 36, 48, 70};
    w->rows = all_rows[pick(3)];
    w->is_whole = is_whole;
    w->next = NUM_INPUTS;
    StrBuf header = {0};
    strbuf_printf(
        &header,
        "module {\n  func.func private @k(%%ids: tensor<%dxi32>, %%table: tensor<7x40xf32>, "
        "%%blocks: tensor<7x3x16xf32>",
        (int)w->rows);
    for (int i = 0; i < NUM_INPUTS; i++) {
        Value v = {.number = i, .rank = 2, .shape = {w->rows, widths[pick(9)]}};
        if (i == 0)
            v = (Value){.number = 0, .rank = 3, .shape = {w->rows, 1 + pick(5), widths[pick(9)]}};
        keep(w, v);
        strbuf_printf(&header, ", %%v%d: %s", i, type_of(&v));
    }
    strbuf_puts(&w->text,
                "    %zf = arith.constant 0.000000e+00 : f32\n    %one = arith.constant "
                "1.000000e+00 : f32\n"
                "    %top = arith.constant 5.000000e+01 : f32\n    %low = arith.constant "
                "-5.000000e+01 : f32\n"
                "    %zero = arith.constant 0 : index\n    %two = arith.constant 2 : index\n"
                "    %sixteen = arith.constant 16 : index\n");
    uint32_t num_ops = 3 + pick(12);
    for (uint32_t i = 0; i < num_ops; i++) {
        switch (pick(10)) {
        case 0: add_unary(w); break;
        case 1: add_binary(w); break;
        case 2: add_fold(w); break;
        case 3: add_reshape(w); break;
        case 4: add_permuted(w); break;
        case 5: add_slice(w); break;
        case 6: add_concat(w); break;
        case 7: add_patch(w); break;
        case 8: add_gather(w); break;
        default: add_across_rows(w); break;
        }
    }
    // The newest values are results, and an older one.
    uint32_t num = 1 + pick(MAX_RESULTS - 1);
    StrBuf ret = {0};
    int at = 0;
    for (uint32_t i = 0; i < num; i++) {
        Value v = i + 1 == num ? any(w) : w->values[w->num_values - 1 - MIN(i, w->num_values - 1)];
        at += snprintf(out_results + at, 512 - (size_t)at, "%s%s", i ? ", " : "", type_of(&v));
        strbuf_printf(&ret, "%s%%v%d", i ? ", " : "", v.number);
    }
    StrBuf whole = {0};
    strbuf_printf(
        &whole,
        "%s) -> (%s) attributes {ingot.kernel = \"%s\", ingot.tiles = affine_map<() -> (%d)>} {\n%s"
        "    return %s : %s\n  }\n}\n",
        header.data, out_results, is_whole ? "whole" : "rows",
        is_whole && pick(2) ? 1 : (int)w->rows, w->text.data, ret.data, out_results);
    strbuf_deinit(&header);
    strbuf_deinit(&ret);
    strbuf_deinit(&w->text);
    w->text = whole;
}

// ---------------------------------------------------------------- running

static void fail_at(uint32_t seed, const char *stage, const char *text, const IrModule *m,
                    const DiagSink *sink) {
    StrBuf now = {0}, said = {0};
    if (m) ir_print(m, NULL, &now);
    diag_render(sink, &said);
    fprintf(stderr, "%s\n---- now\n%s", text, now.data ? now.data : "");
    fail_msg("kernel %u, %s: %s", seed, stage, said.data ? said.data : "");
}

static uint64_t bytes_of(const IrType *type) {
    return (uint64_t)ir_type_num_elems(type) * ir_type_bytes(type->elem);
}

static void fill(const IrType *type, void *data) {
    int64_t num = ir_type_num_elems(type);
    for (int64_t i = 0; i < num; i++) {
        float f = (float)(int32_t)pick(9) - 4;
        int32_t id = (int32_t)pick(TABLE_ROWS);
        if (type->elem->kind == IR_TYPE_F32)
            memcpy((uint8_t *)data + 4 * i, &f, 4);
        else
            memcpy((uint8_t *)data + 4 * i, &id, 4);
    }
}

typedef struct Run {
    const IrType *inputs[NUM_INPUTS + 3];
    void *data[NUM_INPUTS + 3];
    IrInterpValue results[MAX_RESULTS];
    uint32_t num_results;
} Run;

static void check_buffers(IrModule *m, const Run *run, int64_t tiles, int64_t splits, uint32_t seed,
                          const char *stage, const char *text) {
    IrInterpValue args[NUM_INPUTS + 3 + MAX_RESULTS + 2] = {0};
    uint32_t num = 0;
    for (; num < NUM_INPUTS + 3; num++)
        args[num] = (IrInterpValue){.type = ir_func_type(ir_symbol_find(m, "k"))->inputs[num],
                                    .data = run->data[num],
                                    .len_bytes = bytes_of(run->inputs[num])};
    for (uint32_t r = 0; r < run->num_results; r++, num++)
        args[num] = (IrInterpValue){.type = ir_func_type(ir_symbol_find(m, "k"))->inputs[num],
                                    .data = calloc(1, run->results[r].len_bytes + 1),
                                    .len_bytes = run->results[r].len_bytes};
    DiagSink sink;
    diag_sink_init(&sink);
    for (int64_t s = 0; s < splits; s++) {
        args[num] =
            (IrInterpValue){.type = ir_type_index(m), .bits = (uint64_t)(tiles * s / splits)};
        args[num + 1] =
            (IrInterpValue){.type = ir_type_index(m), .bits = (uint64_t)(tiles * (s + 1) / splits)};
        if (ir_interp_call(m, "k", num + 2, args, 0, NULL, NULL, &sink) != STATUS_OK)
            fail_at(seed, stage, text, m, &sink);
    }
    for (uint32_t r = 0; r < run->num_results; r++) {
        IrInterpValue *got = &args[NUM_INPUTS + 3 + r];
        if (memcmp(got->data, run->results[r].data, got->len_bytes) != 0) {
            diag_report(&sink, DIAG_ERROR, DIAG_P0005, (DiagSpan){0}, "result %u differs", r);
            fail_at(seed, stage, text, m, &sink);
        }
        free(got->data);
    }
    diag_sink_deinit(&sink);
}

static void check_kernel(uint32_t seed) {
    random_state = 0x9e3779b97f4a7c15ull * (seed + 1);
    for (int i = 0; i < 8; i++) pick(2);
    Writer w = {0};
    char results[512];
    write_kernel(&w, seed % 3 == 0, results);
    const char *text = w.text.data;
    DiagSink sink;
    diag_sink_init(&sink);
    IrModule *m = NULL;
    IrVerifyOptions level1 = {.level = 1}, level2 = {.level = 2};
    if (ir_parse(text, w.text.len, "random", &sink, &m) != STATUS_OK ||
        ir_verify(m, &level1, &sink) != STATUS_OK)
        fail_at(seed, "parse", text, NULL, &sink);
    IrOp *func = ir_symbol_find(m, "k");
    const IrType *type = ir_func_type(func);
    Run run = {.num_results = type->num_results};
    IrInterpValue args[NUM_INPUTS + 3];
    for (uint32_t i = 0; i < type->num_inputs; i++) {
        run.inputs[i] = type->inputs[i];
        run.data[i] = calloc(1, bytes_of(type->inputs[i]) + 1);
        fill(type->inputs[i], run.data[i]);
        args[i] = (IrInterpValue){
            .type = type->inputs[i], .data = run.data[i], .len_bytes = bytes_of(type->inputs[i])};
    }
    if (ir_interp_call(m, "k", type->num_inputs, args, run.num_results, run.results, NULL, &sink) !=
        STATUS_OK)
        fail_at(seed, "interpret", text, NULL, &sink);
    int64_t tiles = ir_affine_eval(ir_op_attr(func, "ingot.tiles")->map->results[0], NULL, NULL);
    if (pass_bufferize(m, &sink) != STATUS_OK || ir_verify(m, &level2, &sink) != STATUS_OK)
        fail_at(seed, "bufferize", text, m, &sink);
    check_buffers(m, &run, tiles, 1, seed, "bufferized", text);
    if (pass_lower_linalg(m, &sink) != STATUS_OK || ir_verify(m, &level2, &sink) != STATUS_OK)
        fail_at(seed, "lower-linalg", text, m, &sink);
    check_buffers(m, &run, tiles, 1, seed, "lowered", text);
    check_buffers(m, &run, tiles, 2, seed, "lowered, in two parts", text);
    for (uint32_t i = 0; i < NUM_INPUTS + 3; i++) free(run.data[i]);
    for (uint32_t r = 0; r < run.num_results; r++) ir_interp_result_deinit(&run.results[r]);
    ir_module_destroy(m);
    strbuf_deinit(&w.text);
    diag_sink_deinit(&sink);
}

static void test_random_kernels(void **state) {
    (void)state;
    const char *one = getenv("INGOT_TEST_SEED");
    if (one) {
        check_kernel((uint32_t)atoi(one));
        return;
    }
    for (uint32_t seed = 0; seed < NUM_KERNELS; seed++) check_kernel(seed);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_kernels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
