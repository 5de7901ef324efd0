// Affine expressions in the canonical form MLIR builds (its rules are stated at each function), so
// that equal maps are equal pointers and texts agree.
#include "ir/intern.h"

#include <string.h>

static bool is_const(const IrAffineExpr *e) {
    return e->kind == IR_AFFINE_CONST;
}

static bool is_symbolic(const IrAffineExpr *e) {
    switch (e->kind) {
    case IR_AFFINE_CONST:
    case IR_AFFINE_SYMBOL: return true;
    case IR_AFFINE_DIM: return false;
    default: return is_symbolic(e->lhs) && is_symbolic(e->rhs);
    }
}

static uint64_t expr_hash(const IrAffineExpr *e) {
    uint64_t hash = hash_mix(hash_mix(5, e->kind), (uint64_t)e->value);
    return hash_ptr(hash_ptr(hash, e->lhs), e->rhs);
}

static bool expr_equal(const void *object, const void *key) {
    const IrAffineExpr *a = object, *b = key;
    return a->kind == b->kind && a->value == b->value && a->lhs == b->lhs && a->rhs == b->rhs;
}

static const IrAffineExpr *expr_intern(IrModule *m, const IrAffineExpr *key) {
    uint64_t hash = expr_hash(key);
    const IrAffineExpr *found = intern_find(&m->interner->exprs, hash, expr_equal, key);
    if (found) return found;
    IrAffineExpr *e = arena_memdup(&m->arena, key, 1, sizeof *key);
    intern_add(&m->interner->exprs, hash, e);
    return e;
}

const IrAffineExpr *ir_affine_const(IrModule *m, int64_t value) {
    return expr_intern(m, &(IrAffineExpr){.kind = IR_AFFINE_CONST, .value = value});
}

const IrAffineExpr *ir_affine_dim(IrModule *m, uint32_t number) {
    return expr_intern(m, &(IrAffineExpr){.kind = IR_AFFINE_DIM, .value = number});
}

const IrAffineExpr *ir_affine_symbol(IrModule *m, uint32_t number) {
    return expr_intern(m, &(IrAffineExpr){.kind = IR_AFFINE_SYMBOL, .value = number});
}

static const IrAffineExpr *add(IrModule *m, const IrAffineExpr *a, const IrAffineExpr *b) {
    return ir_affine_binary(m, IR_AFFINE_ADD, a, b);
}

static const IrAffineExpr *mul(IrModule *m, const IrAffineExpr *a, const IrAffineExpr *b) {
    return ir_affine_binary(m, IR_AFFINE_MUL, a, b);
}

static int64_t floor_div(int64_t a, int64_t b) {
    int64_t q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}
static int64_t ceil_div(int64_t a, int64_t b) {
    int64_t q = a / b;
    return a % b != 0 && (a < 0) == (b < 0) ? q + 1 : q;
}
static int64_t floor_mod(int64_t a, int64_t b) {
    int64_t r = a % b;
    return r < 0 ? r + b : r;
}

static int64_t gcd(int64_t a, int64_t b) {
    while (b) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

// The largest number known to divide every value of e (0 for the constant 0).
static int64_t known_divisor(const IrAffineExpr *e) {
    int64_t product;
    switch (e->kind) {
    case IR_AFFINE_CONST: return e->value == INT64_MIN ? 1 : e->value < 0 ? -e->value : e->value;
    case IR_AFFINE_DIM:
    case IR_AFFINE_SYMBOL: return 1;
    case IR_AFFINE_ADD:
    case IR_AFFINE_MOD: return gcd(known_divisor(e->lhs), known_divisor(e->rhs));
    case IR_AFFINE_MUL:
        if (__builtin_mul_overflow(known_divisor(e->lhs), known_divisor(e->rhs), &product))
            return 1;
        return product;
    case IR_AFFINE_FLOORDIV:
    case IR_AFFINE_CEILDIV:
        if (is_const(e->rhs) && e->rhs->value > 0) {
            int64_t divisor = known_divisor(e->lhs);
            if (divisor % e->rhs->value == 0) return divisor / e->rhs->value;
        }
        return 1;
    }
    BUG("affine kind %d", (int)e->kind);
}

// e = factor * *out_base with a constant factor (1 if there is none).
static int64_t constant_factor(const IrAffineExpr *e, const IrAffineExpr **out_base) {
    if (e->kind == IR_AFFINE_MUL && is_const(e->rhs)) {
        *out_base = e->lhs;
        return e->rhs->value;
    }
    *out_base = e;
    return 1;
}

// e - (e floordiv c) * c = e mod c, written either way round.
static const IrAffineExpr *as_mod(IrModule *m, const IrAffineExpr *lhs, const IrAffineExpr *rhs) {
    if (rhs->kind != IR_AFFINE_MUL || !is_const(rhs->rhs)) return NULL;
    const IrAffineExpr *inner = rhs->lhs;
    if (rhs->rhs->value == -1 && inner->kind == IR_AFFINE_MUL &&
        inner->lhs->kind == IR_AFFINE_FLOORDIV && inner->lhs->rhs == inner->rhs &&
        inner->lhs->lhs == lhs)
        return ir_affine_binary(m, IR_AFFINE_MOD, lhs, inner->rhs);
    if (inner->kind == IR_AFFINE_FLOORDIV && is_const(inner->rhs) && inner->rhs->value > 0 &&
        inner->lhs == lhs && rhs->rhs->value == -inner->rhs->value)
        return ir_affine_binary(m, IR_AFFINE_MOD, lhs, inner->rhs);
    return NULL;
}

// Constants and symbols to the right; of two dimensions or two symbols the first comes first, as in
// stock MLIR; x + 0 = x; (x + 2) + 3 = x + 5; x * 2 + x * 3 = x * 5;
// (x + 2) + y = (x + y) + 2; x - (x floordiv c) * c = x mod c.
static const IrAffineExpr *simplify_add(IrModule *m, const IrAffineExpr *lhs,
                                        const IrAffineExpr *rhs) {
    int64_t sum;
    if (is_const(lhs) && is_const(rhs)) {
        return __builtin_add_overflow(lhs->value, rhs->value, &sum) ? NULL
                                                                    : ir_affine_const(m, sum);
    }
    if (is_const(lhs) || (is_symbolic(lhs) && !is_symbolic(rhs))) return add(m, rhs, lhs);
    bool is_name = lhs->kind == IR_AFFINE_DIM || lhs->kind == IR_AFFINE_SYMBOL;
    if (is_name && lhs->kind == rhs->kind && lhs->value > rhs->value) return add(m, rhs, lhs);
    if (is_const(rhs) && rhs->value == 0) return lhs;
    bool lhs_has_const = lhs->kind == IR_AFFINE_ADD && is_const(lhs->rhs);
    if (lhs_has_const && is_const(rhs)) {
        if (__builtin_add_overflow(lhs->rhs->value, rhs->value, &sum)) return NULL;
        return add(m, lhs->lhs, ir_affine_const(m, sum));
    }
    const IrAffineExpr *lhs_base, *rhs_base;
    int64_t lhs_factor = constant_factor(lhs, &lhs_base),
            rhs_factor = constant_factor(rhs, &rhs_base);
    if (lhs_base == rhs_base && !__builtin_add_overflow(lhs_factor, rhs_factor, &sum))
        return mul(m, lhs_base, ir_affine_const(m, sum));
    if (lhs_has_const) return add(m, add(m, lhs->lhs, rhs), lhs->rhs);
    return as_mod(m, lhs, rhs);
}

// Constants and symbols to the right; x * 1 = x; x * 0 = 0; (x * 2) * 3 = x * 6; (x * 2) * s = (x *
// s) * 2.
static const IrAffineExpr *simplify_mul(IrModule *m, const IrAffineExpr *lhs,
                                        const IrAffineExpr *rhs) {
    int64_t product;
    if (is_const(lhs) && is_const(rhs)) {
        return __builtin_mul_overflow(lhs->value, rhs->value, &product)
                   ? NULL
                   : ir_affine_const(m, product);
    }
    if (!is_symbolic(rhs) || is_const(lhs)) return mul(m, rhs, lhs);
    if (is_const(rhs) && rhs->value == 1) return lhs;
    if (is_const(rhs) && rhs->value == 0) return rhs;
    bool lhs_has_const = lhs->kind == IR_AFFINE_MUL && is_const(lhs->rhs);
    if (lhs_has_const && is_const(rhs)) {
        if (__builtin_mul_overflow(lhs->rhs->value, rhs->value, &product)) return NULL;
        return mul(m, lhs->lhs, ir_affine_const(m, product));
    }
    if (lhs_has_const) return mul(m, mul(m, lhs->lhs, rhs), lhs->rhs);
    return NULL;
}

// x floordiv 1 = x; (x * 128) floordiv 64 = x * 2; (x + y) floordiv c splits if c divides one of
// them.
static const IrAffineExpr *simplify_div(IrModule *m, IrAffineKind kind, const IrAffineExpr *lhs,
                                        const IrAffineExpr *rhs) {
    if (!is_const(rhs) || rhs->value == 0) return NULL;
    int64_t divisor = rhs->value;
    if (is_const(lhs)) {
        if (lhs->value == INT64_MIN && divisor == -1) return NULL;
        return ir_affine_const(m, kind == IR_AFFINE_FLOORDIV ? floor_div(lhs->value, divisor)
                                                             : ceil_div(lhs->value, divisor));
    }
    if (divisor == 1) return lhs;
    if (lhs->kind == IR_AFFINE_MUL && is_const(lhs->rhs) && divisor != -1 &&
        lhs->rhs->value % divisor == 0)
        return mul(m, lhs->lhs, ir_affine_const(m, lhs->rhs->value / divisor));
    if (kind == IR_AFFINE_FLOORDIV && lhs->kind == IR_AFFINE_ADD && divisor != -1 &&
        (known_divisor(lhs->lhs) % divisor == 0 || known_divisor(lhs->rhs) % divisor == 0))
        return add(m, ir_affine_binary(m, kind, lhs->lhs, rhs),
                   ir_affine_binary(m, kind, lhs->rhs, rhs));
    return NULL;
}

// A multiple of c mod c = 0; (x + y) mod c drops a multiple of c; (x mod a) mod c = x mod c if c
// divides a.
static const IrAffineExpr *simplify_mod(IrModule *m, const IrAffineExpr *lhs,
                                        const IrAffineExpr *rhs) {
    if (!is_const(rhs) || rhs->value < 1) return NULL;
    int64_t divisor = rhs->value;
    if (is_const(lhs)) return ir_affine_const(m, floor_mod(lhs->value, divisor));
    if (known_divisor(lhs) % divisor == 0) return ir_affine_const(m, 0);
    if (lhs->kind == IR_AFFINE_ADD) {
        if (known_divisor(lhs->lhs) % divisor == 0)
            return ir_affine_binary(m, IR_AFFINE_MOD, lhs->rhs, rhs);
        if (known_divisor(lhs->rhs) % divisor == 0)
            return ir_affine_binary(m, IR_AFFINE_MOD, lhs->lhs, rhs);
    }
    if (lhs->kind == IR_AFFINE_MOD && is_const(lhs->rhs) && lhs->rhs->value >= 1 &&
        lhs->rhs->value % divisor == 0)
        return ir_affine_binary(m, IR_AFFINE_MOD, lhs->lhs, rhs);
    return NULL;
}

const IrAffineExpr *ir_affine_binary(IrModule *m, IrAffineKind kind, const IrAffineExpr *lhs,
                                     const IrAffineExpr *rhs) {
    const IrAffineExpr *simple = NULL;
    switch (kind) {
    case IR_AFFINE_ADD: simple = simplify_add(m, lhs, rhs); break;
    case IR_AFFINE_MUL:
        BUG_IF(!is_symbolic(lhs) && !is_symbolic(rhs), "affine product of two dimensions");
        simple = simplify_mul(m, lhs, rhs);
        break;
    case IR_AFFINE_MOD:
    case IR_AFFINE_FLOORDIV:
    case IR_AFFINE_CEILDIV:
        BUG_IF(!is_symbolic(rhs), "affine division by a dimension");
        simple =
            kind == IR_AFFINE_MOD ? simplify_mod(m, lhs, rhs) : simplify_div(m, kind, lhs, rhs);
        break;
    default: BUG("affine kind %d is not binary", (int)kind);
    }
    return simple ? simple : expr_intern(m, &(IrAffineExpr){.kind = kind, .lhs = lhs, .rhs = rhs});
}

bool ir_affine_is_symbolic(const IrAffineExpr *expr) {
    return is_symbolic(expr);
}

static bool map_equal(const void *object, const void *key) {
    const IrAffineMap *a = object, *b = key;
    return a->num_dims == b->num_dims && a->num_symbols == b->num_symbols &&
           a->num_results == b->num_results &&
           same_ptrs(a->num_results, (const void *const *)a->results,
                     (const void *const *)b->results);
}

const IrAffineMap *ir_affine_map(IrModule *m, uint32_t num_dims, uint32_t num_symbols,
                                 uint32_t num_results, const IrAffineExpr *const *results) {
    IrAffineMap key = {num_dims, num_symbols, num_results, results};
    uint64_t hash = hash_mix(6, (uint64_t)num_dims << 32 | num_symbols);
    hash = hash_ptrs(hash, num_results, (const void *const *)results);
    const IrAffineMap *found = intern_find(&m->interner->maps, hash, map_equal, &key);
    if (found) return found;
    IrAffineMap *map = arena_memdup(&m->arena, &key, 1, sizeof key);
    map->results = arena_memdup(&m->arena, results, num_results, sizeof *results);
    intern_add(&m->interner->maps, hash, map);
    return map;
}

const IrAffineMap *ir_affine_select(IrModule *m, uint32_t num_dims, uint32_t num_results,
                                    const uint32_t *dims) {
    const IrAffineExpr **results = ARENA_ARRAY(&m->arena, const IrAffineExpr *, num_results);
    for (uint32_t i = 0; i < num_results; i++) results[i] = ir_affine_dim(m, dims[i]);
    return ir_affine_map(m, num_dims, 0, num_results, results);
}

const IrAffineMap *ir_affine_identity(IrModule *m, uint32_t num_dims) {
    const IrAffineExpr **results = ARENA_ARRAY(&m->arena, const IrAffineExpr *, num_dims);
    for (uint32_t i = 0; i < num_dims; i++) results[i] = ir_affine_dim(m, i);
    return ir_affine_map(m, num_dims, 0, num_dims, results);
}

// Wraps around on overflow: callers that care check ranges first.
int64_t ir_affine_eval(const IrAffineExpr *expr, const int64_t *dims, const int64_t *symbols) {
    if (expr->kind == IR_AFFINE_CONST) return expr->value;
    if (expr->kind == IR_AFFINE_DIM) return dims[expr->value];
    if (expr->kind == IR_AFFINE_SYMBOL) return symbols[expr->value];
    int64_t lhs = ir_affine_eval(expr->lhs, dims, symbols);
    int64_t rhs = ir_affine_eval(expr->rhs, dims, symbols);
    switch (expr->kind) {
    case IR_AFFINE_ADD: return (int64_t)((uint64_t)lhs + (uint64_t)rhs);
    case IR_AFFINE_MUL: return (int64_t)((uint64_t)lhs * (uint64_t)rhs);
    default: break;
    }
    // MLIR leaves division by zero or a negative number undefined; the parser refuses constants
    // < 1.
    if (rhs < 1) return 0;
    if (expr->kind == IR_AFFINE_MOD) return floor_mod(lhs, rhs);
    return expr->kind == IR_AFFINE_FLOORDIV ? floor_div(lhs, rhs) : ceil_div(lhs, rhs);
}

bool ir_affine_is_dim(const IrAffineExpr *expr, uint32_t *out_dim) {
    if (expr->kind != IR_AFFINE_DIM) return false;
    if (out_dim) *out_dim = (uint32_t)expr->value;
    return true;
}

bool ir_affine_uses_dim(const IrAffineExpr *expr, uint32_t dim) {
    if (expr->kind == IR_AFFINE_DIM) return expr->value == (int64_t)dim;
    if (expr->kind < IR_AFFINE_ADD) return false;
    return ir_affine_uses_dim(expr->lhs, dim) || ir_affine_uses_dim(expr->rhs, dim);
}

// Adds factor * expr to the coefficients.
static bool accumulate(const IrAffineExpr *expr, int64_t factor, uint32_t num_dims, int64_t *coeffs,
                       int64_t *constant) {
    int64_t product;
    switch (expr->kind) {
    case IR_AFFINE_CONST:
        return !__builtin_mul_overflow(factor, expr->value, &product) &&
               !__builtin_add_overflow(*constant, product, constant);
    case IR_AFFINE_DIM:
        return expr->value < (int64_t)num_dims &&
               !__builtin_add_overflow(coeffs[expr->value], factor, &coeffs[expr->value]);
    case IR_AFFINE_ADD:
        return accumulate(expr->lhs, factor, num_dims, coeffs, constant) &&
               accumulate(expr->rhs, factor, num_dims, coeffs, constant);
    case IR_AFFINE_MUL:
        return is_const(expr->rhs) && !__builtin_mul_overflow(factor, expr->rhs->value, &product) &&
               accumulate(expr->lhs, product, num_dims, coeffs, constant);
    default: return false;
    }
}

bool ir_affine_linear(const IrAffineExpr *expr, uint32_t num_dims, int64_t *out_coeffs,
                      int64_t *out_constant) {
    for (uint32_t i = 0; i < num_dims; i++) out_coeffs[i] = 0;
    *out_constant = 0;
    return accumulate(expr, 1, num_dims, out_coeffs, out_constant);
}

static int64_t clamp_add(int64_t a, int64_t b) {
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum)) return a < 0 ? INT64_MIN : INT64_MAX;
    return sum;
}

static int64_t clamp_mul(int64_t a, int64_t b) {
    int64_t product;
    if (__builtin_mul_overflow(a, b, &product)) return (a < 0) != (b < 0) ? INT64_MIN : INT64_MAX;
    return product;
}

typedef struct Interval {
    int64_t min, max;
} Interval;

static Interval range_of(const IrAffineExpr *e, const int64_t *ranges) {
    static const Interval any = {INT64_MIN, INT64_MAX};
    if (e->kind == IR_AFFINE_CONST) return (Interval){e->value, e->value};
    if (e->kind == IR_AFFINE_SYMBOL) return any;
    if (e->kind == IR_AFFINE_DIM) {
        int64_t size = ranges[e->value];
        if (size == IR_DYNAMIC) return (Interval){0, INT64_MAX};
        return (Interval){0, MAX(size, 1) - 1};
    }
    Interval lhs = range_of(e->lhs, ranges), rhs = range_of(e->rhs, ranges);
    if (e->kind == IR_AFFINE_ADD)
        return (Interval){clamp_add(lhs.min, rhs.min), clamp_add(lhs.max, rhs.max)};
    if (e->kind == IR_AFFINE_MUL) {
        if (rhs.min != rhs.max) return any;
        int64_t a = clamp_mul(lhs.min, rhs.min), b = clamp_mul(lhs.max, rhs.min);
        return (Interval){MIN(a, b), MAX(a, b)};
    }
    if (rhs.min != rhs.max || rhs.min < 1) return any;
    int64_t c = rhs.min;
    if (e->kind == IR_AFFINE_FLOORDIV)
        return (Interval){floor_div(lhs.min, c), floor_div(lhs.max, c)};
    if (e->kind == IR_AFFINE_CEILDIV) return (Interval){ceil_div(lhs.min, c), ceil_div(lhs.max, c)};
    if (floor_div(lhs.min, c) == floor_div(lhs.max, c))
        return (Interval){floor_mod(lhs.min, c), floor_mod(lhs.max, c)};
    return (Interval){0, c - 1};
}

void ir_affine_range(const IrAffineExpr *expr, const int64_t *ranges, int64_t *out_min,
                     int64_t *out_max) {
    Interval range = range_of(expr, ranges);
    *out_min = range.min;
    *out_max = range.max;
}

const IrAffineExpr *ir_affine_replace(IrModule *m, const IrAffineExpr *expr,
                                      const IrAffineExpr *const *dims,
                                      const IrAffineExpr *const *symbols) {
    switch (expr->kind) {
    case IR_AFFINE_CONST: return expr;
    case IR_AFFINE_DIM: return dims ? dims[expr->value] : expr;
    case IR_AFFINE_SYMBOL: return symbols ? symbols[expr->value] : expr;
    default:
        return ir_affine_binary(m, expr->kind, ir_affine_replace(m, expr->lhs, dims, symbols),
                                ir_affine_replace(m, expr->rhs, dims, symbols));
    }
}

const IrAffineMap *ir_affine_compose(IrModule *m, const IrAffineMap *outer,
                                     const IrAffineMap *inner) {
    BUG_IF(outer->num_dims != inner->num_results, "maps do not compose: %u dims, %u results",
           outer->num_dims, inner->num_results);
    // The symbols of both stay apart: the inner map's follow the outer's, as in MLIR.
    const IrAffineExpr **shifted =
        ARENA_ARRAY(&m->arena, const IrAffineExpr *, inner->num_symbols + 1);
    for (uint32_t i = 0; i < inner->num_symbols; i++)
        shifted[i] = ir_affine_symbol(m, outer->num_symbols + i);
    const IrAffineExpr **dims =
        ARENA_ARRAY(&m->arena, const IrAffineExpr *, inner->num_results + 1);
    for (uint32_t i = 0; i < inner->num_results; i++)
        dims[i] = ir_affine_replace(m, inner->results[i], NULL, shifted);
    const IrAffineExpr **results =
        ARENA_ARRAY(&m->arena, const IrAffineExpr *, outer->num_results + 1);
    for (uint32_t i = 0; i < outer->num_results; i++)
        results[i] = ir_affine_replace(m, outer->results[i], dims, NULL);
    return ir_affine_map(m, inner->num_dims, outer->num_symbols + inner->num_symbols,
                         outer->num_results, results);
}

bool ir_affine_is_projected_permutation(const IrAffineMap *map) {
    for (uint32_t i = 0; i < map->num_results; i++) {
        if (map->results[i]->kind != IR_AFFINE_DIM) return false;
        for (uint32_t j = 0; j < i; j++) {
            if (map->results[j] == map->results[i]) return false;
        }
    }
    return true;
}

bool ir_affine_is_permutation(const IrAffineMap *map) {
    return map->num_dims == map->num_results && ir_affine_is_projected_permutation(map);
}

bool ir_affine_is_identity(const IrAffineMap *map) {
    if (map->num_dims != map->num_results) return false;
    for (uint32_t i = 0; i < map->num_results; i++) {
        if (map->results[i]->kind != IR_AFFINE_DIM || map->results[i]->value != (int64_t)i)
            return false;
    }
    return true;
}

static const IrAffineExpr *expr_import(IrModule *m, const IrAffineExpr *e) {
    if (!e) return NULL;
    IrAffineExpr key = *e;
    key.lhs = expr_import(m, e->lhs);
    key.rhs = expr_import(m, e->rhs);
    return expr_intern(m, &key);
}

const IrAffineMap *ir_affine_import(IrModule *m, const IrAffineMap *map) {
    const IrAffineExpr **results = ARENA_ARRAY(&m->arena, const IrAffineExpr *, map->num_results);
    for (uint32_t i = 0; i < map->num_results; i++) results[i] = expr_import(m, map->results[i]);
    return ir_affine_map(m, map->num_dims, map->num_symbols, map->num_results, results);
}
