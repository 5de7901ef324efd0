// Passes that are left out on request: which, and whether the others can do without them.
#include <string.h>

#include "base/names.h"
#include "passes/pass.h"

Status pass_disable_parse(const char *text, DiagSink *sink, uint64_t *out_disabled) {
    const char *names[NUM_PASSES];
    char name[64];
    for (int i = 0; i < NUM_PASSES; i++) names[i] = pass_info((PassId)i)->name;
    *out_disabled = 0;
    if (text) TRY(names_check("disable-pass", text, sink));
    while (text && names_next(&text, name, sizeof name)) {
        PassId id;
        if (pass_find(name, &id)) {
            *out_disabled |= (uint64_t)1 << id;
            continue;
        }
        diag_report(sink, DIAG_ERROR, DIAG_P0008, (DiagSpan){0}, "there is no pass '%s'", name);
        const char *nearest = str_nearest(name, names, NUM_PASSES);
        if (nearest)
            diag_write(sink, "--disable-pass=%s", nearest);
        else
            diag_write(sink, "a pass that `ingot compile --list-passes` lists");
        return STATUS_USAGE;
    }
    return STATUS_OK;
}

// ---- what becomes impossible

// A pipeline without the disabled passes, and without those that cannot run then.
typedef struct Loss {
    const PassId *ids;
    uint64_t passes; // bits 1 << PassId
    uint32_t num;    // things that are impossible
    StrBuf list;     // each on a line, with all it needs and who would have made it
    // Of the first:
    const char *reader;
    PassFact fact;
    PassId maker;
} Loss;

// What needs the missing facts is impossible if a lost pass would have established one of them.
static bool add_loss(Loss *l, size_t num_before, const char *reader, uint32_t missing) {
    bool is_lost = false;
    for (size_t k = 0; k < num_before; k++) {
        uint32_t facts = missing & pass_info(l->ids[k])->establishes;
        if (!(l->passes >> l->ids[k] & 1)) continue;
        missing &= ~facts;
        for (PassFact fact = 0; fact < NUM_PASS_FACTS; fact++) {
            if (!(facts >> fact & 1)) continue;
            if (!l->num) {
                l->num = 1;
                l->reader = reader;
                l->fact = fact;
                l->maker = l->ids[k];
            } else if (!is_lost) {
                l->num++;
            }
            if (is_lost)
                strbuf_puts(&l->list, ", ");
            else
                strbuf_printf(&l->list, "\n    %s is impossible: it needs ", reader);
            strbuf_printf(&l->list, "%s (of %s)", pass_fact_name(fact),
                          pass_info(l->ids[k])->name);
            is_lost = true;
        }
    }
    return is_lost;
}

Status pass_disable_check(uint32_t facts, const PassId *ids, size_t num_ids, uint64_t disabled,
                          bool makes_code, DiagSink *sink) {
    Loss l = {.ids = ids, .passes = disabled};
    for (size_t i = 0; i < num_ids; i++) {
        const PassInfo *info = pass_info(ids[i]);
        if (disabled >> ids[i] & 1) continue;
        const char *reader = arena_printf(&sink->arena, "pass %s", info->name);
        if (add_loss(&l, i, reader, info->needs & ~facts))
            l.passes |= (uint64_t)1 << ids[i];
        else
            facts = (facts & ~info->destroys) | info->establishes;
    }
    uint32_t wanted = makes_code ? UINT32_C(1) << FACT_LOWERED : 0;
    add_loss(&l, num_ids, "machine code", wanted & ~facts);
    Status status = STATUS_OK;
    if (l.num) {
        const PassInfo *off = pass_info(l.maker);
        status = diag_error(sink, DIAG_P0062, (DiagSpan){0},
                            "without pass %s %s is impossible: it needs the module to be %s",
                            off->name, l.reader, pass_fact_name(l.fact));
        diag_evidence(sink, "%s: %s; %s: %s%s", pass_fact_name(l.fact), pass_fact_meaning(l.fact),
                      off->name, off->doc, l.list.data);
    }
    strbuf_deinit(&l.list);
    return status;
}

uint32_t pass_disable_lost(const PassId *ids, size_t num_ids, uint64_t disabled) {
    uint32_t with_all = 0, without = 0;
    for (size_t i = 0; i < num_ids; i++) {
        with_all |= pass_info(ids[i])->establishes;
        if (!(disabled >> ids[i] & 1)) without |= pass_info(ids[i])->establishes;
    }
    return with_all & ~without;
}
