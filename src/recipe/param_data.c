// Data of parameters: tensors of the file, and rotary tables computed in double precision; see
// import.h.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "recipe/import.h"

enum { MAX_TABLE_ROWS = 1 << 25, MAX_TABLE_DIM = 65536 };

typedef struct RopeTable {
    double base, scale;
    int64_t dim, rows;
    bool is_sin;
    const float *factors; // dim / 2, NULL: all 1
} RopeTable;

static Status bad_table(const IrModule *m, DiagSink *sink, const char *name, const char *what) {
    return diag_error(sink, DIAG_F0022, ir_loc_span(m->op->loc), "parameter %s: %s", name, what);
}

static bool dict_int(const IrAttr *dict, const char *key, int64_t min, int64_t max, int64_t *out) {
    const IrAttr *attr = ir_attr_dict_find(dict, key);
    if (!attr || attr->kind != IR_ATTR_INT || attr->i < min || attr->i > max) return false;
    *out = attr->i;
    return true;
}

static bool dict_float(const IrAttr *dict, const char *key, double *out) {
    const IrAttr *attr = ir_attr_dict_find(dict, key);
    if (!attr || attr->kind != IR_ATTR_FLOAT) return false;
    *out = ir_attr_float_value(attr);
    return isfinite(*out) && *out > 0;
}

static Status read_table(const IrModule *m, const IrAttr *dict, const Gguf *gguf, const char *name,
                         DiagSink *sink, RopeTable *out) {
    if (dict->kind != IR_ATTR_DICT || !dict_int(dict, "dim", 2, MAX_TABLE_DIM, &out->dim) ||
        !dict_int(dict, "rows", 1, MAX_TABLE_ROWS, &out->rows) ||
        !dict_float(dict, "base", &out->base) || !dict_float(dict, "scale", &out->scale))
        return bad_table(m, sink, name, "dim, rows, base or scale is missing or out of range");
    const IrAttr *kind = ir_attr_dict_find(dict, "kind");
    if (!kind || kind->kind != IR_ATTR_STRING ||
        (!str_equal(kind->str, "cos") && !str_equal(kind->str, "sin")))
        return bad_table(m, sink, name, "kind must be \"cos\" or \"sin\"");
    out->is_sin = str_equal(kind->str, "sin");
    const IrAttr *factors = ir_attr_dict_find(dict, "factors");
    if (!factors) return STATUS_OK;
    const GgufTensor *tensor =
        factors->kind == IR_ATTR_STRING ? gguf_find_tensor(gguf, factors->str) : NULL;
    if (!tensor || tensor->format != QUANT_F32 || tensor->num_dims != 1 ||
        tensor->dims[0] != (uint64_t)out->dim / 2)
        return bad_table(m, sink, name, "the factors are no f32 tensor of half the dimension");
    out->factors = (const float *)(const void *)tensor->data;
    return STATUS_OK;
}

// Angle of pair i at position p: p * scale * base^(-2i / dim) / factors[i].
static void fill_table(const RopeTable *table, float *out) {
    uint64_t half = (uint64_t)table->dim / 2;
    double *frequencies = base_alloc(half, sizeof *frequencies);
    for (uint64_t i = 0; i < half; i++) {
        frequencies[i] = pow(table->base, -(double)(2 * i) / (double)table->dim) * table->scale;
        float factor = 1;
        if (table->factors)
            memcpy(&factor, (const char *)table->factors + i * sizeof factor, sizeof factor);
        frequencies[i] /= (double)factor;
    }
    for (uint64_t p = 0; p < (uint64_t)table->rows; p++)
        for (uint64_t i = 0; i < half; i++) {
            double angle = (double)p * frequencies[i];
            out[p * half + i] = (float)(table->is_sin ? sin(angle) : cos(angle));
        }
    free(frequencies);
}

static Status table_data(const IrModule *m, const IrAttr *dict, const Gguf *gguf, const char *name,
                         DiagSink *sink, ImportParam *out) {
    RopeTable table = {0};
    TRY(read_table(m, dict, gguf, name, sink, &table));
    uint64_t half = (uint64_t)table.dim / 2, rows = (uint64_t)table.rows;
    float *data = base_alloc(rows * half, sizeof *data);
    fill_table(&table, data);
    *out = (ImportParam){.format = QUANT_F32,
                         .dims = {half, rows, 1, 1},
                         .num_dims = 2,
                         .data = data,
                         .len_bytes = rows * half * sizeof *data,
                         .is_owned = true};
    return STATUS_OK;
}

Status import_param_data(const IrModule *m, const Gguf *gguf, const char *name, DiagSink *sink,
                         ImportParam *out_param) {
    const IrAttr *tables = ir_op_attr(m->op, "ingot.tables");
    const IrAttr *table =
        tables && tables->kind == IR_ATTR_DICT ? ir_attr_dict_find(tables, name) : NULL;
    if (table) return table_data(m, table, gguf, name, sink, out_param);
    const GgufTensor *tensor = gguf_find_tensor(gguf, name);
    if (!tensor)
        return diag_error(sink, DIAG_F0018, (DiagSpan){.file = gguf_path(gguf)},
                          "parameter %s is neither a tensor of the file nor a computed table",
                          name);
    *out_param = (ImportParam){.format = tensor->format,
                               .num_dims = tensor->num_dims,
                               .data = tensor->data,
                               .len_bytes = tensor->len_bytes};
    memcpy(out_param->dims, tensor->dims, sizeof out_param->dims);
    return STATUS_OK;
}

void import_param_deinit(ImportParam *param) {
    if (param->is_owned) free((void *)param->data);
    *param = (ImportParam){0};
}
