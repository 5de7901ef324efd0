// Passes that are left out on request: which, and whether the others can do without them.
#include <string.h>

#include "passes/pass.h"

Status pass_disable_parse(const char *text, DiagSink *sink, uint64_t *out_disabled) {
    const char *names[NUM_PASSES];
    for (int i = 0; i < NUM_PASSES; i++) names[i] = pass_info((PassId)i)->name;
    *out_disabled = 0;
    while (text && *text) {
        char name[64] = {0};
        size_t len = strcspn(text, ",");
        memcpy(name, text, MIN(len, sizeof name - 1));
        text += len + (text[len] == ',');
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

// reader: what needs the missing facts.
static Status refuse_missing(const PassId *ids, size_t num, uint64_t disabled, uint32_t missing,
                             const char *reader, DiagSink *sink) {
    for (size_t k = 0; k < num; k++) {
        const PassInfo *off = pass_info(ids[k]);
        uint32_t lost = missing & off->establishes;
        if (!(disabled >> ids[k] & 1) || !lost) continue;
        PassFact fact = 0;
        while (!(lost >> fact & 1)) fact++;
        Status status = diag_error(sink, DIAG_P0062, (DiagSpan){0},
                                   "without pass %s %s is impossible: it needs the module to be %s",
                                   off->name, reader, pass_fact_name(fact));
        diag_evidence(sink, "%s: %s; %s: %s", pass_fact_name(fact), pass_fact_meaning(fact),
                      off->name, off->doc);
        return status;
    }
    return STATUS_OK;
}

Status pass_disable_check(uint32_t facts, const PassId *ids, size_t num_ids, uint64_t disabled,
                          bool makes_code, DiagSink *sink) {
    for (size_t i = 0; i < num_ids; i++) {
        const PassInfo *info = pass_info(ids[i]);
        if (disabled >> ids[i] & 1) continue;
        uint32_t missing = info->needs & ~facts;
        const char *reader = arena_printf(&sink->arena, "pass %s", info->name);
        TRY(refuse_missing(ids, i, disabled, missing, reader, sink));
        facts = (facts & ~info->destroys) | info->establishes;
    }
    uint32_t wanted = makes_code ? UINT32_C(1) << FACT_LOWERED : 0;
    return refuse_missing(ids, num_ids, disabled, wanted & ~facts, "machine code", sink);
}
