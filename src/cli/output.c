// Standard output; see cli.h.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

static int write_error; // errno of the first failed write

void output_write(const char *bytes, size_t len_bytes) {
    if (write_error || len_bytes == 0) return;
    errno = 0;
    if (fwrite(bytes, 1, len_bytes, stdout) != len_bytes) write_error = errno ? errno : EIO;
}

void output_puts(const char *text) {
    output_write(text, strlen(text));
}

void output_flush(void) {
    errno = 0;
    if (!write_error && fflush(stdout) != 0) write_error = errno ? errno : EIO;
}

bool output_has_failed(void) {
    return write_error != 0;
}

Status output_end(DiagSink *sink) {
    output_flush();
    if (!write_error) return STATUS_OK;
    diag_report(sink, DIAG_ERROR, DIAG_U0003, (DiagSpan){.file = "standard output"},
                "cannot write: %s", strerror(write_error));
    return STATUS_IO;
}
