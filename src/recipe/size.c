// Reads a size; see size.h.
#include "recipe/size.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double MAX_BYTES = 0x1p46;

typedef struct Unit {
    const char *name;
    double bytes;
} Unit;

static const Unit units[] = {
    {"", 0x1p30}, {"B", 1},        {"kB", 1e3},     {"MB", 1e6},     {"GB", 1e9},
    {"TB", 1e12}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40},
};

// Of a number in YAML: 1e-5, 2.5E+3. A letter alone is a unit.
static size_t exponent_len(const char *at) {
    if (*at != 'e' && *at != 'E') return 0;
    size_t sign = at[1] == '+' || at[1] == '-';
    size_t digits = strspn(at + 1 + sign, "0123456789");
    return digits ? 1 + sign + digits : 0;
}

Status recipe_read_size(const DocNode *node, const char *what, DiagSink *sink, int64_t *out_bytes) {
    TRY(doc_want_kind(node, what, DOC_SCALAR, sink));
    const char *at = node->text;
    size_t digits = strspn(at, "0123456789"), len = digits;
    if (at[len] == '.') len += 1 + strspn(at + len + 1, "0123456789");
    if (digits) len += exponent_len(at + len);
    if (!digits || digits > 18 || at[len - 1] == '.' || strlen(at) != node->text_len) {
        Status status = diag_error(sink, DIAG_R0004, node->span,
                                   "%s must be a number, or a number with a unit, not %.40s", what,
                                   node->text_len ? at : "nothing");
        diag_write(sink, "%s: 4, or \"4GiB\", or \"3500000000 B\"", what);
        return status;
    }
    const char *name = at + len + strspn(at + len, " ");
    const Unit *unit = NULL;
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (str_equal(units[i].name, name)) unit = &units[i];
    if (!unit) {
        Status status =
            diag_error(sink, DIAG_R0006, node->span, "%s has the unit %.40s", what, name);
        char letter = (char)toupper((unsigned char)*name);
        if (strchr("KMGT", letter) && name[1] == 0)
            diag_write(sink, "\"%.*s%ciB\" or \"%.*s%cB\", whichever is meant", (int)len, at,
                       letter, (int)len, at, letter == 'K' ? 'k' : letter);
        else
            diag_write(sink, "one of B, kB, MB, GB, TB, KiB, MiB, GiB, TiB");
        return status;
    }
    double bytes = floor(strtod(at, NULL) * unit->bytes);
    if (!(bytes >= 1) || bytes > MAX_BYTES)
        return diag_error(sink, DIAG_R0005, node->span, "%s must be from 1 byte to 2^46, not %.40s",
                          what, at);
    *out_bytes = (int64_t)bytes;
    return STATUS_OK;
}
