// The machine a module is compiled for, as numbers on the module; see pass.h.
#include "passes/pass.h"

enum { MAX_ENTRIES = NUM_TARGET_NUMBERS + 1 };

void pass_machine_write(IrModule *m, const Target *target) {
    IrNamedAttr entries[MAX_ENTRIES];
    const IrType *f64 = ir_type_float(m, IR_TYPE_F64);
    size_t n = 0;
    entries[n++] = (IrNamedAttr){ir_intern(m, "name"), ir_attr_string(m, target->name)};
    for (int i = 0; i < NUM_TARGET_NUMBERS; i++)
        if (target->numbers[i] > 0)
            entries[n++] = (IrNamedAttr){ir_intern(m, target_number_info((TargetNumber)i)->path),
                                         ir_attr_float(m, target->numbers[i], f64)};
    ir_op_set_attr(m, m->op, "ingot.machine", ir_attr_dict(m, n, entries));
}

static Status bad_entry(const IrModule *m, DiagSink *sink, const char *key) {
    Status status =
        diag_error(sink, DIAG_P0002, ir_loc_span(m->op->loc),
                   "module attribute ingot.machine: entry '%.60s' is unknown or wrong", key);
    diag_write(sink, "a number of the hardware table, NAME = VALUE : f64 within its range");
    return status;
}

static bool read_number(const IrNamedAttr *entry, Target *t) {
    for (int i = 0; i < NUM_TARGET_NUMBERS; i++) {
        const TargetNumberInfo *info = target_number_info((TargetNumber)i);
        if (!str_equal(info->path, entry->name)) continue;
        if (entry->attr->kind != IR_ATTR_FLOAT) return false;
        double value = ir_attr_float_value(entry->attr);
        t->numbers[i] = value;
        return value >= info->min && value <= info->max;
    }
    return false;
}

Status pass_machine_read(const IrModule *m, CpuLevel level, DiagSink *sink, Target *out_target) {
    const IrAttr *dict = ir_op_attr(m->op, "ingot.machine");
    if (!dict) return target_for_level(NULL, level, sink, out_target);
    Target t = {.name = "machine", .title = "", .has_cpu_level = true, .cpu_level = level};
    for (size_t i = 0; i < dict->num_entries; i++) {
        const IrNamedAttr *entry = &dict->entries[i];
        if (str_equal(entry->name, "name")) {
            if (entry->attr->kind != IR_ATTR_STRING) return bad_entry(m, sink, "name");
            t.name = entry->attr->str;
        } else if (!read_number(entry, &t))
            return bad_entry(m, sink, entry->name);
    }
    if (t.numbers[TARGET_CLOCK_MHZ] <= 0) return bad_entry(m, sink, "clock_mhz");
    if (t.numbers[TARGET_MEM_RATE] <= 0) return bad_entry(m, sink, "memory.gb_per_s");
    *out_target = t;
    return STATUS_OK;
}
