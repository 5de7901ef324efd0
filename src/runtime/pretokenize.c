// Runs the pre-tokenizer patterns with PCRE2, one after the other over all pieces; see
// pretokenize.h.
#include "runtime/pretokenize.h"

#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/utf8.h"

enum {
    PRETOKENIZER_MAX_PATTERNS = 6,
    MATCH_STEPS = 50 * 1000 * 1000, // of one match; a whole text of letters is few steps
    MATCH_HEAP_KIB = 64 * 1024,
    JIT_STACK_BYTES = 8 << 20, // address space, touched only when needed
};

struct Pretokenizer {
    pcre2_code *patterns[PRETOKENIZER_MAX_PATTERNS];
    size_t num_patterns;
};

static const struct {
    const char *name;
    const char *patterns[PRETOKENIZER_MAX_PATTERNS];
} TABLE[] = {
#define PRETOKENIZER(name, flags, ...) {name, {__VA_ARGS__}},
#include "abi/pretokenizers.def"
#undef PRETOKENIZER
};

// PCRE2's \s has U+180E, which is no White_Space since Unicode 6.3; the property has not.
static void put_pattern(const char *pattern, StrBuf *out) {
    for (const char *p = pattern; *p; p++) {
        if (*p == '\\' && (p[1] == 's' || p[1] == 'S')) {
            strbuf_puts(out, p[1] == 's' ? "\\p{White_Space}" : "\\P{White_Space}");
            p++;
        } else if (*p == '\\') {
            strbuf_append(out, p++, 2);
        } else {
            strbuf_putc(out, *p);
        }
    }
}

static pcre2_code *compile_pattern(const char *pattern) {
    StrBuf text = {0};
    put_pattern(pattern, &text);
    int error;
    PCRE2_SIZE offset;
    pcre2_code *code =
        pcre2_compile((PCRE2_SPTR)text.data, text.len,
                      PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error, &offset, NULL);
    // The patterns are ours: one that does not compile is a fault of the table.
    BUG_IF(!code, "pattern %s: error %d at %zu", text.data, error, (size_t)offset);
    // Without JIT (not built in, or memory may not be made executable) matching is interpreted.
    (void)pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
    strbuf_deinit(&text);
    return code;
}

bool pretokenizer_open(const char *name, Pretokenizer **out_pretokenizer) {
    for (size_t i = 0; i < ARRAY_LEN(TABLE); i++) {
        if (!str_equal(TABLE[i].name, name)) continue;
        Pretokenizer *pretokenizer = base_alloc(1, sizeof *pretokenizer);
        for (size_t k = 0; k < PRETOKENIZER_MAX_PATTERNS && TABLE[i].patterns[k]; k++)
            pretokenizer->patterns[pretokenizer->num_patterns++] =
                compile_pattern(TABLE[i].patterns[k]);
        *out_pretokenizer = pretokenizer;
        return true;
    }
    return false;
}

void pretokenizer_close(Pretokenizer *pretokenizer) {
    if (!pretokenizer) return;
    for (size_t i = 0; i < pretokenizer->num_patterns; i++)
        pcre2_code_free(pretokenizer->patterns[i]);
    free(pretokenizer);
}

void word_ends_deinit(WordEnds *words) {
    free(words->ends);
    *words = (WordEnds){0};
}

static void push_end(WordEnds *words, size_t end) {
    ARRAY_RESERVE(words->ends, words->count, words->capacity);
    words->ends[words->count++] = end;
}

// What one match needs besides the pattern.
typedef struct Matcher {
    pcre2_match_context *context;
    pcre2_match_data *data;
    pcre2_jit_stack *stack;
    DiagSink *sink;
} Matcher;

static void matcher_init(Matcher *matcher, DiagSink *sink) {
    *matcher = (Matcher){.context = pcre2_match_context_create(NULL),
                         .data = pcre2_match_data_create(1, NULL),
                         .stack = pcre2_jit_stack_create(32 << 10, JIT_STACK_BYTES, NULL),
                         .sink = sink};
    BUG_IF(!matcher->context || !matcher->data, "no memory for matching");
    pcre2_set_match_limit(matcher->context, MATCH_STEPS);
    pcre2_set_heap_limit(matcher->context, MATCH_HEAP_KIB);
    if (matcher->stack) pcre2_jit_stack_assign(matcher->context, NULL, matcher->stack);
}

static void matcher_deinit(Matcher *matcher) {
    if (matcher->stack) pcre2_jit_stack_free(matcher->stack);
    pcre2_match_data_free(matcher->data);
    pcre2_match_context_free(matcher->context);
}

// Cuts the piece text[start, end) at the matches of one pattern, which sees nothing outside of it.
static Status split_piece(Matcher *matcher, const pcre2_code *code, const char *text, size_t start,
                          size_t end, WordEnds *out) {
    const char *piece = text + start;
    size_t len = end - start, done = 0;
    for (size_t pos = 0; pos < len;) {
        int count = pcre2_match(code, (PCRE2_SPTR)piece, len, pos, PCRE2_NO_UTF_CHECK,
                                matcher->data, matcher->context);
        if (count == PCRE2_ERROR_NOMATCH) break;
        if (count < 0)
            return diag_error(matcher->sink, DIAG_T0009, (DiagSpan){0},
                              "the text cannot be cut into words: PCRE2 error %d at byte %zu",
                              count, start + pos);
        const PCRE2_SIZE *match = pcre2_get_ovector_pointer(matcher->data);
        if (match[1] <= match[0]) { // an empty match cuts nothing
            pos = match[0] +
                  (match[0] < len ? utf8_step(piece + match[0], len - match[0]).num_bytes : 1);
            continue;
        }
        if (match[0] > done) push_end(out, start + match[0]);
        push_end(out, start + match[1]);
        pos = done = match[1];
    }
    if (done < len) push_end(out, end);
    return STATUS_OK;
}

static Status split_all(const Pretokenizer *pretokenizer, Matcher *matcher, const char *text,
                        WordEnds *words, WordEnds *next) {
    for (size_t k = 0; k < pretokenizer->num_patterns; k++) {
        next->count = 0;
        size_t start = 0;
        for (size_t i = 0; i < words->count; i++) {
            TRY(split_piece(matcher, pretokenizer->patterns[k], text, start, words->ends[i], next));
            start = words->ends[i];
        }
        WordEnds swap = *words;
        *words = *next;
        *next = swap;
    }
    return STATUS_OK;
}

Status pretokenizer_split(const Pretokenizer *pretokenizer, const char *text, size_t len,
                          DiagSink *sink, WordEnds *words) {
    words->count = 0;
    if (len == 0) return STATUS_OK;
    push_end(words, len);
    WordEnds next = {0};
    Matcher matcher;
    matcher_init(&matcher, sink);
    Status status = split_all(pretokenizer, &matcher, text, words, &next);
    matcher_deinit(&matcher);
    word_ends_deinit(&next);
    return status;
}
