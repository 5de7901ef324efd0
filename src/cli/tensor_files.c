// Reads and writes tensors for `ingot run` and `ingot opt --run`; see tensor_files.h.
#include "cli/tensor_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "runtime/npy.h"

#define MAX_FILE_BYTES ((uint64_t)1 << 40)

// NAME=PATH: the part in front of the first = if that is a name, and no folder.
static const char *split_name(Cli *cli, const char *text, const char **out_path) {
    const char *equals = strchr(text, '=');
    *out_path = text;
    if (!equals || equals == text || memchr(text, '/', (size_t)(equals - text))) return NULL;
    *out_path = equals + 1;
    return arena_strndup(&cli->sink.arena, text, (size_t)(equals - text));
}

// The option's value names a file.
static Status check_path(Cli *cli, const char *option, const char *text, const char *path) {
    if (*path) return STATUS_OK;
    Status status = usage_error(&cli->sink, DIAG_U0004, "%s '%s' names no file", option, text);
    diag_write(&cli->sink, "%s NAME=FILE.npy", option);
    return status;
}

static Status read_one(Cli *cli, const char *text, TensorFiles *files) {
    size_t i = files->num;
    uint64_t len;
    NpyTensor npy;
    files->tensors[i].name = split_name(cli, text, &files->paths[i]);
    TRY(check_path(cli, "--input", text, files->paths[i]));
    for (size_t k = 0; k < i && files->tensors[i].name; k++)
        if (files->tensors[k].name && str_equal(files->tensors[k].name, files->tensors[i].name))
            return usage_error(&cli->sink, DIAG_U0004, "--input gives %s twice: %s and %s",
                               files->tensors[i].name, files->paths[k], files->paths[i]);
    TRY(file_read(files->paths[i], MAX_FILE_BYTES, &cli->sink, &files->bytes[i], &len));
    files->num++;
    TRY(npy_parse((const uint8_t *)files->bytes[i], len, files->paths[i], &cli->sink, &npy));
    memcpy(files->dims[i], npy.dims, sizeof npy.dims);
    IngotTensor *tensor = &files->tensors[i];
    tensor->type = dtype_info(npy.dtype)->name;
    tensor->rank = npy.rank;
    tensor->dims = files->dims[i];
    tensor->data = files->bytes[i] + (npy.data - (const uint8_t *)files->bytes[i]);
    tensor->len_bytes = npy.len_bytes;
    return STATUS_OK;
}

Status tensor_files_read(Cli *cli, TensorFiles *files) {
    const OptionValue *inputs = &cli->args.options[OPT_INPUT];
    *files = (TensorFiles){0};
    if (inputs->num_all > MAX_TENSOR_FILES)
        return usage_error(&cli->sink, DIAG_U0004, "--input is given more than %d times",
                           MAX_TENSOR_FILES);
    files->dims = base_alloc(MAX_TENSOR_FILES, sizeof *files->dims);
    for (size_t i = 0; i < inputs->num_all; i++) TRY(read_one(cli, inputs->all[i], files));
    return STATUS_OK;
}

void tensor_files_deinit(TensorFiles *files) {
    for (size_t i = 0; i < files->num; i++) free(files->bytes[i]);
    free(files->dims);
    *files = (TensorFiles){0};
}

// The files of --input, ended by NULL: no result replaces one.
static const char **input_paths(Cli *cli) {
    const OptionValue *inputs = &cli->args.options[OPT_INPUT];
    const char **paths = ARENA_ARRAY(&cli->sink.arena, const char *, inputs->num_all + 1);
    for (size_t i = 0; i < inputs->num_all; i++) (void)split_name(cli, inputs->all[i], &paths[i]);
    return paths;
}

static Status write_one(Cli *cli, const char *path, const IngotTensor *tensor) {
    Dtype dtype;
    if (!dtype_find(tensor->type, &dtype)) {
        Status status = usage_error(&cli->sink, DIAG_U0004, "%s: no .npy file holds elements of %s",
                                    path, tensor->type);
        diag_write(&cli->sink, "print the result instead, or convert it in the module");
        return status;
    }
    StrBuf header = {0};
    npy_put_header(dtype, tensor->rank, tensor->dims, &header);
    FileWriter writer;
    Status status = file_writer_open(path, input_paths(cli), &cli->sink, &writer);
    if (status == STATUS_OK) {
        status = file_writer_write(&writer, header.data, header.len, &cli->sink);
        if (status == STATUS_OK && tensor->len_bytes)
            status = file_writer_write(&writer, tensor->data, tensor->len_bytes, &cli->sink);
        if (status == STATUS_OK)
            status = file_writer_commit(&writer, &cli->sink);
        else
            file_writer_abort(&writer);
    }
    strbuf_deinit(&header);
    return status;
}

static Status no_such_result(Cli *cli, const char *option, const char *name, const char *path,
                             const char *const *names, size_t num) {
    Status status = usage_error(&cli->sink, DIAG_U0004, "there is no result %s", name);
    StrBuf all = {0};
    for (size_t i = 0; i < num; i++) strbuf_printf(&all, "%s%s", i ? ", " : "", names[i]);
    if (num) diag_evidence(&cli->sink, "the results are %s", all.data);
    strbuf_deinit(&all);
    const char *nearest = str_nearest(name, names, num);
    if (nearest) diag_write(&cli->sink, "%s %s=%s", option, nearest, path);
    return status;
}

static Status find_result(Cli *cli, const char *option, const char *name, const char *path,
                          const IngotTensor *results, size_t num_results, const IngotTensor **out) {
    if (!name && num_results == 1) {
        *out = &results[0];
        return STATUS_OK;
    }
    const char *names[MAX_TENSOR_FILES];
    size_t num = 0;
    for (size_t i = 0; i < num_results; i++) {
        if (name && str_equal(results[i].name, name)) {
            *out = &results[i];
            return STATUS_OK;
        }
        if (num < MAX_TENSOR_FILES) names[num++] = results[i].name;
    }
    if (!name) {
        Status status =
            usage_error(&cli->sink, DIAG_U0004, "%s: there are %zu results, and it names none",
                        path, num_results);
        if (num_results) diag_write(&cli->sink, "%s %s=%s", option, results[0].name, path);
        return status;
    }
    return no_such_result(cli, option, name, path, names, num);
}

// Each result goes to one file, and each file gets one result.
static Status check_outputs(Cli *cli, const char *option, const OptionValue *outputs,
                            const IngotTensor *results, size_t num_results) {
    const IngotTensor **taken =
        ARENA_ARRAY(&cli->sink.arena, const IngotTensor *, outputs->num_all + 1);
    for (size_t i = 0; i < outputs->num_all; i++) {
        const char *path, *name = split_name(cli, outputs->all[i], &path), *other;
        TRY(check_path(cli, option, outputs->all[i], path));
        TRY(find_result(cli, option, name, path, results, num_results, &taken[i]));
        for (size_t k = 0; k < i; k++) {
            (void)split_name(cli, outputs->all[k], &other);
            if (taken[k] == taken[i])
                return usage_error(&cli->sink, DIAG_U0004, "%s gives %s twice: %s and %s", option,
                                   taken[i]->name, other, path);
            if (str_equal(other, path))
                return usage_error(&cli->sink, DIAG_U0004, "%s: two results would be written to %s",
                                   option, path);
        }
    }
    return STATUS_OK;
}

Status tensor_files_write(Cli *cli, const IngotTensor *results, size_t num_results) {
    bool is_run = cli->args.verb == VERB_RUN;
    const OptionValue *outputs = &cli->args.options[is_run ? OPT_OUTPUTS : OPT_RESULT];
    // Nothing is written if a name is wrong.
    const char *option = is_run ? "--output" : "--result";
    TRY(check_outputs(cli, option, outputs, results, num_results));
    for (size_t i = 0; i < outputs->num_all; i++) {
        const char *path, *name = split_name(cli, outputs->all[i], &path);
        const IngotTensor *result;
        TRY(find_result(cli, option, name, path, results, num_results, &result));
        TRY(write_one(cli, path, result));
    }
    return STATUS_OK;
}

void put_tensor_type(StrBuf *out, const IngotTensor *tensor) {
    for (uint32_t d = 0; d < tensor->rank; d++)
        strbuf_printf(out, "%lldx", (long long)tensor->dims[d]);
    strbuf_puts(out, tensor->type);
}
