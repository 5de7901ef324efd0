// The table of ops (ops.def) and look-ups in it.
#include <string.h>

#include "ir/ir.h"

enum { L1 = 1 << 1, L2 = 1 << 2, L3 = 1 << 3 };

static const IrOpInfo infos[NUM_IR_OP_KINDS] = {
#define OP(id, name, levels, traits, format, attrs) {name, levels, traits, format, attrs},
#include "ir/ops.def"
#undef OP
};

const IrOpInfo *ir_op_info(IrOpKind kind) {
    BUG_IF((unsigned)kind >= NUM_IR_OP_KINDS, "op kind %d", (int)kind);
    return &infos[kind];
}

// name may hold any bytes, NULs too.
bool ir_op_find(const char *name, size_t len, IrOpKind *out_kind) {
    for (int i = 0; i < NUM_IR_OP_KINDS; i++) {
        const char *candidate = infos[i].name;
        if (strncmp(candidate, name, len) != 0 || strlen(candidate) != len) continue;
        *out_kind = (IrOpKind)i;
        return true;
    }
    return false;
}

bool ir_dialect_known(const char *name, size_t len) {
    for (int i = 0; i < NUM_IR_OP_KINDS; i++) {
        if (strncmp(infos[i].name, name, len) == 0 && strcspn(infos[i].name, ".") == len)
            return true;
    }
    return false;
}

bool ir_op_attr_is_inherent(IrOpKind kind, const char *attr_name) {
    size_t len = strlen(attr_name);
    const char *names = ir_op_info(kind)->attrs;
    for (const char *at = names; (at = strstr(at, attr_name)); at += len) {
        bool starts = at == names || at[-1] == ' ', ends = at[len] == ' ' || at[len] == 0;
        if (starts && ends && len > 0) return true;
        if (len == 0) return false;
    }
    return false;
}
