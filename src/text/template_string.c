// Operations on strings of templates, as Python's, that keep the mark of every byte.
#include <string.h>
#include <utf8proc.h>

#include "text/template_internal.h"

// Python's str.isspace: White_Space, and the four separators of ASCII.
bool char_is_space(uint32_t c) {
    return utf8_is_space(c) || (c >= 28 && c <= 31);
}

size_t string_num_chars(const TemplateString *str) {
    size_t count = 0;
    for (size_t i = 0; i < str->len; i++) count += ((uint8_t)str->text[i] & 0xC0) != 0x80;
    return count;
}

// Is the character of `step` among chars (NULL: blanks)?
static bool is_among(const TemplateString *chars, const char *bytes, Utf8Step step) {
    if (!chars) return char_is_space(step.code_point);
    for (size_t i = 0; i < chars->len;) {
        Utf8Step other = utf8_step(chars->text + i, chars->len - i);
        if (other.num_bytes == step.num_bytes &&
            memcmp(chars->text + i, bytes, step.num_bytes) == 0)
            return true;
        i += other.num_bytes;
    }
    return false;
}

TemplateValue string_strip(Render *render, const TemplateString *str, const TemplateString *chars,
                           StripSide side) {
    size_t start = 0, end = str->len;
    while (side & STRIP_LEFT && start < end) {
        Utf8Step step = utf8_step(str->text + start, end - start);
        if (!is_among(chars, str->text + start, step)) break;
        start += step.num_bytes;
    }
    while (side & STRIP_RIGHT && end > start) {
        size_t pos = end - 1;
        while (pos > start && ((uint8_t)str->text[pos] & 0xC0) == 0x80) pos--;
        if (!is_among(chars, str->text + pos, utf8_step(str->text + pos, end - pos))) break;
        end = pos;
    }
    return value_slice_text(&render->arena, str, start, end - start);
}

size_t string_find(const TemplateString *str, const TemplateString *part, size_t start) {
    if (start > str->len) return SIZE_MAX;
    if (part->len == 0) return start;
    const char *found = memmem(str->text + start, str->len - start, part->text, part->len);
    return found ? (size_t)(found - str->text) : SIZE_MAX;
}

// Byte offset behind the character at pos.
static size_t next_char(const TemplateString *str, size_t pos) {
    return pos + utf8_step(str->text + pos, str->len - pos).num_bytes;
}

Status string_replace(Render *render, const TemplateString *str, const TemplateString *old,
                      const TemplateString *new_text, int64_t limit, TemplateValue *out) {
    TextBuilder builder = {0};
    Status status = STATUS_OK;
    size_t pos = 0;
    for (int64_t count = 0; limit < 0 || count < limit; count++) {
        size_t found = string_find(str, old, pos);
        if (found == SIZE_MAX) break;
        // An empty pattern stands before every character and at the end.
        size_t copied_to = old->len || count == 0 ? found : MIN(found, str->len);
        builder_put_string(&builder, str, pos, copied_to - pos);
        builder_put_string(&builder, new_text, 0, new_text->len);
        pos = found + old->len;
        bool is_over = builder.text.len > TEMPLATE_MAX_OUTPUT_BYTES;
        if ((status = render_step(render, is_over ? TEMPLATE_MAX_STEPS : 1)) != STATUS_OK) break;
        if (old->len) continue;
        if (pos >= str->len) break;
        size_t next = next_char(str, pos);
        builder_put_string(&builder, str, pos, next - pos);
        pos = next;
    }
    if (status == STATUS_OK) {
        builder_put_string(&builder, str, pos, str->len - pos);
        *out = builder_take(&render->arena, &builder);
    }
    builder_deinit(&builder);
    return status;
}

// ---------------------------------------------------------------- splitting

static Status push_part(Render *render, TemplateList *list, const TemplateString *str, size_t start,
                        size_t end) {
    return list_push(render, list, value_slice_text(&render->arena, str, start, end - start));
}

static bool blank_at(const TemplateString *str, size_t pos) {
    return char_is_space(utf8_step(str->text + pos, str->len - pos).code_point);
}

// Words between blanks; at most limit splits, the rest stays whole.
static Status split_words(Render *render, const TemplateString *str, int64_t limit,
                          TemplateList *list) {
    size_t pos = 0;
    while (true) {
        while (pos < str->len && blank_at(str, pos)) pos = next_char(str, pos);
        if (pos >= str->len) return STATUS_OK;
        if (limit >= 0 && (int64_t)list->count >= limit)
            return push_part(render, list, str, pos, str->len);
        size_t start = pos;
        while (pos < str->len && !blank_at(str, pos)) pos = next_char(str, pos);
        TRY(push_part(render, list, str, start, pos));
    }
}

static Status split_left(Render *render, const TemplateString *str, const TemplateString *separator,
                         int64_t limit, TemplateList *list) {
    size_t pos = 0;
    while (limit < 0 || (int64_t)list->count < limit) {
        size_t found = string_find(str, separator, pos);
        if (found == SIZE_MAX) break;
        TRY(push_part(render, list, str, pos, found));
        pos = found + separator->len;
    }
    return push_part(render, list, str, pos, str->len);
}

static Status split_right(Render *render, const TemplateString *str,
                          const TemplateString *separator, int64_t limit, TemplateList *list) {
    size_t end = str->len, len = separator->len;
    for (size_t pos = str->len; pos-- > 0 && (limit < 0 || (int64_t)list->count < limit);) {
        if (pos + len > end || memcmp(str->text + pos, separator->text, len) != 0) continue;
        TRY(push_part(render, list, str, pos + len, end));
        end = pos;
    }
    TRY(push_part(render, list, str, 0, end));
    for (size_t i = 0; i < list->count / 2; i++) {
        TemplateValue swap = list->items[i];
        list->items[i] = list->items[list->count - 1 - i];
        list->items[list->count - 1 - i] = swap;
    }
    return render_step(render, str->len / 16);
}

Status string_split(Render *render, const TemplateString *str, const TemplateString *separator,
                    int64_t limit, bool from_right, TemplateList **out) {
    TemplateList *list = list_create(render);
    *out = list;
    if (separator && separator->len == 0) return render_error(render, "the separator is empty");
    if (!separator) {
        if (from_right && limit >= 0)
            return render_error(render, "rsplit with a limit needs a separator");
        return split_words(render, str, limit, list);
    }
    return from_right ? split_right(render, str, separator, limit, list)
                      : split_left(render, str, separator, limit, list);
}

// ---------------------------------------------------------------- upper and lower case

static bool is_cased(uint32_t c) {
    utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)c);
    return category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LL ||
           category == UTF8PROC_CATEGORY_LT;
}

// One character changed; of the characters that become several, U+00DF is known.
static void put_changed(TextBuilder *builder, const TemplateString *str, size_t pos, Utf8Step step,
                        CaseChange to) {
    uint8_t mark = str->marks ? str->marks[pos] : 0;
    utf8proc_int32_t c = (utf8proc_int32_t)step.code_point;
    if (c == 0xDF && to != CASE_LOWER) {
        builder_put(builder, to == CASE_TITLE ? "Ss" : "SS", 2, mark);
        return;
    }
    utf8proc_int32_t changed = to == CASE_LOWER   ? utf8proc_tolower(c)
                               : to == CASE_TITLE ? utf8proc_totitle(c)
                                                  : utf8proc_toupper(c);
    char bytes[UTF8_MAX_CHAR_BYTES];
    builder_put(builder, bytes, utf8_encode((uint32_t)changed, bytes), mark);
}

TemplateValue string_change_case(Render *render, const TemplateString *str, CaseChange change) {
    TextBuilder builder = {0};
    bool follows_cased = false;
    for (size_t pos = 0; pos < str->len;) {
        Utf8Step step = utf8_step(str->text + pos, str->len - pos);
        CaseChange to = change;
        if (change == CASE_CAPITALIZE) to = pos ? CASE_LOWER : CASE_TITLE;
        if (change == CASE_TITLE) to = follows_cased ? CASE_LOWER : CASE_TITLE;
        put_changed(&builder, str, pos, step, to);
        follows_cased = is_cased(step.code_point);
        pos += step.num_bytes;
    }
    TemplateValue value =
        value_with_safety(&render->arena, builder_take(&render->arena, &builder), str->is_safe);
    builder_deinit(&builder);
    return value;
}
