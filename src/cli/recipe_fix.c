// Mends a recipe's text; see recipe_fix.h.
#include "cli/recipe_fix.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "recipe/recipe.h"
#include "text/doc.h"

enum { MAX_ROUNDS = 32 }; // what is mended can show the next fault; each mend is a fault less

typedef struct Mender {
    const char *path;
    DiagSink *sink; // its arena keeps the texts
    StrBuf text;
    RecipeFixes *fixes;
} Mender;

// The line's first byte, and its length without the line end; NULL if there is no such line.
static const char *find_line(const char *text, uint32_t number, size_t *out_len) {
    for (uint32_t n = 1; n < number && text; n++) {
        text = strchr(text, '\n');
        if (text) text++;
    }
    if (text) *out_len = strcspn(text, "\r\n");
    return text;
}

// Columns count characters, the text is UTF-8: the byte of a column.
static size_t byte_of(const char *line, size_t len, uint32_t col) {
    size_t at = 0;
    for (uint32_t c = 1; c < col && at < len; c++) {
        at++;
        while (at < len && ((unsigned char)line[at] & 0xC0) == 0x80) at++;
    }
    return at;
}

static bool is_quote(char c) {
    return c == '"' || c == '\'';
}

// A name written in quotes stays in them; a number loses them.
static void put_replacement(StrBuf *out, const char *old, size_t len, const char *fix) {
    bool is_name = fix[strspn(fix, "0123456789")] && *fix != '{';
    bool keeps = len >= 2 && is_quote(old[0]) && old[len - 1] == old[0] && is_name;
    if (keeps) strbuf_putc(out, old[0]);
    strbuf_puts(out, fix);
    if (keeps) strbuf_putc(out, old[0]);
}

// False: the diagnostic marks no text of one line, so nothing is changed.
static bool mend(Mender *m, const Diag *diag) {
    size_t len = 0;
    const char *line = find_line(m->text.data, diag->span.line, &len);
    if (!diag->span.line || !line || diag->span.end_col <= diag->span.col) return false;
    size_t first = byte_of(line, len, diag->span.col), end = byte_of(line, len, diag->span.end_col);
    if (first >= end) return false;
    StrBuf after = {0}, whole = {0};
    strbuf_printf(&after, "%.*s", (int)first, line);
    put_replacement(&after, line + first, end - first, diag->fix);
    strbuf_printf(&after, "%.*s", (int)(len - end), line + end);
    RecipeFix fix = {.line = diag->span.line,
                     .before = arena_strndup(&m->sink->arena, line, len),
                     .after = arena_strdup(&m->sink->arena, after.data)};
    strbuf_printf(&whole, "%.*s%s%s", (int)(line - m->text.data), m->text.data, after.data,
                  line + len);
    strbuf_deinit(&after);
    strbuf_deinit(&m->text);
    m->text = whole;
    ARRAY_RESERVE(m->fixes->items, m->fixes->num_items, m->fixes->capacity);
    m->fixes->items[m->fixes->num_items++] = fix;
    return true;
}

// Mends the first fault that has a fix; false: none has.
static bool mend_one(Mender *m) {
    DiagSink said;
    diag_sink_init(&said);
    Recipe *recipe = NULL;
    Status status = recipe_parse(m->text.data, m->text.len, m->path, &said, &recipe);
    recipe_destroy(recipe);
    bool done = false;
    for (size_t i = 0; status != STATUS_OK && i < said.num_diags && !done; i++)
        done = said.diags[i].fix && said.diags[i].severity == DIAG_ERROR && mend(m, &said.diags[i]);
    diag_sink_deinit(&said);
    return done;
}

Status recipe_fix(const char *path, DiagSink *sink, RecipeFixes *out_fixes) {
    *out_fixes = (RecipeFixes){0};
    char *text = NULL;
    uint64_t len = 0;
    TRY(file_read(path, DOC_MAX_BYTES, sink, &text, &len));
    Mender m = {.path = path, .sink = sink, .fixes = out_fixes};
    bool is_text = strlen(text) == len;
    strbuf_puts(&m.text, text);
    free(text);
    for (int round = 0; is_text && m.text.len && round < MAX_ROUNDS && mend_one(&m); round++) {
    }
    Status status = STATUS_OK;
    if (out_fixes->num_items) status = file_write(path, NULL, m.text.data, m.text.len, sink);
    strbuf_deinit(&m.text);
    return status;
}

void recipe_fixes_deinit(RecipeFixes *fixes) {
    free(fixes->items);
    *fixes = (RecipeFixes){0};
}
