// Names between commas; see names.h.
#include "base/names.h"

#include <string.h>

bool names_next(const char **text, char *name, size_t size) {
    if (!**text) return false;
    size_t len = strcspn(*text, ","), kept = MIN(len, size - 1);
    memcpy(name, *text, kept);
    name[kept] = 0;
    *text += len + ((*text)[len] == ',');
    return true;
}

// The list as it was meant.
static void put_filled(const char *text, StrBuf *out) {
    while (*text) {
        size_t len = strcspn(text, ",");
        if (len && out->len) strbuf_putc(out, ',');
        strbuf_append(out, text, len);
        text += len + (text[len] == ',');
    }
}

Status names_check(const char *option, const char *text, DiagSink *sink) {
    unsigned number = 1;
    const char *at = text;
    for (size_t len; (len = strcspn(at, ",")) > 0; at += len + 1, number++)
        if (!at[len]) return STATUS_OK;
    uint32_t col = (uint32_t)MIN((size_t)(at - text), (size_t)INT32_MAX) + 1;
    DiagSpan span = {
        .file = arena_printf(&sink->arena, "--%s", option), .line = 1, .col = col, .source = text};
    diag_report(sink, DIAG_ERROR, DIAG_U0004, span, "name %u of --%s is empty", number, option);
    StrBuf filled = {0};
    put_filled(text, &filled);
    if (filled.len)
        diag_write(sink, "--%s=%s", option, filled.data);
    else
        diag_write(sink, "names separated by commas, or no --%s", option);
    strbuf_deinit(&filled);
    return STATUS_USAGE;
}
