// Part of raise-patterns: which form an attention of a module gets (see attention.h).
//   plain  as it is written: whole rows of scores, in one kernel if they fit into a worker's
//   scratch flash  an online softmax over blocks of keys
// The rule attn_softmax can ask for one (use_flash_attention), forbid one kernel altogether, or
// leave it open: then what a worker keeps in the plain form decides, which each of its steps passes
// over. It stays in the first cache, or flash it is.
#include <inttypes.h>
#include <stdlib.h>

#include "abi/plan.h"
#include "passes/attention.h"
#include "passes/entry.h"
#include "passes/pass.h"

enum { MOST_ROWS = 16, MOST_KEYS = 64, LEAST_KEYS = 8 };

typedef struct Choice {
    IrModule *m;
    const IrOp *func;
    const AttentionMatch *a;
    FusionRule rule;
    int64_t l1_bytes, max_bytes, max_row_bytes; // what a worker may keep: a block, whole rows
    int64_t rows, keys, scratch;                // of the flash form
    int64_t scores, plain; // of the plain form: what a worker keeps of scores, and with all else
} Choice;

// ---- what a block keeps

static int64_t aligned(int64_t numbers) {
    return (int64_t)align_up((uint64_t)numbers * sizeof(float), PLAN_BUFFER_ALIGN_BYTES);
}

// Scores, what elementwise ops make of them and exponentials; maxima, sums, corrections; the
// result.
static int64_t scratch_of(const Choice *c, int64_t rows, int64_t keys) {
    const IrType *type = c->a->sum->results[0].type;
    int32_t dims[ATTENTION_MAX_LOOPS];
    const IrAffineMap *map = ir_linalg_map(c->m, c->a->sum, 2);
    int64_t width = 1, num_blocks = 2 + (c->a->num_chain > 0) + (c->a->guard != NULL);
    attention_loop_dims(c->m, c->a, c->a->sum, dims);
    for (uint32_t r = 0; r < map->num_results; r++) {
        uint32_t dim;
        if (ir_affine_is_dim(map->results[r], &dim) && dims[dim] < 0) width *= type->shape[r];
    }
    return num_blocks * aligned(rows * keys) + 4 * aligned(rows) + aligned(rows * width);
}

// The largest block that fits, keys given up before rows: each key is read once per block of rows.
static bool find_block(Choice *c) {
    int64_t num_rows = c->a->shape[c->a->row], num_keys = c->a->shape[c->a->key];
    for (int64_t rows = MIN(num_rows, (int64_t)MOST_ROWS); rows > 0; rows--) {
        if (num_rows % rows != 0) continue;
        for (int64_t keys = MIN(num_keys, (int64_t)MOST_KEYS);; keys /= 2) {
            c->rows = rows;
            c->keys = keys;
            c->scratch = scratch_of(c, rows, keys);
            if (c->scratch <= c->max_bytes) return true;
            if (keys / 2 < LEAST_KEYS) break;
        }
    }
    return false;
}

// ---- the decision, and what is said of it

static void note(const Choice *c, bool is_applied, const char *reason, const char *detail) {
    IrModule *m = c->m;
    FusionNote n = {.pattern = FUSION_ATTN_SOFTMAX,
                    .is_applied = is_applied,
                    .where = ir_symbol_name(c->func),
                    .what = fusion_loc_text(m, c->a->sum->loc),
                    .reason = reason,
                    .detail = detail};
    fusion_note_add(m, &n);
}

static const char *candidates(const Choice *c) {
    return arena_printf(&c->m->arena,
                        "whole rows: %" PRId64 " bytes per worker; online softmax: blocks of "
                        "%" PRId64 " rows and %" PRId64 " keys, %" PRId64
                        " bytes per worker; the first cache has %" PRId64,
                        c->plain, c->rows, c->keys, c->scratch, c->l1_bytes);
}

// In the plain form a worker takes all of the first dimension that has more than one element:
// scores, what elementwise ops make of them, exponentials and weights.
static void size_plain(Choice *c) {
    const AttentionMatch *a = c->a;
    uint32_t first = 0;
    int64_t numbers = 1;
    while (first + 1 < a->rank && a->shape[first] == 1) first++;
    for (uint32_t d = first + 1; d < a->rank; d++) numbers *= a->shape[d];
    c->scores = aligned(numbers);
    c->plain = c->scores * (3 + (a->num_chain > 0));
}

static void blocked(const Choice *c, FusionReason reason, const char *detail) {
    bool is_asked = c->rule.flash == FUSION_FLASH_YES;
    if (is_asked) note(c, false, fusion_reason_name(reason), detail);
}

// As it is written, if a worker has room for its rows of scores.
static void keep_plain(const Choice *c) {
    if (c->scores <= c->max_row_bytes) return;
    note(c, false, fusion_reason_name(REASON_CAPACITY),
         arena_printf(&c->m->arena,
                      "whole rows of scores keep %" PRId64 " bytes per worker, %" PRId64
                      " are allowed",
                      c->scores, c->max_row_bytes));
}

static void choose(Choice *c) {
    bool is_forced = c->rule.flash == FUSION_FLASH_YES;
    FusionRule product = fusion_rule(c->m, FUSION_MATMUL_SOFTMAX);
    const char *why = is_forced ? "as the rule asks" : "which costs less";
    size_plain(c);
    if (c->rule.flash == FUSION_FLASH_NO) {
        keep_plain(c);
    } else if (product.mode == FUSION_FORBID) {
        blocked(c, REASON_USER,
                arena_printf(&c->m->arena, "rule matmul_softmax at %s", product.at));
    } else if (!find_block(c)) {
        blocked(c, REASON_CAPACITY,
                arena_printf(&c->m->arena,
                             "the smallest block keeps %" PRId64 " bytes per worker, %" PRId64
                             " are allowed",
                             c->scratch, c->max_bytes));
    } else if (is_forced || c->plain > MIN(c->l1_bytes, c->max_row_bytes)) {
        note(c, true, "", arena_printf(&c->m->arena, "online softmax, %s. %s", why, candidates(c)));
        attention_make_flash(c->m, c->a, c->rows, c->keys);
    } else {
        note(c, true, "",
             arena_printf(&c->m->arena, "whole rows, which cost less. %s", candidates(c)));
    }
}

// What a worker has: the least machine there is, as the module at this level is the same for all.
static Status read_limits(Choice *c, DiagSink *sink) {
    PassConfig config;
    Target target;
    TRY(pass_config_read(c->m, sink, &config));
    TRY(target_for_level(NULL, (CpuLevel)0, sink, &target));
    c->l1_bytes = (int64_t)target.numbers[TARGET_L1_BYTES];
    c->max_bytes = config.max_scratch_bytes ? config.max_scratch_bytes : FUSION_MAX_SCRATCH_BYTES;
    c->max_row_bytes = config.max_scratch_bytes ? config.max_scratch_bytes : FUSION_MAX_ROW_BYTES;
    return STATUS_OK;
}

Status raise_attention(IrModule *m, IrOp *func, DiagSink *sink) {
    Choice c = {.m = m, .func = func, .rule = fusion_rule(m, FUSION_ATTN_SOFTMAX)};
    if (c.rule.mode == FUSION_FORBID) return STATUS_OK;
    FOR_EACH_OP_SAFE(op, ir_func_body(func)) {
        AttentionMatch a;
        FusionReason reason = NUM_FUSION_REASONS;
        const char *detail = "";
        c.a = &a;
        AttentionFound found = attention_match(m, op, &a, &reason, &detail);
        if (found == ATTENTION_BLOCKED) blocked(&c, reason, detail);
        if (found != ATTENTION_FOUND) continue;
        if (!c.max_bytes) TRY(read_limits(&c, sink));
        choose(&c);
    }
    return STATUS_OK;
}
