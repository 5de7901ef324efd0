// The IR: typed SSA in structured regions, a subset of MLIR 22. One module owns one arena and the
// interned types, attributes and affine maps in it; ops are linked lists in blocks; uses are
// threaded through operands. Everything lives until ir_module_destroy. A module belongs to one
// thread.
#ifndef INGOT_IR_IR_H
#define INGOT_IR_IR_H

#include "base/arena.h"
#include "base/diag.h"
#include "ir/ir_type.h"

typedef struct IrModule IrModule;
typedef struct IrOp IrOp;
typedef struct IrBlock IrBlock;
typedef struct IrRegion IrRegion;
typedef struct IrValue IrValue;
typedef struct IrOperand IrOperand;

// ---------------------------------------------------------------- ops

// ops.def: OP(id, "dialect.name", levels, traits, format, inherent attribute names)
typedef enum IrOpKind {
#define OP(id, name, levels, traits, format, attrs) IR_##id,
#include "ir/ops.def"
#undef OP
    NUM_IR_OP_KINDS
} IrOpKind;

typedef enum IrTrait {
    IR_PURE = 1 << 0, // no effects: may be removed, merged, moved
    IR_TERMINATOR = 1 << 1,
    IR_COMMUTATIVE = 1 << 2,
    IR_SAME_TYPE = 1 << 3, // all operands and results have one type
    IR_ISOLATED = 1 << 4,  // region sees no outer values (func, module)
    IR_LINALG = 1 << 5,    // structured op: segments {ins, outs}; generic and reduce have a region
    IR_CONTRACTION = 1 << 6, // linalg matmul family and conv: cast, multiply, accumulate
    IR_SYMBOL = 1 << 7,
    IR_CAST = 1 << 8,        // one operand, one result of another type
    IR_ELEMENTWISE = 1 << 9, // scalar or vector, lane by lane
    IR_CAN_TRAP = 1 << 10, // beside IR_PURE: a fault for some operands (division by zero, index out
                           // of range): may be removed or merged, not moved to where it runs more
    IR_POOLING = 1 << 11,  // structured: every element of a window combined; the second operand
                           // gives the window's sizes alone
} IrTrait;

typedef struct IrOpInfo {
    const char *name; // "arith.addf"
    uint32_t levels;  // bit 1 << L for L in 1..3
    uint32_t traits;
    const char *format; // key of the printer's and parser's format table
    const char *attrs;  // inherent attribute names, separated by blanks
} IrOpInfo;

const IrOpInfo *ir_op_info(IrOpKind kind);
bool ir_op_find(const char *name, size_t len, IrOpKind *out_kind);
// Is the dialect (text before the first dot) known at all?
bool ir_dialect_known(const char *name, size_t len);
bool ir_op_attr_is_inherent(IrOpKind kind, const char *attr_name);

struct IrOperand {
    IrValue *value;
    IrOp *owner;
    IrOperand *next_use, **prev_use; // list of all uses of value
};

struct IrValue {
    const IrType *type;
    IrOp *def_op;       // NULL for block arguments
    IrBlock *def_block; // NULL for results
    uint32_t number;    // result number or argument number
    uint32_t index;     // dense, unique in the module; side tables and bit sets use it
    IrOperand *first_use;
};

struct IrBlock {
    IrRegion *region;
    IrBlock *prev, *next;
    IrOp *first, *last;
    IrValue **args;
    uint32_t num_args, args_capacity;
    uint32_t number; // scratch of whoever walks the region: the block's position in it
};

struct IrRegion {
    IrOp *parent;
    IrBlock *first, *last;
};

enum { IR_MAX_SEGMENTS = 4 };

struct IrOp {
    IrOpKind kind;
    uint32_t index; // dense, unique in the module
    IrBlock *block; // NULL while detached
    IrOp *prev, *next;
    IrOperand *operands;
    IrValue *results;
    IrRegion *regions;
    IrNamedAttr *attrs; // inherent and discardable together, sorted by name bytes
    uint32_t num_operands, num_results, num_regions, num_attrs;
    uint32_t operands_capacity, attrs_capacity;
    // Sizes of operand groups where the op has several variadic ones (linalg: ins, outs; slices:
    // source, offsets, sizes, strides; scf.for: 3 bounds, iter; stores: value, base, indices; all
    // in ops.def). Sum = num_operands.
    uint32_t segments[IR_MAX_SEGMENTS];
    // Successors of llvm.br / llvm.cond_br (level 3); their block arguments are the last operands:
    // segments {condition, true args, false args} or {args}.
    IrBlock *successors[2];
    uint32_t num_successors;
    const IrLoc *loc;
    struct IrFuncEdit
        *edit; // of a function whose arguments are being changed; see ir_func_edit_begin
};

struct IrModule {
    Arena arena;
    IrOp *op;                     // builtin.module: one region, one block
    uint32_t num_values, num_ops; // next dense indices
    struct IrInterner *interner;
};

IrModule *ir_module_create(void);
void ir_module_destroy(IrModule *m);
IrModule *ir_module_clone(const IrModule *m); // deep copy, own arena
IrBlock *ir_module_body(IrModule *m);

// ---- creation and editing. A new op is detached; insert it. Types, attrs and operands are copied.

typedef struct IrOpSpec {
    IrOpKind kind;
    const IrLoc *loc; // NULL = unknown
    uint32_t num_operands;
    IrValue *const *operands;
    uint32_t num_results;
    const IrType *const *result_types;
    uint32_t num_attrs;
    const IrNamedAttr *attrs; // any order
    uint32_t num_regions;
    uint32_t segments[IR_MAX_SEGMENTS]; // all zero: {num_operands}
} IrOpSpec;

IrOp *ir_op_create(IrModule *m, const IrOpSpec *spec);
void ir_op_insert_before(IrOp *op, IrOp *before);
void ir_op_insert_after(IrOp *op, IrOp *after);
void ir_block_append(IrBlock *block, IrOp *op);
void ir_op_unlink(IrOp *op);             // out of its block, still usable
void ir_op_erase(IrModule *m, IrOp *op); // results must be unused; regions are erased too
void ir_op_set_operand(IrOp *op, uint32_t i, IrValue *value);
void ir_op_add_operand(IrModule *m, IrOp *op, uint32_t segment,
                       IrValue *value);          // at the segment's end
void ir_op_remove_operand(IrOp *op, uint32_t i); // keeps segments right
void ir_op_set_attr(IrModule *m, IrOp *op, const char *name, const IrAttr *attr); // NULL removes
const IrAttr *ir_op_attr(const IrOp *op, const char *name);                       // NULL if absent
void ir_value_replace_all(IrValue *value, IrValue *by);
bool ir_value_has_one_use(const IrValue *value);
static inline bool ir_value_is_unused(const IrValue *value) {
    return !value->first_use;
}

IrBlock *ir_region_add_block(IrModule *m, IrRegion *region);
IrValue *ir_block_add_arg(IrModule *m, IrBlock *block, const IrType *type);
IrValue *ir_block_insert_arg(IrModule *m, IrBlock *block, uint32_t at, const IrType *type);
void ir_block_remove_arg(IrBlock *block, uint32_t i);          // must be unused
void ir_block_remove_first_args(IrBlock *block, uint32_t num); // likewise

// Value substitution for cloning: an open-addressing table by the values' indices. Its size follows
// what is put in, not the module: passes make one for a handful of values.
typedef struct IrValueMap {
    struct IrValueMapSlot *slots;
    uint32_t count, capacity; // a power of two
} IrValueMap;
void ir_value_map_init(IrValueMap *map);
void ir_value_map_deinit(IrValueMap *map);
void ir_value_map_set(IrValueMap *map, const IrValue *from, IrValue *to);
IrValue *ir_value_map_get(const IrValueMap *map, IrValue *from); // from itself if not mapped
// Deep copy in the same module; operands go through map, and results and block arguments are added
// to it.
IrOp *ir_op_clone(IrModule *m, const IrOp *op, IrValueMap *map);

// ---- symbols and functions

IrOp *ir_symbol_find(const IrModule *m, const char *name); // top-level symbol or NULL
// A name not yet taken: base, or base_N with the smallest free N.
const char *ir_symbol_unique(IrModule *m, const char *base);
const char *ir_symbol_name(const IrOp *op);
// func.func with an entry block of arguments; private unless is_public. Detached: append it to the
// module's body.
IrOp *ir_func_create(IrModule *m, const char *name, const IrType *function_type, bool is_public,
                     const IrLoc *loc);
IrBlock *ir_func_body(const IrOp *func); // NULL for a declaration
const IrType *ir_func_type(const IrOp *func);
// Rebuilds function_type from the entry block's arguments and the return op's operands.
void ir_func_update_type(IrModule *m, IrOp *func);
const IrAttr *ir_func_arg_attr(const IrOp *func, uint32_t arg, const char *name);
void ir_func_set_arg_attr(IrModule *m, IrOp *func, uint32_t arg, const char *name,
                          const IrAttr *attr);
// Editing one argument costs as much as there are arguments, in time and in the module's memory.
// Between begin and end that is so for time alone, and little: the attributes arg_attrs and
// function_type are written at the end, and until then must be read through ir_func_arg_attr and
// the body's arguments.
void ir_func_edit_begin(IrOp *func);
void ir_func_edit_end(IrModule *m, IrOp *func);
// The same for all functions of the module with a body.
void ir_funcs_edit_begin(IrModule *m);
void ir_funcs_edit_end(IrModule *m);
// All dictionaries (to be changed in place), and back.
const IrAttr **ir_func_arg_dicts(IrModule *m, const IrOp *func);
void ir_func_set_arg_dicts(IrModule *m, IrOp *func, const IrAttr *const *dicts);
void ir_func_append_args(IrModule *m, IrOp *func, uint32_t n, const IrType *const *types,
                         const IrAttr *const *dicts);
void ir_func_remove_arg(IrModule *m, IrOp *func,
                        uint32_t arg); // unused argument, its attrs, the type
IrValue *ir_func_insert_arg(IrModule *m, IrOp *func, uint32_t at, const IrType *type);
IrOp *ir_call_callee(const IrModule *m, const IrOp *call);
// Is op, of the module of func, a call of it? Much cheaper than finding the callee.
bool ir_is_call_of(const IrOp *op, const IrOp *func);

// ---- helpers

static inline IrBlock *ir_op_block(const IrOp *op, uint32_t region) {
    return op->regions[region].first;
}
static inline IrOp *ir_block_parent(const IrBlock *block) {
    return block->region->parent;
}
IrOp *ir_op_parent(const IrOp *op); // the op whose region holds op, NULL at the top
static inline IrValue *ir_op_operand(const IrOp *op, uint32_t i) {
    return op->operands[i].value;
}
static inline IrValue *ir_op_result(const IrOp *op, uint32_t i) {
    return &op->results[i];
}
static inline IrOp *ir_block_terminator(const IrBlock *block) {
    return block->last;
}
// First operand of segment s.
uint32_t ir_op_segment_start(const IrOp *op, uint32_t s);
// Is value defined by arith.constant? The attribute, else NULL.
const IrAttr *ir_value_constant(const IrValue *value);
bool ir_value_constant_int(const IrValue *value, int64_t *out);

// The indexing map of operand i and iterator types of any structured linalg op (named ones too:
// computed).
const IrAffineMap *ir_linalg_map(IrModule *m, const IrOp *op, uint32_t operand);
// Does a matmul or batch_matmul carry the maps it would have without indexing_maps? Text leaves
// them out.
bool ir_linalg_has_default_maps(const IrOp *op);
// Of a named op with fixed loops: how many dimensions an operand has; 0 for other ops.
uint32_t ir_linalg_named_rank(IrOpKind kind, uint32_t operand);
// In how many directions windows of a fixed size move over the first operand (convolutions and
// pooling); 0 for other ops.
uint32_t ir_linalg_num_windows(IrOpKind kind);
// The op by which a contraction or pooling takes in the next element, of the accumulator's kind;
// NUM_IR_OP_KINDS where nothing is accumulated, and for ops with a region.
IrOpKind ir_linalg_combiner(const IrOp *op);
typedef enum IrIterator { IR_PARALLEL, IR_REDUCTION } IrIterator;
uint32_t ir_linalg_num_loops(const IrOp *op);
IrIterator ir_linalg_iterator(const IrOp *op, uint32_t loop);
bool ir_linalg_has_reduction(const IrOp *op); // is a loop of it not parallel?
// Trip count of each loop from the operand shapes (IR_DYNAMIC where not static).
void ir_linalg_loop_ranges(IrModule *m, const IrOp *op, int64_t *out_ranges);
// Turns a named linalg op into the generic it stands for (same operands); no-op on a generic.
IrOp *ir_linalg_generalize(IrModule *m, IrOp *op);

#define FOR_EACH_OP(op, block) for (IrOp *op = (block)->first; op; op = op->next)
// Safe against erasing op.
#define FOR_EACH_OP_SAFE(op, block)                                                                \
    for (IrOp *op = (block)->first, *op##_next = op ? op->next : NULL; op;                         \
         op = op##_next, op##_next = op ? op->next : NULL)
#define FOR_EACH_BLOCK(block, region)                                                              \
    for (IrBlock *block = (region)->first; block; block = block->next)
#define FOR_EACH_USE(use, value) for (IrOperand *use = (value)->first_use; use; use = use->next_use)
#define FOR_EACH_USE_SAFE(use, value)                                                              \
    for (IrOperand *use = (value)->first_use, *use##_next = use ? use->next_use : NULL; use;       \
         use = use##_next, use##_next = use ? use->next_use : NULL)

// Visits op and every op inside it, parents first. visit must not erase the op it is given.
typedef void (*IrVisit)(IrOp *op, void *ctx);
void ir_walk(IrOp *op, IrVisit visit, void *ctx);

#endif
