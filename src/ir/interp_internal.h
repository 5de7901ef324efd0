// How the interpreter works inside. A function is decoded once into flat instruction lists: every
// value has a fixed place in the frame of its function, attributes and maps are resolved, and
// constants lie in a template the frame is copied from. An instruction is a function pointer and
// its places.
//
// Words: a scalar or lane takes one 64-bit word: integers sign-extended from their width (true is
// -1), floats as bits in their own format. A vector takes a word per lane, a tensor or memref a
// View.
//
// Tensors have value semantics on reference-counted dense buffers: whoever holds the last reference
// writes in place. Each tensor value is released after its last use in its block; an operation that
// is that last use may take the reference over ("consume").
#ifndef INGOT_IR_INTERP_INTERNAL_H
#define INGOT_IR_INTERP_INTERNAL_H

#include "abi/fault.h"
#include "base/float16.h"
#include "ir/interp.h"

enum {
    INTERP_MAX_RANK = 16,
    INTERP_MAX_LOOPS = 16,
    INTERP_MAX_OPERANDS = 48,         // of one structured operation
    INTERP_MAX_CALLS = 200,           // nested
    INTERP_MAX_LANES = 1 << 20,       // of one vector
    INTERP_MAX_FRAME_WORDS = 1 << 24, // 128 MiB
    INTERP_NO_SLOT = UINT32_MAX,
};

// How an element lies in memory.
typedef enum InterpMem {
    INTERP_MEM_I1,
    INTERP_MEM_I4,
    INTERP_MEM_I8,
    INTERP_MEM_I16,
    INTERP_MEM_I32,
    INTERP_MEM_64,
    INTERP_MEM_F16,
    INTERP_MEM_BF16,
    INTERP_MEM_F32,
} InterpMem;

// Bytes behind tensors and memrefs. Exactly one of the trackers may be there; none: all is defined.
typedef struct InterpBuffer {
    uint8_t *data;
    uint64_t len_bytes;
    uint8_t *defined; // per byte: has it been written?
    uint32_t *writer; // arena, per byte: number of the view that last wrote it, 0 = nobody
    uint32_t refs;    // tensors; a memref's buffer lives until dealloc or the end of its function
    bool is_borrowed; // data belongs to the caller of ir_interp_call
    bool is_freed;    // deallocated; the struct stays to report later accesses
    uint64_t held_bytes; // of the bound: data and trackers
    struct InterpBuffer *prev, *next;
    struct InterpBuffer *next_alloca; // in the same call
} InterpBuffer;

typedef struct InterpView {
    InterpBuffer *buffer;
    int64_t base_bytes; // of the aligned pointer within the buffer
    int64_t offset;     // in elements
    uint64_t view_id;   // arena: the memref.view it descends from, else 0
    int64_t dims[];     // rank sizes, then rank strides (elements)
} InterpView;
enum { INTERP_VIEW_WORDS = 4 };

typedef struct Interp Interp;
typedef struct InterpInst InterpInst;
// False: a fault was reported.
typedef bool (*InterpRun)(Interp *in, const InterpInst *inst, uint64_t *frame);

struct InterpInst {
    InterpRun run;
    uint32_t dst, src[3]; // places in the frame
    uint32_t lanes;
    uint32_t width;   // integers: bits
    const void *info; // what else the instruction needs
    const IrOp *op;   // for diagnostics
};

// A value handed on: by a terminator, to a call, to a loop.
typedef struct InterpMove {
    uint32_t from, num_words;
    bool is_tensor;
    bool is_consumed; // tensor: the reference moves; else it is shared
} InterpMove;

typedef struct InterpBlock {
    InterpInst *insts;
    uint32_t num_insts, capacity;
    uint32_t *args; // places of the block arguments
    uint32_t num_args;
    InterpMove *yields; // operands of the terminator
    uint32_t num_yields;
    uint32_t scratch;    // place for all yielded values on their way
    uint32_t *leftovers; // tensors whose last user is the terminator: released after the moves
    uint32_t num_leftovers;
    uint64_t num_steps; // that one execution counts: each instruction and lane, each word handed on
    const IrOp *op;     // for diagnostics
} InterpBlock;

typedef struct InterpFunc {
    const IrOp *op;
    bool is_decoded;
    InterpBlock *body;
    uint32_t num_words;
    uint64_t *image; // initial frame: the constants
} InterpFunc;

typedef struct InterpCall {
    InterpBuffer *allocas;
    struct InterpCall *caller;
    const IrOp *op; // the call; NULL: of the entry
} InterpCall;

struct Interp {
    IrModule *module;
    const IrInterpOptions *options;
    DiagSink *sink;
    Arena arena;             // everything decoded
    InterpFunc **func_of_op; // by op index, of functions called so far
    uint32_t *slot_of_value; // by value index; INTERP_NO_SLOT
    uint32_t *position;      // by op index: place in its block
    uint32_t
        *release_head; // by op index: value index + 1 of the first value it is the last user of
    uint32_t *release_next; // by value index
    InterpBuffer *buffers;  // all live ones
    InterpBuffer *free_buffers;
    InterpBuffer **globals; // by op index, created on first use
    uint64_t live_bytes, max_bytes;
    uint64_t num_ops, max_ops;
    bool is_over_limit;
    uint64_t random;
    uint32_t depth;
    uint32_t next_view_id;
    InterpCall *call;
    const IrOp *entry;
};

// The function being decoded.
typedef struct InterpDecoder {
    Interp *in;
    InterpFunc *func;
    InterpBlock *block;
    uint64_t num_words;
    struct InterpConstant *constants; // written into the frame image at the end
    const uint32_t *loop_slots; // induction variables of the structured op around, for linalg.index
    uint32_t num_loops;
    const struct InterpForall *forall; // the parallel loop around
} InterpDecoder;

typedef struct InterpConstant {
    uint32_t slot, num_words;
    const uint64_t *words;
    struct InterpConstant *next;
} InterpConstant;

typedef bool (*InterpDecode)(InterpDecoder *d, const IrOp *op);

// Notes a result that is no number, of operands that are: IrInterpOptions.events.
void interp_note_event(Interp *in, const IrOp *op, bool is_nan);

// ---- faults. All return false.
bool interp_fault(Interp *in, const IrOp *op, const char *fmt, ...) PRINTF_LIKE(3, 4); // I0301
// The same for what compiled code checks too, in the words of fault.def. numbers: {a}, {b}, ...
typedef struct InterpNumbers {
    int64_t of[FAULT_NUM_NUMBERS];
} InterpNumbers;
bool interp_fault_of(Interp *in, const IrOp *op, FaultKind kind, int64_t value,
                     InterpNumbers numbers, const char *text);
bool interp_refuse(Interp *in, const IrOp *op, const char *fmt, ...) PRINTF_LIKE(3, 4); // I0302
bool interp_limit(Interp *in, const IrOp *op, const char *fmt, ...) PRINTF_LIKE(3, 4);  // I0303

// ---- decoding (interp_decode.c)
bool interp_decode_func(Interp *in, InterpFunc *func);
InterpBlock *interp_decode_block(InterpDecoder *d, const IrBlock *block); // NULL on a fault
void interp_block_seal(InterpDecoder *d, InterpBlock *block); // after its last instruction
uint32_t interp_slot_new(InterpDecoder *d, uint64_t num_words);
uint32_t interp_slot(InterpDecoder *d, const IrValue *value);
uint32_t interp_result(InterpDecoder *d, const IrOp *op, uint32_t i); // gives the result its place
void interp_alias(InterpDecoder *d, const IrValue *value, uint32_t slot);
InterpInst *interp_emit(InterpDecoder *d, const IrOp *op, InterpRun run);
// Is op the last user of operand i, its only use in op, and defined in op's own block?
bool interp_consumes(const InterpDecoder *d, const IrOp *op, uint32_t i);
InterpMove interp_move_of(InterpDecoder *d, const IrOp *op, uint32_t operand);
void interp_constant(InterpDecoder *d, uint32_t slot, uint32_t num_words, const uint64_t *words);
uint64_t interp_type_words(const IrType *type);
uint32_t interp_lanes(const IrType *type); // of a scalar or vector
InterpMem interp_mem(const IrType *elem);
bool interp_is_view(const IrType *type); // tensor or memref
static inline int64_t interp_attr_int(const IrOp *op, const char *name, int64_t otherwise) {
    const IrAttr *attr = ir_op_attr(op, name);
    return attr && (attr->kind == IR_ATTR_INT || attr->kind == IR_ATTR_BOOL) ? attr->i : otherwise;
}
#define INTERP_INFO(d, T)     ARENA_NEW(&(d)->in->arena, T)
#define INTERP_ARRAY(d, T, n) ARENA_ARRAY(&(d)->in->arena, T, n)

// ---- running (interp.c)
bool interp_run_block(Interp *in, const InterpBlock *block, uint64_t *frame);
// Copies a value out of the frame to `to`; a tensor's reference moves or is shared.
void interp_move(const InterpMove *move, uint64_t *frame, uint64_t *to);
// Hands the terminator's values to the places of to_frame and releases what is left of the block.
// All are read before any is written.
void interp_yield(Interp *in, const InterpBlock *block, uint64_t *frame, uint64_t *to_frame,
                  const uint32_t *to);
// Counts n steps against the limit; what takes time in proportion to data is counted before it is
// done.
bool interp_count(Interp *in, const IrOp *op, uint64_t n);
void interp_release(Interp *in, uint64_t *frame, uint32_t slot);
InterpFunc *interp_func_of(Interp *in, const IrOp *op);
uint64_t *interp_frame_new(Interp *in, const IrOp *op, const InterpFunc *func); // NULL: no room
void interp_frame_free(Interp *in, const InterpFunc *func, uint64_t *frame);
uint64_t interp_random(Interp *in, uint64_t below);

// ---- memory (interp_memory.c)
InterpBuffer *interp_buffer_new(Interp *in, const IrOp *op, uint64_t len_bytes, bool is_defined);
// Takes bytes out of the bound on memory, before they are allocated.
bool interp_reserve(Interp *in, const IrOp *op, uint64_t len_bytes);
InterpBuffer *interp_buffer_borrow(Interp *in, void *data, uint64_t len_bytes);
void interp_buffer_unref(Interp *in, InterpBuffer *buffer);
void interp_buffer_free(Interp *in, InterpBuffer *buffer); // data only; marks it freed
void interp_buffers_deinit(Interp *in);
bool interp_buffer_make_arena(Interp *in, const IrOp *op, InterpBuffer *buffer);
// Gives *buffer a sole owner, copying where it is shared.
bool interp_buffer_own(Interp *in, const IrOp *op, InterpBuffer **buffer);
void interp_buffer_set_defined(InterpBuffer *buffer); // all of it
// Checks [at, at + len) for reading or writing; marks it when written.
bool interp_check_read(Interp *in, const IrOp *op, const InterpBuffer *buffer, uint64_t view_id,
                       int64_t at, int64_t len);
bool interp_check_write(Interp *in, const IrOp *op, InterpBuffer *buffer, uint64_t view_id,
                        int64_t at, int64_t len);
bool interp_track_read(Interp *in, const IrOp *op, const InterpBuffer *buffer, uint64_t view_id,
                       int64_t at, int64_t len);
static inline bool interp_is_tracked(const InterpBuffer *b) {
    return b->defined || b->writer;
}
void interp_track_write(InterpBuffer *buffer, uint64_t view_id, int64_t at, int64_t len);
// Copies bytes with their tracking; no read check: moving undefined bytes is no use of them.
bool interp_copy_bytes(Interp *in, const IrOp *op, InterpBuffer *dst, uint64_t dst_view,
                       int64_t dst_at, const InterpBuffer *src, int64_t src_at, int64_t len);
// Total bytes of a shape; false on overflow or a negative size.
bool interp_shape_bytes(const int64_t *sizes, uint32_t rank, uint32_t elem_bytes,
                        int64_t *out_bytes);
void interp_view_set_strides(InterpView *view, uint32_t rank);
// Writes all elements of a dense attribute of this type, row-major.
void interp_dense_store(const IrAttr *dense, const IrType *type, uint8_t *out);
bool interp_view_copy(Interp *in, const IrOp *op, const InterpView *src, const InterpView *dst,
                      uint32_t rank, uint32_t elem_bytes); // interp_memref.c
// A new dense tensor at slot `dst` with the sizes already in its view.
bool interp_tensor_new(Interp *in, const IrOp *op, InterpView *view, uint32_t rank,
                       uint32_t elem_bytes, bool is_defined);

static inline InterpView *interp_view(uint64_t *frame, uint32_t slot) {
    return (InterpView *)(void *)(frame + slot);
}

static inline int64_t interp_sext(uint64_t word, uint32_t width) {
    uint32_t shift = 64 - width;
    return (int64_t)(word << shift) >> shift;
}
static inline uint64_t interp_zext(uint64_t word, uint32_t width) {
    return width >= 64 ? word : word & ((UINT64_C(1) << width) - 1);
}

// Products of sizes and strides: wraps instead of overflowing; accesses are checked by their bytes.
static inline int64_t interp_mul(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

static inline uint64_t interp_load(InterpMem mem, const uint8_t *p) {
    switch (mem) {
    case INTERP_MEM_I1: return (uint64_t) - (int64_t)(*p & 1);
    case INTERP_MEM_I4: return (uint64_t)interp_sext(*p, 4);
    case INTERP_MEM_I8: return (uint64_t)(int64_t)(int8_t)*p;
    case INTERP_MEM_I16: {
        int16_t v;
        memcpy(&v, p, 2);
        return (uint64_t)(int64_t)v;
    }
    case INTERP_MEM_I32: {
        int32_t v;
        memcpy(&v, p, 4);
        return (uint64_t)(int64_t)v;
    }
    case INTERP_MEM_64: {
        uint64_t v;
        memcpy(&v, p, 8);
        return v;
    }
    case INTERP_MEM_F16:
    case INTERP_MEM_BF16: {
        uint16_t v;
        memcpy(&v, p, 2);
        return v;
    }
    case INTERP_MEM_F32: {
        uint32_t v;
        memcpy(&v, p, 4);
        return v;
    }
    }
    return 0;
}

static inline void interp_store(InterpMem mem, uint8_t *p, uint64_t word) {
    switch (mem) {
    case INTERP_MEM_I1: *p = (uint8_t)(word & 1); return;
    case INTERP_MEM_I4: *p = (uint8_t)(word & 15); return;
    case INTERP_MEM_I8: *p = (uint8_t)word; return;
    case INTERP_MEM_I16:
    case INTERP_MEM_F16:
    case INTERP_MEM_BF16: {
        uint16_t v = (uint16_t)word;
        memcpy(p, &v, 2);
        return;
    }
    case INTERP_MEM_I32:
    case INTERP_MEM_F32: {
        uint32_t v = (uint32_t)word;
        memcpy(p, &v, 4);
        return;
    }
    case INTERP_MEM_64: memcpy(p, &word, 8); return;
    }
}

// ---- scalar and vector arithmetic (interp_scalar.c, interp_float.c)
InterpRun interp_float_op(IrOpKind kind, IrTypeKind type); // NULL if there is none
InterpRun interp_int_op(IrOpKind kind);
// The conversion a contraction's body applies to an operand; NULL if there is none, and
// interp_run_copy for equal types.
InterpRun interp_cast_op(const IrType *from, const IrType *to, bool is_unsigned);
bool interp_run_copy(Interp *in, const InterpInst *inst, uint64_t *frame);
// Addition, maximum, ... of a `kind` keyword (add, mul, minsi, maxnumf, and, ...) on elements.
InterpRun interp_combine_op(const char *kind, const IrType *elem);

// ---- affine maps (interp_affine.c)
typedef struct InterpMap {
    const IrAffineMap *map;
    uint32_t num_inputs;      // dims then symbols
    bool is_linear;           // then the tables below are there
    const int64_t *coeffs;    // [result][input]
    const int64_t *constants; // [result]
} InterpMap;
const InterpMap *interp_map_new(InterpDecoder *d, const IrAffineMap *map);
int64_t interp_map_eval(const InterpMap *map, uint32_t result, const int64_t *inputs);

// ---- numbers that are attributes or operands (interp_tensor.c)
typedef struct InterpMixed {
    uint32_t count;
    const int64_t *values; // IR_DYNAMIC where the operand counts
    const uint32_t *slots; // INTERP_NO_SLOT where the value counts
} InterpMixed;
bool interp_mixed_new(InterpDecoder *d, const IrOp *op, const char *name, uint32_t first_operand,
                      uint32_t num_operands, InterpMixed *out);
bool interp_mixed_of_type(InterpDecoder *d, const IrOp *op, const IrType *type,
                          uint32_t first_operand, uint32_t num_operands, InterpMixed *out);
void interp_mixed_get(const InterpMixed *mixed, const uint64_t *frame, int64_t *out);

typedef struct InterpSlice {
    InterpMixed offsets, sizes, strides;
    const uint8_t *keep; // per dimension: not dropped by rank reduction
    uint32_t kept_rank;
} InterpSlice;
typedef struct InterpSliceValues {
    int64_t offsets[INTERP_MAX_RANK], sizes[INTERP_MAX_RANK], strides[INTERP_MAX_RANK];
} InterpSliceValues;
bool interp_slice_new(InterpDecoder *d, const IrOp *op, InterpSlice *slice);
void interp_slice_keep(InterpDecoder *d, const IrType *reduced, InterpSlice *slice);
// Reads the numbers and checks them against the sizes of what is sliced.
bool interp_slice_get(Interp *in, const IrOp *op, const InterpSlice *slice, const uint64_t *frame,
                      const int64_t *dims, InterpSliceValues *out);
// Strides in elements, positions in bytes. False: more elements than the limit of steps allows.
bool interp_copy_nd(Interp *in, const IrOp *op, InterpBuffer *dst, uint64_t dst_view,
                    int64_t dst_at, const int64_t *dst_strides, const InterpBuffer *src,
                    int64_t src_at, const int64_t *src_strides, const int64_t *sizes, uint32_t rank,
                    uint32_t elem_bytes);
bool interp_check_sizes(Interp *in, const IrOp *op, const int64_t *want, const int64_t *have,
                        uint32_t rank);
// Group of each expanded dimension; NULL: refused.
const uint32_t *interp_groups(InterpDecoder *d, const IrOp *op, uint32_t expanded_rank,
                              uint32_t collapsed_rank);
bool interp_collapsed_sizes(Interp *in, const IrOp *op, const int64_t *sizes, uint32_t rank,
                            const uint32_t *group_of, int64_t *out, uint32_t out_rank);

// ---- one element by indices (interp_memref.c)
typedef struct InterpElement {
    uint32_t rank, elem_bytes;
    InterpMem mem;
    const uint32_t *slots; // of the indices, or of the inputs of map
    const InterpMap *map;  // affine.load and affine.store, else NULL
} InterpElement;
const InterpElement *interp_element_new(InterpDecoder *d, const IrOp *op, uint32_t base,
                                        uint32_t first_index, uint32_t num_indices);
void interp_element_indices(const InterpElement *info, const uint64_t *frame, int64_t *out);
// Byte position of the element; a fault if an index is out of range.
bool interp_element_at(Interp *in, const IrOp *op, const InterpElement *info,
                       const InterpView *view, const uint64_t *frame, int64_t *out_at);

#endif
