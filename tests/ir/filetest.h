// Tests as files of IR: chunks between lines "// -----", each with what is expected of it in
// comments:
//   // expected-error@+1 {{text}}   a fault is reported N lines further down (or @-N above) whose
//   message
//                                   contains the text
//   // out: text                    the next line that the chunk prints
//   // any-output                   what it prints is not fixed here (the oracle compares it)
//   // no-oracle: reason            stock MLIR cannot run the chunk
// A chunk without expected errors must be accepted.
#ifndef INGOT_TESTS_IR_FILETEST_H
#define INGOT_TESTS_IR_FILETEST_H

#include "base/diag.h"
#include "ir/ir.h"

typedef struct FiletestChunk {
    const char *file;
    uint32_t line;    // of the file, where the chunk starts
    const char *name; // its first comment
    char *text;       // NUL-terminated
    size_t len;
} FiletestChunk;

typedef struct FiletestFile {
    char *path, *data;
    FiletestChunk *chunks;
    size_t num_chunks, capacity;
} FiletestFile;

// Opens tests/ir/<folder>/<each>.mlir in order of name. Ends the test if there is none.
FiletestFile *filetest_load(const char *folder, size_t *out_num_files);
void filetest_unload(FiletestFile *files, size_t num_files);

// Compares the diagnostics with the chunk's expectations; prints differences to stderr.
bool filetest_check_errors(const FiletestChunk *chunk, const DiagSink *sink);
// Compares printed text with the chunk's "out:" lines.
bool filetest_check_output(const FiletestChunk *chunk, const char *text);
bool filetest_expects_errors(const FiletestChunk *chunk);

#endif
