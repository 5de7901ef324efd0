// What leaving passes out costs: the same numbers with all passes and without the disabled ones.
#ifndef INGOT_CLI_DISABLE_COST_H
#define INGOT_CLI_DISABLE_COST_H

#include "cli/compiler_verbs.h"
#include "compiler/pass_cost.h"

void put_disable_cost(StrBuf *out, const DisabledCost *cost);
void put_disable_cost_json(JsonWriter *json, const char *key, const DisabledCost *cost);

// For IR text: checks that the rest of the pipeline can run without the passes of --disable-pass,
// takes them out of it, and puts the cost on stderr, or with --json into the reports.
Status disable_in_pipeline(Cli *cli, const IrModule *m, const PassPipeline *pipeline,
                           IrReports *reports, PassId *out_ids,
                           PassPipeline *out_pipeline) MUST_USE;

#endif
