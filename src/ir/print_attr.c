// Types, attributes, affine maps and locations as text.
#include <string.h>

#include "ir/float_text.h"
#include "ir/printer.h"

// ---------------------------------------------------------------- names and strings

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_bare_name(const char *name) {
    if (!is_letter(*name)) return false;
    for (const char *at = name; *at; at++)
        if (!is_letter(*at) && !(*at >= '0' && *at <= '9') && *at != '$' && *at != '.')
            return false;
    return true;
}

void ir_print_string(const char *bytes, size_t len, StrBuf *out) {
    strbuf_putc(out, '"');
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c == '\\')
            strbuf_puts(out, "\\\\");
        else if (c < 0x20 || c > 0x7E || c == '"')
            strbuf_printf(out, "\\%02X", c);
        else
            strbuf_putc(out, (char)c);
    }
    strbuf_putc(out, '"');
}

void put_string(Printer *p, const char *bytes, size_t len) {
    ir_print_string(bytes, len, p->out);
}

void put_symbol(Printer *p, const char *name) {
    strbuf_putc(p->out, '@');
    if (is_bare_name(name))
        strbuf_puts(p->out, name);
    else
        put_string(p, name, strlen(name));
}

void put_attr_name(Printer *p, const char *name) {
    if (is_bare_name(name))
        strbuf_puts(p->out, name);
    else
        put_string(p, name, strlen(name));
}

// ---------------------------------------------------------------- types

static void put_size(Printer *p, int64_t size) {
    if (size == IR_DYNAMIC)
        strbuf_putc(p->out, '?');
    else
        strbuf_printf(p->out, "%lld", (long long)size);
}

static void put_shape(Printer *p, const IrType *type) {
    for (uint32_t i = 0; i < type->rank; i++) {
        put_size(p, type->shape[i]);
        strbuf_putc(p->out, 'x');
    }
}

static void put_layout(Printer *p, const IrType *type) {
    strbuf_puts(p->out, ", strided<[");
    for (uint32_t i = 0; i < type->rank; i++) {
        if (i) strbuf_puts(p->out, ", ");
        put_size(p, type->strides[i]);
    }
    strbuf_putc(p->out, ']');
    if (type->offset != 0) {
        strbuf_puts(p->out, ", offset: ");
        put_size(p, type->offset);
    }
    strbuf_putc(p->out, '>');
}

void put_types(Printer *p, uint32_t n, const IrType *const *types) {
    for (uint32_t i = 0; i < n; i++) {
        if (i) strbuf_puts(p->out, ", ");
        put_type(p, types[i]);
    }
}

void put_function_type(Printer *p, uint32_t num_inputs, const IrType *const *inputs,
                       uint32_t num_results, const IrType *const *results) {
    strbuf_putc(p->out, '(');
    put_types(p, num_inputs, inputs);
    strbuf_puts(p->out, ") -> ");
    bool is_plain = num_results == 1 && results[0]->kind != IR_TYPE_FUNCTION;
    if (!is_plain) strbuf_putc(p->out, '(');
    put_types(p, num_results, results);
    if (!is_plain) strbuf_putc(p->out, ')');
}

static void put_llvm_type(Printer *p, const IrType *type, bool is_inner);

static void put_llvm_list(Printer *p, uint32_t n, const IrType *const *types) {
    strbuf_putc(p->out, '(');
    for (uint32_t i = 0; i < n; i++) {
        if (i) strbuf_puts(p->out, ", ");
        put_llvm_type(p, types[i], true);
    }
    strbuf_putc(p->out, ')');
}

// Inside !llvm.<...> the dialect's types go without prefix.
static void put_llvm_type(Printer *p, const IrType *type, bool is_inner) {
    const char *prefix = is_inner ? "" : "!llvm.";
    switch (type->kind) {
    case IR_TYPE_PTR:
        strbuf_printf(p->out, "%sptr", prefix);
        if (type->width) strbuf_printf(p->out, "<%u>", type->width);
        break;
    case IR_TYPE_VOID: strbuf_printf(p->out, "%svoid", prefix); break;
    case IR_TYPE_STRUCT:
        strbuf_printf(p->out, "%sstruct<", prefix);
        put_llvm_list(p, type->num_inputs, type->inputs);
        strbuf_putc(p->out, '>');
        break;
    case IR_TYPE_ARRAY:
        strbuf_printf(p->out, "%sarray<%lld x ", prefix, (long long)type->shape[0]);
        put_llvm_type(p, type->elem, true);
        strbuf_putc(p->out, '>');
        break;
    case IR_TYPE_LLVM_FUNCTION:
        strbuf_printf(p->out, "%sfunc<", prefix);
        put_llvm_type(p, type->results[0], true);
        strbuf_putc(p->out, ' ');
        put_llvm_list(p, type->num_inputs, type->inputs);
        strbuf_putc(p->out, '>');
        break;
    default: put_type(p, type);
    }
}

static void put_memref(Printer *p, const IrType *type) {
    strbuf_puts(p->out, "memref<");
    put_shape(p, type);
    put_type(p, type->elem);
    if (type->has_layout) put_layout(p, type);
    if (type->space) {
        strbuf_puts(p->out, ", ");
        put_attr_value(p, type->space);
    }
    strbuf_putc(p->out, '>');
}

void put_type(Printer *p, const IrType *type) {
    switch (type->kind) {
    case IR_TYPE_INT: strbuf_printf(p->out, "i%u", type->width); break;
    case IR_TYPE_INDEX: strbuf_puts(p->out, "index"); break;
    case IR_TYPE_F16: strbuf_puts(p->out, "f16"); break;
    case IR_TYPE_BF16: strbuf_puts(p->out, "bf16"); break;
    case IR_TYPE_F32: strbuf_puts(p->out, "f32"); break;
    case IR_TYPE_F64: strbuf_puts(p->out, "f64"); break;
    case IR_TYPE_NONE: strbuf_puts(p->out, "none"); break;
    case IR_TYPE_TENSOR:
    case IR_TYPE_VECTOR:
        strbuf_puts(p->out, type->kind == IR_TYPE_TENSOR ? "tensor<" : "vector<");
        put_shape(p, type);
        put_type(p, type->elem);
        strbuf_putc(p->out, '>');
        break;
    case IR_TYPE_MEMREF: put_memref(p, type); break;
    case IR_TYPE_UNRANKED_TENSOR:
    case IR_TYPE_UNRANKED_MEMREF:
        strbuf_puts(p->out, type->kind == IR_TYPE_UNRANKED_TENSOR ? "tensor<*x" : "memref<*x");
        put_type(p, type->elem);
        strbuf_putc(p->out, '>');
        break;
    case IR_TYPE_FUNCTION:
        put_function_type(p, type->num_inputs, type->inputs, type->num_results, type->results);
        break;
    case IR_TYPE_PTR:
    case IR_TYPE_STRUCT:
    case IR_TYPE_VOID:
    case IR_TYPE_LLVM_FUNCTION:
    case IR_TYPE_ARRAY: put_llvm_type(p, type, false); break;
    }
}

// ---------------------------------------------------------------- affine

static void put_expr(Printer *p, const IrAffineExpr *e, const AffineOperands *operands,
                     bool is_tight);

static void put_leaf(Printer *p, const IrAffineExpr *e, const AffineOperands *operands) {
    if (e->kind == IR_AFFINE_CONST) {
        strbuf_printf(p->out, "%lld", (long long)e->value);
    } else if (!operands) {
        strbuf_printf(p->out, "%c%lld", e->kind == IR_AFFINE_DIM ? 'd' : 's', (long long)e->value);
    } else if (e->kind == IR_AFFINE_DIM) {
        put_operand(p, operands->op, operands->first + (uint32_t)e->value);
    } else {
        strbuf_puts(p->out, "symbol(");
        put_operand(p, operands->op, operands->first + operands->num_dims + (uint32_t)e->value);
        strbuf_putc(p->out, ')');
    }
}

static void put_product(Printer *p, const IrAffineExpr *e, const AffineOperands *operands) {
    if (e->kind == IR_AFFINE_MUL && e->rhs->kind == IR_AFFINE_CONST && e->rhs->value == -1) {
        strbuf_putc(p->out, '-');
        put_expr(p, e->lhs, operands, true);
        return;
    }
    put_expr(p, e->lhs, operands, true);
    switch (e->kind) {
    case IR_AFFINE_MUL: strbuf_puts(p->out, " * "); break;
    case IR_AFFINE_MOD: strbuf_puts(p->out, " mod "); break;
    case IR_AFFINE_FLOORDIV: strbuf_puts(p->out, " floordiv "); break;
    default: strbuf_puts(p->out, " ceildiv "); break;
    }
    put_expr(p, e->rhs, operands, true);
}

// a + b, with a - b for a + b * -1, a - b * 2 for a + b * -2, a - 3 for a + -3
static void put_sum(Printer *p, const IrAffineExpr *e, const AffineOperands *operands) {
    const IrAffineExpr *rhs = e->rhs;
    put_expr(p, e->lhs, operands, false);
    bool is_scaled = rhs->kind == IR_AFFINE_MUL && rhs->rhs->kind == IR_AFFINE_CONST;
    int64_t factor = is_scaled ? rhs->rhs->value : 1;
    if (factor == -1) {
        strbuf_puts(p->out, " - ");
        put_expr(p, rhs->lhs, operands, rhs->lhs->kind == IR_AFFINE_ADD);
    } else if (factor < -1 && factor != INT64_MIN) {
        strbuf_puts(p->out, " - ");
        put_expr(p, rhs->lhs, operands, true);
        strbuf_printf(p->out, " * %lld", (long long)-factor);
    } else if (rhs->kind == IR_AFFINE_CONST && rhs->value < 0 && rhs->value != INT64_MIN) {
        strbuf_printf(p->out, " - %lld", (long long)-rhs->value);
    } else {
        strbuf_puts(p->out, " + ");
        put_expr(p, rhs, operands, false);
    }
}

static void put_expr(Printer *p, const IrAffineExpr *e, const AffineOperands *operands,
                     bool is_tight) {
    if (e->kind < IR_AFFINE_ADD) {
        put_leaf(p, e, operands);
        return;
    }
    if (is_tight) strbuf_putc(p->out, '(');
    if (e->kind == IR_AFFINE_ADD)
        put_sum(p, e, operands);
    else
        put_product(p, e, operands);
    if (is_tight) strbuf_putc(p->out, ')');
}

void put_affine_expr(Printer *p, const IrAffineExpr *expr, const AffineOperands *operands) {
    put_expr(p, expr, operands, false);
}

static void put_names(Printer *p, char open, char letter, uint32_t n, char close) {
    strbuf_putc(p->out, open);
    for (uint32_t i = 0; i < n; i++) strbuf_printf(p->out, "%s%c%u", i ? ", " : "", letter, i);
    strbuf_putc(p->out, close);
}

static void put_map_body(Printer *p, const IrAffineMap *map) {
    put_names(p, '(', 'd', map->num_dims, ')');
    if (map->num_symbols) put_names(p, '[', 's', map->num_symbols, ']');
    strbuf_puts(p->out, " -> (");
    for (uint32_t i = 0; i < map->num_results; i++) {
        if (i) strbuf_puts(p->out, ", ");
        put_expr(p, map->results[i], NULL, false);
    }
    strbuf_putc(p->out, ')');
}

typedef struct MapAlias {
    const IrAffineMap *map;
    uint32_t number;
} MapAlias;

static bool alias_equal(const void *object, const void *key) {
    return ((const MapAlias *)object)->map == key;
}

static uint32_t alias_number(Printer *p, const IrAffineMap *map) {
    uint64_t hash = hash_ptr(8, map);
    const MapAlias *found = intern_find(&p->aliases, hash, alias_equal, map);
    if (found) return found->number;
    MapAlias *alias = ARENA_NEW(&p->scratch, MapAlias);
    *alias = (MapAlias){map, p->num_maps};
    intern_add(&p->aliases, hash, alias);
    ARRAY_RESERVE(p->maps, p->num_maps, p->maps_capacity);
    p->maps[p->num_maps++] = map;
    return alias->number;
}

void put_map(Printer *p, const IrAffineMap *map) {
    if (p->has_aliases) {
        uint32_t number = alias_number(p, map);
        strbuf_puts(p->out, "#map");
        if (number) strbuf_printf(p->out, "%u", number);
        return;
    }
    strbuf_puts(p->out, "affine_map<");
    put_map_body(p, map);
    strbuf_putc(p->out, '>');
}

// ---------------------------------------------------------------- attributes

static void put_int_value(Printer *p, int64_t value, const IrType *type) {
    if (type->kind == IR_TYPE_INT && type->width == 1)
        strbuf_puts(p->out, value & 1 ? "true" : "false");
    else
        strbuf_printf(p->out, "%lld", (long long)value);
}

static void put_dense_elem(Printer *p, const IrAttr *dense, int64_t i) {
    const IrType *elem = dense->type->elem;
    uint64_t bits = ir_attr_dense_elem(dense, i);
    if (ir_type_is_float(elem))
        float_text(elem->kind, bits, p->out);
    else
        put_int_value(p, (int64_t)bits, elem);
}

static void put_nested(Printer *p, const IrAttr *dense, uint32_t dim, int64_t first,
                       int64_t count) {
    if (dim == dense->type->rank) {
        put_dense_elem(p, dense, first);
        return;
    }
    int64_t size = dense->type->shape[dim], inner = count / size;
    strbuf_putc(p->out, '[');
    for (int64_t i = 0; i < size; i++) {
        if (i) strbuf_puts(p->out, ", ");
        put_nested(p, dense, dim + 1, first + i * inner, inner);
    }
    strbuf_putc(p->out, ']');
}

static void put_hex(Printer *p, const IrAttr *dense) {
    static const char digits[] = "0123456789ABCDEF";
    bool is_bits = dense->type->elem->kind == IR_TYPE_INT && dense->type->elem->width == 1;
    strbuf_puts(p->out, "\"0x");
    size_t num_bytes = is_bits ? (dense->len_bytes + 7) / 8 : dense->len_bytes;
    for (size_t i = 0; i < num_bytes; i++) {
        unsigned byte = is_bits ? 0 : dense->data[i];
        for (size_t k = 0; is_bits && k < 8 && i * 8 + k < dense->len_bytes; k++)
            byte |= (dense->data[i * 8 + k] & 1u) << k;
        strbuf_putc(p->out, digits[byte >> 4 & 15]);
        strbuf_putc(p->out, digits[byte & 15]);
    }
    strbuf_putc(p->out, '"');
}

void put_dense_body(Printer *p, const IrAttr *dense) {
    enum { MAX_DECIMAL_ELEMS = 100, MAX_SHOWN_ELEMS = 16 };
    int64_t count = ir_type_num_elems(dense->type);
    if (p->elide_constants && !dense->is_splat && count > MAX_SHOWN_ELEMS) {
        strbuf_puts(p->out, "dense_resource<__elided__>"); // as mlir-opt elides
        return;
    }
    strbuf_puts(p->out, "dense<");
    if (dense->is_splat)
        put_dense_elem(p, dense, 0);
    else if (count > MAX_DECIMAL_ELEMS)
        put_hex(p, dense);
    else if (count > 0)
        put_nested(p, dense, 0, 0, count);
    strbuf_putc(p->out, '>');
}

static void put_dense_array(Printer *p, const IrAttr *attr) {
    strbuf_puts(p->out, "array<");
    put_type(p, attr->type);
    for (size_t i = 0; i < attr->num_values; i++) {
        strbuf_puts(p->out, i ? ", " : ": ");
        put_int_value(p, attr->values[i], attr->type);
    }
    strbuf_putc(p->out, '>');
}

static void put_dict(Printer *p, const IrAttr *dict) {
    strbuf_putc(p->out, '{');
    for (size_t i = 0; i < dict->num_entries; i++) {
        if (i) strbuf_puts(p->out, ", ");
        put_attr_name(p, dict->entries[i].name);
        if (dict->entries[i].attr->kind == IR_ATTR_UNIT) continue;
        strbuf_puts(p->out, " = ");
        put_attr(p, dict->entries[i].attr);
    }
    strbuf_putc(p->out, '}');
}

static void put_with_type(Printer *p, const IrAttr *attr, bool may_drop_type) {
    switch (attr->kind) {
    case IR_ATTR_INT:
        put_int_value(p, attr->i, attr->type);
        if (may_drop_type && attr->type->kind == IR_TYPE_INT && attr->type->width == 64) return;
        break;
    case IR_ATTR_FLOAT: {
        size_t start = p->out->len;
        float_text(attr->type->kind, attr->bits, p->out);
        // A bit pattern needs its type to be a float.
        bool is_hex = memchr(p->out->data + start, 'x', p->out->len - start) != NULL;
        if (may_drop_type && attr->type->kind == IR_TYPE_F64 && !is_hex) return;
        break;
    }
    case IR_ATTR_BOOL: strbuf_puts(p->out, attr->i ? "true" : "false"); return;
    case IR_ATTR_STRING: put_string(p, attr->str, attr->str_len); return;
    case IR_ATTR_TYPE: put_type(p, attr->type); return;
    case IR_ATTR_ARRAY:
        strbuf_putc(p->out, '[');
        for (size_t i = 0; i < attr->num_elems; i++) {
            if (i) strbuf_puts(p->out, ", ");
            put_with_type(p, attr->elems[i], true);
        }
        strbuf_putc(p->out, ']');
        return;
    case IR_ATTR_DICT: put_dict(p, attr); return;
    case IR_ATTR_UNIT: strbuf_puts(p->out, "unit"); return;
    case IR_ATTR_SYMBOL: put_symbol(p, attr->str); return;
    case IR_ATTR_MAP: put_map(p, attr->map); return;
    case IR_ATTR_DENSE: put_dense_body(p, attr); break;
    case IR_ATTR_DENSE_ARRAY: put_dense_array(p, attr); return;
    case IR_ATTR_OPAQUE_ENUM: strbuf_puts(p->out, attr->str); return;
    }
    strbuf_puts(p->out, " : ");
    put_type(p, attr->type);
}

void put_attr(Printer *p, const IrAttr *attr) {
    put_with_type(p, attr, false);
}
void put_attr_value(Printer *p, const IrAttr *attr) {
    put_with_type(p, attr, true);
}

// ---------------------------------------------------------------- locations

void put_loc(Printer *p, const IrLoc *loc) {
    switch (loc->kind) {
    case IR_LOC_UNKNOWN: strbuf_puts(p->out, "unknown"); return;
    case IR_LOC_FILE:
        put_string(p, loc->str, strlen(loc->str));
        strbuf_printf(p->out, ":%u:%u", loc->line, loc->col);
        return;
    case IR_LOC_NAME:
        put_string(p, loc->str, strlen(loc->str));
        if (!loc->num_children) return;
        strbuf_putc(p->out, '(');
        put_loc(p, loc->children[0]);
        strbuf_putc(p->out, ')');
        return;
    case IR_LOC_CALLSITE:
        strbuf_puts(p->out, "callsite(");
        put_loc(p, loc->children[0]);
        strbuf_puts(p->out, " at ");
        put_loc(p, loc->children[1]);
        strbuf_putc(p->out, ')');
        return;
    case IR_LOC_FUSED: break;
    }
    strbuf_puts(p->out, "fused");
    if (loc->str) {
        strbuf_putc(p->out, '<');
        put_string(p, loc->str, strlen(loc->str));
        strbuf_putc(p->out, '>');
    }
    strbuf_putc(p->out, '[');
    for (uint32_t i = 0; i < loc->num_children; i++) {
        if (i) strbuf_puts(p->out, ", ");
        put_loc(p, loc->children[i]);
    }
    strbuf_putc(p->out, ']');
}

// ---------------------------------------------------------------- public

void ir_print_type(const IrType *type, StrBuf *out) {
    put_type(&(Printer){.out = out}, type);
}

void ir_print_attr(const IrAttr *attr, StrBuf *out) {
    put_attr(&(Printer){.out = out}, attr);
}

void ir_print_affine_map(const IrAffineMap *map, StrBuf *out) {
    put_map_body(&(Printer){.out = out}, map);
}

const char *ir_affine_map_text(Arena *arena, const IrAffineMap *map) {
    StrBuf out = {0};
    ir_print_affine_map(map, &out);
    const char *text = arena_strdup(arena, out.data);
    strbuf_deinit(&out);
    return text;
}
