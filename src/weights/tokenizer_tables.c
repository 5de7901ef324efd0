// Builds and writes the tokenizer's tables; see tokenizer_tables.h.
#include "weights/tokenizer_tables.h"

#include <stdlib.h>
#include <string.h>

void tables_init(TokenizerTables *tables) {
    *tables = (TokenizerTables){0};
    memcpy(tables->header.magic, TOKENIZER_MAGIC, sizeof tables->header.magic);
    tables->header.version = TOKENIZER_VERSION;
    tables->header.bos_id = tables->header.eos_id = tables->header.unknown_id = TOKENIZER_NONE;
    for (size_t i = 0; i < 256; i++) tables->byte_symbols[i] = TOKENIZER_NONE;
}

void tables_deinit(TokenizerTables *tables) {
    strbuf_deinit(&tables->match.bytes);
    strbuf_deinit(&tables->print.bytes);
    free(tables->match.ends);
    free(tables->print.ends);
    free(tables->symbols.slots);
    free(tables->pairs.slots);
    free(tables->merges);
    free(tables->types);
    free(tables->scores);
    free(tables->specials);
    free(tables->end_tokens);
}

uint32_t string_table_add(StringTable *table, const char *bytes, size_t len) {
    if (table->num_strings + 2 > table->capacity) {
        table->capacity = MAX(table->capacity * 2, (size_t)64);
        table->ends = base_realloc(table->ends, table->capacity, sizeof *table->ends);
        table->ends[0] = 0;
    }
    strbuf_append(&table->bytes, bytes, len);
    // A total above 4 GiB is refused by tables_write before any of the numbers is used.
    table->ends[table->num_strings + 1] = (uint32_t)table->bytes.len;
    return (uint32_t)table->num_strings++;
}

const char *string_table_get(const StringTable *table, uint32_t index, size_t *out_len) {
    *out_len = table->ends[index + 1] - table->ends[index];
    return table->bytes.data + table->ends[index];
}

// ---------------------------------------------------------------- hashes

// Empties the slots and makes room for num_elems at half load.
static void slots_resize(HashSlots *hash, size_t num_elems) {
    size_t size = 64;
    while (size < num_elems * 2) size *= 2;
    free(hash->slots);
    hash->slots = base_alloc(size, sizeof *hash->slots);
    memset(hash->slots, 0xFF, size * sizeof *hash->slots);
    *hash = (HashSlots){.slots = hash->slots, .num_slots = size};
}

// Texts made to collide must not cost quadratic time: past the longest allowed search the element
// is left out, and longest_probe tells tables_write to refuse.
static void slots_put(HashSlots *hash, uint32_t code, uint32_t element) {
    size_t mask = hash->num_slots - 1, i = code & mask;
    uint32_t probe = 1;
    while (probe <= TOKENIZER_MAX_PROBE && hash->slots[i] != TOKENIZER_NONE) {
        i = (i + 1) & mask;
        probe++;
    }
    hash->longest_probe = MAX(hash->longest_probe, probe);
    if (probe > TOKENIZER_MAX_PROBE) return;
    hash->slots[i] = element;
    hash->num_used++;
}

uint32_t tables_find(const TokenizerTables *tables, const char *bytes, size_t len) {
    const HashSlots *hash = &tables->symbols;
    if (hash->num_slots == 0) return TOKENIZER_NONE;
    size_t mask = hash->num_slots - 1, i = tokenizer_hash_text(bytes, len) & mask;
    for (uint32_t probe = 0; probe < hash->longest_probe; probe++, i = (i + 1) & mask) {
        uint32_t symbol = hash->slots[i];
        if (symbol == TOKENIZER_NONE) break;
        size_t other_len;
        const char *other = string_table_get(&tables->match, symbol, &other_len);
        if (other_len == len && memcmp(other, bytes, len) == 0) return symbol;
    }
    return TOKENIZER_NONE;
}

static uint32_t symbol_code(const TokenizerTables *tables, uint32_t symbol) {
    size_t len;
    const char *bytes = string_table_get(&tables->match, symbol, &len);
    return tokenizer_hash_text(bytes, len);
}

static void symbols_grow(TokenizerTables *tables) {
    HashSlots *hash = &tables->symbols;
    if ((hash->num_used + 1) * 2 <= hash->num_slots) return;
    HashSlots old = *hash;
    hash->slots = NULL;
    slots_resize(hash, MAX(old.num_used * 2, (size_t)32));
    for (size_t i = 0; i < old.num_slots; i++)
        if (old.slots[i] != TOKENIZER_NONE)
            slots_put(hash, symbol_code(tables, old.slots[i]), old.slots[i]);
    free(old.slots);
}

bool tables_enter(TokenizerTables *tables, uint32_t symbol) {
    size_t len;
    const char *bytes = string_table_get(&tables->match, symbol, &len);
    if (tables_find(tables, bytes, len) != TOKENIZER_NONE) return false;
    symbols_grow(tables);
    slots_put(&tables->symbols, symbol_code(tables, symbol), symbol);
    tables->header.max_symbol_bytes = MAX(tables->header.max_symbol_bytes, (uint32_t)len);
    return true;
}

uint32_t tables_intern(TokenizerTables *tables, const char *bytes, size_t len) {
    uint32_t symbol = tables_find(tables, bytes, len);
    if (symbol != TOKENIZER_NONE) return symbol;
    symbol = string_table_add(&tables->match, bytes, len);
    BUG_IF(!tables_enter(tables, symbol), "a new symbol is already there");
    return symbol;
}

static uint32_t merge_code(const TokenizerTables *tables, uint32_t index) {
    return tokenizer_hash_pair(tables->merges[index].left, tables->merges[index].right);
}

void tables_add_merge(TokenizerTables *tables, TokenizerMerge merge) {
    HashSlots *hash = &tables->pairs;
    uint32_t merge_hash = tokenizer_hash_pair(merge.left, merge.right);
    if ((hash->num_used + 1) * 2 > hash->num_slots) {
        slots_resize(hash, MAX(tables->num_merges * 2, (size_t)32));
        for (size_t i = 0; i < tables->num_merges; i++)
            slots_put(hash, merge_code(tables, (uint32_t)i), (uint32_t)i);
    }
    size_t mask = hash->num_slots - 1, i = merge_hash & mask;
    for (uint32_t probe = 0; probe < hash->longest_probe; probe++, i = (i + 1) & mask) {
        if (hash->slots[i] == TOKENIZER_NONE) break;
        TokenizerMerge other = tables->merges[hash->slots[i]];
        if (other.left == merge.left && other.right == merge.right) return;
    }
    ARRAY_RESERVE(tables->merges, tables->num_merges, tables->merges_capacity);
    tables->merges[tables->num_merges] = merge;
    slots_put(hash, merge_hash, (uint32_t)tables->num_merges++);
}

// ---------------------------------------------------------------- the blob

// Appends a table at the next multiple of 8, counted from base.
static TokenizerTable put_table(StrBuf *blob, size_t base, const void *elems, size_t count,
                                size_t elem_size) {
    while ((blob->len - base) % 8) strbuf_putc(blob, '\0');
    TokenizerTable table = {blob->len - base, count};
    if (count) strbuf_append(blob, elems, count * elem_size);
    return table;
}

static TokenizerTable put_slots(StrBuf *blob, size_t base, HashSlots *hash) {
    if (hash->num_slots == 0) slots_resize(hash, 1);
    return put_table(blob, base, hash->slots, hash->num_slots, sizeof *hash->slots);
}

Status tables_write(TokenizerTables *tables, const char *path, DiagSink *sink, StrBuf *out_blob) {
    TokenizerHeader *header = &tables->header;
    size_t num_symbols = tables->match.num_strings, vocab_size = header->vocab_size;
    if (header->max_symbol_bytes > TOKENIZER_MAX_SYMBOL_BYTES)
        return diag_error(sink, DIAG_T0004, (DiagSpan){.file = path},
                          "a token has a text of %u bytes; at most %d are supported",
                          header->max_symbol_bytes, TOKENIZER_MAX_SYMBOL_BYTES);
    if (tables->match.bytes.len > UINT32_MAX || tables->print.bytes.len > UINT32_MAX ||
        num_symbols > TOKENIZER_MAX_SYMBOLS || tables->num_merges > TOKENIZER_MAX_SYMBOLS ||
        tables->symbols.longest_probe > TOKENIZER_MAX_PROBE ||
        tables->pairs.longest_probe > TOKENIZER_MAX_PROBE)
        return diag_error(sink, DIAG_T0004, (DiagSpan){.file = path},
                          "the vocabulary's %zu texts and %zu merges outgrow the tokenizer tables",
                          num_symbols, tables->num_merges);
    header->num_symbols = (uint32_t)num_symbols;
    size_t base = out_blob->len;
    strbuf_append(out_blob, (const char *)header, sizeof *header);
    const StringTable *match = &tables->match, *print = &tables->print;
    header->match_ends = put_table(out_blob, base, match->ends, num_symbols + 1, 4);
    header->match_bytes = put_table(out_blob, base, match->bytes.data, match->bytes.len, 1);
    if (print->num_strings) {
        header->print_ends = put_table(out_blob, base, print->ends, vocab_size + 1, 4);
        header->print_bytes = put_table(out_blob, base, print->bytes.data, print->bytes.len, 1);
    } else {
        header->print_ends = (TokenizerTable){header->match_ends.offset, vocab_size + 1};
        header->print_bytes = header->match_bytes;
    }
    header->types = put_table(out_blob, base, tables->types, vocab_size, 1);
    header->scores = put_table(out_blob, base, tables->scores, tables->scores ? vocab_size : 0, 4);
    header->byte_symbols = put_table(out_blob, base, tables->byte_symbols, 256, 4);
    header->slots = put_slots(out_blob, base, &tables->symbols);
    header->merges =
        put_table(out_blob, base, tables->merges, tables->num_merges, sizeof *tables->merges);
    header->pair_slots = put_slots(out_blob, base, &tables->pairs);
    header->specials = put_table(out_blob, base, tables->specials, tables->num_specials, 4);
    header->end_tokens = put_table(out_blob, base, tables->end_tokens, tables->num_end_tokens, 4);
    header->text_probe = tables->symbols.longest_probe;
    header->pair_probe = tables->pairs.longest_probe;
    memcpy(out_blob->data + base, header, sizeof *header);
    return STATUS_OK;
}
