// `ingot opt`: IR text in, IR text out; between them passes, or the reference interpreter.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/compiler_verbs.h"
#include "cli/disable_cost.h"
#include "cli/tensor_files.h"
#include "compiler/module_text.h"
#include "compiler/validate_native.h"
#include "ir/interp.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "passes/pass.h"

enum { MAX_ARGUMENTS = 64, MAX_RESULTS = 64, MAX_PARTS = 4096 };
#define MAX_IR_BYTES ((uint64_t)1 << 32)
// Bounds of --run: IR from strangers may ask for anything. The first is some ten seconds, and
// --max-steps sets another.
enum { DEFAULT_MAX_STEPS = 1000000000, MAX_INTERPRETED_BYTES = 1 << 30 };
enum { MAX_PRINTED_ELEMENTS = 1 << 24 };

// What a call leaves behind.
enum { NO_ARGUMENT = UINT32_MAX };
typedef struct Outcome {
    uint32_t num;
    const IrInterpValue *values[MAX_RESULTS + MAX_ARGUMENTS];
    uint32_t arguments[MAX_RESULTS + MAX_ARGUMENTS]; // whose value it is; of a result NO_ARGUMENT
} Outcome;

static void put_element(StrBuf *out, const IrType *type, uint64_t bits, IrModule *m) {
    if (ir_type_is_float(type)) {
        const IrAttr *value = ir_attr_float_bits(m, bits, type);
        strbuf_printf(out, "%.*g", type->kind == IR_TYPE_F64 ? 17 : 9, ir_attr_float_value(value));
    } else {
        strbuf_printf(out, "%" PRId64, (int64_t)bits);
    }
}

static uint64_t load_element(const IrType *elem, const uint8_t *data, int64_t i) {
    uint32_t bytes = ir_type_bytes(elem);
    uint64_t bits = 0;
    memcpy(&bits, data + (uint64_t)i * bytes, bytes);
    uint32_t width = bytes * 8;
    if (ir_type_is_int_or_index(elem) && width < 64 && bits >> (width - 1) & 1)
        bits |= ~(uint64_t)0 << width;
    return bits;
}

// "result 0 : tensor<2xf32> = 1 2"
static void put_value(StrBuf *out, IrModule *m, const char *what, uint32_t number,
                      const IrInterpValue *value) {
    strbuf_printf(out, "%s %u : ", what, number);
    ir_print_type(value->type, out);
    strbuf_puts(out, " =");
    if (!ir_type_is_shaped(value->type)) {
        strbuf_putc(out, ' ');
        put_element(out, value->type, value->bits, m);
    } else {
        const IrType *elem = ir_type_elem(value->type);
        int64_t count = (int64_t)(value->len_bytes / MAX(ir_type_bytes(elem), 1u));
        for (int64_t i = 0; i < count; i++) {
            strbuf_putc(out, ' ');
            put_element(out, elem, load_element(elem, value->data, i), m);
        }
    }
    strbuf_putc(out, '\n');
}

static const IrType *with_sizes(IrModule *m, const IrType *type, const int64_t *sizes) {
    if (!ir_type_is_shaped(type) || ir_type_is_static(type)) return type;
    return type->kind == IR_TYPE_TENSOR ? ir_type_tensor(m, type->rank, sizes, type->elem)
                                        : ir_type_memref(m, type->rank, sizes, type->elem);
}

// The argument's value out of a file of the same element type and, where the argument says them,
// the same sizes.
static Status take_input(Cli *cli, IrModule *m, const TensorFiles *files, const char *name,
                         const IrType *type, IrInterpValue *out) {
    const IngotTensor *given = NULL;
    for (size_t i = 0; i < files->num; i++)
        if (str_equal(files->tensors[i].name ? files->tensors[i].name : name, name))
            given = &files->tensors[i];
    if (!given) return usage_error(&cli->sink, DIAG_U0005, "--input %s=FILE.npy is missing", name);
    StrBuf is = {0}, wanted = {0};
    const IrType *elem = ir_type_elem(type);
    bool is_shaped = ir_type_is_shaped(type), fits = given->rank == (is_shaped ? type->rank : 0);
    for (uint32_t d = 0; is_shaped && d < type->rank; d++) {
        if (type->shape[d] == IR_DYNAMIC)
            strbuf_puts(&wanted, "?x");
        else
            strbuf_printf(&wanted, "%" PRId64 "x", type->shape[d]);
        fits = fits && (type->shape[d] == IR_DYNAMIC || type->shape[d] == given->dims[d]);
    }
    size_t sizes_len = wanted.len;
    if (elem->kind == IR_TYPE_INDEX)
        strbuf_puts(&wanted, "i64"); // files have no type of their own for it
    else
        ir_print_type(elem, &wanted);
    put_tensor_type(&is, given);
    Status status = STATUS_OK;
    if (!fits || !str_equal(given->type, wanted.data + sizes_len))
        status = usage_error(&cli->sink, DIAG_U0004, "--input %s holds %s, the argument is %s",
                             name, is.data, wanted.data);
    strbuf_deinit(&is);
    strbuf_deinit(&wanted);
    if (fits) type = with_sizes(m, type, given->dims);
    *out = (IrInterpValue){.type = type, .data = given->data, .len_bytes = given->len_bytes};
    if (!is_shaped && status == STATUS_OK) out->bits = load_element(elem, given->data, 0);
    return status;
}

// The results, and behind them the memrefs among the arguments: those may have been written.
static Status put_results(Cli *cli, IrModule *m, const IrOp *func, const Outcome *outcome,
                          StrBuf *out) {
    IngotTensor tensors[MAX_RESULTS + MAX_ARGUMENTS] = {0};
    StrBuf types[MAX_RESULTS + MAX_ARGUMENTS] = {0};
    uint64_t numbers[MAX_RESULTS + MAX_ARGUMENTS];
    for (uint32_t i = 0; i < outcome->num; i++) {
        const IrInterpValue *value = outcome->values[i];
        uint32_t argument = outcome->arguments[i];
        bool is_result = argument == NO_ARGUMENT, is_shaped = ir_type_is_shaped(value->type);
        ir_print_type(ir_type_elem(value->type), &types[i]);
        bool is_bool = value->type->kind == IR_TYPE_INT && value->type->width == 1; // true: -1
        numbers[i] = is_bool ? value->bits & 1 : value->bits;
        tensors[i] =
            (IngotTensor){.name = is_result ? module_text_result_name(m, func, i)
                                            : module_text_argument_name(m, func, argument),
                          .type = types[i].data,
                          .rank = is_shaped ? value->type->rank : 0,
                          .dims = is_shaped ? value->type->shape : NULL,
                          .data = is_shaped ? value->data : (void *)&numbers[i],
                          .len_bytes = is_shaped ? value->len_bytes : ir_type_bytes(value->type)};
        if (args_has(&cli->args, OPT_RESULT)) continue;
        put_value(out, m, is_result ? "result" : "argument", is_result ? i : argument, value);
    }
    Status status = tensor_files_write(cli, tensors, outcome->num);
    for (uint32_t i = 0; i < outcome->num; i++) strbuf_deinit(&types[i]);
    return status;
}

// Files take any number of elements, standard output does not.
static Status check_printed(Cli *cli, const IrOp *func, const Outcome *outcome) {
    uint64_t num_elements = 0;
    for (uint32_t i = 0; i < outcome->num; i++) {
        const IrInterpValue *value = outcome->values[i];
        if (value->data)
            num_elements += value->len_bytes / ir_type_bytes(ir_type_elem(value->type));
    }
    if (num_elements <= MAX_PRINTED_ELEMENTS || args_has(&cli->args, OPT_RESULT)) return STATUS_OK;
    Status status = diag_error(&cli->sink, DIAG_I0303, ir_loc_span(func->loc),
                               "%s gives %" PRIu64 " elements, too many to be printed",
                               ir_symbol_name(func), num_elements);
    (void)status;
    diag_write(&cli->sink, "--result FILE.npy");
    return STATUS_LIMIT;
}

static Status interpret_with(Cli *cli, IrModule *m, const IrOp *func, const TensorFiles *files,
                             StrBuf *out) {
    const IrType *type = ir_func_type(func);
    IrInterpValue arguments[MAX_ARGUMENTS] = {0}, results[MAX_RESULTS] = {0};
    Outcome outcome = {0};
    for (uint32_t i = 0; i < type->num_results; i++) {
        outcome.values[outcome.num] = &results[i];
        outcome.arguments[outcome.num++] = NO_ARGUMENT;
    }
    for (uint32_t i = 0; i < type->num_inputs; i++) {
        TRY(take_input(cli, m, files, module_text_argument_name(m, func, i), type->inputs[i],
                       &arguments[i]));
        if (type->inputs[i]->kind != IR_TYPE_MEMREF) continue;
        outcome.values[outcome.num] = &arguments[i];
        outcome.arguments[outcome.num++] = i;
    }
    IrInterpOptions options = {
        .print_output = out,
        .max_ops = args_count(&cli->args, OPT_MAX_STEPS, DEFAULT_MAX_STEPS),
        .max_bytes = MAX_INTERPRETED_BYTES,
    };
    TRY(ir_interp_call(m, ir_symbol_name(func), type->num_inputs, arguments, type->num_results,
                       results, &options, &cli->sink));
    Status status = check_printed(cli, func, &outcome);
    if (status == STATUS_OK) status = put_results(cli, m, func, &outcome, out);
    for (uint32_t i = 0; i < type->num_results; i++) ir_interp_result_deinit(&results[i]);
    return status;
}

static Status interpret(Cli *cli, IrModule *m, StrBuf *out) {
    const char *entry = args_text(&cli->args, OPT_ENTRY, "main");
    const IrOp *func = ir_symbol_find(m, entry);
    if (!func || func->kind != IR_FUNC_FUNC || !ir_func_body(func))
        return usage_error(&cli->sink, DIAG_U0004, "the module has no function %s to run", entry);
    const IrType *type = ir_func_type(func);
    if (type->num_inputs > MAX_ARGUMENTS || type->num_results > MAX_RESULTS)
        return usage_error(&cli->sink, DIAG_U0004,
                           "%s cannot be run: it takes %u arguments and gives %u results; at most "
                           "%d are possible here",
                           entry, type->num_inputs, type->num_results, MAX_RESULTS);
    TensorFiles *files = base_alloc(1, sizeof *files);
    Status status = tensor_files_read(cli, files);
    if (status == STATUS_OK) status = interpret_with(cli, m, func, files, out);
    tensor_files_deinit(files);
    free(files);
    return status;
}

static Status run_pipeline(Cli *cli, IrModule *m, const PassPipeline *pipeline,
                           IrReports *reports) {
    ValidateOptions options;
    if (!get_validation(cli, &options)) return pass_pipeline_run(m, pipeline, &cli->sink);
    NativeCode native = {.num_threads = 1};
    options.native = native_call;
    options.native_ctx = &native;
    TRY(make_dump_dir(cli, options.dump_dir));
    Validator *validator = validate_create(&options);
    PassPipeline validated = *pipeline;
    validated.hook = validate_hook;
    validated.hook_ctx = validator;
    Status status = pass_pipeline_run(m, &validated, &cli->sink);
    ValidateReport report = validate_report(validator);
    put_validation(cli, &report);
    JsonWriter json = {.out = &reports->verified, .is_compact = true};
    if (reports->verified.len) strbuf_putc(&reports->verified, ',');
    put_validation_json(&json, NULL, &report);
    validate_destroy(validator);
    native_deinit(&native);
    return status;
}

// Parses one module, verifies it, runs what was asked, appends the outcome.
static Status process(Cli *cli, const char *text, size_t len, const char *file,
                      const PassPipeline *pipeline, IrReports *reports, StrBuf *out) {
    IrModule *m = NULL;
    bool is_run = args_has(&cli->args, OPT_RUN_ENTRY);
    IrParseOptions options = {.keeps_argument_names = is_run};
    TRY(ir_parse_with(text, len, file, &options, &cli->sink, &m));
    IrVerifyOptions verify = {.level = (uint32_t)args_count(&cli->args, OPT_LEVEL, 0),
                              .allow_test_ops = true};
    Status status = ir_verify(m, &verify, &cli->sink);
    PassId ids[MAX_PIPELINE];
    PassPipeline left;
    if (status == STATUS_OK) status = disable_in_pipeline(cli, m, pipeline, reports, ids, &left);
    if (status == STATUS_OK && left.num_ids) status = run_pipeline(cli, m, &left, reports);
    if (status == STATUS_OK && is_run) status = interpret(cli, m, out);
    IrPrintOptions print = {.print_locs = args_has(&cli->args, OPT_PRINT_LOCS),
                            .elide_constants = args_has(&cli->args, OPT_ELIDE_CONSTANTS),
                            .stable_ids = args_has(&cli->args, OPT_STABLE_IDS)};
    if (status == STATUS_OK && !is_run) ir_print(m, &print, out);
    ir_module_destroy(m);
    return status;
}

// Length up to the next line of `// -----`; *out_skip is the length of that line, 0 at the end.
static size_t part_len(const char *text, size_t len, size_t *out_skip) {
    static const char mark[] = "// -----";
    for (size_t at = 0; at < len;) {
        const char *end = memchr(text + at, '\n', len - at);
        size_t line = end ? (size_t)(end - text) - at + 1 : len - at;
        if (line >= sizeof mark - 1 && memcmp(text + at, mark, sizeof mark - 1) == 0) {
            *out_skip = line;
            return at;
        }
        at += line;
    }
    *out_skip = 0;
    return len;
}

// Each part is parsed behind as many empty lines as stand before it, so that places are those of
// the whole file. The texts must live as long as the sink.
static Status process_parts(Cli *cli, const char *text, size_t len, const char *file,
                            const PassPipeline *pipeline, IrReports *reports, StrBuf *out) {
    Status status = STATUS_OK;
    size_t lines = 0, num_parts = 0;
    for (size_t at = 0, skip = 1; skip;) {
        if (num_parts++ == MAX_PARTS)
            return usage_error(&cli->sink, DIAG_U0004, "%s has more than %d parts", file,
                               MAX_PARTS);
        size_t part = part_len(text + at, len - at, &skip);
        char *padded = arena_alloc(&cli->sink.arena, lines + part + 1, 1);
        memset(padded, '\n', lines);
        memcpy(padded + lines, text + at, part);
        Status part_status = process(cli, padded, lines + part, file, pipeline, reports, out);
        if (status == STATUS_OK) status = part_status;
        if (skip) strbuf_puts(out, "// -----\n");
        for (size_t i = at; i < at + part + skip; i++) lines += text[i] == '\n';
        at += part + skip;
    }
    return status;
}

Status verb_OPT(Cli *cli) {
    bool is_list;
    TRY(put_lists(cli, &is_list));
    if (is_list) return STATUS_OK;
    TRY(check_positional(cli, 0, 1, "a file"));
    PassId ids[MAX_PIPELINE];
    PassPipeline pipeline = {.ids = ids};
    TRY(parse_pipeline(cli, args_text(&cli->args, OPT_PIPELINE, NULL), ids, &pipeline.num_ids));
    const char *path = cli->args.num_positional ? cli->args.positional[0] : "-";
    char *text;
    uint64_t len;
    TRY(file_read(path, MAX_IR_BYTES, &cli->sink, &text, &len));
    char *copy = arena_strndup(&cli->sink.arena, text, len); // diagnostics quote it
    free(text);
    const char *file = str_equal(path, "-") ? "<stdin>" : path;
    StrBuf out = {0};
    IrReports reports = {0};
    Status status = args_has(&cli->args, OPT_SPLIT_INPUT)
                        ? process_parts(cli, copy, len, file, &pipeline, &reports, &out)
                        : process(cli, copy, len, file, &pipeline, &reports, &out);
    bool is_wanted = status == STATUS_OK || args_has(&cli->args, OPT_SPLIT_INPUT);
    if (is_wanted && (out.len || cli->is_json)) {
        Status put_status = put_output(cli, "ingot-opt", &out, &reports);
        if (status == STATUS_OK) status = put_status;
    }
    ir_reports_deinit(&reports);
    strbuf_deinit(&out);
    return status;
}
