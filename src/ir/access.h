// How an op walks memory: per operand the distance between neighbouring points of every loop, what
// the innermost loop does, and how much of what is fetched is used. Computed from the op alone: its
// indexing maps or index arithmetic, the layout of the operand, the loops around it.
#ifndef INGOT_IR_ACCESS_H
#define INGOT_IR_ACCESS_H

#include "ir/ir.h"

enum { IR_ACCESS_MAX_LOOPS = 16, IR_ACCESS_LINE_BYTES = 64, IR_ACCESS_SECTOR_BYTES = 32 };

typedef enum IrAccessClass {
    IR_ACCESS_UNIT,      // the next element
    IR_ACCESS_BROADCAST, // the same element
    IR_ACCESS_REVERSED,  // the element before
    IR_ACCESS_STRIDE_K,  // every k-th, 2 <= |k| <= 16
    IR_ACCESS_STRIDED,   // farther apart
    IR_ACCESS_PIECEWISE, // one stride inside a piece of the loop, another from piece to piece
    IR_ACCESS_GATHER,    // an index read from memory
    IR_ACCESS_UNKNOWN,   // a stride or index that is not known before the program runs
} IrAccessClass;

typedef struct IrAccess {
    const IrValue *memory;  // tensor or memref
    const IrAffineMap *map; // loops -> indices; symbols stand for what the loops do not change
    uint32_t num_loops;     // outermost first
    int64_t trips[IR_ACCESS_MAX_LOOPS];   // IR_DYNAMIC: unknown
    int64_t strides[IR_ACCESS_MAX_LOOPS]; // elements per step; IR_DYNAMIC: unknown
    int64_t vector_len;                   // elements per access, 1 for a scalar
    IrAccessClass inner;                  // of the innermost loop, or inside a vector
    int64_t inner_stride;
    int64_t piece_len;        // PIECEWISE: steps per piece of the innermost loop
    int64_t piece_strides[2]; // inside a piece, from the start of one piece to the next
    uint32_t used_percent;    // of the bytes fetched in lines
    uint32_t align_bytes;     // every run of the innermost loop starts at a multiple of it
    uint32_t bank_conflict;   // threads that meet in one bank of shared memory; 1: none
    bool is_write;
    bool is_flagged; // costs more than unit stride would
} IrAccess;

// The access of operand number `operand`: an operand of a structured op, or the tensor or memref of
// tensor.extract, memref.load and store, affine.load and store, vector.load and store,
// vector.transfer_read and write. False if the operand is none of these, or stands in more loops
// than fit. line_bytes: what the machine fetches at once.
bool ir_access(IrModule *m, const IrOp *op, uint32_t operand, uint32_t line_bytes,
               IrAccess *out_access);

const char *ir_access_class_name(const IrAccess *access, char out[32]); // "unit", "stride-3", ...
// `access op="linalg.generic" operand=0 map=affine_map<...> strides=[3] inner=stride-3 used=33%`
void ir_access_print(const IrOp *op, uint32_t operand, const IrAccess *access, StrBuf *out);

#endif
