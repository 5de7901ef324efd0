// Texts of faults; see fault.h.
#include "abi/fault.h"

#include <string.h>

static const struct {
    const char *name, *text;
} faults[] = {
#define FAULT(id, name, text) {name, text},
#include "abi/fault.def"
#undef FAULT
};

const char *fault_name(FaultKind kind) {
    return faults[kind].name;
}

bool fault_find(const char *name, FaultKind *out_kind) {
    for (int i = 0; i < NUM_FAULT_KINDS; i++) {
        if (!str_equal(faults[i].name, name)) continue;
        *out_kind = (FaultKind)i;
        return true;
    }
    return false;
}

static void put_part(StrBuf *out, char part, int64_t value, const int64_t *numbers,
                     const char *text) {
    double number;
    switch (part) {
    case 'v': strbuf_printf(out, "%lld", (long long)value); return;
    case 'u': strbuf_printf(out, "%llu", (unsigned long long)value); return;
    case 'f':
        memcpy(&number, &value, sizeof number);
        strbuf_printf(out, "%g", number);
        return;
    case 't': strbuf_puts(out, text); return;
    default:
        BUG_IF(part < 'a' || part >= 'a' + FAULT_NUM_NUMBERS, "fault.def has a part {%c}", part);
        strbuf_printf(out, "%lld", (long long)numbers[part - 'a']);
    }
}

void fault_put(StrBuf *out, FaultKind kind, const char *op, int64_t value, const int64_t *numbers,
               const char *text) {
    strbuf_printf(out, "'%s' op ", op);
    for (const char *at = faults[kind].text; *at; at++) {
        if (*at != '{') {
            strbuf_putc(out, *at);
            continue;
        }
        put_part(out, at[1], value, numbers, text);
        at += 2;
    }
}
