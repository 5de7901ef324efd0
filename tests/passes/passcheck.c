// See passcheck.h.
#include "passcheck.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_VALUES = 64, MAX_PARAMS = 40 };

typedef struct Value {
    int number;
    uint32_t rank; // 1: [T], 2: [T, a], 3: [T, a, b]
    int64_t a, b;
} Value;

typedef struct Param {
    char type[64], quant[16], name[24];
} Param;

typedef struct Gen {
    uint64_t state;
    StrBuf body;
    int next;
    Value values[MAX_VALUES];
    uint32_t num_values;
    Param params[MAX_PARAMS];
    uint32_t num_params;
    bool has_ids, has_attention;
    PassCheckAttention attention;
    int caches; // number of the value that holds both of them at the end
} Gen;

static uint32_t pick(Gen *g, uint32_t below) { // xorshift
    g->state ^= g->state << 13;
    g->state ^= g->state >> 7;
    g->state ^= g->state << 17;
    return (uint32_t)((g->state >> 20) % below);
}

__attribute__((format(printf, 2, 3))) static void put(Gen *g, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    strbuf_vprintf(&g->body, fmt, args);
    va_end(args);
}

static const char *type_of(const Value *v) {
    static char texts[8][64];
    static int which;
    char *out = texts[which = (which + 1) % 8];
    if (v->rank == 1) snprintf(out, 64, "tensor<?xf32>");
    if (v->rank == 2) snprintf(out, 64, "tensor<?x%lldxf32>", (long long)v->a);
    if (v->rank == 3)
        snprintf(out, 64, "tensor<?x%lldx%lldxf32>", (long long)v->a, (long long)v->b);
    return out;
}

static void keep(Gen *g, Value v) {
    if (g->num_values < MAX_VALUES) g->values[g->num_values++] = v;
}

static Value any(Gen *g) { // newer ones more often
    uint32_t i = pick(g, g->num_values), j = pick(g, g->num_values);
    return g->values[i > j ? i : j];
}

static bool any_of_rank(Gen *g, uint32_t rank, Value *out) {
    for (int tries = 0; tries < 12; tries++) {
        *out = any(g);
        if (out->rank == rank) return true;
    }
    return false;
}

static int param(Gen *g, const char *type, const char *quant) {
    Param *p = &g->params[g->num_params];
    snprintf(p->type, sizeof p->type, "%s", type);
    snprintf(p->quant, sizeof p->quant, "%s", quant);
    snprintf(p->name, sizeof p->name, "w%u", g->num_params);
    return (int)g->num_params++;
}

static const char *map_text(const Value *v, char what) {
    if (what == 'r') return v->rank == 2 ? "#row2" : "#row3";
    if (what == 'c') return v->rank == 2 ? "#col2" : "#col3";
    return v->rank == 1 ? "#id1" : v->rank == 2 ? "#id2" : "#id3";
}

static const char *loops(uint32_t rank) {
    static const char *const texts[] = {"", "\"parallel\"", "\"parallel\", \"parallel\"",
                                        "\"parallel\", \"parallel\", \"parallel\""};
    return texts[rank];
}

static int empty(Gen *g, const Value *like) {
    int e = g->next++;
    put(g, "    %%v%d = tensor.empty(%%n) : %s\n", e, type_of(like));
    return e;
}

// One elementwise op on v and, if other_type is given, an operand that a map broadcasts.
static Value elementwise(Gen *g, Value v, const char *other, const char *other_type,
                         const char *other_map, const char *body) {
    Value out = v;
    int e = empty(g, &out);
    out.number = g->next++;
    put(g, "    %%v%d = linalg.generic {indexing_maps = [%s%s%s, %s], iterator_types = [%s]}\n",
        out.number, map_text(&v, 'i'), other ? ", " : "", other ? other_map : "", map_text(&v, 'i'),
        loops(v.rank));
    put(g, "        ins(%%v%d%s%s : %s%s%s) outs(%%v%d : %s) {\n", v.number, other ? ", " : "",
        other ? other : "", type_of(&v), other ? ", " : "", other ? other_type : "", e,
        type_of(&out));
    put(g, "    ^bb0(%%a: f32, %s%%o: f32):\n%s      linalg.yield %%y : f32\n    } -> %s\n",
        other ? "%b: f32, " : "", body, type_of(&out));
    return out;
}

static const char *const unary[] = {
    "      %y = math.tanh %a : f32\n",
    "      %t = math.absf %a : f32\n      %s = arith.negf %t : f32\n      %y = math.exp %s : f32\n",
    "      %t = arith.mulf %a, %half : f32\n      %y = arith.subf %one, %t : f32\n",
    "      %t = arith.mulf %a, %a : f32\n      %s = arith.addf %t, %one : f32\n"
    "      %u = math.rsqrt %s : f32\n      %y = arith.mulf %a, %u : f32\n",
    "      %t = arith.negf %a : f32\n      %s = math.exp %t : f32\n"
    "      %u = arith.addf %s, %one : f32\n      %y = arith.divf %a, %u : f32\n",
    "      %t = arith.minimumf %a, %one : f32\n      %y = arith.maximumf %t, %low : f32\n",
    "      %i = linalg.index 1 : index\n      %c = arith.cmpi ult, %i, %c5 : index\n"
    "      %t = arith.negf %a : f32\n      %y = arith.select %c, %t, %a : f32\n",
};
static const char *const binary[] = {
    "      %y = arith.addf %a, %b : f32\n",
    "      %y = arith.mulf %a, %b : f32\n",
    "      %t = arith.subf %a, %b : f32\n      %y = arith.mulf %t, %half : f32\n",
    "      %y = arith.maximumf %a, %b : f32\n",
};

static void add_unary(Gen *g) {
    Value v = any(g);
    keep(g, elementwise(g, v, NULL, NULL, NULL, unary[pick(g, v.rank > 1 ? 7 : 6)]));
}

static void add_binary(Gen *g) {
    Value v = any(g), w = any(g);
    char other[16], type[64];
    const char *map = NULL;
    if (v.rank == w.rank && v.a == w.a && v.b == w.b)
        map = map_text(&v, 'i');
    else if (w.rank == 1 && v.rank > 1)
        map = map_text(&v, 'r');
    if (map) {
        snprintf(other, sizeof other, "%%v%d", w.number);
        snprintf(type, sizeof type, "%s", type_of(&w));
    } else if (v.rank > 1 && g->num_params < MAX_PARAMS) {
        snprintf(type, sizeof type, "tensor<%lldxf32>", (long long)(v.rank == 2 ? v.a : v.b));
        snprintf(other, sizeof other, "%%w%d", param(g, type, ""));
        map = map_text(&v, 'c');
    } else {
        return;
    }
    keep(g, elementwise(g, v, other, type, map, binary[pick(g, 4)]));
}

static Value reduce(Gen *g, Value v, bool is_max) {
    Value out = {.rank = 1};
    int e = empty(g, &out), f = g->next++;
    put(g, "    %%v%d = linalg.fill ins(%s : f32) outs(%%v%d : tensor<?xf32>) -> tensor<?xf32>\n",
        f, is_max ? "%least" : "%zero", e);
    out.number = g->next++;
    put(g,
        "    %%v%d = linalg.generic {indexing_maps = [#id2, #row2], iterator_types = "
        "[\"parallel\", "
        "\"reduction\"]} ins(%%v%d : %s) outs(%%v%d : tensor<?xf32>) {\n    ^bb0(%%a: f32, %%o: "
        "f32):\n",
        out.number, v.number, type_of(&v), f);
    put(g, is_max
               ? "      %%y = arith.maximumf %%o, %%a : f32\n"
               : "      %%t = arith.mulf %%a, %%a : f32\n      %%y = arith.addf %%o, %%t : f32\n");
    put(g, "      linalg.yield %%y : f32\n    } -> tensor<?xf32>\n");
    return out;
}

static void add_reduce(Gen *g) {
    Value v;
    if (any_of_rank(g, 2, &v)) keep(g, reduce(g, v, pick(g, 2)));
}

static void add_norm(Gen *g) {
    Value v;
    if (!any_of_rank(g, 2, &v)) return;
    Value sum = reduce(g, v, false);
    char other[16];
    snprintf(other, sizeof other, "%%v%d", sum.number);
    keep(g, elementwise(g, v, other, "tensor<?xf32>", "#row2",
                        "      %t = arith.mulf %b, %tenth : f32\n"
                        "      %s = arith.addf %t, %tenth : f32\n"
                        "      %u = math.rsqrt %s : f32\n      %y = arith.mulf %a, %u : f32\n"));
}

static void add_softmax(Gen *g) {
    Value v;
    if (!any_of_rank(g, 2, &v)) return;
    Value out = v;
    int e = empty(g, &v);
    out.number = g->next++;
    put(g, "    %%v%d = linalg.softmax dimension(1) ins(%%v%d : %s) outs(%%v%d : %s) -> %s\n",
        out.number, v.number, type_of(&v), e, type_of(&v), type_of(&v));
    keep(g, out);
}

static void add_product(Gen *g) {
    static const int64_t columns[] = {16, 32, 64, 96, 40, 256};
    static const char *const formats[] = {"",     "q8_0",   "q4_0", "q4_1", "q5_0", "q5_1",
                                          "q4_0", "iq4_nl", "q4_k", "q5_k", "q6_k"};
    Value v, out = {.rank = 2, .a = columns[pick(g, 6)]}, onto;
    if (!any_of_rank(g, 2, &v) || g->num_params == MAX_PARAMS) return;
    char type[64];
    snprintf(type, sizeof type, "tensor<%lldx%lldxf32>", (long long)out.a, (long long)v.a);
    int w = param(g, type, v.a % 32 ? "" : formats[pick(g, v.a % 256 ? 8 : 11)]);
    bool accumulates = pick(g, 3) == 0 && any_of_rank(g, 2, &onto) && onto.a == out.a;
    int start = accumulates ? onto.number : g->next + 1;
    if (!accumulates) {
        int e = empty(g, &out);
        put(g, "    %%v%d = linalg.fill ins(%%zero : f32) outs(%%v%d : %s) -> %s\n", g->next++, e,
            type_of(&out), type_of(&out));
    }
    out.number = g->next++;
    put(g,
        "    %%v%d = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%%v%d, %%w%d : %s, %s) "
        "outs(%%v%d : %s) -> %s\n",
        out.number, v.number, w, type_of(&v), type, start, type_of(&out), type_of(&out));
    keep(g, out);
}

static void add_reshape(Gen *g) {
    Value v = any(g), out = {.number = g->next};
    if (v.rank == 2 && v.a % 8 == 0) {
        out.rank = 3;
        out.b = pick(g, 2) ? 4 : 8;
        out.a = v.a / out.b;
        put(g,
            "    %%v%d = tensor.expand_shape %%v%d [[0], [1, 2]] output_shape [%%n, %lld, %lld] : "
            "%s into %s\n",
            g->next++, v.number, (long long)out.a, (long long)out.b, type_of(&v), type_of(&out));
    } else if (v.rank == 3) {
        out.rank = 2;
        out.a = v.a * v.b;
        put(g, "    %%v%d = tensor.collapse_shape %%v%d [[0], [1, 2]] : %s into %s\n", g->next++,
            v.number, type_of(&v), type_of(&out));
    } else {
        return;
    }
    keep(g, out);
}

static void add_permute(Gen *g) {
    Value v;
    if (!any_of_rank(g, 3, &v)) return;
    Value out = {.rank = 3, .a = v.b, .b = v.a};
    int e = empty(g, &out);
    out.number = g->next++;
    put(g,
        "    %%v%d = linalg.generic {indexing_maps = [#swap, #id3], iterator_types = [%s]} "
        "ins(%%v%d : %s) outs(%%v%d : %s) {\n    ^bb0(%%a: f32, %%o: f32):\n      linalg.yield %%a "
        ": f32\n    } -> %s\n",
        out.number, loops(3), v.number, type_of(&v), e, type_of(&out), type_of(&out));
    keep(g, out);
}

static void add_slice(Gen *g) {
    Value v, out = {.rank = 2};
    if (!any_of_rank(g, 2, &v) || v.a < 32) return;
    out.a = pick(g, 2) ? 16 : v.a / 2;
    int64_t at = (int64_t)pick(g, (uint32_t)(v.a - out.a) + 1);
    out.number = g->next++;
    put(g, "    %%v%d = tensor.extract_slice %%v%d[0, %lld] [%%n, %lld] [1, 1] : %s to %s\n",
        out.number, v.number, (long long)at, (long long)out.a, type_of(&v), type_of(&out));
    keep(g, out);
}

static void add_concat(Gen *g) {
    Value v, w;
    if (!any_of_rank(g, 2, &v) || !any_of_rank(g, 2, &w) || v.a + w.a > 160) return;
    Value out = {.rank = 2, .a = v.a + w.a};
    int e = empty(g, &out), half = g->next++;
    put(g,
        "    %%v%d = tensor.insert_slice %%v%d into %%v%d[0, 0] [%%n, %lld] [1, 1] : %s into %s\n",
        half, v.number, e, (long long)v.a, type_of(&v), type_of(&out));
    out.number = g->next++;
    put(g,
        "    %%v%d = tensor.insert_slice %%v%d into %%v%d[0, %lld] [%%n, %lld] [1, 1] : %s into "
        "%s\n",
        out.number, w.number, half, (long long)v.a, (long long)w.a, type_of(&w), type_of(&out));
    keep(g, out);
}

static void add_gather(Gen *g) {
    static const char *const formats[] = {"",     "q8_0",   "q4_0", "q4_1",
                                          "q5_1", "iq4_nl", "q4_k", "q6_k"};
    static const int64_t columns[] = {32, 64, 32, 256};
    if (!g->has_ids || g->num_params == MAX_PARAMS) return;
    Value out = {.rank = 2, .a = columns[pick(g, 4)]};
    char type[64];
    snprintf(type, sizeof type, "tensor<24x%lldxf32>", (long long)out.a);
    int w = param(g, type, formats[pick(g, out.a % 256 ? 6 : 8)]), e = empty(g, &out);
    out.number = g->next++;
    put(g,
        "    %%v%d = linalg.generic {indexing_maps = [#row2, #id2], iterator_types = [%s]} "
        "ins(%%ids : tensor<?xi32>) outs(%%v%d : %s) {\n    ^bb0(%%i: i32, %%o: f32):\n"
        "      %%r = arith.index_cast %%i : i32 to index\n      %%c = linalg.index 1 : index\n"
        "      %%y = tensor.extract %%w%d[%%r, %%c] : %s\n      linalg.yield %%y : f32\n    } -> "
        "%s\n",
        out.number, loops(2), e, type_of(&out), w, type, type_of(&out));
    keep(g, out);
}

// Heads of 16 or 32 elements over the cache, at most once in a body.
static void add_attention(Gen *g) {
    static const char *const scales[] = {"2.500000e-01", "1.250000e-01", "1.000000e+00"};
    Value q, k, v;
    if (g->has_attention || !any_of_rank(g, 2, &k) || k.a % 16 || k.a > 64) return;
    if (!any_of_rank(g, 2, &v) || v.a != k.a) v = k;
    if (!any_of_rank(g, 2, &q) || q.a % k.a || q.a > 128) q = k;
    int64_t dim = k.a % 32 == 0 && pick(g, 2) ? 32 : 16;
    g->has_attention = true;
    g->attention = (PassCheckAttention){.heads = k.a / dim,
                                        .group = q.a / k.a,
                                        .dim = dim,
                                        .window = pick(g, 3) ? 0 : 1 + pick(g, 9),
                                        .cache_elem = pick(g, 2) ? "f32" : "f16",
                                        .scale = scales[pick(g, 3)]};
    const PassCheckAttention *a = &g->attention;
    bool is_f16 = a->cache_elem[1] == '1';
    char type[64], cache[64], queries[64];
    snprintf(type, sizeof type, "tensor<?x%lldx%lldx%s>", (long long)a->heads, (long long)dim,
             a->cache_elem);
    snprintf(queries, sizeof queries, "tensor<?x%lldx%lldx%lldxf32>", (long long)a->heads,
             (long long)a->group, (long long)dim);
    snprintf(cache, sizeof cache, "tensor<%dx%dx%lldx%lldx%s>", PASSCHECK_PAGES, PASSCHECK_PAGE_LEN,
             (long long)a->heads, (long long)dim, a->cache_elem);
    int numbers[2];
    for (int i = 0; i < 2; i++) {
        Value from = i ? v : k, split = {.rank = 3, .a = a->heads, .b = dim};
        numbers[i] = g->next++;
        put(g,
            "    %%v%d = tensor.expand_shape %%v%d [[0], [1, 2]] output_shape [%%n, %lld, %lld] : "
            "%s into %s\n",
            numbers[i], from.number, (long long)a->heads, (long long)dim, type_of(&from),
            type_of(&split));
        if (!is_f16) continue;
        int wide = numbers[i], e = g->next++;
        numbers[i] = g->next++;
        put(g, "    %%v%d = tensor.empty(%%n) : %s\n", e, type);
        put(g,
            "    %%v%d = linalg.generic {indexing_maps = [#id3, #id3], iterator_types = [%s]} "
            "ins(%%v%d : %s) outs(%%v%d : %s) {\n    ^bb0(%%a: f32, %%o: f16):\n      %%y = "
            "arith.truncf %%a : f32 to f16\n      linalg.yield %%y : f16\n    } -> %s\n",
            numbers[i], loops(3), wide, type_of(&split), e, type, type);
    }
    int split = g->next++, result = 0;
    g->caches = g->next++;
    result = g->next++;
    put(g,
        "    %%v%d = tensor.expand_shape %%v%d [[0], [1, 2, 3]] output_shape [%%n, %lld, %lld, "
        "%lld] : %s into %s\n",
        split, q.number, (long long)a->heads, (long long)a->group, (long long)dim, type_of(&q),
        queries);
    put(g,
        "    %%v%d:2 = func.call @kv_append(%%v%d, %%v%d, %%start, %%pages, %%kc, %%vc) : (%s, %s, "
        "index, tensor<%dxi32>, %s, %s) -> (%s, %s)\n",
        g->caches, numbers[0], numbers[1], type, type, PASSCHECK_PAGES, cache, cache, cache, cache);
    put(g,
        "    %%v%d = func.call @attention(%%v%d, %%start, %%pages, %%v%d#0, %%v%d#1) : (%s, index, "
        "tensor<%dxi32>, %s, %s) -> %s\n",
        result, split, g->caches, g->caches, queries, PASSCHECK_PAGES, cache, cache, queries);
    q.number = g->next++;
    put(g, "    %%v%d = tensor.collapse_shape %%v%d [[0], [1, 2, 3]] : %s into %s\n", q.number,
        result, queries, type_of(&q));
    keep(g, q);
}

// ---- windows: convolutions and pooling over the elements of a row as a map

typedef enum WindowKind { CONV, DEPTHWISE, POOL_MAX, POOL_MIN, POOL_SUM } WindowKind;

typedef struct Window {
    int64_t h, w, c, pad, size, stride, dilation, oh, ow, k;
    bool is_first; // [n, c, h, w] instead of [n, h, w, c]
    WindowKind kind;
} Window;

static const char *map_type(const Window *win, int64_t h, int64_t w, int64_t c) {
    static char texts[4][64];
    static int which;
    char *out = texts[which = (which + 1) % 4];
    snprintf(out, 64, "tensor<?x%lldx%lldx%lldxf32>", (long long)(win->is_first ? c : h),
             (long long)(win->is_first ? h : w), (long long)(win->is_first ? w : c));
    return out;
}

static bool choose_window(Gen *g, int64_t columns, Window *win) {
    for (int tries = 0; tries < 12; tries++) {
        static const int64_t channels[] = {4, 8, 16, 3, 6, 5};
        *win = (Window){.h = 2 + pick(g, 4),
                        .w = 2 + pick(g, 4),
                        .pad = pick(g, 2),
                        .size = 1 + pick(g, 3),
                        .stride = 1 + pick(g, 2),
                        .dilation = pick(g, 4) ? 1 : 2,
                        .k = channels[pick(g, 6)],
                        .kind = pick(g, 3) ? CONV : (WindowKind)(DEPTHWISE + pick(g, 4))};
        win->is_first = win->kind != POOL_MIN && pick(g, 3) == 0;
        if (columns % (win->h * win->w)) continue;
        win->c = columns / (win->h * win->w);
        if (win->kind != CONV) win->k = win->c;
        int64_t reach = (win->size - 1) * win->dilation + 1;
        int64_t h = win->h + 2 * win->pad - reach, w = win->w + 2 * win->pad - reach;
        if (h < 0 || w < 0 || h % win->stride || w % win->stride) continue;
        win->oh = h / win->stride + 1;
        win->ow = w / win->stride + 1;
        if (win->oh * win->ow * win->k <= 200) return true;
    }
    return false;
}

static const char *start_of(const Window *win) {
    return win->kind == POOL_MAX ? "%least" : win->kind == POOL_MIN ? "%most" : "%zero";
}

static int put_padding(Gen *g, const Window *win, int from) {
    if (!win->pad) return from;
    int padded = g->next++;
    const char *amount = win->is_first ? "0, 0, 1, 1" : "0, 1, 1, 0";
    put(g,
        "    %%v%d = tensor.pad %%v%d low[%s] high[%s] {\n    ^bb0(%%i: index, %%j: index, %%k: "
        "index, %%l: index):\n      tensor.yield %s : f32\n    } : %s to %s\n",
        padded, from, amount, amount, pick(g, 4) ? start_of(win) : "%half",
        map_type(win, win->h, win->w, win->c), map_type(win, win->h + 2, win->w + 2, win->c));
    return padded;
}

// The op on `from`, padded already; the number of its result.
static int put_window(Gen *g, const Window *win, int from) {
    static const char *const names[][2] = {
        {"conv_2d_nhwc_hwcf", "conv_2d_nchw_fchw"},
        {"depthwise_conv_2d_nhwc_hwc", "depthwise_conv_2d_nchw_chw"},
        {"pooling_nhwc_max", "pooling_nchw_max"},
        {"pooling_nhwc_min", NULL},
        {"pooling_nhwc_sum", "pooling_nchw_sum"}};
    char weights[64], window[24];
    if (win->is_first && win->kind == DEPTHWISE)
        snprintf(weights, sizeof weights, "tensor<%lldx%lldx%lldxf32>", (long long)win->c,
                 (long long)win->size, (long long)win->size);
    else if (win->is_first && win->kind == CONV)
        snprintf(weights, sizeof weights, "tensor<%lldx%lldx%lldx%lldxf32>", (long long)win->k,
                 (long long)win->c, (long long)win->size, (long long)win->size);
    else if (win->kind == CONV)
        snprintf(weights, sizeof weights, "tensor<%lldx%lldx%lldx%lldxf32>", (long long)win->size,
                 (long long)win->size, (long long)win->c, (long long)win->k);
    else if (win->kind == DEPTHWISE)
        snprintf(weights, sizeof weights, "tensor<%lldx%lldx%lldxf32>", (long long)win->size,
                 (long long)win->size, (long long)win->c);
    else
        snprintf(weights, sizeof weights, "tensor<%lldx%lldxf32>", (long long)win->size,
                 (long long)win->size);
    if (win->kind <= DEPTHWISE) {
        snprintf(window, sizeof window, "%%w%d", param(g, weights, ""));
    } else {
        put(g, "    %%v%d = tensor.empty() : %s\n", g->next, weights);
        snprintf(window, sizeof window, "%%v%d", g->next++);
    }
    const char *type = map_type(win, win->oh, win->ow, win->k);
    int e = g->next++, f = g->next++, out = g->next++;
    put(g, "    %%v%d = tensor.empty(%%n) : %s\n", e, type);
    put(g, "    %%v%d = linalg.fill ins(%s : f32) outs(%%v%d : %s) -> %s\n", f, start_of(win), e,
        type, type);
    put(g,
        "    %%v%d = linalg.%s {dilations = dense<%lld> : tensor<2xi64>, strides = dense<%lld> : "
        "tensor<2xi64>} ins(%%v%d, %s : %s, %s) outs(%%v%d : %s) -> %s\n",
        out, names[win->kind][win->is_first], (long long)win->dilation, (long long)win->stride,
        from, window, map_type(win, win->h + 2 * win->pad, win->w + 2 * win->pad, win->c), weights,
        f, type, type);
    return out;
}

// A scale and a shift of every channel, and what is below 0 becomes 0.
static int put_batch_norm(Gen *g, const Window *win, int from) {
    char type[24];
    snprintf(type, sizeof type, "tensor<%lldxf32>", (long long)win->k);
    int scale = param(g, type, ""), shift = param(g, type, ""), e = g->next++, out = g->next++;
    const char *map = win->is_first ? "#channel1" : "#channel4";
    const char *whole = map_type(win, win->oh, win->ow, win->k);
    put(g, "    %%v%d = tensor.empty(%%n) : %s\n", e, whole);
    put(g,
        "    %%v%d = linalg.generic {indexing_maps = [#id4, %s, %s, #id4], iterator_types = "
        "[\"parallel\", \"parallel\", \"parallel\", \"parallel\"]} ins(%%v%d, %%w%d, %%w%d : %s, "
        "%s, %s) outs(%%v%d : %s) {\n    ^bb0(%%a: f32, %%b: f32, %%c: f32, %%o: f32):\n"
        "      %%t = arith.mulf %%a, %%b : f32\n      %%s = arith.addf %%t, %%c : f32\n"
        "      %%y = arith.maximumf %%s, %%zero : f32\n      linalg.yield %%y : f32\n    } -> %s\n",
        out, map, map, from, scale, shift, whole, type, type, e, whole, whole);
    return out;
}

static void add_window(Gen *g) {
    Value v, out = {.rank = 2};
    Window win;
    if (!any_of_rank(g, 2, &v) || g->num_params + 3 > MAX_PARAMS || !choose_window(g, v.a, &win))
        return;
    int at = g->next++;
    put(g,
        "    %%v%d = tensor.expand_shape %%v%d [[0], [1, 2, 3]] output_shape [%%n, %lld, %lld, "
        "%lld] : %s into %s\n",
        at, v.number, (long long)(win.is_first ? win.c : win.h),
        (long long)(win.is_first ? win.h : win.w), (long long)(win.is_first ? win.w : win.c),
        type_of(&v), map_type(&win, win.h, win.w, win.c));
    at = put_window(g, &win, put_padding(g, &win, at));
    if (pick(g, 2)) at = put_batch_norm(g, &win, at);
    out.a = win.oh * win.ow * win.k;
    out.number = g->next++;
    put(g, "    %%v%d = tensor.collapse_shape %%v%d [[0], [1, 2, 3]] : %s into %s\n", out.number,
        at, map_type(&win, win.oh, win.ow, win.k), type_of(&out));
    keep(g, out);
}

// Columns around those there are.
static void add_pad(Gen *g) {
    Value v, out = {.rank = 2};
    if (!any_of_rank(g, 2, &v) || v.a > 96) return;
    int64_t low = pick(g, 9), high = pick(g, 2) ? pick(g, 9) : (160 - v.a - low) % 16;
    out.a = v.a + low + high;
    out.number = g->next++;
    put(g,
        "    %%v%d = tensor.pad %%v%d low[0, %lld] high[0, %lld] {\n    ^bb0(%%i: index, %%j: "
        "index):\n      tensor.yield %s : f32\n    } : %s to %s\n",
        out.number, v.number, (long long)low, (long long)high, pick(g, 2) ? "%zero" : "%half",
        type_of(&v), type_of(&out));
    keep(g, out);
}

// Elements of another value in the same row, at a place that is computed.
static void add_pick(Gen *g) {
    Value v, w;
    if (!any_of_rank(g, 2, &v) || !any_of_rank(g, 2, &w)) return;
    Value out = v;
    int e = empty(g, &out);
    out.number = g->next++;
    put(g,
        "    %%v%d = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = [%s]} "
        "ins(%%v%d : %s) outs(%%v%d : %s) {\n    ^bb0(%%a: f32, %%o: f32):\n"
        "      %%i = linalg.index 0 : index\n      %%j = linalg.index 1 : index\n"
        "      %%w = arith.constant %lld : index\n      %%t = arith.muli %%j, %%c5 : index\n"
        "      %%r = arith.remui %%t, %%w : index\n"
        "      %%b = tensor.extract %%v%d[%%i, %%r] : %s\n"
        "      %%y = arith.addf %%a, %%b : f32\n      linalg.yield %%y : f32\n    } -> %s\n",
        out.number, loops(2), v.number, type_of(&v), e, type_of(&out), (long long)w.a, w.number,
        type_of(&w), type_of(&out));
    keep(g, out);
}

static void add_ops(Gen *g, uint32_t num) {
    static void (*const all[])(Gen *) = {
        add_unary,   add_unary,     add_binary,    add_binary,  add_reduce,  add_norm,  add_softmax,
        add_product, add_product,   add_product,   add_reshape, add_permute, add_slice, add_concat,
        add_gather,  add_attention, add_attention, add_window,  add_window,  add_pad,   add_pick};
    for (uint32_t i = 0; i < num; i++) all[pick(g, (uint32_t)(sizeof all / sizeof *all))](g);
}

static void put_constants(Gen *g) {
    put(g, "    %%zero = arith.constant 0.000000e+00 : f32\n"
           "    %%one = arith.constant 1.000000e+00 : f32\n"
           "    %%half = arith.constant 5.000000e-01 : f32\n"
           "    %%tenth = arith.constant 1.250000e-01 : f32\n"
           "    %%low = arith.constant -1.000000e+00 : f32\n"
           "    %%least = arith.constant 0xFF800000 : f32\n"
           "    %%most = arith.constant 0x7F800000 : f32\n"
           "    %%c0 = arith.constant 0 : index\n    %%c5 = arith.constant 5 : index\n"
           "    %%n = tensor.dim %%v0, %%c0 : tensor<?x32xf32>\n");
}

static const char *cache_type(const Gen *g) {
    static char text[64];
    snprintf(text, sizeof text, "tensor<%dx%dx%lldx%lldx%s>", PASSCHECK_PAGES, PASSCHECK_PAGE_LEN,
             (long long)g->attention.heads, (long long)g->attention.dim, g->attention.cache_elem);
    return text;
}

static void put_state(StrBuf *out, const Gen *g, bool is_entry, uint32_t copies) {
    if (!g->has_attention) return;
    strbuf_printf(out, ", %%start: index, %%pages: tensor<%dxi32>", PASSCHECK_PAGES);
    for (uint32_t c = 0; c < copies; c++)
        for (int i = 0; i < 2; i++) {
            strbuf_printf(out, ", %%%cc%s: %s", "kv"[i], c ? "b" : "", cache_type(g));
            if (is_entry)
                strbuf_printf(out, " {ingot.kv = \"%c\", ingot.layer = %u : i64}", "kv"[i], c);
        }
}

static void put_signature(StrBuf *out, const Gen *g, bool is_entry, uint32_t copies) {
    put_state(out, g, is_entry, copies);
    for (uint32_t c = 0; c < copies; c++)
        for (uint32_t i = 0; i < g->num_params; i++) {
            const Param *p = &g->params[i];
            strbuf_printf(out, ", %%%s%s: %s {", p->name, c ? "b" : "", p->type);
            if (is_entry) strbuf_printf(out, "ingot.param = \"%s%s\"", p->name, c ? "b" : "");
            if (p->quant[0])
                strbuf_printf(out, "%singot.quant = \"%s\"", is_entry ? ", " : "", p->quant);
            strbuf_putc(out, '}');
        }
}

static void put_call(StrBuf *out, const Gen *g, int copy) {
    strbuf_printf(out, "    %%y%d%s = func.call @layer(%s, %%ids", copy,
                  g->has_attention ? ":3" : "",
                  copy == 0          ? "%v0"
                  : g->has_attention ? "%y0#0"
                                     : "%y0");
    if (g->has_attention)
        strbuf_printf(out, ", %%start, %%pages, %%kc%s, %%vc%s", copy ? "b" : "", copy ? "b" : "");
    for (uint32_t i = 0; i < g->num_params; i++)
        strbuf_printf(out, ", %%%s%s", g->params[i].name, copy ? "b" : "");
    strbuf_puts(out, ") : (tensor<?x32xf32>, tensor<?xi32>");
    if (g->has_attention) {
        strbuf_printf(out, ", index, tensor<%dxi32>", PASSCHECK_PAGES);
        for (int i = 0; i < 2; i++) strbuf_printf(out, ", %s", cache_type(g));
    }
    for (uint32_t i = 0; i < g->num_params; i++) strbuf_printf(out, ", %s", g->params[i].type);
    if (g->has_attention)
        strbuf_printf(out, ") -> (tensor<?x32xf32>, %s, %s)\n", cache_type(g), cache_type(g));
    else
        strbuf_puts(out, ") -> tensor<?x32xf32>\n");
}

static void put_maps(StrBuf *out) {
    strbuf_puts(out,
                "#id1 = affine_map<(i) -> (i)>\n#id2 = affine_map<(i, j) -> (i, j)>\n"
                "#id3 = affine_map<(i, j, k) -> (i, j, k)>\n"
                "#id4 = affine_map<(i, j, k, l) -> (i, j, k, l)>\n"
                "#channel4 = affine_map<(i, j, k, l) -> (l)>\n"
                "#channel1 = affine_map<(i, j, k, l) -> (j)>\n"
                "#row2 = affine_map<(i, j) -> (i)>\n#row3 = affine_map<(i, j, k) -> (i)>\n"
                "#col2 = affine_map<(i, j) -> (j)>\n#col3 = affine_map<(i, j, k) -> (k)>\n"
                "#swap = affine_map<(i, j, k) -> (i, k, j)>\n"
                "#mk = affine_map<(m, n, k) -> (m, k)>\n#nk = affine_map<(m, n, k) -> (n, k)>\n"
                "#mn = affine_map<(m, n, k) -> (m, n)>\n");
}

// What follows the returned values of a function with a cache, and their types.
static void put_results(StrBuf *out, const Gen *g, bool is_type) {
    if (!g->has_attention) return;
    for (int i = 0; i < 2; i++)
        if (is_type)
            strbuf_printf(out, ", %s", cache_type(g));
        else
            strbuf_printf(out, ", %%v%d#%d", g->caches, i);
}

static void put_layers(StrBuf *out, Gen *g) {
    Value last = {0};
    for (uint32_t i = g->num_values; i-- > 0 && last.rank == 0;)
        if (g->values[i].rank == 2 && g->values[i].a == 32) last = g->values[i];
    strbuf_puts(out, "  func.func private @layer(%v0: tensor<?x32xf32>, %ids: tensor<?xi32>");
    put_signature(out, g, false, 1);
    strbuf_puts(out, ") -> (tensor<?x32xf32>");
    put_results(out, g, true);
    strbuf_puts(out, ") {\n");
    strbuf_append(out, g->body.data, g->body.len);
    strbuf_printf(out, "    return %%v%d", last.number);
    put_results(out, g, false);
    strbuf_puts(out, " : tensor<?x32xf32>");
    put_results(out, g, true);
    strbuf_puts(out, "\n  }\n  func.func @forward(%v0: tensor<?x32xf32>, %ids: tensor<?xi32>");
    put_signature(out, g, true, 2);
    strbuf_puts(out, ") -> (tensor<?x32xf32>");
    put_results(out, g, true);
    put_results(out, g, true);
    strbuf_puts(out, ") {\n");
    put_call(out, g, 0);
    put_call(out, g, 1);
    strbuf_puts(out, g->has_attention
                         ? "    return %y1#0, %y0#1, %y0#2, %y1#1, %y1#2 : tensor<?x32xf32>"
                         : "    return %y1 : tensor<?x32xf32>");
    put_results(out, g, true);
    put_results(out, g, true);
    strbuf_puts(out, "\n  }\n}\n");
}

static void put_entry(StrBuf *out, Gen *g) {
    Value last = g->values[g->num_values - 1], other = any(g);
    strbuf_puts(out, "  func.func @forward(%v0: tensor<?x32xf32>, %ids: tensor<?xi32>");
    put_signature(out, g, true, 1);
    strbuf_printf(out, ") -> (%s, %s", type_of(&last), type_of(&other));
    put_results(out, g, true);
    strbuf_puts(out, ") {\n");
    strbuf_append(out, g->body.data, g->body.len);
    strbuf_printf(out, "    return %%v%d, %%v%d", last.number, other.number);
    put_results(out, g, false);
    strbuf_printf(out, " : %s, %s", type_of(&last), type_of(&other));
    put_results(out, g, true);
    strbuf_puts(out, "\n  }\n}\n");
}

void passcheck_module(uint64_t seed, StrBuf *out) {
    static const char *const activations[] = {"f32", "int8", "bf16"};
    Gen g = {.state = (seed + 1) * UINT64_C(0x9E3779B97F4A7C15), .has_ids = true};
    for (int i = 0; i < 16; i++) pick(&g, 2);
    const char *activation = activations[pick(&g, 3)];
    uint32_t bucket = 4 + pick(&g, 5);
    bool has_layer = pick(&g, 2);
    put_constants(&g);
    g.next = 1;
    keep(&g, (Value){.number = 0, .rank = 2, .a = 32});
    add_ops(&g, 3 + pick(&g, 10));
    put_maps(out);
    strbuf_printf(
        out,
        "module attributes {ingot.config = {activations = \"%s\", buckets = [1, %u], kv = "
        "\"%s\", max_pages = %d : i64, page_len = %d : i64, threads = 2 : i64}%s} {\n",
        activation, bucket, g.has_attention ? g.attention.cache_elem : "f32", PASSCHECK_PAGES,
        PASSCHECK_PAGE_LEN, seed % 2 ? ", ingot.map_layout = \"blocked\"" : "");
    if (g.has_attention) passcheck_attention(&g.attention, out);
    if (has_layer)
        put_layers(out, &g); // its result has the shape of its argument
    else
        put_entry(out, &g);
    strbuf_deinit(&g.body);
}
