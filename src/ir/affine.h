// Affine expressions and maps in MLIR's canonical form, interned per module: equal maps have equal
// pointers. Canonical form: constants to the right, constants folded, (d0 * 4) floordiv 4 -> d0,
// ...
#ifndef INGOT_IR_AFFINE_H
#define INGOT_IR_AFFINE_H

#include "base/base.h"

typedef struct IrModule IrModule;

typedef enum IrAffineKind {
    IR_AFFINE_CONST,
    IR_AFFINE_DIM,
    IR_AFFINE_SYMBOL,
    IR_AFFINE_ADD,
    IR_AFFINE_MUL,
    IR_AFFINE_MOD,
    IR_AFFINE_FLOORDIV,
    IR_AFFINE_CEILDIV,
} IrAffineKind;

typedef struct IrAffineExpr {
    IrAffineKind kind;
    int64_t value; // CONST: the constant; DIM, SYMBOL: the number
    const struct IrAffineExpr *lhs, *rhs;
} IrAffineExpr;

typedef struct IrAffineMap {
    uint32_t num_dims, num_symbols, num_results;
    const IrAffineExpr *const *results;
} IrAffineMap;

const IrAffineExpr *ir_affine_const(IrModule *m, int64_t value);
const IrAffineExpr *ir_affine_dim(IrModule *m, uint32_t number);
const IrAffineExpr *ir_affine_symbol(IrModule *m, uint32_t number);
// Builds and simplifies. Products and divisions with two non-constant sides are refused by the
// parser, a BUG here.
const IrAffineExpr *ir_affine_binary(IrModule *m, IrAffineKind kind, const IrAffineExpr *lhs,
                                     const IrAffineExpr *rhs);
// Without dimensions: what one side of a product and every divisor must be.
bool ir_affine_is_symbolic(const IrAffineExpr *expr);
const IrAffineMap *ir_affine_map(IrModule *m, uint32_t num_dims, uint32_t num_symbols,
                                 uint32_t num_results, const IrAffineExpr *const *results);
const IrAffineMap *ir_affine_identity(IrModule *m, uint32_t num_dims);
// The map (d0..dn-1) -> (d[dims[0]], d[dims[1]], ...).
const IrAffineMap *ir_affine_select(IrModule *m, uint32_t num_dims, uint32_t num_results,
                                    const uint32_t *dims);

int64_t ir_affine_eval(const IrAffineExpr *expr, const int64_t *dims, const int64_t *symbols);
// True if expr is exactly one dimension; its number in *out_dim.
bool ir_affine_is_dim(const IrAffineExpr *expr, uint32_t *out_dim);
bool ir_affine_uses_dim(const IrAffineExpr *expr, uint32_t dim);
// expr as sum of coeffs[d] * d + constant if it is linear in the dims (no mod, floordiv, symbols).
bool ir_affine_linear(const IrAffineExpr *expr, uint32_t num_dims, int64_t *out_coeffs,
                      int64_t *out_constant);
// Smallest and largest value for dims in [0, ranges[d]).
void ir_affine_range(const IrAffineExpr *expr, const int64_t *ranges, int64_t *out_min,
                     int64_t *out_max);
// Results of the map with dims (and symbols) replaced.
const IrAffineExpr *ir_affine_replace(IrModule *m, const IrAffineExpr *expr,
                                      const IrAffineExpr *const *dims,
                                      const IrAffineExpr *const *symbols);
// outer(inner(x)): outer has as many dims as inner has results.
const IrAffineMap *ir_affine_compose(IrModule *m, const IrAffineMap *outer,
                                     const IrAffineMap *inner);
bool ir_affine_is_permutation(const IrAffineMap *map);
bool ir_affine_is_projected_permutation(const IrAffineMap *map); // distinct dims only
bool ir_affine_is_identity(const IrAffineMap *map);

#endif
