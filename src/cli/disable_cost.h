// What leaving passes out costs: the same numbers with all passes and without the disabled ones.
#ifndef INGOT_CLI_DISABLE_COST_H
#define INGOT_CLI_DISABLE_COST_H

#include "cli/cli.h"
#include "compiler/explain.h"
#include "passes/pass.h"

void put_disable_cost(StrBuf *out, const char *disabled, const ExplainCost *with_all,
                      const ExplainCost *without);
void put_disable_cost_json(JsonWriter *json, const char *disabled, const ExplainCost *with_all,
                           const ExplainCost *without);

// For IR text: checks that the rest of the pipeline can run without the passes of --disable-pass,
// takes them out of it, and puts the cost on stderr.
Status disable_in_pipeline(Cli *cli, const IrModule *m, const PassPipeline *pipeline,
                           PassId *out_ids, PassPipeline *out_pipeline) MUST_USE;

#endif
