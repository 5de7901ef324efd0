// What `compile` and `opt` share: the tables of the compiler as lists, IR text, validation, dumps.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/names.h"
#include "cli/compiler_verbs.h"
#include "cli/target_list.h"
#include "passes/pass.h"

static void put_facts(JsonWriter *json, const char *key, uint32_t facts) {
    json_begin_array(json, key);
    for (int i = 0; i < NUM_PASS_FACTS; i++)
        if (facts >> i & 1) json_put_string(json, NULL, pass_fact_name((PassFact)i));
    json_end_array(json);
}

static void list_passes(const Cli *cli) {
    StrBuf out = {0};
    JsonWriter json = {.out = &out};
    if (cli->is_json) {
        json_begin_document(&json, "ingot-passes");
        json_begin_array(&json, "passes");
    }
    for (int i = 0; i < NUM_PASSES; i++) {
        const PassInfo *info = pass_info((PassId)i);
        if (!cli->is_json) {
            strbuf_printf(&out, "%2d  %-18s level %u  %-9s  %s\n", i + 1, info->name, info->level,
                          pass_compare_name(info->results), info->doc);
            continue;
        }
        json_begin_object(&json, NULL);
        json_put_string(&json, "name", info->name);
        json_put_uint(&json, "level", info->level);
        put_facts(&json, "needs", info->needs);
        put_facts(&json, "establishes", info->establishes);
        put_facts(&json, "destroys", info->destroys);
        json_put_string(&json, "results", pass_compare_name(info->results));
        json_put_string(&json, "doc", info->doc);
        json_end_object(&json);
    }
    if (cli->is_json) {
        json_end_array(&json);
        json_end_object(&json);
    }
    put_document(&out);
}

void ir_reports_deinit(IrReports *reports) {
    strbuf_deinit(&reports->verified);
    strbuf_deinit(&reports->disabled);
}

Status put_output(Cli *cli, const char *schema, const StrBuf *out, const IrReports *reports) {
    const char *path = args_text(&cli->args, OPT_OUTPUT, NULL);
    if (!path) {
        put_ir(cli, schema, out, reports);
        return STATUS_OK;
    }
    return file_write(path, NULL, out->data, out->len, &cli->sink);
}

Status parse_pipeline(Cli *cli, const char *text, PassId ids[MAX_PIPELINE], size_t *out_num_ids) {
    const char *names[NUM_PASSES];
    for (int i = 0; i < NUM_PASSES; i++) names[i] = pass_info((PassId)i)->name;
    size_t num_ids = 0;
    char name[64];
    if (text) TRY(names_check("pipeline", text, &cli->sink));
    while (text && names_next(&text, name, sizeof name)) {
        if (num_ids == MAX_PIPELINE)
            return usage_error(&cli->sink, DIAG_U0004, "--pipeline names more than %d passes",
                               MAX_PIPELINE);
        if (!pass_find(name, &ids[num_ids++])) {
            Status status = usage_error(&cli->sink, DIAG_U0004, "there is no pass %s", name);
            const char *nearest = str_nearest(name, names, NUM_PASSES);
            if (nearest)
                diag_write(&cli->sink, "--pipeline=%s", nearest);
            else
                diag_evidence(&cli->sink, "`ingot opt --list-passes` lists them");
            return status;
        }
    }
    *out_num_ids = num_ids;
    return STATUS_OK;
}

bool get_validation(const Cli *cli, ValidateOptions *out_options) {
    *out_options = (ValidateOptions){
        .max_ops = (uint64_t)args_count(&cli->args, OPT_VERIFY_OPS, 0),
        .seed = (uint64_t)args_count(&cli->args, OPT_VERIFY_SEED, 1),
        .dump_dir = args_text(&cli->args, OPT_DUMP_DIR, NULL),
    };
    return args_has(&cli->args, OPT_VERIFY_EACH);
}

void put_validation(const Cli *cli, const ValidateReport *report) {
    if (cli->is_quiet || cli->is_json) return;
    StrBuf text = {0};
    validate_report_text(report, &text);
    fputs(text.data, stderr);
    strbuf_deinit(&text);
}

void put_validation_json(JsonWriter *json, const char *key, const ValidateReport *report) {
    json_begin_object(json, key);
    json_put_uint(json, "num_passes", report->num_passes);
    json_put_uint(json, "num_compared", report->num_compared);
    json_put_uint(json, "num_runs", report->num_runs);
    json_put_uint(json, "num_unchanged", report->num_unchanged);
    json_begin_object(json, "skipped");
    for (int i = 0; i < NUM_VALIDATE_SKIPS; i++)
        if (report->num_skipped[i])
            json_put_uint(json, validate_skip_reason((ValidateSkip)i), report->num_skipped[i]);
    json_end_object(json);
    json_put_real(json, "worst_of_bound", report->worst);
    if (report->worst_pass) {
        json_put_string(json, "worst_pass", report->worst_pass);
        json_put_string(json, "worst_function", report->worst_function);
    }
    json_put_uint(json, "verify_cpu_ns", report->verify_ns);
    json_put_uint(json, "passes_cpu_ns", report->passes_ns);
    json_end_object(json);
}

Status make_dump_dir(Cli *cli, const char *path) {
    if (!path || mkdir(path, 0777) == 0 || errno == EEXIST) return STATUS_OK;
    diag_report(&cli->sink, DIAG_ERROR, DIAG_U0003, (DiagSpan){.file = path},
                "cannot make the folder: %s", strerror(errno));
    return STATUS_IO;
}

static void list_dialects(const Cli *cli) {
    StrBuf out = {0};
    JsonWriter json = {.out = &out};
    if (cli->is_json) {
        json_begin_document(&json, "ingot-dialects");
        json_begin_object(&json, "dialects");
    }
    size_t open_len = 0;
    const char *open = "";
    for (int i = 0; i < NUM_IR_OP_KINDS; i++) {
        const char *name = ir_op_info((IrOpKind)i)->name;
        size_t len = strcspn(name, ".");
        bool is_new = len != open_len || strncmp(open, name, len) != 0;
        if (is_new && open_len && cli->is_json) json_end_array(&json);
        if (is_new && open_len && !cli->is_json) strbuf_putc(&out, '\n');
        char dialect[32];
        if (is_new) {
            memcpy(dialect, name, MIN(len, sizeof dialect - 1));
            dialect[MIN(len, sizeof dialect - 1)] = 0;
            if (cli->is_json)
                json_begin_array(&json, dialect);
            else
                strbuf_printf(&out, "%-10s", dialect);
        }
        open = name;
        open_len = len;
        if (cli->is_json)
            json_put_string(&json, NULL, name);
        else
            strbuf_printf(&out, " %s", name + len + (name[len] == '.'));
    }
    if (cli->is_json && open_len) json_end_array(&json);
    if (cli->is_json) {
        json_end_object(&json);
        json_end_object(&json);
    } else {
        strbuf_putc(&out, '\n');
    }
    put_document(&out);
}

Status put_lists(Cli *cli, bool *out_is_done) {
    bool wants_targets = args_has(&cli->args, OPT_LIST_TARGETS);
    *out_is_done = args_has(&cli->args, OPT_LIST_PASSES) ||
                   args_has(&cli->args, OPT_LIST_DIALECTS) || wants_targets;
    if (!*out_is_done) return STATUS_OK;
    TRY(check_positional(cli, 0, 0, "nothing beside a list"));
    if (wants_targets) return list_targets(cli);
    if (args_has(&cli->args, OPT_LIST_PASSES))
        list_passes(cli);
    else
        list_dialects(cli);
    return STATUS_OK;
}

static void put_reports(JsonWriter *json, const char *key, const StrBuf *reports) {
    if (!reports->len) return;
    StrBuf all = {0};
    strbuf_printf(&all, "[%s]", reports->data);
    json_put_raw(json, key, all.data);
    strbuf_deinit(&all);
}

void put_ir(const Cli *cli, const char *schema, const StrBuf *text, const IrReports *reports) {
    if (!cli->is_json) {
        output_write(text->data, text->len);
        return;
    }
    StrBuf out = {0};
    JsonWriter json = {.out = &out};
    json_begin_document(&json, schema);
    json_put_string_n(&json, "text", text->data ? text->data : "", text->len);
    put_reports(&json, "verify_each", &reports->verified);
    put_reports(&json, "disabled", &reports->disabled);
    json_end_object(&json);
    put_document(&out);
}
