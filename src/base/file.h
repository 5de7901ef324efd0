// Files: read-only mappings, whole-file reads, and writes that appear under their final name only
// when complete.
#ifndef INGOT_BASE_FILE_H
#define INGOT_BASE_FILE_H

#include "base/diag.h"

// A read-only private mapping of a regular file. data is NULL for an empty file.
typedef struct FileMap {
    const uint8_t *data;
    uint64_t len_bytes;
} FileMap;

// Failure: diagnostic U0002, STATUS_IO.
Status file_map_open(const char *path, DiagSink *sink, FileMap *out_map) MUST_USE;
void file_map_close(FileMap *map);

// Reads a whole file, or standard input for "-", into memory the caller frees; a NUL follows the
// last byte and is not counted. Larger than max_bytes: U0002, STATUS_IO.
Status file_read(const char *path, uint64_t max_bytes, DiagSink *sink, char **out_data,
                 uint64_t *out_len_bytes) MUST_USE;

// What stands under the name of a result is replaced by it, so it must be free or a regular file
// (a device, a pipe or a link would be gone: U0003, STATUS_IO) and none of the inputs (U0005,
// STATUS_USAGE). For use before long work; file_writer_open does the same.
Status file_check_output(const char *path, const char *const *inputs, DiagSink *sink) MUST_USE;

// A file being written under a temporary name beside path. commit gives it its final name
// (atomically, after flushing); abort removes it. Both end the use of the FileWriter. A signal
// that ends the program removes the temporary too if the handler calls file_writer_cleanup.
typedef struct FileWriter {
    char *path, *temp_path;
    int fd;
    uint64_t len_bytes;
} FileWriter;

// inputs: names of files that what is written is made of, ended by NULL; NULL for none. Refused as
// file_check_output does.
Status file_writer_open(const char *path, const char *const *inputs, DiagSink *sink,
                        FileWriter *out_writer) MUST_USE;
// open, write, commit: the whole of a file.
Status file_write(const char *path, const char *const *inputs, const void *bytes,
                  uint64_t len_bytes, DiagSink *sink) MUST_USE;
Status file_writer_write(FileWriter *writer, const void *bytes, uint64_t len_bytes,
                         DiagSink *sink) MUST_USE;
Status file_writer_write_at(FileWriter *writer, uint64_t offset, const void *bytes,
                            uint64_t len_bytes, DiagSink *sink) MUST_USE;
Status file_writer_commit(FileWriter *writer, DiagSink *sink) MUST_USE;
void file_writer_abort(FileWriter *writer);
// Async-signal-safe: unlinks every temporary of this process.
void file_writer_cleanup(void);

#endif
