// The pass table and the driver that runs pipelines; see pass.h.
#include "passes/pass.h"

#include <string.h>

#include "ir/verify.h"

#define F(fact) (1u << FACT_##fact)

static const PassInfo passes[NUM_PASSES] = {
#define PASS(id, name, level, needs, establishes, destroys, results, doc)                          \
    {name, doc, level, needs, establishes, destroys, COMPARE_##results, pass_##id},
#include "passes/passes.def"
#undef PASS
};

static const char *const fact_names[NUM_PASS_FACTS] = {
#define FACT(id, name, meaning) name,
#include "passes/facts.def"
#undef FACT
};

static const char *const fact_meanings[NUM_PASS_FACTS] = {
#define FACT(id, name, meaning) meaning,
#include "passes/facts.def"
#undef FACT
};

static const char *const compare_names[NUM_PASS_COMPARES] = {
#define COMPARE(id, name, meaning) name,
#include "passes/compare.def"
#undef COMPARE
};

const PassInfo *pass_info(PassId id) {
    return &passes[id];
}
const char *pass_fact_name(PassFact fact) {
    return fact_names[fact];
}

const char *pass_fact_meaning(PassFact fact) {
    return fact_meanings[fact];
}

const char *pass_compare_name(PassCompare compare) {
    return compare_names[compare];
}

bool pass_find(const char *name, PassId *out_id) {
    for (int i = 0; i < NUM_PASSES; i++) {
        if (!str_equal(passes[i].name, name)) continue;
        *out_id = (PassId)i;
        return true;
    }
    return false;
}

// Calls visit for each pass recorded on the module; unknown names are skipped.
static uint32_t replay(const IrModule *m, PassId *out_last, bool *out_any) {
    const IrAttr *record = ir_op_attr(m->op, "ingot.passes");
    uint32_t facts = 0;
    *out_any = false;
    if (!record || record->kind != IR_ATTR_ARRAY) return 0;
    for (size_t i = 0; i < record->num_elems; i++) {
        PassId id;
        if (record->elems[i]->kind != IR_ATTR_STRING || !pass_find(record->elems[i]->str, &id))
            continue;
        facts = (facts & ~passes[id].destroys) | passes[id].establishes;
        *out_last = id;
        *out_any = true;
    }
    return facts;
}

uint32_t pass_facts(const IrModule *m) {
    PassId last;
    bool any;
    return replay(m, &last, &any);
}

PassId pass_next(const IrModule *m) {
    PassId last;
    bool any;
    replay(m, &last, &any);
    return any ? (PassId)(last + 1) : (PassId)0;
}

static void record_pass(IrModule *m, const char *name) {
    const IrAttr *record = ir_op_attr(m->op, "ingot.passes");
    size_t n = record && record->kind == IR_ATTR_ARRAY ? record->num_elems : 0;
    const IrAttr **elems = ARENA_ARRAY(&m->arena, const IrAttr *, n + 1);
    for (size_t i = 0; i < n; i++) elems[i] = record->elems[i];
    elems[n] = ir_attr_string(m, name);
    ir_op_set_attr(m, m->op, "ingot.passes", ir_attr_array(m, n + 1, elems));
}

// Which pass last destroyed a fact, or would establish it: named in the refusal.
static Status refuse_order(const IrModule *m, PassId id, uint32_t missing, DiagSink *sink) {
    PassFact fact = 0;
    while (!(missing >> fact & 1)) fact++;
    const char *culprit = NULL;
    const IrAttr *record = ir_op_attr(m->op, "ingot.passes");
    for (size_t i = 0; record && i < record->num_elems; i++) {
        PassId ran;
        if (!pass_find(record->elems[i]->str, &ran)) continue;
        if (passes[ran].establishes >> fact & 1) culprit = NULL;
        if (passes[ran].destroys >> fact & 1) culprit = passes[ran].name;
    }
    const char *maker = "?";
    for (int i = NUM_PASSES - 1; i >= 0; i--)
        if (passes[i].establishes >> fact & 1) maker = passes[i].name;
    Status status = diag_error(sink, DIAG_P0001, (DiagSpan){0}, "pass %s needs the module to be %s",
                               passes[id].name, fact_names[fact]);
    if (culprit)
        diag_evidence(sink, "pass %s, which ran before it, undoes that", culprit);
    else
        diag_evidence(sink, "pass %s establishes it and has not run", maker);
    diag_write(sink, "%s, then %s", maker, passes[id].name);
    return status;
}

static Status verify_after(IrModule *m, const PassInfo *info, DiagSink *sink) {
    size_t errors = sink->num_errors;
    IrVerifyOptions options = {.level = info->level, .is_planned = false};
    Status status = ir_verify(m, &options, sink);
    if (status != STATUS_OK && sink->num_errors > errors)
        diag_evidence(sink, "found by the verifier after pass %s", info->name);
    return status;
}

// A pass of level 1 is for tensors.
static Status verify_before(IrModule *m, const PassPipeline *pipeline, DiagSink *sink) {
    if (!pipeline->num_ids || passes[pipeline->ids[0]].level != 1) return STATUS_OK;
    size_t errors = sink->num_errors;
    IrVerifyOptions options = {.level = 1};
    Status status = ir_verify(m, &options, sink);
    if (status != STATUS_OK && sink->num_errors > errors)
        diag_evidence(sink, "pass %s is for modules of level 1", passes[pipeline->ids[0]].name);
    return status;
}

Status pass_pipeline_run(IrModule *m, const PassPipeline *pipeline, DiagSink *sink) {
    TRY(pass_annotations_check(m, sink));
    TRY(verify_before(m, pipeline, sink));
    for (size_t i = 0; i < pipeline->num_ids; i++) {
        PassId id = pipeline->ids[i];
        const PassInfo *info = &passes[id];
        uint32_t missing = info->needs & ~pass_facts(m);
        if (missing) return refuse_order(m, id, missing, sink);
        if (pipeline->hook) TRY(pipeline->hook(m, id, true, pipeline->hook_ctx, sink));
        TRY(info->run(m, sink));
        ir_op_set_attr(m, m->op, "ingot.level", ir_attr_i64(m, info->level));
        record_pass(m, info->name);
        TRY(verify_after(m, info, sink));
        if (pipeline->hook) TRY(pipeline->hook(m, id, false, pipeline->hook_ctx, sink));
    }
    return STATUS_OK;
}
