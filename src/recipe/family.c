// Finds and joins the descriptions of model families; see family.h.
#include "recipe/family.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/embedded.h"

// Texts of data/arch/*.yaml and data/arch/parts/*.yaml, made into strings by the build.
extern const EmbeddedFile arch_files[];
extern const EmbeddedFile arch_part_files[];

enum { MAX_NAME_BYTES = 64, MAX_LISTED = 64 };

static bool is_plain_name(const char *name, uint64_t len) {
    bool is_plain = len > 0 && len <= MAX_NAME_BYTES && strlen(name) == len;
    for (uint64_t i = 0; is_plain && i < len; i++)
        is_plain = isalnum((unsigned char)name[i]) || name[i] == '-' || name[i] == '_';
    return is_plain;
}

static Status unknown_architecture(const char *name, DiagSpan span, DiagSink *sink) {
    const char *names[MAX_LISTED];
    size_t num_names = 0;
    for (const EmbeddedFile *file = arch_files; file->name && num_names < MAX_LISTED; file++)
        names[num_names++] = arena_strndup(&sink->arena, file->name, strcspn(file->name, "."));
    Status status = diag_error(sink, DIAG_F0014, span, "architecture %.60s is not supported", name);
    StrBuf all = {0};
    for (size_t i = 0; i < num_names; i++) strbuf_printf(&all, "%s%s", i ? ", " : "", names[i]);
    if (all.data) diag_evidence(sink, "known architectures: %s", all.data);
    strbuf_deinit(&all);
    return status;
}

// From the folder INGOT_DATA_DIR if that is set, else the copy in the program; *out is NULL if
// there is none.
static Status load_file(const EmbeddedFile *files, const char *subfolder, const char *name,
                        DiagSink *sink, const DocNode **out) {
    const char *file_name = arena_printf(&sink->arena, "%s.yaml", name);
    const char *folder = getenv("INGOT_DATA_DIR");
    *out = NULL;
    if (folder && *folder)
        return doc_load(arena_printf(&sink->arena, "%s/%s/%s", folder, subfolder, file_name), sink,
                        out);
    for (const EmbeddedFile *file = files; file->name; file++)
        if (str_equal(file->name, file_name))
            return doc_parse(file->text, file->len, file_name, DOC_YAML, sink, out);
    return STATUS_OK;
}

// ---------------------------------------------------------------- joining two descriptions

static void append(Arena *arena, DocNode *parent, DocNode **last, const DocNode *child) {
    DocNode *copy = ARENA_ARRAY(arena, DocNode, 1);
    *copy = *child;
    copy->next = NULL;
    if (*last)
        (*last)->next = copy;
    else
        parent->first = copy;
    *last = copy;
    parent->num_children++;
}

static bool comes_before(const DocNode *node, const DocNode *other) {
    while (node && node != other) node = node->next;
    return node != NULL;
}

// Lists: own elements, then the base's. Maps: an own entry takes the place of the base's of that
// name; a new one comes in front of the own entry that follows it, or at the end. `depth` more
// levels of maps are joined so, deeper ones replaced.
static const DocNode *join(Arena *arena, const DocNode *own, const DocNode *base, int depth) {
    if (own->kind != base->kind || own->kind == DOC_SCALAR || depth == 0) return own;
    DocNode *joined = ARENA_ARRAY(arena, DocNode, 1), *last = NULL;
    *joined = *own;
    joined->first = NULL;
    joined->num_children = 0;
    if (own->kind == DOC_LIST) {
        FOR_EACH_DOC(child, own) append(arena, joined, &last, child);
        FOR_EACH_DOC(child, base) append(arena, joined, &last, child);
        return joined;
    }
    const DocNode *next = own->first; // the first own entry that has not been looked at
    FOR_EACH_DOC(child, base) {
        const DocNode *mine = doc_find(own, child->key);
        bool is_behind = mine && comes_before(next, mine);
        for (; is_behind && next != mine; next = next->next)
            if (!doc_find(base, next->key)) append(arena, joined, &last, next);
        append(arena, joined, &last, mine ? join(arena, mine, child, depth - 1) : child);
    }
    for (; next; next = next->next)
        if (!doc_find(base, next->key)) append(arena, joined, &last, next);
    return joined;
}

Status family_load(const char *name, uint64_t name_len, DiagSpan span, DiagSink *sink,
                   const DocNode **out_family) {
    const DocNode *family = NULL, *base = NULL;
    if (!is_plain_name(name, name_len)) return unknown_architecture(name, span, sink);
    TRY(load_file(arch_files, "arch", name, sink, &family));
    if (!family) return unknown_architecture(name, span, sink);
    TRY(doc_want_kind(family, "the model family file", DOC_MAP, sink));
    const DocNode *uses = doc_find(family, "uses");
    if (uses) {
        if (uses->kind != DOC_SCALAR || !is_plain_name(uses->text, uses->text_len))
            return diag_error(sink, DIAG_R0013, uses->span, "uses must name a description");
        TRY(load_file(arch_part_files, "arch/parts", uses->text, sink, &base));
        if (!base)
            return diag_error(sink, DIAG_R0013, uses->span, "no description is called %s",
                              uses->text);
        TRY(doc_want_kind(base, "the description", DOC_MAP, sink));
        if (doc_find(base, "uses"))
            return diag_error(sink, DIAG_R0013, base->span,
                              "a description that others use may "
                              "not use another");
        family = join(&sink->arena, family, base, 2);
    }
    *out_family = family;
    return STATUS_OK;
}
