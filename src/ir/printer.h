// The printer's inner parts, shared by print*.c only.
#ifndef INGOT_IR_PRINTER_H
#define INGOT_IR_PRINTER_H

#include "ir/intern.h"
#include "ir/print.h"
#include "ir/syntax.h"

typedef struct Printer {
    StrBuf *out;
    uint32_t indent;
    bool has_aliases; // maps print as #mapN, collected in aliases
    bool print_locs, elide_constants;
    const char *const *stable; // names by op index instead of numbers; NULL: numbers
    InternTable aliases;
    const IrAffineMap **maps;
    uint32_t num_maps, maps_capacity;
    Arena scratch;
    // Name of each value by its index: 0 none, else number * 2 + is_argument + 1.
    uint64_t *names;
    uint32_t first_name, num_names; // numbers of values, from first_name on
} Printer;

// ---- attributes and types (print_attr.c)
void put_type(Printer *p, const IrType *type);
void put_types(Printer *p, uint32_t n, const IrType *const *types);
void put_function_type(Printer *p, uint32_t num_inputs, const IrType *const *inputs,
                       uint32_t num_results, const IrType *const *results);
void put_attr(Printer *p, const IrAttr *attr);
void put_attr_value(Printer *p, const IrAttr *attr);  // without the type of i64 and f64
void put_dense_body(Printer *p, const IrAttr *dense); // dense<...> without the type
void put_map(Printer *p, const IrAffineMap *map);     // alias, or affine_map<...>
void put_string(Printer *p, const char *bytes, size_t len);
void put_symbol(Printer *p, const char *name);
void put_attr_name(Printer *p, const char *name);
void put_loc(Printer *p, const IrLoc *loc); // what stands in loc(...)
// An expression; dims and symbols are values if names are given (operands of op from first_operand
// on).
typedef struct AffineOperands {
    const IrOp *op;
    uint32_t first, num_dims;
} AffineOperands;
void put_affine_expr(Printer *p, const IrAffineExpr *expr, const AffineOperands *operands);

// ---- ops (print.c)
void put_value(Printer *p, const IrValue *value);
void put_operand(Printer *p, const IrOp *op, uint32_t i);
void put_operands(Printer *p, const IrOp *op, uint32_t first, uint32_t count);
void put_segment(Printer *p, const IrOp *op, uint32_t segment);
void put_operand_types(Printer *p, const IrOp *op, uint32_t first, uint32_t count);
void put_result_types(Printer *p, const IrOp *op); // T or (T, T)
// " {a = 1, b}" of the attributes not in the blank-separated list skip; nothing if none are left.
void put_attr_dict(Printer *p, const IrOp *op, const char *skip);
// The same with "word" in front of the dictionary.
void put_attr_dict_after(Printer *p, const IrOp *op, const char *skip, const char *word);
typedef enum RegionStyle { REGION_BARE, REGION_HEADER, REGION_NO_TERMINATOR } RegionStyle;
void put_region(Printer *p, const IrRegion *region, RegionStyle style);
void put_newline(Printer *p);

// Hand-written syntax; false if the key is not known.
bool put_custom(Printer *p, const IrOp *op, const char *key);
bool put_control(Printer *p, const IrOp *op, const char *key);

#endif
