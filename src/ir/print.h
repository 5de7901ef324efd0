// IR to text, deterministic (docs/ir.md, "Printing").
#ifndef INGOT_IR_PRINT_H
#define INGOT_IR_PRINT_H

#include "ir/ir.h"

typedef struct IrPrintOptions {
    bool print_locs;
    bool elide_constants; // dense constants of more than 16 elements: dense_resource<__elided__>
    bool stable_ids;      // values named as stable_id.h says, maps in full: for comparing texts
} IrPrintOptions;

// Appends the module's text. options may be NULL.
void ir_print(const IrModule *m, const IrPrintOptions *options, StrBuf *out);
void ir_print_op(const IrModule *m, const IrOp *op, StrBuf *out); // one op alone, for messages
// The first line of an op, values named by ids (ir_stable_ids), large constants elided.
void ir_print_op_line(const IrModule *m, const IrOp *op, const char *const *ids, StrBuf *out);
void ir_print_type(const IrType *type, StrBuf *out);
void ir_print_attr(const IrAttr *attr, StrBuf *out);
void ir_print_affine_map(const IrAffineMap *map, StrBuf *out);        // (d0, d1) -> (d0)
const char *ir_affine_map_text(Arena *arena, const IrAffineMap *map); // the same, in the arena
// Any bytes, in quotes, as IR text escapes them: the one way a string gets into IR text.
void ir_print_string(const char *bytes, size_t len, StrBuf *out);

#endif
