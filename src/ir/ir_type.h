// Types, attributes and locations of the IR: interned per module, compared by pointer. Part of
// ir.h.
#ifndef INGOT_IR_IR_TYPE_H
#define INGOT_IR_IR_TYPE_H

#include "base/diag.h"
#include "ir/affine.h"

typedef struct IrType IrType;
typedef struct IrAttr IrAttr;
typedef struct IrLoc IrLoc;

// ---------------------------------------------------------------- types (interned: compare
// pointers)

typedef enum IrTypeKind {
    IR_TYPE_INT,   // signless integer, width 1 4 8 16 32 64
    IR_TYPE_INDEX, // 64 bits
    IR_TYPE_F16,
    IR_TYPE_BF16,
    IR_TYPE_F32,
    IR_TYPE_F64,
    IR_TYPE_TENSOR,
    IR_TYPE_MEMREF,
    IR_TYPE_VECTOR,
    IR_TYPE_UNRANKED_TENSOR,
    IR_TYPE_UNRANKED_MEMREF, // only in front of a test driver's print call
    IR_TYPE_FUNCTION,
    IR_TYPE_PTR,           // !llvm.ptr, address space in width
    IR_TYPE_STRUCT,        // !llvm.struct<(...)>: elements in inputs
    IR_TYPE_VOID,          // !llvm.void
    IR_TYPE_LLVM_FUNCTION, // !llvm.func<result (args)>; results[0] is the result
    IR_TYPE_ARRAY,         // !llvm.array<N x T>: shape[0] and elem
    IR_TYPE_NONE,
} IrTypeKind;

#define IR_DYNAMIC INT64_MIN // a dynamic size, stride or offset, printed "?"

struct IrType {
    IrTypeKind kind;
    uint32_t width; // bits of an integer
    uint32_t rank;  // tensor, memref, vector
    const int64_t *shape;
    const IrType *elem; // tensor, memref, vector, array
    // memref only:
    bool has_layout; // strided<[...], offset: ...> was given; else row-major, offset 0
    const int64_t *strides;
    int64_t offset;
    const IrAttr *space; // memory space, NULL = default
    // function and struct:
    uint32_t num_inputs, num_results;
    const IrType *const *inputs, *const *results;
};

const IrType *ir_type_int(IrModule *m, uint32_t width);
const IrType *ir_type_index(IrModule *m);
const IrType *ir_type_float(IrModule *m, IrTypeKind kind); // IR_TYPE_F16 .. IR_TYPE_F64
const IrType *ir_type_f32(IrModule *m);
const IrType *ir_type_tensor(IrModule *m, uint32_t rank, const int64_t *shape, const IrType *elem);
const IrType *ir_type_vector(IrModule *m, uint32_t rank, const int64_t *shape, const IrType *elem);
const IrType *ir_type_memref(IrModule *m, uint32_t rank, const int64_t *shape, const IrType *elem);
const IrType *ir_type_memref_strided(IrModule *m, uint32_t rank, const int64_t *shape,
                                     const IrType *elem, const int64_t *strides, int64_t offset,
                                     const IrAttr *space);
const IrType *ir_type_unranked(IrModule *m, IrTypeKind kind, const IrType *elem);
const IrType *ir_type_function(IrModule *m, uint32_t num_inputs, const IrType *const *inputs,
                               uint32_t num_results, const IrType *const *results);
const IrType *ir_type_ptr(IrModule *m); // address space 0
const IrType *ir_type_ptr_in(IrModule *m, uint32_t address_space);
const IrType *ir_type_none(IrModule *m);
const IrType *ir_type_void(IrModule *m);
const IrType *ir_type_llvm_function(IrModule *m, const IrType *result, uint32_t num_inputs,
                                    const IrType *const *inputs);
const IrType *ir_type_struct(IrModule *m, uint32_t num_elems, const IrType *const *elems);
const IrType *ir_type_array(IrModule *m, int64_t count, const IrType *elem);

static inline bool ir_type_is_float(const IrType *t) {
    return t->kind >= IR_TYPE_F16 && t->kind <= IR_TYPE_F64;
}
static inline bool ir_type_is_int_or_index(const IrType *t) {
    return t->kind <= IR_TYPE_INDEX;
}
static inline bool ir_type_is_scalar(const IrType *t) {
    return t->kind <= IR_TYPE_F64;
}
static inline bool ir_type_is_shaped(const IrType *t) {
    return t->kind >= IR_TYPE_TENSOR && t->kind <= IR_TYPE_VECTOR;
}
// The type itself for a scalar, the element type of a shaped one.
static inline const IrType *ir_type_elem(const IrType *t) {
    return ir_type_is_shaped(t) ? t->elem : t;
}
uint32_t ir_type_bits(const IrType *t);       // of a scalar: 1..64, index 64
uint32_t ir_type_bytes(const IrType *scalar); // bytes in memory of one element (i1, i4: 1)
int64_t ir_type_num_elems(const IrType *t);   // product of the shape, IR_DYNAMIC if any is
bool ir_type_is_static(const IrType *t);
// Strides in elements (row-major where no layout is given) and offset; entries may be IR_DYNAMIC.
void ir_memref_strides(const IrType *memref, int64_t *out_strides, int64_t *out_offset);

// ---------------------------------------------------------------- attributes (interned)

typedef enum IrAttrKind {
    IR_ATTR_INT, // value and type (INT or INDEX)
    IR_ATTR_BOOL,
    IR_ATTR_FLOAT,  // bits in the format of type
    IR_ATTR_STRING, // also every enum attribute: its keyword, e.g. "oge", "add", "parallel"
    IR_ATTR_TYPE,
    IR_ATTR_ARRAY,
    IR_ATTR_DICT, // entries sorted by name bytes
    IR_ATTR_UNIT,
    IR_ATTR_SYMBOL, // @name; nested references are not in the subset
    IR_ATTR_MAP,    // affine_map
    IR_ATTR_DENSE,  // tensor or vector constant: packed little-endian bytes, one element if splat
    IR_ATTR_DENSE_ARRAY, // array<i64: ...>: element type in type, values as int64
    IR_ATTR_OPAQUE_ENUM, // #dialect.mnemonic<keyword> spelled in full where the syntax needs it
} IrAttrKind;

typedef struct IrNamedAttr {
    const char *name; // interned: compare pointers after ir_intern
    const IrAttr *attr;
} IrNamedAttr;

struct IrAttr {
    IrAttrKind kind;
    const IrType *type; // INT FLOAT TYPE DENSE DENSE_ARRAY(element type)
    union {
        int64_t i;     // INT (sign-extended from the type's width), BOOL
        uint64_t bits; // FLOAT
        struct {
            const char *str;
            size_t str_len;
        }; // STRING, SYMBOL, OPAQUE_ENUM text
        struct {
            const IrAttr *const *elems;
            size_t num_elems;
        }; // ARRAY
        struct {
            const IrNamedAttr *entries;
            size_t num_entries;
        }; // DICT
        const IrAffineMap *map;
        struct {
            const uint8_t *data;
            size_t len_bytes;
            bool is_splat;
        }; // DENSE
        struct {
            const int64_t *values;
            size_t num_values;
        }; // DENSE_ARRAY
    };
};

const char *ir_intern(IrModule *m, const char *str); // equal strings give equal pointers
const IrAttr *ir_attr_int(IrModule *m, int64_t value, const IrType *type);
const IrAttr *ir_attr_i64(IrModule *m, int64_t value);
const IrAttr *ir_attr_index(IrModule *m, int64_t value);
const IrAttr *ir_attr_bool(IrModule *m, bool value);
const IrAttr *ir_attr_float(IrModule *m, double value, const IrType *type); // rounded to the type
const IrAttr *ir_attr_float_bits(IrModule *m, uint64_t bits, const IrType *type);
const IrAttr *ir_attr_string(IrModule *m, const char *str);
const IrAttr *ir_attr_string_n(IrModule *m, const char *bytes, size_t len);
const IrAttr *ir_attr_type(IrModule *m, const IrType *type);
const IrAttr *ir_attr_array(IrModule *m, size_t n, const IrAttr *const *elems);
const IrAttr *ir_attr_dict(IrModule *m, size_t n, const IrNamedAttr *entries);
const IrAttr *ir_attr_unit(IrModule *m);
const IrAttr *ir_attr_symbol(IrModule *m, const char *name);
const IrAttr *ir_attr_map(IrModule *m, const IrAffineMap *map);
const IrAttr *ir_attr_dense(IrModule *m, const IrType *type, const void *data, size_t len_bytes,
                            bool is_splat);
const IrAttr *ir_attr_dense_array(IrModule *m, const IrType *elem, size_t n, const int64_t *values);
const IrAttr *ir_attr_opaque_enum(IrModule *m, const char *text);
double ir_attr_float_value(const IrAttr *float_attr);
// Element i of a DENSE attribute: integers sign-extended, floats as bits.
uint64_t ir_attr_dense_elem(const IrAttr *dense, int64_t i);
// dict with the entry set; NULL removes it.
const IrAttr *ir_attr_dict_with(IrModule *m, const IrAttr *dict, const char *name,
                                const IrAttr *attr);
const IrAttr *ir_attr_dict_find(const IrAttr *dict, const char *name); // NULL if absent

// ---------------------------------------------------------------- locations (interned)

typedef enum IrLocKind {
    IR_LOC_UNKNOWN,
    IR_LOC_FILE,
    IR_LOC_NAME,
    IR_LOC_FUSED,
    IR_LOC_CALLSITE
} IrLocKind;
struct IrLoc {
    IrLocKind kind;
    const char *str; // FILE: file name; NAME: name; FUSED: metadata (pass name) or NULL
    uint32_t line, col;
    const IrLoc *const *children; // NAME: 0..1, FUSED: n, CALLSITE: callee, caller
    uint32_t num_children;
};
const IrLoc *ir_loc_unknown(IrModule *m);
const IrLoc *ir_loc_file(IrModule *m, const char *file, uint32_t line, uint32_t col);
const IrLoc *ir_loc_name(IrModule *m, const char *name, const IrLoc *child_or_null);
// Fuses, flattening and dropping duplicates and unknowns; one location left is returned as it is.
const IrLoc *ir_loc_fused(IrModule *m, const char *pass_or_null, size_t n,
                          const IrLoc *const *locs);
const IrLoc *ir_loc_callsite(IrModule *m, const IrLoc *callee, const IrLoc *caller);
// The first file position inside a location, for diagnostics; a zero span if there is none.
DiagSpan ir_loc_span(const IrLoc *loc);

#endif
