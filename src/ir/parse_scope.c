// Names of values and blocks while text is read: definitions, uses before the definition, scopes.
#include <stdlib.h>
#include <string.h>

#include "ir/parser.h"
#include "ir/print.h"

static bool entry_is(const NameEntry *entry, uint64_t hash, const char *name, size_t len) {
    return entry->hash == hash && entry->len == len && memcmp(entry->name, name, len) == 0;
}

static uint32_t *find_slot(NameTable *table, uint64_t hash, const char *name, size_t len) {
    uint32_t mask = table->num_slots - 1;
    uint32_t i = (uint32_t)hash & mask;
    while (table->slots[i] && !entry_is(&table->entries[table->slots[i] - 1], hash, name, len))
        i = (i + 1) & mask;
    return &table->slots[i];
}

NameEntry *name_find(NameTable *table, const char *name, size_t len) {
    if (!table->num_slots) return NULL;
    uint32_t slot = *find_slot(table, hash_bytes(7, name, len), name, len);
    return slot ? &table->entries[slot - 1] : NULL;
}

static void grow_slots(NameTable *table) {
    uint32_t num_slots = table->num_slots ? table->num_slots * 2 : 64;
    free(table->slots);
    table->slots = base_alloc(num_slots, sizeof *table->slots);
    table->num_slots = num_slots;
    for (uint32_t i = 0; i < table->count; i++) {
        const NameEntry *entry = &table->entries[i];
        *find_slot(table, entry->hash, entry->name, entry->len) = i + 1;
    }
}

NameEntry *name_get(NameTable *table, const char *name, size_t len) {
    uint64_t hash = hash_bytes(7, name, len);
    if ((table->count + 1) * 2 > table->num_slots) grow_slots(table);
    uint32_t *slot = find_slot(table, hash, name, len);
    if (*slot) return &table->entries[*slot - 1];
    ARRAY_RESERVE(table->entries, table->count, table->capacity);
    table->entries[table->count] = (NameEntry){.name = name, .len = (uint32_t)len, .hash = hash};
    *slot = ++table->count;
    return &table->entries[table->count - 1];
}

void name_table_deinit(NameTable *table) {
    free(table->entries);
    free(table->slots);
    *table = (NameTable){0};
}

Scope *scope_push(Parser *p) {
    Scope *scope = base_alloc(1, sizeof *scope);
    scope->outer = p->scope;
    p->scope = scope;
    return scope;
}

Status scope_pop(Parser *p) {
    Scope *scope = p->scope;
    if (scope->num_forwards) {
        const ForwardUse *first = NULL;
        for (uint32_t i = 0; i < scope->names.count; i++) {
            for (const ForwardUse *f = scope->names.entries[i].forwards; f; f = f->next)
                if (!first || f->use.token.start < first->use.token.start) first = f;
        }
        BUG_IF(!first, "a forward use was lost");
        return parse_error(p, DIAG_I0007, &first->use.token, "undeclared value %%%.*s",
                           (int)first->use.token.len, first->use.token.text);
    }
    p->scope = scope->outer;
    name_table_deinit(&scope->names);
    free(scope->defined);
    free(scope);
    return STATUS_OK;
}

static Status type_mismatch(Parser *p, const OperandUse *use, const IrType *wanted,
                            const IrType *is) {
    StrBuf text = {0};
    ir_print_type(wanted, &text);
    strbuf_puts(&text, ", but it is ");
    ir_print_type(is, &text);
    Status status = parse_error(p, DIAG_I0009, &use->token, "value %%%.*s is used as %s",
                                (int)use->token.len, use->token.text, text.data);
    strbuf_deinit(&text);
    return status;
}

static Status use_of_absent_result(Parser *p, const OperandUse *use, uint32_t count) {
    return parse_error(p, DIAG_I0015, &use->token, "%%%.*s has %u values, there is no #%u",
                       (int)use->token.len, use->token.text, count, use->number);
}

// Uses that came before the definition get the real value.
static Status settle_forwards(Parser *p, NameEntry *entry) {
    for (ForwardUse *f = entry->forwards; f; f = f->next) {
        if (f->use.number >= entry->num_values)
            return use_of_absent_result(p, &f->use, entry->num_values);
        IrValue *value = &entry->values[f->use.number];
        if (value->type != f->placeholder->type)
            return type_mismatch(p, &f->use, f->placeholder->type, value->type);
        ir_value_replace_all(f->placeholder, value);
        p->scope->num_forwards--;
    }
    entry->forwards = NULL;
    entry->num_forwards = 0;
    return STATUS_OK;
}

Status define_values(Parser *p, const Token *name, IrValue *values, uint32_t count) {
    Scope *scope = p->scope;
    NameEntry *entry = name_get(&scope->names, name->text, name->len);
    if (entry->is_defined)
        return parse_error(p, DIAG_I0008, name, "value %%%.*s is defined twice", (int)name->len,
                           name->text);
    entry->is_defined = true;
    entry->values = values;
    entry->num_values = count;
    ARRAY_RESERVE(scope->defined, scope->num_defined, scope->defined_capacity);
    scope->defined[scope->num_defined++] = (uint32_t)(entry - scope->names.entries);
    return settle_forwards(p, entry);
}

const IrType *type_of_use(Parser *p, const OperandUse *use) {
    const NameEntry *entry = name_find(&p->scope->names, use->token.text, use->token.len);
    if (!entry || !entry->is_defined || use->number >= entry->num_values) return NULL;
    return entry->values[use->number].type;
}

Status resolve_use(Parser *p, const OperandUse *use, const IrType *type, IrValue **out_value) {
    NameEntry *entry = name_get(&p->scope->names, use->token.text, use->token.len);
    if (entry->is_defined) {
        if (use->number >= entry->num_values)
            return use_of_absent_result(p, use, entry->num_values);
        IrValue *value = &entry->values[use->number];
        if (type && value->type != type) return type_mismatch(p, use, type, value->type);
        *out_value = value;
        return STATUS_OK;
    }
    if (!type)
        return parse_error(p, DIAG_I0007, &use->token, "undeclared value %%%.*s",
                           (int)use->token.len, use->token.text);
    for (ForwardUse *f = entry->forwards; f; f = f->next) {
        if (f->use.number != use->number) continue;
        if (f->placeholder->type != type) return type_mismatch(p, use, type, f->placeholder->type);
        *out_value = f->placeholder;
        return STATUS_OK;
    }
    if (entry->num_forwards++ == MAX_FORWARD_USES)
        return parse_error(p, DIAG_I0011, &use->token, "more than %d results used before their op",
                           (int)MAX_FORWARD_USES);
    ForwardUse *f = ARENA_NEW(&p->m->arena, ForwardUse);
    f->placeholder = ARENA_NEW(&p->m->arena, IrValue);
    *f->placeholder = (IrValue){.type = type, .index = p->m->num_values++};
    f->use = *use;
    f->next = entry->forwards;
    entry->forwards = f;
    p->scope->num_forwards++;
    *out_value = f->placeholder;
    return STATUS_OK;
}

// ---------------------------------------------------------------- blocks and regions

Status find_block(Parser *p, const Token *label, IrBlock **out_block) {
    NameEntry *entry = name_get(&p->blocks, label->text, label->len);
    if (!entry->block) {
        entry->block = ARENA_NEW(&p->m->arena, IrBlock);
        entry->token = *label;
    }
    *out_block = entry->block;
    return STATUS_OK;
}

static void link_block(IrRegion *region, IrBlock *block) {
    block->region = region;
    block->prev = region->last;
    if (region->last)
        region->last->next = block;
    else
        region->first = block;
    region->last = block;
}

// (%a: f32, %b: i64 loc(...))
static Status parse_block_args(Parser *p, IrBlock *block) {
    if (!eat_char(p, '(')) return STATUS_OK;
    while (!eat_char(p, ')')) {
        if (block->num_args) TRY(expect_char(p, ','));
        Token name = p->tok;
        if (name.kind != TOKEN_VALUE)
            return parse_error(p, DIAG_I0001, &name, "expected a block argument, %%name: type");
        advance(p);
        TRY(expect_char(p, ':'));
        const IrType *type;
        TRY(parse_type(p, &type));
        TRY(define_values(p, &name, ir_block_add_arg(p->m, block, type), 1));
        if (eat_word(p, "loc")) {
            const IrLoc *loc;
            Token alias;
            TRY(parse_loc(p, &loc, &alias));
        }
    }
    return STATUS_OK;
}

static Status parse_label(Parser *p, IrRegion *region, IrBlock **out_block) {
    Token label = p->tok;
    NameEntry *entry = name_get(&p->blocks, label.text, label.len);
    if (entry->is_defined)
        return parse_error(p, DIAG_I0008, &label, "block ^%.*s is defined twice", (int)label.len,
                           label.text);
    entry->is_defined = true;
    if (!entry->block) entry->block = ARENA_NEW(&p->m->arena, IrBlock);
    IrBlock *block = entry->block;
    link_block(region, block);
    advance(p);
    TRY(parse_block_args(p, block));
    *out_block = block;
    return expect_char(p, ':');
}

static Status add_terminator(Parser *p, IrRegion *region, const RegionSpec *spec, const Token *at) {
    if (!spec->has_terminator) return STATUS_OK;
    if (!region->first) ir_region_add_block(p->m, region);
    IrBlock *block = region->last;
    bool ends = block->last && (ir_op_info(block->last->kind)->traits & IR_TERMINATOR);
    if (ends) return STATUS_OK;
    IrOpSpec op = {
        .kind = spec->terminator,
        .loc = ir_loc_file(p->m, p->file, at->line, (uint32_t)(at->start - at->line_start + 1))};
    op.num_regions = spec->terminator == IR_SCF_FORALL_IN_PARALLEL ? 1 : 0;
    IrOp *terminator = ir_op_create(p->m, &op);
    if (op.num_regions) ir_region_add_block(p->m, &terminator->regions[0]);
    ir_block_append(block, terminator);
    return STATUS_OK;
}

static Status parse_blocks(Parser *p, IrRegion *region, const RegionSpec *spec) {
    IrBlock *block = NULL;
    if (spec->num_args) block = ir_region_add_block(p->m, region);
    for (uint32_t i = 0; i < spec->num_args; i++) {
        IrValue *arg = ir_block_add_arg(p->m, block, spec->arg_types[i]);
        TRY(define_values(p, &spec->arg_names[i], arg, 1));
    }
    while (!at_char(p, '}')) {
        if (p->tok.kind == TOKEN_EOF) return parse_error(p, DIAG_I0001, &p->tok, "expected '}'");
        if (p->tok.kind == TOKEN_BLOCK) {
            TRY(parse_label(p, region, &block));
            continue;
        }
        if (!block) block = ir_region_add_block(p->m, region);
        TRY(parse_op(p, block));
    }
    return STATUS_OK;
}

static Status undefined_block(Parser *p) {
    for (uint32_t i = 0; i < p->blocks.count; i++) {
        const NameEntry *entry = &p->blocks.entries[i];
        if (!entry->is_defined)
            return parse_error(p, DIAG_I0012, &entry->token, "block ^%.*s is not defined",
                               (int)entry->len, entry->name);
    }
    return STATUS_OK;
}

Status parse_region(Parser *p, IrRegion *region, const RegionSpec *spec) {
    TRY(enter(p));
    TRY(expect_char(p, '{'));
    NameTable outer_blocks = p->blocks;
    p->blocks = (NameTable){0};
    if (spec->is_isolated) scope_push(p);
    uint32_t first_defined = p->scope->num_defined;
    Status status = parse_blocks(p, region, spec);
    if (status == STATUS_OK) status = undefined_block(p);
    name_table_deinit(&p->blocks);
    p->blocks = outer_blocks;
    TRY(status);
    Token close = p->tok;
    TRY(add_terminator(p, region, spec, &close));
    for (uint32_t i = first_defined; i < p->scope->num_defined; i++)
        p->scope->names.entries[p->scope->defined[i]].is_defined = false;
    p->scope->num_defined = first_defined;
    if (spec->is_isolated) TRY(scope_pop(p));
    advance(p);
    leave(p);
    return STATUS_OK;
}
