// Hashes of ops and their order among equals; see stable_id.h.
#include "ir/stable_id.h"

#include <stdlib.h>
#include <string.h>

#include "ir/print.h"

static uint64_t hash_text(uint64_t h, const char *text, size_t len) { // FNV-1a
    for (size_t i = 0; i < len; i++) h = (h ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
    return (h ^ 0xff) * UINT64_C(0x100000001b3); // words do not run together
}

static uint64_t hash_op(uint64_t h, const IrOp *op) {
    StrBuf text = {0};
    strbuf_puts(&text, ir_op_info(op->kind)->name);
    for (uint32_t i = 0; i < op->num_results; i++) {
        strbuf_putc(&text, ' ');
        ir_print_type(op->results[i].type, &text);
    }
    for (uint32_t i = 0; i < op->num_attrs; i++) {
        strbuf_printf(&text, " %s=", op->attrs[i].name);
        ir_print_attr(op->attrs[i].attr, &text);
    }
    h = hash_text(h, text.data, text.len);
    strbuf_deinit(&text);
    for (uint32_t r = 0; r < op->num_regions; r++) FOR_EACH_BLOCK(block, &op->regions[r])
    FOR_EACH_OP(inner, block) h = hash_op(h, inner);
    return h;
}

typedef struct Seen {
    uint64_t hash;
    uint32_t count;
} Seen;

typedef struct Naming {
    Arena *arena;
    const char **names;
    Seen *seen; // open addressing; count 0 is free
    size_t num_slots;
} Naming;

static uint32_t next_of(Naming *n, uint64_t hash) {
    size_t at = hash % n->num_slots;
    while (n->seen[at].count && n->seen[at].hash != hash) at = (at + 1) % n->num_slots;
    n->seen[at].hash = hash;
    return ++n->seen[at].count;
}

static void name_op(Naming *n, const IrOp *op) {
    uint64_t hash = hash_op(UINT64_C(0xcbf29ce484222325), op);
    hash = (hash ^ hash >> 24) & 0xffffff; // what is shown: equal names are counted
    const char *name = strchr(ir_op_info(op->kind)->name, '.') + 1;
    char word[64] = {0};
    for (size_t i = 0; name[i] && i + 1 < sizeof word; i++)
        word[i] = name[i] == '.' ? '_' : name[i];
    uint64_t key = hash ^ (uint64_t)op->kind << 32;
    uint32_t number = next_of(n, key);
    n->names[op->index] =
        number == 1
            ? arena_printf(n->arena, "%s_%06llx", word, (unsigned long long)hash)
            : arena_printf(n->arena, "%s_%06llx_%u", word, (unsigned long long)hash, number);
    for (uint32_t r = 0; r < op->num_regions; r++) FOR_EACH_BLOCK(block, &op->regions[r])
    FOR_EACH_OP(inner, block) name_op(n, inner);
}

static void count_op(IrOp *op, void *ctx) {
    (void)op;
    ++*(size_t *)ctx;
}

const char **ir_stable_ids(const IrModule *m, Arena *arena) {
    Naming n = {.arena = arena, .names = ARENA_ARRAY(arena, const char *, m->num_ops + 1)};
    FOR_EACH_OP(func, ir_op_block(m->op, 0)) {
        size_t num = 0;
        ir_walk(func, count_op, &num);
        n.num_slots = 2 * num + 1;
        n.seen = base_alloc(n.num_slots, sizeof *n.seen);
        for (uint32_t r = 0; r < func->num_regions; r++) FOR_EACH_BLOCK(block, &func->regions[r])
        FOR_EACH_OP(op, block) name_op(&n, op);
        free(n.seen);
    }
    return n.names;
}
