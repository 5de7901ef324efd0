// What the verbs of the compiler program share.
#ifndef INGOT_CLI_COMPILER_VERBS_H
#define INGOT_CLI_COMPILER_VERBS_H

#include "cli/cli.h"
#include "compiler/compile.h"
#include "passes/validate.h"

// --list-passes and --list-dialects, if one is given.
Status put_lists(Cli *cli, bool *out_is_done) MUST_USE;
// What --verify-each and --disable-pass have to say beside IR text, of each module: JSON objects
// with commas between them. On stderr as text without --json.
typedef struct IrReports {
    StrBuf verified, disabled;
} IrReports;
void ir_reports_deinit(IrReports *reports);

// IR text on stdout; with --json inside a document of that schema, with the reports.
void put_ir(const Cli *cli, const char *schema, const StrBuf *text, const IrReports *reports);

// The same, or with --output into that file.
Status put_output(Cli *cli, const char *schema, const StrBuf *text,
                  const IrReports *reports) MUST_USE;

enum { MAX_PIPELINE = 256 };
// "pass,pass" as numbers; U0004 for an unknown one.
Status parse_pipeline(Cli *cli, const char *text, PassId ids[MAX_PIPELINE],
                      size_t *out_num_ids) MUST_USE;

// --verify-each and its options; false: not asked for.
bool get_validation(const Cli *cli, ValidateOptions *out_options);
// The outcome, on stderr unless it is part of a document.
void put_validation(const Cli *cli, const ValidateReport *report);
void put_validation_json(JsonWriter *json, const char *key, const ValidateReport *report);
// The document "ingot-compile".
void compile_put_json(const CompileReport *report, bool is_verbose, StrBuf *out);
Status make_dump_dir(Cli *cli, const char *path) MUST_USE;

#endif
