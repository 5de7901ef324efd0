// Tensors named on the command line: --input NAME=FILE.npy, --output NAME=FILE.npy (of opt:
// --result).
#ifndef INGOT_CLI_TENSOR_FILES_H
#define INGOT_CLI_TENSOR_FILES_H

#include "cli/cli.h"
#include "ingot.h"

enum { MAX_TENSOR_FILES = 256 };

typedef struct TensorFiles {
    IngotTensor tensors[MAX_TENSOR_FILES]; // name NULL: the file was given without one
    const char *paths[MAX_TENSOR_FILES];
    char *bytes[MAX_TENSOR_FILES]; // of the files
    int64_t (*dims)[16];           // of the tensors
    size_t num;
} TensorFiles;

// Reads all of --input. A file without a name stands for the only argument; the caller names it.
Status tensor_files_read(Cli *cli, TensorFiles *out_files) MUST_USE;
void tensor_files_deinit(TensorFiles *files);

// Writes each result that is asked for into its file. A path without a name stands for the
// only result.
Status tensor_files_write(Cli *cli, const IngotTensor *results, size_t num_results) MUST_USE;

// "8x32xf32"
void put_tensor_type(StrBuf *out, const IngotTensor *tensor);

#endif
