// Keys of kernels and the module's list of measured schedules; see tuning.h.
#include "passes/tuning.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <xxhash.h>

#include "ir/print.h"

void tuning_key(IrModule *m, IrOp *kernel, char out_key[TUNING_KEY_CHARS + 1]) {
    static const char *const left_out[] = {"sym_name", "ingot.schedule", "ingot.candidates",
                                           "ingot.key"};
    const IrAttr *kept[ARRAY_LEN(left_out)];
    for (size_t i = 0; i < ARRAY_LEN(left_out); i++) {
        kept[i] = ir_op_attr(kernel, left_out[i]);
        if (i > 0 && kept[i]) ir_op_set_attr(m, kernel, left_out[i], NULL);
    }
    ir_op_set_attr(m, kernel, "sym_name", ir_attr_string(m, "x"));
    StrBuf text = {0};
    ir_print_op(m, kernel, &text);
    snprintf(out_key, TUNING_KEY_CHARS + 1, "%016" PRIx64, XXH3_64bits(text.data, text.len));
    strbuf_deinit(&text);
    for (size_t i = 0; i < ARRAY_LEN(left_out); i++)
        if (kept[i]) ir_op_set_attr(m, kernel, left_out[i], kept[i]);
}

void tuning_add(IrModule *m, const TuningEntry *entry) {
    const IrAttr *old = ir_op_attr(m->op, "ingot.tuning");
    size_t num = old ? old->num_elems : 0;
    const IrAttr **list = ARENA_ARRAY(&m->arena, const IrAttr *, num + 1);
    for (size_t i = 0; i < num; i++) list[i] = old->elems[i];
    const Schedule *s = &entry->schedule;
    const IrNamedAttr band = {ir_intern(m, "band"), ir_attr_i64(m, s->band)};
    IrNamedAttr entries[] = {
        {ir_intern(m, "col_tile"), ir_attr_i64(m, s->col_tile)},
        {ir_intern(m, "key"), ir_attr_string(m, entry->key)},
        {ir_intern(m, "lanes"), ir_attr_i64(m, s->lanes)},
        {ir_intern(m, "level"), ir_attr_string(m, cpu_level_info(entry->level)->name)},
        {ir_intern(m, "measured_ns"), ir_attr_i64(m, entry->measured_ns)},
        {ir_intern(m, "row_tile"), ir_attr_i64(m, s->row_tile)},
        {ir_intern(m, "unroll"), ir_attr_i64(m, s->unroll)},
        {NULL},
    };
    uint32_t num_entries = ARRAY_LEN(entries) - 1; // and what not every schedule has
    if (s->band) entries[num_entries++] = band;
    list[num] = ir_attr_dict(m, num_entries, entries);
    ir_op_set_attr(m, m->op, "ingot.tuning", ir_attr_array(m, num + 1, list));
}

static bool is_text(const IrAttr *dict, const char *name, const char *text) {
    const IrAttr *entry = ir_attr_dict_find(dict, name);
    return entry && entry->kind == IR_ATTR_STRING && str_equal(entry->str, text);
}

bool tuning_find(const IrModule *m, const char *key, CpuLevel level, TuningEntry *out_entry) {
    const IrAttr *list = ir_op_attr(m->op, "ingot.tuning");
    for (size_t i = 0; list && i < list->num_elems; i++) {
        const IrAttr *dict = list->elems[i];
        if (dict->kind != IR_ATTR_DICT || !is_text(dict, "key", key) ||
            !is_text(dict, "level", cpu_level_info(level)->name))
            continue;
        const IrAttr *ns = ir_attr_dict_find(dict, "measured_ns");
        *out_entry = (TuningEntry){
            .key = key, .level = level, .measured_ns = ns && ns->kind == IR_ATTR_INT ? ns->i : 0};
        return schedule_from(dict, &out_entry->schedule);
    }
    return false;
}
